"""Shards of ids, whole processes: ``python -m benchmarks.shards [--quick] [--write] [--only TABLE] [--size MB] ...``.

*encoder*: the speed of `bytepair shard` as a share of the encoder alone, which has the same documents in memory as a
list and two threads (`encode_batch_flat`). *peers*: other pipelines, each with two workers. Every run is a separate
process, measured from its start to its last file on disk, with all its child processes; each runs once per round, and
ratios are medians over the rounds. Ids are read back and compared, with each document encoded alone, before a number is
printed.

Long because two tables share one way to run, check and compare.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from benchmarks import pages, shard_runs
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import data_folder, facts
from benchmarks.process import FailedError, Ran, run
from benchmarks.shard_corpora import DELIMITER, EOS, Corpus, Ids, corpus
from benchmarks.shard_runs import Job
from benchmarks.texts import MB, with_data
from benchmarks.train import corpus_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.peers import Vocabulary

WORKERS = 2
TABLES = ("encoder", "peers")
CORPORA = {"English": "en_20mb", "mixed": "mixed_100mb"}
DOCUMENTS = {"2 kB": 2_000, "300 B": 300}
VOCABULARIES = {"gpt2": "r50k_base", "o200k": "o200k_base"}


@dataclass(frozen=True)
class Way:
    """One way from a corpus to shards.

    Attributes:
        run: The process, one of `shard_runs.RUNS`, or ``command``: bytepair's command line.
        source: The form of the corpus that it reads.
        options: Options of bytepair's call.
        reads: The reader of its result.
    """

    run: str
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    reads: str = "bin"


def ours(source: str, format: str = "bin", **options: Any) -> Way:
    """The command line of bytepair with these options."""
    delimiter = {"delimiter": DELIMITER} if source == "text" else {}
    return Way("command", source, {**delimiter, **options, "format": format}, format)


YARDSTICK = Way("memory", "parquet", reads="memory")
WAYS = {
    "text to bin": ours("text"),
    "Parquet to bin": ours("parquet"),
    "JSON lines to bin": ours("jsonl"),
    "text to Megatron": ours("text", "megatron"),
    "Parquet to Parquet": ours("parquet", "parquet"),
    "Parquet to bin shuffled": ours("parquet", shuffle=True, validation="0.01"),
}
PEERS = {
    "bytepair, Parquet to bin": ours("parquet"),
    "bytepair, JSON lines to Megatron": ours("jsonl", "megatron"),
    "`datasets.map` with tokenizers": Way("datasets", "parquet", reads="datasets"),
    "as Megatron preprocesses": Way("megatron", "jsonl", reads="megatron"),
    "as nanoGPT prepares": Way("nanogpt", "parquet"),
}
NEEDED = {"datasets": ("datasets", "tokenizers"), "megatron": ("tokenizers",), "nanogpt": ("datasets", "tiktoken")}


@dataclass(frozen=True)
class Bench:
    """A corpus in its files, a vocabulary, and the expected ids."""

    corpus: Corpus
    files: Mapping[str, Sequence[Path]]
    vocabulary: Vocabulary
    native: Path
    work: Path
    expected: Ids
    eos: int

    @property
    def largest(self) -> int:
        """The largest id of the vocabulary."""
        return max(self.vocabulary.special_tokens.values())

    def once(self, way: Way) -> Ran:
        """Run one pipeline, check its result, and remove it.

        Raises:
            FailedError: It failed, or its ids are wrong.
        """
        output = self.work / "output"
        job = Job(
            sources=[str(path) for path in self.files[way.source]],
            output=str(output),
            native=str(self.native),
            json=str(self.vocabulary.json),
            ranks=str(self.vocabulary.ranks),
            split=self.vocabulary.split,
            eos=self.eos,
            workers=WORKERS,
            options=dict(way.options),
        )
        try:
            ran = run(_command(way, job, self.work))
            self._check(way, output)
        finally:
            for left in self.work.glob("output*"):
                shutil.rmtree(left)
        return ran

    def _check(self, way: Way, output: Path) -> None:
        if way.options.get("shuffle"):
            wrong = not self._is_shuffled(output)
        else:
            dtype = "uint16" if self.largest < 1 << 16 else "uint32"
            expected = _without_eos(self.expected, self.eos) if way.run == "memory" else self.expected.flat
            wrong = not _equal(shard_runs.read(way.reads, output, dtype), expected)
        if wrong:
            raise FailedError("its ids are WRONG")

    def _is_shuffled(self, output: Path) -> bool:
        """Whether all documents are present exactly once, with their ids."""
        import pyarrow.parquet as pq

        dtype = np.uint16 if self.largest < 1 << 16 else np.uint32
        tables = {path: pq.read_table(path) for path in sorted(output.glob("*.documents.parquet"))}
        names = np.concatenate([table["input"].cast("string").to_numpy() for table in tables.values()])
        positions = np.concatenate([table["position"].to_numpy() for table in tables.values()])
        # Which document each is: inputs are named in order, and positions rise.
        rank = np.empty(len(names), np.int64)
        rank[np.lexsort((positions, names.astype(str)))] = np.arange(len(names))
        if len(rank) != len(self.expected.offsets) - 1:
            return False
        before = 0
        for path, table in tables.items():
            ranks = rank[before : before + len(table)]
            before += len(table)
            parts = [self.expected.flat[slice(*self.expected.offsets[at : at + 2])] for at in ranks.tolist()]
            flat = np.fromfile(path.with_name(path.name.replace(".documents.parquet", ".bin")), dtype)
            if not np.array_equal(flat, np.concatenate(parts)):
                return False
        return before == len(rank)


def _command(way: Way, job: Job, work: Path) -> list[str]:
    if way.run != "command":
        path = work / "job.json"
        path.write_text(json.dumps(dataclasses.asdict(job)))
        return [sys.executable, "-m", "benchmarks.shard_runs", way.run, str(path)]
    options = [
        part
        for name, value in job.options.items()
        for part in ([f"--{name}"] if value is True else [f"--{name}", str(value)])
    ]
    command = [sys.executable, "-m", "bytepair", "shard", *job.sources, "-m", job.native, "-o", job.output]
    return [*command, "--eos", EOS, "--workers", str(job.workers), "--progress", "off", *options]


def _equal(parts: Iterator[Any], expected: Any) -> bool:
    at = 0
    for part in parts:
        if not np.array_equal(part, expected[at : at + len(part)]):
            return False
        at += len(part)
    return at == len(expected)


def _without_eos(ids: Ids, eos: int) -> Any:
    ends = ids.offsets[1:] - 1
    assert (ids.flat[ends] == eos).all()
    return np.delete(ids.flat, ends)


@dataclass
class Turns:
    """The measurements of several pipelines, in rounds: each runs once in each."""

    bench: Bench
    ways: Mapping[str, Way]
    ran: dict[str, list[Ran]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, rounds: int) -> Turns:
        """Run one round."""
        for _ in range(rounds):
            for name, way in self.ways.items():
                if name in self.failed:
                    continue
                try:
                    self.ran.setdefault(name, []).append(self.bench.once(way))
                except FailedError as error:
                    print(f"{name}: {error}", flush=True)
                    self.failed[name] = str(error)
                    self.ran.pop(name, None)
        return self

    def median(self, name: str, what: Callable[[Ran], float]) -> float:
        """The median of one quantity of one pipeline."""
        return statistics.median(map(what, self.ran[name]))

    def ratio(self, name: str, other: str, what: Callable[[Ran], float]) -> float:
        """The median of the ratios of two pipelines, round by round."""
        pairs = zip(self.ran[name], self.ran[other], strict=True)
        return statistics.median(what(one) / what(two) for one, two in pairs)


def wall(ran: Ran) -> float:
    """Seconds from start to end."""
    return ran.wall


def cpu(ran: Ran) -> float:
    """Seconds of CPU time."""
    return ran.cpu


def encoding(ran: Ran) -> float:
    """Seconds of the baseline's encoding alone."""
    return float(json.loads(ran.out.splitlines()[-1])["encode"])


