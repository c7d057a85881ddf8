"""Counts equal a slow count for all threads, memory limits and parts; tables add up, and are read back or refused.

Long because every way to make a table meets every way to break one.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bytepair as bp
from bytepair._core import PieceCounter
from bytepair.training.counts import MOST, Counts, Stages
from tests.conftest import HOSTILE

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402  # after the line that skips

NO_SEAMS = r"\w+(?=\s)|\s+|\S"
SPLITS = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "none", NO_SEAMS]
SPECIAL = ["<end>", "<end>of", "ab<"]
OPTIONS: list[dict[str, Any]] = [
    {"threads": 1},
    {"threads": 2},
    {"threads": 7, "memory": "2.1MB"},
    {"threads": 64},
    {"threads": 1, "memory": 300_000},
]

Row = tuple[bytes, int, str, int]


def random_text(random: Random, length: int) -> str:
    parts = ["a", "b", "low", "'s", " ", " ", "\n", "é", "中", "7", "<end>", "<en", "d>", "of", "ab<", "e\u0301", "🦊"]
    return "".join(random.choices(parts, k=length))


def slow(texts: list[str], split: str, special: Sequence[str] = (), normalizers: tuple[str, ...] = ()) -> list[Row]:
    """All rows by the tokenizer's own split of each stretch, one text after the other."""
    tok = bp.train({"a": 1}, 256, split=split)
    counts: Counter[bytes] = Counter()
    first: dict[bytes, int] = {}
    position = 0
    for text in texts:
        at = 0
        while at < len(text):
            # Leftmost, longest.
            places = [(text.find(token, at), -len(token)) for token in special if text.find(token, at) >= 0]
            found = min(places, default=None)
            end = len(text) if found is None else found[0]
            stretch = text[at:end]
            for normalizer in normalizers:
                stretch = unicodedata.normalize(normalizer, stretch)  # type: ignore[arg-type]
            place = position + len(text[:at].encode())
            for piece in map(str.encode, tok.pieces(stretch)):
                counts[piece] += 1
                first.setdefault(piece, place)
                place += len(piece)
            at = len(text) if found is None else end - found[1]
        position += len(text.encode()) + 1
    return [(piece, counts[piece], "", first[piece]) for piece in counts]


def rows(counts: Counts) -> list[Row]:
    return sorted((row.piece, row.count, row.group, row.first_position) for row in counts)


