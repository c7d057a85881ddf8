"""Lines of JSON: texts and ids as `json` reads them, and an error for each faulty line alone."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from fuzz.streams import check_lines

import bytepair as bp
from bytepair._core import json_fields
from bytepair.sources.flat_rows import FlatTexts


def texts(data: Any, offsets: Any) -> list[bytes]:
    return FlatTexts(data, offsets).to_list()


def test_fields_are_those_of_json() -> None:
    draw, rows = random.Random(3), []
    for number in range(2000):
        text = "".join(
            draw.choices(["low", "\n", '"', "\\", "é", "\U0001f600", "\x7f", "\u2028"], k=draw.randint(0, 9))
        )
        rows.append({"id": number, "meta": {"text": [1, None, "x"]}, "text": text} if number % 2 else {"text": text})
    lines = [json.dumps(row, ensure_ascii=draw.random() < 0.5).encode() for row in rows]
    data = b"\n".join(lines)
    got, offsets, starts, ids, id_offsets, faults = json_fields(data, "text", "id")
    assert texts(got, offsets) == [row["text"].encode() for row in rows]  # type: ignore[attr-defined]  # rows hold str here
    assert texts(ids, id_offsets) == [str(row.get("id", "")).encode() for row in rows]
    assert starts.tolist() == [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    assert [array.dtype for array in (got, offsets, starts)] == [np.uint8, np.int64, np.int64]
    assert faults == []
    assert json_fields(data, "text", None)[3:5] == (None, None)


def test_random_lines() -> None:
    for number in range(300):
        check_lines(random.Random(f"lines {number}"))


def test_a_mark_is_passed_over_only_where_a_file_begins() -> None:
    data = b'\xef\xbb\xbf{"text": "low"}\n \t\r\n\xef\xbb\xbf{"text": "low"}\n'
    read = json_fields(data, "text", None, first=True)
    assert (texts(*read[:2]), read[2].tolist(), [fault[:2] for fault in read[5]]) == ([b"low"], [0], [(23, 41)])
    read = json_fields(data, "text", None)
    assert [fault[:2] for fault in read[5]] == [(0, 18), (23, 41)]
    read = json_fields(b"\xef\xbb\xbf\n", "text", None, first=True)
    assert (len(read[2]), read[5]) == (0, [])


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        (b"{", bp.FormatError, "cannot read the line as a JSON object: .*, character 1"),
        (b"[]", bp.FormatError, "expected an object with a text"),
        (b'{"text": null}', bp.FormatError, "null, expected a text"),
        (b'{"text": "a", "id": true}', bp.FormatError, "expected an id, which is a string or an integer"),
        (b'{"text": "a", "id": 1.5}', bp.FormatError, "floating point"),
        (b'{"text": "a", "id": 1, "id": 1}', bp.FormatError, 'the field "id" occurs twice'),
        (b'{"body": "a"}', bp.FormatError, 'no field "text".*field="NAME" .*, one of "body"'),
        (b'{"text": "\\ud800"}', bp.EncodeError, 'the text in field "text" holds half'),
        (b'{"text": "a", "id": "\\ud800"}', bp.EncodeError, 'the id in field "id" holds half'),
    ],
)
def test_what_is_wrong_is_said_of_its_line(line: bytes, error: type[bp.BytepairError], message: str) -> None:
    data = b'{"text": "low"}\n' + line + b'\n{"text": "low"}'
    got, offsets, starts, _, _, faults = json_fields(data, "text", "id")
    assert texts(got, offsets) == [b"low", b"low"]
    assert starts.tolist() == [0, 17 + len(line)]
    [(start, end, found)] = faults
    assert data[start:end] == line
    assert type(found) is error
    with pytest.raises(error, match=message):
        raise found


def test_what_is_not_utf8_is_placed_in_its_line_or_replaced() -> None:
    data = b'{"text": "low"}\n{"text": "\xc3\xa9\xff"}\r\n'
    [(start, end, error)] = json_fields(data, "text", None)[5]
    assert (start, end, type(error), error.byte, error.character) == (16, 32, bp.EncodeError, 12, 11)
    read = json_fields(data, "text", None, errors="replace")
    assert texts(*read[:2]) == [b"low", "é\ufffd".encode()]
    read = json_fields(b'\xef\xbb\xbf{"text": "\xff"}', "text", None, first=True)
    assert read[5][0][2].byte == 13


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be both"):
        json_fields(b"", "text", "text")
    with pytest.raises(ValueError, match="errors="):
        json_fields(b"", "text", None, errors="ignore")
    read = json_fields(b"", "text", "id", first=True)
    assert [array.tolist() for array in read[:5] if array is not None] == [[], [0], [], [], [0]]
