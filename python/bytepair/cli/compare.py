"""Compares two tokenizers: their stages, their vocabularies, and the tokens of your text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.cli import arguments
from bytepair.cli.arguments import number
from bytepair.cli.html_page import add_html, check_page, write_page
from bytepair.cli.streams import write, write_line

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

_OF_TEXTS = {
    "field": None,
    "delimiter": None,
    "special": "text",
    "added": "match",
    "errors": "strict",
    "threads": None,
    "top": 10,
    "exit_code": False,
}
"""The options for texts alone, and their defaults."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    arguments.add_models(parser, "A", "B")
    group = parser.add_argument_group("texts")
    arguments.add_corpora(group)
    arguments.add_text_options(parser, special="text", replace=True)
    group = parser.add_argument_group("output")
    group.add_argument("--top", metavar="N", type=number, default=10, help="how many passages to show (default: 10)")
    group.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_html(group)
    group.add_argument("--exit-code", action="store_true", help="exit with 1 if a document has other ids")


def run(options: Namespace) -> int:
    """Writes the comparison."""
    from bytepair.study.compare import compare  # noqa: PLC0415 (`--help` does without)
    from bytepair.view import compared  # noqa: PLC0415 (as above)

    sources = arguments.corpora(options)
    for name, unset in _OF_TEXTS.items():
        if getattr(options, name) != unset and not sources:
            options.usage_error(f"--{name.replace('_', '-')} goes with --corpus")
    check_page(options)
    (name_a, a), (name_b, b) = arguments.load_models(options).items()
    found = compare(
        a,
        b,
        sources or None,
        names=(name_a, name_b),
        **arguments.corpora_options(options),
        examples=options.top,
    )
    if options.html is not None:
        write_page(compared.html(found), options.html)
    if options.format == "json":
        write_line(json.dumps(found.as_dict(), ensure_ascii=False, indent=2))
    else:
        write([compared.text(found).encode("utf-8", "surrogateescape")])
    return 1 if options.exit_code and found.differs else 0
