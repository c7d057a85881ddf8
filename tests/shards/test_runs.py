"""A run writes the ids of each document encoded by itself, for every way to cut the corpus and every engine."""

from __future__ import annotations

import decimal
import gzip
import os
import shutil
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import bytepair as bp
from bytepair.model.models import WordPiece
from bytepair.shards import encoding_task, shuffling, spooling, tasks
from bytepair.shards.draws import Draw, threshold
from bytepair.shards.engines.local import Local
from bytepair.sources import flat_rows
from tests.shards.corpora import Corpus, corpus, digests

Row = tuple[str, int, str | None, list[int]]


def rows(folder: Path, split: str = "train") -> list[Row]:
    """All documents of a split according to the shards and their tables, in the order of the shards."""
    found: list[Row] = []
    for path in sorted(folder.glob(f"{split}*.bin")):
        ids = np.fromfile(path, np.uint16)
        table = pq.read_table(path.with_suffix(".documents.parquet")).to_pylist()
        starts = [row["start"] for row in table]
        assert starts == np.cumsum([0, *(row["tokens"] for row in table)]).tolist()[:-1]
        assert not table or starts[-1] + table[-1]["tokens"] == len(ids)
        for row in table:
            document = ids[row["start"] : row["start"] + row["tokens"]].tolist()
            found.append((row["input"], row["position"], row["id"], document))
    return found


def expected(corpus: Corpus, tok: bp.Tokenizer, prefix: list[int], suffix: list[int], **policy: Any) -> list[Row]:
    ids = corpus.ids(tok, prefix, suffix, **policy)
    return [(d.input, d.position, d.id, i) for d, i in zip(corpus.documents, ids, strict=True) if i is not None]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus(tmp_path_factory.mktemp("corpus"), Random(1))


@pytest.mark.parametrize("seed", range(6))
def test_shards_are_what_each_document_alone_gives(
    seed: int, tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    size = random.choice([1, 7, 90])
    files = corpus(tmp_path / "in", random, size)
    monkeypatch.setattr(encoding_task, "_BATCH_BYTES", random.choice([100, 5000, 1 << 22]))
    monkeypatch.setattr(spooling, "_HELD_BYTES", random.choice([1, 2000, 1 << 26]))
    monkeypatch.setattr(shuffling, "_BATCH_BYTES", random.choice([100, 3000, 1 << 24]))
    monkeypatch.setattr(shuffling, "_GAP", random.choice([0, 100, 1 << 20]))
    monkeypatch.setattr(flat_rows, "_PART", random.choice([1, 1000, 1 << 20]))
    special = random.choice(["raise", "text", "allow"])
    bos, eos = random.choice([(None, "<|end|>"), ("<|user|>", None), (["<|user|>", 5], "<|end|>")])
    options: dict[str, Any] = {
        **files.reading(),
        "bos": bos,
        "eos": eos,
        "special": special,
        "errors": random.choice(["strict", "replace"]),
        "bad": random.choice(["skip", "quarantine"]),
        # A task for each byte, but of a corpus with so few of them that a shuffle of all with all takes no time.
        "task_size": random.choice([*((1, 300) if size < 90 else (600, 2000)), 5000, None]) if seed else 300,
        "workers": random.choice([1, 2, 3]),
        "join": random.random() < 0.3,
        "seed": seed,
    }
    prefix = [] if bos is None else [tok.token_id("<|user|>"), *([5] if isinstance(bos, list) else [])]
    suffix = [] if eos is None else [tok.token_id("<|end|>")]
    whole = expected(files, tok, prefix, suffix, special=special, errors=options["errors"])

    plain = bp.shard(files.source, tok, tmp_path / "plain", **options)
    assert rows(tmp_path / "plain") == whole
    assert (plain.documents, plain.tokens) == (len(whole), sum(len(row[3]) for row in whole))
    assert plain.tally.empty + sum(plain.tally.bad.values()) == len(files.documents) - len(whole)
    quarantine = [line for path in tmp_path.glob("plain/quarantine/*") for line in path.read_bytes().splitlines()]
    assert len(quarantine) == (sum(plain.tally.bad.values()) if options["bad"] == "quarantine" else 0)

    share = random.choice(["0", "0.3", "1", "0.05"])
    names = list(dict.fromkeys(document.input for document in files.documents))
    drawn = Draw(seed, "validation", names)
    to_validation = [
        int(drawn(np.array([names.index(row[0])]), np.array([row[1]]))[0]) < threshold(share) for row in whole
    ]
    bp.shard(files.source, tok, tmp_path / "split", validation=share, **options)
    for split, which in (("train", False), ("val", True)):
        part = [row for row, is_validation in zip(whole, to_validation, strict=True) if is_validation == which]
        assert rows(tmp_path / "split", split) == part
        # A shuffled split has the same documents, in the order of another draw.
        if split == "train":
            bp.shard(files.source, tok, tmp_path / "shuffled", validation=share, shuffle=True, **options)
        keys = Draw(seed, "shuffle", names)
        key = {row[:2]: int(keys(np.array([names.index(row[0])]), np.array([row[1]]))[0]) for row in part}
        assert rows(tmp_path / "shuffled", split) == sorted(part, key=lambda row: key[row[:2]])
    for name in ("plain", "split", "shuffled"):
        assert bp.verify_shards(tmp_path / name).documents == len(whole)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "validation": 0.2}, {"join": True, "bad": "quarantine"}])