def write_shards(folder: Path, texts: list[str]) -> list[Path]:
    paths = [folder / f"{number:03}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return paths


@pytest.mark.parametrize("split", SPLITS)
def test_counts_are_those_of_a_slow_count(tmp_path: Path, split: str) -> None:
    random = Random(split)
    texts = [*HOSTILE, *(random_text(random, length) for length in (0, 900, 1800, 2700))]
    special = SPECIAL if split != "qwen2" else []
    expected = sorted(slow(texts, split, special))
    paths = write_shards(tmp_path, texts)
    (tmp_path / "all.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    pq.write_table(pa.table({"text": texts}), tmp_path / "all.parquet", row_group_size=5)
    for some in OPTIONS:
        options = {"split": split, "special_tokens": special, **some}
        assert rows(Counts.of(iter(texts), **options)) == expected
        assert rows(Counts.of(paths, **options)) == expected
        assert rows(Counts.of(tmp_path / "all.parquet", **options)) == expected
        lines = Counts.of(tmp_path / "all.jsonl", **options)
        assert [row[:3] for row in rows(lines)] == [row[:3] for row in expected]
        # Lines of JSON are longer than their texts, but in the same order.
        order = [row.piece for row in lines]
        assert order == [row[0] for row in sorted(expected, key=lambda row: row[3])]


@pytest.mark.parametrize("normalizers", [("NFC",), ("NFKD",), ("NFD", "NFC")])
def test_normalizers_apply_between_special_tokens(normalizers: tuple[str, ...]) -> None:
    random = Random(3)
    texts = ["e<end>\u0301 \u1100<end>\u1161", *(random_text(random, 500) for _ in range(4))]
    expected = slow(texts, "gpt2", ["<end>"], normalizers)
    for options in OPTIONS:
        counts = Counts.of(iter(texts), split="gpt2", special_tokens=["<end>"], normalizers=normalizers, **options)
        assert rows(counts) == sorted(expected)


def test_special_tokens_at_the_edges_of_windows(tmp_path: Path) -> None:
    # With this little memory a file is read in windows of 4096 bytes.
    for shift in range(0, 14, 2):
        text = "x" * (4090 + shift) + "<end>of" + " y" * 2030 + "<end><en" + "d>ab<end>"
        (tmp_path / "a.txt").write_text(text)
        expected = sorted(slow([text], "gpt2", SPECIAL))
        for threads in (1, 3):
            options: dict[str, Any] = {"special_tokens": SPECIAL, "threads": threads, "memory": 30_000}
            assert rows(Counts.of(tmp_path / "a.txt", split="gpt2", **options)) == expected


def test_added_tokens_that_look_around_in_files_read_in_windows(tmp_path: Path) -> None:
    added = [
        bp.AddedToken("<w>", 256, single_word=True),
        bp.AddedToken("<l>", 257, lstrip=True),
        bp.AddedToken("<r>", 258, rstrip=True),
    ]
    tok = bp.Tokenizer(bp.train({"a": 1}, 256, split="cl100k").spec.replace(added_tokens=tuple(added)))
    random = Random(9)
    parts = ["<w>", "<l>", "<r>", "a", " ", "  \n\n ", "word ", "\n", ".", "x" * 500]
    options = {"group": 0, "errors": "strict", "threads": 2, "tell": None}
    for _ in range(30):
        (tmp_path / "a.txt").write_text("".join(random.choices(parts, k=300)))
        tables = []
        for memory in (None, 30_000):
            counter = PieceCounter.of(tok, memory=memory)
            counter.count_file(tmp_path / "a.txt", options)
            tables.append(sorted(counter.finish().rows()))
        assert tables[0] == tables[1]


def test_bytes_that_are_not_utf8_are_replaced_or_placed(tmp_path: Path) -> None:
    random = Random(2)
    data = [bytes(random.choices(b"a \xc3\xa9\xe4\xb8\xad\xf0\x9f\xff\n", k=1500)) for _ in range(3)]
    expected = sorted(slow([one.decode("utf-8", "replace") for one in data], "gpt2"))
    paths = []
    for number, one in enumerate(data):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_bytes(one)
    for options in OPTIONS:
        assert rows(Counts.of(paths, split="gpt2", errors="replace", **options)) == expected
        assert rows(Counts.of(iter(data), split="gpt2", errors="replace", **options)) == expected
    (tmp_path / "bad.txt").write_bytes("é\n".encode() * 9000 + b"\xff")
    for memory in (None, 40_000):
        with pytest.raises(bp.EncodeError) as caught:
            Counts.of(tmp_path / "bad.txt", memory=memory)
        assert (caught.value.byte, caught.value.character, caught.value.line) == (27_000, 18_000, None)


def test_shards_add_up_to_the_whole(tmp_path: Path) -> None:
    random = Random(4)
    texts = [random_text(random, 200) for _ in range(30)]
    whole = Counts.of(iter(texts), split="cl100k")
    paths = write_shards(tmp_path, texts)
    files = Counts.of(paths, split="cl100k")
    for _ in range(5):
        cuts = [0, *sorted(random.choices(range(31), k=3)), 30]
        for source, total in ((texts, whole), (paths, files)):
            sum_ = Counts.of(iter([]), split="cl100k")
            start = 0
            for number in range(4):
                part: Any = source[cuts[number] : cuts[number + 1]]
                part = iter(part) if source is texts or not part else part
                counted = Counts.of(part, split="cl100k", start=start, threads=number + 1)
                start = counted.end
                sum_ = sum_ + counted if number % 2 else counted + sum_
            assert rows(sum_) == rows(total)
            assert (sum_.end, sum_.pieces, sum_.text_bytes) == (total.end, total.pieces, total.text_bytes)
        shuffled = random.sample(paths, 30)
        other = Counts.of(shuffled, split="cl100k")
        assert [row[:3] for row in rows(other)] == [row[:3] for row in rows(files)]
        assert other.digest == files.digest
        assert rows(other) == sorted(slow([path.read_bytes().decode() for path in shuffled], "cl100k"))


@pytest.mark.parametrize("memory", [1, "10KB", 35_000, 60_000, 290_000])
def test_any_memory_is_enough(memory: str | int) -> None:
    random = Random(str(memory))
    texts = [random_text(random, 150) for _ in range(3)]
    expected = sorted(slow(texts, "gpt2"))
    for threads in (1, 3):
        counts = Counts.of(iter(texts), split="gpt2", threads=threads, memory=memory)
        assert rows(counts) == expected
        total = counts + counts
        assert [row[:2] for row in rows(total)] == [(row[0], 2 * row[1]) for row in expected]
        assert counts.top(9) == sorted(counts, key=lambda row: (-row.count, row.piece))[:9]


def test_positions_have_a_limit() -> None:
    # Beyond 48 bits a position would run into the number of the group.
    near = Counts.of({"a": iter(["x"]), "b": iter(["x"])}, split="gpt2", start=2**48 - 5)
    assert rows(near) == [(b"x", 1, "a", 2**48 - 5), (b"x", 1, "b", 2**48 - 3)]
    for start in (2**48 - 3, 2**48, 2**63, 2**64):
        with pytest.raises(bp.TrainingError, match=r"longer than 2\^48 bytes"):
            Counts.of({"a": iter(["x"]), "b": iter(["x"])}, split="gpt2", start=start)
    with pytest.raises(ValueError, match="start=-1"):
        Counts.of(iter(["x"]), start=-1)


def grouped(seed: int) -> tuple[Counts, dict[tuple[bytes, str], Fraction]]:
    random = Random(seed)
    texts = {group: [random_text(random, 60)] for group in random.sample(["en", "fr", "code", "own"], 3)}
    counts = Counts.of({group: iter(texts[group]) for group in texts}, split="gpt2")
    known: Counter[tuple[bytes, str]] = Counter()
    for group, own in texts.items():
        known.update({(row[0], group): row[1] for row in slow(own, "gpt2")})
    return counts, {key: Fraction(count) for key, count in known.items()}


def exact(counts: Counts) -> dict[tuple[bytes, str], Fraction]:
    return {(row.piece, row.group): Fraction(row.count, counts.denominator) for row in counts}


def test_weights_are_exact_and_tables_of_any_denominators_add_up() -> None:
    random = Random(7)
    total, expected_total = grouped(99)
    for seed in range(20):
        counts, expected = grouped(seed)
        assert exact(counts) == expected
        weights = {group: Fraction(random.randint(1, 30), random.randint(1, 30)) for group in counts.groups[:2]}
        counts = counts.weighted(weights)
        expected = {key: count * weights.get(key[1], 1) for key, count in expected.items()}
        assert exact(counts) == expected
        counts = counts.scale("0.75").scale(Fraction(1, 7))
        expected = {key: count * Fraction(3, 28) for key, count in expected.items()}
        assert exact(counts) == expected
        assert Fraction(counts.pieces, counts.denominator) == sum(expected.values())
        assert Fraction(counts.text_bytes, counts.denominator) == sum(
            count * len(piece) for (piece, _), count in expected.items()
        )
        assert exact(counts.filter(1)) == {key: count for key, count in expected.items() if count >= 1}
        group = counts.groups[0]
        assert exact(counts.group(group)) == {key: count for key, count in expected.items() if key[1] == group}
        best = sorted(counts, key=lambda row: (-row.count, row.piece, row.group))
        ranked = sorted(best, key=lambda row: (-row.count, row.piece, counts.groups.index(row.group)))
        assert [counts.top(most) for most in (0, 7, 10**6)] == [[], ranked[:7], ranked]
        if seed < 6:
            total = total + counts
            for key, count in expected.items():
                expected_total[key] = expected_total.get(key, Fraction()) + count
            assert exact(total) == expected_total
    with pytest.raises(bp.TrainingError, match="no group 'de'"):
        total.weighted({"de": 2})
    with pytest.raises(bp.TrainingError, match="no group 'de'"):
        total.group("de")
    with pytest.raises(ValueError, match=r"top\(-1\)"):
        total.top(-1)


def test_tables_that_were_made_otherwise_are_not_added() -> None:
    counts = Counts.of(iter(["low"]), split="gpt2", special_tokens=["<a>", "<b>"])
    for name, other in (
        ("split", Counts.of(iter(["low"]), split="cl100k", special_tokens=["<a>", "<b>"])),
        ("normalizers", Counts.of(iter(["low"]), split="gpt2", special_tokens=["<a>", "<b>"], normalizers=["NFC"])),
        ("special_tokens", Counts.of(iter(["low"]), split="gpt2", special_tokens=["<a>"])),
        ("unicode", replace(counts, stages=replace(counts.stages, unicode="1.1.0"))),
    ):
        with pytest.raises(bp.TrainingError, match=f"different {name}: "):
            counts + other
    assert len(counts + Counts.of(iter(["low"]), split="gpt2", special_tokens=["<b>", "<a>"])) == 1
    with pytest.raises(TypeError):
        counts + {"low": 1}  # type: ignore[operator]  # on purpose


def test_counts_are_exact_up_to_64_bits() -> None:
    half = Counts.of({"low": 2**63, "er": 2**63 - 1})
    assert half.pieces == 2**64 - 1
    for memory in (None, 1):
        with pytest.raises(bp.TrainingError, match=r"more than 2\^64 - 1"):
            replace(half, memory=memory) + half
    assert (half.filter(2**63) + Counts.of({"low": 2**63 - 1})).top(1)[0].count == MOST
    with pytest.raises(bp.TrainingError, match=r"more than 2\^64 - 1"):
        half.scale(2)
    with pytest.raises(bp.TrainingError, match=r"share no denominator below 2\^64"):
        Counts.of({"a": 1}).scale(Fraction(1, 2**62)).scale(Fraction(1, 2**9)) + Counts.of({"a": 1}).scale("0.2")
    assert len(half.filter(MOST)) == len(half.filter(2**70)) == 0
    tiny = Counts.of({"ab": 4}).scale(Fraction(1, 2**62))
    assert len(tiny.filter(2**3)) == 0
    with pytest.warns(bp.TokenizerWarning):
        assert len(bp.train(tiny, 257, min_frequency=2**3)) == 256


def test_sources_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    sources: list[Any] = [iter([]), iter(["", ""]), tmp_path / "empty.txt", {}, {"en": iter([])}]
    for source in sources:
        counts = Counts.of(source, memory="1MB")
        assert (len(counts), counts.pieces, counts.text_bytes, list(counts), counts.top(3)) == (0, 0, 0, [], [])
        counts.write(tmp_path / "empty.parquet")
        again = Counts.read(tmp_path / "empty.parquet")
        assert (len(again), again.groups, again.end) == (0, counts.groups, counts.end)
        assert len(counts + again) == len(counts.scale(2)) == 0
    for memory in ("much", "0", "1 PB", 0, -1):
        with pytest.raises(ValueError, match="is not a size of memory"):
            Counts.of(iter(["a"]), memory=memory)


def test_many_runs_need_few_open_files() -> None:
    resource = pytest.importorskip("resource")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    texts = [f"word{number}" for number in range(3000)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limit[1]))
    try:
        counts = Counts.of(iter(texts), split="none", memory=1)
        pieces = Counts.of(dict.fromkeys(texts, 1), memory=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    for one in (counts, pieces):
        assert one.core.is_on_disk
        assert one.spilled[0] > 2000
        assert [row.piece.decode() for row in one] == texts


def test_a_table_on_disk_has_several_readers() -> None:
    counts = Counts.of(iter([f"word{number}" for number in range(20_000)]), split="none", memory=100_000)
    assert counts.core.is_on_disk
    seen = []

    def take(*columns: Any) -> None:
        seen.append(len(columns[3]))
        assert counts.pieces == 20_000
        assert counts.top(1)[0].piece == b"word0"

    counts.core.columns(take, 5000)
    assert seen == [5000] * 4


def test_a_counter_is_of_no_use_after_an_error(tmp_path: Path) -> None:
    import numpy as np

    (tmp_path / "bad.txt").write_bytes(b"\xff")
    options = {"group": 0, "errors": "strict", "threads": 1, "tell": None}
    offsets = np.array([0, 1])

    def columns(count: int) -> tuple[Any, ...]:
        numbers = [np.array([value], np.uint64) for value in (count, 0)]
        return np.frombuffer(b"a", np.uint8), offsets, np.zeros(1, np.uint16), *numbers

    failures: list[Callable[[Any], object]] = [
        lambda counter: counter.count(["a\ud800"], options),
        lambda counter: counter.count_buffer(np.frombuffer(b"\xff", np.uint8), offsets, options),
        lambda counter: counter.count_file(tmp_path / "bad.txt", options),
        lambda counter: counter.count_chunks([b"\xff"], options),
        lambda counter: counter.count_chunks([b"[]"], options, json_field="text"),
        lambda counter: counter.count_chunks(iter([b"a", 3]), options),
        lambda counter: counter.start_at(2**48),
        lambda counter: (counter.add("a", MOST), counter.add("a", 1)),
        lambda counter: (counter.add("a", MOST), counter.add_columns(*columns(1))),
        PieceCounter.finish,
    ]
    uses: list[Callable[[Any], object]] = [
        PieceCounter.finish,
        lambda counter: counter.count(["a"], options),
        lambda counter: counter.end,
    ]
    for fail in failures:
        counter = PieceCounter("", [])
        with suppress(bp.BytepairError, TypeError):
            fail(counter)
        for use in uses:
            with pytest.raises(RuntimeError, match="make a new one"):
                use(counter)


def test_temporary_files_that_cannot_be_made() -> None:
    script = (
        "import bytepair as bp\n"
        "try: bp.Counts.of(iter([f'word{i}' for i in range(20000)]), split='none', memory=100_000)\n"
        "except bp.ArtifactError as error: print(error)"
    )
    environment = {**os.environ, "TMPDIR": "/no/such/folder"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "temporary file" in done.stdout
    assert "TMPDIR" in done.stdout


def test_tables_are_read_back(tmp_path: Path) -> None:
    place = tmp_path / "a.parquet"
    for seed in range(5):
        counts = grouped(seed)[0].scale("0.7")
        counts.write(place)
        for memory in (None, "10KB"):
            again = Counts.read(place, memory=memory)
            assert rows(again) == rows(counts)
            for name in ("stages", "groups", "denominator", "digest", "end"):
                assert getattr(again, name) == getattr(counts, name)
    # Other programs that write Parquet keep the metadata, but perhaps no dictionary.
    table = pq.read_table(place)
    plain = table.set_column(2, "group", table["group"].cast("string"))
    pq.write_table(plain, place)
    assert rows(Counts.read(place)) == rows(counts)


def test_the_same_counts_are_the_same_file(tmp_path: Path, sources: list[str]) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sources[:3]))
    (tmp_path / "b.txt").write_text(sources[3])
    script = (
        "import sys, bytepair as bp\n"
        "from pathlib import Path\n"
        "folder, threads, memory = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]\n"
        "counts = bp.Counts.of({'x': folder / 'a.txt', 'y': folder / 'b.txt'}, threads=threads, memory=memory)\n"
        "counts.write(folder / 'out.parquet')"
    )
    seen = set()
    for threads, memory, seed in ((1, "1GB", "0"), (2, "300KB", "1"), (7, "2MB", "2"), (64, "1GB", "3")):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script, tmp_path, str(threads), memory], env=environment, check=True)
        seen.add(hashlib.sha256((tmp_path / "out.parquet").read_bytes()).hexdigest())
    halves = [Counts.of({"x": tmp_path / "a.txt"})]
    halves.append(Counts.of({"y": tmp_path / "b.txt"}, start=halves[0].end))
    (halves[0] + halves[1]).write(tmp_path / "out.parquet")
    seen.add(hashlib.sha256((tmp_path / "out.parquet").read_bytes()).hexdigest())
    assert len(seen) == 1


