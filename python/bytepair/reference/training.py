"""The shared part of all trainers: their signature, their result, and the state that they work on.

The one idea: a trainer is a function from a counts table and options to a list of merges. When all of them have that
one signature (`Trainer`) and that one result (`Training`), a faster one is right exactly when it equals a slower one.

Complexity: setting up reads every piece once; a pick reads the whole pair table. Biggest weakness: all pieces are held
in memory as lists of byte strings, many times their size.

Source: the split into a counts table and a merge loop is that of "Building a Fast BPE Tokenizer from Scratch".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypedDict

from bytepair.errors import TrainingError
from bytepair.reference.alphabet import alphabet_ids, check_alphabet, initial_symbols
from bytepair.reference.pairs import Pair
from bytepair.reference.ties import check_ties, winner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

Counts: TypeAlias = Mapping[bytes, int] | Mapping[str, int]
"""A counts table: piece -> how often it occurs."""


class Merge(NamedTuple):
    """One merge of a training.

    Args:
        left: The left token.
        right: The right token.
        count: How often the pair occurred when it was chosen.

    Example:
        >>> Merge(b"lo", b"w", 7).token
        b'low'
    """

    left: bytes
    right: bytes
    count: int  # type: ignore[assignment]  # it hides tuple.count, which a merge does not need

    @property
    def pair(self) -> Pair:
        """The pair, as a key of a pair table."""
        return self.left, self.right

    @property
    def token(self) -> bytes:
        """The new token."""
        return self.left + self.right


@dataclass(frozen=True)
class Training:
    """The result of a trainer.

    Args:
        merges: The merges in the order in which they were made; the place in this list is the rank.
        trace: For each merge the pair table (pair -> count) from which it was chosen, or None without ``trace=True``.

    Example:
        >>> Training([Merge(b"a", b"b", 3)], None).pairs
        [(b'a', b'b')]
    """

    merges: list[Merge]
    trace: list[dict[Pair, int]] | None

    @property
    def pairs(self) -> list[Pair]:
        """The merges without their counts, as an encoder needs them."""
        return [merge.pair for merge in self.merges]


class TrainerOptions(TypedDict, total=False):
    """The options of every trainer.

    Attributes:
        ties: Which of equally frequent pairs is merged: ``lowest_ids``, ``greatest_bytes``, ``smallest_bytes`` or
            ``first_seen``. New tokens have the ids after the alphabet's: 256, 257, ... for bytes.
        min_frequency: Pairs with a smaller count are not merged. Default 1.
        max_token_length: Pairs that would make a longer token, in bytes with any suffix, are not merged. Default None.
        max_words: Pairs that would make a token of more words, runs of bytes that are not white space of ASCII, are not
            merged. Default None.
        alphabet: ``bytes`` (the default) or ``characters``.
        end_of_word_suffix: A symbol to append to every piece, usually ``</w>``. No piece may hold its text, or two
            different tokens would have the same bytes. Default None.
        trace: Keep the pair table of every step. Default False.
    """

    ties: str
    min_frequency: int
    max_token_length: int | None
    max_words: int | None
    alphabet: str
    end_of_word_suffix: str | None
    trace: bool


class Trainer(Protocol):
    """The signature of every trainer here, documented once for all of them."""

    def __call__(self, counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
        """Learn merges from a counts table.

        Training stops early, with fewer merges, when no pair may be merged any more.

        Args:
            counts: Piece -> count, at least 1. The order of the pieces matters to ``first_seen`` only.
            merges: How many merges to make at most.
            options: See `TrainerOptions`. Ties are broken by ``lowest_ids`` by default, in `train_byte_level` by
                ``smallest_bytes``.

        Raises:
            TypeError: ``counts`` is not a mapping, or there is no such option.
            TrainingError: A count is below 1, ``merges`` is negative, or a piece holds the suffix.
            EncodeError: A piece is not the text that the alphabet needs.
            ValueError: The tie policy or the alphabet is unknown.
        """


@dataclass(frozen=True)
class Rules:
    """A trainer's arguments beside the counts table; see `Trainer`.

    Raises:
        TrainingError: ``merges`` is negative.
        ValueError: The tie policy or the alphabet is unknown.

    Example:
        >>> Rules(merges=10, max_token_length=2).allows((b"ab", b"c"))
        False
    """

    merges: int
    ties: str = "lowest_ids"
    min_frequency: int = 1
    max_token_length: int | None = None
    max_words: int | None = None
    alphabet: str = "bytes"
    end_of_word_suffix: str | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked without the counts."""
        check_ties(self.ties)
        check_alphabet(self.alphabet)
        if self.merges < 0:
            raise TrainingError(f"cannot make {self.merges} merges", remedy="use 0 or more")

    def allows(self, pair: Pair) -> bool:
        """Return whether the token that a pair would make is short enough, in bytes and words. O(its bytes)."""
        token = b"".join(pair)
        is_short = self.max_token_length is None or len(token) <= self.max_token_length
        return is_short and (self.max_words is None or len(token.split()) <= self.max_words)


