"""Kimi's published vocabulary, a file of ranks: `tiktoken` with the interface of `tokenizers` for the oracles."""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import tiktoken
import tiktoken.load

import bytepair as bp

if TYPE_CHECKING:
    from pathlib import Path

_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]", r"\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
KIMI = "|".join(
    [
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_SUFFIX}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_SUFFIX}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


class Encoded(NamedTuple):
    """Ids, and the source characters of each: every character that it is part of."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Ranked:
    """An encoding with the interface of a tokenizer of `tokenizers`."""

    def __init__(self, encoding: tiktoken.Encoding, *, special: bool) -> None:
        self._encoding = encoding
        self._special = special

    def encode(self, text: str, *, add_special_tokens: bool) -> Encoded:
        """The ids of a text, without added tokens."""
        assert not add_special_tokens
        ids = (
            self._encoding.encode(text, allowed_special="all")
            if self._special
            else self._encoding.encode_ordinary(text)
        )
        starts = [0, *accumulate(len(character.encode()) for character in text)]
        ends = list(accumulate(map(len, self._encoding.decode_tokens_bytes(ids))))
        places = [
            (bisect_right(starts, first) - 1, bisect_right(starts, last - 1))
            for first, last in zip([0, *ends[:-1]], ends, strict=True)
        ]
        return Encoded(ids, places)


def kimi(folder: Path) -> tuple[bp.Tokenizer, Ranked, Ranked, list[dict[str, Any]]]:
    """The tokenizer, its peer with added tokens and without, and the added tokens."""
    decoder = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))["added_tokens_decoder"]
    added = [{"id": int(id), **row} for id, row in decoder.items()]
    special = {row["content"]: row["id"] for row in added}
    file = folder / "tiktoken.model"
    ranks = tiktoken.load.load_tiktoken_bpe(str(file))
    full = tiktoken.Encoding("kimi", pat_str=KIMI, mergeable_ranks=ranks, special_tokens=special)
    bare = tiktoken.Encoding("kimi bare", pat_str=KIMI, mergeable_ranks=ranks, special_tokens={})
    tok = bp.Tokenizer.from_file(file, split=KIMI, special_tokens=special)
    return tok, Ranked(full, special=True), Ranked(bare, special=False), added
