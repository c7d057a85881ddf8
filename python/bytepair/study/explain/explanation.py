"""The result of `explain`: plain data, which `bytepair.view.explained` draws."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytepair.study.explain.merging import MergeStep

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class NormalizerChange:
    """The change of a stretch of text by one normalizer.

    Attributes:
        step: The normalizer as in ``tokenizer.json`` if that is short, else its name.
        before: The text before.
        after: The text after.
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
        changes: The changes in order, one for each normalizer that changed the text.
    """

    start: int
    end: int
    changes: tuple[NormalizerChange, ...]


@dataclass(frozen=True, slots=True)
class LongestMatch:
    """A search for the longest token, by WordPiece.

    Attributes:
        at: The character of the piece at which tokens were tried, the longest first.
        end: The end of the matched token; `at` if none matches.
        tried: The number of longer prefixes of the rest that were looked up without a match. Prefixes longer than any
            token are not looked up.
        result: The matched id; None if none matches, which makes the whole piece unknown.
    """

    at: int
    end: int
    tried: int
    result: int | None


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token of a segmentation, by Unigram.

    Attributes:
        at: Its first character in the piece.
        end: The character behind its last one.
        id: Its id.
        score: Its score.
        is_unknown: Whether it is the unknown token, with the score of an unknown character.
    """

    at: int
    end: int
    id: int
    score: float
    is_unknown: bool


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A segmentation of a piece, by Unigram.

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
        text: The piece as the model sees it, after normalizers and pre-tokenizers.
        kind: ``"added"``; for BPE ``"whole"`` for a token that merging alone would not reach, and ``"merged"``;
            ``"longest match"`` (WordPiece); ``"best path"`` (Unigram); ``"word"`` (WordLevel); or ``"unknown"`` for a
            piece that is unknown as a whole.
        ids: Its ids.
        symbols: The ids that merging started from.
        steps: The merges, or the matches, in order.
        segmentations: For Unigram the best segmentation and the runner-up, if there is one.
        note: A remark, as a sentence without its full stop; or empty.
    """

    start: int
    end: int
    text: str
    kind: str
    ids: tuple[int, ...]
    symbols: tuple[int, ...] = ()
    steps: tuple[MergeStep, ...] | tuple[LongestMatch, ...] = ()
    segmentations: tuple[Segmentation, ...] = ()
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
        semantics: ``"ranks"`` or ``"merges"``; for models without merges their type.
        normalizers: All normalizers, spelled like `NormalizerChange.step`.
        normalized: The stretches of the text that they changed.
        pieces: The pieces and added tokens in order.
        tokens: The bytes of each token that occurs anywhere here, by id.
        spelled: Whether tokens are spelled in characters, and not as the bytes of the text.
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
        """The ids of the text: those of `Tokenizer.encode`."""
        return [id for piece in self.pieces for id in piece.ids]

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data for JSON; tokens are in hexadecimal.

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
