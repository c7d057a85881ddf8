"""Sweep over whole runs of shards, with any interruptions, against each document encoded by itself.

Long because an oracle covers a whole run: ids and their order, splits, tables, numbers and quarantine.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import struct
import tempfile
import warnings
from collections import Counter, defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import bytepair as bp
from bytepair.shards import encoding_task, shuffling, spooling, tasks
from bytepair.sources.readers import columnar, common, jsonl, text
from fuzz.case import case, equal, trained
from fuzz.corpora import Corpus, Expected, documents_of, random_corpus
from fuzz.pipelines import random_table

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

_MASK = (1 << 64) - 1
_FORMATS = ("bin", "npy", "megatron", "parquet", "arrow")
_TABLES = ("parquet", "arrow")


@dataclass(frozen=True)
class Row:
    """A document as it is in a shard."""

    input: str
    position: int
    id: str | None
    ids: tuple[int, ...]


def sweep_shards(random: random.Random) -> None:
    """A run writes the oracle's result, for any tasks and interruptions; damage is found."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _seams(random):
        os.chdir(folder)
        try:
            corpus = random_corpus(random)
            tok = _tokenizer(random)
            options = _options(random, tok)
            with case(corpus=corpus, options=options):
                _do(random, corpus, tok, options)
        finally:
            os.chdir(before)


def _do(random: random.Random, corpus: Corpus, tok: bp.Tokenizer, options: dict[str, Any]) -> None:
    oracle = Oracle(corpus, tok, options)
    arguments: dict[str, Any] = {**options, **corpus.reading}
    size = sum(Path(name).stat().st_size for name, _ in corpus.files)

    def some_size() -> int | str | None:
        many = random.choice([1, 2, 3, 10, 30])
        return random.choice([None, size // many + 1, size // many + 1, "1KB"])

    task_size = some_size()
    workers = random.choice([1, 1, 2, 5])

    def run(output: str, **other: Any) -> bp.ShardSummary:
        return bp.shard(
            corpus.source, tok, output, **{"task_size": task_size, "workers": workers, **arguments, **other}
        )

    if options["bad"] == "raise" and oracle.bad:
        said = _said(lambda: run("out"))
        assert said, "a bad document was not raised"
        kinds, names = ({getattr(row, name) for row in oracle.bad} for name in ("error", "input"))
        if any(map(_is_parted, oracle.bad)):
            # A document in parts reports its first fault, any other document that it is not UTF-8.
            kinds.add("SpecialTokenError")
        assert type(said).__name__ in kinds, f"{said!r} is none of {kinds}"
        assert any(name.rpartition("/")[2] in str(said) for name in names), f"{said} names none of {names}"
        options["bad"] = arguments["bad"] = random.choice(["skip", "quarantine"])
        shutil.rmtree("out")
    run("out", progress=lambda _: None)
    compare(Path("out"), oracle, corpus, options)
    found = bp.verify_shards("out")
    equal("verified documents", found.documents, len(oracle.rows))
    equal("verified tokens", found.tokens, sum(len(row.ids) for row in oracle.rows))

    # Cut otherwise.
    run("other", task_size=some_size(), workers=random.choice([1, 3]))
    compare(Path("other"), oracle, corpus, options)

    # Interrupted, then resumed.
    whole = _bytes_of("out")
    stop = _Stops(random)
    for _ in range(3):
        try:
            run("again", engine=stop, workers=None, resume=True)
        except _StoppedError:
            continue
        break
    run("again", resume=True)
    _same("gone on with", _bytes_of("again"), whole)
    for _ in range(3):
        _damage(random, Path("again"), whole, run)


class Oracle:
    """The expected result of a run, from its documents one by one."""

    def __init__(self, corpus: Corpus, tok: bp.Tokenizer, options: dict[str, Any]) -> None:
        self.rows: list[Row] = []
        self.splits: dict[str, list[Row]] = {"train": [], "val": []}
        self.bad: list[Expected] = []
        self.numbers: dict[str, Any] = {"empty": 0, "unknown": 0, "longest": 0}
        self.lengths: Counter[int] = Counter()
        self.amounts: dict[str, dict[str, list[int]]] = {"splits": {}, "groups": {}}
        encode = {name: options[name] for name in ("special", "added", "errors") if name in options}
        prefix, suffix = (_frame(tok, options.get(name)) for name in ("bos", "eos"))
        seed = options.get("seed", 0)
        below = int(Fraction(str(options.get("validation", 0))) * 2**64)
        unknown = _unknown(tok)
        orders: dict[str, list[tuple[int, int, Row]]] = defaultdict(list)
        for number, row in enumerate(documents_of(corpus, options.get("errors", "strict"))):
            if row.text is None:
                self.bad.append(row)
                continue
            if not row.text:
                self.numbers["empty"] += 1
                continue
            try:
                ids = tok.encode(row.text, **encode)
            except bp.BytepairError as error:
                self.bad.append(
                    Expected(row.input, row.group, row.position, None, row.id, type(error).__name__, row.text)
                )
                continue
            done = Row(row.input, row.position, row.id or None, (*prefix, *ids, *suffix))
            split = "val" if drawn(seed, "validation", row.input, row.position) < below else "train"
            order = drawn(seed, "shuffle", row.input, row.position) if options.get("shuffle") else 0
            orders[split].append((order, number, done))
            self.rows.append(done)
            if unknown is not None:
                self.numbers["unknown"] += ids.count(unknown)
            self.numbers["longest"] = max(self.numbers["longest"], len(done.ids))
            self.lengths[_step(len(done.ids))] += 1
            for name, key in (("splits", split), ("groups", row.group)):
                amount = self.amounts[name].setdefault(key, [0, 0, 0])
                for at, value in enumerate((1, len(row.text), len(done.ids))):
                    amount[at] += value
        for split, rows in orders.items():
            self.splits[split] = [row for _, _, row in sorted(rows, key=lambda row: row[:2])]


def drawn(seed: int, purpose: str, name: str, position: int) -> int:
    """64 bits: the number of SplitMix64 at a position, from a hashed state."""
    key = hashlib.sha256(f"{purpose}\0{seed}".encode()).digest()
    state = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, key=key).digest(), "little")
    bits = (state + (position + 1) * 0x9E3779B97F4A7C15) & _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
    return bits ^ (bits >> 31)


