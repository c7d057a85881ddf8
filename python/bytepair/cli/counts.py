"""Counts the pieces of text files into a table for train, extend and prune; tables add up."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli import counting_arguments as counting
from bytepair.cli.arguments import number
from bytepair.cli.interrupts import interruptible
from bytepair.cli.streams import write_line
from bytepair.sources.compressed import arrow
from bytepair.training.counts import Counts

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.training.counts import Counted

EXAMPLE = """\
examples:
  bytepair counts 'docs/*.md' -o docs.parquet
  bytepair counts README.md -o readme.parquet
  bytepair counts --from-counts docs.parquet --from-counts readme.parquet -o all.parquet
  bytepair train --from-counts all.parquet --vocab-size 8k -o my-tokenizer
  bytepair counts README.md --top 5
  bytepair counts 'docs/*.md' --engine local --workers 2 --work counting -o docs.parquet
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `Counts.of`, and the operations of tables."""
    counting.add_corpus(parser, "the text to count")
    counting.add_stages(parser)
    counting.add_engine(parser)
    parser.add_argument("--resume", action="store_true", help="go on with the run in --work, if it is there")
    parser.add_argument(
        "--start",
        metavar="BYTES",
        type=int,
        default=0,
        help="the position in a larger corpus, for --ties first_seen: the bytes of each text before it, plus one",
    )
    parser.add_argument("--only-group", metavar="NAME", help="keep the rows of this group alone")
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="TABLE", help="a .parquet file (default: rows go to stdout)")
    group.add_argument("--top", metavar="N", type=number, help="how many rows go to stdout (default: 20 without -o)")
    group.add_argument("--json", action="store_true", help="rows as JSON lines")


def run(options: Namespace) -> int:
    """Counts, writes the table or its most frequent rows, and reports on stderr."""
    if options.output:
        arrow(Path(options.output))  # A missing pyarrow is an error before anything is counted.
    if options.start < 0:
        options.usage_error("--start has to be 0 or more")
    counting.check_engine(options)
    if options.resume and not options.work:
        options.usage_error("--resume goes with --engine and --work DIR")
    if options.start and options.engine:
        options.usage_error("--start is for a corpus that is counted in parts; --engine orders the parts itself")
    with interruptible(lambda: f"; --resume goes on in {options.work}" if options.engine else ""):
        counts = _counts(options)
        if options.output:
            counts.write(options.output)
    if options.top or options.json or not options.output:
        _show(counts, options.top or 20, as_json=options.json)
    groups = [group for group in counts.groups if group]
    facts = [
        f"{len(counts):,} rows",
        f"{counts.pieces / counts.denominator:,.0f} pieces",
        f"{counts.text_bytes / counts.denominator:,.0f} bytes",
        *([f"groups {', '.join(groups)}"] if groups else []),
        *counting.spilled(counts.spilled),
    ]
    print(", ".join(facts) + (f": {options.output}" if options.output else ""), file=sys.stderr)
    return 0


def _counts(options: Namespace) -> Counts:
    corpus = counting.source(options, "split", "normalizer", "special_token", "start")
    weight = counting.weights(options, corpus)
    corpus = counting.counted(options, corpus)
    if isinstance(corpus, Counts):
        counts = corpus
    else:
        counts = Counts.of(
            corpus or (),
            split="o200k" if options.split is None else options.split,
            normalizers=options.normalizer,
            special_tokens=options.special_token,
            start=options.start,
            **counting.corpus_options(options),
        )
    if options.only_group:
        counts = counts.group(options.only_group)
    if weight:
        counts = counts.weighted(weight)
    return counts.filter(options.min_count) if options.min_count else counts


def _show(counts: Counts, most: int, *, as_json: bool) -> None:
    rows = counts.top(most)
    if as_json:
        for row in rows:
            # Bytes that are not UTF-8 are escaped as in Python, which no other text is.
            shown = row._asdict() | {"piece": row.piece.decode("utf-8", "surrogateescape")}
            write_line(json.dumps(shown | ({"denominator": counts.denominator} if counts.denominator > 1 else {})))
        return
    digits = 1 if counts.denominator > 1 else 0
    numbers = [f"{row.count / counts.denominator:,.{digits}f}" if digits else f"{row.count:,}" for row in rows]
    width = max(map(len, numbers), default=0)
    names = max((len(row.group) for row in rows), default=0)
    for row, occurrences in zip(rows, numbers, strict=True):
        group = f"  {row.group:<{names}}" if names else ""
        write_line(f"{occurrences:>{width}}{group}  {_visible(row)}")


def _visible(row: Counted) -> str:
    try:
        return repr(row.piece.decode())
    except UnicodeDecodeError:
        return repr(row.piece)
