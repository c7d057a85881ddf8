"""Parquet and Arrow files -> the texts in one of their columns, in buffers, without an object for each.

Long because two formats, each opened and checked in its own way, hold arrays of seven types.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytepair.errors import BytepairError, SourceError
from bytepair.sources.compressed import arrow
from bytepair.sources.flat_rows import FlatTexts
from bytepair.sources.opening import REMOTE_BLOCK, is_url, open_raw, state, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_MOST_ROWS = 4096  # of Parquet at a time: how long the next ones are cannot be known
_AT_ONCE = 1 << 20  # bytes of Parquet that are decoded together, so that they are still near when they are used
_DECODED_ROWS = 1024  # of what must be copied to lie in one buffer
OF_NULL = "leave out the rows without text, or make them empty strings"
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class Columns(NamedTuple):
    """Some rows of a file: their texts, and their ids if there is a column of these; both as pyarrow has them.

    Attributes:
        texts: Strings or binaries, checked; values can be null.
        ids: Binaries without nulls, checked.
        first_row: The row of the first one.
        position: How much of the file has been read with them, in bytes.
    """

    texts: Any
    ids: Any | None
    first_row: int
    position: int


def null_value(field: str | None) -> str:
    """The message for a value that is null."""
    return f"a value of the column {_named(field)!r} is null"


def read(
    path: str | os.PathLike[str],
    content: str,
    field: str | None,
    size: int,
    *,
    id_field: str | None = None,
    start: int = 0,
    end: int | None = None,
) -> Iterator[Columns]:
    """A column of texts and a column of ids, some rows at a time.

    Args:
        path: The file, or its URL.
        content: ``parquet`` or ``arrow``.
        field: The column of texts; None for ``text``.
        size: About how many bytes the texts have together, where the format lets us choose.
        id_field: The column of ids: of strings, binaries or integers, which are written in decimal.
        start: The first row group of Parquet, or record batch of the Arrow file format, to read.
        end: The one behind the last; None for all.

    Raises:
        SourceError: There is no such column, or it holds something else; or ``pyarrow`` is not installed.
        ArtifactError: The file cannot be read, is cut off or damaged.
    """
    arrow(path)
    address = os.fspath(path)
    read_rows = _parquet if content == "parquet" else _ipc
    for texts, ids, first_row, position in readable(path, read_rows(address, (field, id_field), size, (start, end))):
        yield Columns(texts, ids, first_row, position)


def readable(path: str | os.PathLike[str], source: Iterator[Any]) -> Iterator[Any]:
    """The items of a source; errors of damaged files, which are of many types, become an ArtifactError."""
    pa = arrow(path)
    try:
        yield from source
    except BytepairError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError) as error:
        unreadable(path, error)


def _parquet(
    address: str, fields: tuple[str | None, str | None], size: int, bounds: tuple[int, int | None]
) -> Iterator[tuple[Any, Any | None, int, int]]:
    (field, id_field), (start, end) = fields, bounds
    with ExitStack() as stack:
        file, on_disk = _open_parquet(address, stack)
        name = text_column(file.schema_arrow, field, address)[1]
        id_name = None if id_field is None else _id_column(file.schema_arrow, id_field, address)[1]
        columns = [name] if id_name in (None, name) else [name, id_name]
        rows = file.metadata.num_rows
        first_row = done = sum(file.metadata.row_group(group).num_rows for group in range(start))
        for number in range(start, file.num_row_groups if end is None else end):
            group = file.metadata.row_group(number)
            # The size of one column is not used: where that is damaged, pyarrow ends the process.
            row_bytes = max(group.total_byte_size // max(group.num_rows, 1), 1)
            at_once = min(max(min(size, _AT_ONCE) // row_bytes, 1), _MOST_ROWS)
            expected = done + group.num_rows
            for batch in file.iter_batches(at_once, row_groups=[number], columns=columns, use_threads=False):
                texts, ids = batch.column(name), None if id_name is None else _ids(batch.column(id_name))
                check(texts)
                done += len(batch)
                yield texts, ids, done - len(batch), on_disk * (done - first_row) // max(rows, 1)
            if done != expected:
                unreadable(address, EOFError(f"row group {number} does not have its {group.num_rows} rows"))


def _open_parquet(address: str, stack: ExitStack) -> tuple[Any, int]:
    import pyarrow.parquet as pq

    # pyarrow could read a path as an address.
    source = stack.enter_context(open_raw(address))
    size = REMOTE_BLOCK if is_url(address) else 1 << 20
    options = {"buffer_size": size, "pre_buffer": False, "page_checksum_verification": True}
    on_disk = source.seek(0, os.SEEK_END)
    source.seek(0)
    return stack.enter_context(pq.ParquetFile(source, **options)), on_disk


def row_group_bytes(path: str) -> list[int]:
    """The sizes of the row groups of a Parquet file, in bytes before compression.

    Raises:
        ArtifactError: The file cannot be read, is cut off or damaged.
    """

    def sizes() -> Iterator[int]:
        with ExitStack() as stack:
            file = _open_parquet(path, stack)[0]
            yield from (file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups))

    return list(readable(path, sizes()))


def record_batches(path: str) -> int:
    """The number of record batches in a local file of the Arrow file format; 1 for the stream format.

    Raises:
        ArtifactError: The file cannot be read, is cut off or damaged.
    """
    pa = arrow(path)

    def count() -> Iterator[int]:
        with pa.memory_map(path) as file:
            yield pa.ipc.open_file(file).num_record_batches if file.read(6) == b"ARROW1" else 1

    return int(next(readable(path, count())))


def _ipc(
    address: str, fields: tuple[str | None, str | None], _: int, bounds: tuple[int, int | None]
) -> Iterator[tuple[Any, Any | None, int, int]]:
    import pyarrow as pa

    (field, id_field), (start, end) = fields, bounds
    on_disk = state(address).size
    with ExitStack() as stack:
        file = stack.enter_context(pa.PythonFile(open_raw(address)) if is_url(address) else pa.memory_map(address))
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
        schema = opened(file).schema
        column = text_column(schema, field, address)[0]
        id_column = None if id_field is None else _id_column(schema, id_field, address)[0]
        wanted = sorted({column, column if id_column is None else id_column})
        file.seek(0)
        reader = stack.enter_context(opened(file, options=pa.ipc.IpcReadOptions(included_fields=wanted)))

        def columns(batch: Any) -> tuple[Any, Any | None]:
            texts = batch.column(wanted.index(column))
            check(texts)
            return texts, None if id_column is None else _ids(batch.column(wanted.index(id_column)))

        first_row = 0
        if is_file:
            batches = reader.num_record_batches
            for number in range(start):
                first_row += reader.get_batch(number).num_rows
            for number in range(start, batches if end is None else end):
                batch = reader.get_batch(number)
                yield *columns(batch), first_row, on_disk * (number + 1 - start) // batches
                first_row += batch.num_rows
            return
        for batch in reader:
            yield *columns(batch), first_row, file.tell()
            first_row += batch.num_rows
        # The format lets a stream end without its mark, as one does that was cut off between two batches.
        at = file.tell()
        file.seek(max(at - len(_END_OF_STREAM), 0))
        if at != on_disk or file.read(len(_END_OF_STREAM)) != _END_OF_STREAM:
            unreadable(address, EOFError("the stream does not end with its end mark"), byte=at)


_NO_STRINGS = "it holds no strings: choose another source"


def _named(field: str | None) -> str:
    return "text" if field is None else field


def text_column(schema: Any, field: str | None, path: str | None) -> tuple[int, str]:
    """The number and the name of the column of texts.

    Raises:
        SourceError: There is no such column, or it holds something else.
    """
    texts = [column.name for column in schema if _is_text(column.type)]
    if field is None and "text" not in schema.names:
        known = ", ".join(map(repr, texts[:20])) + (" and others" if len(texts) > 20 else "")
        raise SourceError(
            "there is no column 'text'",
            file=path,
            remedy=f'pass field="NAME" with the column that holds the text, one of {known}' if texts else _NO_STRINGS,
            cli_remedy=f"--field NAME names the column that holds the text, one of {known}" if texts else None,
        )
    name = _named(field)
    found = schema.get_all_field_indices(name)
    if len(found) != 1 or not _is_text(schema.field(found[0]).type):
        what = f"there are {len(found)} columns {name!r}" if len(found) > 1 else f"there is no column {name!r}"
        if len(found) == 1:
            what = f"the column {name!r} holds {schema.field(found[0]).type}, not strings"
        raise SourceError(
            what, file=path, remedy=f"columns of strings are {', '.join(map(repr, texts[:20])) or 'none'}"
        )
    return found[0], name


def _id_column(schema: Any, name: str, path: str) -> tuple[int, str]:
    found = schema.get_all_field_indices(name)
    type_ = schema.field(found[0]).type if len(found) == 1 else None
    if type_ is None or not (_is_text(type_) or _is_number(type_)):
        known = [column.name for column in schema if _is_text(column.type) or _is_number(column.type)]
        what = f"there are {len(found)} columns {name!r}" if len(found) > 1 else f"there is no column {name!r}"
        raise SourceError(
            what if type_ is None else f"the column {name!r} holds {type_}, neither strings nor integers",
            file=path,
            remedy=f"columns that can be ids are {', '.join(map(repr, known[:20])) or 'none'}",
        )
    return found[0], name


def _is_text(type_: Any) -> bool:
    kind = str(type_)
    if kind.startswith("dictionary<"):
        kind = str(type_.value_type)
    return kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def _is_number(type_: Any) -> bool:
    return str(type_).lstrip("u") in ("int8", "int16", "int32", "int64", "null")


def _ids(array: Any) -> Any:
    """Ids as large binaries without nulls."""
    # A column of nothing but nulls can have no other type.
    if _is_number(array.type):
        return array.cast("string").view("binary").cast("large_binary").fill_null(b"")
    check(array)
    if hasattr(array, "dictionary"):
        words = _large(array.dictionary).fill_null(b"")
        return words.take(array.indices).fill_null(b"")
    return _large(array).fill_null(b"")


def valid_rows(array: Any) -> NDArray[np.bool_] | None:
    """A mask of the values of an array that are not null; None if no value is null."""
    is_dictionary = hasattr(array, "dictionary")
    if not (array.null_count or is_dictionary):
        return None
    nulls = array.is_null()
    if is_dictionary:
        # A value can be null there too, which not every release of pyarrow sees.
        nulls = array.dictionary.is_null().take(array.indices).fill_null(True)
    return ~nulls.to_numpy(zero_copy_only=False) if nulls.true_count else None


def check(array: Any) -> None:
    """Raise ValueError for sizes and offsets that cannot be; pyarrow would trust them, and read anywhere."""
    array.validate()
    if hasattr(array, "dictionary"):
        check(array.dictionary)
        numbers = array.indices.drop_null().to_numpy(zero_copy_only=False)
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(array.dictionary):
            raise ValueError("an index leaves its dictionary")
    elif str(array.type).endswith("_view"):
        array.view("binary_view").validate(full=True)
    else:
        buffers(array)


def split(array: Any, size: int, valid: NDArray[np.bool_] | None = None) -> Iterator[FlatTexts]:
    """The values of an array in groups of at most `size` bytes, or of one value; as they lie in memory if they do so in
    one buffer.

    Args:
        array: Strings or binaries.
        size: In bytes.
        valid: Those that are wanted, which are not null; None for all.
    """
    import pyarrow as pa

    if hasattr(array, "dictionary"):
        # Repeated values are copied a batch at a time.
        words, indices = _large(array.dictionary), array.indices
        if valid is not None:
            indices = indices.filter(pa.array(valid))
        ends = np.concatenate(([0], np.cumsum(np.diff(buffers(words).offsets)[indices.to_numpy()])))
        for start, end in _cuts(ends, size):
            yield buffers(words.take(indices.slice(start, end - start)))
        return
    views = str(array.type).endswith("_view")
    at_once = _DECODED_ROWS if views else max(len(array), 1)
    for start in range(0, len(array), at_once):
        values = _large(array.slice(start, at_once)) if views else array
        if valid is not None:
            values = values.filter(pa.array(valid[start : start + at_once]))
        texts = buffers(values)
        for first, end in _cuts(texts.offsets, size):
            yield FlatTexts(texts.data, texts.offsets[first : end + 1])


def _large(array: Any) -> Any:
    # As a view, since a cast would check that strings are UTF-8.
    kind = str(array.type)
    same = kind.replace("string", "binary")
    return array.view(same).cast("large_binary")


def taken(array: Any, rows: NDArray[np.int64]) -> FlatTexts:
    """Some values of an array without nulls, by their rows, which rise."""
    import pyarrow as pa

    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return buffers(array.slice(rows[0], len(rows)))
    return buffers(array.take(pa.array(rows)))


def buffers(array: Any) -> FlatTexts:
    """The values of an array of strings or binaries as they lie in memory; ValueError if they cannot lie so."""
    integer = np.int64 if str(array.type).startswith("large") else np.int32
    _, offsets_buffer, data_buffer = array.buffers()
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.empty(0, np.uint8)
    if not len(array):
        return FlatTexts(data, np.zeros(1, np.int64))
    raw = np.frombuffer(offsets_buffer, integer, count=array.offset + len(array) + 1)[array.offset :]
    offsets = raw.astype(np.int64, copy=False)
    # A damaged file can have any numbers here; pyarrow has checked the last offset only.
    if offsets[0] < 0 or offsets[-1] > len(data) or bool((offsets[1:] < offsets[:-1]).any()):
        raise ValueError("its offsets leave the data")
    return FlatTexts(data, offsets)


def _cuts(offsets: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """The positions that split texts into groups of at most `size` bytes, or of one text."""
    start = 0
    while start < len(offsets) - 1:
        end = max(int(np.searchsorted(offsets, offsets[start] + size, "right")) - 1, start + 1)
        yield start, end
        start = end
