"""The result of `compare`, as plain data. Long because each field is documented."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGES = ("added tokens", "normalizer", "split", "model", "ids")
"""The stages at which two tokenizers can diverge on a text, in order: added tokens, normalized text, pieces, tokens,
and last the ids of equal tokens."""


@dataclass(frozen=True, slots=True)
class JsonData:
    """A dataclass that converts to JSON."""

    def as_dict(self) -> dict[str, Any]:
        r"""Convert to dicts, lists, texts and numbers, properties included.

        Tokens are texts; bytes that are not UTF-8 are spelled ``\xff``.
        """
        own = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return own | {name: _plain(getattr(self, name)) for name in self._computed()}

    @classmethod
    def _computed(cls) -> list[str]:
        return [name for base in reversed(cls.__mro__) for name, of in vars(base).items() if isinstance(of, property)]


def _plain(value: Any) -> Any:
    if isinstance(value, JsonData):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return dict(value) if isinstance(value, dict) else value


@dataclass(frozen=True, slots=True)
class Side(JsonData):
    """One of the two tokenizers.

    Attributes:
        name: Its name.
        fingerprint: The hash of its content.
        semantics: ``"ranks"`` or ``"merges"``; for models without merges their type.
        tokens: The number of its tokens.
        vocab_size: Its largest id, plus one.
    """

    name: str
    fingerprint: str
    semantics: str
    tokens: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class StageComparison(JsonData):
    """A stage of the two tokenizers.

    Attributes:
        name: ``"added tokens"``, ``"normalizer"``, ``"split"``, ``"model"``, ``"post-processor"`` or ``"decoder"``.
        same: Whether it is equal in both; for a model including all its tokens and merges.
        a: The stage of the first tokenizer, a line for each step or option.
        b: The stage of the second.
    """

    name: str
    same: bool
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedAddedTokens(JsonData):
    """The added tokens of the two, by content.

    Attributes:
        same: The number of tokens in both with equal id and flags.
        other_id: Content, first id and second id of tokens whose ids differ.
        other_flags: Content of tokens with equal ids whose flags differ.
        only_a: Content and id of tokens of the first only.
        only_b: Content and id of tokens of the second only.
    """

    same: int
    other_id: tuple[tuple[str, int, int], ...]
    other_flags: tuple[str, ...]
    only_a: tuple[tuple[str, int], ...]
    only_b: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SharedVocabulary(JsonData):
    """The tokens of the two, by the bytes that they represent; added tokens are excluded.

    Attributes:
        a: The number of distinct tokens of the first.
        b: The number of distinct tokens of the second.
        both: The number of shared tokens.
        same_id: The number of shared tokens with equal ids.
        used_a: The share of the first's tokens in the texts that are tokens of the second; None without texts.
        used_b: The share of the second's tokens in the texts that are tokens of the first.
    """

    a: int
    b: int
    both: int
    same_id: int
    used_a: float | None = None
    used_b: float | None = None

    @property
    def only_a(self) -> int:
        """The number of tokens of the first only."""
        return self.a - self.both

    @property
    def only_b(self) -> int:
        """The number of tokens of the second only."""
        return self.b - self.both


@dataclass(frozen=True, slots=True)
class SharedMerges(JsonData):
    """The merges of the two; for ranks the implied ones.

    Attributes:
        a: The number of merges of the first.
        b: The number of merges of the second.
        both: The number of shared merges, at any rank.
        same_before: The length of the shared prefix: the number of the first merge that differs.
        next_a: The pair there in the first; None if it has no more.
        next_b: The pair there in the second.
    """

    a: int
    b: int
    both: int
    same_before: int
    next_a: tuple[bytes, bytes] | None
    next_b: tuple[bytes, bytes] | None


@dataclass(frozen=True, slots=True)
class Passage(JsonData):
    """The text between two consecutive boundaries that both tokenizers share. Passages cover the whole text.

    Attributes:
        text: The text; the beginning of a long one.
        times: How often it occurred with different numbers of tokens.
        tokens_a: The tokens of the first in all of these.
        tokens_b: The tokens of the second.
    """

    text: str
    times: int
    tokens_a: int
    tokens_b: int

    @property
    def saved(self) -> int:
        """The tokens that the second saves; negative if it needs more."""
        return self.tokens_a - self.tokens_b


@dataclass(frozen=True, slots=True)
class Divergence(JsonData):
    """The first difference in a document.

    Attributes:
        stage: One of `STAGES`: the first stage that differs there.
        document: The number of the document in its source, from 0.
        file: The file of the document; None for a text of an iterable.
        position: The document's place in the file: a byte, a row, or the number of a sample; for texts their number.
        character: The start of the passage that differs, in characters of the document.
        before: Some text before the passage.
        text: The passage; the beginning of a long one.
        after: Some text after it.
        tokens_a: Tokens and ids of the passage in the first; the first few of a long one.
        tokens_b: Tokens and ids of the passage in the second.
        seen_a: The stage's output there in the first: added tokens, normalized text or pieces; empty for later stages.
        seen_b: The stage's output there in the second.
    """

    stage: str
    document: int
    file: str | None
    position: int
    character: int
    before: str
    text: str
    after: str
    tokens_a: tuple[tuple[bytes, int], ...]
    tokens_b: tuple[tuple[bytes, int], ...]
    seen_a: tuple[str, ...] = ()
    seen_b: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenTotals(JsonData):
    """The totals of some texts.

    Attributes:
        name: Their name.
        documents: The number of documents.
        text_bytes: The bytes of their UTF-8.
        tokens_a: The tokens of the first.
        tokens_b: The tokens of the second.
        same_ids: The number of documents with equal ids.
        same_tokens: The number of documents with equal tokens, whatever the ids.
        same_boundaries: The number of documents with equal token boundaries, whatever the tokens.
    """

    name: str
    documents: int
    text_bytes: int
    tokens_a: int
    tokens_b: int
    same_ids: int
    same_tokens: int
    same_boundaries: int

    @property
    def saved(self) -> int:
        """The tokens that the second saves; negative if it needs more."""
        return self.tokens_a - self.tokens_b

    @property
    def saved_share(self) -> float:
        """The saved tokens as a share of the tokens of the first."""
        return self.saved / self.tokens_a if self.tokens_a else 0.0


@dataclass(frozen=True, slots=True)
class SourceComparison(TokenTotals):
    """The documents of a source.

    Attributes:
        firsts: For each stage, in the order of `STAGES`, the first document whose first difference is from there, among
            the first `looked_at` documents that differ.
        looked_at: The number of documents in which the stage of the first difference was searched.
        savings: The passages where the second saves most tokens in total.
        losses: The passages where it needs most additional tokens in total.
        is_exact: Whether all passages were counted. If not, those that cost least were dropped in between, and
            `savings` and `losses` can lack some of their occurrences.
    """

    firsts: tuple[Divergence, ...] = ()
    looked_at: int = 0
    savings: tuple[Passage, ...] = ()
    losses: tuple[Passage, ...] = ()
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Comparison(JsonData):
    """Two tokenizers side by side. Saved tokens are those that the second needs fewer than the first.

    Attributes:
        a: The first.
        b: The second.
        stages: Each stage, in order.
        added: Their added tokens.
        vocabulary: Their tokens.
        merges: Their merges; None if one has none, or its ranks imply none.
        sources: Their tokens of texts, one result for each source.
    """

    a: Side
    b: Side
    stages: tuple[StageComparison, ...]
    added: SharedAddedTokens
    vocabulary: SharedVocabulary
    merges: SharedMerges | None
    sources: tuple[SourceComparison, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether they are the same tokenizer."""
        return self.a.fingerprint == self.b.fingerprint

    @property
    def total(self) -> TokenTotals:
        """The sums over all sources."""
        names = [field.name for field in fields(TokenTotals) if field.name != "name"]
        return TokenTotals("total", **{name: sum(getattr(one, name) for one in self.sources) for name in names})

    @property
    def differs(self) -> bool:
        """Whether a document of the sources has different ids."""
        return self.total.same_ids < self.total.documents

    @property
    def first_stage(self) -> str | None:
        """The first stage that differs on some document; None if all have equal ids."""
        found = {first.stage for source in self.sources for first in source.firsts}
        return next((stage for stage in STAGES if stage in found), None)

    def __repr__(self) -> str:
        differ = "the same" if self.is_same else "different"
        return f"<Comparison: {self.a.name!r} and {self.b.name!r}, {differ}; {self.total.documents:,} documents>"


def options(value: Any) -> Mapping[str, Any]:
    """The fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
