"""Published encodings by name, and the models that use them.

Besides `sources/opening.py`, which reads URLs, only this module and `hub` use the network. Sizes, hashes and special
tokens are those of ``tiktoken_ext/openai_public.py``; the table of models is that of ``tiktoken/model.py``.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats.loading import read_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.model.spec import TokenizerSpec

PUBLISHED_AT = "https://openaipublic.blob.core.windows.net/encodings"
"""The address of the rank files; ``BYTEPAIR_ENCODINGS_URL`` names a mirror."""

_SECONDS = 60
_LARGEST = 64 << 20


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

_MODELS = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": (
        "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
        "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"
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


def read(name: str, *, folder: str | os.PathLike[str] | None = None) -> TokenizerSpec:
    """Reads a published encoding; arguments and errors as `bytepair.get_encoding`."""
    encoding = ENCODINGS.get(name)
    if encoding is None:
        raise FormatError(f"there is no encoding {name!r}", remedy=f"use one of {', '.join(ENCODINGS)}")
    folder = folder or os.environ.get("BYTEPAIR_ENCODINGS")
    path = Path(folder or cache_folder()) / encoding.file
    if folder or path.is_file():
        data = files.read(path)
        _check(data, encoding, str(path))
    else:
        url = f"{os.environ.get('BYTEPAIR_ENCODINGS_URL', PUBLISHED_AT).rstrip('/')}/{encoding.file}"
        data = fetch(url)
        _check(data, encoding, url)
        files.write_all(path.parent, {path.name: data}, is_swept=True)
    return read_ranks(data, encoding.split, encoding.special_tokens)


def cache_folder() -> Path:
    """The folder of fetched encodings: ``BYTEPAIR_CACHE``, or the system's folder for caches."""
    if named := os.environ.get("BYTEPAIR_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bytepair"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bytepair" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bytepair"


def fetch(url: str) -> bytes:
    """The content of an HTTPS address.

    Raises:
        ArtifactError: It is another kind of address, cannot be fetched, or is larger than 64 MiB.
    """
    remedy = "check the network, or put the file into a folder and pass get_encoding(name, folder=...)"
    cli_remedy = "check the network, or put the file into a folder and pass --encodings FOLDER"
    # Few calls fetch.
    import http.client  # noqa: PLC0415
    import urllib.error  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise ArtifactError(f"{url} is not an HTTPS address", remedy="use one in BYTEPAIR_ENCODINGS_URL")
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:
            data: bytes = response.read(_LARGEST + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise ArtifactError(f"cannot fetch {url}: {error}", remedy=remedy, cli_remedy=cli_remedy) from error
    if len(data) > _LARGEST:
        raise ArtifactError(f"{url} is larger than {_LARGEST >> 20} MiB", remedy=remedy, cli_remedy=cli_remedy)
    return data


def _check(data: bytes, encoding: PublishedEncoding, source: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != encoding.sha256:
        raise IntegrityError(
            f"the file is not the published {encoding.file}: SHA-256 {found[:16]}..., not {encoding.sha256[:16]}...",
            file=source,
            remedy="remove it and fetch it again",
        )
