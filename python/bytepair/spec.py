"""`TokenizerSpec`: the whole of a tokenizer as plain frozen data.

Formats read and write it; the core is compiled from it.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from typing import Literal

from bytepair._core import split_patterns
from bytepair.errors import FormatError, PatternError

SPLIT_PATTERNS: dict[str, str] = split_patterns()
"""Split patterns by name: ``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2`` and ``none``."""

# UTF-8 has no use for the other 13, and some vocabularies (GPT-NeoX) have no token for them.
_BYTES_IN_TEXT = frozenset(range(0xF5)) - {0xC0, 0xC1}

MOST_IDS = 2**32 - 1
"""Ids are below this."""

NormalizerName = Literal["NFC", "NFD", "NFKC", "NFKD"]


def split_pattern(split: str) -> str:
    """The pattern of a name; anything else is a pattern already.

    Raises:
        PatternError: It looks like a name and is none.

    Example:
        >>> split_pattern("none"), split_pattern("[0-9]+")
        ('', '[0-9]+')
        >>> split_pattern("GPT2")
        Traceback (most recent call last):
        bytepair.errors.PatternError: there is no split pattern 'GPT2'; did you mean 'gpt2'? For this text say (?:GPT2)
    """
    if split and split not in SPLIT_PATTERNS and re.fullmatch(r"[\w\s-]+", split):
        close = difflib.get_close_matches(split.lower(), SPLIT_PATTERNS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(SPLIT_PATTERNS)}."
        raise PatternError(f"there is no split pattern {split!r}", remedy=f"{hint} For this text say (?:{split})")
    return SPLIT_PATTERNS.get(split, split)


def split_name(pattern: str) -> str | None:
    """The name of a pattern, if it has one.

    Example:
        >>> split_name(split_pattern("gpt2"))
        'gpt2'
    """
    return next((name for name, known in SPLIT_PATTERNS.items() if known == pattern), None)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is matched in the text before everything else, leftmost-longest.

    Attributes:
        content: The text that it is.
        id: Its id.
        special: Whether it controls (bos, eos, role marks), so that user text may not become it unasked.
        single_word: Matched only where it is not part of a longer word.
        lstrip: Takes the white space before it.
        rstrip: Takes the white space after it.
        normalized: Looked for in the normalized text, not in the original.
    """

    content: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class BytePair:
    """The model: tokens with their ids, and the rule by which pairs merge.

    Attributes:
        tokens: The bytes of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        merges: None for the semantics ``ranks``: any adjacent pair whose concatenation is a token merges, the lowest id
            first. Else for the semantics ``merges``: only these pairs of ids merge, the first in the list first.
        ignore_merges: With ``merges``: a piece that is a token is taken whole, even if no merges lead to it.
        partial_alphabet: Whether bytes that UTF-8 uses may have no token, so that some text cannot be encoded.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    merges: tuple[tuple[int, int], ...] | None = None
    ignore_merges: bool = False
    partial_alphabet: bool = False

    @property
    def semantics(self) -> Literal["ranks", "merges"]:
        """``"ranks"`` or ``"merges"``."""
        return "ranks" if self.merges is None else "merges"

    def check(self) -> None:
        """Raises FormatError if a byte that text can hold has no token, unless the alphabet is said to be partial."""
        if self.partial_alphabet:
            return
        missing = sorted(_BYTES_IN_TEXT - {token[0] for token in self.tokens if len(token) == 1})
        if missing:
            shown = ", ".join(f"0x{byte:02X}" for byte in missing[:8]) + (", ..." if len(missing) > 8 else "")
            raise FormatError(
                f"the vocabulary has no token for {len(missing)} of the bytes of UTF-8: {shown}",
                remedy="is the file whole? If it is meant to be so, load it with partial_alphabet=True; "
                "text that needs one of these bytes then raises EncodeError",
            )


def _is_canonical(text: str) -> bool:
    try:
        return text not in ("null", "") and json.dumps(json.loads(text), ensure_ascii=False) == text
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class TokenizerSpec:
    """Everything that decides which ids a text has, and what its post-processor would add.

    Attributes:
        model: Tokens and merges.
        split: Split patterns, each applied to the pieces of the one before; empty for none.
        added_tokens: Added tokens by id, special ones among them.
        normalizers: Names of Unicode normal forms, applied in order to the text between added tokens.
        prefix_space: Whether text between added tokens that does not start with a space gets one.
        post_processor: The post-processor of ``tokenizer.json`` as JSON; kept for the file, never run by ``encode``.

    Example:
        >>> model = BytePair(tokens=(b"a", b"b", b"ab"), ids=(0, 1, 2), partial_alphabet=True)
        >>> TokenizerSpec(model, split=(split_pattern("gpt2"),)).model.semantics
        'ranks'
    """

    model: BytePair
    split: tuple[str, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    normalizers: tuple[NormalizerName, ...] = ()
    prefix_space: bool = False
    post_processor: str | None = None

    def check(self) -> None:
        """Checks what the core does not see.

        Raises:
            TypeError: A column is no tuple, so that it could change, or would not equal itself when loaded again.
            FormatError: The id of an added token is out of range; added tokens are not by id; the post-processor is no
                JSON, or spelled otherwise than ``json.dumps`` does; a byte that text can hold has no token.
        """
        columns = {
            "tokens": self.model.tokens,
            "ids": self.model.ids,
            "merges": self.model.merges or (),
            "split": self.split,
            "added_tokens": self.added_tokens,
            "normalizers": self.normalizers,
        }
        for name, column in columns.items():
            if not isinstance(column, tuple):
                raise TypeError(f"{name} is a tuple, not {type(column).__name__}")
        added = [token.id for token in self.added_tokens]
        for id in added:
            if not 0 <= id < MOST_IDS:
                raise FormatError(f"the id {id} is out of range", remedy=f"ids are from 0 to {MOST_IDS - 1}")
        if added != sorted(added):
            raise FormatError("the added tokens are not in the order of their ids", remedy="sort them by id")
        if self.post_processor is not None and not _is_canonical(self.post_processor):
            raise FormatError("post_processor is not JSON as json.dumps(..., ensure_ascii=False) writes it")
        self.model.check()

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {token.content: token.id for token in self.added_tokens if token.special}
