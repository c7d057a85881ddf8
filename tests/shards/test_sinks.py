"""Shards are read back by readers of the published formats; their bytes depend on the documents alone."""

from __future__ import annotations

import ast
import errno
import json
import struct
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bytepair.errors import ArtifactError, FormatError
from bytepair.shards.sinks import FORMATS, Encoded, documents_table, megatron, row_groups, table
from bytepair.sources.flat_rows import FlatTexts
from tests.shards.shards import INPUTS, Document, encoded, files_of, flat, random_documents, write_shard

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FLAT = ["bin", "npy", "megatron"]
TABLES = ["parquet", "arrow"]
LARGEST = [50_000, 200_000]


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_table, "_ROWS", 5)
    monkeypatch.setattr(table, "_ROWS", 7)
    monkeypatch.setattr(table, "_TOKENS", 60)


def read_back(format: str, folder: Path, stem: str, largest: int) -> tuple[Any, list[Document] | None]:
    """The ids of all documents, and the shard's own record of documents."""
    path = folder / f"{stem}.{'bin' if format == 'megatron' else format}"
    if format == "bin":
        return np.fromfile(path, np.uint16 if largest < 1 << 16 else np.uint32).tolist(), None
    if format == "npy":
        return np.load(path, mmap_mode="r").tolist(), None
    if format == "megatron":
        return read_megatron(path)
    if format == "parquet":
        with path.open("rb") as file:
            rows = pq.ParquetFile(file).read()
    else:
        with path.open("rb") as file:
            rows = pa.ipc.open_file(file).read_all()
    assert rows.schema.names == ["input_ids", "id", "input", "position"]
    assert rows.schema.field("input_ids").type.value_type == (pa.uint16() if largest < 1 << 16 else pa.uint32())
    documents = [
        Document(row["input_ids"], INPUTS.index(row["input"]), row["position"], (row["id"] or "").encode())
        for row in rows.to_pylist()
    ]
    return flat(documents), documents


def read_megatron(path: Path) -> tuple[list[int], list[Document]]:
    """By the description of the format: an index of sequences, and of documents as ranges of them."""
    index = path.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, indices = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    kind: np.dtype[Any] = np.dtype({4: "<i4", 8: "<u2"}[code])
    at = 34
    lengths = np.frombuffer(index, "<i4", sequences, at)
    pointers = np.frombuffer(index, "<i8", sequences, at + 4 * sequences)
    documents = np.frombuffer(index, "<i8", indices, at + 12 * sequences)
    assert len(index) == at + 12 * sequences + 8 * indices
    assert documents.tolist() == list(range(sequences + 1))
    data = path.read_bytes()
    found = [
        np.frombuffer(data, kind, length, pointer).tolist()
        for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True)
    ]
    return [id for ids in found for id in ids], [Document(ids, 0, 0, b"") for ids in found]


def rows_of_table(documents: list[Document]) -> list[dict[str, Any]]:
    rows, start = [], 0
    for document in documents:
        rows.append(
            {
                "input": INPUTS[document.input],
                "position": document.position,
                "id": document.name.decode() or None,
                "start": start,
                "tokens": len(document.ids),
            }
        )
        start += len(document.ids)
    return rows


