"""Published encodings by name, and the models that use them, as data.

Sizes, hashes and special tokens are those of ``tiktoken_ext/openai_public.py``; the table of models is that of
``tiktoken/model.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytepair import files

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLISHED_AT = "https://openaipublic.blob.core.windows.net/encodings"
"""The address of the rank files; ``BYTEPAIR_ENCODINGS_URL`` names a mirror."""


class PublishedEncoding(NamedTuple):
    """An encoding: its rank file, and the stages that the file does not hold."""

    file: str
    sha256: str
    split: str
    special_tokens: Mapping[str, int]


_END = "<|endoftext|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_R50K = ("r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", "gpt2")
_P50K = ("p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", "gpt2")
_CL100K = ("cl100k_base.tiktoken", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", "cl100k")
_O200K = ("o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", "o200k")

_HARMONY_NAMED = {
    "<|startoftext|>": 199998,
    _END: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    "<|endofprompt|>": 200018,
}
_HARMONY = _HARMONY_NAMED | {
    f"<|reserved_{id}|>": id
    for id in range(200000, 201088)
    # As published, 200018 has a reserved name too; here an id is one token, under its proper name.
    if id not in _HARMONY_NAMED.values()
}

ENCODINGS: dict[str, PublishedEncoding] = {
    # GPT-2's own two files hold the same tokens and ids as r50k_base.
    "gpt2": PublishedEncoding(*_R50K, {_END: 50256}),
    "r50k_base": PublishedEncoding(*_R50K, {_END: 50256}),
    "p50k_base": PublishedEncoding(*_P50K, {_END: 50256}),
    "p50k_edit": PublishedEncoding(*_P50K, {_END: 50256, **dict(zip(_FIM, range(50281, 50284), strict=True))}),
    "cl100k_base": PublishedEncoding(
        *_CL100K, {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), "<|endofprompt|>": 100276}
    ),
    "o200k_base": PublishedEncoding(*_O200K, {_END: 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": PublishedEncoding(*_O200K, _HARMONY),
}
"""The published encodings by name."""

_RANKS_OF_MODELS = {
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": "llama3",
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": "qwen35",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": "qwen2",
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": "gpt-2",
    "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103": "kimi-k2",
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": "llama4",
}
"""The split patterns of rank files that models are published with, by their SHA-256: those of Llama 3, Qwen 3.5, Qwen,
Whisper (``multilingual.tiktoken``), Kimi K2 and Llama 4."""

# The best-known models come first.
_MODELS = {
    "o200k_base": "gpt-5 gpt-4o o3 gpt-4.1 o4-mini o1",
    "cl100k_base": (
        "gpt-4 gpt-3.5-turbo text-embedding-3-small text-embedding-3-large text-embedding-ada-002 "
        "gpt-3.5 gpt-35-turbo davinci-002 babbage-002"
    ),
    "p50k_base": (
        "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001 "
        "davinci-codex cushman-codex"
    ),
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": (
        "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada "
        "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 text-similarity-ada-001 "
        "text-search-davinci-doc-001 text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
        "code-search-babbage-code-001 code-search-ada-code-001"
    ),
    "gpt2": "gpt2 gpt-2",
}

# The first prefix that fits decides: the longer of two comes first.
_PREFIXES = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": ("gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002"),
    "o200k_harmony": "gpt-oss-",
}

MODEL_TO_ENCODING: dict[str, str] = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The encoding of each model. Entries may be added."""

MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    prefix: name for name, prefixes in _PREFIXES.items() for prefix in prefixes.split()
}
"""The encoding of dated and fine-tuned models by the prefix of their names; the first that fits. It may be added to."""


def encoding_of_model(model: str) -> str | None:
    """The name of the encoding that a model uses; None for an unknown model.

    Example:
        >>> encoding_of_model("gpt-4o-2024-05-13"), encoding_of_model("gpt-oss-120b"), encoding_of_model("llama")
        ('o200k_base', 'o200k_harmony', None)
    """
    if model in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model]
    return next((name for prefix, name in MODEL_PREFIX_TO_ENCODING.items() if model.startswith(prefix)), None)


def models_of(encoding: str) -> list[str]:
    """The models that use an encoding, the best-known first; empty for any other name.

    Example:
        >>> models_of("o200k_base")[:3], models_of("o200k_harmony"), models_of("mine")
        (['gpt-5', 'gpt-4o', 'o3'], ['gpt-oss'], [])
    """
    names = _MODELS.get(encoding) or _PREFIXES.get(encoding, "")
    return [name.rstrip("-") for name in names.split()]


def recognise(data: bytes) -> PublishedEncoding | None:
    r"""The published encoding whose rank file this is, by its SHA-256; None for any other file.

    Of several with the same rank file it is the one that is named as the file: ``o200k_base``, not ``o200k_harmony``.

    Example:
        >>> recognise(b"YQ== 0\n") is None
        True
    """
    sha256 = files.sha256(data).hex()
    return next((known for known in ENCODINGS.values() if known.sha256 == sha256), None)


def split_of_ranks(data: bytes) -> str | None:
    r"""The split pattern of a rank file that a model is published with; None for any other file.

    The special tokens of these models are in other files, and differ between versions.

    Example:
        >>> split_of_ranks(b"YQ== 0\n") is None
        True
    """
    from bytepair.formats.gguf_patterns import PATTERNS  # noqa: PLC0415 (few files need it)

    name = _RANKS_OF_MODELS.get(files.sha256(data).hex())
    return PATTERNS[name][0] if name else None
