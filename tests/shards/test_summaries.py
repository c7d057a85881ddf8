"""The summary of a run: sums, lengths, pages, pictures."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from bytepair.errors import ArtifactError, IntegrityError
from bytepair.shards import histogram
from bytepair.shards.plans import Plan, Portion, ShardOptions, Stage
from bytepair.shards.summaries import ShardSummary
from bytepair.shards.tally import Tally, step
from bytepair.sources.inputs import Input
from bytepair.sources.source import Reading

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = ShardOptions("bin", "uint16", (), (7,), "raise", "match", "strict", "skip", False, 3, "0.005", True, False)


def a_plan(groups: tuple[str, ...] = ("",), stages: tuple[str, ...] = ("encode",)) -> Plan:
    inputs = tuple(
        Input(f"{number}.txt", f"/somewhere/{number}.txt", "text", None, 1000, "1", group)
        for number, group in enumerate(groups)
    )
    tasks = tuple((Portion(number, 0, None),) for number in range(len(inputs)))
    rest = tuple(Stage(name, tuple((n,) for n in range(len(inputs)))) for name in stages[1:])
    return Plan(OPTIONS, Reading(delimiter="\n"), "f" * 64, inputs, (Stage(stages[0], tasks), *rest))


def an_entry(stage: str, number: int, tally: Tally | None, files: dict[str, int]) -> dict[str, object]:
    rows = [{"name": name, "size": size, "sha256": ""} for name, size in files.items()]
    entry: dict[str, object] = {"stage": stage, "number": number, "files": rows}
    return entry | ({"tally": tally.to_json()} if tally else {})


def some(seed: int, groups: tuple[str, ...] = ("",)) -> tuple[ShardSummary, list[tuple[str, str, int, int]]]:
    """A summary, and its documents: split, group, tokens and bytes."""
    random_ = random.Random(seed)
    documents: list[tuple[str, str, int, int]] = []
    entries = []
    for number, group in enumerate(groups):
        tally = Tally(unknown=number, empty=2, bad=Counter({"EncodeError": 1}))
        for _ in range(random_.randrange(1, 40)):
            size = random_.randrange(1, 5000)
            documents.append((random_.choice(["train", "val"]), group, random_.randrange(1, size + 1), size))
            split, _, tokens, _ = documents[-1]
            tally.count(split, group, np.array([tokens]), size)
        files = {f"train-{number:05}.bin": 10, f"train-{number:05}.documents.parquet": 5, f"val-{number:05}.bin": 3}
        entries.append(an_entry("encode", number, tally, files))
    return ShardSummary.of(a_plan(groups), entries), documents


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_the_documents(seed: int) -> None:
    groups = ("en", "de", "code")
    summary, documents = some(seed, groups)
    assert summary.documents == len(documents)
    assert summary.tokens == sum(tokens for *_, tokens, _ in documents)
    assert summary.text_bytes == sum(size for *_, size in documents)
    assert summary.bytes_per_token == summary.text_bytes / summary.tokens
    assert summary.mean_length == summary.tokens / len(documents)
    for name in groups:
        mine = [(tokens, size) for _, group, tokens, size in documents if group == name]
        amount = summary.tally.groups[name]
        assert (amount.documents, amount.tokens, amount.bytes) == (len(mine), *map(sum, zip(*mine, strict=True)))
    for name, amount in summary.tally.splits.items():
        assert amount.tokens == sum(tokens for split, _, tokens, _ in documents if split == name)
    assert (summary.tally.unknown, summary.tally.empty, summary.bad) == (0 + 1 + 2, 6, 3)
    assert summary.tally.longest == max(tokens for *_, tokens, _ in documents)
    assert (summary.inputs, summary.input_bytes) == (3, 3000)
    assert summary.files == {"train": 6, "val": 3}
    assert summary.file_bytes == {"train": 45, "val": 9}


def test_only_files_that_stay_are_counted_and_each_document_once() -> None:
    tally = Tally()
    tally.count("train", "", np.array([3, 4]), 20)
    entries = [
        an_entry("encode", 0, tally, {"work/encode/ids-00000": 100, "quarantine/encode-00000.jsonl": 7}),
        an_entry("shuffle", 0, None, {"train-00000.bin": 14, "val/00000/shard.mds": 4, "train.bin": 1}),
    ]
    summary = ShardSummary.of(a_plan(stages=("encode", "shuffle")), entries)
    assert summary.documents == 2
    assert summary.files == {"quarantine": 1, "train": 2, "val": 1}


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    summary, _ = some(1, ("en", "de"))
    assert sorted(summary.write(tmp_path)) == sorted(path.name for path in tmp_path.iterdir())
    assert ShardSummary.read(tmp_path) == summary
    table = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert table["tokens"] == summary.tokens
    assert table["splits"]["train"]["tokens"] == summary.tally.splits["train"].tokens
    assert table["options"]["eos"] == [7]
    assert table["options"]["delimiter"] == "\n"
    assert str(tmp_path) not in json.dumps(table)
    assert "/somewhere" not in (tmp_path / "summary.txt").read_text("utf-8")


def test_the_same_run_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        some(2)[0].write(tmp_path / name)
    for name in ("summary.json", "summary.txt"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_one_that_was_changed_is_told(tmp_path: Path) -> None:
    some(1)[0].write(tmp_path)
    place = tmp_path / "summary.json"
    place.write_text(place.read_text("utf-8").replace('"unknown": 0', '"unknown": 9'), "utf-8")
    with pytest.raises(IntegrityError, match="damaged"):
        ShardSummary.read(tmp_path)
    with pytest.raises(ArtifactError):
        ShardSummary.read(tmp_path / "nowhere")


PAGE = """\
4 documents, 48 tokens, 4.375 bytes per token
of 210 bytes of text, from 2 inputs of 2,000 bytes

       documents  tokens  bytes of text  bytes/token  files  bytes of files