def encoding_cpu(ran: Ran) -> float:
    """The same in CPU time."""
    return float(json.loads(ran.out.splitlines()[-1])["encode_cpu"])


def encoder_rows(bench: Bench, title: str, ways: Mapping[str, Way], rounds: int) -> Iterator[str]:
    """The rows of one corpus in the table of the encoder."""
    taken = Turns(bench, {"encoder": YARDSTICK, **ways}).take(rounds)
    if "encoder" in taken.failed:
        return
    size = bench.corpus.size / MB
    base = f"{size / taken.median('encoder', encoding):.0f} | {taken.median('encoder', encoding_cpu) / size * 1e3:.1f}"
    yield f"| {title} | encoder alone | {base} | | | |"
    for name in ways:
        if name in taken.failed:
            yield f"| | {name} | {taken.failed[name]} | | | | |"
            continue
        pairs = [*zip(taken.ran["encoder"], taken.ran[name], strict=True)]
        share = statistics.median(encoding(one) / wall(two) for one, two in pairs)
        share_cpu = statistics.median(encoding_cpu(one) / cpu(two) for one, two in pairs)
        rate = f"{size / taken.median(name, wall):.0f} | {taken.median(name, cpu) / size * 1e3:.1f}"
        yield f"| | {name} | {rate} | {share:.0%} | {share_cpu:.0%} | {taken.median(name, lambda ran: ran.peak):.0f} |"


