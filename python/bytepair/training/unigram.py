"""Texts -> counts of words -> a Unigram vocabulary with scores -> a tokenizer like those of SentencePiece.

White space separates words, and each word begins with U+2581. This is what `sentencepiece` trains on by default, where
it adds a space in front of each line and merges runs of spaces. White space is therefore not kept: decoding returns the
words with single spaces between them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

from bytepair import _core
from bytepair.errors import TokenizerWarning
from bytepair.model.models import Unigram
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step
from bytepair.progress import Phase, reporter
from bytepair.tokenizer import Tokenizer
from bytepair.training.counts import Counts
from bytepair.training.inputs import counted, prepared, special_list, special_roles
from bytepair.training.learning import check_not_negative

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.model.spec import Step
    from bytepair.progress import Report
    from bytepair.training.inputs import TrainingSource
    from bytepair.training.weights import Weight

SPECIAL_TOKENS = ("<unk>", "<s>", "</s>")

_WORDS = r"\S+"


def learn_unigram(
    counts: Counts,
    vocab_size: int,
    *,
    reserved: int = 0,
    character_coverage: float = 0.9995,
    required_chars: str = "",
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    sub_iterations: int = 2,
    split_by_unicode_script: bool = True,
    split_by_number: bool = True,
    split_digits: bool = False,
    add_dummy_prefix: bool = True,
    threads: int | None = None,
    progress: bool | str | Report = False,
) -> list[tuple[str, float]]:
    r"""Learns tokens and their log probabilities from counts, best first, without making a tokenizer.

    Pieces, such as those of the split ``\S+``, are split at white space, and a word that follows white space in its
    piece begins with U+2581. So do all others, unless `add_dummy_prefix` is False: that is for pieces that hold their
    leading space, such as those of the split ``gpt2``, some of which continue a word. `reserved` places of `vocab_size`
    are left for other tokens, such as ``<unk>``; the other options are those of `train_unigram`.

    Raises:
        TrainingError: As `train_unigram`; or a piece is empty or not UTF-8.

    Example:
        >>> counts = Counts.of(iter(["low lower lowest low low"]), split=r"\S+")
        >>> [token for token, score in learn_unigram(counts, 9)][:2]
        ['▁low', 'e']
    """
    check_not_negative(vocab_size=vocab_size, reserved=reserved, seed_size=seed_size)
    with Phase(reporter(progress), "prune", None) as phase:
        return _core.learn_unigram(
            counts.core,
            vocab_size=vocab_size,
            reserved=reserved,
            character_coverage=character_coverage,
            required_chars=list(required_chars),
            max_piece_length=max_piece_length,
            seed_size=seed_size,
            shrinking_factor=shrinking_factor,
            sub_iterations=sub_iterations,
            split_by_unicode_script=split_by_unicode_script,
            split_by_number=split_by_number,
            split_digits=split_digits,
            dummy_prefix=add_dummy_prefix,
            threads=threads,
            tell=phase.tell,
        )


def train_unigram(  # noqa: D417 (some arguments are those of `bytepair.train`)
    source: TrainingSource,
    vocab_size: int,
    *,
    normalizers: Sequence[Step] = ("NFKC",),
    special_tokens: Iterable[str] = SPECIAL_TOKENS,
    unk_token: str = "<unk>",
    bos: str | None = None,
    eos: str | None = None,
    pad: str | None = None,
    character_coverage: float = 0.9995,
    required_chars: str = "",
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    sub_iterations: int = 2,
    split_by_unicode_script: bool = True,
    split_by_number: bool = True,
    split_digits: bool = False,
    weights: Mapping[str, Weight] | None = None,
    min_count: int = 1,
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | str | Report = False,
) -> Tokenizer:
    """Trains a Unigram tokenizer as SentencePiece does: by expectation maximization and pruning.

    The result is a function of counts and settings, and the same on any number of threads.

    Arguments that are not listed are those of `bytepair.train`.

    Args:
        source: As for `bytepair.train`. A mapping from words to counts is neither normalized nor split; `Counts` need
            the same normalizers, and words as their pieces.
        vocab_size: The number of tokens, special ones included.
        normalizers: ``NFC``, ``NFD``, ``NFKC``, ``NFKD``, applied to text before it is split, in this order.
        special_tokens: The first tokens, whose score is 0; they are cut out of the texts before anything is counted.
        unk_token: The special token for characters without a token.
        bos: The special token that begins a text; like the next two, it is added to `special_tokens` if it is not
            there. `Tokenizer.save` tells ``transformers`` of it.
        eos: The special token that ends a text.
        pad: The special token that pads rows.
        character_coverage: The share of the text that the characters in the vocabulary must cover.
        required_chars: Characters that become tokens whether they occur or not.
        max_piece_length: The most characters of a token.
        seed_size: The number of substrings, the most frequent and longest, that learning begins with.
        shrinking_factor: The share of tokens that each pruning keeps, 0.5 to 0.95.
        sub_iterations: The number of estimates of the probabilities before each pruning.
        split_by_unicode_script: Whether a token has characters of one script; Han, Hiragana and Katakana are one.
        split_by_number: Whether digits are separated from letters, like another script.
        split_digits: Whether each digit is a token of its own.
        weights: Exact factors for the counts of groups; see `Counts.weighted`.
        min_count: Words that occur less often are left out.
        threads: The largest number of threads; None for all cores.
        memory: The memory limit of the counts, such as ``"2GB"``; the rest goes to temporary files.

    Raises:
        TrainingError: The vocabulary is too small for the characters, a setting is out of range, `unk_token` is not a
            special token, or there is no text.
        EncodeError, ArtifactError: As `bytepair.train`.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    specials, roles = special_roles(special_list(special_tokens, unk_token), bos=bos, eos=eos, pad=pad, unk=unk_token)
    counts = counted(
        source,
        split=_WORDS,
        special_tokens=specials,
        normalizers=normalizers,
        field=field,
        delimiter=delimiter,
        errors=errors,
        threads=threads,
        memory=memory,
        progress=progress,
    )
    learned = learn_unigram(
        prepared(counts, weights, min_count),
        vocab_size,
        reserved=len(specials),
        character_coverage=character_coverage,
        required_chars=required_chars,
        max_piece_length=max_piece_length,
        seed_size=seed_size,
        shrinking_factor=shrinking_factor,
        sub_iterations=sub_iterations,
        split_by_unicode_script=split_by_unicode_script,
        split_by_number=split_by_number,
        split_digits=split_digits,
        threads=threads,
        progress=progress,
    )
    reached = len(specials) + len(learned)
    if reached < vocab_size:
        warnings.warn(
            f"the text has no more tokens: {reached} instead of {vocab_size}; train on more text",
            TokenizerWarning,
            stacklevel=2,
        )
    # A special token is found before the model runs, and is listed only once.
    tokens = [(token, 0.0) for token in specials] + [entry for entry in learned if entry[0] not in specials]
    # The model has no special tokens: text never becomes one.
    kept = [(id, entry) for id, entry in enumerate(tokens) if entry[0] not in specials or entry[0] == unk_token]
    space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    step = spell_step(space)
    model = Unigram(
        tuple(token.encode() for _, (token, _) in kept),
        tuple(id for id, _ in kept),
        tuple(score for _, (_, score) in kept),
        unk_id=specials.index(unk_token),
    )
    return Tokenizer(
        TokenizerSpec(
            model,
            added_tokens=tuple(AddedToken(token, id) for id, token in enumerate(specials)),
            normalizers=tuple(normalizers),
            pre_tokenizers=("WhitespaceSplit", step),
            decoders=(step,),
            roles=roles,
        )
    )
