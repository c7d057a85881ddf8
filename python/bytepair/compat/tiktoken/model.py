"""Which encoding a model of OpenAI uses: the published table, as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.compat.tiktoken.registry import get_encoding

if TYPE_CHECKING:
    from bytepair.compat.tiktoken.core import Encoding

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

# Of two prefixes that fit the first is taken, so that the longer one stands first.
_PREFIXES = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": ("gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002"),
    "o200k_harmony": "gpt-oss-",
}

MODEL_TO_ENCODING: dict[str, str] = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The encoding of each model. What is added here is found by the functions below."""

MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    prefix: name for name, prefixes in _PREFIXES.items() for prefix in prefixes.split()
}
"""The encoding of models by what their names begin with, for dated and fine-tuned ones; the first that fits."""


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses.

    Args:
        model_name: The model, such as ``"gpt-4o"`` or ``"gpt-4o-2024-05-13"``.

    Raises:
        KeyError: No encoding is known for it.

    Example:
        >>> encoding_name_for_model("gpt-4"), encoding_name_for_model("gpt-oss-120b")
        ('cl100k_base', 'o200k_harmony')
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return name
    raise KeyError(
        f"no encoding is known for the model {model_name!r}; name the encoding itself: get_encoding('o200k_base')"
    )


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses; errors as `encoding_name_for_model` and `get_encoding`."""
    return get_encoding(encoding_name_for_model(model_name))
