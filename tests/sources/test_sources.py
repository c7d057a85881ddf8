"""Texts written in any format are read back, in batches of any size; faults of a file are reported.

Long because there are eleven kinds of files, and each can be wrong in ways of its own.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bytepair as bp
from bytepair.sources import readers
from bytepair.sources.compressed import blocks
from bytepair.sources.digest import SourceDigest, TextsHash
from bytepair.sources.documents import Documents, GivenDocuments
from bytepair.sources.flat_rows import FlatTexts
from bytepair.sources.inputs import AnyInput, find, total_size
from bytepair.sources.source import Reading, Text, holds_counts
from bytepair.training.memory import parse_bytes
from bytepair.training.weights import multipliers, parse_group, parse_weight
from tests.conftest import HOSTILE

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None

needs_arrow = pytest.mark.skipif(pa is None, reason="pyarrow is not installed")

COLUMN_TYPES = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]


def documents(seed: int, count: int = 40) -> list[str]:
    random = Random(seed)
    texts = [random.choice(HOSTILE)[: random.randint(0, 60)] * random.randint(0, 3) for _ in range(count)]
    return [*texts, "x" * 5000, ""]


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def parts_of(data: bytes, seed: int) -> list[bytes]:
    """Cut in three, anywhere."""
    cuts = sorted(Random(seed).choices(range(len(data) + 1), k=2))
    return [data[: cuts[0]], data[cuts[0] : cuts[1]], data[cuts[1] :]]


def as_jsonl(texts: list[str], seed: int) -> bytes:
    random = Random(seed)
    lines = []
    for text in texts:
        record = [("text", text), ("n", random.randint(0, 9)), ("more", {"text": ["no", None]})]
        random.shuffle(record)
        lines.append(json.dumps(dict(record), ensure_ascii=random.random() < 0.5).encode())
        lines += random.choices([b"", b" \t"], k=random.choice([0, 0, 0, 1, 3]))
    return b"\xef\xbb\xbf" * (seed % 2) + random.choice([b"\n", b"\r\n"]).join(lines) + b"\n" * random.randint(0, 2)


def table(texts: list[str], column_type: str) -> Any:
    if column_type == "dictionary":
        column = pa.array(texts).dictionary_encode()
    else:
        column = pa.array([text.encode() for text in texts] if "binary" in column_type else texts, column_type)
    return pa.table({"n": range(len(texts)), "text": column})


def write_arrow(path: Path, data: Any, *, stream: bool) -> None:
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, data.schema) as writer:
        writer.write_table(data, max_chunksize=7)


def found_in(source: Any, **options: Any) -> tuple[AnyInput, ...]:
    reading = Reading(**options)
    found = find(source)
    readers.check(found, reading)
    return found


def batches_of(source: Any, batch_bytes: int = 16 << 20, **options: Any) -> Iterator[Documents | GivenDocuments]:
    reading = Reading(**options)
    for one in found_in(source, **options):
        for batch in readers.read(one, 0, None, reading, batch_bytes):
            assert isinstance(batch, (Documents, GivenDocuments))
            yield batch


def texts_in(batch: Documents | GivenDocuments) -> list[Text]:
    return batch.texts if isinstance(batch.texts, list) else [*batch.texts.to_list()]


def texts_of(source: Any, **options: Any) -> list[Text]:
    return [text for batch in batches_of(source, **options) for text in texts_in(batch)]


def as_bytes(texts: list[Text]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]


def read(source: Any, **options: Any) -> Counter[bytes]:
    """The texts of a source and how often each occurs: without a split each is one piece, unless it is empty."""
    counts = bp.Counts.of(source, split="none", digest=False, **options)
    return Counter({row.piece: row.count for row in counts})


def counter_of(texts: list[Text]) -> Counter[bytes]:
    return Counter(filter(None, as_bytes(texts)))


def check_rows(source: Path, expected: list[str]) -> None:
    for batch_bytes in (1, 50, 4000, 16 << 20):
        texts: list[Text] = []
        position = 0
        for batch in list(batches_of(source, batch_bytes)):  # they outlive the file
            assert [*batch.positions] == [*range(len(texts), len(texts) + len(batch.texts))]
            assert position <= batch.passed <= source.stat().st_size
            position = batch.passed
            texts += texts_in(batch)
            assert sum(map(len, as_bytes(texts_in(batch)))) <= batch_bytes or len(batch.texts) == 1
        assert as_bytes(texts) == [text.encode() for text in expected]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL.gz", ".jsonl.zst"])
def test_lines_are_read_back(tmp_path: Path, suffix: str, seed: int) -> None:
    texts = documents(seed)
    data = as_jsonl(texts, seed)
    if suffix.endswith(".gz"):
        data = b"".join(map(gzip.compress, parts_of(data, seed)))
    elif suffix.endswith(".zst"):
        pytest.importorskip("pyarrow")
        data = b"".join(map(zstd, parts_of(data, seed)))
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(data)
    for threads, memory in ((1, None), (2, 40_000), (7, None)):
        told: list[bp.Progress] = []
        assert read([path], threads=threads, memory=memory, progress=told.append) == counter_of([*texts])
        done = [state.done for state in told]
        assert done == sorted(done)
        assert done[-1] == told[-1].total == len(data)


@needs_arrow
@pytest.mark.parametrize("column_type", COLUMN_TYPES)
@pytest.mark.parametrize("kind", ["rows.parquet", "plain.parquet", "file.arrow", "stream.arrow", "a.feather", "b.ipc"])
def test_columns_are_read_back(tmp_path: Path, kind: str, column_type: str) -> None:
    path = tmp_path / kind
    texts = documents(len(kind) + len(column_type))
    data = table(texts, column_type)
    if path.suffix == ".parquet":
        pq.write_table(data, path, row_group_size=9, use_dictionary=kind[0] == "r", write_page_checksum=True)
    else:
        write_arrow(path, data, stream=kind[0] == "s")
    check_rows(path, texts)


@needs_arrow
def test_what_lies_in_one_buffer_is_not_copied(tmp_path: Path) -> None:
    write_arrow(tmp_path / "a.arrow", table(["low", "lower"] * 100, "string"), stream=False)
    for batch in batches_of(tmp_path / "a.arrow"):
        assert isinstance(batch.texts, FlatTexts)
        assert batch.texts.offsets.dtype == "int64"
        assert not batch.texts.data.flags.owndata


@needs_arrow
def test_a_text_that_repeats_is_copied_a_batch_at_a_time(tmp_path: Path) -> None:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, "int32"), ["x" * 100_000])
    write_arrow(tmp_path / "a.arrow", pa.table({"text": repeated}), stream=True)
    sizes = [batch.texts.data.size for batch in batches_of(tmp_path / "a.arrow") if isinstance(batch, Documents)]
    assert len(sizes) > 1
    assert max(sizes) <= 16 << 20


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_texts_are_one_text(tmp_path: Path, suffix: str) -> None:
    if suffix == ".zst":
        pytest.importorskip("pyarrow")
    text = "".join(documents(3, 2000)).encode()
    parts = parts_of(text, 3)
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(b"".join(map(gzip.compress if suffix == ".gz" else zstd, parts)))
    for size in (1000, 16 << 20):
        found = list(blocks(path, {".gz": "gzip", ".zst": "zstd"}[suffix], size))
        assert b"".join(found) == text
        assert max(map(len, found)) <= size
    told: list[bp.Progress] = []
    assert read(path, progress=told.append) == {text: 1}
    assert told[-1].done == told[-1].total == path.stat().st_size
    assert read(path) == {text: 1}


def small_files(folder: Path) -> Iterator[tuple[Path, set[int]]]:
    """Files, and the places where each may be cut unnoticed: between members or frames."""
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"low lower " * 9) + gzip.compress(b"more"))
    yield folder / "a.txt.gz", {len(gzip.compress(b"low lower " * 9))}
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "low"}\n{"text": "lower"}\n'))
    yield folder / "a.jsonl.gz", set()
    if pa is None:
        return
    (folder / "a.txt.zst").write_bytes(zstd(b"low lower " * 9) + zstd(b"more"))
    yield folder / "a.txt.zst", {len(zstd(b"low lower " * 9))}
    data = table(["low", "lower"] * 9, "string")
    pq.write_table(data, folder / "a.parquet", row_group_size=9)
    yield folder / "a.parquet", set()
    for name in ("a.arrow", "stream.arrow"):
        write_arrow(folder / name, data, stream=name[0] == "s")
        yield folder / name, set()


def test_a_file_that_is_cut_off_is_never_read_short(tmp_path: Path) -> None:
    for path, allowed in small_files(tmp_path):
        data = path.read_bytes()
        read(path)
        # All of those that are short, and at the end of long ones, where the marks are.
        for length in sorted(
            {*range(min(len(data), 100)), *range(0, len(data), 11), *range(len(data) - 20, len(data))}
        ):
            path.write_bytes(data[:length])
            if length in allowed:
                read(path)
                continue
            with pytest.raises(bp.ArtifactError) as caught:
                read(path)
            assert caught.value.file == str(path), length
            assert "cut off or damaged" in caught.value.remedy


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.zst", "a.jsonl.gz", "a.parquet", "a.arrow", "a.feather"])
@pytest.mark.parametrize("data", [b"", b"plain text, and enough of it to be read", b"\0" * 50, b"FEA1" * 20])
def test_what_is_not_what_its_name_says(tmp_path: Path, name: str, data: bytes) -> None:
    if not name.endswith("gz"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(bp.ArtifactError, match="file ") as caught:
        read(tmp_path / name)
    assert caught.value.file == str(tmp_path / name)


def test_bytes_behind_the_end_are_refused(tmp_path: Path) -> None:
    for path, _ in small_files(tmp_path):
        path.write_bytes(path.read_bytes() + b"something else")
        with pytest.raises(bp.ArtifactError):
            read(path)


@needs_arrow
def test_hostile_offsets_and_indices_are_refused(tmp_path: Path) -> None:
    import numpy as np

    def strings(offsets: list[int]) -> Any:
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"lowlower")]
        return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)

    index = pa.DictionaryArray.from_arrays(pa.array([0, 7], "int32"), ["low"], safe=False)
    words = pa.DictionaryArray.from_arrays(pa.array([0, 0], "int32"), strings([0, 900, 8]))
    for column in (strings([0, 900, 8]), strings([0, 5, 3, 8]), index, words):
        write_arrow(tmp_path / "a.arrow", pa.table({"text": column}), stream=False)
        with pytest.raises(bp.ArtifactError):
            read(tmp_path / "a.arrow")


@needs_arrow
@pytest.mark.parametrize("column_type", COLUMN_TYPES[:6])
def test_bytes_that_are_not_utf8_are_passed_on(tmp_path: Path, column_type: str) -> None:
    column = pa.array([b"ok", b"\xff\xfe", b"\xff" * 20], column_type.replace("string", "binary")).view(column_type)
    write_arrow(tmp_path / "a.arrow", pa.table({"text": column}), stream=True)
    assert texts_of(tmp_path / "a.arrow") == [b"ok", b"\xff\xfe", b"\xff" * 20]


@needs_arrow
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_columns_that_do_not_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def write(data: Any) -> None:
        pq.write_table(data, path) if path.suffix == ".parquet" else write_arrow(path, data, stream=False)

    write(pa.table({"n": [1], "body": ["low"], "title": ["lower"], "deep": [{"text": "x"}]}))
    with pytest.raises(bp.TrainingError, match=r"no column 'text' .*one of 'body', 'title'"):
        read(path)
    assert texts_of(path, field="body") == [b"low"]
    with pytest.raises(bp.TrainingError, match=r"no column 'deep\.text' .* are 'body', 'title'"):
        texts_of(path, field="deep.text")
    with pytest.raises(bp.TrainingError, match="the column 'n' holds int64, not strings"):
        texts_of(path, field="n")
    write(pa.table({"a.b": ["low"], "a": [{"b": "no"}]}))
    assert texts_of(path, field="a.b") == [b"low"]
    write(pa.table({"n": [1]}))
    with pytest.raises(bp.TrainingError, match="it holds no strings"):
        read(path)
    write(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]))
    with pytest.raises(bp.TrainingError, match="there are 2 columns 'text'"):
        read(path)
    for nulls in (pa.array(["a"] * 20 + [None]), pa.array(["a"] * 20 + [None]).dictionary_encode()):
        write(pa.table({"text": nulls}))
        with pytest.raises(bp.TrainingError, match=r"is null \(file .*, row 20\); leave out"):
            read(path)
    if name == "a.arrow":  # Parquet has no such thing
        write(pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0, 1], "int32"), pa.array(["a", None]))}))
        with pytest.raises(bp.TrainingError, match="row 1"):
            read(path)
    write(pa.table({"text": pa.array([], "string")}))
    assert read(path) == {}


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        (b'{"text": "a"', bp.TrainingError, "EOF while parsing an object, character 12"),
        (b'{"text": "a"} {"text": "b"}', bp.TrainingError, "trailing characters, character 15"),
        (b"nonsense", bp.TrainingError, "cannot read the line as a JSON object"),
        (b'{"text": "a\tb"}', bp.TrainingError, "control character"),
        (b'{"text": "a", "n": NaN}', bp.TrainingError, "expected value"),
        (b"[" * 100_000, bp.TrainingError, "cannot read the line"),
        (b'{"text": ' + b'{"a":' * 100_000, bp.TrainingError, "cannot read the line"),
        (b'{"n": ' + b'{"a":' * 100_000, bp.TrainingError, "cannot read the line"),
        (b'{"n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", bp.TrainingError, "there is no field"),
        (b'["text"]', bp.TrainingError, 'sequence, expected an object with a text in the field "text"'),
        (b"12", bp.TrainingError, "integer `12`, expected an object"),
        (b'"text"', bp.TrainingError, "expected an object"),
        (b'{"text": "\xff"}', bp.EncodeError, "not UTF-8"),
        (b'{"text": "a\\ud800"}', bp.EncodeError, "half a surrogate pair"),
        (
            b'{"texts": "a"}',
            bp.TrainingError,
            'no field "text" .*field="NAME" with the field that holds the text, one of "texts"',
        ),
        (b'{"n": 1}', bp.TrainingError, 'no field "text" .*field="NAME".*; this line has none'),
        (b'{"text": "a", "text": "b"}', bp.TrainingError, 'the field "text" occurs twice'),
        (b'{"text": null}', bp.TrainingError, "null, expected a text"),
        (b'{"text": 5}', bp.TrainingError, "integer `5`, expected a text"),
        (b'{"text": true}', bp.TrainingError, "boolean `true`, expected a text"),
        (b'{"text": {"a": 1}}', bp.TrainingError, "map, expected a text"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, line: bytes, error: type[bp.BytepairError], says: str) -> None:
    data = b'{"text": "a"}\n\n{"text": "b"}\n' + line + b'\n{"text": "c"}\n'
    for path, content in ((tmp_path / "a.jsonl", data), (tmp_path / "a.jsonl.gz", gzip.compress(data))):
        path.write_bytes(content)
        for threads, memory in ((1, None), (3, 40_000)):
            with pytest.raises(error, match=says) as caught:
                read(path, threads=threads, memory=memory)
            assert (caught.value.file, caught.value.line, caught.value.row) == (str(path), 4, None)
            assert caught.value.remedy


def test_the_first_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [b'{"text": "some words"}'] * 60_000
    for wrong in (40_001, 40_002, 59_000):
        lines[wrong] = b"{}"
    path.write_bytes(b"\n".join(lines))
    for threads, memory in ((1, None), (2, None), (7, None), (64, None), (7, 40_000)):
        with pytest.raises(bp.TrainingError, match="no field") as caught:
            read(path, threads=threads, memory=memory)
        assert caught.value.line == 40_002
    # Text before the place where reading fails is counted first.
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" + b" " * (9 << 20))[:-9])
    for threads in (1, 2):
        with pytest.raises(bp.TrainingError, match="line 1") as caught:
            read(path, threads=threads)


def test_a_missing_field_names_no_more_than_twenty_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({f"name{number:02}": "x" for number in range(30)} | {"n": 1}))
    with pytest.raises(bp.TrainingError, match=r'"name00", .*"name19" and others') as caught:
        read(path)
    assert "name20" not in str(caught.value)


def test_lines_of_json_that_are_odd_and_right(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "\\ud800x"}', "", '{"text": "", "n": ' + "9" * 9999 + "}", '{"text": "\u2028\u0085\\n"}', " "]
    path.write_text("\n".join(lines), "utf-8")
    assert read(path, errors="replace") == {"\ufffdx".encode(): 1, "\u2028\u0085\n".encode(): 1}
    for empty in (b"", b"\n\n\r\n", b"\xef\xbb\xbf"):
        path.write_bytes(empty)
        assert read(path) == {}
    path.write_bytes(b'{"n": 1, "body": "a", "title": "b"}')
    with pytest.raises(bp.TrainingError, match=r'line 1\); pass field="NAME" .* "body", "title"'):
        read(path)
    assert read(path, field="title") == {b"b": 1}
    with pytest.raises(bp.TrainingError, match='no field ""'):
        read(path, field="")


def test_every_file_of_lines_may_start_with_a_mark(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b'\xef\xbb\xbf{"text": "low"}\r\n{"text": "low"}')
    assert read(str(tmp_path / "*.jsonl")) == {b"low": 4}
    assert read(str(tmp_path / "*.jsonl"), start=77) == {b"low": 4}
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "low"}\n\xef\xbb\xbf{"text": "low"}')
    with pytest.raises(bp.TrainingError, match="line 2"):
        read(tmp_path / "b.jsonl")


def test_paths_and_globs_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "sub/c.txt", "d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "folder.txt").mkdir()
    found = find([str(tmp_path / "d.md"), f"{tmp_path}/**/*.txt", str(tmp_path / "a.txt")])
    assert total_size(found) == 23
    names = ["d.md", "a.txt", "b.txt", "sub/c.txt"]
    assert [one.name for one in found] == [str(tmp_path / name) for name in names]
    (tmp_path / "[odd].txt").write_text("a name that is no glob")
    assert len(find(tmp_path / "[odd].txt")) == 1
    with pytest.raises(bp.SourceError, match="is a folder; name the files in it, such as"):
        find(tmp_path / "sub")
    with pytest.raises(bp.SourceError, match="no file matches"):
        find([str(tmp_path / "a.txt"), "no/such/*.txt"])
    with pytest.raises(bp.SourceError, match="no file matches"):
        find("a\0b")


def test_groups(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    (tmp_path / "b.txt").write_text("lower")
    found = find({"en": f"{tmp_path}/*.txt", "own": iter(["x", b"y"])})
    assert [one.group for one in found] == ["en", "en", "own"]
    assert total_size(found) is None
    assert total_size(find({"en": [tmp_path / "a.txt"], "fr": [tmp_path / "a.txt"]})) == 6
    assert holds_counts({}) is holds_counts({"a": 1, b"b": 2}) is True
    assert holds_counts({"a": "b", "c": ["d"]}) is holds_counts({"a": 1.5}) is False
    with pytest.raises(TypeError, match="'b' has str"):
        holds_counts({"a": 1, "b": "x"})


def test_iterables_come_in_batches() -> None:
    texts: list[Text] = ["x" * 100, "", b"y" * 300, "ä\ud800", b"\xff"]
    for batch_bytes in (1, 200, 16 << 20):
        batches = list(batches_of(iter(texts), batch_bytes))
        assert [text for batch in batches for text in texts_in(batch)] == texts
        assert [row for batch in batches for row in batch.positions] == [*range(5)]
        assert all(texts_in(batch) for batch in batches)
    assert texts_of(iter([])) == []
    assert texts_of([b"a"]) == [b"a"]


@pytest.mark.parametrize(
    ("source", "options", "error", "says"),
    [
        (
            iter(["a"]),
            {"field": "text"},
            bp.SourceError,
            "the field 'text' has no effect on an iterable of texts; leave",
        ),
        (
            {"a": iter(["a"])},
            {"delimiter": "x"},
            bp.SourceError,
            "the delimiter 'x' has no effect on an iterable of texts",
        ),
        (iter(["a"]), {"id_field": "n"}, bp.SourceError, "the id field 'n' has no effect on an iterable of texts"),
        (iter(["a"]), {"field": 5}, TypeError, "field=5 is no str"),
        (iter(["a"]), {"delimiter": ""}, ValueError, "delimiter='' is between all characters"),
        ({"a", "b"}, {}, TypeError, "a source is a set"),
        (["a", b"b"], {}, TypeError, "not both"),
        (b"abc", {}, TypeError, r"list of texts: \[text\]"),
        (5, {}, TypeError, "a source is int, not paths, URLs, or an iterable"),
        ({"low": 5}, {}, bp.SourceError, "a mapping of pieces to counts; name the texts"),
        ({"en": {"a": 1}}, {}, TypeError, "'en' is a mapping, .*; groups cannot hold groups"),
        ({"en": 1.5}, {}, TypeError, "'en' is float"),
        ({"": "x"}, {}, TypeError, "no name of a group"),
        ({1: "x"}, {}, TypeError, "no name of a group"),
        (iter(["a"]), {"batch_bytes": 0}, ValueError, "batch_bytes=0"),
    ],
)
def test_sources_that_are_none(source: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        list(batches_of(source, **options))


def test_files_that_cannot_be_read_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "a.txt.gz", "a.1.xz", "a.tar.xz", "a.parquet.gz", "a.parquet", "a.zst"):
        (tmp_path / name).write_bytes(b"x")
    for name in ("a.txt", "a.txt.gz"):
        with pytest.raises(
            bp.SourceError, match=r"the field 'body' has no effect on text files \(file .*a\.txt.*leave it"
        ):
            found_in(tmp_path / name, field="body")
    for name, ends in (("a.tar.xz", r"^\.xz"), ("a.1.xz", r"^\.xz"), ("a.parquet.gz", r"^\.parquet\.gz")):
        with pytest.raises(bp.SourceError, match=rf"{ends} files cannot be read \(file .*; decompress it"):
            find(tmp_path / name)
    with pytest.raises(TypeError, match="text 1 of the source is int"):
        texts_of(iter(["a", 3]))
    with (tmp_path / "a.txt").open() as file, pytest.raises(TypeError, match="file object"):
        find(file)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("a.parquet", "a.zst"):
        with pytest.raises(bp.SourceError, match=r"pip install 'pyarrow"):
            found_in(tmp_path / name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt.gz", "a.txt.zst", "a.parquet", "a.arrow"])
def test_a_file_that_is_gone(tmp_path: Path, name: str) -> None:
    if Path(name).suffix not in (".jsonl", ".gz"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(b"x")
    (one,) = find(tmp_path / name)
    (tmp_path / name).unlink()
    with pytest.raises(bp.ArtifactError, match="check the path"):
        list(readers.read(one, 0, None, Reading(), 1000))
    with pytest.raises((bp.ArtifactError, bp.TrainingError), match=r"check the path|no file matches"):
        read(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden here")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"x")
    (tmp_path / "a.jsonl").chmod(0)
    with pytest.raises(bp.ArtifactError, match="permission"):
        read(tmp_path / "a.jsonl")


def test_sizes_of_memory() -> None:
    for size, expected in (("1", 1), ("2kb", 2000), (" 2 KiB ", 2048), ("0.5T", 5 * 10**11), ("1.0001K", 1000), (7, 7)):
        assert parse_bytes(size) == expected
    for wrong in ("", "GB", "-1", "1e9", "0", "0.4", "1 PB", "1..2", "1GBB", 0, -5, True, 1.5, None, "٢GB"):
        with pytest.raises(ValueError, match="not a size of memory, such as"):
            parse_bytes(wrong)  # type: ignore[arg-type]  # on purpose


def test_weights_are_exact() -> None:
    random = Random(1)
    for _ in range(300):
        weights = {str(i): Decimal(random.randint(1, 10**5)).scaleb(-random.randint(0, 4)) for i in range(4)}
        numbers, denominator = multipliers(weights)
        assert {group: Fraction(number, denominator) for group, number in numbers.items()} == weights
        assert multipliers({group: str(weight) for group, weight in weights.items()}) == (numbers, denominator)
        assert multipliers({group: float(weight) for group, weight in weights.items()}) == (numbers, denominator)
    assert multipliers({"a": Fraction(1, 3), "b": Fraction(1, 2), "c": "1e-2"}) == ({"a": 100, "b": 150, "c": 3}, 300)
    assert multipliers({}) == ({}, 1)
    assert multipliers({"a": 2**63 - 1}) == ({"a": 2**63 - 1}, 1)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        *[(weight, "not above 0; leave the group out") for weight in (0, "0", "-1", -0.5, "0e999999999")],
        *[(weight, "is no number") for weight in ("nan", float("inf"), "-inf", "sNaN", "", "1/3", "x" * 9999)],
        *[(weight, "too many digits") for weight in ("1e999999999", "1e-999999999", "0." + "1" * 50)],
        *[(weight, "below 2") for weight in (2**63, "1e-30", "1e30")],
    ],
)
def test_weights_that_are_none(weight: Any, says: str) -> None:
    with pytest.raises(bp.TrainingError, match=says):
        multipliers({"a": weight})


def test_arguments_of_groups() -> None:
    assert parse_weight("en=1e-1") == ("en", Decimal("0.1"))
    assert parse_group("en=a=b.txt") == ("en", "a=b.txt")
    for wrong in ("", "en", "=1", "en=", "en=x", "a=b=1"):
        with pytest.raises(bp.TrainingError):
            parse_weight(wrong)
    for wrong in ("", "en", "=x", "en="):
        with pytest.raises(bp.TrainingError, match="GROUP=PATH"):
            parse_group(wrong)
    with pytest.raises(TypeError, match="'a' is bool"):
        multipliers({"a": True})


def test_digests_add_up(tmp_path: Path) -> None:
    files = []
    for index, text in enumerate(documents(7, 10)):
        files.append(tmp_path / str(index))
        files[-1].write_text(text, "utf-8")

    def digest(paths: list[Path], *iterables: Sequence[Text]) -> SourceDigest:
        result = SourceDigest()
        for path in paths:
            result.add_file(path)
        for texts in iterables:
            result.add_texts(texts)
        return result

    whole = digest(files, ["a", b"b"])
    assert digest(files[::-1], ["a", b"b"]) == whole
    assert digest(files[3:]) + digest(files[:3], ["a", "b"]) == whole
    assert SourceDigest.from_hex(whole.hex()) == whole
    assert len({digest([], *texts) for texts in ([["ab", "c"]], [["a", "bc"]], [["abc"]], [["abc", ""]], [])}) == 5
    in_batches = TextsHash()
    in_batches.update(["a\ud800"])
    in_batches.update([b"b"])
    from_batches = SourceDigest()
    from_batches.add(in_batches.digest())
    assert from_batches == digest([], ["a\ud800", "b"])
    with pytest.raises(bp.ArtifactError, match="check the path"):
        digest([tmp_path / "none"])
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        SourceDigest.from_hex("ab")


def test_nothing_here_is_imported_with_the_package() -> None:
    import subprocess

    code = (
        "import sys, bytepair; sys.exit(any(name.split('.')[1:2] in (['sources'], ['shards']) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("text", ["low " * 2000, "a\0b"])
def test_a_text_for_a_path_is_said(text: str) -> None:
    for call in (lambda: bp.train([text], vocab_size=257), lambda: bp.Counts.of([text])):
        with pytest.raises(bp.SourceError, match=r"no file matches .* pass iter\(texts\)"):
            call()
