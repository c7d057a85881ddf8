"""The answer to a picture request: a text with the chosen tokenizers, as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.errors import PLACES, BytepairError
from bytepair.view.interactive import packed
from bytepair.view.pictures import picture

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer
    from bytepair.view.playground.shelf import Shelf

MOST_AT_ONCE = 6
"""The most tokenizers in one picture."""


MOST_TOKENS = 400_000
"""Above this number of tokens, of all tokenizers together, there are counts but no picture."""


class PictureRequest(NamedTuple):
    """A request for a picture.

    Attributes:
        text: The text.
        tokenizers: Keys of offers.
        special: ``"allow"``: special tokens in the text are recognized; ``"text"``: they are text.
    """

    text: str
    tokenizers: tuple[str, ...]
    special: str


class EncodableText(NamedTuple):
    """A tokenizer that can encode the text: its name, and the number of tokens."""

    name: str
    tokenizer: Tokenizer
    tokens: int


def counted(shelf: Shelf, wanted: PictureRequest) -> bytes:
    """JSON: the number of tokens with each tokenizer, and the errors of others; ``picture`` is null.

    A tokenizer that cannot be loaded, or that cannot encode the text, does not affect the others.

    Raises:
        BytepairError: The text cannot be encoded with any of them.
    """
    return _answer(*_tried(shelf, wanted), None)


def pictured(shelf: Shelf, wanted: PictureRequest) -> bytes:
    """JSON as `counted`, with the packed picture if it has at most `MOST_TOKENS` tokens."""
    able, failed = _tried(shelf, wanted)
    made = None
    if sum(one.tokens for one in able.values()) <= MOST_TOKENS:
        named = [(one.name, one.tokenizer) for one in able.values()]
        made = packed(picture(named, wanted.text, special=wanted.special).as_dict())
    return _answer(able, failed, made)


def _answer(able: dict[str, EncodableText], failed: dict[str, BytepairError], picture: dict[str, Any] | None) -> bytes:
    counts = {key: {"tokens": one.tokens, "fingerprint": one.tokenizer.fingerprint} for key, one in able.items()}
    faults = {key: error_data(error) for key, error in failed.items()}
    return json.dumps({"counts": counts, "faults": faults, "picture": picture}, separators=(",", ":")).encode()


def _tried(shelf: Shelf, wanted: PictureRequest) -> tuple[dict[str, EncodableText], dict[str, BytepairError]]:
    tried = {key: _try(shelf, key, wanted) for key in wanted.tokenizers}
    able = {key: found for key, found in tried.items() if isinstance(found, EncodableText)}
    failed = {key: found for key, found in tried.items() if isinstance(found, BytepairError)}
    if failed and not able:
        raise next(iter(failed.values()))
    return able, failed


def _try(shelf: Shelf, key: str, wanted: PictureRequest) -> EncodableText | BytepairError:
    try:
        name, tokenizer = shelf.get(key)
        return EncodableText(name, tokenizer, tokenizer.count(wanted.text, special=wanted.special))
    except BytepairError as error:
        return error


def error_data(error: BytepairError) -> dict[str, Any]:
    """An error as plain data for JSON."""
    where = {name: value for name in PLACES if (value := getattr(error, name)) is not None}
    return {"kind": type(error).__name__, "what": error.what, "where": where, "remedy": error.remedy}
