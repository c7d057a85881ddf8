"""The results of `report`, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from bytepair.drawing.display import draw

Pairs = tuple[tuple[int, int], ...]


class TokenUse(NamedTuple):
    """The uses of a token.

    Attributes:
        id: Its id.
        token: Its bytes in the vocabulary.
        uses: Its occurrences.
    """

    id: int
    token: bytes
    uses: int


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """The size of a corpus, independent of tokenizers.

    Attributes:
        name: Its name.
        documents: The number of texts, empty ones included.
        characters: The number of Unicode code points.
        bytes: The number of bytes as UTF-8.
        words: The number of segments between word boundaries (UAX #29) that hold a letter or a number.
        spaceless: The number of characters of scripts without spaces between words (Han, kana, Thai, Lao, Burmese,
            Khmer), where nearly each character counts as a word.
    """

    name: str
    documents: int
    characters: int
    bytes: int
    words: int
    spaceless: int

    @property
    def is_spaceless(self) -> bool:
        """Whether more than a quarter is written without spaces, so that most words are single characters."""
        return self.spaceless * 4 > self.characters


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a corpus with a tokenizer. A ratio is None where its divisor is 0.

    Attributes:
        tokenizer: The name of the tokenizer.
        corpus: The name of the corpus.
        tokens: The tokens of the corpus.
        bytes_per_token: Bytes of text per token: more is cheaper.
        tokens_per_byte: The inverse.
        tokens_per_character: Tokens per code point.
        tokens_per_word: Fertility: tokens per word, tokens between words included.
        premium_per_byte: Tokens for each byte, over that of the first corpus.
        premium_per_character: Tokens for each character, over that of the first corpus.
        parity: Tokens over those of the first corpus for the same content; None if the corpora are not parallel.
        context_characters: Characters of such text that fit the context window.
        context_words: Words that fit the context window.
        used: Tokens of the vocabulary that occur.
        never_used: Tokens of the vocabulary that do not occur.
        rarely_used: Tokens that occur fewer times than `CorpusReport.rare`.
        unknown: Uses of the unknown token.
        byte_tokens: Uses of tokens that are one byte, a part of a character.
        entropy: Bits per token, of ids drawn by their counts.
        bits_per_byte: Bits per byte of the text.
        renyi_efficiency: How evenly the vocabulary is used, from 0 to 1: see `measures.renyi_efficiency`.
        ranks: Ranks, and how often the token of that rank occurs.
        lengths: Lengths of tokens in bytes, and how often tokens of that length occur.
        most_used: The tokens that occur most.
    """

    tokenizer: str
    corpus: str
    tokens: int
    bytes_per_token: float | None
    tokens_per_byte: float | None
    tokens_per_character: float | None
    tokens_per_word: float | None
    premium_per_byte: float | None
    premium_per_character: float | None
    parity: float | None
    context_characters: int | None
    context_words: int | None
    used: int
    never_used: int
    rarely_used: int
    unknown: int
    byte_tokens: int
    entropy: float | None
    bits_per_byte: float | None
    renyi_efficiency: float | None
    ranks: Pairs
    lengths: Pairs
    most_used: tuple[TokenUse, ...]


@dataclass(frozen=True, slots=True)
class VocabularyUse:
    """The use of a vocabulary by all corpora together.

    Attributes:
        tokenizer: The name of the tokenizer.
        fingerprint: Its fingerprint.
        kind: Its semantics: ``ranks``, ``merges``, or the type of its model.
        vocab_size: The highest id plus one.
        tokens: The number of ids that text can become: not special, not unknown, no holes.
        used: How many of these occur.
        never_used: How many do not.
        rarely_used: How many occur fewer times than `CorpusReport.rare`.
        lengths: Lengths of tokens in bytes, and the number of these tokens of that length.
        most_used: The tokens that occur most.
        never_used_examples: Tokens of more than one byte that do not occur, lowest ids first.
        rarely_used_examples: Tokens that occur rarely, the rarest first.
    """

    tokenizer: str
    fingerprint: str
    kind: str
    vocab_size: int
    tokens: int
    used: int
    never_used: int
    rarely_used: int
    lengths: Pairs
    most_used: tuple[TokenUse, ...]
    never_used_examples: tuple[TokenUse, ...]
    rarely_used_examples: tuple[TokenUse, ...]


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The cost of corpora with tokenizers: the result of `bytepair.report`.

    Attributes:
        corpora: The size of each corpus; others are compared with the first.
        vocabularies: The use of each tokenizer's vocabulary.
        costs: The cost of each corpus with each tokenizer: all corpora of the first tokenizer, then those of the next.
        context: The tokens of the context window.
        rare: Tokens that occur fewer times are rarely used.
        parallel: Whether the corpora have the same content, document by document.
    """

    corpora: tuple[CorpusSize, ...]
    vocabularies: tuple[VocabularyUse, ...]
    costs: tuple[Cost, ...]
    context: int
    rare: int
    parallel: bool

    def cost(self, tokenizer: str, corpus: str) -> Cost:
        """The cost of a corpus with a tokenizer.

        Args:
            tokenizer: The name of the tokenizer.
            corpus: The name of the corpus.

        Raises:
            KeyError: There is no such tokenizer or corpus in the report.
        """
        for cost in self.costs:
            if (cost.tokenizer, cost.corpus) == (tokenizer, corpus):
                return cost
        raise KeyError(f"the report has no {tokenizer!r} with {corpus!r}")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data that JSON can hold; bytes of tokens are in hexadecimal."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def html(self) -> str:
        """The report as one self-contained HTML page."""
        return draw(self, "reported.html")

    def __str__(self) -> str:
        return draw(self, "reported.text")


def _plain(value: Any) -> Any:
    if isinstance(value, TokenUse):
        return {"id": value.id, "hex": value.token.hex(), "uses": value.uses}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, (CorpusSize, Cost, VocabularyUse)):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
