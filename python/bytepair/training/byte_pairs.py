"""Texts -> counts of pieces -> merges -> a tokenizer.

Long because two calls spell out the same twenty options, so that editors and type checkers know them.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair._core import Columns
from bytepair.errors import TokenizerWarning, TrainingError, TrainingInterrupted
from bytepair.model.byte_alphabet import BYTES_IN_ALPHABET_ORDER
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import split_name, split_pattern
from bytepair.progress import Report, reporter
from bytepair.sources.source import Reading
from bytepair.tokenizer import Tokenizer
from bytepair.training.counting import Countable, check_unread
from bytepair.training.counts import MOST, Counts
from bytepair.training.learning import TIES, Learned, Merge, Ties, check_choice, learn_merges, with_bytes
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    import os

    from bytepair.model.spec import Step
    from bytepair.training.weights import Weight

TrainingSource: TypeAlias = "Countable | Counts"
"""What training takes: a source (see `bytepair.sources.source`), pieces and their counts, or a counts table."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a training came to.

    Attributes:
        rows: The rows of the counts table: distinct pieces, where there is one group of sources.
        pieces: All pieces of the text. With weights this and the next two are in units of one over their denominator.
        text_bytes: Their bytes.
        tokens: The tokens that they are under the new vocabulary.
        spilled: How many sorted runs went to disk because memory was short, and their bytes.
        peak_memory: The most memory that the process has had, in bytes; None where the system does not say.
    """

    rows: int
    pieces: int
    text_bytes: int
    tokens: int
    spilled: tuple[int, int]
    peak_memory: int | None

    @property
    def bytes_per_token(self) -> float:
        """How many bytes of text one token stands for."""
        return self.text_bytes / max(self.tokens, 1)

    @property
    def tokens_per_piece(self) -> float:
        """How many tokens a piece, such as a word, comes to."""
        return self.tokens / max(self.pieces, 1)


class Trained:
    """A tokenizer, its merges with their counts, and what the training came to.

    Attributes:
        tokenizer: The tokenizer.
        statistics: What the training came to.
    """

    def __init__(
        self, tokenizer: Tokenizer, statistics: Statistics, symbols: Sequence[bytes], learned: Sequence[Learned]
    ) -> None:
        self.tokenizer = tokenizer
        self.statistics = statistics
        self._symbols = symbols
        self._learned = learned

    @property
    def merges(self) -> list[Merge]:
        """The merges in order, and how often each pair was adjacent when it was chosen."""
        return with_bytes(self._symbols, self._learned)


def train(
    source: TrainingSource,
    vocab_size: int,
    *,
    split: str | None = None,
    normalizers: Sequence[Step] = (),
    special_tokens: Iterable[str] = (),
    weights: Mapping[str, Weight] | None = None,
    field: str | None = None,
    delimiter: str | None = None,
    ties: Ties = "lowest_ids",
    min_frequency: int = 2,
    min_count: int = 1,
    max_token_length: int | None = None,
    special_ids: Literal["first", "last"] = "last",
    byte_order: Literal["raw", "gpt2"] = "raw",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    log: str | os.PathLike[str] | None = None,
    progress: bool | str | Report = False,
) -> Tokenizer:
    """Trains a byte-level tokenizer.

    The result is a function of the counts of pieces and these settings: the same on any number of threads, in any
    memory, and from a corpus that was counted in parts. `train_report` gives the merges and statistics as well.

    Args:
        source: Paths, globs, URLs, iterables of texts and others, or a mapping of groups to these: see
            `bytepair.sources.source`. Also `Counts`; or a mapping of pieces to counts, which is not split again.
        vocab_size: How many tokens there will be: 256 bytes, the merges and the special tokens.
        split: The name of a split pattern (``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2``, ``none``) or a
            regular expression; merges never cross the pieces that it makes. None for that of `Counts`, else ``o200k``.
        normalizers: Steps applied to text before it is split, in this order: ``NFC``, ``Lowercase``, or the JSON of any
            other normalizer of ``tokenizer.json``.
        special_tokens: Cut out of the texts before anything is counted.
        weights: What counts of groups are multiplied by, exactly; see `Counts.weighted`.
        field: The field, column or member that holds the text; see `bytepair.sources.source.Reading`.
        delimiter: The text between documents of plain text. None: a file is one document.
        ties: Which of equally frequent pairs merges first: ``lowest_ids`` (tokenizers, rustbpe), ``greatest_bytes``,
            ``smallest_bytes``, or ``first_seen`` (the one whose first occurrence comes first, as in minbpe).
        min_frequency: Pairs seen less often are not merged.
        min_count: Pieces seen less often are left out, which needs less memory and may change the merges.
        max_token_length: The longest token to make, in bytes.
        special_ids: Whether special tokens get the ids before or after all others.
        byte_order: ``raw`` gives bytes the ids in order of their values, ``gpt2`` in the order of the GPT-2 alphabet.
        errors: What to do about text that is not Unicode: ``strict`` raises, ``replace`` counts U+FFFD.
        threads: Up to how many threads work; None for all cores.
        memory: What tables may take, such as ``"2GB"``. Counting goes to temporary files beyond it; if merging would
            need more, that is said before it starts. None for no limit.
        checkpoint: A folder that keeps counts and merges, so that a training that ended early can go on.
        resume: Goes on from the checkpoint, if there is one of the same settings (``vocab_size`` may be another one).
        log: A file for the merges as they are made: lines of JSON with rank, pair and count.
        progress: True for a bar on a terminal, ``"json"`` for JSON lines on stderr, or a call that gets `Progress`.

    Raises:
        TrainingError: No text, a path that matches no file, ``vocab_size`` below the 256 bytes and the special tokens,
            too little memory, a checkpoint of another training.
        EncodeError: A text is not Unicode; ``file`` or ``row`` says which.
        ArtifactError: A file cannot be read or written.
        PatternError: ``split`` does not compile.
        TrainingInterrupted: Ctrl-C while merging; it has the tokenizer of the merges until then.

    Warns:
        TokenizerWarning: The pairs ran out: there are fewer tokens than asked for.

    Example:
        >>> tok = train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
        >>> [tok.token_bytes(id) for id in tok.encode("lower")]
        [b'low', b'er']
    """
    options = {name: value for name, value in locals().items() if name not in ("source", "vocab_size")}
    trained = train_report(source, vocab_size, **options)
    return trained.tokenizer


def train_report(
    source: TrainingSource,
    vocab_size: int,
    *,
    split: str | None = None,
    normalizers: Sequence[Step] = (),
    special_tokens: Iterable[str] = (),
    weights: Mapping[str, Weight] | None = None,
    field: str | None = None,
    delimiter: str | None = None,
    ties: Ties = "lowest_ids",
    min_frequency: int = 2,
    min_count: int = 1,
    max_token_length: int | None = None,
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
    """As `train`, with the merges and what the training came to.

    Example:
        >>> trained = train_report({"low": 5, "lower": 2}, vocab_size=258)
        >>> trained.merges[0], trained.statistics.tokens
        (Merge(left=b'l', right=b'o', count=7), 11)
    """
    check_choice("special_ids", special_ids, ("first", "last"))
    check_choice("byte_order", byte_order, ("raw", "gpt2"))
    check_choice("ties", ties, TIES)
    special_tokens = _special_tokens(special_tokens, vocab_size)
    if resume and checkpoint is None:
        raise ValueError("resume=True goes with checkpoint=")
    limit = None if memory is None else parse_bytes(memory)
    report = reporter(progress)
    pattern = _split_of(source, split)
    if isinstance(source, Counts):
        _check_counted(source, normalizers, Reading(field=field, delimiter=delimiter))
    first = len(special_tokens) if special_ids == "first" else 0
    alphabet = bytes(range(256)) if byte_order == "raw" else BYTES_IN_ALPHABET_ORDER
    settings = {
        "split": pattern,
        "normalizers": list(normalizers),
        "special_tokens": special_tokens,
        "weights": {group: str(weight) for group, weight in (weights or {}).items()},
        "field": field,
        "delimiter": delimiter,
        "ties": ties,
        "min_frequency": min_frequency,
        "min_count": min_count,
        "max_token_length": max_token_length,
        "special_ids": special_ids,
        "byte_order": byte_order,
        "errors": errors,
    }
    kept = None
    if checkpoint is not None or log is not None:
        from bytepair.training.checkpoints import Checkpoint, MergeLog  # most trainings keep nothing
    if checkpoint is not None:
        kept = Checkpoint(checkpoint, settings, resume=resume)
    counts = source if isinstance(source, Counts) else kept.counts(limit) if kept else None
    if counts is None:
        counts = Counts.of(
            source,  # type: ignore[arg-type]  # it is no Counts
            split=pattern,
            normalizers=normalizers,
            special_tokens=special_tokens,
            field=field,
            delimiter=delimiter,
            errors=errors,
            threads=threads,
            memory=limit,
            digest=kept is not None,
            progress=report or False,
        )
        if kept:
            kept.keep(counts)
    counts = prepared(counts, weights, min_count)
    missing = vocab_size - 256 - len(special_tokens)
    symbols = [bytes([byte]) for byte in alphabet]
    replay = kept.merges(first) if kept else []
    logs = [] if log is None else [MergeLog(log, symbols, first)]
    if kept:
        logs.append(MergeLog(kept.log, symbols, first, kept=replay))

    def build(learned: Sequence[Learned]) -> Tokenizer:
        first_added = 0 if first else len(symbols) + len(learned)
        spec = TokenizerSpec(
            PackedModel(Columns.trained(symbols, learned, first)),
            split=(pattern,) if pattern else (),
            added_tokens=tuple(AddedToken(token, id) for id, token in enumerate(special_tokens, first_added)),
            normalizers=tuple(normalizers),
        )
        return Tokenizer(spec)

    learned: list[Learned] = []
    try:
        total = learn_merges(
            counts.core,
            missing,
            alphabet=alphabet,
            ties=ties,
            min_frequency=min(min_frequency * counts.denominator, MOST),
            max_token_length=max_token_length,
            threads=threads,
            memory=limit,
            replay=replay[:missing],
            learned=learned,
            logs=logs,
            report=report,
        )
    except KeyboardInterrupt as error:
        raise TrainingInterrupted(len(learned), partial(build, learned)) from error
    finally:
        for opened in logs:
            opened.close()
    if len(learned) < missing:
        warnings.warn(
            f"no pair is left that occurs {min_frequency} times: {256 + len(special_tokens) + len(learned)} tokens "
            f"instead of vocab_size={vocab_size}; train on more text, or lower min_frequency",
            TokenizerWarning,
            stacklevel=2,
        )
    totals = counts.core.totals()
    pieces, text_bytes = (sum(row[column] for row in totals) for column in (2, 3))
    statistics = Statistics(len(counts), pieces, text_bytes, total, counts.spilled, peak_memory())
    return Trained(build(learned), statistics, symbols, learned)


def _special_tokens(given: Iterable[str], vocab_size: int) -> list[str]:
    if isinstance(given, (str, bytes, Mapping, Set)):
        raise TypeError("special_tokens is a list of str, whose order is that of their ids")
    special_tokens = list(given)
    if duplicates := [token for token, times in Counter(special_tokens).items() if times > 1]:
        raise TrainingError(f"the special token {duplicates[0]!r} is given twice", remedy="name each once")
    reserved = 256 + len(special_tokens)
    if vocab_size < reserved:
        raise TrainingError(
            f"vocab_size={vocab_size} leaves no room for the 256 bytes and {len(special_tokens)} special tokens",
            remedy=f"use vocab_size={reserved} or more",
        )
    return special_tokens


def _split_of(source: TrainingSource, split: str | None) -> str:
    """The split pattern of a training: that of the counts, which have to agree with what is asked for."""
    if not isinstance(source, Counts):
        return split_pattern("o200k" if split is None else split)
    pattern = source.stages.split
    if split is not None and split_pattern(split) != pattern:
        made = split_name(pattern) or repr(pattern)
        raise TrainingError(
            f"the counts were made with the split {made}, not {split!r}", remedy="leave split out, or count again"
        )
    return pattern


def _check_counted(counts: Counts, normalizers: Sequence[str], reading: Reading) -> None:
    """Raises TrainingError if counts do not agree with what is asked for; see also `_split_of`."""
    if tuple(normalizers) != counts.stages.normalizers:
        made = list(counts.stages.normalizers)
        raise TrainingError(
            f"the counts were made with normalizers={made}, not {list(normalizers)}",
            remedy=f"pass normalizers={made}, or count again",
        )
    check_unread(reading)


def prepared(counts: Counts, weights: Mapping[str, Weight] | None, min_count: int) -> Counts:
    """Counts weighted and without rare pieces; TrainingError if nothing is left."""
    if weights:
        counts = counts.weighted(weights)
    if min_count > 1:
        counts = counts.filter(min_count)
    if not len(counts):
        raise TrainingError("there is no text to train on", remedy="check the source: it is empty")
    return counts


def peak_memory(*, children: bool = False) -> int | None:
    """The most memory that this process has had, in bytes; None where the system does not say.

    Args:
        children: Whether that of the largest process is meant that this one began and that has ended.
    """
    status = Path("/proc/self/status")
    # On Linux `getrusage` begins with the memory of the process that started this one.
    if not children and status.is_file():
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text("utf-8"), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    try:
        import resource  # Windows has none
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def train_merges(
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
    """Learns merges and returns them with their counts: training without a tokenizer around it, for those who study.

    Args:
        source: As for `train`.
        merges: How many merges, if there are so many.
        split: As for `train`; a mapping of pieces to counts is not split.
        ties: As for `train`.
        min_frequency: As for `train`, but 1 unless said otherwise.
        max_token_length: As for `train`.
        alphabet: Merge bytes, or characters as Sennrich did.
        end_of_word_suffix: With characters: a symbol at the end of each piece, such as ``</w>``.
        threads: As for `train`.

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
    counts = source if isinstance(source, Counts) else Counts.of(source, split=pattern, threads=threads, digest=False)
    learned: list[Learned] = []
    symbols: list[bytes] = []
    learn_merges(
        prepared(counts, None, 1).core,
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
