"""Encoding, counting and decoding against the peers: ``python -m benchmarks.encode [--data FOLDER] [--quick]``.

Every result, bytepair's and each peer's, is compared with what bytepair's `encode` gives before a time is printed.
Times are CPU seconds of one thread (wall seconds of all cores for batches to lists), medians of interleaved runs.

- cold: the first pass over a text in a fresh process.
- fresh: in a fresh process that has seen one half of the text, the time for the other half.
- warm: the same text again; so is everything that says none of the three.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import statistics
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import first_pass
from benchmarks.measure import OURS, WRONG, Report, data_folder, interleaved, plain
from benchmarks.peers import LOADERS, Peer, Vocabulary, load_all, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MB = 1_000_000
SMALL = "The quick brown fox jumps over 13 d."  # 36 bytes
SMALL_CALLS = 2_000


@dataclass(frozen=True)
class Measure:
    """A call that is timed.

    Attributes:
        name: What the table says.
        call: The name of a call of `Peer`.
        argument: What it gets.
        expected: What it must give.
        clock: What its time is taken with.
    """

    name: str
    call: str
    argument: Any
    expected: Any
    clock: Callable[[], float] = time.process_time


def with_data(folder: Path, work: Path, *, quick: bool) -> tuple[dict[str, Vocabulary], dict[str, Path]]:
    """The published vocabularies and real texts."""
    vocabularies = {}
    published = folder / "vocabs" / "openai"
    for name in ["o200k_base"] if quick else ["o200k_base", "cl100k_base"]:
        tok = bp.get_encoding(name, folder=published)
        # `tokenizers` matches special tokens wherever they stand; the texts hold some that are to be text.
        vocabulary = write(bp.Tokenizer(replace(tok.spec, added_tokens=())), work / name)
        ranks = published / f"{name}.tiktoken"
        vocabularies[name] = replace(vocabulary, ranks=ranks, special_tokens=tok.special_tokens)
    return vocabularies, {name: folder / "corpora" / f"{name}_1mb.txt" for name in ("en", "code", "multi")}


def without_data(work: Path) -> tuple[dict[str, Vocabulary], dict[str, Path]]:
    """A vocabulary trained on half of the Python sources that every machine has, and a text of the other half."""
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    tok = bp.train(sources[::2], 16_000, split="o200k", special_tokens=["<|endoftext|>"])
    corpus = work / "stdlib.txt"
    corpus.write_text("".join(path.read_bytes().decode() for path in sources[1::2])[:MB], encoding="utf-8")
    return {"trained": write(tok, work / "trained")}, {"stdlib": corpus}


def compare(report: Report, title: str, peers: Mapping[str, Peer], measure: Measure, repeats: int) -> dict[str, float]:
    """Checks the results of one call of all libraries, then times those that are right; seconds by library."""
    calls = {name: getattr(peer, measure.call) for name, peer in peers.items()}
    runs = {name: functools.partial(call, measure.argument) for name, call in calls.items() if call}
    right = {name: run for name, run in runs.items() if plain(run()) == measure.expected}
    seconds = interleaved(right, repeats, measure.clock)
    argument = measure.expected if measure.call == "decode" else measure.argument
    size = sum(len(text.encode()) for text in ([argument] if isinstance(argument, str) else argument))
    rates: dict[str, float | str] = {name: size / MB / taken for name, taken in seconds.items()}
    wrong = dict.fromkeys(runs.keys() - right.keys(), WRONG)
    report.row(title, measure.name, {**rates, **wrong}, "MB/s", higher_is_better=True)
    return seconds


def warm(text: str, ids: list[int], encode: Callable[[str], list[int]]) -> list[Measure]:
    """The calls over one corpus, whole and in documents of 2 to 4 KB."""
    lengths = random.Random(0)
    documents = []
    start = 0
    while start < len(text):
        end = start + lengths.randint(2_000, 4_000)
        documents.append(text[start:end])
        start = end
    rows = [encode(document) for document in documents]
    return [
        Measure("to an array, warm", "encode_array", text, ids),
        Measure("to a list", "encode", text, ids),
        Measure("count", "count", text, len(ids)),
        Measure(f"batch to lists, {os.cpu_count()} cores", "encode_batch", documents, rows, time.perf_counter),
        Measure("batch to arrays", "encode_batch_array", documents, [id for row in rows for id in row]),
        Measure("decode", "decode", ids, text),
    ]


def first_passes(
    report: Report, title: str, peers: Mapping[str, Peer], vocabulary: Vocabulary, corpus: Path, *, repeats: int
) -> None:
    """Cold and fresh passes, and the time to load, in fresh processes."""
    text = corpus.read_bytes().decode()
    encode = peers[OURS].encode
    loads: dict[str, list[float]] = {name: [] for name in peers}
    for mode, timed in (("cold", text), ("fresh", first_pass.halves(text)[1])):
        expected = first_pass.digest(encode(timed))
        size = len(timed.encode()) / MB
        rates: dict[str, float | str] = {}
        passes: dict[str, list[dict[str, Any]]] = {name: [] for name in peers}
        for _ in range(repeats):
            for name in peers:
                passes[name].append(first_pass.run(name, vocabulary, corpus, mode))
        for name, measured in passes.items():
            right = all(one["digest"] == expected for one in measured)
            rates[name] = size / statistics.median(one["seconds"] for one in measured) if right else WRONG
            loads[name] += [one["load"] for one in measured if right]
        report.row(title, f"to an array, {mode}", rates, "MB/s", higher_is_better=True)
    report.row(title, "load", {name: statistics.median(taken) for name, taken in loads.items() if taken}, "s")


def small_calls(report: Report, title: str, peers: Mapping[str, Peer], repeats: int) -> None:
    """Short texts, where the call itself costs more than the work."""
    expected = peers[OURS].encode(SMALL)

    def calls(peer: Peer) -> None:
        for _ in range(SMALL_CALLS):
            peer.encode(SMALL)

    right = {name: peer for name, peer in peers.items() if peer.encode(SMALL) == expected}
    seconds = interleaved({name: functools.partial(calls, peer) for name, peer in right.items()}, repeats)
    values: dict[str, float | str] = {name: taken / SMALL_CALLS * 1e6 for name, taken in seconds.items()}
    report.row(title, "a call of 36 bytes", {**values, **dict.fromkeys(peers.keys() - right.keys(), WRONG)}, "us")


def long_pieces(report: Report, title: str, peers: Mapping[str, Peer], repeats: int, *, full: bool) -> None:
    """One piece of random letters, which no split pattern cuts; the growth shows whether it is linear (2)."""
    letters = "".join(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=MB))
    taken = []
    for size in (100_000, 200_000, *([MB] if full else [])):
        text = letters[:size]
        measure = Measure(f"one piece, {size // 1000} kB", "encode", text, peers[OURS].encode(text))
        taken.append(compare(report, title, peers, measure, repeats))
    growth: dict[str, float | str] = {name: taken[1][name] / taken[0][name] for name in taken[1].keys() & taken[0]}
    report.row(title, "growth, 200 to 100 kB", growth, "times")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; the exit code is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encode", description="Encoding against the peers.")
    parser.add_argument("--data", help="the folder of real vocabularies and texts")
    parser.add_argument("--quick", action="store_true", help="one vocabulary, fewer repeats")
    parser.add_argument("--full", action="store_true", help="one piece of 1 MB as well")
    chosen = parser.parse_args(arguments)
    repeats = 2 if chosen.quick else 5
    folder = data_folder(chosen.data)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")  # else it complains about the processes started here
    report = Report("encode", list(LOADERS))
    with tempfile.TemporaryDirectory() as work:
        found = with_data(folder, Path(work), quick=chosen.quick) if folder else without_data(Path(work))
        vocabularies, corpora = found
        for name, vocabulary in vocabularies.items():
            peers = load_all(vocabulary, print)
            for corpus, path in corpora.items():
                title = f"{name}, {corpus}"
                report.head(title)
                first_passes(report, title, peers, vocabulary, path, repeats=1 if chosen.quick else 3)
                text = path.read_bytes().decode()
                for measure in warm(text, peers[OURS].encode(text), peers[OURS].encode):
                    compare(report, title, peers, measure, repeats)
            report.head(name)
            small_calls(report, name, peers, repeats)
            long_pieces(report, name, peers, repeats, full=chosen.full)
    report.save()
    return int(report.wrong)


if __name__ == "__main__":
    sys.exit(main())