train          3      45            200        4.444      1              90
val            1       3             10        3.333      1               6

group  documents  tokens  bytes of text  bytes/token  share of tokens
de             1       3             10        3.333            6.25%
en             3      45            200        4.444           93.75%

unknown tokens                         2
empty documents, left out              1
bad documents, left out                3
  EncodeError                          2
  LimitError                           1
mean length in tokens                 12
median length, about                   4
99th percentile of the length, about  34
longest                               36

documents by their length in tokens:

  2 - 3  1  ████████████████████
  4 - 7  2  ████████████████████████████████████████
 8 - 15  0
16 - 31  0
32 - 63  1  ████████████████████

options:
"""


def test_the_page(tmp_path: Path) -> None:
    tally = Tally(unknown=2, empty=1, bad=Counter({"LimitError": 1, "EncodeError": 2}))
    tally.count("train", "en", np.array([4, 5, 36]), 200)
    tally.count("val", "de", np.array([3]), 10)
    files = {"train-00000.bin": 90, "val-00000.bin": 6}
    ShardSummary.of(a_plan(("en", "de")), [an_entry("encode", 0, tally, files)]).write(tmp_path)
    page = (tmp_path / "summary.txt").read_text("utf-8")
    assert page.startswith(PAGE)
    assert 'delimiter    "\\n"' in page.splitlines()
    assert not [line for line in page.splitlines() if line != line.rstrip()]


def test_nothing_at_all_has_a_page() -> None:
    summary = ShardSummary.of(a_plan(()), [])
    assert str(summary).startswith(
        "0 documents, 0 tokens, 0.000 bytes per token\nof 0 bytes of text, from 0 inputs of 0 b"
    )
    assert (summary.quantile(0.5), summary.mean_length, histogram.text({})) == (0, 0, "")


def lengths_of(tokens: list[int]) -> Counter[int]:
    return Counter(step(np.array(tokens)).tolist())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99, 1.0])
def test_quantiles_are_in_the_step_of_the_true_one(seed: int, share: float) -> None:
    random_ = random.Random(seed)
    tokens = sorted(int(random_.lognormvariate(4, 2)) for _ in range(random_.randrange(1, 200)))
    found = histogram.quantile(lengths_of(tokens), share, tokens[-1])
    true = tokens[max(-(-len(tokens) * round(share * 100) // 100), 1) - 1]
    assert step(np.array([found])) == step(np.array([true]))
    assert found <= tokens[-1]


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_steps_have_no_gap_and_no_document_twice(seed: int, steps: int) -> None:
    random_ = random.Random(seed)
    tokens = [int(random_.lognormvariate(3, 3)) for _ in range(100)]
    bins = histogram.bins(lengths_of(tokens), steps)
    assert [one.end for one in bins[:-1]] == [one.start for one in bins[1:]]
    assert [one.amount for one in bins] == [sum(one.start <= n < one.end for n in tokens) for one in bins]
    assert sum(one.amount for one in bins) == 100
    assert bins[0].amount
    assert bins[-1].amount


def test_a_step_that_has_a_document_is_seen() -> None:
    lines = histogram.text({16: 10**9, 1024: 1}).splitlines()
    assert lines[0].endswith("█" * 40)
    assert lines[1].endswith(" 0")
    assert lines[-1].endswith("1  ▏")


def drawn(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text("utf-8"))


def bars(path: Path) -> list[tuple[float, float, float, str]]:
    """Left end, width, height and title of each bar of a histogram."""
    found = [one for one in drawn(path).iter(f"{SVG}rect") if one.get("class") == "bar"]
    return [
        (float(one.get("x", "")), float(one.get("width", "")), float(one.get("height", "")), "".join(one.itertext()))
        for one in found
    ]


def test_the_same_numbers_are_the_same_histogram(tmp_path: Path) -> None:
    summary, _ = some(4)
    summary.plot(tmp_path / "a.svg")
    summary.plot(str(tmp_path / "b.svg"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert f"{summary.documents} documents, {summary.tokens:,} tokens" in "".join(drawn(tmp_path / "a.svg").itertext())


def plotted(tokens: list[int], path: Path) -> Path:
    tally = Tally()
    tally.count("train", "", np.array(tokens), 4)
    ShardSummary.of(a_plan(), [an_entry("encode", 0, tally, {})]).plot(path)
    return path


@pytest.mark.parametrize("seed", range(5))
def test_the_area_of_a_bar_is_its_documents(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    tokens = [int(random_.lognormvariate(5, 2)) for _ in range(500)]
    expected = histogram.bins(lengths_of(tokens), 4)
    found = bars(plotted(tokens, tmp_path / "a.svg"))
    assert len(found) == len(expected)
    # Bars touch, and are as wide as their steps are on the scale of powers of two.
    for before, after in pairwise(found):
        assert before[0] + before[1] == pytest.approx(after[0], abs=0.02)
    doubling = next(width for (_, width, _, _), one in zip(found, expected, strict=True) if one.start == 1)
    most = max(one.amount for one in expected)
    area = next(w * h / one.amount for (_, w, h, _), one in zip(found, expected, strict=True) if one.amount == most)
    for (_, width, height, title), one in zip(found, expected, strict=True):
        assert width == pytest.approx(doubling * log2(one.end / max(one.start, 0.5)), abs=0.02)
        assert width * height == pytest.approx(one.amount * area, rel=0.03, abs=0.02 * doubling)
        assert title.endswith(f": {one.amount:,} documents")


def test_lengths_that_are_spread_evenly_have_no_teeth(tmp_path: Path) -> None:
    # Each doubling has as many documents, evenly on the scale; in equally high bars these would be teeth.
    tokens = [round(2 ** (power / 200)) for power in range(5 * 200, 11 * 200)]
    heights = [height for _, _, height, _ in bars(plotted(tokens, tmp_path / "a.svg"))]
    assert min(heights[:-1]) > 0.8 * max(heights[:-1])


def test_histograms_of_nothing_and_of_empty_documents(tmp_path: Path) -> None:
    ShardSummary.of(a_plan(()), []).plot(tmp_path / "nothing.svg")
    assert "There is nothing to draw." in "".join(drawn(tmp_path / "nothing.svg").itertext())
    assert [title for *_, title in bars(plotted([0, 0], tmp_path / "zero.svg"))] == ["0 tokens: 2 documents"]
    assert len(bars(plotted([0, 1, 2**40], tmp_path / "wide.svg"))) > 100


def test_all_of_a_histogram_is_inside(tmp_path: Path) -> None:
    random_ = random.Random(1)
    for number in range(50):
        tokens = [int(random_.lognormvariate(random_.uniform(0, 9), 2)) for _ in range(random_.randrange(1, 50))]
        root = drawn(plotted(tokens, tmp_path / f"{number}.svg"))
        _, _, width, height = map(float, root.get("viewBox", "").split())
        rows = set()
        for text in root.iter(f"{SVG}text"):
            x, y, wide = float(text.get("x", "")), float(text.get("y", "")), 8 * len("".join(text.itertext()))
            left = {"end": x - wide, "middle": x - wide / 2}.get(text.get("text-anchor", ""), x)
            assert left >= -8, tokens
            assert left + wide <= width + 8
            assert 0 < y < height
            if text.get("class") is None:
                rows.add(y)
        # The names of the median and the mean are on lines of their own.
        assert len(rows) == 2


def test_a_histogram_is_an_svg_file(tmp_path: Path) -> None:
    summary, _ = some(4)
    with pytest.raises(ArtifactError, match=r"is an SVG file.*name it NAME\.svg"):
        summary.plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
