"""The models as plain frozen data: `BytePair`, `WordPiece`, `Unigram` and `WordLevel`.

A `TokenizerSpec` holds one. `pack` and `unpack` convert between a model and the core's columns.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.model.checks import MOST_IDS
from bytepair.model.packed import PackedModel, parse_options, spell_options


@dataclass(frozen=True, slots=True)
class Characters:
    """The alphabet of a `BytePair` whose merging begins from characters.

    Attributes:
        unk_token: The token for an unknown character; without one such a character vanishes.
        fuse_unk: Whether a run of unknown characters is one token.
        byte_fallback: Whether an unknown character becomes its bytes, as tokens ``<0x00>`` to ``<0xFF>``, if there are
            tokens for all of them.
        continuing_subword_prefix: The prefix of tokens that continue a word, such as ``##``.
        end_of_word_suffix: The suffix of tokens that end a word, such as ``</w>``.
        separator: The suffix of tokens behind which a word goes on, such as ``@@``: with no other affix.
        unlisted: Texts that merges make on the way to tokens and that are none: what is left of them is the unknown
            token, each by itself. In `BytePair.merges` the first of them has the first id above all tokens.
    """

    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    separator: str | None = None
    unlisted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BytePair:
    """BPE: tokens with their ids, and the rule by which pairs merge.

    Attributes:
        tokens: The bytes of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        merges: None for the semantics ``ranks``: any adjacent pair whose concatenation is a token merges, lowest id
            first. A list for the semantics ``merges``: only these pairs of ids merge, in the order of the list.
        ignore_merges: With ``merges``: a piece that is a token is taken whole, even if no merges lead to it.
        partial_alphabet: Whether bytes that UTF-8 uses may have no token, so that some text cannot be encoded.
        alphabet: None if merging begins from bytes. Otherwise tokens are UTF-8, as the vocabulary spells them, and
            `merges` is a list.
        unreachable: Tokens of a vocabulary of bytes that no text becomes, with their ids, by id: they are only decoded.
            Files spell them outside of the byte alphabet, or as nothing.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    merges: tuple[tuple[int, int], ...] | None = None
    ignore_merges: bool = False
    partial_alphabet: bool = False
    alphabet: Characters | None = None
    unreachable: tuple[tuple[str, int], ...] = ()

    @property
    def semantics(self) -> Literal["ranks", "merges"]:
        """``"ranks"`` or ``"merges"``."""
        return "ranks" if self.merges is None else "merges"

    @property
    def is_byte_level(self) -> bool:
        """Whether merging begins from bytes."""
        return self.alphabet is None


@dataclass(frozen=True, slots=True)
class WordPiece:
    """The model of BERT: the longest token that begins a word, then the longest that continues it, to its end.

    Attributes:
        tokens: The UTF-8 of each token as the vocabulary spells it, in id order.
        ids: The id of each token, ascending; there may be holes.
        unk_token: The token for a word that cannot be spelled.
        continuing_subword_prefix: The prefix of tokens that continue a word, such as ``##``.
        max_input_chars_per_word: Longer words, in characters, are unknown.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100


@dataclass(frozen=True, slots=True)
class Unigram:
    """The model of T5: the segmentation of a piece with the greatest sum of scores.

    Attributes:
        tokens: The UTF-8 of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        scores: The logarithm of each token's probability; minus infinity for one that is not found, and
            that only unknown characters together can spell.
        unk_id: The id for a run of unknown characters; None if there is none.
        byte_fallback: Whether an unknown character becomes its bytes, as tokens ``<0x00>`` to ``<0xFF>``.
        unk_score: The score of an unknown character in a model of `sentencepiece`, which rounds sums to 32 bits, and in
            which text that spells the unknown token or a byte token does not become it. None for one of `tokenizers`:
            ten less than the lowest score, sums of 64 bits.
        unlisted: Texts with a score each that are found like tokens and have no id of their own, in order: each of them
            is one unknown token. Marian's models find pieces that their vocabulary does not have.
        from_end: Whether scores are rounded to ten-thousandths, and of equal sums the one with the longest first tokens
            counts, as PLaMo 2 has it: with neither `unk_score` nor `unlisted`. Every score is above -1,000, that of an
            unknown character.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    unk_id: int | None = None
    byte_fallback: bool = False
    unk_score: float | None = None
    unlisted: tuple[tuple[str, float], ...] = ()
    from_end: bool = False