def test_workers_change_nothing(options: dict[str, Any], files: Corpus, tok: bp.Tokenizer, tmp_path: Path) -> None:
    results = []
    for number, engine in enumerate([Local(1), Local(3), Local(2, processes=True)]):
        folder = tmp_path / str(number)
        bp.shard(
            files.source, tok, folder, task_size=4000, engine=engine, **{"bad": "skip"} | options, **files.reading()
        )
        results.append(digests(folder))
    assert results[0] == results[1] == results[2]


def test_shuffles_differ_by_their_seeds_and_keep_nothing_of_the_order(tok: bp.Tokenizer, tmp_path: Path) -> None:
    files = corpus(tmp_path / "in", Random(2), 600, bad=False, longest=4)
    orders: list[list[tuple[str, int]]] = []
    for seed in (0, 0, 1):
        folder = tmp_path / f"out{len(orders)}"
        options: dict[str, Any] = {"shuffle": True, "seed": seed, "task_size": 2000 * (len(orders) + 1)}
        bp.shard(files.source, tok, folder, **options, **files.reading())
        orders.append([row[:2] for row in rows(folder)])
    assert orders[0] == orders[1] != orders[2]
    before = {(document.input, document.position): place for place, document in enumerate(files.documents)}
    for order in orders[1:]:
        assert sorted(order) == sorted(before)
        places = np.array([before[row] for row in order])
        # Bounds that a uniform permutation of n exceeds with a probability below 10^-6.
        n = len(places)
        assert abs(np.corrcoef(places, np.arange(n))[0, 1]) < 5 / np.sqrt(n)
        assert sum(abs(a - b) == 1 for a, b in pairwise(places.tolist())) < 15
        quarters = np.histogram2d(places, np.arange(n), bins=4)[0]
        assert np.abs(quarters - n / 16).max() < 6 * np.sqrt(n / 16)


