"""Counting growing texts and intervals: ``python -m benchmarks.count``, as in the `bpe` crate's README.

Slices of 10, 100, 1,000 and 10,000 tokens are encoded, counted, grown byte by byte with a count after each, and counted
as intervals of their text; the text is cut to their number of tokens. Once without pieces, on random tokens, and once
with the vocabulary's split pattern, on real text.

- core: in Rust, where no call costs more than the work. The target: growing a text byte by byte, with a count after
  each, costs at most four times encoding it.
- peers: from Python, compared with the calls that libraries without counting need.
- chunks: whole texts in chunks, compared with chunking libraries.
- piece: one piece of 1, 10 and 100 MB, in the core: reports operations that are not linear.
- every: every published tokenizer, whatever its stages and model, from Python: chunks, fits, an index and growing texts
  as multiples of one encode, and what takes more than it may.
- hostile: 1, 10 and 100 MB of one letter, of spaces and of ideographs through each of them; hours, so only by name.

Results are compared with encoding from scratch before a time is printed. Times are CPU time, medians of interleaved
runs.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bytepair as bp
from benchmarks import (
    chunks,
    core,
    counting_families,
    counting_hostile,
    endless,
    growing,
    plot,
    published,
    slices,
)
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import NORMAL, QUICK, Report, data_folder
from benchmarks.peers import ORACLES, PUBLISHED, Vocabulary, load_all, write
from benchmarks.texts import Material, with_data, without_data
from bytepair.cli.bench_timing import WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.measure import Pace
    from benchmarks.slices import Sliced

PARTS = ("core", "peers", "chunks", "piece", "every", "hostile")
UNASKED = PARTS[:-1]
"""The parts that are measured if none is named."""

CORPORA = ("en", "mixed")
RANDOM_TOKENS = 100_000
RUNS = 5
"""Runs of each measure in the core."""

A_BYTE = ("encode", "merge", "count", "append", "append-once", "prepend")
"""The core's operations on a slice, reported per byte. `encode` repeats the same slices, so their pieces are cached;
`merge` encodes with an empty cache."""

A_WHOLE = A_BYTE[:2]
GROWN = A_BYTE[3:]
"""Operation -> the operation whose time it may exceed at most four times."""

A_CALL = ("interval", "fit", "fit-right", "until")
"""The operations that are one call per slice."""


def tokenizer(vocabulary: Vocabulary) -> bp.Tokenizer:
    """The tokenizer of a vocabulary, from its rank file, which published and trained vocabularies have."""
    split, special_tokens = vocabulary.split, vocabulary.special_tokens
    return bp.Tokenizer.from_file(str(vocabulary.ranks), split=split, special_tokens=special_tokens)


def without_split(vocabulary: Vocabulary, work: Path) -> Vocabulary:
    """The same vocabulary without a split pattern."""
    tok = tokenizer(vocabulary)
    return write(bp.Tokenizer(tok.spec.replace(split=(), added_tokens=())), work / vocabulary.name / "whole")


def in_core(report: Report, vocabulary: Vocabulary, texts: Mapping[str, Sliced], runs: int) -> None:
    """Nanoseconds per byte and per call in the core, for each text, with and without the split pattern.

    Raises:
        core.CoreError: The example failed.
    """
    for name, sliced in texts.items():
        for split in (vocabulary.scheme or "none", "none"):
            rows = core.slices(vocabulary, split, sliced, runs)
            report.head(f"{vocabulary.name}, {name}, in the core, split {split}", (*A_BYTE, *A_CALL))
            core_rows(report, rows)


def core_rows(report: Report, rows: Sequence[Mapping[str, int | str | None]]) -> None:
    """The rows of the core's example: times by size, and growing a text as a multiple of encoding it."""
    times: dict[int, dict[str, float]] = {}
    for row in rows:
        taken, of, measure = row["nanoseconds"], row["of"], str(row["measure"])
        if measure == "index":
            report.row("index of the text", {"interval": float(taken or 0) / float(of or 1)}, "ns/byte")
            report.row("index of the text", {"interval": float(row["bytes"] or 0) / float(of or 1)}, "bytes/byte")
        else:
            known = times.setdefault(int(row["tokens"] or 0), {})
            if taken is not None:
                known[measure] = float(taken) / float(of or 1)
    for tokens, known in times.items():
        values: dict[str, float | str] = {name: known.get(name, WRONG) for name in (*A_BYTE, *A_CALL)}
        report.wrong |= WRONG in values.values()
        report.row(f"{tokens} tokens", {name: values[name] for name in A_BYTE}, "ns/byte")
        report.row(f"{tokens} tokens", {name: values[name] for name in A_CALL}, "ns")
        for whole in A_WHOLE:
            if whole in known:
                grown = {name: known[name] / known[whole] for name in GROWN if name in known}
                report.row(f"{tokens} tokens, of {whole}", grown, "times")


def next_to_peers(report: Report, vocabulary: Vocabulary, texts: Mapping[str, Sliced], pace: Pace) -> None:
    """Tables of all operations from Python, compared with the peers."""
    peers = load_all(vocabulary, print, ORACLES)
    tok = tokenizer(vocabulary)
    for name, sliced in texts.items():
        growing.Comparison(report, f"{vocabulary.name}, {name}", tok, peers, sliced, pace).tables()


