"""Sources -> a counter: each input goes to the core by the fastest way that gives the same counts."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from bytepair.errors import BytepairError, EncodeError, SourceError, TrainingError
from bytepair.progress import Phase
from bytepair.sources import inputs, readers
from bytepair.sources.compressed import ByteReader, blocks
from bytepair.sources.digest import FileHash, SourceDigest, TextsHash
from bytepair.sources.documents import GivenDocuments, LongDocument
from bytepair.sources.inputs import Input, blame
from bytepair.sources.source import Reading, Source, holds_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bytepair._core import PieceCounter
    from bytepair.progress import Report
    from bytepair.sources.documents import Documents
    from bytepair.sources.inputs import AnyInput

Countable: TypeAlias = "Source | Mapping[str, int] | Mapping[bytes, int]"
"""A source, or pieces and their counts."""

_BATCH_BYTES = 16 << 20
_MOST_GROUPS = 1 << 16
_BLOCK = 1 << 20
_BOM = "\N{BYTE ORDER MARK}".encode()


def count_source(
    counter: PieceCounter,
    source: Countable,
    reading: Reading,
    *,
    errors: str,
    threads: int | None,
    report: Report | None,
    digest: SourceDigest | None = None,
) -> tuple[str, ...]:
    """Counts the pieces of a source and adds it to `digest`; other arguments and errors are those of `bytepair.train`.

    Returns:
        The names of the groups by number; one empty name where there are none.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads} would do nothing; use None for all cores")
    if isinstance(source, Mapping) and holds_counts(source):
        check_unread(reading)
        _add_pieces(counter, cast("Mapping[Any, int]", source), digest)
        return ("",)
    found = inputs.find(source)
    readers.check(found, reading)
    groups = groups_of(found)
    numbers = {group: number for number, group in enumerate(groups)}
    with Phase(report, "count", inputs.total_size(found)) as phase:
        for input in found:
            options = {"group": numbers[input.group], "errors": errors, "threads": threads}
            whole = None
            if digest is not None:
                whole = FileHash(input.address) if isinstance(input, Input) else TextsHash()
            count_input(counter, input, reading, options, phase.tell, batch_bytes=_BATCH_BYTES, whole=whole)
            if isinstance(input, Input):
                phase.tell(input.size)
            if digest is not None and whole is not None:
                digest.add(whole.digest())
            phase.next_part()
    return groups


def check_unread(reading: Reading) -> None:
    """Raises SourceError if options say how to read texts where there are counts already."""
    for option, value in (("field", reading.field), ("delimiter", reading.delimiter)):
        if value is not None:
            raise SourceError(
                f"the {option} {value!r} has no effect on counts",
                remedy=f"leave {option} out",
                cli_remedy=f"leave --{option} out",
            )


def groups_of(found: Sequence[AnyInput]) -> tuple[str, ...]:
    """The names of the groups of inputs, in order; one empty name where there are none.

    Raises:
        TrainingError: There are more than a table can tell apart.
    """
    groups = tuple(dict.fromkeys(input.group for input in found)) or ("",)
    check_groups(groups)
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


def count_input(
    counter: PieceCounter,
    input: AnyInput,
    reading: Reading,
    options: Mapping[str, Any],
    tell: Callable[[int], object],
    *,
    batch_bytes: int,
    start: int = 0,
    end: int | None = None,
    whole: FileHash | TextsHash | None = None,
) -> int:
    """Counts the pieces of an input, or of a portion of it.

    The core reads local files of plain text and of JSON lines by itself. All other inputs reach it as bytes, if they
    are lines of JSON or one document, else as documents. The counts and the first positions are the same either way.

    Args:
        counter: Counts.
        input: The input.
        reading: How documents are found.
        options: ``group``, ``errors`` and ``threads``, for the core.
        tell: Gets the bytes of the portion read so far, as they are stored, again and again.
        batch_bytes: About how many bytes of documents are counted together.
        start: Where the portion starts; see `readers.portions`.
        end: Where it ends.
        whole: Gets the texts of an iterable, or the bytes of a file that is not read otherwise; None for neither.

    Returns:
        The bytes of the portion, as they are stored.

    Raises:
        TrainingError, EncodeError, PatternError: As `bytepair.train`, of the first document at fault.
        ArtifactError: The input cannot be read.
    """
    is_lines = input.content == "jsonl"
    field = ("text" if reading.field is None else reading.field) if is_lines else None
    if isinstance(input, Input) and (is_lines or (input.content == "text" and reading.delimiter is None)):
        counting = _Bytes(counter, input, field, options, tell)
        if input.is_local and not input.compression and start == 0 and end is None:
            counting.file(whole if isinstance(whole, FileHash) else None)
        else:
            counting.blocks(start, end)
        return (input.size if end is None else end) - start
    passed = 0

    def telling() -> dict[str, Any]:
        # Called while the core counts, so that Ctrl-C is heard.
        return {**options, "tell": lambda _, so_far=passed: tell(so_far)}

    for found in readers.read(input, start, end, reading, batch_bytes, errors=options["errors"]):
        if isinstance(found, LongDocument):
            try:
                counter.count_chunks(found.parts, telling())
            except BytepairError as error:
                if not isinstance(error, OSError):
                    blame(error, input, found.position)
                raise
            passed = found.passed()
        else:
            _count_batch(counter, input, found, telling())
            passed = found.passed
            if isinstance(whole, TextsHash):
                whole.update(found.texts if isinstance(found, GivenDocuments) else found.texts.to_list())
        tell(passed)
    return passed