def test_buckets_are_what_whole_numbers_say() -> None:
    random = Random(3)
    for _ in range(50):
        buckets = random.choice([1, 2, 3, 7, 1000, random.randrange(1, 1 << 32)])
        keys = [0, 1, (1 << 64) - 1, *(random.getrandbits(64) for _ in range(50))]
        keys += [min((n << 64) // buckets + random.randrange(2), (1 << 64) - 1) for n in range(min(buckets, 20))]
        found = spooling.bucket_of(np.array(keys, np.uint64), buckets).tolist()
        assert found == [key * buckets >> 64 for key in keys]


def test_rows_are_taken_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(4)
    for _ in range(100):
        monkeypatch.setattr(flat_rows, "_PART", random.choice([1, 10, 1000]))
        data = np.array([random.randrange(1000) for _ in range(random.randrange(1, 500))])
        starts = [random.randrange(len(data)) for _ in range(random.randrange(20))]
        lengths = [random.randrange(min(len(data) - start, random.choice([2, 400])) + 1) for start in starts]
        parts = flat_rows.taken(data, np.array(starts, np.int64), np.array(lengths, np.int64))
        found = [item for part in parts for item in part.tolist()]
        rows = zip(starts, lengths, strict=True)
        assert found == [item for start, length in rows for item in data[start : start + length].tolist()]


def test_a_bad_document_is_named_with_its_place(files: Corpus, tok: bp.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(bp.BytepairError) as caught:
        bp.shard(files.source, tok, tmp_path / "out", engine=Local(1), **files.reading())
    ids = files.ids(tok, [], [])
    bad = [
        document for document, found in zip(files.documents, ids, strict=True) if found is None and document.text != b""
    ]
    first = bad[0]
    assert caught.value.file == first.input
    assert caught.value.byte is not None
    assert 0 <= caught.value.byte - first.position < len(first.text or b"")


@pytest.mark.parametrize("format", ["npy", "megatron", "parquet", "arrow"])
def test_every_format_shuffles_and_verifies(format: str, files: Corpus, tok: bp.Tokenizer, tmp_path: Path) -> None:
    join = format in {"npy", "megatron"}
    summary = bp.shard(
        files.source,
        tok,
        tmp_path / "out",
        format=format,
        shuffle=True,
        validation=0.1,
        join=join,
        bad="skip",
        task_size=3000,
        **files.reading(),
    )
    found = bp.verify_shards(tmp_path / "out")
    assert (found.documents, found.tokens) == (summary.documents, summary.tokens)


def test_nothing_at_all_is_a_run_as_well(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    chosen: list[dict[str, Any]] = [{}, {"shuffle": True}, {"join": True, "validation": 0.5, "shuffle": True}]
    for number, options in enumerate(chosen):
        summary = bp.shard(tmp_path / "empty.txt", tok, tmp_path / str(number), delimiter="\n", **options)
        assert summary.documents == summary.tokens == 0
        assert bp.verify_shards(tmp_path / str(number)).documents == 0
    assert (tmp_path / "2" / "train.bin").read_bytes() == (tmp_path / "2" / "val.bin").read_bytes() == b""


def test_what_a_worker_remembers_is_told_by_the_plan(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low<|end|>")
    found = []
    for special in ("text", "allow"):
        bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", special=special)
        os.utime(tmp_path / "out/plan.json", (0, 0))  # as if both were made in one tick of the clock
        found.append(tasks.load(str(tmp_path / "out")).plan.options)
        shutil.rmtree(tmp_path / "out")
    assert found[0] != found[1]


def test_a_pattern_that_matches_the_run_itself(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    for _ in range(2):
        summary = bp.shard(f"{tmp_path}/**/*.txt", tok, tmp_path / "out", resume=True)
        assert (summary.inputs, summary.documents) == (1, 1)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert bp.shard(f"{tmp_path}/**/*.txt", tok, tmp_path / "link", resume=True).inputs == 1


def test_unknown_tokens_of_a_byte_pair_of_characters_are_counted(tmp_path: Path) -> None:
    from bytepair.model.models import BytePair, Characters
    from bytepair.model.spec import TokenizerSpec

    model = BytePair((b"<unk>", b"a", b"b"), (0, 1, 2), (), alphabet=Characters(unk_token="<unk>"))
    (tmp_path / "a.txt").write_text("abxa\nyz\nb", "utf-8")
    tok = bp.Tokenizer(TokenizerSpec(model))
    summary = bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", delimiter="\n")
    assert tok.encode("abxa") == [1, 2, 0, 1]
    assert (summary.tally.unknown, summary.tokens) == (3, 7)


def test_unknown_tokens_are_those_of_texts(tmp_path: Path) -> None:
    tok = bp.Tokenizer(bp.TokenizerSpec(WordPiece((b"[UNK]", b"low"), (0, 1))))
    (tmp_path / "a.txt").write_text("low\n\nx\n")
    summary = bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", delimiter="\n", bos=0, eos=[0, 1])
    assert (summary.tally.unknown, summary.documents, summary.tally.empty) == (1, 2, 1)


def test_lines_that_are_not_utf8_are_replaced(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "low\xff"}\n{"text": "\\ud800", "url": "\xff"}\n')
    bp.shard(tmp_path / "a.jsonl", tok, tmp_path / "out", id_field="url", errors="replace")
    assert [(id, ids) for _, _, id, ids in rows(tmp_path / "out")] == [
        (None, tok.encode("low\ufffd")),
        ("\ufffd", tok.encode("\ufffd")),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"eos": True}, "True is not a token"),
        ({"bos": b"x"}, "b'x' is not a token"),
        ({"eos": 1.5}, "1.5 is not a token"),
        ({"delimiter": b"x"}, "delimiter=b'x' is no str"),
        ({"delimiter": "\ud800"}, "holds half a surrogate pair"),
        ({"validation": "nan"}, "is not a share"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], said: str, tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises((TypeError, ValueError), match=said):
        bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_share_is_exact_whatever_the_context() -> None:
    with decimal.localcontext(decimal.Context(prec=3)):
        assert threshold("0.12345678901234567891") == 12345678901234567891 * 2**64 // 10**20


def test_a_tokenizer_that_was_just_written_is_not_read_again(
    tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a.txt"
    source.write_text("low\nlower\n")
    with monkeypatch.context() as patched:
        patched.delattr(bp.Tokenizer, "from_file")
        bp.shard(source, tok, tmp_path / "out", delimiter="\n")
    # A resumed run reads it: the folder must hold the tokenizer that the run was planned with.
    bp.train({"low": 5}, vocab_size=258).save(tmp_path / "out" / "tokenizer", "native")
    (tmp_path / "out/train-00000.bin").unlink()
    with pytest.raises(bp.IntegrityError, match="not the one of its plan"):
        bp.shard(source, tok, tmp_path / "out", delimiter="\n", resume=True)


@pytest.mark.parametrize("options", [{}, {"join": True}, {"shuffle": True}, {"shuffle": True, "join": True}])
def test_a_shard_of_long_documents_that_are_all_bad(
    options: dict[str, Any], tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_task, "_BATCH_BYTES", 10)
    (tmp_path / "a.txt").write_text("<|end|>" * 100)
    (tmp_path / "b.txt").write_text("low")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    summary = bp.shard(files, tok, tmp_path / "out", task_size=1, bad="skip", documents=False, **options)
    assert (summary.documents, summary.bad) == (1, 1)
    assert [path.stat().st_size for path in (tmp_path / "out").glob("train*.bin")] == [2]


def test_a_long_document_that_is_bad_and_too_long(
    tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_task, "_BATCH_BYTES", 10)
    with gzip.open(tmp_path / "a.txt.gz", "wb") as file:
        file.write(b"<|end|>" * 1000 + b"\nlow\n")
    summary = bp.shard(tmp_path / "a.txt.gz", tok, tmp_path / "out", delimiter="\n", longest=5000, bad="skip")
    assert (summary.documents, dict(summary.tally.bad)) == (1, {"LimitError": 1})
