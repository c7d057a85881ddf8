"""What a report says, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from bytepair.drawing.display import draw

Pairs = tuple[tuple[int, int], ...]


class TokenUse(NamedTuple):
    """A token, and how often it was used.

    Attributes:
        id: Its id.
        token: Its bytes as the vocabulary has them.
        uses: How often it occurs.
    """

    id: int
    token: bytes
    uses: int


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """What a corpus is, whatever the tokenizer.

    Attributes:
        name: What it is called.
        documents: How many texts, those among them that are empty too.
        characters: How many characters: code points of Unicode.
        bytes: How many bytes as UTF-8.
        words: What stands between two boundaries of words (UAX #29) and holds a letter or a number.
        spaceless: How many characters are of scripts that put no spaces between words (Han, kana, Thai, Lao, Burmese,
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
        """Whether so much of it is written without spaces that its words are rather characters."""
        return self.spaceless * 4 > self.characters


@dataclass(frozen=True, slots=True)
class Cost:
    """What a corpus costs with a tokenizer. A number is None where it would be divided by nothing.

    Attributes:
        tokenizer: The name of the tokenizer.
        corpus: The name of the corpus.
        tokens: How many tokens the corpus has.
        bytes_per_token: Bytes of text for each token: more is cheaper.
        tokens_per_byte: The same the other way round.
        tokens_per_character: Tokens for each code point.
        tokens_per_word: Fertility: tokens for each word, those of what stands between words included.
        premium_per_byte: Tokens for each byte, over that of the first corpus.
        premium_per_character: Tokens for each character, over that of the first corpus.
        parity: Tokens over those of the first corpus for the same content; None if the corpora are not parallel.
        context_characters: How many characters of such text fill the context window.
        context_words: How many words do.
        used: How many tokens of the vocabulary occur.
        never_used: How many do not.
        rarely_used: How many occur, but fewer times than `CorpusReport.rare`.
        unknown: How many tokens stand for what the vocabulary does not know.
        byte_tokens: How many tokens are one byte that is only a part of a character.
        entropy: Bits for each token, of ids drawn as often as they occur.
        bits_per_byte: The same for each byte of the text.
        renyi_efficiency: How evenly the vocabulary is used, from 0 to 1: see `measures.renyi_efficiency`.
        ranks: Some ranks, and how often the token of that rank occurs.
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
    """What all corpora together use of a vocabulary.

    Attributes:
        tokenizer: The name of the tokenizer.
        fingerprint: Its fingerprint.
        kind: Its semantics: ``ranks``, ``merges``, or the type of its model.
        vocab_size: How many ids it has: one more than the highest.
        tokens: How many of them are tokens that text can become: not special, not for what is unknown, no holes.
        used: How many of these occur.
        never_used: How many do not.
        rarely_used: How many occur, but fewer times than `CorpusReport.rare`.
        lengths: Lengths of tokens in bytes, and how many of these tokens have them.
        most_used: Those that occur most.
        never_used_examples: Some that do not, of more than one byte: those with the lowest ids.
        rarely_used_examples: Some that occur rarely, the rarest first.
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
    """What corpora cost with tokenizers, made by `bytepair.report`.

    Attributes:
        corpora: What each corpus is; the first is what others are compared with.
        vocabularies: What is used of each tokenizer's vocabulary.
        costs: What each corpus costs with each tokenizer: all corpora of the first tokenizer, then those of the next.
        context: The tokens of the context window.
        rare: Tokens that occur fewer times are rarely used.
        parallel: Whether the corpora are the same content, document by document.
    """

    corpora: tuple[CorpusSize, ...]
    vocabularies: tuple[VocabularyUse, ...]
    costs: tuple[Cost, ...]
    context: int
    rare: int
    parallel: bool

    def cost(self, tokenizer: str, corpus: str) -> Cost:
        """What a corpus costs with a tokenizer.

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
