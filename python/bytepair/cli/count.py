"""Counts the tokens of text files, and their total, like wc."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_model, add_texts, load, text_options
from bytepair.cli.streams import blame, read, write_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair count README.md -m demo-output
  cat README.md | bytepair count -m demo-output
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_texts(parser)
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: table")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the count and the name of each file."""
    tokenizer = load(options, options.model)
    counts = []
    for name in options.files or ["-"]:
        data = read(name)
        with blame(name):
            counts.append((tokenizer.count(data, **text_options(options)), name))
    if options.format == "jsonl":
        for count, name in counts:
            write_line(json.dumps({"file": name, "tokens": count}))
        return 0
    if len(counts) > 1:
        counts.append((sum(count for count, _ in counts), "total"))
    width = max(len(str(count)) for count, _ in counts)
    for count, name in counts:
        # Unnamed stdin has no name, as with wc.
        write_line(f"{count:>{width}} {name}" if options.files else str(count))
    return 0
