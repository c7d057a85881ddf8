"""What a comparison says, as plain data.

Long because each field is explained.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGES = ("added tokens", "normalizers", "split", "model", "ids")
"""Where two tokenizers can part on a text, in the order in which they come: which added tokens stand in it, what it
becomes before it is cut, its pieces, the tokens of these, and last the numbers of the same tokens."""


@dataclass(frozen=True, slots=True)
class JsonData:
    """A dataclass that JSON can hold."""

    def as_dict(self) -> dict[str, Any]:
        r"""The same as a dict of dicts, lists, texts and numbers; what is computed of fields stands beside them.

        Tokens are texts as well; bytes of them that are no text are spelled ``\xff``.
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
        name: What it is called here.
        fingerprint: The hash of its content.
        semantics: ``"ranks"`` or ``"merges"``; of models that merge nothing their type.
        tokens: How many it has.
        vocab_size: Its largest id, plus one.
    """

    name: str
    fingerprint: str
    semantics: str
    tokens: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class StageComparison(JsonData):
    """A stage, as the two have it.

    Attributes:
        name: ``"added tokens"``, ``"normalizers"``, ``"split"``, ``"model"``, ``"post-processor"`` or ``"decoders"``.
        same: Whether it is the same, of a model with all its tokens and merges.
        a: What it is in the first tokenizer, a line for each step or option.
        b: What it is in the second.
    """

    name: str
    same: bool
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedAddedTokens(JsonData):
    """The added tokens of the two, by content.

    Attributes:
        same: How many both have, with one id and one set of flags.
        other_id: Content, first id and second id of those that have another id.
        other_flags: Content of those that have the same id, but are special, stripped or looked for otherwise.
        only_a: Content and id of those that only the first has.
        only_b: Content and id of those that only the second has.
    """

    same: int
    other_id: tuple[tuple[str, int, int], ...]
    other_flags: tuple[str, ...]
    only_a: tuple[tuple[str, int], ...]
    only_b: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SharedVocabulary(JsonData):
    """The tokens of the two, by the bytes that they stand for; added tokens are not among them.

    Attributes:
        a: How many different ones the first has.
        b: How many the second has.
        both: How many both have.
        same_id: How many of these have one id.
        used_a: Of the tokens that the first makes of the texts, the share that the second has as well; None without
            texts.
        used_b: The same of the second.
    """

    a: int
    b: int
    both: int
    same_id: int
    used_a: float | None = None
    used_b: float | None = None

    @property
    def only_a(self) -> int:
        """How many only the first has."""
        return self.a - self.both

    @property
    def only_b(self) -> int:
        """How many only the second has."""
        return self.b - self.both


@dataclass(frozen=True, slots=True)
class SharedMerges(JsonData):
    """The merges of the two; of ranks those that they imply.

    Attributes:
        a: How many the first has.
        b: How many the second has.
        both: How many both have, at whatever rank.
        same_before: How many at the beginning are the same one by one: the number of the first that differs.
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
    """Text between two places where tokens of both end, with no such place inside: so all of a text is passages.

    Attributes:
        text: What it is; of a long one how it begins.
        times: How often it was found with another number of tokens.
        tokens_a: The tokens of the first in all of these.
        tokens_b: The tokens of the second.
    """

    text: str
    times: int
    tokens_a: int
    tokens_b: int

    @property
    def saved(self) -> int:
        """How many tokens fewer the second has; below zero, how many more."""
        return self.tokens_a - self.tokens_b


@dataclass(frozen=True, slots=True)
class Divergence(JsonData):
    """The first place of a document where the two differ.

    Attributes:
        stage: One of `STAGES`: the first stage that does something else there.
        document: The number of the document in its source, from 0.
        file: The file that it is in; None for a text that is in none.
        position: Where it is there: a byte, a row, or the number of a sample; of texts, its number.
        character: The character of the document where the passage begins that differs.
        before: Some text before the passage.
        text: The passage; of a long one how it begins.
        after: Some text behind it.
        tokens_a: What the first makes of the passage: tokens and ids; of a long one the first few.
        tokens_b: What the second makes of it.
        seen_a: What the stage gives there in the first: added tokens, normalized text or pieces; empty for later ones.
        seen_b: The same in the second.
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
    """What was counted of some texts.

    Attributes:
        name: What they are called.
        documents: How many there are.
        text_bytes: The bytes of their UTF-8.
        tokens_a: The tokens that the first makes of them.
        tokens_b: Those of the second.
        same_ids: The documents of which both make the same ids.
        same_tokens: Those of which both make the same tokens, whatever the ids.
        same_boundaries: Those in which tokens end behind the same characters, whatever the tokens.
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
        """How many tokens fewer the second needs; below zero, how many more."""
        return self.tokens_a - self.tokens_b

    @property
    def saved_share(self) -> float:
        """The same, as a share of the tokens of the first."""
        return self.saved / self.tokens_a if self.tokens_a else 0.0


@dataclass(frozen=True, slots=True)
class SourceComparison(TokenTotals):
    """The documents of a source.

    Attributes:
        firsts: For each stage the first document whose first difference is from there, in the order of `STAGES`, among
            the `looked_at` first documents that differ.
        looked_at: In how many documents the stage of the first difference was looked for.
        savings: The passages where the second saves most tokens in sum.
        losses: Those where it needs most tokens more.
        is_exact: Whether all passages were kept in mind. If not, those that came to least were forgotten meanwhile, and
            `savings` and `losses` can lack some of their times.
    """

    firsts: tuple[Divergence, ...] = ()
    looked_at: int = 0
    savings: tuple[Passage, ...] = ()
    losses: tuple[Passage, ...] = ()
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Comparison(JsonData):
    """Two tokenizers beside each other; what is saved is what the second needs less than the first.

    Attributes:
        a: The first.
        b: The second.
        stages: Each stage, in order.
        added: Their added tokens.
        vocabulary: Their tokens.
        merges: Their merges; None if one has none, or its ranks imply none.
        sources: What they make of texts, one for each source.
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
        """Whether a document of the sources has other ids."""
        return self.total.same_ids < self.total.documents

    @property
    def first_stage(self) -> str | None:
        """The first stage that does something else with some document; None if all have the same ids."""
        found = {first.stage for source in self.sources for first in source.firsts}
        return next((stage for stage in STAGES if stage in found), None)

    def __repr__(self) -> str:
        differ = "the same" if self.is_same else "different"
        return f"<Comparison: {self.a.name!r} and {self.b.name!r}, {differ}; {self.total.documents:,} documents>"


def options(value: Any) -> Mapping[str, Any]:
    """The fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
