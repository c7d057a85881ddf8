"""Texts -> counts of pieces -> merges -> a tokenizer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from bytepair import files
from bytepair._core import Columns
from bytepair.errors import ArtifactError, TrainingError
from bytepair.model.byte_alphabet import BYTES_IN_ALPHABET_ORDER
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import split_name, split_pattern
from bytepair.progress import Report, reporter
from bytepair.tokenizer import Tokenizer
from bytepair.training.counts import MOST, Counts
from bytepair.training.inputs import TrainingSource, counted, prepared, special_list, special_roles, warn_of_few
from bytepair.training.interrupted import TrainingInterrupted
from bytepair.training.learning import (
    TIES,
    Learned,
    Merge,
    Ties,
    check_choice,
    check_not_negative,
    learn_merges,
    with_bytes,
)
from bytepair.training.memory import parse_bytes, peak_memory
from bytepair.training.parity import Parity, check_parity, development_counts, learn_with_parity
from bytepair.training.stages import check_stages, parse_stages
from bytepair.training.trained import Statistics, Trained

if TYPE_CHECKING:
    import os

    from bytepair.model.spec import Step
    from bytepair.training.weights import Weight

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _with_parameters_of(
    other: Callable[_Parameters, object],
) -> Callable[[Callable[..., _Result]], Callable[_Parameters, _Result]]:
    """Gives a function the parameters of another one, for type checkers, editors and `help`."""

    def decorate(function: Callable[..., _Result]) -> Callable[_Parameters, _Result]:
        result = inspect.signature(function).return_annotation
        function.__signature__ = inspect.signature(other).replace(return_annotation=result)  # type: ignore[attr-defined]
        return cast("Callable[_Parameters, _Result]", function)

    return decorate


def train_with_statistics(  # noqa: PLR0912, PLR0915 (each option is checked, counted or learned with in one place)
    source: TrainingSource,
    vocab_size: int,
    *,
    split: str | None = None,
    stages: Sequence[tuple[int, str]] = (),
    objective: Literal["frequency", "parity"] | Parity = "frequency",
    normalizers: Sequence[Step] = (),
    special_tokens: Iterable[str] = (),
    bos: str | None = None,
    eos: str | None = None,
    pad: str | None = None,
    unk: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    field: str | None = None,
    delimiter: str | None = None,
    ties: Ties = "lowest_ids",
    min_frequency: int = 2,
    min_count: int = 1,
    max_token_length: int | None = None,
    max_words: int | None = None,
    special_ids: Literal["first", "last"] = "last",
    byte_order: Literal["raw", "gpt2"] = "raw",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    log: str | os.PathLike[str] | None = None,
    progress: bool | str | Report = False,
) -> Trained:
    """Trains a byte-level tokenizer as `train` does, and returns its merges and statistics with it.

    Arguments, errors and warnings are those of `train`.

    Example:
        >>> trained = train_with_statistics({"low": 5, "lower": 2}, vocab_size=258)
        >>> trained.merges[0], trained.statistics.tokens
        (Merge(left=b'l', right=b'o', count=7), 11)
    """
    check_choice("special_ids", special_ids, ("first", "last"))
    check_choice("byte_order", byte_order, ("raw", "gpt2"))
    check_choice("ties", ties, TIES)
    special_tokens, roles = special_roles(special_list(special_tokens), bos=bos, eos=eos, pad=pad, unk=unk)
    check_settings(special_tokens, vocab_size, log=log, checkpoint=checkpoint)
    check_not_negative(min_frequency=min_frequency, max_token_length=max_token_length, max_words=max_words)
    parity = Parity() if objective == "parity" else objective
    if isinstance(parity, Parity):
        check_parity(ties, stages=stages, checkpoint=checkpoint)
    else:
        check_choice("objective", parity, ("frequency", "parity"))
    later = parse_stages(stages, 256 + len(special_tokens), vocab_size)
    if later:
        check_stages(source, checkpoint)
    ends = [end - 256 - len(special_tokens) for end in (*(stage.begins for stage in later), vocab_size)]
    if resume and checkpoint is None:
        raise ValueError("resume=True goes with checkpoint=")
    limit = None if memory is None else parse_bytes(memory)
    report = reporter(progress)
    pattern = _split_of(source, split)
    reading: dict[str, Any] = {"field": field, "delimiter": delimiter}
    counts = counted(source, normalizers=normalizers, **reading) if isinstance(source, Counts) else None
    first = len(special_tokens) if special_ids == "first" else 0
    alphabet = bytes(range(256)) if byte_order == "raw" else BYTES_IN_ALPHABET_ORDER
    settings = {
        "split": pattern,
        "normalizers": list(normalizers),
        "special_tokens": special_tokens,
        "weights": {group: str(weight) for group, weight in (weights or {}).items()},
        **reading,
        "ties": ties,
        "min_frequency": min_frequency,
        "min_count": min_count,
        "max_token_length": max_token_length,
        "max_words": max_words,
        "special_ids": special_ids,
        "byte_order": byte_order,
        "errors": errors,
    }
    kept = None
    if checkpoint is not None or log is not None:
        from bytepair.training.checkpoints import Checkpoint, MergeLog  # most trainings keep nothing
    if checkpoint is not None:
        kept = Checkpoint(checkpoint, settings, resume=resume)
    if counts is None and kept:
        counts = kept.counts(limit)

    counting: dict[str, Any] = {
        "normalizers": normalizers,
        "special_tokens": special_tokens,
        "errors": errors,
        "threads": threads,
        "memory": limit,
        "progress": report or False,
        **reading,
    }

    def count(pattern: str) -> Counts:
        return counted(source, split=pattern, digest=kept is not None, **counting)

    if counts is None:
        counts = count(pattern)
        if kept:
            kept.keep(counts)
    symbols, replay = [bytes([byte]) for byte in alphabet], kept.merges(first) if kept else []
    logs = [] if log is None else [MergeLog(log, symbols, first)]
    if kept:
        logs.append(MergeLog(kept.log, symbols, first, kept=replay))

    def build(learned: Sequence[Learned], pattern: str) -> Tokenizer:
        first_added = 0 if first else len(symbols) + len(learned)
        spec = TokenizerSpec(
            PackedModel(Columns.trained(symbols, learned, first)),
            split=(pattern,) if pattern else (),
            added_tokens=tuple(AddedToken(token, id) for id, token in enumerate(special_tokens, first_added)),
            normalizers=tuple(normalizers),
            roles=roles,
        )
        return Tokenizer(spec)

    learned: list[Learned] = []
    symbols_of_stage: bytes | Tokenizer = alphabet
    chosen: list[str | None] = []
    limits: dict[str, Any] = {"ties": ties, "max_token_length": max_token_length, "max_words": max_words}
    try:
        for number, end in enumerate(ends):
            if number:
                pattern = later[number - 1].pattern
                symbols_of_stage, counts = build(learned, pattern), count(pattern)
            counts = prepared(counts, weights, min_count)
            least = min(min_frequency * counts.denominator, MOST)
            if isinstance(parity, Parity):
                development = development_counts(counts, parity, split=pattern, **counting)
                total, chosen = learn_with_parity(
                    counts,
                    development,
                    end,
                    parity,
                    alphabet=alphabet,
                    min_frequency=least,
                    memory=limit,
                    learned=learned,
                    logs=logs,
                    report=report,
                    **limits,
                )
                continue
            total = learn_merges(
                counts.core,
                end - len(learned),
                alphabet=symbols_of_stage,
                min_frequency=least,
                threads=threads,
                memory=limit,
                replay=replay[:end],
                learned=learned,
                logs=logs,
                report=report,
                **limits,
            )
    except KeyboardInterrupt as error:
        raise TrainingInterrupted(len(learned), partial(build, learned, pattern)) from error
    finally:
        for opened in logs:
            opened.close()
    warn_of_few(256 + len(special_tokens) + len(learned), vocab_size, min_frequency)
    return Trained(build(learned, pattern), _statistics(counts, total), symbols, learned, chosen)


def _statistics(counts: Counts, tokens: int) -> Statistics:
    totals = counts.core.totals()
    pieces, text_bytes = (sum(row[column] for row in totals) for column in (2, 3))
    return Statistics(len(counts), pieces, text_bytes, tokens, counts.spilled, peak_memory())


@_with_parameters_of(train_with_statistics)
def train(*args: Any, **options: Any) -> Tokenizer:  # noqa: D417 (its parameters are those of the other function)
    """Trains a byte-level tokenizer.

    The result is a function of the counts of pieces and these settings: the same on any number of threads, in any
    memory, and from a corpus that was counted in parts. `train_with_statistics` returns merges and statistics as well.

    Args:
        source: Paths, globs, URLs, iterables of texts and others, or a mapping from groups to these: see
            `bytepair.sources.source`. Also `Counts`; or a mapping from pieces to counts, which is not split again.
        vocab_size: The number of tokens: 256 bytes, the merges and the special tokens.
        split: The name of a split pattern (``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2``, ``superwords``,
            ``none``) or a regular expression; merges never cross the pieces that it makes. None for that of `Counts`,
            else ``o200k``.
        stages: Later stages, each with the number of tokens that it begins at and its split pattern:
            ``[(180_000, "superwords")]`` learns merges within words up to 180,000 tokens and merges across words after
            that, as SuperBPE does. The source is read again for each, and the result has the last split.
        objective: ``frequency``: the most frequent pair of all text merges first; ``parity`` or `Parity`: that of the
            group of sources whose text takes the most tokens. Learning by parity runs on one thread.
        normalizers: Steps applied to text before it is split, in this order: ``NFC``, ``Lowercase``, or the JSON of any
            other normalizer of ``tokenizer.json``.
        special_tokens: Special tokens, which are cut out of the texts before anything is counted.
        bos: The special token that begins a text; like the next three, it is added to `special_tokens` if it is not
            there. `Tokenizer.save` tells ``transformers`` of it.
        eos: The special token that ends a text.
        pad: The special token that pads rows.
        unk: The special token for unknown text, for libraries that want one: bytes are never unknown.
        weights: Exact factors for the counts of groups; see `Counts.weighted`.
        field: The field, column or member that holds the text; see `bytepair.sources.source.Reading`.
        delimiter: The text between documents of plain text. None: a file is one document.
        ties: Which of equally frequent pairs merges first: ``lowest_ids`` (tokenizers, rustbpe), ``greatest_bytes``,
            ``smallest_bytes``, or ``first_seen`` (the pair that occurs first, as in minbpe).
        min_frequency: Pairs that occur less often are not merged.
        min_count: Pieces that occur less often are left out, which needs less memory and may change the merges.
        max_token_length: The longest token to make, in bytes.
        max_words: The most words of a token to make: runs of bytes that are not white space of ASCII.
        special_ids: Whether special tokens get the ids before or after all others.
        byte_order: ``raw`` orders the ids of bytes by their values, ``gpt2`` by the GPT-2 alphabet.
        errors: For text that is not Unicode: ``strict`` raises, ``replace`` counts U+FFFD.
        threads: The largest number of threads; None for all cores.
        memory: The memory limit of tables, such as ``"2GB"``. Counting uses temporary files beyond it; merging that
            would need more raises before it starts. None for no limit.
        checkpoint: A folder that keeps counts and merges, so that an interrupted training can go on.
        resume: Goes on from the checkpoint, if there is one of the same settings (``vocab_size`` may differ).
        log: A file for the merges as they are made: lines of JSON with rank, pair and count.
        progress: True for a bar on a terminal, ``"json"`` for JSON lines on stderr, or a callable that gets `Progress`.

    Raises:
        TrainingError: No text, a path that matches no file, ``vocab_size`` below the 256 bytes and the special tokens,
            too little memory, a checkpoint of another training.
        EncodeError: A text is not Unicode; ``file`` or ``row`` names it.
        ArtifactError: A file cannot be read or written.
        PatternError: ``split`` does not compile.
        TrainingInterrupted: Ctrl-C while merging; its ``tokenizer`` has the merges so far.

    Warns:
        TokenizerWarning: The pairs ran out: there are fewer than ``vocab_size`` tokens.

    Example:
        >>> tok = train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
        >>> [tok.token_bytes(id) for id in tok.encode("lower")]
        [b'low', b'er']
    """
    return train_with_statistics(*args, **options).tokenizer


def check_settings(
    special_tokens: Sequence[str],
    vocab_size: int,
    *,
    log: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> None:
    """Raises the errors of settings that would otherwise show only after the text was counted.

    Raises:
        TrainingError: The vocabulary is too small for the bytes and the special tokens.
        ArtifactError: The log or the checkpoint cannot be written.
    """
    least = 256 + len(special_tokens)
    if vocab_size < least:
        raise TrainingError(
            f"a vocabulary of {vocab_size} leaves no room for the 256 bytes and {len(special_tokens)} special tokens",
            remedy=f"pass vocab_size={least} or more",
            cli_remedy=f"use --vocab-size {least} or more",
        )
    if log is not None:
        if not (folder := Path(log).parent).is_dir():
            raise ArtifactError(
                "cannot write the merges: there is no such folder", file=str(folder), remedy="make it first"
            )
        files.check_writable(folder, [Path(log).name])
    if checkpoint is not None:
        files.check_writable(Path(checkpoint))


def _split_of(source: TrainingSource, split: str | None) -> str:
    """The split pattern of a training; that of counts has to agree with `split`."""
    if not isinstance(source, Counts):
        return split_pattern("o200k" if split is None else split)
    pattern = source.stages.split
    if split is not None and split_pattern(split) != pattern:
        made = split_name(pattern) or repr(pattern)
        raise TrainingError(
            f"the counts were made with the split {made}, not {split!r}", remedy="leave split out, or count again"
        )
    return pattern


def train_merges(  # noqa: D417 (some arguments are those of `train`)
    source: TrainingSource,
    merges: int,
    *,
    split: str | None = None,
    ties: Ties = "lowest_ids",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    alphabet: Literal["bytes", "characters"] = "bytes",
    end_of_word_suffix: str | None = None,
    threads: int | None = None,
) -> list[Merge]:
    """Learns merges and returns them with their counts, without making a tokenizer.

    Arguments that are not listed are those of `train`.

    Args:
        merges: The number of merges, if the text has as many.
        split: As for `train`; a mapping of pieces to counts is not split.
        alphabet: Merge bytes, or characters as Sennrich did.
        end_of_word_suffix: With characters: a symbol at the end of each piece, such as ``</w>``.

    Raises:
        TrainingError, EncodeError, ArtifactError, PatternError: As `train`.

    Example:
        >>> counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        >>> for merge in train_merges(counts, 3, ties="first_seen", alphabet="characters", end_of_word_suffix="</w>"):
        ...     print(merge.left.decode(), merge.right.decode(), merge.count)
        e s 9
        es t 9
        est </w> 9
    """
    check_choice("alphabet", alphabet, ("bytes", "characters"))
    if end_of_word_suffix and alphabet == "bytes":
        raise ValueError('end_of_word_suffix goes with alphabet="characters"')
    pattern = _split_of(source, split)
    counts = source if isinstance(source, Counts) else counted(source, split=pattern, threads=threads)
    learned: list[Learned] = []
    symbols: list[bytes] = []
    learn_merges(
        prepared(counts).core,
        merges,
        alphabet=bytes(range(256)) if alphabet == "bytes" else None,
        end_of_word_suffix=end_of_word_suffix,
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        threads=threads,
        learned=learned,
        symbols=symbols,
    )
    return with_bytes(symbols, learned)
