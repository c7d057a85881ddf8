from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bytepair as bp
from bytepair.errors import ArtifactError, CorpusError, EncodeError, PatternError, TrainingError
from bytepair.shards.count_corpus import count_corpus
from bytepair.shards.counting_tasks import reductions
from bytepair.shards.engines.local import Local
from bytepair.training.counts import Counts

WORDS = [
    "low",
    "lower",
    "newest",
    "wide",
    "Ünïcode",
    "日本語",
    "😀",
    "\n",
    "\r\n",
    "  ",
    "don't",
    "12345",
    "<|end|>",
    "\t",
]


def text(draw: random.Random, most: int = 40) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randrange(most)))


def line(draw: random.Random, words: str) -> str:
    """A line of JSON, written in one of many ways."""
    row: dict[str, Any] = {"id": draw.randrange(100), "text": words, "rest": [words[:5]]}
    return json.dumps(row, ensure_ascii=draw.random() < 0.5, indent=None) + draw.choice(
        ["\n", " \r\n", "\n\n", "\n \n"]
    )


def corpus(folder: Path, seed: int) -> dict[str, list[Path]]:
    """Files of all kinds that one process can count as well, in two groups."""
    draw = random.Random(seed)
    folder.mkdir()
    files = {}
    for number in range(3):
        files[f"{number}.txt"] = text(draw, 300).encode()
        files[f"{number}.jsonl"] = "".join(line(draw, text(draw)) for _ in range(30)).encode()
    files["bom.jsonl"] = b"\xef\xbb\xbf" + files["0.jsonl"].rstrip()
    files["empty.txt"] = files["none.jsonl"] = b""
    files["zip.jsonl.gz"] = gzip.compress(files["1.jsonl"])
    files["zip.txt.gz"] = gzip.compress(text(draw, 300).encode())
    for name, data in files.items():
        (folder / name).write_bytes(data)
    for number in range(2):
        table = pa.table({"text": [text(draw) for _ in range(50)], "n": list(range(50))})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=7)
    with pa.OSFile(str(folder / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=9)
    names = sorted(path for path in folder.iterdir())
    draw.shuffle(names)
    return {"odd": names[1::2], "even": names[::2]}


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [150, 1000, 5000, None])
def test_a_run_leaves_the_very_table_that_one_count_gives(tmp_path: Path, seed: int, size: int | None) -> None:
    source = corpus(tmp_path / "in", seed)
    options: dict[str, Any] = {"split": "gpt2", "special_tokens": ["<|end|>"]}
    if seed % 2:
        options["normalizers"] = ["NFKC", "Lowercase"]
    Counts.of(source, **options).write(tmp_path / "whole.parquet")
    counts = count_corpus(source, tmp_path / "out", task_size=size, workers=2, **options)
    assert same(tmp_path / "whole.parquet", tmp_path / "out" / "counts.parquet")
    assert counts.end == Counts.of(source, **options).end
    assert not (tmp_path / "out" / "work").exists()


@pytest.mark.parametrize("size", [20, 33, 64, 100_000])
def test_lines_of_json_can_be_cut_anywhere(tmp_path: Path, size: int) -> None:
    draw = random.Random(size)
    lines = [line(draw, text(draw, 4)) for _ in range(60)]
    place = tmp_path / "a.jsonl"
    place.write_text("".join(lines), newline="")
    Counts.of(place).write(tmp_path / "whole.parquet")
    count_corpus(place, tmp_path / "out", task_size=size)
    assert same(tmp_path / "whole.parquet", tmp_path / "out" / "counts.parquet")


@pytest.mark.parametrize("ties", ["lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen"])
def test_the_trained_tokenizer_is_that_of_one_count(tmp_path: Path, ties: Any) -> None:
    source = corpus(tmp_path / "in", 7)
    options: dict[str, Any] = {
        "vocab_size": 340,
        "ties": ties,
        "special_tokens": ["<|end|>"],
        "weights": {"odd": "0.5"},
    }
    bp.train(source, split="gpt2", **options).save(tmp_path / "whole")
    counts = count_corpus(source, tmp_path / "out", split="gpt2", special_tokens=["<|end|>"], task_size=500)
    bp.train(counts, **options).save(tmp_path / "parts")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert all(same(tmp_path / "whole" / name, tmp_path / "parts" / name) for name in names)


def test_delimited_documents_count_as_texts(tmp_path: Path) -> None:
    draw = random.Random(5)
    documents = [text(draw).replace("\n", "") for _ in range(200)]
    place = tmp_path / "a.txt"
    place.write_text("\n".join(documents))
    counts = count_corpus(place, tmp_path / "out", delimiter="\n", task_size=300)
    whole = Counts.of(iter(documents))
    assert list(counts) == list(whole)


