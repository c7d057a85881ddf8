"""Texts -> counts of words -> a WordPiece vocabulary -> a tokenizer like BERT's."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair import _core
from bytepair.formats.classes import with_ends
from bytepair.model.models import WordPiece
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step
from bytepair.progress import Phase, reporter
from bytepair.tokenizer import Tokenizer
from bytepair.training.counts import MOST, Counts
from bytepair.training.inputs import counted, prepared, special_list, warn_of_few
from bytepair.training.learning import check_choice, check_not_negative

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.progress import Report
    from bytepair.training.inputs import TrainingSource
    from bytepair.training.weights import Weight

Score: TypeAlias = Literal["likelihood", "frequency"]

_ROLES = {"pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# The normalizer keeps this white space. The rest of it are control characters, which it removes: the text on both sides
# becomes one word. Without cleaning, all white space separates words.
_CLEANED = r"[^\t\n\r\p{Z}]+"
_UNCLEANED = r"\S+"


@dataclass(frozen=True)
class BertNormalizer:
    """BERT's normalizer; see `train_wordpiece`."""

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


BERT = BertNormalizer()


def learn_wordpiece(
    counts: Counts,
    vocab_size: int,
    *,
    score: Score = "likelihood",
    special_tokens: Iterable[str] = SPECIAL_TOKENS,
    prefix: str = "##",
    min_frequency: int = 2,
    limit_alphabet: int | None = 1000,
    initial_alphabet: str = "",
    normalizer: BertNormalizer | None = BERT,
    progress: bool | str | Report = False,
) -> list[str]:
    r"""Learns the tokens of a WordPiece model from counts, without making a tokenizer.

    Tokens are in the order of their ids: special tokens, the characters of the alphabet in the order of Unicode, those
    that continue a word in the same order, and merged tokens. Pieces have to end at white space, as those of the split
    ``\S+`` do. Without a `normalizer` they are split at white space only. The other options are those of
    `train_wordpiece`.

    Raises:
        TrainingError: The vocabulary is too small for the characters; a piece is empty or not UTF-8.

    Example:
        >>> counts = Counts.of(iter(["Low low lower lowest"]), split=r"\S+")
        >>> learn_wordpiece(counts, 17, score="frequency", special_tokens=["[UNK]"])[-4:]
        ['##w', 'lo', 'low', 'lowe']
    """
    check_choice("score", score, ("likelihood", "frequency"))
    check_not_negative(vocab_size=vocab_size, min_frequency=min_frequency, limit_alphabet=limit_alphabet)
    with Phase(reporter(progress), "merge", vocab_size) as phase:
        return _core.learn_wordpiece(
            counts.core,
            vocab_size=vocab_size,
            score=score,
            special_tokens=special_list(special_tokens),
            prefix=prefix,
            min_frequency=min(min_frequency * counts.denominator, MOST),
            limit_alphabet=limit_alphabet,
            initial_alphabet=list(initial_alphabet),
            bert=None if normalizer is None else astuple(normalizer),
            tell=phase.tell,
        )


