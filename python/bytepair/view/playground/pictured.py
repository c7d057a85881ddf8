"""What a text is with the chosen tokenizers, as the page is told it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.errors import PLACES, BytepairError
from bytepair.view.pictures import picture

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer
    from bytepair.view.playground.shelf import Shelf

MOST_AT_ONCE = 6
"""Tokenizers that can be looked at together."""


class Wanted(NamedTuple):
    """What is asked for.

    Attributes:
        text: The text.
        tokenizers: Keys of what is on offer.
        special: ``"allow"``: special tokens in the text are such; ``"text"``: they are text.
    """

    text: str
    tokenizers: tuple[str, ...]
    special: str


def pictured(shelf: Shelf, wanted: Wanted) -> bytes:
    """JSON: the picture of a text, with the keys of the tokenizers in it, and why others are not in it.

    A tokenizer that cannot be loaded, or that this text cannot be encoded with, does not keep the others from it.

    Raises:
        BytepairError: The text cannot be encoded with any of them.
    """
    faults: dict[str, dict[str, Any]] = {}
    able: dict[str, tuple[str, Tokenizer]] = {}
    last: BytepairError | None = None
    for key in wanted.tokenizers:
        try:
            name, tokenizer = shelf.get(key)
            tokenizer.count(wanted.text, special=wanted.special)
        except BytepairError as error:
            faults[key], last = said(error), error
        else:
            able[key] = (name, tokenizer)
    if last and not able:
        raise last
    made = picture(list(able.values()), wanted.text, special=wanted.special)
    answer = {"picture": made.as_dict(), "keys": list(able), "faults": faults}
    return json.dumps(answer, separators=(",", ":")).encode()


def said(error: BytepairError) -> dict[str, Any]:
    """An error as JSON has it."""
    where = {name: value for name in PLACES if (value := getattr(error, name)) is not None}
    return {"kind": type(error).__name__, "what": error.what, "where": where, "remedy": error.remedy}
