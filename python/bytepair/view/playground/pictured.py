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


MOST_TOKENS = 400_000
"""Of more tokens than these, of all tokenizers together, there are counts and no picture."""


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
    """JSON: how many tokens a text has with each tokenizer, their picture, and why others have none.

    A tokenizer that cannot be loaded, or that the text cannot be encoded with, does not keep the others from it.

    Raises:
        BytepairError: The text cannot be encoded with any of them.
    """
    faults: dict[str, dict[str, Any]] = {}
    able: dict[str, tuple[str, Tokenizer]] = {}
    counts: dict[str, dict[str, Any]] = {}
    last: BytepairError | None = None
    for key in wanted.tokenizers:
        try:
            name, tokenizer = shelf.get(key)
            count = tokenizer.count(wanted.text, special=wanted.special)
        except BytepairError as error:
            faults[key], last = said(error), error
        else:
            able[key] = (name, tokenizer)
            counts[key] = {"tokens": count, "fingerprint": tokenizer.fingerprint}
    if last and not able:
        raise last
    made = None
    if sum(counted["tokens"] for counted in counts.values()) <= MOST_TOKENS:
        made = picture(list(able.values()), wanted.text, special=wanted.special).as_dict()
    return json.dumps({"counts": counts, "faults": faults, "picture": made}, separators=(",", ":")).encode()


def said(error: BytepairError) -> dict[str, Any]:
    """An error as JSON has it."""
    where = {name: value for name in PLACES if (value := getattr(error, name)) is not None}
    return {"kind": type(error).__name__, "what": error.what, "where": where, "remedy": error.remedy}
