"""Texts -> counts of words -> a WordPiece vocabulary -> a tokenizer like BERT's."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair import _core
from bytepair.errors import TokenizerWarning, TrainingError
from bytepair.formats.vocab_txt import template
from bytepair.model.models import WordPiece
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step
from bytepair.progress import Phase, reporter
from bytepair.tokenizer import Tokenizer
from bytepair.training.counts import MOST, Counts
from bytepair.training.learning import check_choice
from bytepair.training.word_counts import count_words, special_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.progress import Report
    from bytepair.training.byte_pairs import TrainingSource
    from bytepair.training.weights import Weight

Score: TypeAlias = Literal["likelihood", "frequency"]

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# White space that the normalizer keeps as such; the rest of it are control characters, which it removes, so that what
# they divide is one word. Without cleaning all white space divides.
_CLEANED = r"[^\t\n\r\p{Z}]+"
_UNCLEANED = r"\S+"


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
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    words: bool = False,
    progress: bool | str | Report = False,
) -> list[str]:
    r"""Learns the tokens of a WordPiece model from counts: training without a tokenizer around it.

    Tokens come in order of their ids: special tokens, the characters that are kept in order of Unicode, those that
    continue a word in the same order, and what merging makes. Pieces have to end at white space, as those of the split
    ``\S+`` do. With `words` they are words already, which are neither normalized nor cut but at white space. The other
    options are those of `train_wordpiece`.

    Raises:
        TrainingError: The vocabulary is too small for the characters; a piece is empty or no UTF-8.

    Example:
        >>> counts = Counts.of(iter(["Low low lower lowest"]), split=r"\S+")
        >>> learn_wordpiece(counts, 17, score="frequency", special_tokens=["[UNK]"])[-4:]
        ['##w', 'lo', 'low', 'lowe']
    """
    check_choice("score", score, ("likelihood", "frequency"))
    _check_sizes(vocab_size=vocab_size, min_frequency=min_frequency, limit_alphabet=limit_alphabet)
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
            bert=None if words else (clean_text, handle_chinese_chars, strip_accents, lowercase),
            tell=phase.tell,
        )


def train_wordpiece(
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

    Texts are counted in stretches without white space; these are normalized and cut into words once each, which gives
    the counts of the normalized text. The result is a function of counts and settings.

    Args:
        source: As for `bytepair.train`; of `Counts` the pieces have to end at white space. A mapping of pieces to
            counts is normalized as texts are.
        vocab_size: How many tokens there will be, special ones and characters included.
        score: ``likelihood`` merges the pair with the greatest C(ab) / (C(a) C(b)), compared exactly; ``frequency`` the
            most frequent pair, as the trainer of ``tokenizers`` does. Of equal ones the lowest ids merge.
        special_tokens: The first tokens; they are cut out of the texts before anything is counted.
        unk_token: The special token of words that cannot be spelled.
        prefix: What tokens begin with that continue a word.
        min_frequency: Pairs seen less often are not merged.
        limit_alphabet: Keep at most so many characters, the most frequent ones; of equal ones the first in Unicode.
        initial_alphabet: Characters that are kept, whether they occur or not.
        lowercase: Whether letters are made small.
        strip_accents: Whether accents are removed; as `lowercase` if None.
        clean_text: Whether control characters are removed.
        handle_chinese_chars: Whether each ideograph is a word.
        max_input_chars_per_word: The tokenizer says `unk_token` for longer words.
        weights: What counts of groups are multiplied by, exactly; see `Counts.weighted`.
        min_count: Stretches seen less often are left out, before they are normalized.
        field: As for `bytepair.train`.
        delimiter: As for `bytepair.train`.
        errors: As for `bytepair.train`.
        threads: Up to how many threads count.
        memory: What the counts may take, such as ``"2GB"``; the rest goes to temporary files.
        progress: As for `bytepair.train`.

    Raises:
        TrainingError: The vocabulary is too small for the characters, `unk_token` is no special token, or there is
            nothing to train on.
        EncodeError, ArtifactError: As `bytepair.train`.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    specials = special_list(special_tokens, unk_token)
    counts = count_words(
        source,
        split=_CLEANED if clean_text else _UNCLEANED,
        special_tokens=specials,
        weights=weights,
        min_count=min_count,
        field=field,
        delimiter=delimiter,
        errors=errors,
        threads=threads,
        memory=memory,
        progress=progress,
    )
    tokens = learn_wordpiece(
        counts,
        vocab_size,
        score=score,
        special_tokens=specials,
        prefix=prefix,
        min_frequency=min_frequency,
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        lowercase=lowercase,
        strip_accents=strip_accents,
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        progress=progress,
    )
    if len(tokens) < vocab_size:
        warnings.warn(
            f"no pair is left that occurs {min_frequency} times: {len(tokens)} tokens instead of "
            f"vocab_size={vocab_size}; train on more text, or lower min_frequency",
            TokenizerWarning,
            stacklevel=2,
        )
    spec = wordpiece_spec(
        tokens,
        special_tokens=specials,
        unk_token=unk_token,
        prefix=prefix,
        lowercase=lowercase,
        strip_accents=strip_accents,
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        max_input_chars_per_word=max_input_chars_per_word,
    )
    return Tokenizer(spec)


def wordpiece_spec(
    tokens: Sequence[str],
    *,
    special_tokens: Iterable[str] = SPECIAL_TOKENS,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    max_input_chars_per_word: int = 100,
) -> TokenizerSpec:
    """The tokenizer of a vocabulary that `learn_wordpiece` learned with the same options, as plain data.

    Where ``[CLS]`` and ``[SEP]`` are special tokens, a call of the tokenizer adds them.

    Example:
        >>> spec = wordpiece_spec(["[UNK]", "a", "##b"], special_tokens=["[UNK]"])
        >>> spec.pre_tokenizers, spec.special_tokens
        (('BertPreTokenizer',), {'[UNK]': 0})
    """
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": clean_text,
        "handle_chinese_chars": handle_chinese_chars,
        "strip_accents": strip_accents,
        "lowercase": lowercase,
    }
    special = tuple(special_tokens)
    ids = {token: id for id, token in enumerate(tokens)}
    # The model is left without special tokens, so that text never becomes one.
    kept = [(token, id) for token, id in ids.items() if token not in special or token == unk_token]
    has_ends = {"[CLS]", "[SEP]"} <= set(special)
    return TokenizerSpec(
        WordPiece(
            tuple(token.encode() for token, _ in kept),
            tuple(id for _, id in kept),
            unk_token=unk_token,
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=max_input_chars_per_word,
        ),
        added_tokens=tuple(AddedToken(token, id) for id, token in enumerate(special)),
        normalizers=(spell_step(normalizer),),
        pre_tokenizers=("BertPreTokenizer",),
        decoders=(spell_step({"type": "WordPiece", "prefix": prefix, "cleanup": True}),),
        post_processor=template("[CLS]", "[SEP]", ids) if has_ends else None,
    )


def _check_sizes(**sizes: int | None) -> None:
    for name, value in sizes.items():
        if value is not None and value < 0:
            raise TrainingError(f"{name}={value} is negative", remedy="use 0 or more")
