"""Shards are read back by the libraries that they are for, if these are installed."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bytepair.errors import ArtifactError, FormatError
from bytepair.shards.sinks import FORMATS
from tests.shards.shards import INPUTS, Document, files_of, flat, random_documents, write_shard

# Warnings of the libraries are for them to fix.
pytestmark = pytest.mark.filterwarnings("ignore")

LARGEST = [50_000, 200_000]


def shards(format: str, folder: Path, largest: int, seed: int = 0, *, long: bool = True) -> dict[str, list[Document]]:
    """Three shards to train on and two to validate, and the expected content of each split."""
    folder.mkdir(parents=True)
    random = Random(f"{format} {largest} {seed}")
    splits: dict[str, list[Document]] = {}
    for split, number in [("val", 0), ("train", 1), ("train", 0), ("val", 1), ("train", 2)]:
        documents = random_documents(Random(f"{split} {number} {seed}"), 30 + number, largest)
        stem = FORMATS[format].stem.format(split=split, number=number)
        write_shard(format, folder, stem, documents, largest, random, long=long)
        before = splits.get(split, [])
        splits[split] = before + documents if number else documents + before
    if finish := FORMATS[format].finish:
        committed = files_of(folder)
        written = finish(folder, list(committed))
        assert sorted(written) == ["train/index.json", "val/index.json"]
        assert sorted([*committed, *written]) == sorted(files_of(folder))
    return splits


@pytest.mark.parametrize("largest", LARGEST)
def test_mosaicml_streaming_reads_mds(largest: int, tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    for split, documents in shards("mds", tmp_path / "out", largest).items():
        samples = list(streaming.LocalDataset(str(tmp_path / "out" / split)))
        assert [sample["tokens"].tolist() for sample in samples] == [document.ids for document in documents]
        assert {sample["tokens"].dtype for sample in samples} == {
            np.dtype(np.uint16 if largest < 1 << 16 else np.uint32)
        }
        assert [sample["id"].encode() for sample in samples] == [document.name for document in documents]
        assert [INPUTS.index(sample["input"]) for sample in samples] == [document.input for document in documents]
        assert [int(sample["position"]) for sample in samples] == [document.position for document in documents]


def test_mosaicml_streaming_streams_mds(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    expected = shards("mds", tmp_path / "out", LARGEST[0])
    streaming.base.util.clean_stale_shared_memory()
    data = streaming.StreamingDataset(
        remote=str(tmp_path / "out"), local=str(tmp_path / "local"), split="val", shuffle=False, batch_size=1
    )
    assert [sample["tokens"].tolist() for sample in data] == [document.ids for document in expected["val"]]


@pytest.mark.parametrize("largest", LARGEST)
def test_litdata_reads_its_chunks(largest: int, tmp_path: Path) -> None:
    litdata = pytest.importorskip("litdata")
    torch = pytest.importorskip("torch")
    block = 5
    for split, documents in shards("litdata", tmp_path / "out", largest).items():
        data = litdata.StreamingDataset(
            str(tmp_path / "out" / split), item_loader=litdata.TokensLoader(block_size=block), shuffle=False
        )
        blocks = list(data)
        # Blocks never reach over two chunks; what is left at the end of one is not given.
        chunks = json.loads((tmp_path / "out" / split / "index.json").read_bytes())["chunks"]
        expected, ids = [], flat(documents)
        for chunk in chunks:
            part, ids = ids[: chunk["dim"]], ids[chunk["dim"] :]
            expected += [part[at : at + block] for at in range(0, len(part) - block + 1, block)]
        assert not ids
        assert [tokens.tolist() for tokens in blocks] == expected
        assert {tokens.dtype for tokens in blocks} == {torch.uint16 if largest < 1 << 16 else torch.int32}
        loader = torch.utils.data.DataLoader(data, batch_size=2)
        assert next(iter(loader)).long().tolist() == expected[:2]
        pq = pytest.importorskip("pyarrow.parquet")
        tables = sorted((tmp_path / "out" / split).glob("*.documents.parquet"))
        assert [row["tokens"] for path in tables for row in pq.read_table(path).to_pylist()] == [
            len(document.ids) for document in documents
        ]


@pytest.mark.parametrize("format", ["mds", "litdata"])
def test_their_writers_write_the_same_bytes_twice(format: str, tmp_path: Path) -> None:
    pytest.importorskip({"mds": "streaming", "litdata": "litdata"}[format])
    shards(format, tmp_path / "a", LARGEST[0], long=False)
    shards(format, tmp_path / "b" / "deeper", LARGEST[0])
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b" / "deeper")


@pytest.mark.parametrize("format", ["mds", "litdata"])
def test_shards_of_several_files_and_of_none(format: str, tmp_path: Path) -> None:
    """Documents of 40 MB: one is more than half of a file, and one in two parts is gathered."""
    library: Any = pytest.importorskip({"mds": "streaming", "litdata": "litdata"}[format])
    names = []
    for number in range(3):
        stem = FORMATS[format].stem.format(split="train", number=number)
        shard = FORMATS[format].open(tmp_path, stem, FORMATS[format].dtype(9), INPUTS)
        if number != 1:
            for _ in range(2):
                shard.begin()
                shard.extend(np.full(10_000_000, 3, np.uint32))
                shard.extend(np.full(10_000_000, 4, np.uint32))
                shard.end(0, 0, b"")
        shard.close()
    names = sorted(files_of(tmp_path))
    finish = FORMATS[format].finish
    assert finish is not None
    finish(tmp_path, names)
    if format == "mds":
        assert len([name for name in names if name.endswith(".mds")]) == 4
        samples = library.LocalDataset(str(tmp_path / "train"))
        assert [int(sample["tokens"].sum(dtype=np.int64)) for sample in samples] == [70_000_000] * 4
    else:
        data = library.StreamingDataset(
            str(tmp_path / "train"), item_loader=library.TokensLoader(block_size=20_000_000), shuffle=False
        )
        assert [int(tokens.long().sum()) for tokens in data] == [70_000_000] * 4


@pytest.mark.parametrize("format", ["mds", "litdata"])
def test_their_writers_refuse_what_does_not_fit(format: str, tmp_path: Path) -> None:
    pytest.importorskip({"mds": "streaming", "litdata": "litdata"}[format])
    shard = FORMATS[format].open(tmp_path, "train/0", np.dtype("<u2"), INPUTS)
    shard.begin()
    shard.extend(np.array([65_536], np.uint32))
    with pytest.raises(FormatError, match="does not fit"):
        shard.end(0, 0, b"")
    shard.begin()
    with pytest.raises(FormatError, match="a document has no tokens"):
        shard.end(0, 0, b"")
    shard.abort()


@pytest.mark.parametrize("format", ["mds", "litdata"])
def test_what_their_writers_lose_is_told(format: str, tmp_path: Path) -> None:
    pytest.importorskip({"mds": "streaming", "litdata": "litdata"}[format])
    shard = FORMATS[format].open(tmp_path, "train/0", np.dtype("<u2"), INPUTS)
    shard.documents = 1
    with pytest.raises(ArtifactError, match="wrote 0 of 1 documents"):
        shard.close()
    shard.abort()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("format", "name"), [("mds", "shard.00000.mds"), ("litdata", "chunk-0-0.bin"), ("litdata", "0.index.json")]
)
def test_a_full_disk_is_an_oserror(format: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip({"mds": "streaming", "litdata": "litdata"}[format])
    shard = FORMATS[format].open(tmp_path, "train/0", np.dtype("<u2"), INPUTS)
    shard.begin()
    shard.extend(np.full(100_000, 7, np.uint32))
    shard.end(0, 0, b"")
    (tmp_path / "train" / "0.writing" / name).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        shard.close()
    shard.abort()


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("largest", LARGEST)
def test_datasets_loads_tables(format: str, largest: int, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    expected = shards(format, tmp_path / "out", largest)
    loaded = datasets.load_dataset(
        format,
        data_files={split: str(tmp_path / "out" / f"{split}-*.{format}") for split in expected},
        cache_dir=str(tmp_path / "cache"),
    )
    for split, documents in expected.items():
        rows = loaded[split]
        assert list(rows["input_ids"]) == [document.ids for document in documents]
        assert [(name or "").encode() for name in rows["id"]] == [document.name for document in documents]
        assert [INPUTS.index(name) for name in rows["input"]] == [document.input for document in documents]
        assert list(rows["position"]) == [document.position for document in documents]
        assert rows.with_format("torch")[0]["input_ids"].tolist() == documents[0].ids


@pytest.mark.parametrize("largest", LARGEST)
def test_megatron_reads_its_files(largest: int, tmp_path: Path) -> None:
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    expected = shards("megatron", tmp_path / "out", largest)
    join = FORMATS["megatron"].join
    assert join is not None
    for split, documents in expected.items():
        parts = [tmp_path / "out" / f"{split}-{number}" for number in range(3 if split == "train" else 2)]
        join(parts, tmp_path, split, FORMATS["megatron"].dtype(largest), INPUTS)
        data = indexed.IndexedDataset(str(tmp_path / split))
        assert [data[number].tolist() for number in range(len(data))] == [document.ids for document in documents]
        assert data.document_indices.tolist() == list(range(len(documents) + 1))
        # Its own writer makes the same bytes.
        kind = indexed.DType.optimal_dtype(largest + 1)
        builder = indexed.IndexedDatasetBuilder(str(tmp_path / "own.bin"), dtype=kind)
        for document in documents:
            builder.add_document(np.array(document.ids, kind), [len(document.ids)])
        builder.finalize(str(tmp_path / "own.idx"))
        for suffix in (".bin", ".idx"):
            assert (tmp_path / f"own{suffix}").read_bytes() == (tmp_path / f"{split}{suffix}").read_bytes()
