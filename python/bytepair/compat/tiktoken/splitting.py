"""Split patterns by tiktoken's rule: text that the pattern does not match is dropped.

In bytepair the text between two matches is a piece. The published patterns match every character, so that both rules
agree; with any other pattern each text is checked first.
"""

from __future__ import annotations

from functools import cached_property

from bytepair._core import pre_tokenize
from bytepair.model.models import BytePair, WordLevel
from bytepair.model.spec import TokenizerSpec
from bytepair.model.split_patterns import SPLIT_PATTERNS
from bytepair.model.steps import spell_step
from bytepair.tokenizer import Tokenizer

PUBLISHED = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k": SPLIT_PATTERNS["o200k"],
}
"""The ``pat_str`` of the published encodings, by the pattern's name in bytepair."""

WHOLE = r"[\s\S]+"
"""A pattern that matches the whole text at once, for tokenizers without a pattern."""

MATCH_ALL = {*PUBLISHED.values(), *SPLIT_PATTERNS.values(), WHOLE} - {""}
"""Patterns known to match every character of every text."""


class Gaps:
    """The parts of a text that a pattern does not match.

    Args:
        pattern: The pattern.
        model: The model that encodes the pieces.

    Raises:
        PatternError: The pattern does not compile.

    Example:
        >>> gaps = Gaps("[a-z]", BytePair((b"a", b"b"), (0, 1), partial_alphabet=True))
        >>> gaps.are_in("a!b"), gaps.pieces("a!b"), gaps.encode("a!b")
        (True, ['a', 'b'], [0, 1])
    """

    def __init__(self, pattern: str, model: BytePair) -> None:
        self._matches = _step(pattern, invert=True)
        # A tokenizer with one token for each gap, so that gaps can be counted.
        unknown = WordLevel((b"?",), (0,), "?")
        self._gaps = Tokenizer(TokenizerSpec(unknown, pre_tokenizers=(_step(pattern, invert=False),)))
        self._model = model

    def are_in(self, text: str) -> bool:
        """Whether the pattern leaves a part of the text unmatched."""
        return self._gaps.count(text, errors="replace") > 0

    def pieces(self, text: str) -> list[str]:
        """The matches of the pattern, in order."""
        return [piece for piece, _ in pre_tokenize([self._matches], text)]

    def encode(self, text: str) -> list[int]:
        """The ids of the matches."""
        ids: list[int] = self._unsplit.encode_batch_array(self.pieces(text)).ids.tolist()
        return ids

    @cached_property
    def _unsplit(self) -> Tokenizer:
        return Tokenizer(TokenizerSpec(self._model))


def _step(pattern: str, *, invert: bool) -> str:
    return spell_step({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": invert})
