"""Sources -> a counter: what the parts of a source hold goes to the core, errors get their places."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from bytepair.errors import BytepairError, EncodeError, TrainingError
from bytepair.progress import Phase
from bytepair.sources import compressed, sources
from bytepair.sources.digest import SourceDigest, TextsHash
from bytepair.sources.parts import ArrowTexts, Batch, File, Rows
from bytepair.sources.paths import kind

if TYPE_CHECKING:
    from bytepair._core import PieceCounter
    from bytepair.progress import Report

Source: TypeAlias = "sources.Source | Mapping[str, int] | Mapping[bytes, int]"

_MOST_GROUPS = 1 << 16
_CHUNK = 1 << 20


def count_source(
    counter: PieceCounter,
    source: Source,
    *,
    errors: str,
    threads: int | None,
    report: Report | None,
    field: str | None = None,
    digest: SourceDigest | None = None,
) -> tuple[str, ...]:
    """Counts the pieces of a source.

    Args:
        counter: Counts; its stages are those of the source.
        source: As for `bytepair.train`.
        errors: As for `bytepair.train`.
        threads: As for `bytepair.train`.
        report: Gets the progress.
        field: The field or column that holds the text, for files of rows.
        digest: Has the source added, if it is there.

    Returns:
        The names of the groups by number; one empty name where there are none.

    Raises:
        TrainingError, EncodeError, ArtifactError, PatternError: As `bytepair.train`.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads} would do nothing; use None for all cores")
    if isinstance(source, Mapping) and sources.holds_counts(source):
        if field is not None:
            raise TrainingError(f"the field {field!r} is for files of rows, not for counts", remedy="leave field out")
        _add_pieces(counter, cast("Mapping[Any, int]", source), digest)
        return ("",)
    plan = sources.plan(source, field=field)
    groups = tuple(dict.fromkeys(part.group or "" for part in plan.parts)) or ("",)
    check_groups(groups)
    numbers = {group: number for number, group in enumerate(groups)}
    with Phase(report, "count", plan.size) as phase:
        for part in plan.parts:
            options = {"group": numbers[part.group or ""], "errors": errors, "threads": threads}
            if isinstance(part, File):
                _count_file(counter, part, options, digest, phase)
            else:
                _count_rows(counter, part, options, digest, phase)
            phase.next_part()
    return groups


def check_groups(groups: Sequence[str]) -> None:
    """Raises TrainingError if there are more groups than a table can tell apart."""
    if len(groups) > _MOST_GROUPS:
        raise TrainingError(f"there are {len(groups)} groups", remedy=f"use at most {_MOST_GROUPS}")


def _add_pieces(counter: PieceCounter, source: Mapping[Any, int], digest: SourceDigest | None) -> None:
    whole = TextsHash()
    for piece, count in source.items():
        if count < 1:
            raise TrainingError(f"the piece {piece!r} has the count {count}", remedy="counts start at 1")
        try:
            counter.add(piece, count)
        except OverflowError as error:
            raise TrainingError(
                f"the count of {piece!r} is above 2^64 - 1", remedy="divide all counts by a constant"
            ) from error
        if digest is not None:
            whole.update([piece, str(count)])
    if digest is not None:
        digest.add(whole.digest())


def _count_file(
    counter: PieceCounter, part: File, options: dict[str, Any], digest: SourceDigest | None, phase: Phase
) -> None:
    try:
        if part.chunks is None:
            # Normalizers can make more of a text than is on the disk.
            tell = {"tell": lambda done: phase.tell(min(done, part.size))}
            counter.count_file(part.path, {**options, **tell}, json_field=part.field)
        else:
            position = 0

            def data() -> Iterator[bytes]:
                nonlocal position
                assert part.chunks is not None
                for chunk in part.chunks():
                    position = chunk.position
                    yield chunk.data

            # What is counted is not what lies on the disk, which the total speaks of.
            tell = {"tell": lambda _: phase.tell(position)}
            counter.count_chunks(data(), {**options, **tell}, json_field=part.field)
    except BytepairError as error:
        place(error, part.path, kind(Path(part.path)).compression, is_lines=part.field is not None)
        raise
    phase.tell(part.size)
    if digest is not None:
        digest.add_file(part.path)


def place(
    error: BytepairError, path: str, compression: str | None, *, is_lines: bool, start: int = 0, added: int = 0
) -> None:
    """Places an error of a text, or of lines of JSON, in the file that they are from, which is read up to there again.

    Args:
        error: Its bytes and lines are those of what was counted.
        path: The file, or its URL.
        compression: How it is compressed.
        is_lines: Whether it is lines of JSON.
        start: The byte of the file where what was counted began.
        added: How many lines of one byte were put before that.
    """
    error.file = error.file or path
    if isinstance(error, EncodeError) and error.byte is not None:
        error.byte += start - added
        error.character, lines = _before(path, compression, error.byte)
        error.line = lines + 1 if is_lines else None
    elif error.line is not None and start:
        error.line += _before(path, compression, start)[1] - added


def _before(path: str, compression: str | None, size: int) -> tuple[int, int]:
    """How many characters the first bytes of a file are, and how many of them end a line."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    characters = lines = 0
    for chunk in compressed.chunks(path, compression, _CHUNK):
        data = chunk.data[:size]
        characters += len(decoder.decode(data))
        lines += data.count(b"\n")
        size -= len(data)
        if not size:
            break
    return characters, lines


def _count_rows(
    counter: PieceCounter, part: Rows, options: dict[str, Any], digest: SourceDigest | None, phase: Phase
) -> None:
    whole = TextsHash() if digest is not None and part.path is None else None
    before = 0
    for batch in part.batches():
        start = before

        def tell(done: int, start: int = start, end: int = batch.position) -> None:
            phase.tell(min(start + done, end))

        _count_batch(counter, batch, {**options, "tell": tell})
        before = batch.position
        phase.tell(before)
        if whole is not None:
            whole.update(batch.to_list())
    if digest is not None:
        if whole is not None:
            digest.add(whole.digest())
        elif part.path is not None:
            digest.add_file(part.path)


def _count_batch(counter: PieceCounter, batch: Batch, options: dict[str, Any]) -> None:
    try:
        if isinstance(batch.texts, ArrowTexts):
            counter.count_buffer(batch.texts.data, batch.texts.offsets, options, gap=batch.texts.gap)
        else:
            counter.count(batch.texts, options)
    except BytepairError as error:
        if error.row is not None:
            place = batch.place(error.row)
            error.file, error.row = place["file"], place["row"]
        raise