def test_damaged_tables_are_refused_or_equal(tmp_path: Path) -> None:
    place = tmp_path / "a.parquet"
    counts = grouped(1)[0]
    counts.write(place)
    data = place.read_bytes()
    facts = {name: getattr(counts, name) for name in ("stages", "groups", "denominator", "digest", "end")}
    random = Random(1)
    cuts = [data[:length] for length in {*range(20), *range(len(data) - 20, len(data)), *range(20, len(data), 97)}]
    flips = []
    for _ in range(600):
        flipped = bytearray(data)
        flipped[random.randrange(len(data))] ^= 1 << random.randrange(8)
        flips.append(bytes(flipped))
    for damaged in (*cuts, *flips, data + b"x", b"", b"PAR1" * 9):
        place.write_bytes(damaged)
        refused: bp.BytepairError | None = None
        try:
            again = Counts.read(place)
        except (bp.FormatError, bp.ArtifactError) as error:
            refused = error
        if refused is not None:
            assert refused.file == str(place)
            assert refused.remedy
            continue
        assert rows(again) == rows(counts)
        assert {name: getattr(again, name) for name in facts} == facts


def change(table: Any, **facts: Any) -> Any:
    known = json.loads(table.schema.metadata[b"bytepair"])
    for name, value in facts.items():
        if value is None:
            del known[name]
        else:
            known[name] = value
    data = json.dumps(known).encode()
    digest = hashlib.sha256(data).hexdigest()
    return table.replace_schema_metadata({"bytepair": data, "bytepair.sha256": digest})


