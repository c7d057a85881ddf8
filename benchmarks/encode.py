"""Encoding, counting and decoding against the peers: ``python -m benchmarks.encode``.

Every result, bytepair's and each peer's, is compared with the ids of bytepair's `encode` before a time is printed.
Times are CPU seconds, medians of interleaved runs; batches to lists on all cores, and rows with threads, are wall time.

A text is cut into blocks of 50,000 characters; the even ones are one half of it, the odd ones the other. For the passes
over halves the texts have 20 MB, where the data folder has them, for the rest 1 MB.

- cold: the first half, in a fresh process.
- fresh: the other half after it.
- warm, count: the other half again.

The other rows are warm, too, except those of one piece: those texts are new.

With two vocabularies, the second is only encoded and counted; for the other rows select it with --vocabulary.

A selection, for tuning::

    python -m benchmarks.encode --only cold,fresh,warm --corpus en --vocabulary o200k_base --peer gigatoken
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import first_pass, plot, small, threads, worst
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import NORMAL, QUICK, Report, data_folder, timed
from benchmarks.peers import JSON_ONLY, LIBRARIES, OURS, PUBLISHED, ROOT, Peer, load_all
from benchmarks.texts import CORPORA, MB, Material, documents, with_data, without_data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.measure import Pace

CORES = os.cpu_count() or 1
PASSES = (*first_pass.ROWS,)
ONE_TEXT = ("list", "decode", "batch", "batch-array")
PARTS = (*PASSES, *ONE_TEXT, "threads", "small", "load", "worst")
DEPENDENT = (*PASSES, "list")
"""The parts that are also measured with a second vocabulary; it hardly affects the others."""


@dataclass(frozen=True)
class Measure:
    """A call over one text.

    Attributes:
        name: Label in the table.
        call: The name of a call of `Peer`.
        arguments: Its arguments.
        expected: Its expected result.
        clock: The clock that times it.
    """

    name: str
    call: str
    arguments: tuple[Any, ...]
    expected: Any
    clock: Callable[[], float] = time.process_time


def measures(text: str, encode: Callable[[str], list[int]]) -> dict[str, Measure]:
    """The parts that are one call over one text, or over its documents."""
    ids = encode(text)
    texts = documents(text)
    rows = [encode(document) for document in texts]
    flat = [id for row in rows for id in row]
    wall = time.perf_counter
    return {
        "list": Measure("to a list", "encode", (text,), ids),
        "decode": Measure("decode", "decode", (ids,), text),
        "batch": Measure(f"batch to lists, {CORES} cores", "encode_batch", (texts, CORES), rows, wall),
        "batch-array": Measure("batch to a flat array", "encode_batch_array", (texts, 1), flat),
    }


def one_text(report: Report, peers: Mapping[str, Peer], parts: Sequence[str], text: str, pace: Pace) -> None:
    """The rows of the parts that are one call over one text."""
    size = len(text.encode()) / MB
    found = measures(text, peers[OURS].encode)
    for measure in (found[part] for part in parts if part in found):
        calls = {name: getattr(peer, measure.call) for name, peer in peers.items()}
        runs = {name: functools.partial(call, *measure.arguments) for name, call in calls.items() if call}
        timed(report, measure.name, runs, measure.expected, pace, megabytes=size, clock=measure.clock)


def measure_all(
    report: Report, material: Material, parts: Sequence[str], *, repeats: int, pace: Pace, full: bool
) -> None:
    """All tables: one per vocabulary and text; then, for the first vocabulary, one for the parts without a text."""
    first = next(iter(material.vocabularies))
    for name, vocabulary in material.vocabularies.items():
        if name != first:
            parts = [part for part in parts if part in DEPENDENT]
        peers = load_all(vocabulary, print, report.libraries)
        if {*PASSES, *ONE_TEXT} & {*parts}:
            for corpus, path in material.corpora.items():
                report.head(f"{name}, {corpus}")
                if {*PASSES} & {*parts}:
                    long = path if pace is QUICK else material.long.get(corpus, path)
                    first_pass.passes(report, parts, peers, vocabulary, long, repeats=repeats)
                one_text(report, peers, parts, path.read_bytes().decode(), pace)
        if {"threads", "small", "load"} & {*parts}:
            report.head(name)
        if "threads" in parts:
            texts = [path.read_bytes().decode() for path in material.corpora.values()]
            threads.speedups(report, peers, "".join(texts), CORES, pace)
        if "small" in parts:
            small.calls(report, peers, pace)
        if "load" in parts:
            first_pass.loading(report, peers, vocabulary, repeats=repeats)
        if "worst" in parts:
            report.head(f"{name}, one piece")
            worst.pieces(report, peers, vocabulary, 100_000 if pace is QUICK else MB, pace, full=full)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a result of bytepair was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encode", description="Encoding against the peers.")
    parser.add_argument("--data", help="the folder of real vocabularies and texts")
    parser.add_argument("--quick", action="store_true", help="one vocabulary, two texts, fewer repeats: two minutes")
    parser.add_argument("--full", action="store_true", help="pieces of 10 and 100 MB as well, by bytepair alone")
    libraries = [name for name in LIBRARIES if name != OURS]
    parser.add_argument("--write", action="store_true", help="draw the chart of the README, from fresh of en and multi")
    add_choice(parser, "--only", PARTS, "measure only")
    add_choice(parser, "--corpus", CORPORA, "only these texts")
    add_choice(parser, "--vocabulary", PUBLISHED, "only these vocabularies")
    add_choice(parser, "--peer", libraries, "only these peers")
    options = parser.parse_args(arguments)
    parts = chosen(parser, "--only", options.only, PARTS)
    corpora = chosen(parser, "--corpus", options.corpus or (["en,multi"] if options.quick else None), CORPORA)
    quick_vocabulary = ["o200k_base"] if options.quick else None
    vocabularies = chosen(parser, "--vocabulary", options.vocabulary or quick_vocabulary, PUBLISHED)
    peers = chosen(parser, "--peer", options.peer, libraries)
    folder = data_folder(options.data)
    if folder is None and (options.corpus or options.vocabulary):
        parser.error("--corpus and --vocabulary are of the data folder, which is not there; --data names it")
    report = Report("encode", [OURS, *peers])
    with tempfile.TemporaryDirectory() as work:
        place = Path(work)
        if folder:
            write_json = any(peer in JSON_ONLY for peer in peers)
            material = with_data(folder, place, vocabularies, corpora, write_json=write_json)
        else:
            material = without_data(place)
        pace = QUICK if options.quick else NORMAL
        measure_all(report, material, parts, repeats=1 if options.quick else 3, pace=pace, full=options.full)
    report.save()
    plot.rates(report)
    if options.write and not report.wrong:
        print(*plot.speed(report, ROOT / "docs" / "pictures"), sep="\n")
    return int(report.wrong)


if __name__ == "__main__":
    sys.exit(main())
