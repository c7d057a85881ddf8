"""Readers return each document once, for all portions and batch sizes; damage is a fault, or an error.

Long because there are five kinds of inputs, each with an oracle and damage of its own.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import tarfile
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bytepair.errors import ArtifactError, BytepairError, EncodeError, LimitError, SourceError
from bytepair.sources.documents import LongDocument
from bytepair.sources.inputs import Input
from bytepair.sources.readers import check, portions, read
from bytepair.sources.source import Reading
from tests.conftest import HOSTILE
from tests.sources.reading import Document, documents, every_cut, of, only

quick = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
brief = settings(quick, max_examples=60)

WHOLE = Reading()


def split(data: bytes, delimiter: bytes) -> list[Document]:
    """The documents of a text, by the definition."""
    parts = data.split(delimiter)
    places = [sum(len(part) + len(delimiter) for part in parts[:number]) for number in range(len(parts))]
    found: list[Document] = [(place, part, None) for place, part in zip(places, parts, strict=True)]
    return found if parts[-1] else found[:-1]


# Plain text


@quick
@given(
    st.lists(st.sampled_from([b"a", b"b", b"\n", b"ab", b"aba"]), max_size=30).map(b"".join),
    st.sampled_from(["\n", "\n\n", "ab", "aa", "aba", "abab", "\na\n"]),
    st.sampled_from([1, 2, 3, 7, 50, 1000]),
)
def test_text_is_cut_where_split_cuts_it_whatever_the_portions(
    tmp_path: Path, data: bytes, delimiter: str, batch_bytes: int
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    source, reading = only(path), Reading(delimiter=delimiter)
    expected = split(data, delimiter.encode())
    assert documents(source, reading, None, batch_bytes) == (expected, [])
    for cuts in every_cut(source, reading):
        assert documents(source, reading, cuts, batch_bytes) == (expected, [])


@brief
@given(st.integers(0, 2**32), st.sampled_from(["\n\n", "aaa", "abab", "\0\0"]), st.integers(7, 300))
def test_runs_of_a_delimiter_are_cut_alike(tmp_path: Path, seed: int, delimiter: str, size: int) -> None:
    random_ = Random(seed)
    units = [delimiter, delimiter[0], delimiter[: len(delimiter) // 2], "x", "x" * 99]
    data = "".join(random_.choice(units) * random_.choice([1, 1, 2, 20]) for _ in range(12)).encode()
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    source, reading = only(path), Reading(delimiter=delimiter)
    expected = split(data, delimiter.encode())
    for batch_bytes in (random_.randint(4, 600), 1 << 20):
        assert documents(source, reading, portions(source, reading, size), batch_bytes) == (expected, [])


def test_a_document_belongs_to_the_portion_in_which_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"<|end|>".join(b"x" * size for size in [3, 0, 0, 12, 1, 40, 2]))
    reading = Reading(delimiter="<|end|>")
    for size in range(1, 50):
        for start, end in portions(only(path), reading, size):
            for given_documents in read(only(path), start, end, reading, 100):
                assert not isinstance(given_documents, LongDocument)
                for place in given_documents.positions.tolist():
                    assert start <= place < (10**9 if end is None else end)


@brief
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60))
def test_documents_that_are_too_long_are_faults(tmp_path: Path, seed: int, longest: int, batch_bytes: int) -> None:
    random_ = Random(seed)
    data = b"--".join(bytes(random_.choices(b"-ab", [1, 30, 30], k=random_.randint(0, 80))) for _ in range(20))
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(data))
    plain = tmp_path / "a.txt"
    plain.write_bytes(data)
    reading = Reading(delimiter="--", longest=longest)
    expected = [one for one in split(data, b"--") if len(one[1]) <= longest]
    long = [place for place, text, _ in split(data, b"--") if len(text) > longest]
    for source in (only(path), only(plain)):
        found, faults = documents(source, reading, None, batch_bytes)
        assert found == expected
        assert [fault.position for fault in faults] == long
        assert all(isinstance(fault.error, LimitError) and fault.error.byte == fault.position for fault in faults)
    cuts = portions(only(plain), reading, 37)
    assert [fault.position for fault in documents(only(plain), reading, cuts, batch_bytes)[1]] == long


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("batch_bytes", [1, 10, 1 << 20])
def test_a_file_without_a_delimiter_is_one_document(tmp_path: Path, text: str, batch_bytes: int) -> None:
    data = text.encode()
    plain, packed = tmp_path / "a", tmp_path / "a.zst"
    plain.write_bytes(data)
    packed.write_bytes(pa.Codec("zstd").compress(data, asbytes=True))
    for path in (plain, packed):
        assert documents(only(path), WHOLE, None, batch_bytes) == ([(0, data, None)], [])
        assert portions(only(path), WHOLE, 1) == [(0, None)]
        found, faults = documents(only(path), Reading(longest=5), None, batch_bytes)
        assert (not found, [fault.position for fault in faults]) == ((True, [0]) if len(data) > 5 else (False, []))


def test_what_is_left_of_a_long_document_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 1000 + b"\n" + b"y\n" + b"z" * 500)
    found = []
    for given_documents in read(only(path), 0, None, Reading(delimiter="\n"), 50):
        if isinstance(given_documents, LongDocument):
            first = next(given_documents.parts)
            found.append((given_documents.position, first[:1]))
        else:
            found += [(place, text) for place, text, _ in of(given_documents)]
    assert found == [(0, b"x"), (1001, b"y"), (1003, b"z")]


def test_memory_does_not_grow_with_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", 1) as file:
        for _ in range(30):
            file.write(b"low lower lowest " * (1 << 16))
        file.write(b"\n" + b"n" * 100)
    lines = tmp_path / "a.jsonl.gz"
    with gzip.open(lines, "wb", 1) as file:
        file.write(b'{"text": "' + b"low lower lowest " * (1 << 20) + b'"}\n' + b'{"text": "n"}\n')

    def peak(source: Input, reading: Reading) -> tuple[int, int]:
        tracemalloc.start()
        size = 0
        for given_documents in read(source, 0, None, reading, 1 << 20):
            if isinstance(given_documents, LongDocument):
                with contextlib.suppress(LimitError):
                    for part in given_documents.parts:
                        size += len(part)
            else:
                size += int(given_documents.texts.lengths.sum())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size, most

    size, most = peak(only(path), Reading(delimiter="\n"))
    assert size == 30 * 17 * (1 << 16) + 100
    assert most < 8 << 20
    size, most = peak(only(path), Reading(delimiter="\n", longest=3 << 20))
    assert size < 5 << 20
    assert most < 8 << 20
    size, most = peak(only(lines), Reading(longest=1 << 20))
    assert size == 1
    assert most < 8 << 20


# Lines of JSON


def jsonl(random_: Random) -> tuple[bytes, list[Document], list[int]]:
    """A file, its documents, and the places of its bad lines."""
    data, good, bad = b"\xef\xbb\xbf" * random_.randint(0, 1), [], []
    for number in range(random_.randint(0, 25)):
        place = len(data)
        text = random_.choice(HOSTILE)[: random_.randint(0, 30)]
        kind = random_.randrange(12)
        if kind == 0:
            data += random_.choice([b"", b"  ", b"\t\r"])
        elif kind == 1:
            data += random_.choice(
                [b"{", b"[]", b'{"text": null}', b'{"text": 5}', b"{}", b'{"text": "\xff"}', b"x" * 90]
            )
            bad.append(place)
        else:
            id_, written = random_.choice([("k", "k"), ("", None), ("7", 7), (str(2**64 - 1), 2**64 - 1)])
            value: dict[str, Any] = {"text": text, "other": [number, {"text": 1}], "id": written}
            if id_ == "" and random_.random() < 0.5:
                del value["id"]
            data += json.dumps(value, ensure_ascii=random_.random() < 0.5).encode()
            good.append((place, text.encode(), id_.encode()))
        data += random_.choice([b"\n", b"\n", b"\r\n"])
    if random_.random() < 0.5:
        data = data.removesuffix(b"\n")
    bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    return (
        data,
        [(place if place > bom else 0, text, id_) for place, text, id_ in good],
        [place if place > bom else 0 for place in bad],
    )


@brief
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 17, 200, 1 << 20]))
def test_lines_of_json_are_read_in_any_portions(tmp_path: Path, seed: int, batch_bytes: int) -> None:
    data, expected, bad = jsonl(Random(seed))
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.ndjson.gz"
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    reading = Reading(id_field="id")
    lines = {place: line for place, line, _ in split(data, b"\n")}
    random_ = Random(seed)
    for source in (only(path), only(packed)):
        for size in (random_.randint(1, 9), random_.randint(10, 400), source.size):
            cuts = portions(source, reading, max(size, 1))
            found, faults = documents(source, reading, cuts, batch_bytes)
            assert found == expected
            assert [fault.position for fault in faults] == bad
            for fault in faults:
                assert fault.data is not None
                assert fault.data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r") in lines[fault.position]
                assert fault.error.file == source.address
                assert fault.error.byte is not None
                assert fault.error.byte >= fault.position


@brief
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([1, 17, 200, 1 << 20]))
def test_lines_that_are_too_long_are_faults(tmp_path: Path, seed: int, longest: int, batch_bytes: int) -> None:
    random_ = Random(seed)
    lines = [json.dumps({"text": "x" * random_.randint(0, 60)}).encode() for _ in range(20)]
    data = b"\n".join(lines) + b"\n" * random_.randint(0, 1)
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    source, reading = only(path), Reading(longest=longest)
    places = {place: line for place, line, _ in split(data, b"\n")}
    for size in (1, 10, 77, 10_000):
        found, faults = documents(source, reading, portions(source, reading, size), batch_bytes)
        assert found == [
            (place, json.loads(line)["text"].encode(), None) for place, line in places.items() if len(line) <= longest
        ]
        assert [fault.position for fault in faults] == [place for place, line in places.items() if len(line) > longest]
        assert all(fault.data is None for fault in faults)


# Parquet and Arrow

TYPES = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]


def table(random_: Random, type_: str, rows: int) -> tuple[Any, list[str | None], list[Any]]:
    texts = [None if random_.random() < 0.1 else random_.choice(HOSTILE)[: random_.randint(0, 40)] for _ in range(rows)]
    ids = random_.choice(
        [
            pa.array([random_.choice([None, number]) for number in range(rows)], "uint32"),
            pa.array([random_.choice([None, f"k{number}"]) for number in range(rows)]),
            pa.array([random_.choice(["same", None]) for _ in range(rows)]).dictionary_encode(),
        ]
    )
    if type_ == "dictionary":
        column = pa.array(texts, "string").dictionary_encode()
    else:
        values = [text if text is None or "binary" not in type_ else text.encode() for text in texts]
        column = pa.array(values, type_)
    return pa.table({"n": range(rows), "nested": [{"id": 1}] * rows, "text": column, "id": ids}), texts, ids.to_pylist()


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("ends", [".parquet", ".arrow", ".arrows"])
@pytest.mark.parametrize("seed", range(4))
def test_columns_are_read_in_any_portions(tmp_path: Path, type_: str, ends: str, seed: int) -> None:
    random_ = Random(seed)
    rows = random_.choice([0, 1, 30, 60])
    data, texts, ids = table(random_, type_, rows)
    path = tmp_path / f"a{ends}"
    if ends == ".parquet":
        pq.write_table(data, path, row_group_size=random_.choice([1, 7, 100]), compression="snappy")
    else:
        options = pa.ipc.IpcWriteOptions(compression=random_.choice([None, "lz4"]), unify_dictionaries=True)
        with (pa.ipc.new_stream if ends == ".arrows" else pa.ipc.new_file)(
            path, data.schema, options=options
        ) as writer:
            writer.write_table(data, max_chunksize=7)
    source = only(path)
    longest = random_.choice([None, 10])
    reading = Reading(id_field="id", longest=longest)
    good = [
        (row, text.encode(), str("" if id_ is None else id_).encode())
        for row, (text, id_) in enumerate(zip(texts, ids, strict=True))
        if text is not None and (longest is None or len(text.encode()) <= longest)
    ]
    bad = sorted(set(range(rows)) - {row for row, _, _ in good})
    for size in (1, source.size // 3, source.size):
        cuts = portions(source, reading, max(size, 1))
        for batch_bytes in (1, 50, 1 << 20):
            found, faults = documents(source, reading, cuts, batch_bytes)
            assert found == good
            assert sorted(fault.position for fault in faults) == bad
            for fault in faults:
                assert isinstance(fault.error, EncodeError if texts[fault.position] is None else LimitError)
                assert fault.error.row == fault.position


def test_portions_of_columns_are_about_as_large_as_they_shall_be(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    column = [random.Random(7).randbytes(50).hex() for _ in range(10_000)]
    pq.write_table(pa.table({"text": column}), path, row_group_size=100)
    size = path.stat().st_size
    cuts = portions(only(path), WHOLE, size // 10)
    assert 9 <= len(cuts) <= 11
    assert cuts[0][0] == 0
    assert cuts[-1][1] is None
    assert [end for _, end in cuts[:-1]] == [start for start, _ in cuts[1:]]
    assert portions(only(path), WHOLE, size) == [(0, None)]


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (Reading(field="no"), "no column 'no'"),
        (Reading(field="n"), "holds int64, not strings"),
        (Reading(id_field="no"), "no column 'no'"),
        (Reading(id_field="nested"), "neither strings nor integers"),
    ],
)
def test_columns_that_are_not_there_are_named(tmp_path: Path, reading: Reading, says: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(Random(1), "string", 3)[0], path)
    with pytest.raises(SourceError, match=says) as caught:
        documents(only(path), reading)
    assert caught.value.file == str(path)


# Archives


def archive(random_: Random, format_: int) -> tuple[bytes, list[Document], list[int]]:
    buffer = io.BytesIO()
    good: list[Document] = []
    bad = []
    with tarfile.open(fileobj=buffer, mode="w", format=format_) as tar:

        def add(name: str, data: bytes) -> None:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for number in range(random_.randint(0, 8)):
            long = [] if format_ == tarfile.USTAR_FORMAT else ["ü" * 120 + "/", "d" * 300 + "/"]
            key = random_.choice(["", "./", "a.b/c/", "d" * 110 + "/", *long]) + f"{number:03d}"
            if random_.random() < 0.2:
                folder = tarfile.TarInfo(f"folder{number}")
                folder.type = tarfile.DIRTYPE
                tar.addfile(folder)
            if random_.random() < 0.2:
                add("README", b"no sample")
            text = random_.choice(HOSTILE).encode() * random_.randint(0, 3)
            members = [(".json", b"{}"), (".seg.txt", b"other")]
            if random_.random() < 0.8:
                members.append((random_.choice([".txt", ".TXT"]), text))
                good.append((number, text, key.encode()))
            else:
                bad.append(number)
            random_.shuffle(members)
            for extension, data in members:
                add(key + extension, data)
    return buffer.getvalue(), good, bad


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("seed", range(12))
def test_samples_are_read_as_they_were_put_in(tmp_path: Path, format_: int, seed: int) -> None:
    data, good, bad = archive(Random(seed), format_)
    plain, packed = tmp_path / "a.tar", tmp_path / "a.tgz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    for path in (plain, packed):
        for batch_bytes in (1, 1000, 1 << 20):
            found, faults = documents(only(path), WHOLE, None, batch_bytes)
            assert found == good
            assert [fault.position for fault in faults] == bad
        longest = 50
        found, faults = documents(only(path), Reading(longest=longest), None, 100)
        assert found == [one for one in good if len(one[1]) <= longest]
        assert len(faults) == len(bad) + sum(len(one[1]) > longest for one in good)


def test_a_field_of_json_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    values = [b'{"caption": "low"}', b'{\n "caption": "lower"\n}', b"{", b'{"caption": 5}', b"{}", b"[]", b'"\\ud800"']
    with tarfile.open(path, "w") as tar:
        for number, value in enumerate(values):
            info = tarfile.TarInfo(f"{number}.json")
            info.size = len(value)
            tar.addfile(info, io.BytesIO(value))
    found, faults = documents(only(path), Reading(field="json:caption"))
    assert found == [(0, b"low", b"0"), (1, b"lower", b"1")]
    assert [(fault.position, fault.data) for fault in faults] == [*enumerate(values)][2:]
    assert [text for _, text, _ in documents(only(path), Reading(field="json"))[0]] == values


def member(name: bytes, data: bytes, kind: bytes = b"0", size: bytes = b"", signed: bool = False) -> bytes:
    """A member as written by old programs."""
    header = name.ljust(124, b"\0") + (size or b"%011o\0" % len(data)).ljust(12, b"\0") + bytes(12)
    total = sum(byte - 256 * (signed and byte > 127) for byte in header + kind) + 256
    header += b"%06o\0 " % total + kind
    return header.ljust(512, b"\0") + data + bytes(-len(data) % 512)


def test_old_archives_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    link, folder = member(b"4.txt", b"", b"2", b"%011o" % 999), member(b"5.txt/", b"", b"\0")
    size = b"\x80" + (5).to_bytes(11, "big")
    samples_ = member(b"1.txt", b"low") + member("ü.txt".encode(), b"lower", b"\0", size, signed=True)
    path.write_bytes(samples_ + link + folder + member(b".txt", b"hidden") + member(b"d.e/f", b"none") + bytes(1024))
    assert documents(only(path), WHOLE) == ([(0, b"low", b"1"), (1, b"lower", "ü".encode())], [])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "cut off"),
        (member(b"1.txt", b"low"), "cut off"),
        (member(b"1.txt", b"low") + bytes(1024) + member(b"2.txt", b"low"), "data after its end"),
        (member(b"1.txt", b"", b"S"), "sparse files"),
        (member(b"1.txt", b"", b"L", b"\x80" + (1 << 40).to_bytes(11, "big")), "a name of"),
        (member(b"1.txt", b"", b"0", b"\x80" + (1 << 70).to_bytes(11, "big")), "cut off"),
        (member(b"1.txt", b"", b"0", b"-5"), "a number in a header"),
        (member(b"1.txt", b"", b"0", b"89"), "invalid literal"),
        (member(b"1.txt", b"x")[:100] + b"y" + member(b"1.txt", b"x")[101:], "checksum"),
        (member(b"pax", b"99 path=a.txt\n", b"x"), "extended header"),
        (member(b"pax", b"9 size=x\n", b"x") + member(b"1.txt", b""), "extended header"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match=says) as caught:
        documents(only(path), WHOLE)
    assert caught.value.file == str(path)


def test_two_members_of_one_extension_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for name in ("1.txt", "1.TXT"):
            tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(ArtifactError, match=r"two members \.txt"):
        documents(only(path), WHOLE)


# Damage


def samples(folder: Path) -> list[Path]:
    """A small file of each kind."""
    data = pa.table({"text": ["low", "lower", "lowest"] * 4, "id": range(12)})
    pq.write_table(data, folder / "a.parquet", row_group_size=5)
    for name, start in (("a.arrow", pa.ipc.new_file), ("a.arrows", pa.ipc.new_stream)):
        with start(folder / name, data.schema) as writer:
            writer.write_table(data, max_chunksize=5)
    lines = b"".join(json.dumps({"text": "low " * size, "id": size}).encode() + b"\n" for size in range(12))
    (folder / "a.tar").write_bytes(archive(Random(3), tarfile.PAX_FORMAT)[0][:8192] + b"\0" * 1024)
    (folder / "a.tar.gz").write_bytes(gzip.compress(archive(Random(5), tarfile.GNU_FORMAT)[0]))
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "a.txt.zst").write_bytes(pa.Codec("zstd").compress(lines, asbytes=True))
    return sorted(path for path in folder.iterdir() if path.name.startswith("a."))


NAMES = ["a.arrow", "a.arrows", "a.jsonl.gz", "a.parquet", "a.tar", "a.tar.gz", "a.txt.zst"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, name: str) -> None:
    assert [path.name for path in samples(tmp_path)] == NAMES
    data = (tmp_path / name).read_bytes()
    if name == "a.tar":
        data = archive(Random(3), tarfile.PAX_FORMAT)[0]
        data = data.rstrip(b"\0") + b"\0" * (-len(data.rstrip(b"\0")) % 512)
    path = tmp_path / f"cut-{name}"
    step = max(len(data) // 40, 1)
    for size in [*range(0, len(data), step), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(ArtifactError) as caught:
            documents(only(path), Reading())
        assert caught.value.file == str(path)
        assert caught.value.remedy


@pytest.mark.parametrize("name", NAMES)
def test_flipped_bits_give_an_error_or_documents(tmp_path: Path, name: str) -> None:
    samples(tmp_path)
    data = (tmp_path / name).read_bytes()
    path = tmp_path / f"flip-{name}"
    random_ = Random(11)
    for _ in range(300):
        flipped = bytearray(data)
        flipped[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
        path.write_bytes(flipped)
        ids = None if "tar" in name or "txt" in name else "id"
        with contextlib.suppress(BytepairError):
            documents(only(path), Reading(id_field=ids), portions(only(path), WHOLE, len(data) // 3))


def test_a_file_that_changed_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"low\nlower\n")
    source = only(path)
    path.write_bytes(b"low\nlower\nlowest\n")
    with pytest.raises(ArtifactError, match="had 10 bytes, and has 17"):
        documents(source, Reading(delimiter="\n"))
    path.unlink()
    with pytest.raises(ArtifactError, match="No such file"):
        documents(source, Reading(delimiter="\n"))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    for name, line in (("a.txt", b"low\n"), ("a.jsonl", b'{"text": "low"}\n')):
        path = tmp_path / name
        path.write_bytes(line * 10_000)
        reading = Reading(delimiter="\n" if name == "a.txt" else None)
        found = read(only(path), 0, None, reading, 4096)
        next(found)
        path.write_bytes(line * 5_000)
        with pytest.raises(ArtifactError, match="has changed"):
            list(found)


def test_options_without_effect_are_refused() -> None:
    text = Input("a.txt", "/a.txt", "text", None, 1, "")
    rows = Input("a.jsonl", "/a.jsonl", "jsonl", None, 1, "")
    tar = Input("a.tar", "/a.tar", "tar", None, 1, "")
    check([text, rows], Reading(field="a", id_field="b", delimiter="c", longest=1))
    check([tar], Reading(field="a"))
    for inputs, reading in [
        ([text], Reading(field="a")),
        ([text], Reading(id_field="a")),
        ([tar], Reading(id_field="a")),
        ([rows, tar], Reading(delimiter="a")),
    ]:
        with pytest.raises(SourceError, match="has no effect"):
            check(inputs, reading)
    for reading in (Reading(delimiter=""), Reading(longest=0)):
        with pytest.raises(ValueError, match=r"would|between"):
            check([text], reading)
