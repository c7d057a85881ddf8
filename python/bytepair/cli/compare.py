"""Compares two tokenizers: their stages, their vocabularies, and what each makes of your text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_models, load_models, number, policy
from bytepair.cli.documents import _delimiter
from bytepair.cli.streams import write, write_line
from bytepair.comparing import compare
from bytepair.view import compared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
exit codes besides those of all commands:
  1    with --exit-code: a document has other ids

examples:
  bytepair prune -m demo-output README.md --vocab-size 270 -o smaller
  bytepair compare demo-output smaller
  bytepair compare demo-output smaller --corpus README.md docs='docs/*.md' --html compared.html
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_models(parser, "A", "B")
    group = parser.add_argument_group("texts")
    group.add_argument(
        "--corpus",
        metavar="FILE|NAME=FILE",
        action="append",
        nargs="+",
        default=[],
        help="a file, glob or URL, each a source of its own; what has the same NAME is one source",
    )
    group.add_argument("--field", metavar="NAME", help="what holds the text, in files of rows (default: text)")
    group.add_argument(
        "--delimiter",
        metavar="D",
        type=_delimiter,
        help=r"between documents of plain text, such as '\n'; else each file is one",
    )
    group.add_argument(
        "--special",
        metavar="raise|text|allow|NAME,NAME",
        default="text",
        help="special tokens in the texts: raise an error, encode them as text (default), allow all, or only these",
    )
    group.add_argument(
        "--added",
        choices=("match", "text", "raise"),
        default="match",
        help="added tokens that are not special (default: match)",
    )
    group.add_argument(
        "--errors",
        choices=("strict", "replace"),
        default="strict",
        help="bytes that are not UTF-8: raise an error (default), or replace them by U+FFFD",
    )
    group.add_argument("--threads", metavar="N", type=number, help="default: all cores")
    group = parser.add_argument_group("output")
    group.add_argument("--top", metavar="N", type=number, default=10, help="passages that are shown (default: 10)")
    group.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    group.add_argument("--html", metavar="OUT", help="write a page too")
    group.add_argument("--exit-code", action="store_true", help="exit with 1 if a document has other ids")


def run(options: Namespace) -> int:
    """Writes the comparison."""
    sources = _sources(options)
    for name in ("field", "delimiter", "exit_code"):
        if getattr(options, name) and not sources:
            options.usage_error(f"--{name.replace('_', '-')} goes with --corpus")
    (name_a, a), (name_b, b) = load_models(options).items()
    found = compare(
        a,
        b,
        sources or None,
        names=(name_a, name_b),
        special=policy(options.special),
        added=options.added,
        errors=options.errors,
        field=options.field,
        delimiter=options.delimiter,
        examples=options.top,
        threads=options.threads,
    )
    if options.html:
        write([compared.html(found).encode()], options.html)
    if options.format == "json":
        write_line(json.dumps(found.as_dict(), ensure_ascii=False, indent=2))
    else:
        write([compared.text(found).encode("utf-8", "surrogateescape")])
    return 1 if options.exit_code and found.differs else 0


def _sources(options: Namespace) -> dict[str, list[str]]:
    """What ``--corpus`` names: what has no name of its own is called as its file is, or by its path if another is."""
    sources: dict[str, list[str]] = {}
    for one in (one for some in options.corpus for one in some):
        name, _, place = one.partition("=")
        if name and place and "/" not in name:
            sources.setdefault(name, []).append(place)
        else:
            short = Path(one).name
            sources.setdefault(one if short in sources or not short else short, []).append(one)
    return sources