def test_parquet_that_is_no_table_of_ours(tmp_path: Path) -> None:
    place = tmp_path / "a.parquet"
    Counts.of({"en": iter(["low lower"]), "fr": iter(["low"])}, split="gpt2").write(place)
    good = pq.read_table(place)
    nulls = [pa.field(name, good.schema.field(name).type) for name in good.schema.names]
    schema = pa.schema(nulls, good.schema.metadata)
    nullable = pa.table({name: good[name] for name in good.schema.names}, schema=schema)

    def column(name: str, values: Any, table: Any = good) -> Any:
        field = pa.field(name, table.schema.field(name).type, nullable=True)
        return table.set_column(table.schema.names.index(name), field, pa.array(values, field.type))

    bad = [
        pa.table({"text": ["low"]}),
        good.replace_schema_metadata({}),
        good.drop_columns(["group"]),
        good.append_column("more", pa.array([1, 2, 3])),
        good.set_column(1, "count", good["count"].cast("int64")),
        good.set_column(2, "group", pa.array([1, 2, 3])),
        column("count", [1, 0, 1]),
        column("count", [1, None, 1], nullable),
        column("first_position", [1, 2**48, 1]),
        change(good, version=2),
        change(good, groups=["en"]),
        change(good, groups="en"),
        change(good, groups=None),
        change(good, groups=[["en"], {}]),
        change(good, denominator=0),
        change(good, denominator=1.5),
        change(good, denominator="1"),
        change(good, end=-1),
        change(good, normalizers="NFC"),
        change(good, split=5),
        change(good, sources="xyz"),
        change(good, unicode=None),
        change(good, groups=[*map(str, range(70_000)), "en", "fr"]),
    ]
    for number, table in enumerate(bad):
        pq.write_table(table, place)
        with pytest.raises((bp.FormatError, bp.ArtifactError)) as caught:
            Counts.read(place)
        assert caught.value.file == str(place), number
    with pytest.raises(bp.ArtifactError, match="check the path"):
        Counts.read(tmp_path / "none.parquet")
    with pytest.raises(bp.ArtifactError):
        Counts.of({"a": 1}).write(tmp_path / "no" / "such.parquet")


