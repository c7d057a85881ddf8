"""Text -> `Encoding`: ids, their offsets in the text, and their tokens as the vocabulary spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._core import Control
from bytepair.call.encoding import Encoding
from bytepair.call.spelling import spell_tokens
from bytepair.errors import SpecialTokenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.call.options import TextInput
    from bytepair.model.compiled import CompiledTokenizer


def encode_with_offsets(tok: CompiledTokenizer, text: TextInput, sequence: int, reading: dict[str, Any]) -> Encoding:
    """The encoding of one text, before truncation and post-processing.

    Args:
        tok: The tokenizer.
        text: The text.
        sequence: Its number in a pair; 0 for a single text.
        reading: The options ``special``, ``added`` and ``errors`` of `Tokenizer.encode`.

    Raises:
        SpecialTokenError: As `Tokenizer.encode`, whose other errors are raised as well. Also if a special
            token stays text in a list of parts: no single text has the same ids.
    """
    # Every id has a word here; ids added later by a post-processor have none.
    words: Any
    ids, offsets, words, surfaces = located(tok, text, reading)
    tokens = spell_tokens(tok, ids)
    for place, surface in surfaces.items():
        tokens[place] = surface
    count = len(ids)
    return Encoding(ids, tokens, offsets, words, [sequence] * count, [0] * count, [1] * count)


def located(
    tok: CompiledTokenizer, text: TextInput, reading: dict[str, Any]
) -> tuple[list[int], list[tuple[int, int]], list[int], dict[int, str]]:
    """As `lowlevel.locate`; of a list of parts in characters of the joined text."""
    return _core.locate(tok, text, **reading) if isinstance(text, str | bytes) else _locate_parts(tok, text, reading)


def _locate_parts(
    tok: CompiledTokenizer, parts: Sequence[str | bytes | Control], reading: dict[str, Any]
) -> tuple[list[int], list[tuple[int, int]], list[int], dict[int, str]]:
    ids = tok.encode(parts, **reading)
    whole = "".join(
        part.token if isinstance(part, Control) else part if isinstance(part, str) else part.decode("utf-8", "replace")
        for part in parts
    )
    # `encode` has refused disallowed tokens: different ids can only come from special tokens that stay text.
    found = _core.locate(tok, whole, **{**reading, "special": "allow"})
    if found[0] != ids:
        raise SpecialTokenError(
            "a list of parts holds an added token that stays text, so that its offsets are ambiguous",
            remedy="request only ids, or leave special tokens out of the plain parts",
        )
    return found
