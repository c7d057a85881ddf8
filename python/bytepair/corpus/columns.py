"""Parquet and Arrow files -> the texts in one of their columns, in buffers, without an object for each."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.corpus.compressed import arrow, unreadable
from bytepair.corpus.parts import ArrowTexts, Batch
from bytepair.errors import BytepairError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_MOST_ROWS = 4096  # of Parquet at a time: how long the next ones are cannot be known
_DECODED_ROWS = 1024  # of what must be copied to lie in one buffer
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def batches(path: Path, content: str, field: str | None, size: int) -> Iterator[Batch]:
    """The texts of a column of strings or binaries, plain, large, as views or in a dictionary.

    Args:
        path: The file.
        content: ``parquet`` or ``arrow`` (which is also Feather 2: the file and the stream format).
        field: The column. None takes ``text`` if there is one.
        size: About how many bytes the texts of a batch have; more only if one text does.

    Raises:
        TrainingError: There is no such column, it holds something else, or a value is null; or ``pyarrow`` is not
            installed.
        ArtifactError: The file cannot be read, is cut off or damaged.
    """
    pa = arrow(path)
    first_row = 0
    source = _parquet(path, field, size) if content == "parquet" else _ipc(path, field)
    try:
        for array, position in source:
            _check(array)
            _refuse_null(array, "text" if field is None else field, path, first_row)
            for texts in _texts(array, size):
                yield Batch(texts, first_row, position, str(path))
                first_row += len(texts)
    except BytepairError:
        raise
    # What damaged files raise is of many kinds.
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError) as error:
        unreadable(path, error)


def _parquet(path: Path, field: str | None, size: int) -> Iterator[tuple[Any, int]]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    on_disk = path.stat().st_size
    with ExitStack() as stack:
        # Given a path, pyarrow could take it for an address.
        source = stack.enter_context(path.open("rb"))
        options = {"buffer_size": 1 << 20, "pre_buffer": False, "page_checksum_verification": True}
        file = stack.enter_context(pq.ParquetFile(source, **options))
        name = _column(file.schema_arrow, field, path)[1]
        rows = file.metadata.num_rows
        done = 0
        for index in range(file.num_row_groups):
            group = file.metadata.row_group(index)
            row_bytes = max(group.total_byte_size // max(group.num_rows, 1), 1)
            at_once = min(max(size // row_bytes, 1), _MOST_ROWS)
            for batch in file.iter_batches(at_once, row_groups=[index], columns=[name], use_threads=False):
                done += len(batch)
                yield batch.column(name), on_disk * done // max(rows, 1)
        if done != rows:
            unreadable(path, EOFError(f"it has {done} of {rows} rows"))


def _ipc(path: Path, field: str | None) -> Iterator[tuple[Any, int]]:
    import pyarrow as pa  # noqa: PLC0415

    on_disk = path.stat().st_size
    with ExitStack() as stack:
        file = stack.enter_context(pa.memory_map(str(path)))
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        start = pa.ipc.open_file if is_file else pa.ipc.open_stream
        column = _column(start(file).schema, field, path)[0]
        file.seek(0)
        reader = stack.enter_context(start(file, options=pa.ipc.IpcReadOptions(included_fields=[column])))
        if is_file:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index).column(0), on_disk * (index + 1) // reader.num_record_batches
            return
        for batch in reader:
            yield batch.column(0), file.tell()
        # The format lets a stream end without its mark, as one does that was cut off between two batches.
        end = file.tell()
        file.seek(max(end - len(_END_OF_STREAM), 0))
        if end != on_disk or file.read(len(_END_OF_STREAM)) != _END_OF_STREAM:
            unreadable(path, EOFError("the stream does not end with its end mark"), byte=end)


def _column(schema: Any, field: str | None, path: Path) -> tuple[int, str]:
    texts = [column.name for column in schema if _is_text(column.type)]
    if field is None and "text" not in schema.names:
        known = ", ".join(map(repr, texts[:20])) + (" and others" if len(texts) > 20 else "")
        raise TrainingError(
            "there is no column 'text'",
            file=str(path),
            remedy=f"name the column that holds the text: field=... is one of {known}"
            if texts
            else "it holds no strings: choose another source",
        )
    name = "text" if field is None else field
    found = schema.get_all_field_indices(name)
    if len(found) != 1 or not _is_text(schema.field(found[0]).type):
        what = f"there are {len(found)} columns {name!r}" if len(found) > 1 else f"there is no column {name!r}"
        if len(found) == 1:
            what = f"the column {name!r} holds {schema.field(found[0]).type}, not strings"
        raise TrainingError(
            what,
            file=str(path),
            remedy=f"columns of strings are {', '.join(map(repr, texts[:20])) or 'none'}",
        )
    return found[0], name


def _is_text(type_: Any) -> bool:
    kind = str(type_)
    if kind.startswith("dictionary<"):
        kind = str(type_.value_type)
    return kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def _refuse_null(array: Any, name: str, path: Path, first_row: int) -> None:
    nulls = array.is_null()
    if hasattr(array, "dictionary"):
        # A value can be null there too, which not every release of pyarrow sees.
        nulls = array.dictionary.is_null().take(array.indices).fill_null(True)
    if nulls.true_count:
        raise TrainingError(
            f"a value of the column {name!r} is null",
            file=str(path),
            row=first_row + nulls.index(True).as_py(),
            remedy="leave out the rows without text, or make them empty strings",
        )


def _check(array: Any) -> None:
    """Raises ValueError if a file says what cannot be; pyarrow believes it, and would read anywhere."""
    array.validate()
    if hasattr(array, "dictionary"):
        _check(array.dictionary)
        numbers = array.indices.drop_null().to_numpy(zero_copy_only=False)
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(array.dictionary):
            raise ValueError("an index leaves its dictionary")
    elif str(array.type).endswith("_view"):
        array.view("binary_view").validate(full=True)
    else:
        buffers(array)


def _texts(array: Any, size: int) -> Iterator[ArrowTexts]:
    """The values of an array without nulls, as they lie in memory if they do so in one buffer."""
    if hasattr(array, "dictionary"):
        # What repeats is copied out no more than a batch at a time.
        words = _large(array.dictionary)
        ends = np.concatenate(([0], np.cumsum(np.diff(buffers(words).offsets)[array.indices.to_numpy()])))
        for start, end in _cuts(ends, size):
            yield buffers(words.take(array.indices.slice(start, end - start)))
    elif str(array.type).endswith("_view"):
        for start in range(0, len(array), _DECODED_ROWS):
            yield from _split(buffers(_large(array.slice(start, _DECODED_ROWS))), size)
    else:
        yield from _split(buffers(array), size)


def _large(array: Any) -> Any:
    # By way of a view, since a cast would ask whether strings are UTF-8.
    kind = str(array.type)
    same = kind.replace("string", "binary")
    return array.view(same).cast("large_binary")


def buffers(array: Any) -> ArrowTexts:
    """The values of an array of strings or binaries as they lie in memory; ValueError if they cannot lie so."""
    integer = np.int64 if str(array.type).startswith("large") else np.int32
    _, offsets_buffer, data_buffer = array.buffers()
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.empty(0, np.uint8)
    if not len(array):
        return ArrowTexts(data, np.zeros(1, np.int64))
    raw = np.frombuffer(offsets_buffer, integer, count=array.offset + len(array) + 1)[array.offset :]
    offsets = raw.astype(np.int64, copy=False)
    # A file can say anything here, and pyarrow has looked at the last offset only.
    if offsets[0] < 0 or offsets[-1] > len(data) or bool((offsets[1:] < offsets[:-1]).any()):
        raise ValueError("its offsets leave the data")
    return ArrowTexts(data, offsets)


def _split(texts: ArrowTexts, size: int) -> Iterator[ArrowTexts]:
    for start, end in _cuts(texts.offsets, size):
        yield ArrowTexts(texts.data, texts.offsets[start : end + 1])


def _cuts(offsets: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Where to cut texts into groups of at most `size` bytes, or of one text."""
    start = 0
    while start < len(offsets) - 1:
        end = max(int(np.searchsorted(offsets, offsets[start] + size, "right")) - 1, start + 1)
        yield start, end
        start = end
