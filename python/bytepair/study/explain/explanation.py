"""What `explain` gives: plain data, which `bytepair.view.explained` shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytepair.study.explain.merging import MergeStep

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class NormalizerChange:
    """What one normalizer made of a stretch of text.

    Attributes:
        step: The normalizer: as ``tokenizer.json`` has it if that is short, else its name.
        before: The text that it was given.
        after: The text that it made of it.
    """

    step: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NormalizedStretch:
    """A stretch between added tokens that normalizers changed.

    Attributes:
        start: Its first character.
        end: The character behind its last one.
        changes: What each normalizer did that changed anything, in order.
    """

    start: int
    end: int
    changes: tuple[NormalizerChange, ...]


@dataclass(frozen=True, slots=True)
class LongestMatch:
    """A search for the longest token, by WordPiece.

    Attributes:
        at: The character of the piece from which on tokens were tried, the longest first.
        end: The character behind the token that was taken; `at` if none fits.
        tried: How many longer beginnings of the rest were looked up before, and are no tokens. What is longer than any
            token was not.
        result: The id that was taken; None if none fits, which makes the whole piece unknown.
    """

    at: int
    end: int
    tried: int
    result: int | None


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token on a way through a piece, by Unigram.

    Attributes:
        at: Its first character in the piece.
        end: The character behind its last one.
        id: Its id.
        score: What it adds to the sum.
        is_unknown: Whether it stands for a character that is no token, and scores for that.
    """

    at: int
    end: int
    id: int
    score: float
    is_unknown: bool


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A way to spell a piece, by Unigram.

    Attributes:
        tokens: Its tokens in order.
        score: The sum of their scores, added up from left to right.
    """

    tokens: tuple[ScoredToken, ...]
    score: float


@dataclass(frozen=True, slots=True)
class ExplainedPiece:
    """A piece, or an added token, and how it became ids.

    Attributes:
        start: Its first character in the text.
        end: The character behind its last one.
        text: The piece as the model sees it, after all that normalizers and pre-tokenizers did.
        kind: ``"added"``; of models that merge ``"whole"`` for a token that merging alone would not give, and
            ``"merged"``; ``"longest match"`` (WordPiece); ``"best path"`` (Unigram); ``"word"`` (WordLevel); or
            ``"unknown"`` for a piece that is as a whole no token.
        ids: Its ids.
        symbols: The ids that merging started from.
        steps: The merges, or the matches, in order.
        ways: Of a Unigram the best way and, if there is another one, the runner-up.
        note: What else is to be said, as a sentence without its full stop; or empty.
    """

    start: int
    end: int
    text: str
    kind: str
    ids: tuple[int, ...]
    symbols: tuple[int, ...] = ()
    steps: tuple[MergeStep, ...] | tuple[LongestMatch, ...] = ()
    ways: tuple[Segmentation, ...] = ()
    note: str = ""

    @property
    def merges(self) -> tuple[MergeStep, ...]:
        """The steps that are merges."""
        return tuple(step for step in self.steps if isinstance(step, MergeStep))

    @property
    def matches(self) -> tuple[LongestMatch, ...]:
        """The steps that are matches."""
        return tuple(step for step in self.steps if isinstance(step, LongestMatch))


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text has its ids.

    Attributes:
        text: The text.
        semantics: ``"ranks"`` or ``"merges"``; of models that merge nothing their type.
        normalizers: All normalizers, as `NormalizerChange.step` says them.
        normalized: The stretches of the text that they changed.
        pieces: The pieces and added tokens in order.
        tokens: The bytes of each token that is named anywhere here, by id.
        spelled: Whether tokens are spelled in characters, and not the bytes that they stand for.
    """

    text: str
    semantics: str
    normalizers: tuple[str, ...]
    normalized: tuple[NormalizedStretch, ...]
    pieces: tuple[ExplainedPiece, ...]
    tokens: Mapping[int, bytes]
    spelled: bool

    @property
    def ids(self) -> list[int]:
        """The ids of the text, as `Tokenizer.encode` gives them."""
        return [id for piece in self.pieces for id in piece.ids]

    def as_dict(self) -> dict[str, Any]:
        """The same as values that JSON has; tokens are in hexadecimal.

        Example:
            >>> import bytepair as bp
            >>> from bytepair.study.explain import explain
            >>> explain(bp.train({"low": 5}, vocab_size=258), "lo").as_dict()["pieces"][0]["steps"][0]
            {'at': 0, 'left': 108, 'right': 111, 'result': 256, 'rank': 0}
        """
        plain = asdict(self)
        plain["ids"] = self.ids
        plain["tokens"] = {str(id): token.hex() for id, token in self.tokens.items()}
        return plain