def train_wordpiece(  # noqa: D417 (some arguments are those of `bytepair.train`)
    source: TrainingSource,
    vocab_size: int,
    *,
    score: Score = "likelihood",
    special_tokens: Iterable[str] = SPECIAL_TOKENS,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    min_frequency: int = 2,
    limit_alphabet: int | None = 1000,
    initial_alphabet: str = "",
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    max_input_chars_per_word: int = 100,
    weights: Mapping[str, Weight] | None = None,
    min_count: int = 1,
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | str | Report = False,
) -> Tokenizer:
    """Trains a WordPiece tokenizer with the normalizer and the words of BERT.

    Stretches of text without white space are counted; each distinct one is then normalized and split into words, which
    gives the counts of the normalized text. The result is a function of counts and settings.

    Arguments that are not listed are those of `bytepair.train`.

    Args:
        source: As for `bytepair.train`; the pieces of `Counts` have to end at white space. A mapping from pieces to
            counts is normalized as texts are.
        vocab_size: The number of tokens, special ones and characters included.
        score: ``likelihood`` merges the pair with the greatest C(ab) / (C(a) C(b)), compared exactly; ``frequency`` the
            most frequent pair, as the trainer of ``tokenizers`` does. Ties merge the lowest ids.
        special_tokens: The first tokens; they are cut out of the texts before anything is counted.
        unk_token: The special token for words that the vocabulary cannot spell.
        prefix: The prefix of tokens that continue a word.
        min_frequency: Pairs that occur less often are not merged.
        limit_alphabet: The number of characters to keep, the most frequent ones; ties keep the first in Unicode.
        initial_alphabet: Characters that are kept, whether they occur or not.
        lowercase: Whether letters become lower case.
        strip_accents: Whether accents are removed; as `lowercase` if None.
        clean_text: Whether control characters are removed.
        handle_chinese_chars: Whether each ideograph is a word.
        max_input_chars_per_word: Longer words become `unk_token`.
        weights: Exact factors for the counts of groups; see `Counts.weighted`.
        min_count: Stretches that occur less often are left out, before they are normalized.
        threads: The largest number of threads; None for all cores.
        memory: The memory limit of the counts, such as ``"2GB"``; the rest goes to temporary files.

    Raises:
        TrainingError: The vocabulary is too small for the characters, `unk_token` is not a special token, or there is
            no text.
        EncodeError, ArtifactError: As `bytepair.train`.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    specials = special_list(special_tokens, unk_token)
    normalizer = BertNormalizer(clean_text, handle_chinese_chars, strip_accents, lowercase)
    counts = counted(
        source,
        split=_CLEANED if clean_text else _UNCLEANED,
        special_tokens=specials,
        field=field,
        delimiter=delimiter,
        errors=errors,
        threads=threads,
        memory=memory,
        progress=progress,
    )
    tokens = learn_wordpiece(
        prepared(counts, weights, min_count),
        vocab_size,
        score=score,
        special_tokens=specials,
        prefix=prefix,
        min_frequency=min_frequency,
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        normalizer=normalizer,
        progress=progress,
    )
    warn_of_few(len(tokens), vocab_size, min_frequency)
    spec = wordpiece_spec(
        tokens,
        special_tokens=specials,
        unk_token=unk_token,
        prefix=prefix,
        normalizer=normalizer,
        max_input_chars_per_word=max_input_chars_per_word,
    )
    return Tokenizer(spec)


def wordpiece_spec(
    tokens: Sequence[str],
    *,
    special_tokens: Iterable[str] = SPECIAL_TOKENS,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    normalizer: BertNormalizer = BERT,
    max_input_chars_per_word: int = 100,
) -> TokenizerSpec:
    """The tokenizer of a vocabulary that `learn_wordpiece` learned with the same options, as plain data.

    Where ``[CLS]`` and ``[SEP]`` are special tokens, a call of the tokenizer adds them.

    Example:
        >>> spec = wordpiece_spec(["[UNK]", "a", "##b"], special_tokens=["[UNK]"])
        >>> spec.pre_tokenizers, spec.special_tokens
        (('BertPreTokenizer',), {'[UNK]': 0})
    """
    special = tuple(special_tokens)
    ids = {token: id for id, token in enumerate(tokens)}
    # The model has no special tokens: text never becomes one.
    kept = [(token, id) for token, id in ids.items() if token not in special or token == unk_token]
    spec = TokenizerSpec(
        WordPiece(
            tuple(token.encode() for token, _ in kept),
            tuple(id for _, id in kept),
            unk_token=unk_token,
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=max_input_chars_per_word,
        ),
        added_tokens=tuple(AddedToken(token, id) for id, token in enumerate(special)),
        normalizers=(spell_step({"type": "BertNormalizer", **asdict(normalizer)}),),
        pre_tokenizers=("BertPreTokenizer",),
        decoders=(spell_step({"type": "WordPiece", "prefix": prefix, "cleanup": True}),),
        roles=tuple((role, token) for role, token in {**_ROLES, "unk": unk_token}.items() if token in special),
    )
    return with_ends(spec, "[CLS]", "[SEP]") if {"[CLS]", "[SEP]"} <= set(special) else spec