@dataclass
class State:
    """The data that a trainer works on.

    Args:
        rules: The rules.
        pieces: The current symbols of each piece, in the order of the counts table.
        counts: How often each piece occurs.
        ids: Token -> id, growing with each merge.
        training: The result so far.
    """

    rules: Rules
    pieces: list[list[bytes]]
    counts: list[int]
    ids: dict[bytes, int]
    training: Training

    @classmethod
    def start(cls, counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> State:
        """Check the arguments of a trainer and cut the pieces into symbols: the head of every trainer.

        Takes and raises the same as `Trainer`.

        Complexity: O(bytes of all pieces).

        Example:
            >>> State.start({"ab": 2}, merges=9).pieces
            [[b'a', b'b']]
            >>> State.start(iter(["ab"]), merges=9)
            Traceback (most recent call last):
            TypeError: counts is a list_iterator, not a mapping of pieces to counts; count_pieces makes one from texts
        """
        if not isinstance(counts, Mapping):
            what = f"counts is a {type(counts).__name__}, not a mapping of pieces to counts"
            raise TypeError(f"{what}; count_pieces makes one from texts")
        rules = Rules(merges, **options)
        alphabet, suffix = rules.alphabet, rules.end_of_word_suffix
        pieces = []
        items: Iterable[tuple[bytes | str, int]] = counts.items()
        for row, (piece, count) in enumerate(items):
            if count < 1:
                raise TrainingError(f"piece {piece!r} has the count {count}", row=row, remedy="leave it out")
            symbols = initial_symbols(piece, alphabet=alphabet, end_of_word_suffix=suffix)
            if suffix and symbols[-1] in b"".join(symbols[:-1]):
                what = f"piece {piece!r} holds the end-of-word suffix {suffix!r} as text"
                raise TrainingError(what, row=row, remedy="choose a suffix that no piece holds")
            pieces.append(symbols)
        ids = alphabet_ids(pieces, alphabet=alphabet, end_of_word_suffix=suffix)
        return cls(rules, pieces, list(counts.values()), ids, Training([], [] if rules.trace else None))

    def pick(self, table: Mapping[Pair, int], pairs: Iterable[Pair] | None = None) -> Merge | None:
        """Choose the next merge from a pair table, or None if no pair may be merged. O(pairs).

        A trainer that does not keep the pieces up to date passes the pairs of the text in order, for ``first_seen``.
        """
        lowest = self.rules.min_frequency
        able = {pair: count for pair, count in table.items() if count >= lowest and self.rules.allows(pair)}
        if not able:
            return None
        # A pair is a piece of two symbols.
        pair = winner(able, self.rules.ties, ids=self.ids, pieces=self.pieces if pairs is None else pairs)
        return Merge(*pair, able[pair])

    def record(self, merge: Merge, table: Mapping[Pair, int]) -> None:
        """Record a merge, the table that it was chosen from, and the id of its token. O(1), with a trace O(pairs)."""
        self.ids[merge.token] = len(self.ids)
        self.training.merges.append(merge)
        if self.training.trace is not None:
            self.training.trace.append(dict(table))
