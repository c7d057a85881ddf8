"""Reports the cost of corpora by tokenizer: bytes per token, tokens per word and character, parity, vocabulary use.

As a table, as JSON, and as one page of HTML with charts, where each number is defined.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.cli import arguments
from bytepair.cli.arguments import number
from bytepair.cli.html_page import add_html, check_page, write_page
from bytepair.cli.streams import write_line

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
    arguments.add_models(parser)
    group = parser.add_argument_group("texts")
    arguments.add_corpora(group, required=True, more="; the others are compared with the first")
    group.add_argument(
        "--parallel",
        action="store_true",
        help="all corpora are the same content, document by document; plain text without --delimiter: line by line",
    )
    arguments.add_text_options(parser, special="text", replace=True)
    group = parser.add_argument_group("report")
    group.add_argument(
        "--context",
        metavar="N",
        type=number,
        default=128_000,
        help="tokens of a context window (default: 128k)",
    )
    group.add_argument(
        "--rare",
        metavar="N",
        type=number,
        default=10,
        help="tokens used fewer times are rarely used (default: 10)",
    )
    group.add_argument(
        "--examples",
        metavar="N",
        type=number,
        default=20,
        help="how many tokens of each kind to name (default: 20)",
    )
    group.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_html(group)
    arguments.add_progress(group)


def run(options: Namespace) -> int:
    """Writes the report."""
    from bytepair.study.report import report  # noqa: PLC0415 (`--help` does without)

    sources = arguments.corpora(options)
    check_page(options)
    found = report(
        arguments.load_models(options),
        sources,
        context=options.context,
        rare=options.rare,
        parallel=options.parallel,
        **arguments.corpora_options(options),
        examples=options.examples,
        progress=arguments.progress(options),
    )
    if options.html is not None:
        write_page(found.html(), options.html)
    write_line(json.dumps(found.as_dict(), indent=2) if options.format == "json" else str(found))
    return 0
