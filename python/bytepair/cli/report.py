"""Says what corpora cost with tokenizers: bytes per token, tokens per word and character, parity, use of vocabularies.

As a table, as JSON, and as one page of HTML with charts, where each number is defined.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.cli.arguments import add_models, load_models, number, policy
from bytepair.cli.streams import write_line
from bytepair.reporting import report

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair report -m demo-output --corpus notes=README.md docs='docs/*.md' --html report.html
  bytepair report -m demo-output --corpus README.md --context 32k --format json
  bytepair report -m demo-output --corpus one=README.md same=README.md --parallel
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.report`."""
    add_models(parser)
    group = parser.add_argument_group("corpora")
    group.add_argument(
        "--corpus",
        metavar="NAME=FILE",
        action="extend",
        nargs="+",
        required=True,
        help="paths, globs or URLs of text, .jsonl, .parquet and others; a name that is there twice is one corpus, and "
        "FILE alone is called as its file; the first is what the others are compared with",
    )
    group.add_argument(
        "--parallel",
        action="store_true",
        help="all corpora are the same content, document by document: of plain text line by line",
    )
    group.add_argument(
        "--field", metavar="NAME", help="what holds the text in files of rows, such as .jsonl (default: text)"
    )
    group.add_argument(
        "--special",
        metavar="raise|text|allow|NAME,NAME",
        default="text",
        help="special tokens in the text: encode them as text (default), raise an error, allow all, or only these",
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
    group = parser.add_argument_group("report")
    group.add_argument(
        "--context", metavar="N", type=number, default=128_000, help="tokens of a context window (default: 128k)"
    )
    group.add_argument(
        "--rare", metavar="N", type=number, default=10, help="tokens used fewer times are rarely used (default: 10)"
    )
    group.add_argument(
        "--examples", metavar="N", type=number, default=20, help="how many tokens of each kind to name (default: 20)"
    )
    group.add_argument("--format", choices=("table", "json"), default="table", help="of stdout (default: table)")
    group.add_argument("--html", metavar="OUT", help="also write a page with charts")
    group.add_argument("--threads", metavar="N", type=number, help="up to how many threads work (default: all cores)")
    group.add_argument(
        "--progress",
        choices=("bar", "json", "off"),
        default="bar",
        help="on stderr: a bar if that is a terminal (default), JSON lines, or nothing",
    )


def run(options: Namespace) -> int:
    """Writes the report."""
    corpora: dict[str, list[str]] = {}
    for item in options.corpus:
        name, equals, place = item.partition("=")
        if equals and not (name and place):
            options.usage_error(f"--corpus {item!r} is not NAME=FILE, such as en=english.txt")
        corpora.setdefault(name if equals else Path(item).name, []).append(place if equals else item)
    found = report(
        load_models(options),
        corpora,
        context=options.context,
        rare=options.rare,
        parallel=options.parallel,
        field=options.field,
        special=policy(options.special),
        added=options.added,
        errors=options.errors,
        examples=options.examples,
        threads=options.threads,
        progress={"bar": True, "off": False}.get(options.progress, options.progress),
    )
    if options.html:
        page = found.html().encode()
        with files.replacing(Path(options.html)) as temporary:
            temporary.write_bytes(page)
    write_line(json.dumps(found.as_dict(), indent=2) if options.format == "json" else str(found))
    return 0
