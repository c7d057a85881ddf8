"""Texts -> counts of pieces -> a tokenizer."""

from __future__ import annotations

import glob
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from bytepair import files
from bytepair._core import PieceCounter, learn
from bytepair.errors import BytepairError, TokenizerWarning, TrainingError
from bytepair.formats.byte_alphabet import BYTES_IN_ALPHABET_ORDER
from bytepair.progress import Phase, Report, reporter
from bytepair.spec import AddedToken, BytePair, TokenizerSpec, split_pattern
from bytepair.tokenizer import Tokenizer

Text: TypeAlias = str | bytes
PathLike: TypeAlias = "str | os.PathLike[str]"
Source: TypeAlias = "PathLike | Sequence[PathLike] | Iterable[Text] | Mapping[str, int] | Mapping[bytes, int]"
Ties: TypeAlias = Literal["lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen"]

TIES = ("lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen")

_BATCH_BYTES = 32 << 20


class Merge(NamedTuple):
    """One merge, and how often the pair was adjacent when it was chosen."""

    left: bytes
    right: bytes
    count: int  # type: ignore[assignment]  # it hides tuple.count, which nobody asks of a merge


def train(
    source: Source,
    vocab_size: int,
    *,
    split: str = "o200k",
    special_tokens: Iterable[str] = (),
    ties: Ties = "lowest_ids",
    min_frequency: int = 2,
    max_token_length: int | None = None,
    special_ids: Literal["first", "last"] = "last",
    byte_order: Literal["raw", "gpt2"] = "raw",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    progress: bool | str | Report = False,
) -> Tokenizer:
    """Trains a byte-level tokenizer.

    The result is a function of the counts of pieces and these settings: the same on any number of threads.

    Args:
        source: A path or glob, or a list of these; an iterator (or a list of ``bytes``) of texts; or a mapping of
            pieces to counts, which is not split again. Files are UTF-8. A list of ``str`` is a list of paths: pass
            ``iter(texts)`` to train on the strings themselves.
        vocab_size: How many tokens there will be: 256 bytes, the merges and the special tokens.
        split: The name of a split pattern (``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2``, ``none``) or a
            regular expression; merges never cross the pieces that it makes.
        special_tokens: Cut out of the texts before anything is counted.
        ties: Which of equally frequent pairs merges first: ``lowest_ids`` (tokenizers, rustbpe), ``greatest_bytes``,
            ``smallest_bytes``, or ``first_seen`` (the one whose first occurrence comes first, as in minbpe).
        min_frequency: Pairs seen less often are not merged.
        max_token_length: The longest token to make, in bytes.
        special_ids: Whether special tokens get the ids before or after all others.
        byte_order: ``raw`` gives bytes the ids in order of their values, ``gpt2`` in the order of the GPT-2 alphabet.
        errors: What to do about text that is not Unicode: ``strict`` raises, ``replace`` counts U+FFFD.
        threads: Up to how many threads count; None for all cores.
        progress: True for a bar on a terminal, ``"json"`` for JSON lines on stderr, or a call that gets `Progress`.

    Raises:
        TrainingError: No text, a path that matches no file, ``vocab_size`` below the 256 bytes and the special tokens.
        EncodeError: A text is not Unicode; ``file`` or ``row`` says which.
        ArtifactError: A file cannot be read.
        PatternError: ``split`` does not compile.

    Warns:
        TokenizerWarning: The pairs ran out: there are fewer tokens than asked for.

    Example:
        >>> tok = train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
        >>> [tok.token_bytes(id) for id in tok.encode("lower")]
        [b'low', b'er']
    """
    _check_choice("special_ids", special_ids, ("first", "last"))
    _check_choice("byte_order", byte_order, ("raw", "gpt2"))
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads} would do nothing; use None for all cores")
    if isinstance(special_tokens, (str, bytes, Mapping, Set)):
        raise TypeError("special_tokens is a list of str, whose order is that of their ids")
    special_tokens = list(special_tokens)
    if duplicates := [token for token, times in Counter(special_tokens).items() if times > 1]:
        raise TrainingError(f"the special token {duplicates[0]!r} is given twice", remedy="name each once")
    reserved = 256 + len(special_tokens)
    if vocab_size < reserved:
        raise TrainingError(
            f"vocab_size={vocab_size} leaves no room for the 256 bytes and {len(special_tokens)} special tokens",
            remedy=f"use vocab_size={reserved} or more",
        )
    report = reporter(progress)
    alphabet = bytes(range(256)) if byte_order == "raw" else BYTES_IN_ALPHABET_ORDER
    counter = _count(source, split_pattern(split), special_tokens, errors=errors, threads=threads, report=report)
    symbols, learned = _learn(
        counter,
        vocab_size - reserved,
        alphabet=alphabet,
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        threads=threads,
        report=report,
    )
    if len(learned) < vocab_size - reserved:
        warnings.warn(
            f"no pair is left that occurs {min_frequency} times: {reserved + len(learned)} tokens instead of "
            f"vocab_size={vocab_size}; train on more text, or lower min_frequency",
            TokenizerWarning,
            stacklevel=2,
        )
    tokens = list(symbols)
    for left, right, _ in learned:
        tokens.append(tokens[left] + tokens[right])
    first = len(special_tokens) if special_ids == "first" else 0
    first_special = 0 if special_ids == "first" else len(tokens)
    model = BytePair(
        tokens=tuple(tokens),
        ids=tuple(range(first, first + len(tokens))),
        merges=tuple((left + first, right + first) for left, right, _ in learned),
    )
    added = tuple(AddedToken(token, id) for id, token in enumerate(special_tokens, first_special))
    pattern = split_pattern(split)
    return Tokenizer(TokenizerSpec(model, split=(pattern,) if pattern else (), added_tokens=added))