def compare(folder: Path, oracle: Oracle, corpus: Corpus, options: dict[str, Any]) -> None:
    """Read a complete run back, and compare all of it with the oracle."""
    format = options["format"]
    for split, rows in oracle.splits.items():
        shards = list(read_shards(folder, split, format, options.get("join", False)))
        equal(f"ids of {split}", [ids for shard in shards for ids in shard.ids], [id for row in rows for id in row.ids])
        if format == "megatron":
            lengths = [length for shard in shards for length in shard.lengths or ()]
            equal(f"lengths of {split}", lengths, [len(row.ids) for row in rows])
        if format in _TABLES or options.get("documents") is not False:
            listed = [row for shard in shards for row in shard.documents or ()]
            equal(f"documents of {split}", listed, rows)
        else:
            equal("tables", list(folder.glob("*.documents.parquet")), [])
    tally = bp.ShardSummary.read(folder).tally
    plain = tally.to_json()
    for name, amounts in oracle.amounts.items():
        got = {key: [row["documents"], row["bytes"], row["tokens"]] for key, row in plain[name].items()}
        equal(name, got, amounts)
    # A document in parts reports its first fault, any other document that it is not UTF-8.
    unclear = any(map(_is_parted, oracle.bad))
    kinds = [["EncodeError" if unclear and kind == "SpecialTokenError" else kind for kind in some]
             for some in (tally.bad.elements(), (row.error for row in oracle.bad))]  # fmt: skip
    equal("bad", Counter(kinds[0]), Counter(kinds[1]))
    equal("lengths", dict(tally.lengths), dict(oracle.lengths))
    equal("numbers", {name: plain[name] for name in oracle.numbers}, oracle.numbers)
    _compare_quarantine(folder, oracle.bad if options["bad"] == "quarantine" else [])
    summary = bp.ShardSummary.read(folder)
    many = Counter[str]()
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name.split("/")[0] not in _OTHER:
            many["quarantine" if name.startswith("quarantine/") else name.split("-")[0].split(".")[0]] += 1
    equal("files", summary.files, dict(many))
    equal("inputs", summary.inputs, len(corpus.files))
    equal("size", summary.input_bytes, sum(Path(name).stat().st_size for name, _ in corpus.files))


