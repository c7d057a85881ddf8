"""`TokenizerSpec`: the whole of a tokenizer as plain frozen data.

Formats read and write it; the core is compiled from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bytepair.errors import FormatError
from bytepair.model.checks import check_added_ids, check_alphabet, check_post_processor, check_steps
from bytepair.model.split_patterns import SPLIT_PATTERNS, split_name, split_pattern

__all__ = [
    "SPLIT_PATTERNS",
    "AddedToken",
    "BytePair",
    "Characters",
    "Model",
    "NormalForm",
    "Step",
    "TokenizerSpec",
    "Unigram",
    "WordLevel",
    "WordPiece",
    "split_name",
    "split_pattern",
]

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
"""The Unicode normal forms, which are normalizers by these names."""

Step: TypeAlias = str
"""One step of a stage, as ``tokenizer.json`` has it: its name where it has no options (``"NFC"``, ``"Lowercase"``),
else its JSON object as `bytepair.model.steps.spell_step` spells it."""


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
class Characters:
    """The alphabet of a `BytePair` whose merging begins from characters.

    Attributes:
        unk_token: What stands for a character that is no token; without one it vanishes.
        fuse_unk: Whether unknown characters in a row are one token.
        byte_fallback: Whether an unknown character becomes its bytes, as tokens ``<0x00>`` to ``<0xFF>``, if there are
            tokens for all of them.
        continuing_subword_prefix: What the tokens begin with that continue a word.
        end_of_word_suffix: What the tokens end with that end a word, such as ``</w>``.
    """

    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None


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
        alphabet: None where merging begins from bytes. Else tokens are UTF-8, as the vocabulary spells them, and there
            are merges.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    merges: tuple[tuple[int, int], ...] | None = None
    ignore_merges: bool = False
    partial_alphabet: bool = False
    alphabet: Characters | None = None

    @property
    def semantics(self) -> Literal["ranks", "merges"]:
        """``"ranks"`` or ``"merges"``."""
        return "ranks" if self.merges is None else "merges"

    def check(self) -> None:
        """Raises FormatError if a byte that text can hold has no token, unless the alphabet is said to be partial."""
        if self.alphabet is None and not self.partial_alphabet:
            check_alphabet({token[0] for token in self.tokens if len(token) == 1})


@dataclass(frozen=True, slots=True)
class WordPiece:
    """The model of BERT: the longest token that begins a word, then the longest that goes on, to its end.

    Attributes:
        tokens: The UTF-8 of each token as the vocabulary spells it, in id order.
        ids: The id of each token, ascending; there may be holes.
        unk_token: What stands for a word that cannot be spelled.
        continuing_subword_prefix: What the tokens begin with that continue a word.
        max_input_chars_per_word: Longer words, in characters, are unknown.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100


@dataclass(frozen=True, slots=True)
class Unigram:
    """The model of T5: of all ways to spell a piece the one with the greatest sum of scores.

    Attributes:
        tokens: The UTF-8 of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        scores: The logarithm of each token's probability.
        unk_id: The id of what stands for characters that are no token, which are one in a row; None for none.
        byte_fallback: Whether an unknown character becomes its bytes, as tokens ``<0x00>`` to ``<0xFF>``.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    unk_id: int | None = None
    byte_fallback: bool = False


@dataclass(frozen=True, slots=True)
class WordLevel:
    """A token for each word.

    Attributes:
        tokens: The UTF-8 of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        unk_token: What stands for all other words.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    unk_token: str = "<unk>"


Model: TypeAlias = "BytePair | WordPiece | Unigram | WordLevel"
"""What turns a piece into ids."""


@dataclass(frozen=True, slots=True)
class TokenizerSpec:
    """Everything that decides which ids a text has, and what its post-processor would add.

    Attributes:
        model: Tokens, and how they are found.
        split: Split patterns, each applied to the pieces of the one before; empty for none.
        added_tokens: Added tokens by id, special ones among them.
        normalizers: Steps that change the text between added tokens, in order.
        prefix_space: Whether text between added tokens that does not start with a space gets one.
        post_processor: The post-processor of ``tokenizer.json`` as JSON; never run by ``encode``.
        pre_tokenizers: In place of `split` and `prefix_space`: steps of any kind that cut text into pieces, in order.
        decoders: Steps that make text of tokens that are spelled in characters, in order. Without any, these are joined
            with spaces between; and tokens that are bytes need none.

    Example:
        >>> model = BytePair(tokens=(b"a", b"b", b"ab"), ids=(0, 1, 2), partial_alphabet=True)
        >>> TokenizerSpec(model, split=(split_pattern("gpt2"),)).is_byte_level
        True
    """

    model: Model
    split: tuple[str, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    normalizers: tuple[Step, ...] = ()
    prefix_space: bool = False
    post_processor: str | None = None
    pre_tokenizers: tuple[Step, ...] = ()
    decoders: tuple[Step, ...] = ()

    @property
    def is_byte_level(self) -> bool:
        """Whether merging begins from bytes: tokens are then bytes, and decoding joins them."""
        return isinstance(self.model, BytePair) and self.model.alphabet is None

    @property
    def semantics(self) -> str:
        """``"ranks"`` or ``"merges"``; of models that merge nothing their type."""
        return self.model.semantics if isinstance(self.model, BytePair) else type(self.model).__name__

    @property
    def byte_pair(self) -> BytePair:
        """The model, if it merges bytes.

        Raises:
            FormatError: It is of another kind.
        """
        if isinstance(self.model, BytePair) and self.model.alphabet is None:
            return self.model
        kind = "a BytePair of characters" if isinstance(self.model, BytePair) else f"a {type(self.model).__name__}"
        raise FormatError(f"this needs a model that merges bytes, and here is {kind}")

    def check(self) -> None:
        """Checks what the core does not see.

        Raises:
            TypeError: A column is no tuple, so that it could change, or would not equal itself when loaded again.
            FormatError: The id of an added token is out of range; added tokens are not by id; the post-processor or a
                step is no JSON, or spelled otherwise than ``json.dumps`` does; a byte that text can hold has no token;
                there are stages that exclude each other.
        """
        columns: dict[str, object] = {
            "tokens": self.model.tokens,
            "ids": self.model.ids,
            "split": self.split,
            "added_tokens": self.added_tokens,
            "normalizers": self.normalizers,
            "pre_tokenizers": self.pre_tokenizers,
            "decoders": self.decoders,
        }
        match self.model:
            case BytePair(merges=merges) if merges is not None:
                columns["merges"] = merges
            case Unigram(scores=scores):
                columns["scores"] = scores
            case _:
                pass
        for name, column in columns.items():
            if not isinstance(column, tuple):
                raise TypeError(f"{name} is a tuple, not {type(column).__name__}")
        check_added_ids([token.id for token in self.added_tokens])
        check_post_processor(self.post_processor)
        check_steps(
            self.normalizers,
            self.pre_tokenizers,
            self.decoders,
            has_split=bool(self.split) or self.prefix_space,
            is_byte_level=self.is_byte_level,
        )
        if isinstance(self.model, BytePair):
            self.model.check()

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {token.content: token.id for token in self.added_tokens if token.special}
