"""Documents that cannot be used: the places reported for them, and their quarantine."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bytepair as bp
from bytepair.shards import encoding_task
from bytepair.shards.engines.local import Local


def archive(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))


def quarantined(folder: Path) -> list[dict[str, Any]]:
    lines = b"".join(path.read_bytes() for path in sorted(folder.glob("quarantine/*"))).decode().splitlines()
    return [json.loads(line) for line in lines]


def test_json_is_replaced_where_it_is_no_unicode(tok: bp.Tokenizer, tmp_path: Path) -> None:
    lines = [b'{"text": "low \xff"}', rb'{"text": "\ud800 low \udc00"}', b'{"text": "wide"}', b'{"text": 5}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    archive(tmp_path / "a.tar", {f"{n}.json": line for n, line in enumerate(lines)})
    texts = ["low \ufffd", "\ufffd low \ufffd", "wide"]
    for name, options in {"a.jsonl": {}, "a.tar": {"field": "json:text"}}.items():
        for errors, used, bad in (("strict", texts[2:], 3), ("replace", texts, 1)):
            out = tmp_path / f"{errors}-{name}"
            summary = bp.shard(tmp_path / name, tok, out, bad="skip", errors=errors, engine=Local(1), **options)  # type: ignore[arg-type]  # options of many types
            ids = np.fromfile(out / "train-00000.bin", np.uint16).tolist()
            assert ids == [id for text in used for id in tok.encode(text)]
            assert (summary.documents, summary.bad) == (len(used), bad)


@pytest.mark.parametrize("batch", [1 << 22, 100])
def test_quarantine_says_the_same_wherever_the_corpus_lies(
    batch: int, tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_task, "_BATCH_BYTES", batch)
    found = []
    for place in (tmp_path / "here", tmp_path / "somewhere" / "else"):
        place.mkdir(parents=True)
        monkeypatch.chdir(place)
        Path("a.txt").write_bytes(b"low\t" + b"x" * 500 + b"\t\xff low\t<|end|>\tlow")
        Path("a.jsonl").write_bytes(b'{"text": "<|end|>"}\n{"text": "%s"}\nnonsense\n\xff\n' % (b"x" * 500))
        column = [None, "x" * 500, "<|end|>", b"\xff"]
        pq.write_table(pa.table({"text": pa.array(column, pa.binary())}), "a.parquet")
        archive(Path("a.tar"), {"a.txt": b"\xff", "b.bin": b"", "c.txt": b"x" * 500})
        for name, options in {"a.txt": {"delimiter": "\t"}, "a.jsonl": {}, "a.parquet": {}, "a.tar": {}}.items():
            bp.shard(name, tok, f"{name}.out", bad="quarantine", longest=200, engine=Local(1), **options)  # type: ignore[arg-type]  # options of many types
            rows = quarantined(Path(f"{name}.out"))
            assert {row["input"] for row in rows} == {name}
            found.append([(row["position"], row["error"], row.get("text"), row.get("base64")) for row in rows])
    assert found[:4] == found[4:]
    assert not any(str(tmp_path) in row[1] for rows in found for row in rows)
    assert [len(rows) for rows in found[:4]] == [3, 4, 4, 3]


def test_places_of_bad_documents_are_in_their_input(tok: bp.Tokenizer, tmp_path: Path) -> None:
    for text, byte in ((b"low\t" + b"x" * 500, 4), (b"low\tlo\xff", 6), (b"low\tlo<|end|>", 6)):
        (tmp_path / "a.txt").write_bytes(text)
        with pytest.raises(bp.BytepairError) as caught:
            bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", delimiter="\t", longest=200)
        assert (caught.value.file, caught.value.byte) == (str(tmp_path / "a.txt"), byte)
        for path in (tmp_path / "out").iterdir():
            assert path.name in {"ledger", "tokenizer", "work", "plan.json"}
        (tmp_path / "out").rename(tmp_path / f"out{byte}{len(text)}")


def test_a_row_is_json_whatever_it_says(tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No reader gives such an error today; a line that nobody can read would be a loss that nobody sees.
    said = "half a pair: \ud800, and a byte of a name: \udcff"

    def blame(error: bp.BytepairError, *_: object) -> None:
        error.what, error.byte, error.remedy = said, None, ""

    monkeypatch.setattr(encoding_task, "blame", blame)
    (tmp_path / "a.txt").write_bytes(b"\xff")
    bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", bad="quarantine", engine=Local(1))
    (row,) = quarantined(tmp_path / "out")
    assert row["error"] == said


@pytest.mark.parametrize("options", [{}, {"join": True}, {"shuffle": True}, {"shuffle": True, "join": True}])
@pytest.mark.parametrize("format", ["bin", "megatron", "parquet"])
def test_a_long_document_that_is_bad_leaves_nothing_behind(
    format: str, options: dict[str, Any], tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if options.get("join") and format == "parquet":
        del options["join"]
    monkeypatch.setattr(encoding_task, "_BATCH_BYTES", 100)
    (tmp_path / "bad.txt").write_bytes(b"low lower " * 100 + b"\xff" + b"newest " * 100)
    (tmp_path / "good.txt").write_bytes(b"low")
    # Each in a task of its own, so that one of them has nothing for a shard.
    source = [tmp_path / "bad.txt", tmp_path / "good.txt"]
    summary = bp.shard(
        source, tok, tmp_path / "out", format=format, bad="skip", task_size=1, engine=Local(1), **options
    )
    assert (summary.documents, summary.bad, summary.files) == (1, 1, {"train": sum(summary.files.values())})
    shards = {path.name.partition(".")[0] for path in (tmp_path / "out").glob("train*")}
    assert len(shards) == 1
    assert bp.verify_shards(tmp_path / "out").documents == 1