def test_stages_are_told_apart() -> None:
    Stages("a", special_tokens=("x", "y")).check_same(Stages("a", special_tokens=("y", "x")))


HEAVY = """
import hashlib, sys, threading, time
import bytepair as bp

def texts(size):
    # Each piece is a number of its own, spelled in 32 letters.
    number = 0
    for _ in range(size // (33 * 4096)):
        yield b" ".join(b"%032d" % i for i in range(number, number + 4096))
        number += 4096

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024

peak = 0
def watch():
    global peak
    while True:
        peak = max(peak, anonymous())
        time.sleep(0.02)

threading.Thread(target=watch, daemon=True).start()
start = time.perf_counter()
size, memory = int(sys.argv[1]), sys.argv[2] or None
counts = bp.Counts.of(texts(size), split=r"[0-9]+", memory=memory, threads=2, digest=False)
counted = time.perf_counter() - start
digest = hashlib.sha256()
counts.core.columns(lambda *columns: [digest.update(column.tobytes()) for column in columns], 1 << 16)
print(digest.hexdigest(), peak, len(counts), *counts.spilled, round(counted, 1), round(time.perf_counter() - start, 1))
"""


@pytest.mark.skipif("BYTEPAIR_SPILL_GB" not in os.environ, reason="set BYTEPAIR_SPILL_GB=1.5 to count so much on disk")
def test_memory_is_bounded_by_the_limit() -> None:
    """Counts gigabytes of distinct pieces with 1 GB of memory, and without a limit."""
    size = str(int(float(os.environ["BYTEPAIR_SPILL_GB"]) * 1e9))
    outcomes = []
    for memory in ("1GB", ""):
        command = [sys.executable, "-c", HEAVY, size, memory]
        outcomes.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
        print("digest, peak, rows, runs, bytes in runs, seconds to count, seconds:", *outcomes[-1])
    bounded, free = outcomes
    assert bounded[0] == free[0]
    assert int(bounded[1]) < 1.3e9
    assert int(bounded[3]) > 0
    assert int(free[3]) == 0
