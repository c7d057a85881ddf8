"""`datasets`, `webdataset` and an S3 server: the readers return what these libraries return."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bytepair.sources.inputs import check, find, find_files
from bytepair.sources.readers import portions
from bytepair.sources.source import Reading
from bytepair.training.counts import Counts
from tests.conftest import HOSTILE
from tests.sources.reading import documents, only

pytestmark = pytest.mark.filterwarnings("ignore")  # other libraries' own

TEXTS = HOSTILE * 5


def rows() -> dict[str, list[Any]]:
    return {"text": TEXTS, "n": [*range(len(TEXTS))]}


@pytest.mark.parametrize("parts", [1, 3])
def test_a_data_set_on_the_disk(tmp_path: Path, parts: int) -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_dict(rows())
    shuffled = whole.shuffle(seed=5).select(range(20))
    for name, one in (("whole", whole), ("shuffled", shuffled), ("empty", whole.select([]))):
        one.save_to_disk(str(tmp_path / name), num_shards=parts if len(one) else 1)
        again = datasets.load_from_disk(str(tmp_path / name))
        found = [
            row
            for each in find_files(str(tmp_path / name), "read")
            for row in documents(each, Reading(id_field="n"))[0]
        ]
        assert [text.decode() for _, text, _ in found] == again["text"][:]
        assert [int(id_ or b"") for _, _, id_ in found] == again["n"][:]


def test_a_data_set_in_memory() -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_dict(rows())

    def counts(source: Any, **options: Any) -> list[tuple[bytes, int, int]]:
        return [(row.piece, row.count, row.first_position) for row in Counts.of(source, **options)]

    wanted = counts(iter(TEXTS))
    body = whole.rename_column("text", "body")
    for one in (whole, whole.to_iterable_dataset(), {"a": whole}, datasets.DatasetDict({"train": whole})):
        assert counts(one) == wanted
    assert counts(body, field="body") == counts(body.to_iterable_dataset(), field="body") == wanted
    picked = whole.shuffle(seed=3).select(range(5))
    assert counts(picked) == counts(iter(picked["text"][:]))
    with pytest.raises(ValueError, match=r"there is no column 'text'; .*one of 'body'"):
        counts(body)


def test_of_the_splits_of_a_data_set_each_can_be_named(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_dict(rows())
    datasets.DatasetDict({"train": whole, "test": whole.select(range(3))}).save_to_disk(str(tmp_path / "sets"))
    with pytest.raises(ValueError, match="several splits"):
        find(str(tmp_path / "sets"))
    assert len(documents(only(tmp_path / "sets/test"), Reading())[0]) == 3


@pytest.mark.parametrize("ends", [".tar", ".tar.gz"])
def test_samples_of_webdataset(tmp_path: Path, ends: str) -> None:
    webdataset = pytest.importorskip("webdataset")
    path = tmp_path / f"a{ends}"
    with webdataset.TarWriter(str(path)) as writer:
        for number, text in enumerate(TEXTS):
            writer.write({"__key__": f"deep/{number:04d}", "txt": text, "json": {"text": text, "n": number}})
    read = [*webdataset.WebDataset(str(path), shardshuffle=False)]
    plain, faults = documents(only(path), Reading())
    assert not faults
    assert [(id_, text) for _, text, id_ in plain] == [(sample["__key__"].encode(), sample["txt"]) for sample in read]
    fields, _ = documents(only(path), Reading(field="json:text"))
    assert [text for _, text, _ in fields] == [json.loads(sample["json"])["text"].encode() for sample in read]


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    server_module = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    fsspec = pytest.importorskip("fsspec")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    options = {"endpoint_url": f"http://{host}:{port}", "region_name": "eu-west-1"}
    config = {"key": "key", "secret": "secret", "client_kwargs": options}
    # As a user sets it in a file: the readers know nothing of keys.
    fsspec.config.conf["s3"] = config
    s3fs.S3FileSystem.clear_instance_cache()
    system = fsspec.filesystem("s3")
    system.mkdir("bucket")
    yield system
    del fsspec.config.conf["s3"]
    server.stop()


def test_files_in_a_bucket(tmp_path: Path, bucket: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = io.BytesIO()
    pq.write_table(pa.table(rows()), table, row_group_size=10)
    lines = b"".join(json.dumps({"text": text, "n": number}).encode() + b"\n" for number, text in enumerate(TEXTS))
    for name, data in (("a.parquet", table.getvalue()), ("a.jsonl", lines)):
        bucket.pipe_file(f"bucket/deep/{name}", data)
        (tmp_path / name).write_bytes(data)
    reading = Reading(id_field="n")
    found = find_files("s3://bucket/**/*", "read")
    assert [one.name for one in found] == ["s3://bucket/deep/a.jsonl", "s3://bucket/deep/a.parquet"]
    for one in found:
        check(one)
        local = only(tmp_path / one.name.rpartition("/")[2])
        assert one.size == local.size
        for size in (500, 1 << 20):
            assert documents(one, reading, portions(one, reading, size))[0] == documents(local, reading)[0]
    bucket.pipe_file("bucket/deep/a.jsonl", lines.replace(b"text", b"TEXT"))
    with pytest.raises(OSError, match="its version was"):
        check(found[0])
    for url in ("s3://bucket/none/*", "s3://no-such-bucket/a.txt"):
        with pytest.raises(ValueError, match="no file matches"):
            find(url)
