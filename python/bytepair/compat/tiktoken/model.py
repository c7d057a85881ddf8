"""The encoding of a model of OpenAI; the tables are those of `bytepair.formats.encodings`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.compat.tiktoken.registry import get_encoding
from bytepair.formats.encodings import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, encoding_of_model

if TYPE_CHECKING:
    from bytepair.compat.tiktoken.core import Encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]


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
    name = encoding_of_model(model_name)
    if name is None:
        raise KeyError(
            f"no encoding is known for the model {model_name!r}; name the encoding itself: get_encoding('o200k_base')"
        )
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses; errors as `encoding_name_for_model` and `get_encoding`."""
    return get_encoding(encoding_name_for_model(model_name))
