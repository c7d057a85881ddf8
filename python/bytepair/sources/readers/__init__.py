"""Inputs -> documents: the one reader of every call, with a module for each kind of input; and how inputs are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from bytepair.errors import SourceError
from bytepair.sources import compressed, opening
from bytepair.sources.inputs import Given, Input, changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.sources.documents import Documents, GivenDocuments, LongDocument
    from bytepair.sources.inputs import AnyInput
    from bytepair.sources.source import Reading

_OF_OPTIONS = {
    "field": ("jsonl", "parquet", "arrow", "tar", "dataset"),
    "id_field": ("jsonl", "parquet", "arrow"),
    "delimiter": ("text",),
}
_NAMES = {"texts": "an iterable of texts", "dataset": "a data set in memory"}


def check(inputs: Sequence[AnyInput], reading: Reading) -> None:
    r"""Check options against the inputs they are for, and that packages are installed; opens no file.

    Raises:
        SourceError: An option would have no effect; or ``pyarrow`` is required and not installed.
        ValueError: The delimiter is empty, `longest` is below 1, or a name is no text.
        TypeError: The delimiter or the name of a field is no str.

    Example:
        >>> from bytepair.sources.source import Reading
        >>> check([Input("a.txt", "/a.txt", "text", None, 5, "")], Reading(delimiter="\n"))
        >>> check([Input("a.txt", "/a.txt", "text", None, 5, "")], Reading(field="content"))
        Traceback (most recent call last):
        bytepair.errors.SourceError: the field 'content' has no effect on text files (file a.txt); leave it out
    """
    for option in _OF_OPTIONS:
        value = getattr(reading, option)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{option}={value!r} is no str")
        if value is not None and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError(f"{option}={value!r} holds half a surrogate pair, and is no text")
    if reading.delimiter == "":
        raise ValueError("delimiter='' is between all characters; leave it out to have each file as one document")
    if reading.longest is not None and reading.longest < 1:
        raise ValueError(f"longest={reading.longest} would leave no document; use 1 or more")
    contents = sorted({one.content for one in inputs})
    for option, of in _OF_OPTIONS.items():
        value = getattr(reading, option)
        if value is not None and contents and not set(contents) & set(of):
            files = ", ".join(content for content in contents if content not in _NAMES)
            given = [_NAMES[content] for content in contents if content in _NAMES]
            raise SourceError(
                f"the {option.replace('_', ' ')} {value!r} has no effect on "
                f"{' and '.join([f'{files} files'] * bool(files) + given)}",
                file=inputs[0].name,
                remedy="leave it out; the id of a sample in a tar file is its key"
                if "tar" in contents and option == "id_field"
                else "leave it out",
            )
    for one in inputs:
        if isinstance(one, Input) and (one.compression == "zstd" or one.content in ("parquet", "arrow")):
            compressed.arrow(one.name)


def portions(input: Input, reading: Reading, size: int) -> list[tuple[int, int | None]]:
    """The portions of an input; each document is in exactly one.

    Uncompressed text with a delimiter, and lines of JSON, are cut by bytes; Parquet by row groups; files of the Arrow
    file format on this machine by record batches. All else is one portion, and so is an input of at most `size` bytes,
    which is not opened.

    Args:
        input: The input.
        reading: How documents are found.
        size: About how many bytes of the input, as they are stored, a portion has.

    Returns:
        The start and the end of each portion, in bytes, row groups or record batches; None is the end of the input.

    Raises:
        ArtifactError: The input cannot be read.
        SourceError: ``pyarrow`` is required and not installed.
        ValueError: `size` is below 1.

    Example:
        >>> from bytepair.sources.source import Reading
        >>> portions(Input("a.jsonl", "/a.jsonl", "jsonl", None, 250, ""), Reading(), 100)
        [(0, 100), (100, 200), (200, None)]
    """
    if size < 1:
        raise ValueError(f"portions of size={size} bytes would hold nothing; use 1 or more")
    if input.size <= size or input.compression:
        return [(0, None)]
    if input.content == "jsonl" or (input.content == "text" and reading.delimiter is not None):
        starts = range(0, input.size, size)
        return [(start, start + size if start + size < input.size else None) for start in starts]
    if input.content == "parquet" or (input.content == "arrow" and input.is_local):
        from bytepair.sources.readers import columnar

        return columnar.portions(input, size)
    return [(0, None)]


@overload
def read(
    input: Input, start: int, end: int | None, reading: Reading, batch_bytes: int, *, errors: str = ...
) -> Iterator[Documents | LongDocument]: ...


@overload
def read(
    input: AnyInput, start: int, end: int | None, reading: Reading, batch_bytes: int, *, errors: str = ...
) -> Iterator[Documents | GivenDocuments | LongDocument]: ...


def read(
    input: AnyInput,
    start: int,
    end: int | None,
    reading: Reading,
    batch_bytes: int,
    *,
    errors: str = "strict",
) -> Iterator[Documents | GivenDocuments | LongDocument]:
    r"""The documents of a portion, in order. All portions together hold each document once, whatever their sizes.

    Memory: a few times `batch_bytes`, and the longest value of a column, line of JSON or member of a tar file, which
    `reading.longest` bounds. A document of plain text with more than `batch_bytes` is returned in parts.

    Args:
        input: The input.
        start: Where the portion starts; see `portions`. 0 for an input that is not cut.
        end: Where it ends; None for the end of the input.
        reading: How documents are found.
        batch_bytes: About how many bytes of documents a batch has.
        errors: For JSON that is not UTF-8 or holds half a surrogate pair: ``strict`` makes it a fault, ``replace``
            replaces it with U+FFFD. Other texts are returned as they are stored.

    Raises:
        ArtifactError: The input is gone, has another size than when it was found, is cut off or damaged.
        SourceError: There is no such column, or it holds something else; or ``pyarrow`` is not installed.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from bytepair.sources.inputs import find
        >>> from bytepair.sources.source import Reading
        >>> with TemporaryDirectory() as folder:
        ...     with open(f"{folder}/a.txt", "wb") as file:
        ...         _ = file.write(b"low\nlower\n")
        ...     (found,) = find(f"{folder}/a.txt")
        ...     (documents,) = read(found, 4, None, Reading(delimiter="\n"), 1 << 20)
        >>> documents.texts.to_list(), documents.positions.tolist()
        ([b'lower'], [4])
    """
    if batch_bytes < 1:
        raise ValueError(f"batch_bytes={batch_bytes} would hold nothing; use 1 or more")
    if isinstance(input, Given):
        if input.content == "texts":
            from bytepair.sources.readers import given

            return given.read(input, batch_bytes)
        from bytepair.sources.readers import columnar

        return columnar.read_data_set(input, reading, batch_bytes)
    _check_size(input)
    if input.content == "text":
        from bytepair.sources.readers import text

        return text.read(input, start, end, reading, batch_bytes)
    if input.content == "jsonl":
        from bytepair.sources.readers import jsonl

        return jsonl.read(input, start, end, reading, batch_bytes, errors=errors)
    if input.content == "tar":
        from bytepair.sources.readers import tar

        return tar.read(input, reading, batch_bytes, errors)
    from bytepair.sources.readers import columnar

    return columnar.read(input, start, end, reading, batch_bytes)


def _check_size(input: Input) -> None:
    size = opening.state(input.address).size
    if size != input.size:
        raise changed(input, size)
