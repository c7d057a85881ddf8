"""Ids of any array library as lists, and removal of spaces before punctuation."""

from __future__ import annotations

import warnings
from operator import index
from typing import TYPE_CHECKING, Any

from bytepair.errors import TokenizerWarning

if TYPE_CHECKING:
    from bytepair.compat.transformers.state import State

_SPACES = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    *((f" {ending}", ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)
_FORCED = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"


def plain_ids(ids: Any) -> list[Any]:
    """Convert an id, ids, or rows of ids to a list of int or of lists of int.

    Args:
        ids: An int, lists, or arrays of numpy or torch.

    Raises:
        TypeError: An item is not an integer.

    Example:
        >>> plain_ids(5), plain_ids((1, 2)), plain_ids([[1], [2, 3]])
        ([5], [1, 2], [[1], [2, 3]])
    """
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if not isinstance(ids, (list, tuple)):
        return [index(ids)]
    return [
        _row(each) if isinstance(each, (list, tuple)) or getattr(each, "shape", None) else index(each) for each in ids
    ]


def _row(ids: Any) -> list[int]:
    return [index(id) for id in (ids.tolist() if hasattr(ids, "tolist") else ids)]


def clean_up(tokenizer: State, text: str, requested: bool | None) -> str:
    """Make marks of words spaces, and remove spaces before punctuation if a call or the tokenizer requests it.

    With BPE, spaces are part of the text and stay; a call that requests their removal gets a TokenizerWarning.
    """
    if tokenizer._word_end:
        text = text.replace(tokenizer._word_end, " ").strip()
    wanted = tokenizer.clean_up_tokenization_spaces if requested is None else requested
    if not wanted:
        return text
    if tokenizer.engine.spec.semantics in ("ranks", "merges") and not tokenizer.init_kwargs.get(_FORCED):
        if requested:
            warnings.warn(
                "clean_up_tokenization_spaces=True has no effect with BPE, where spaces are part of the text",
                TokenizerWarning,
                stacklevel=3,
            )
        return text
    return without_spaces(text)


def without_spaces(text: str) -> str:
    """Remove spaces before punctuation and English contractions.

    Example:
        >>> without_spaces("do n't stop , she 's here .")
        "don't stop, she's here."
    """
    for spaced, plain in _SPACES:
        text = text.replace(spaced, plain)
    return text