def train_merges(
    source: Source,
    merges: int,
    *,
    split: str = "o200k",
    ties: Ties = "lowest_ids",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    alphabet: Literal["bytes", "characters"] = "bytes",
    end_of_word_suffix: str | None = None,
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

    Raises:
        TrainingError, EncodeError, ArtifactError, PatternError: As `train`.

    Example:
        >>> counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
        >>> for merge in train_merges(counts, 3, ties="first_seen", alphabet="characters", end_of_word_suffix="</w>"):
        ...     print(merge)
        Merge(left=b'e', right=b's', count=9)
        Merge(left=b'es', right=b't', count=9)
        Merge(left=b'est', right=b'</w>', count=9)
    """
    _check_choice("alphabet", alphabet, ("bytes", "characters"))
    if end_of_word_suffix and alphabet == "bytes":
        raise ValueError('end_of_word_suffix goes with alphabet="characters"')
    counter = _count(source, split_pattern(split), (), errors="strict", threads=None, report=None)
    symbols, learned = _learn(
        counter,
        merges,
        alphabet=bytes(range(256)) if alphabet == "bytes" else None,
        end_of_word_suffix=end_of_word_suffix or None,
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        report=None,
    )
    tokens = list(symbols)
    result = []
    for left, right, count in learned:
        result.append(Merge(tokens[left], tokens[right], count))
        tokens.append(tokens[left] + tokens[right])
    return result


def _learn(
    counter: PieceCounter,
    merges: int,
    *,
    alphabet: bytes | None,
    ties: Ties,
    min_frequency: int,
    max_token_length: int | None,
    report: Report | None,
    threads: int | None = None,
    end_of_word_suffix: str | None = None,
) -> tuple[list[bytes], list[tuple[int, int, int]]]:
    _check_choice("ties", ties, TIES)
    for name, value in (("merges", merges), ("min_frequency", min_frequency), ("max_token_length", max_token_length)):
        if value is not None and value < 0:
            raise TrainingError(f"{name}={value} is negative", remedy="use 0 or more")
    with Phase(report, "merge", merges) as phase:
        symbols, learned, _ = learn(
            counter,
            alphabet=alphabet,
            end_of_word_suffix=end_of_word_suffix,
            merges=merges,
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            threads=threads,
            tell=phase.tell,
        )
        return symbols, learned


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(known)}")


def _count(
    source: Source,
    pattern: str,
    special_tokens: Sequence[str],
    *,
    errors: str,
    threads: int | None,
    report: Report | None,
) -> PieceCounter:
    counter = PieceCounter(pattern, list(special_tokens))
    if isinstance(source, Mapping):
        for piece, count in source.items():
            if count < 1:
                raise TrainingError(f"the piece {piece!r} has the count {count}", remedy="counts start at 1")
            try:
                counter.add(piece, count)
            except OverflowError as error:
                raise TrainingError(
                    f"the count of {piece!r} is above 2^64 - 1", remedy="divide all counts by a constant"
                ) from error
    else:
        paths = _paths(source)
        total = sum(path.stat().st_size for path in paths) if paths is not None else None
        named: Iterator[tuple[str | None, Text]]
        if paths is not None:
            named = ((str(path), files.read(path)) for path in paths)
        else:
            named = ((None, text) for text in _texts(source))
        with Phase(report, "count", total) as phase:
            for batch in _batches(named):
                _count_batch(counter, batch, errors=errors, threads=threads, phase=phase)
                phase.next_part()
    if not len(counter):
        raise TrainingError("there is no text to train on", remedy="check the source: it is empty")
    return counter


def _count_batch(
    counter: PieceCounter, batch: list[tuple[str | None, int, Text]], *, errors: str, threads: int | None, phase: Phase
) -> None:
    try:
        counter.count([text for _, _, text in batch], errors=errors, threads=threads, tell=phase.tell)
    except BytepairError as error:
        if error.row is not None:
            name, row, _ = batch[error.row]
            error.file = name
            error.row = None if name else row
        raise


def _paths(source: Source) -> list[Path] | None:
    """The files of a source in order, each once; None if the source is made of texts."""
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, (list, tuple)) or not all(isinstance(item, (str, os.PathLike)) for item in source):
        return None
    paths: dict[Path, None] = {}
    for item in source:
        name = os.fspath(item)
        found = [name] if Path(name).is_file() else sorted(glob.glob(name, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        matched = [Path(path) for path in found if Path(path).is_file()]
        if not matched:
            shown = name if len(name) <= 80 else f"{name[:77]}..."
            raise TrainingError(
                f"no file matches {shown!r}",
                remedy="check the path; to train on the strings of a list, pass iter(texts)",
            )
        paths.update(dict.fromkeys(matched))
    return list(paths)


def _texts(source: Source) -> Iterator[Text]:
    if isinstance(source, Set) or (isinstance(source, (list, tuple)) and any(isinstance(item, str) for item in source)):
        raise TypeError("a source is paths in a list, or texts in an iterator; not both, and not a set")
    if isinstance(source, (bytes, os.PathLike)):
        raise TypeError("one bytes object is not a source; pass a list of texts: [text]")
    for row, text in enumerate(source):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text {row} of the source is {type(text).__name__}, not str or bytes")
        yield text


def _batches(named: Iterator[tuple[str | None, Text]]) -> Iterator[list[tuple[str | None, int, Text]]]:
    """Groups of texts with their names and rows, so large that the threads have something to share."""
    batch: list[tuple[str | None, int, Text]] = []
    size = 0
    for row, (name, text) in enumerate(named):
        batch.append((name, row, text))
        size += len(text) + 64
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
