"""`TokenizerSpec`: the whole of a tokenizer as plain frozen data.

Formats read and write it; the core is compiled from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bytepair.checks import check_added_ids, check_alphabet, check_post_processor
from bytepair.patterns import SPLIT_PATTERNS, split_name, split_pattern

__all__ = ["SPLIT_PATTERNS", "AddedToken", "BytePair", "NormalizerName", "TokenizerSpec", "split_name", "split_pattern"]

NormalizerName = Literal["NFC", "NFD", "NFKC", "NFKD"]


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
        if not self.partial_alphabet:
            check_alphabet({token[0] for token in self.tokens if len(token) == 1})


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
        check_added_ids([token.id for token in self.added_tokens])
        check_post_processor(self.post_processor)
        self.model.check()

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {token.content: token.id for token in self.added_tokens if token.special}