_OTHER = ("plan.json", "tokenizer", "ledger", "summary.json", "summary.txt", ".lock")


def _compare_quarantine(folder: Path, bad: Sequence[Expected]) -> None:
    rows = []
    for path in sorted(folder.glob("quarantine/*")):
        rows += [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    got = [(row["input"], row["position"], row["text"].encode() if "text" in row else _unpacked(row)) for row in rows]
    # A document that comes in parts is not held, and so not kept.
    expected = [(row.input, row.position, None if _is_parted(row) else row.data) for row in bad]
    equal("quarantine", got, expected)
    assert all(row["error"] for row in rows), "an error says nothing"


def _is_parted(row: Expected) -> bool:
    return ".txt" in row.input and len(row.data or b"") > encoding_task._BATCH_BYTES


def _unpacked(row: dict[str, Any]) -> bytes | None:
    return base64.b64decode(row["base64"], validate=True) if "base64" in row else None


@dataclass
class Read:
    """A shard as its reader returns it."""

    ids: list[int]
    lengths: list[int] | None
    documents: list[Row] | None


def read_shards(folder: Path, split: str, format: str, join: bool) -> Iterator[Read]:
    """The shards of a split, in order, read by the format's public reader."""
    suffix = {"megatron": ".bin"}.get(format, f".{format}")
    pattern = f"{split}{suffix}" if join else f"{split}-*{suffix}"
    paths = sorted(path for path in folder.glob(pattern) if not path.name.endswith(".documents.parquet"))
    dtype = np.dtype(json.loads((folder / "plan.json").read_text("utf-8"))["options"]["dtype"])
    for path in paths:
        lengths: list[int] | None = None
        documents: list[Row] | None = None
        if format in _TABLES:
            table = pq.read_table(path) if format == "parquet" else pa.ipc.open_file(path).read_all()
            rows = table.to_pylist()
            documents = [Row(row["input"], row["position"], row["id"], tuple(row["input_ids"])) for row in rows]
            ids = [id for row in documents for id in row.ids]
        elif format == "npy":
            array = np.load(path)
            equal("shape and kind", (array.ndim, array.dtype), (1, dtype))
            ids = array.tolist()
        else:
            ids = np.fromfile(path, dtype).tolist()
        if format == "megatron":
            lengths = _read_index(path.with_suffix(".idx"), dtype)
            equal("ids in the index", sum(lengths), len(ids))
        beside = path.with_suffix(".documents.parquet")
        if beside.exists():
            documents = []
            end = 0
            for row in pq.read_table(beside).to_pylist():
                equal("start", row["start"], end)
                end += row["tokens"]
                documents.append(Row(row["input"], row["position"], row["id"], tuple(ids[row["start"] : end])))
            equal("end", end, len(ids))
        yield Read(ids, lengths, documents)


def _read_index(path: Path, dtype: np.dtype[Any]) -> list[int]:
    data = path.read_bytes()
    magic, version, code, sequences, documents = struct.unpack_from("<9sQBQQ", data)
    equal("head", (magic, version, {4: "int32", 8: "uint16"}[code]), (b"MMIDIDX\0\0", 1, dtype.name))
    at = 34
    lengths = np.frombuffer(data, "<i4", sequences, at)
    pointers = np.frombuffer(data, "<i8", sequences, at + 4 * sequences)
    ends = np.frombuffer(data, "<i8", documents, at + 12 * sequences)
    equal("size of the index", len(data), at + 12 * sequences + 8 * documents)
    equal("documents of the index", ends.tolist(), list(range(sequences + 1)))
    starts = np.cumsum([0, *lengths[:-1].tolist()]) * dtype.itemsize if sequences else np.zeros(0)
    equal("pointers", pointers.tolist(), starts.tolist())
    return lengths.tolist()  # type: ignore[no-any-return]  # NumPy says Any


class _StoppedError(Exception):
    pass


class _Stops:
    """An engine that stops after some tasks, or in the middle of one."""

    def __init__(self, random: random.Random) -> None:
        self._random = random

    def run(self, folder: str, tasks_: Sequence[tuple[str, int]], told: Callable[[Any], None]) -> None:
        order = list(tasks_)
        self._random.shuffle(order)
        left = self._random.randint(0, len(order) + 1)
        calls = self._random.choice([None, None, 1, 2, 5])

        def tell(state: Any) -> None:
            nonlocal calls
            if calls is not None and not state.ended:
                calls -= 1
                if calls < 0:
                    raise _StoppedError
            told(state)

        for stage, number in order:
            if left == 0:
                raise _StoppedError
            left -= 1
            entry = tasks.run(folder, stage, number, tell)
            if self._random.random() < 0.2:
                equal("a task done twice", tasks.run(folder, stage, number, tell), entry)


def _damage(random: random.Random, folder: Path, whole: dict[str, bytes], run: Callable[..., Any]) -> None:
    """Damage a file: verify_shards names it, and a resumed run restores missing parts."""
    # A lock is no part of what a run leaves.
    name = random.choice([name for name in sorted(whole) if name != ".lock"])
    path, data = folder / name, whole[name]
    way = random.choice(["flip", "cut", "remove", "extra", "longer"])
    shown = name
    if way == "flip" and data:
        at = random.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :])
    elif way == "cut" and data:
        # The value of a JSON file does not depend on the end of its last line.
        path.write_bytes(data[: random.randrange(len(data) - data.endswith(b"}\n"))])
    elif way == "remove":
        path.unlink()
    elif way == "extra":
        path = path.parent / random.choice(
            ["x", ".x", "train-99999.bin", "encode-00099.json", "new\nline", path.name + "~"]
        )
        shown = path.relative_to(folder).as_posix()
        path.write_bytes(b"")
    else:
        path.write_bytes(data + b"\0")
    with case(way=way, damaged=shown):
        said = _said(lambda: bp.verify_shards(folder))
        assert said, "verify_shards passes"
        _check_named(str(said), shown)
        # A resumed run detects a damaged file only by its length.
        parts = shown.split("/")
        if way in ("cut", "remove") and parts[0] not in ("tokenizer", "plan.json"):
            run(str(folder), resume=True)
        elif way == "extra":
            path.unlink()
        else:
            path.write_bytes(data)
    _same("mended", _bytes_of(folder), whole)