@dataclass(frozen=True, slots=True)
class WordLevel:
    """One token per word.

    Attributes:
        tokens: The UTF-8 of each token, in id order.
        ids: The id of each token, ascending; there may be holes.
        unk_token: The token for all other words.
    """

    tokens: tuple[bytes, ...]
    ids: tuple[int, ...]
    unk_token: str = "<unk>"


Model: TypeAlias = "BytePair | WordPiece | Unigram | WordLevel"
"""A rule that turns a piece into ids, and its vocabulary."""


_USUAL = frozenset(["unk_id", "byte_fallback"])
"""The options that every Unigram has."""
_RARE = frozenset(["separator", "unlisted"])
"""The options that few models of characters have."""


def pack(model: Model) -> PackedModel:
    """The model in the core's columns.

    Raises:
        TypeError: A column is not a tuple: it could change, or differ from itself when it is loaded again.
        FormatError: An id is out of range.

    Example:
        >>> model = BytePair((b"a", b"b", b"ab"), (0, 1, 2))
        >>> unpack(pack(model)) == model
        True
    """
    pairs = model if isinstance(model, BytePair) else BytePair((), ())
    scores = model.scores if isinstance(model, Unigram) else None
    given = {"tokens": model.tokens, "ids": model.ids, "merges": pairs.merges, "scores": scores}
    for name, column in {**given, "unreachable": pairs.unreachable}.items():
        if column is not None and not isinstance(column, tuple):
            raise TypeError(f"{name} is a tuple, not {type(column).__name__}")
    try:
        columns = Columns(model.tokens, model.ids, pairs.merges, scores, pairs.unreachable)
    except OverflowError as error:
        raise FormatError("an id is out of range", remedy=f"ids are from 0 to {MOST_IDS - 1}") from error
    return PackedModel(columns, model_options(model), pairs.ignore_merges, pairs.partial_alphabet)


def unpack(packed: PackedModel, *, merges: bool = True) -> Model:
    """The model as plain data; with an empty list of merges if they are not wanted."""
    columns = packed.columns
    tokens, ids = columns.tokens(), columns.ids()
    listed = columns.merges() if merges or columns.merge_count is None else ()
    pairs = (tokens, ids, listed, packed.ignore_merges, packed.partial_alphabet)
    if packed.options is None:
        return BytePair(*pairs, unreachable=tuple(columns.unreachable()))
    options = parse_options(packed.options)
    match options.pop("type"):
        case "BPE":
            return BytePair(*pairs, Characters(**options | {"unlisted": tuple(options.get("unlisted", ()))}))
        case "WordPiece":
            return WordPiece(tokens, ids, **options)
        case "Unigram":
            unlisted = tuple(options.pop("unlisted", {}).items())
            return Unigram(tokens, ids, columns.scores() or (), **options, unlisted=unlisted)
        case "WordLevel":
            return WordLevel(tokens, ids, **options)
        case kind:
            raise ValueError(f"the model {kind!r} is unknown")


def model_options(model: Model) -> str | None:
    """The settings of a model besides its columns, as `PackedModel.options` holds them.

    Example:
        >>> model_options(WordLevel((b"a", b"?"), (0, 1), unk_token="?"))
        '{"type": "WordLevel", "unk_token": "?"}'
    """
    if not isinstance(model, BytePair):
        columns = ("tokens", "ids", "scores")
        options = {field.name: getattr(model, field.name) for field in fields(model) if field.name not in columns}
        # Options that most models do not have are left out, so that spellings stay as they were.
        if isinstance(model, Unigram):
            options["unlisted"] = dict(model.unlisted)
            if not model.from_end:
                del options["from_end"]
            options = {name: value for name, value in options.items() if name in _USUAL or value not in (None, {})}
        return spell_options({"type": type(model).__name__, **options})
    if model.alphabet is None:
        return None
    if model.unreachable:
        raise FormatError("only a model that merges bytes has unreachable tokens", remedy="leave unreachable empty")
    options = asdict(model.alphabet)
    options = {name: value for name, value in options.items() if name not in _RARE or value}
    return spell_options({"type": "BPE", **options})
