from __future__ import annotations

import dataclasses
import doctest
from pathlib import Path

import pytest
from benchmarks import peers, process, scale, scale_counts, scale_plans, shard_corpora, shards

import bytepair as bp
from bytepair.shards import plans


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> shards.Bench:
    text = b"".join(b"low lower %d newest widest\n" % number for number in range(2_000))
    work = tmp_path_factory.mktemp("work")
    made = shard_corpora.corpus("words", text, 300, 2 * len(text))
    tok = bp.train(iter([text.decode()]), 280, split="gpt2", special_tokens=[shard_corpora.EOS])
    bare = bp.Tokenizer(tok.spec.replace(added_tokens=()))
    vocabulary = dataclasses.replace(peers.write(bare, work, "words"), special_tokens=tok.special_tokens)
    native = tok.save(work / "native", "native")[0]
    eos = tok.token_id(shard_corpora.EOS)
    return shards.Bench(made, made.write(work), vocabulary, native, work, made.expected(tok), eos)


@pytest.mark.parametrize(
    "name", ["text to Megatron", "JSON lines to bin", "Parquet to Parquet", "encoder", "as Megatron preprocesses"]
)
def test_every_way_gives_the_ids(bench: shards.Bench, name: str) -> None:
    way = {**shards.WAYS, **shards.PEERS, "encoder": shards.YARDSTICK}[name]
    ran = bench.once(way)
    assert ran.wall > 0
    assert not [*bench.work.glob("output*")]


@pytest.mark.parametrize("name", ["Parquet to bin shuffled"])
def test_wrong_ids_have_no_time(bench: shards.Bench, name: str) -> None:
    bench.once(shards.WAYS[name])
    flat = bench.expected.flat.copy()
    flat[len(flat) // 2] += 1
    other = dataclasses.replace(bench, expected=dataclasses.replace(bench.expected, flat=flat))
    turns = shards.Turns(other, {name: shards.WAYS[name]}).take(1)
    assert turns.failed == {name: "its ids are WRONG"}
    assert not turns.ran


def test_a_corpus_has_each_document_as_often_as_any_other(bench: shards.Bench) -> None:
    made = bench.corpus
    assert b"".join(made.distinct).count(b"low lower") == 2_000
    first = made.order[: len(made.distinct)]
    assert sorted(first.tolist()) == [*range(len(made.distinct))]


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(process.FailedError, match=r"^no$"):
        process.run(["sh", "-c", "echo yes; echo no; exit 3"])
    assert process.run(["echo", "yes"]).out == "yes\n"


def test_plans_are_as_large_as_they_say(tmp_path: Path) -> None:
    assert scale_plans.plan(tmp_path, 40)["tasks"] == 40
    assert len(plans.read(tmp_path).stages[1].tasks) == 40


def test_levels_of_a_tree_have_the_rows_of_one_count(tmp_path: Path) -> None:
    texts = [b"low lower %d\n" % number for number in range(40)]
    scale_counts.write_slices(texts, tmp_path, 10)
    levels = {name: scale_counts.stage(tmp_path, name) for name in scale_counts.begin(tmp_path, memory=None)}
    assert [level["tasks"] for level in levels.values()] == [10, 2, 1]
    whole = bp.Counts.of(iter([b"".join(texts).decode()]))
    assert levels["reduce-2"]["rows"] == len(whole)


def test_the_arithmetic_is_that_of_its_formulas() -> None:
    level = {"tasks": 8, "cpu": 2.0, "rows": 1_000_000, "bytes": 14_000_000, "peak": 220.0, "imported": 100.0}
    copies = {"count": level, "reduce-1": level}
    train = {"rows": 1_000_000, "peak": 170.0, "cpu": 1.0, "read": 1.0}
    found = scale.Tables(copies, copies, copies, train, (1.0, 0.5), [(1, 1), (10**8, 1_000_000)])
    assert found.rows(10**10) == pytest.approx(1e7)
    assert (found.seconds_a_row, found.memory_a_row, found.file_a_row) == (2e-6, 120, 14)
    steps = {"plan": {"bytes": 400.0}, "load": {"seconds": 4.0}, "ledger": {"bytes": 1_000.0}}
    rate = scale.Rates({"counting": 3.6}, 36.0, 3.6, 36.0, 1e-4, 1.0, 1.1, {})
    lines = scale.terabytes_table(rate, {4: steps}, found).splitlines()
    table = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}
    assert table["encoding, core hours"] == ["10", "100", "1,000"]
    assert table["distinct pieces, millions"] == ["100", "316", "1,000"]
    assert table["the last sum reads, millions of rows"][0] == "283"


@pytest.mark.parametrize("module", [shard_corpora, scale_counts])
def test_the_examples_are_right(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # a module