def peer_rows(bench: Bench, title: str, ways: Mapping[str, Way], rounds: int) -> Iterator[str]:
    """The rows of one vocabulary in the table of peers."""
    taken = Turns(bench, ways).take(rounds)
    size = bench.corpus.size / MB
    for row, name in enumerate(ways):
        begin = f"| {'' if row else title} | {name}"
        if name in taken.failed:
            yield f"{begin} | {taken.failed[name]} | | | | |"
            continue
        rate = f"{size / taken.median(name, wall):.1f} | {taken.median(name, cpu) / size * 1e3:.1f}"
        mine = next((other for other in ways if other.startswith("bytepair") and _source(ways, other, name)), "")
        ratios = " | "
        if mine in taken.ran and not name.startswith("bytepair"):
            ratios = f"{taken.ratio(name, mine, wall):.1f}x | {taken.ratio(name, mine, cpu):.1f}x"
        yield f"{begin} | {rate} | {taken.median(name, lambda ran: ran.peak):.0f} | {ratios} |"


def _source(ways: Mapping[str, Way], one: str, other: str) -> bool:
    return ways[one].source == ways[other].source


HEADS = {
    "encoder": "| Documents | From, to | MB/s | CPU ms/MB | of the encoder, wall | CPU | MB of memory |\n"
    "|---|---|---|---|---|---|---|",
    "peers": "| Vocabulary | Pipeline | MB/s | CPU ms/MB | MB of memory | bytepair is faster, wall | less CPU |\n"
    "|---|---|---|---|---|---|---|",
}


def installed(ways: Mapping[str, Way]) -> dict[str, Way]:
    """The pipelines whose libraries are installed; prints a line for each that is not."""
    import importlib.util

    found = {}
    for name, way in ways.items():
        missing = [library for library in NEEDED.get(way.run, ()) if not importlib.util.find_spec(library)]
        if missing:
            print(f"{name} takes no part: {missing[0]} is not installed (make bench installs it)")
        else:
            found[name] = way
    return found


def benches(
    folder: Path, work: Path, text: str, *, sizes: Sequence[str], names: Sequence[str], megabytes: int
) -> Iterator[Bench]:
    """A corpus of documents of each size, with each vocabulary; its files exist until the next one."""
    for size in sizes:
        here = work / "corpus"
        here.mkdir()
        data = corpus_file(CORPORA[text], folder, work).read_bytes()
        made = corpus(text, data, DOCUMENTS[size], megabytes * MB)
        files = made.write(here)
        for name in names:
            published = VOCABULARIES[name]
            vocabulary = with_data(folder, work, [published], [], write_json=True).vocabularies[published]
            tok = bp.get_encoding(published, folder=folder / "vocabs" / "openai")
            native = tok.save(work / f"{published}.native", "native")[0]
            yield Bench(made, files, vocabulary, native, work, made.expected(tok), tok.token_id(EOS))
        shutil.rmtree(here)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if there is nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shards", description="Shards, whole processes.")
    parser.add_argument("--data", help="the folder of real texts and vocabularies")
    parser.add_argument("--quick", action="store_true", help="little text, once")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--rounds", type=int, help="runs of each")
    parser.add_argument("--size", type=int, help="MB of a corpus, for both tables")
    add_choice(parser, "--only", TABLES, "only these tables")
    add_choice(parser, "--corpus", [*CORPORA], "only these texts, in the first table")
    add_choice(parser, "--way", [*WAYS], "only these ways, in the first table")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    if folder is None:
        print("there are no real texts: name their folder with --data")
        return 1
    rounds = options.rounds or (1 if options.quick else 3)
    tables = chosen(parser, "--only", options.only, TABLES)
    corpora = chosen(parser, "--corpus", options.corpus, [*CORPORA])
    ways = {name: WAYS[name] for name in chosen(parser, "--way", options.way, [*WAYS])}
    libraries = ["bytepair", "datasets", "tokenizers", "tiktoken"]
    print(", ".join(f"{name} {value}" for name, value in facts(libraries).items()))
    written: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        if "encoder" in tables:
            size = options.size or (50 if options.quick else 1_000)
            lines = [HEADS["encoder"]]
            for text in corpora:
                sizes = [*DOCUMENTS][: 1 if options.quick else None]
                found = benches(folder, work, text, sizes=sizes, names=["o200k"], megabytes=size)
                for bench, document in zip(found, sizes, strict=True):
                    lines += _shown(encoder_rows(bench, f"{text}, {document}", ways, rounds))
            written["encoder"] = "\n".join(lines)
        if "peers" in tables:
            size = options.size or (10 if options.quick else 100)
            lines = [HEADS["peers"]]
            for bench in benches(folder, work, "mixed", sizes=["2 kB"], names=[*VOCABULARIES], megabytes=size):
                lines += _shown(peer_rows(bench, bench.vocabulary.name, installed(PEERS), rounds))
            written["peers"] = "\n".join(lines)
    if options.write:
        for name, table in written.items():
            pages.put("performance.md", f"benchmarks.shards --only {name}", table)
    return 0


def _shown(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        print(line, flush=True)
        yield line


if __name__ == "__main__":
    sys.exit(main())
