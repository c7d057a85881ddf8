"""Inputs are found by path, glob, URL and folder; changed, missing and unreadable ones are named."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bytepair.errors import ArtifactError, BytepairError, SourceError
from bytepair.sources import opening
from bytepair.sources.inputs import Input, check, find_files
from bytepair.sources.readers import portions
from bytepair.sources.source import Reading
from tests.sources.reading import documents, only

fsspec = pytest.importorskip("fsspec")


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"low lower lowest")


def find(source: Any) -> tuple[Input, ...]:
    return find_files(source, "shard")


def names(source: Any) -> list[str]:
    return [found.name for found in find(source)]


# Local files


def test_names_are_as_the_caller_gives_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "b.txt", "a.txt", "deep/c.txt", "deep/d.jsonl")
    monkeypatch.chdir(tmp_path)
    assert names("*.txt") == ["a.txt", "b.txt"]
    assert names(["b.txt", "*.txt"]) == ["b.txt", "a.txt"]
    assert names(["b.txt", str(tmp_path / "b.txt")]) == ["b.txt"]
    assert names("**/*.txt") == ["a.txt", "b.txt", "deep/c.txt"]
    assert names(Path("deep/c.txt")) == ["deep/c.txt"]
    (found,) = find("deep/d.jsonl")
    state = (tmp_path / "deep/d.jsonl").stat()
    assert found == Input("deep/d.jsonl", str(tmp_path / "deep/d.jsonl"), "jsonl", None, 16, str(state.st_mtime_ns), "")


def test_groups_stay_together(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "b.txt")
    found = find({"one": f"{tmp_path}/*.txt", "two": [f"{tmp_path}/b.txt"]})
    assert [(one.group, Path(one.name).name) for one in found] == [("one", "a.txt"), ("one", "b.txt"), ("two", "b.txt")]


@pytest.mark.parametrize(
    ("name", "content", "compression"),
    [
        ("a", "text", None),
        ("a.txt.gz", "text", "gzip"),
        ("a.JSONL.zst", "jsonl", "zstd"),
        ("a.ndjson", "jsonl", None),
        ("a.parquet", "parquet", None),
        ("a.feather", "arrow", None),
        ("a.arrows", "arrow", None),
        ("a.tar", "tar", None),
        ("a.tar.gz", "tar", "gzip"),
        ("a.tgz", "tar", "gzip"),
        ("a.tar.zst", "tar", "zstd"),
    ],
)
def test_names_say_what_a_file_holds(tmp_path: Path, name: str, content: str, compression: str | None) -> None:
    write(tmp_path, name)
    found = only(tmp_path / name)
    assert (found.content, found.compression) == (content, compression)


@pytest.mark.parametrize("name", ["a.zip", "a.txt.bz2", "a.parquet.gz", "a.xz"])
def test_kinds_that_cannot_be_read_are_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    with pytest.raises(SourceError, match="cannot be read"):
        find(str(tmp_path / name))


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    for source in (5, {"a": {"b": "c"}}, {"": "a"}, {1: "a"}, None, b"a", {"a"}, ["a", 1]):
        with pytest.raises(TypeError):
            find(source)
    for texts in (iter(["a"]), [b"a"], [1]):
        with pytest.raises(SourceError, match=r"^shard takes no iterable of texts: .* reads its source .*\.jsonl"):
            find(texts)
    with pytest.raises(SourceError, match=r"shard takes no iterable of texts \(group 'b'\)"):
        find({"a": str(tmp_path / "none"), "b": iter(["a"])})
    with pytest.raises(SourceError, match="the source is a mapping of pieces to counts; name the texts themselves"):
        find({"low": 5})
    with pytest.raises(SourceError, match="no file matches"):
        find(str(tmp_path / "*.txt"))
    for text in ("low " * 2_000, "a/" * 2_000, "[a-" * 2_000):
        with pytest.raises(SourceError, match=r"no file matches '.{77}\.\.\.'; "):
            find(text)
    with pytest.raises(SourceError, match="is a folder"):
        find(str(tmp_path))


def test_what_has_changed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write(tmp_path, "a.txt")
    found = only(path)
    check(found)
    os.utime(path, ns=(5, 5))
    with pytest.raises(ArtifactError, match="its version was") as caught:
        check(found)
    assert caught.value.file == str(path)
    path.write_bytes(b"low")
    with pytest.raises(ArtifactError, match="it had 16 bytes, and has 3"):
        check(found)
    path.unlink()
    with pytest.raises(ArtifactError, match="No such file"):
        check(found)


# Data sets of Hugging Face


def data_set(folder: Path, parts: int = 2) -> list[bytes]:
    """Writes the files of save_to_disk by hand."""
    folder.mkdir(parents=True)
    texts = [f"text {number}" for number in range(10)]
    files = [f"data-{part:05d}-of-{parts:05d}.arrow" for part in range(parts)]
    for part, name in enumerate(files):
        rows = pa.table({"text": texts[part::parts], "id": range(len(texts[part::parts]))})
        with pa.ipc.new_stream(folder / name, rows.schema) as writer:
            writer.write_table(rows)
    state = {"_data_files": [{"filename": name} for name in reversed(files)], "_format_type": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    return [text.encode() for part in reversed(range(parts)) for text in texts[part::parts]]


def test_a_data_set_is_its_files_in_its_order(tmp_path: Path) -> None:
    expected = data_set(tmp_path / "set")
    for source in (f"{tmp_path}/set", f"{tmp_path}/set/", f"file://{tmp_path}/set"):
        found = find(source)
        assert [Path(one.name).name for one in found] == ["data-00001-of-00002.arrow", "data-00000-of-00002.arrow"]
        assert [text for one in found for _, text, _ in documents(one, Reading())[0]] == expected


def test_of_several_splits_one_is_to_be_named(tmp_path: Path) -> None:
    expected = data_set(tmp_path / "sets/train")
    (tmp_path / "sets/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(SourceError, match="several splits") as caught:
        find(str(tmp_path / "sets"))
    assert f"{tmp_path}/sets/train" in caught.value.remedy
    found = find(str(tmp_path / "sets/train"))
    assert sum(len(documents(one, Reading())[0]) for one in found) == len(expected)


@pytest.mark.parametrize(
    "state",
    [
        "{",
        "[]",
        "{}",
        '{"_data_files": []}',
        '{"_data_files": [5]}',
        '{"_data_files": [{"filename": "../a.arrow"}]}',
        '{"_data_files": [{"filename": "data.arrow"}], "_indices_data_files": [{"filename": "indices.arrow"}]}',
    ],
)
def test_a_damaged_data_set_is_refused(tmp_path: Path, state: str) -> None:
    data_set(tmp_path / "set")
    (tmp_path / "set/state.json").write_text(state)
    with pytest.raises(ArtifactError) as caught:
        find(str(tmp_path / "set"))
    assert caught.value.file == f"{tmp_path}/set/state.json"


# URLs


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def put(system: Any, folder: Path) -> dict[str, list[Any]]:
    """A file of each kind, in memory and on the disk, and the bytes on the disk."""
    lines = b"".join(json.dumps({"text": f"low {number}", "id": number}).encode() + b"\n" for number in range(50))
    rows = pa.table({"text": [f"low {number}" for number in range(50)], "id": range(50)})
    (folder / "a.txt").write_bytes(lines)
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "a.txt.zst").write_bytes(pa.Codec("zstd").compress(lines, asbytes=True))
    pq.write_table(rows, folder / "a.parquet", row_group_size=7)
    for name, start in (("a.arrow", pa.ipc.new_file), ("a.arrows", pa.ipc.new_stream)):
        with start(folder / name, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=7)
    expected = {}
    for path in folder.iterdir():
        system.pipe_file(f"/data/{path.name}", path.read_bytes())
        expected[path.name] = documents(only(path), reading(path.name))[0]
    return expected


def reading(name: str) -> Reading:
    return Reading(delimiter="\n") if ".txt" in name else Reading(id_field="id")


def test_what_urls_name_is_read_as_local_files_are(tmp_path: Path, memory: Any) -> None:
    expected = put(memory, tmp_path)
    for pattern in ("memory://data/*", f"file://{tmp_path}/*"):
        found = find(pattern)
        assert [one.name.rpartition("/")[2] for one in found] == sorted(expected)
        for one in found:
            check(one)
            assert opening.is_url(one.address)
            for size in (50, 10_000):
                cuts = portions(one, reading(one.name), size)
                assert documents(one, reading(one.name), cuts, 100)[0] == expected[one.name.rpartition("/")[2]]
    assert names(["memory://data/a.txt", "memory://data/*.txt"])[0] == "memory://data/a.txt"
    assert names({"web": "memory://data/a.txt"}) == ["memory://data/a.txt"]


def test_urls_that_match_nothing_or_changed_are_named(memory: Any) -> None:
    for url in ("memory://none/a.txt", "memory://none/*.txt", "memory://none", "simplecache::memory://data/*"):
        with pytest.raises(SourceError, match="no file matches"):
            find(url)
    memory.pipe_file("/data/a.txt", b"low")
    with pytest.raises(SourceError, match="no file matches"):
        find("memory://data")
    found = only("memory://data/a.txt")
    memory.pipe_file("/data/a.txt", b"lows")
    with pytest.raises(ArtifactError, match="it had 3 bytes, and has 4"):
        check(found)
    memory.rm("/data/a.txt")
    with pytest.raises(ArtifactError, match="FileNotFound"):
        check(found)
    with pytest.raises(ArtifactError, match="FileNotFound"):
        documents(found, Reading())


def test_what_a_protocol_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArtifactError, match="protocol 'nope'"):
        find("nope://a/b.txt")
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(ArtifactError, match="needs the package gcsfs") as caught:
        find("gs://bucket/*.txt")
    assert caught.value.remedy == "pip install gcsfs"
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ArtifactError, match="needs the package fsspec") as caught:
        find("s3://bucket/*.txt")
    assert caught.value.remedy == "pip install 'fsspec>=2024.2'"


def test_a_file_whose_server_fails_gives_a_typed_error(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/data/a.txt", b"low\n" * 1000)
    found = only("memory://data/a.txt")

    class Broken:
        def seekable(self) -> bool:
            return True

        def seek(self, *_: int) -> int:
            return 4000

        def read(self, _: int) -> bytes:
            raise ConnectionResetError(104, "reset by peer")

        def close(self) -> None:
            pass

    monkeypatch.setattr(memory, "open", lambda *_, **__: Broken())
    with pytest.raises(ArtifactError, match="reset by peer") as caught:
        documents(found, Reading())
    assert caught.value.file == "memory://data/a.txt"


def test_a_server_that_does_not_answer_is_not_a_file_that_is_not_there(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def info(url: str) -> Any:
        raise FileNotFoundError(url) from ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(memory, "info", info)
    with pytest.raises(ArtifactError, match="refused"):
        find("memory://data/a.txt")


class Server(BaseHTTPRequestHandler):
    """Serves the files of a folder, in ranges; records the requests."""

    def __init__(self, folder: Path, asked: list[tuple[int, int]], *rest: Any) -> None:
        self.folder, self.asked = folder, asked
        super().__init__(*rest)

    def do_HEAD(self) -> None:
        self.answer(head=True)

    def do_GET(self) -> None:
        self.answer(head=False)

    def answer(self, *, head: bool) -> None:
        path = self.folder / self.path.partition("?")[0].lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), min(int(asked[2]), len(data) - 1)) if asked else (0, len(data) - 1)
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{hash(data)}"')
        self.send_header("Content-Length", str(last - first + 1))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        if not head:
            self.asked.append((first, last + 1))
            self.wfile.write(data[first : last + 1])

    def log_message(self, *_: Any) -> None:
        pass


def test_over_http_a_column_is_all_that_is_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    data = Random(5)
    rows = {"other": [data.randbytes(1000) for _ in range(5000)], "text": [f"low {row}" for row in range(5000)]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=1000, use_dictionary=False)
    expected = documents(only(tmp_path / "a.parquet"), Reading())[0]
    asked: list[tuple[int, int]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, tmp_path, asked))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/a.parquet"
        found = only(f"{url}?download=true")
        assert found.content == "parquet"
        assert found.size == (tmp_path / "a.parquet").stat().st_size
        check(found)
        cuts = portions(found, Reading(), found.size // 3)
        assert len(cuts) > 1
        asked.clear()
        assert documents(found, Reading(), cuts)[0] == expected
        assert sum(last - first for first, last in asked) < found.size // 5
        with pytest.raises(BytepairError, match="no file matches"):
            find(url.replace("a.parquet", "b.parquet"))
    finally:
        server.shutdown()
        server.server_close()


def test_links_between_folders_give_no_file_twice(tmp_path: Path) -> None:
    (tmp_path / "in/b").mkdir(parents=True)
    for name in ("a.txt", "b/c.txt"):
        (tmp_path / "in" / name).write_text("low")
    (tmp_path / "in/b/around").symlink_to(tmp_path / "in")
    (tmp_path / "in/again.txt").symlink_to(tmp_path / "in/a.txt")  # what somebody asked for
    found = [input.name for input in find(f"{tmp_path}/in/**/*.txt")]
    assert found == [f"{tmp_path}/in/{name}" for name in ("a.txt", "again.txt", "b/c.txt")]