def _count_batch(
    counter: PieceCounter, input: AnyInput, found: Documents | GivenDocuments, options: dict[str, Any]
) -> None:
    faults = () if isinstance(found, GivenDocuments) else found.faults
    fault = min(faults, key=lambda fault: fault.position, default=None)
    try:
        if isinstance(found, GivenDocuments):
            counter.count(found.texts, options)
        else:
            counter.count_buffer(found.texts.data, found.texts.offsets, options, gap=found.texts.gap)
    except BytepairError as error:
        position = None if error.row is None else int(found.positions[error.row])
        if fault is None or (position is not None and position < fault.position):
            if position is not None:
                blame(error, input, position)
            raise
    if fault is None:
        return
    if input.content in ("parquet", "arrow", "dataset"):
        # It is null, for which training has an error of its own.
        raise TrainingError(**{**fault.error.parts(), "file": input.name, "row": fault.position})
    raise fault.error


class _Bytes:
    """Counts a file that is one document, or lines of JSON, as bytes that the core cuts at seams.

    Args:
        counter: Counts.
        input: The file.
        field: The field of each line; None if the file is one document.
        options: As for `count_input`.
        tell: As for `count_input`.
    """

    def __init__(
        self,
        counter: PieceCounter,
        input: Input,
        field: str | None,
        options: Mapping[str, Any],
        tell: Callable[[int], object],
    ) -> None:
        self._counter, self._input, self._field = counter, input, field
        self._options, self._tell = options, tell
        self._passed = 0

    def file(self, whole: FileHash | None) -> None:
        """Counts a local file, which the core reads, or takes from its hash while others count."""
        # Normalizers can make more of a text than is on the disk.
        options = {**self._options, "tell": lambda done: self._tell(min(done, self._input.size))}
        try:
            if whole is None:
                self._counter.count_file(self._input.address, options, json_field=self._field)
            else:
                self._counter.count_chunks(whole.blocks(), options, json_field=self._field)
        except BytepairError as error:
            self._place(error)
            raise

    def blocks(self, start: int, end: int | None) -> None:
        """Counts a portion of a file, which is read here."""
        # The line at the start is one if it follows a line end.
        at = max(start - 1, 0)
        with ByteReader(self._input.address, self._input.compression, at) as reader:
            data = reader.read(_BLOCK)
            added = 0
            if start:
                while (found := data.find(b"\n")) < 0 and (block := reader.read(_BLOCK)):
                    at, data = at + len(data), block
                at, data = at + found + 1, data[found + 1 :] if found >= 0 else b""
                if data.startswith(_BOM):
                    # The core passes over a BOM in the first line that it gets, which is none of the file.
                    data, added = b"\n" + data, 1
            left = None if end is None else end - at + added
            # Bytes counted differ from bytes stored, of which the total is.
            options = {**self._options, "tell": lambda _: self._tell(self._passed)}
            try:
                self._counter.count_chunks(self._read(reader, data, left, start), options, json_field=self._field)
            except BytepairError as error:
                self._place(error, start=at if start else 0, added=added)
                raise
        if self._field is not None and end is not None:
            # The core ends a text here, but the file goes on in the next portion.
            self._counter.start_at(self._counter.end - 1)

    def _read(self, reader: ByteReader, data: bytes, left: int | None, start: int) -> Iterator[bytes]:
        """`data` and what follows it, up to the end of the line in which the last of `left` bytes is; None for all."""
        while data and (left is None or left > 0):
            if left is not None and len(data) >= left:
                last = data.find(b"\n", left - 1) + 1
                yield data[:last] if last else data
                if last:
                    return
                left = 1  # The line goes on.
            else:
                yield data
                left = None if left is None else left - len(data)
            self._passed = max(reader.position - start, 0)
            self._tell(self._passed)
            data = reader.read(_BLOCK)

    def _place(self, error: BytepairError, *, start: int = 0, added: int = 0) -> None:
        """Adds file, line and character to an error, for which the file is read again up to it.

        Args:
            error: Its bytes and lines are those of what was counted.
            start: The byte of the file where counting began.
            added: How many lines of one byte were put before that.
        """
        error.file = error.file or self._input.name
        if isinstance(error, EncodeError) and error.byte is not None:
            error.byte += start - added
            error.character, lines = self._before(error.byte)
            error.line = lines + 1 if self._field is not None else None
        elif error.line is not None and start:
            error.line += self._before(start)[1] - added

    def _before(self, size: int) -> tuple[int, int]:
        """How many characters the first `size` bytes of the file are, and how many of them end a line."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        characters = lines = 0
        for block in blocks(self._input.address, self._input.compression, _BLOCK):
            data = block[:size]
            characters += len(decoder.decode(data))
            lines += data.count(b"\n")
            size -= len(data)
            if not size:
                break
        return characters, lines
