"""Training files and texts -> word counts."""

from __future__ import annotations

from collections import Counter
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._core import PieceCounter
from bytepair.compat.tokenizers.compiling import compile_core
from bytepair.compat.tokenizers.values import listed
from bytepair.errors import ArtifactError, EncodeError
from bytepair.progress import Phase, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytepair.compat.tokenizers.added_tokens import AddedTokens
    from bytepair.compat.tokenizers.custom import Stages

_BATCH_TEXTS = 1000
_BATCH_CHARACTERS = 4_000_000


def lines(files: Iterable[str]) -> Iterator[bytes]:
    """Yield the lines of files with their line ends.

    Raises:
        ArtifactError: A file cannot be read.
        TypeError: An item is not a path.
    """
    for file in listed("files", files):
        yield from _lines(Path(file))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as opened:
            yield from opened
    except OSError as error:
        raise ArtifactError(f"cannot read: {error.strerror}", file=str(path)) from error


def texts(iterator: Iterable[Any]) -> Iterator[str]:
    """Yield the texts of an iterator of texts or batches of texts.

    Raises:
        TypeError: An item is not a text.
    """
    for element in iterator:
        for text in (element,) if isinstance(element, str) else element:
            if not isinstance(text, str):
                raise TypeError(f"training takes texts, not {type(text).__name__}")
            yield text


def count_words(
    stages: dict[str, Any],
    added: AddedTokens,
    sequences: Iterable[str | bytes],
    length: int | None,
    report: Report | None,
) -> dict[str, int]:
    """Count the words of texts after normalization and pre-tokenization.

    Args:
        stages: The normalizer and the pre-tokenizer as JSON, by these names.
        added: The added tokens, which are cut out of the texts first.
        sequences: The texts.
        length: The number of texts, for progress; None if unknown.
        report: The progress report, or None.

    Raises:
        EncodeError: A text is not valid Unicode.
    """
    free = next(id for id in numbers() if id not in added.by_id)
    blank = {"type": "WordLevel", "vocab": {"\0": free}, "unk_token": "\0"}
    counter = PieceCounter.of(compile_core(blank, added.table(), stages))
    with Phase(report, "texts", length) as phase:
        done = 0
        for batch in _batches(sequences):
            options = {"group": 0, "errors": "strict", "threads": None, "tell": lambda _: None}
            try:
                counter.count(batch, options)
            except EncodeError as error:
                error.row = done + (error.row or 0)
                raise
            done += len(batch)
            phase.tell(done)
    return {piece.decode(): count for piece, _, count, _ in counter.finish().rows()}


def count_in_python(
    stages: Stages, sequences: Iterable[str | bytes], length: int | None, report: Report | None
) -> dict[str, int]:
    """As `count_words`, with stages of which some are written in Python."""
    words: Counter[str] = Counter()
    with Phase(report, "texts", length) as phase:
        for row, text in enumerate(sequences):
            try:
                whole = text if isinstance(text, str) else text.decode()
            except UnicodeDecodeError as error:
                raise EncodeError("the bytes are not UTF-8", row=row, byte=error.start) from error
            words.update(stages.words(whole))
            phase.tell(row + 1)
    return dict(words)


def _batches(sequences: Iterable[str | bytes]) -> Iterator[list[str | bytes]]:
    batch: list[str | bytes] = []
    room = _BATCH_CHARACTERS
    for text in sequences:
        batch.append(text)
        room -= len(text)
        if len(batch) == _BATCH_TEXTS or room <= 0:
            yield batch
            batch, room = [], _BATCH_CHARACTERS
    if batch:
        yield batch