def read_table(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file:
        rows: list[dict[str, Any]] = pq.ParquetFile(file).read().to_pylist()
    return rows


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("format", [*FLAT, *TABLES])
@pytest.mark.parametrize("largest", LARGEST)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_is_read_back(format: str, largest: int, seed: int, tmp_path: Path) -> None:
    random = Random(f"{format} {largest} {seed}")
    documents = random_documents(random, random.choice([0, 1, 40, 90]), largest, named=seed % 2 == 0)
    write_shard(format, tmp_path, "train-00003", documents, largest, random)
    ids, said = read_back(format, tmp_path, "train-00003", largest)
    assert ids == flat(documents)
    if format == "megatron":
        assert said is not None
        assert [document.ids for document in said] == [document.ids for document in documents]
    elif said is not None:
        assert said == documents
    if format in FLAT:
        assert read_table(tmp_path / "train-00003.documents.parquet") == rows_of_table(documents)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("format", [*FLAT, *TABLES])
@pytest.mark.parametrize("seed", range(6))
def test_bytes_are_those_of_the_documents_alone(format: str, seed: int, tmp_path: Path) -> None:
    """The same bytes for all batch sizes, for documents in parts, and with dropped documents in between."""
    random = Random(f"{format} {seed}")
    documents = random_documents(random, random.choice([1, 14, 60]), LARGEST[seed % 2])
    write_shard(format, tmp_path / "a", "val-00000", documents, LARGEST[seed % 2], random, long=False)
    write_shard(format, tmp_path / "b", "val-00000", documents, LARGEST[seed % 2], random)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("format", FLAT)
@pytest.mark.parametrize("seed", range(6))
def test_joined_shards_are_one_shard_of_all(format: str, seed: int, tmp_path: Path) -> None:
    random = Random(f"join {format} {seed}")
    largest = LARGEST[seed % 2]
    parts = [random_documents(random, random.choice([0, 3, 30]), largest) for _ in range(random.randint(0, 4))]
    (tmp_path / "parts").mkdir()
    for number, documents in enumerate(parts):
        write_shard(format, tmp_path / "parts", f"train-{number:05}", documents, largest, random)
    (tmp_path / "joined").mkdir()
    join = FORMATS[format].join
    assert join is not None
    places = [tmp_path / "parts" / f"train-{number:05}" for number in range(len(parts))]
    join(places, tmp_path / "joined", "train", FORMATS[format].dtype(largest), INPUTS)
    write_shard(format, tmp_path / "whole", "train", [document for part in parts for document in part], largest, random)
    assert files_of(tmp_path / "joined") == files_of(tmp_path / "whole")


def test_formats_that_cannot_be_joined_say_so() -> None:
    assert [name for name, format in FORMATS.items() if format.join is None] == ["parquet", "arrow", "mds", "litdata"]


@pytest.mark.parametrize("format", [*FLAT, *TABLES])
def test_a_document_of_a_million_tokens(format: str, tmp_path: Path) -> None:
    ids = np.random.default_rng(7).integers(0, 200_000, 1_100_000, np.uint32)
    shard = FORMATS[format].open(tmp_path, "s", FORMATS[format].dtype(200_000), INPUTS)
    shard.write(encoded([Document([1, 2], 0, 0, b"a")]))
    shard.begin()
    for part in np.array_split(ids, 9):
        shard.extend(part)
    shard.end(2, 5, b"long")
    shard.write(Encoded(ids, np.array([0, len(ids)]), np.array([1], np.int32), np.array([9], np.int64)))
    shard.close()
    assert (shard.documents, shard.tokens) == (3, 2 + 2 * len(ids))
    back, said = read_back(format, tmp_path, "s", 200_000)
    assert np.array_equal(np.array(back, np.uint32), np.concatenate([[1, 2], ids, ids]))
    assert said is None or [len(document.ids) for document in said] == [2, len(ids), len(ids)]
    if format == "parquet":
        with (tmp_path / "s.parquet").open("rb") as file:
            assert pq.ParquetFile(file).num_row_groups == 3


@pytest.mark.parametrize("format", FLAT)
def test_a_shard_needs_no_table(format: str, tmp_path: Path) -> None:
    shard = FORMATS[format].open(tmp_path, "s", FORMATS[format].dtype(9), INPUTS, table=False)
    shard.write(encoded([Document([1, 2], 0, 0, b"a")]))
    shard.close()
    assert sorted(files_of(tmp_path)) == (["s.bin", "s.idx"] if format == "megatron" else [f"s.{format}"])
    join = FORMATS[format].join
    assert join is not None
    join([tmp_path / "s", tmp_path / "s"], tmp_path, "twice", FORMATS[format].dtype(9), INPUTS, table=False)
    assert read_back(format, tmp_path, "twice", 9)[0] == [1, 2, 1, 2]
    assert not list(tmp_path.glob("*.parquet"))


def test_the_header_of_numpy_has_its_form(tmp_path: Path) -> None:
    write_shard("npy", tmp_path, "s", [Document([1, 2, 3], 0, 0, b"")], 9, Random(0))
    data = (tmp_path / "s.npy").read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack_from("<H", data, 8)
    assert (10 + length) % 64 == 0
    text = data[10 : 10 + length].decode("ascii")
    assert text.endswith("\n")
    assert ast.literal_eval(text) == {"descr": "<u2", "fortran_order": False, "shape": (3,)}
    assert data[10 + length :] == b"\1\0\2\0\3\0"


@pytest.mark.parametrize(
    ("format", "largest", "expected"),
    [
        ("bin", 65_535, "<u2"),
        ("bin", 65_536, "<u4"),
        ("megatron", 65_498, "<u2"),
        ("megatron", 65_499, "<i4"),
        ("litdata", 65_536, "<i4"),
    ],
)
def test_the_largest_id_says_the_type(format: str, largest: int, expected: str) -> None:
    assert FORMATS[format].dtype(largest) == np.dtype(expected)


@pytest.mark.parametrize("format", [*FLAT, *TABLES])
@pytest.mark.parametrize("long", [False, True])
def test_ids_that_do_not_fit_are_refused(format: str, long: bool, tmp_path: Path) -> None:
    shard = FORMATS[format].open(tmp_path, "s", np.dtype("<u2"), INPUTS)

    def write() -> None:
        if long:
            shard.begin()
            shard.extend(np.array([1, 65_536], np.uint32))
            shard.end(0, 0, b"")
        else:
            shard.write(encoded([Document([1, 65_536], 0, 0, b"")]))
        shard.close()

    with pytest.raises(FormatError, match="id 65536 does not fit uint16"):
        write()
    shard.abort()


@pytest.mark.parametrize("format", [*FLAT, *TABLES])
def test_a_name_that_is_not_utf8_is_refused(format: str, tmp_path: Path) -> None:
    shard = FORMATS[format].open(tmp_path, "s", np.dtype("<u2"), INPUTS)
    shard.write(encoded([Document([1], 0, 0, b"\xff\xfe")]))
    with pytest.raises(FormatError, match="not UTF-8"):
        shard.close()
    shard.abort()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("format", [*FLAT, *TABLES])
@pytest.mark.parametrize("tokens", [3, 1_500_000])
def test_a_full_disk_is_an_oserror(format: str, tokens: int, tmp_path: Path) -> None:
    """Errors are raised by write, or by close for buffered data; an abandoned shard closes quietly."""
    suffixes = {"megatron": [".bin", ".idx"]}.get(format, [f".{format}"])
    for suffix in suffixes + ([".documents.parquet"] if format in FLAT else []):
        stem = f"s{suffix}"
        (tmp_path / f"{stem}{suffix}").symlink_to("/dev/full")

        def run(stem: str = stem) -> None:
            shard = FORMATS[format].open(tmp_path, stem, np.dtype("<u2"), INPUTS)
            try:
                shard.write(encoded([Document([1] * tokens, 0, 0, b"")]))
                shard.write(encoded([Document([2] * tokens, 0, 0, b"")]))
                shard.close()
            finally:
                shard.abort()

        with pytest.raises(OSError, match="No space left") as caught:
            run()
        assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("damage", ["cut", "index", "type"])
def test_joining_refuses_what_is_not_whole(damage: str, tmp_path: Path) -> None:
    write_shard("megatron", tmp_path, "s", [Document([1, 2, 3], 0, 0, b""), Document([4], 0, 9, b"")], 9, Random(1))
    if damage == "cut":
        (tmp_path / "s.bin").write_bytes((tmp_path / "s.bin").read_bytes()[:-1])
    elif damage == "index":
        (tmp_path / "s.idx").write_bytes((tmp_path / "s.idx").read_bytes()[:36])
    join = FORMATS["megatron"].join
    assert join is not None
    dtype = FORMATS["megatron"].dtype(100_000 if damage == "type" else 9)
    with pytest.raises(FormatError, match="whole ids" if damage == "cut" else "index is not that"):
        join([tmp_path / "s"], tmp_path, "t", dtype, INPUTS)


def test_joining_refuses_inputs_of_another_plan(tmp_path: Path) -> None:
    write_shard("bin", tmp_path, "s", [Document([1], 1, 0, b"")], 9, Random(1))
    join = FORMATS["bin"].join
    assert join is not None
    with pytest.raises(FormatError, match="the plan has no input 'zwei"):
        join([tmp_path / "s"], tmp_path, "t", FORMATS["bin"].dtype(9), ["other"])


@pytest.mark.parametrize(
    ("format", "module", "install"),
    [
        ("parquet", "pyarrow", "pyarrow>=18"),
        ("arrow", "pyarrow", "pyarrow>=18"),
        ("bin", "pyarrow", "pyarrow>=18"),
        ("mds", "streaming", "mosaicml-streaming"),
        ("litdata", "litdata.streaming.writer", "litdata"),
    ],
)
def test_a_missing_package_is_named(
    format: str, module: str, install: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ArtifactError) as caught:
        FORMATS[format].open(tmp_path, "s", FORMATS[format].dtype(9), INPUTS)
    assert module.partition(".")[0] in caught.value.what
    assert caught.value.remedy == f"pip install '{install}'"


@pytest.mark.parametrize("format", ["mds", "litdata"])
def test_an_index_is_put_together_by_folders(format: str, tmp_path: Path) -> None:
    key = {"mds": "shards", "litdata": "chunks"}[format]
    top: dict[str, Any] = {"version": 2} if format == "mds" else {"config": {"chunk_bytes": 1}}
    names = ["val/00000.index.json", "train/100000.index.json", "train/00009.index.json", "train/00009.00000.mds"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({**top, key: [{"of": name}, {"more": 1}]}))
    finish = FORMATS[format].finish
    assert finish is not None
    assert sorted(finish(tmp_path, names)) == ["train/index.json", "val/index.json"]
    train = json.loads((tmp_path / "train" / "index.json").read_bytes())
    assert train == {**top, key: [{"of": names[2]}, {"more": 1}, {"of": names[1]}, {"more": 1}]}
    before = (tmp_path / "train" / "index.json").read_bytes()
    finish(tmp_path, names[::-1])
    assert (tmp_path / "train" / "index.json").read_bytes() == before
    assert finish(tmp_path, ["train-00000.bin"]) == []


def test_chunks_of_two_kinds_are_refused(tmp_path: Path) -> None:
    for number in range(2):
        part = {"chunks": [], "config": {"data_format": [f"no_header_tensor:{number}"]}}
        (tmp_path / f"chunk-{number}.index.json").write_text(json.dumps(part))
    finish = FORMATS["litdata"].finish
    assert finish is not None
    with pytest.raises(FormatError, match="of another kind") as caught:
        finish(tmp_path, ["chunk-0.index.json", "chunk-1.index.json"])
    assert caught.value.file == str(tmp_path / "chunk-1.index.json")


@pytest.mark.parametrize("format", ["megatron", *TABLES])
def test_a_document_that_is_too_long_is_refused(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(megatron, "_LONGEST", 3)
    monkeypatch.setattr(table, "_LONGEST", 3)
    shard = FORMATS[format].open(tmp_path, "s", FORMATS[format].dtype(9), INPUTS)
    shard.write(encoded([Document([1, 2, 3], 0, 0, b"")]))
    with pytest.raises(FormatError, match=r"has 4 tokens, and .* holds at most 3"):
        shard.write(encoded([Document([1], 0, 0, b""), Document([1, 2, 3, 4], 0, 0, b"")]))
    shard.begin()
    shard.extend(np.array([1, 2, 3, 4], np.uint32))
    with pytest.raises(FormatError, match=r"has 4 tokens, and .* holds at most 3"):
        shard.end(0, 0, b"")
    shard.abort()


@pytest.mark.parametrize("format", [*FLAT, *TABLES])
def test_memory_does_not_keep_what_was_written(format: str, tmp_path: Path) -> None:
    """A shard filled by many batches holds at most one group of rows, and lengths of documents."""
    shard = FORMATS[format].open(tmp_path, "s", FORMATS[format].dtype(70_000), INPUTS)
    names = FlatTexts(np.full(100 * 50, ord("x"), np.uint8), np.arange(0, 5001, 50))
    for number in range(60):
        ids = np.full(100_000, number, np.uint32)
        offsets = np.arange(0, 100_001, 1000)
        shard.write(Encoded(ids, offsets, np.zeros(100, np.int32), np.arange(100), names))
        if isinstance(shard, table.TableShard):
            assert sum(len(waiting.ids) for waiting in shard._waiting) <= table._TOKENS
    shard.close()
    assert (shard.tokens, shard.documents) == (6_000_000, 6_000)


def test_an_input_that_two_groups_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # pyarrow does not always write the same bytes of a dictionary that says a name twice.
    written: list[Any] = []
    monkeypatch.setattr(row_groups.ParquetFile, "write", lambda _, columns: written.append(columns[0]))
    rows = documents_table.DocumentsTable(tmp_path / "a.documents.parquet", ["a", "b", "a"])
    for row, number in enumerate([2, 0, 1, 2]):
        rows.end(number, row, b"", 1)
    rows.close()
    assert [column.to_pylist() for column in written] == [["a", "a", "b", "a"]]
    assert written[0].dictionary.to_pylist() == ["a", "b"]