def test_a_delimited_document_may_be_longer_than_a_batch(tmp_path: Path) -> None:
    documents = ["low " * 1_500_000, "lower", "newest " * 700_000]
    place = tmp_path / "a.txt"
    place.write_text("\0".join(documents))
    counts = count_corpus(place, tmp_path / "out", delimiter="\0")
    assert list(counts) == list(Counts.of(iter(documents)))


def test_memory_changes_nothing(tmp_path: Path) -> None:
    draw = random.Random(3)
    place = tmp_path / "a.txt"
    place.write_text(" ".join(str(draw.randrange(10**9)) for _ in range(60_000)))
    counts = count_corpus(place, tmp_path / "out", memory="300KB", split="gpt2")
    assert list(counts) == list(Counts.of(place, split="gpt2"))


@pytest.mark.parametrize("tasks", [1, 2, 8, 9, 64, 65, 1000])
def test_the_tree_reads_each_table_once_and_ends_in_one(tasks: int) -> None:
    for stage in reductions(tasks):
        assert [number for task in stage for number in task] == list(range(tasks))
        assert all(1 <= len(task) <= 8 for task in stage)
        tasks = len(stage)
    assert tasks == 1


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", 1)

    class Failing(Local):
        def run(self, folder: str, tasks: Any, told: Any) -> None:
            super().run(folder, tasks[: len(tasks) // 2], told)
            raise ArtifactError("the power is gone")

    with pytest.raises(ArtifactError, match="power"):
        count_corpus(source, tmp_path / "out", task_size=500, engine=Failing())
    with pytest.raises(CorpusError, match="there is a run"):
        count_corpus(source, tmp_path / "out", task_size=500)
    with pytest.raises(CorpusError, match="split was"):
        count_corpus(source, tmp_path / "out", task_size=500, split="gpt2", resume=True)
    count_corpus(source, tmp_path / "out", task_size=500, resume=True)
    Counts.of(source).write(tmp_path / "whole.parquet")
    assert same(tmp_path / "whole.parquet", tmp_path / "out" / "counts.parquet")
    again = count_corpus(source, tmp_path / "out", task_size=500, resume=True)
    assert list(again) == list(Counts.of(source))


@pytest.mark.parametrize("size", [60, 10_000])
@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (b'{"text": "low"', TrainingError),
        (b'{"text": 5}', TrainingError),
        (b'{"other": "low"}', TrainingError),
        (b"[]", TrainingError),
        (b'{"text": "l\xffow"}', EncodeError),
        (b'\xef\xbb\xbf{"text": "low"}', TrainingError),
    ],
)
def test_errors_of_lines_are_those_of_one_count(tmp_path: Path, size: int, bad: bytes, kind: type[Exception]) -> None:
    good = b"".join(b'{"text": "low \xc3\xbc %d"}\n' % number for number in range(20))
    for before in range(1, 6):
        place = tmp_path / f"{before}.jsonl"
        place.write_bytes(good[: good.index(b"\n") + 1] * before + bad + b"\n" + good)
        with pytest.raises(kind) as one:
            Counts.of(place)
        with pytest.raises(kind) as other:
            count_corpus(place, tmp_path / f"out{before}", task_size=size, workers=1)
        assert str(one.value) == str(other.value)


def test_errors_of_rows_and_texts_name_their_places(tmp_path: Path) -> None:
    table = pa.table({"text": ["low"] * 9 + [None] + ["low"] * 9})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    (tmp_path / "a.txt").write_bytes(b"low " * 500_000 + b"\xff")
    for name in ("a.parquet", "a.txt"):
        with pytest.raises(bp.BytepairError) as one:
            Counts.of(tmp_path / name)
        with pytest.raises(type(one.value)) as other:
            count_corpus(tmp_path / name, tmp_path / f"out-{name}", task_size=64)
        for place in ("file", "row", "byte", "character", "line"):
            assert getattr(one.value, place) == getattr(other.value, place), place
    (tmp_path / "b.txt").write_bytes(b"low\nlow\xff\n")
    with pytest.raises(EncodeError) as found:
        count_corpus(tmp_path / "b.txt", tmp_path / "out-b", delimiter="\n")
    assert found.value.byte == 7
    assert count_corpus(tmp_path / "b.txt", tmp_path / "out-c", delimiter="\n", errors="replace").pieces == 3


def test_what_cannot_be_is_told_before_anything_is_done(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_text("low")
    with pytest.raises(PatternError):
        count_corpus(place, tmp_path / "out", split="(")
    with pytest.raises(ValueError, match="errors='ignore'"):
        count_corpus(place, tmp_path / "out", errors="ignore")  # type: ignore[arg-type]  # it is refused
    with pytest.raises(TrainingError, match="has no effect"):
        count_corpus(place, tmp_path / "out", field="text")
    with pytest.raises(CorpusError, match="no engine"):
        count_corpus(place, tmp_path / "out", engine="mainframe")
    assert not (tmp_path / "out").exists()