def _said(call: Callable[[], object]) -> bp.BytepairError | None:
    try:
        call()
    except bp.BytepairError as error:
        return error
    return None


def _check_named(said: str, name: str) -> None:
    top, _, base = name.partition("/")
    if top == "ledger" and (stem := base.partition(".")[0]).rpartition("-")[0] in (
        "encode",
        "shuffle",
        "join",
        "finish",
    ):
        stage, _, number = stem.rpartition("-")
        if base.endswith(".json"):
            names = (
                f"task {int(number)} of {stage!r}",
                f"of {stage!r} are not done",
                "summary is missing",
                f"of {stage}",
            )
            assert name in said or any(other in said for other in names), f"{said} does not name {name}"
            return
    assert (top if top == "tokenizer" else name) in said, f"{said} does not name {name}"


def _same(what: str, got: dict[str, bytes], expected: dict[str, bytes]) -> None:
    equal(f"names {what}", sorted(got), sorted(expected))
    equal(f"files that differ, {what}", [name for name in expected if got[name] != expected[name]], [])


def _bytes_of(folder: str | Path) -> dict[str, bytes]:
    place = Path(folder)
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@contextmanager
def _seams(random: random.Random) -> Iterator[None]:
    """Make batches so small that documents of a few bytes are cut, and held ones are spilled."""
    with ExitStack() as stack:
        for module, name, sizes in (
            (encoding_task, "_BATCH_BYTES", [1, 5, 30, 200]),
            (spooling, "_HELD_BYTES", [1, 40, 400]),
            (spooling, "_HELD_DOCUMENTS", [1, 3, 20]),
            (shuffling, "_BATCH_BYTES", [4, 40, 400]),
            (shuffling, "_BATCH_DOCUMENTS", [1, 3, 20]),
            (shuffling, "_GAP", [0, 10]),
            (common, "_MOST", [1, 7, 60]),
            (jsonl, "_TAIL", [1, 7, 60]),
            (text, "_TAIL", [1, 7, 60]),
            (columnar, "_ROWS", [1, 3]),
        ):
            if random.random() < 0.5:
                stack.enter_context(mock.patch.object(module, name, random.choice(sizes)))
        yield