def measure_all(report: Report, material: Material, work: Path, parts: Sequence[str], *, quick: bool) -> None:
    """All tables; endless pieces with the first vocabulary only."""
    pace = QUICK if quick else NORMAL
    missing = core.build() if {"core", "piece"} & {*parts} else ""
    if missing:
        print(f"the core is not measured by itself: {missing}")
        parts = [part for part in parts if part not in ("core", "piece")]
    for vocabulary in material.vocabularies.values():
        tok = tokenizer(vocabulary)
        drawn = {"random tokens": slices.of_random_tokens(tok, RANDOM_TOKENS)}
        real = {name: slices.of_text(tok, path.read_bytes().decode()) for name, path in material.corpora.items()}
        if "core" in parts:
            in_core(report, vocabulary, {**drawn, **real}, RUNS)
        if "peers" in parts:
            whole = replace(without_split(vocabulary, work), name=f"{vocabulary.name} without pieces")
            next_to_peers(report, whole, drawn, pace)
            next_to_peers(report, vocabulary, real, pace)
        if "chunks" in parts:
            for name, sliced in real.items():
                chunks.table(report, f"{vocabulary.name}, {name}, chunks", tok, sliced.text, pace)
    if "piece" in parts:
        vocabulary = next(iter(material.vocabularies.values()))
        sizes = endless.QUICK_SIZES if quick else endless.SIZES
        endless.pieces(report, vocabulary, vocabulary.scheme or "none", sizes)


def add_published(parser: argparse.ArgumentParser) -> None:
    """Add the options of the parts that take every published tokenizer."""
    add_choice(parser, "--tokenizer", [*published.FILES], "every and hostile: only these tokenizers")
    add_choice(parser, "--corpus", counting_families.CORPORA, "every: only these texts")
    add_choice(parser, "--measure", [*counting_families.PARTS], "every: only these measures")
    add_choice(parser, "--kind", [*counting_hostile.KINDS], "hostile: only these texts")
    add_choice(parser, "--operation", [*counting_hostile.OPERATIONS], "hostile: only these operations")
    parser.add_argument("--bytes", type=int, help="every: take so many bytes of a text; hostile: the longest text")
    parser.add_argument("--limit", type=float, default=60, help="every and hostile: the most seconds of a measure")


def with_published(
    report: Report,
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    parts: Sequence[str],
    folder: Path | None,
) -> None:
    """The parts that take every published tokenizer."""
    names = chosen(parser, "--tokenizer", options.tokenizer, [*published.FILES])
    corpora = chosen(parser, "--corpus", options.corpus, counting_families.CORPORA)
    measures = chosen(parser, "--measure", options.measure, [*counting_families.PARTS])
    kinds = chosen(parser, "--kind", options.kind, [*counting_hostile.KINDS])
    operations = chosen(parser, "--operation", options.operation, [*counting_hostile.OPERATIONS])
    if options.data:
        os.environ["BYTEPAIR_DATA"] = options.data  # The processes of the measures look there as well.
    if folder is None and {"every", "hostile"} & {*parts}:
        print("every and hostile are not measured: there is no data folder")
        return
    if "every" in parts and folder is not None:
        counting_families.tables(
            report,
            folder,
            names=names,
            corpora=corpora,
            parts=measures,
            pace=QUICK if options.quick else NORMAL,
            limit=options.limit,
            size=options.bytes or counting_families.BYTES,
        )
    if "hostile" in parts:
        known = counting_hostile.QUICK_SIZES if options.quick else counting_hostile.SIZES
        sizes = [size for size in known if size <= (options.bytes or size)]
        counting_hostile.tables(
            report, names=names, kinds=kinds, operations=operations, sizes=sizes, limit=options.limit
        )


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a result of bytepair was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.count", description="Counting in part.")
    parser.add_argument("--data", help="the folder of real vocabularies and texts")
    parser.add_argument("--quick", action="store_true", help="one vocabulary, smaller pieces, fewer repeats")
    add_choice(parser, "--only", PARTS, "measure only")
    add_choice(parser, "--vocabulary", PUBLISHED, "only these vocabularies")
    add_published(parser)
    options = parser.parse_args(arguments)
    parts = chosen(parser, "--only", options.only, PARTS) if options.only else [*UNASKED]
    quick_vocabulary = ["o200k_base"] if options.quick else None
    vocabularies = chosen(parser, "--vocabulary", options.vocabulary or quick_vocabulary, PUBLISHED)
    folder = data_folder(options.data)
    if folder is None and options.vocabulary:
        parser.error("--vocabulary is of the data folder, which is not there; --data names it")
    report = Report("count", [*ORACLES])
    own = [part for part in parts if part not in ("every", "hostile")]
    if own:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            load = functools.partial(with_data, folder, work, vocabularies, CORPORA) if folder else None
            material = load(write_json="peers" in own) if load else without_data(work)
            measure_all(report, material, work, own, quick=options.quick)
    with_published(report, parser, options, parts, folder)
    report.save()
    plot.growth(report)
    plot.growth(report, "ns/byte", "-core.html")
    return int(report.wrong)


if __name__ == "__main__":
    sys.exit(main())
