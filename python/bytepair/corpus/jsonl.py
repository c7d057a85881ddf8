"""Files of one JSON object a line -> the texts in one of their fields.

The two steps are apart: blocks of whole lines are cut without a look at the JSON, so that the core could parse them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from bytepair.corpus.compressed import ByteReader
from bytepair.corpus.parts import Batch
from bytepair.errors import BytepairError, EncodeError, FormatError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bytepair.corpus.parts import Text

_LONGEST_LINE = 1 << 30
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"

# Objects become tuples of pairs, which tells a key that stands twice, and costs less than dictionaries would. Numbers
# become floats, since int() refuses long ones. The decoder's own methods cost more than the parser underneath.
_scan = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float).scan_once  # type: ignore[attr-defined]  # untyped
_NAMES = {str: "a string", list: "an array", tuple: "an object", float: "a number", bool: "a boolean"}


class Block(NamedTuple):
    """Whole lines (the last one may lack its end), the number of the first, and how much of the file was read."""

    data: bytes
    first_line: int
    position: int


def blocks(path: Path, compression: str | None, size: int) -> Iterator[Block]:
    """A file of lines, cut into blocks at the ends of lines. A byte order mark at its start is taken off.

    Args:
        path: The file.
        compression: ``gzip``, ``zstd`` or None.
        size: About how many bytes a block has; more only if one line does.

    Raises:
        ArtifactError, TrainingError: The file cannot be read (see `ByteReader`); a line is longer than 1 GiB.
    """
    first_line = 1
    with ByteReader(path, compression) as reader:
        begun: list[bytes] = []
        length = 0
        while data := reader.read(size):
            end = data.rfind(b"\n") + 1
            if end:
                block = b"".join((*begun, data[:end]))
                yield Block(block.removeprefix(_BOM) if first_line == 1 else block, first_line, reader.position)
                first_line += block.count(b"\n")
                begun, length = [], 0
            begun.append(data[end:])
            length += len(begun[-1])
            if length > _LONGEST_LINE:
                raise TrainingError(
                    "a line is longer than 1 GiB",
                    file=str(path),
                    line=first_line,
                    remedy="write one JSON object a line",
                )
        if length:
            block = b"".join(begun)
            yield Block(block.removeprefix(_BOM) if first_line == 1 else block, first_line, reader.position)


def batches(path: Path, compression: str | None, field: str | None, size: int) -> Iterator[Batch]:
    """The texts of a file, a batch for each block. Blank lines are passed over: they are lines, but not rows.

    Args:
        path: The file.
        compression: ``gzip``, ``zstd`` or None.
        field: The key whose value is the text. None takes ``text`` if the first row has it.
        size: See `blocks`.

    Raises:
        FormatError: A line is not JSON, or not an object; ``line`` says which.
        EncodeError: A line is not UTF-8.
        TrainingError: A line lacks the field, or has it twice, or it is no string; or see `blocks`.
        ArtifactError: The file cannot be read.
    """
    first_row = 0
    for block in blocks(path, compression, size):
        texts: list[Text] = []
        lines: list[int] = []
        for line, data in enumerate(block.data.split(b"\n"), block.first_line):
            if stripped := data.strip(_SPACE):
                try:
                    record = _record(stripped)
                    if field is None:
                        field = _only_field(record)
                    texts.append(_text(record, field))
                except BytepairError as error:
                    error.file, error.line = str(path), line
                    raise
                lines.append(line)
        if texts:
            whole = lines[-1] - lines[0] + 1 == len(lines)
            known = range(lines[0], lines[-1] + 1) if whole else lines
            yield Batch(texts, first_row, block.position, str(path), known)
        first_row += len(texts)


def _record(line: bytes) -> tuple[tuple[str, Any], ...]:
    try:
        text = line.decode()
        record, end = _scan(text, 0)
    except UnicodeDecodeError as error:
        raise EncodeError("the line is not UTF-8", remedy="convert the file to UTF-8") from error
    except StopIteration as error:
        _not_json(error, text, error.value)
    except json.JSONDecodeError as error:
        _not_json(error, text, error.pos)
    except RecursionError as error:
        raise FormatError("the line is nested too deeply", remedy="keep the text in a plain field") from error
    if end != len(text):
        _not_json(None, text, end)
    if type(record) is not tuple:
        raise FormatError(f"the line is {_name(record)}, not an object", remedy="write one JSON object a line")
    return record


def _not_json(cause: BaseException | None, text: str, position: int) -> NoReturn:
    shown = f"before {text[position : position + 20]!r}" if position < len(text) else "at its end"
    raise FormatError(f"the line is not JSON: it goes wrong {shown}", remedy="write one JSON object a line") from cause


def _only_field(record: tuple[tuple[str, Any], ...]) -> str:
    if any(name == "text" for name, _ in record):
        return "text"
    raise no_text_field([name for name, value in record if isinstance(value, str)])


def no_text_field(names: list[str]) -> TrainingError:
    """The error for rows that have no field ``text`` where none was named."""
    known = ", ".join(map(repr, names[:20])) + (" and others" if len(names) > 20 else "")
    return TrainingError(
        "there is no field 'text'",
        remedy=f"name the field that holds the text: field=... is one of {known}"
        if names
        else "the rows hold no strings: choose another source",
    )


def _text(record: tuple[tuple[str, Any], ...], field: str) -> str:
    found = [value for name, value in record if name == field]
    if len(found) != 1:
        raise TrainingError(
            f"the field {field!r} stands there {len(found)} times" if found else f"there is no field {field!r}",
            remedy="each line has the field once: leave out the others",
        )
    if type(found[0]) is not str:
        raise TrainingError(
            f"the field {field!r} is {_name(found[0])}, not a string",
            remedy="leave the line out, or name another field",
        )
    return found[0]


def _name(value: object) -> str:
    return _NAMES.get(type(value), "null")