def _tokenizer(random: random.Random) -> bp.Tokenizer:
    if random.random() < 0.5:
        return trained(random, "aé ", special_tokens=["<|end|>", "<s>"], split=random.choice(["none", "gpt2"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        path = Path("tokenizer.json")
        while True:
            path.write_text(json.dumps(random_table(random), ensure_ascii=False), "utf-8")
            try:
                return bp.Tokenizer.from_file(path)
            except bp.FormatError:  # which files are refused is another sweep's
                continue


def _options(random: random.Random, tok: bp.Tokenizer) -> dict[str, Any]:
    def maybe(**values: Sequence[Any]) -> dict[str, Any]:
        return {name: random.choice(list(some)) for name, some in values.items() if random.random() < 0.5}

    specials = sorted(tok.special_tokens)
    frames: list[Any] = [None, 0, [1, 0, 1], tok.vocab_size - 1, []]
    frames = (
        [frame for frame in frames if _is_frame(tok, frame)] + (specials[:1] * 3) + ([specials] if specials else [])
    )
    format = random.choice(_FORMATS)
    join = format not in _TABLES and random.random() < 0.3
    chosen = maybe(
        bos=frames,
        eos=frames,
        special=["raise", "text", "allow", set(specials[:1])],
        added=["match", "text", "raise"],
        errors=["strict", "replace"],
        shuffle=[True],
        seed=[0, 1, -1, 2**70, -(2**70)],
        validation=[0, 1, 0.5, "0.25", "1e-3", 0.1, "1.0"],
    )
    if format not in _TABLES and random.random() < 0.5:
        chosen["documents"] = random.random() < 0.5
    if random.random() < 0.2:
        chosen["dtype"] = "int32" if format == "megatron" else "int32" if format in _TABLES else "uint32"
    return {"format": format, "bad": random.choice(["raise", "skip", "quarantine"]), "join": join, **chosen}


def _is_frame(tok: bp.Tokenizer, tokens: Any) -> bool:
    try:
        for id in tokens if isinstance(tokens, list) else [] if tokens is None else [tokens]:
            tok.token_bytes(id)
    except bp.BytepairError:
        return False
    return True


def _frame(tok: bp.Tokenizer, tokens: Any) -> list[int]:
    items = [] if tokens is None else tokens if isinstance(tokens, list) else [tokens]
    return [tok.special_tokens[item] if isinstance(item, str) else item for item in items]


def _unknown(tok: bp.Tokenizer) -> int | None:
    model: Any = tok.spec.model
    if (id := getattr(model, "unk_id", None)) is not None:
        return int(id)
    # A byte pair of characters names it in its alphabet.
    name = getattr(getattr(model, "alphabet", None) or model, "unk_token", None)
    return None if name is None else tok.token_id(name)


def _step(length: int) -> int:
    width = 1
    while length >= width * 8:
        width *= 2
    return length if length < 16 else length // width * width
