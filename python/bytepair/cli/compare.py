"""Compares two tokenizers: their stages, their vocabularies, and what each makes of your text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_models, delimiter, load_models, number
from bytepair.cli.corpora import add_corpora, corpora, corpora_options
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


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_models(parser, "A", "B")
    group = add_corpora(parser)
    group.add_argument(
        "--delimiter",
        metavar="D",
        type=delimiter,
        help=r"between documents of plain text, such as '\n'; else each file is one",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--top", metavar="N", type=number, default=10, help="passages that are shown (default: 10)")
    group.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    group.add_argument("--html", metavar="OUT", help="write a page too")
    group.add_argument("--exit-code", action="store_true", help="exit with 1 if a document has other ids")


def run(options: Namespace) -> int:
    """Writes the comparison."""
    from bytepair.comparing import compare  # noqa: PLC0415 (`--help` does without)
    from bytepair.view import compared  # noqa: PLC0415 (as above)

    sources = corpora(options)
    for name in ("field", "delimiter", "exit_code"):
        if getattr(options, name) and not sources:
            options.usage_error(f"--{name.replace('_', '-')} goes with --corpus")
    (name_a, a), (name_b, b) = load_models(options).items()
    found = compare(
        a,
        b,
        sources or None,
        names=(name_a, name_b),
        delimiter=options.delimiter,
        examples=options.top,
        **corpora_options(options),
    )
    if options.html:
        write([compared.html(found).encode()], options.html)
    if options.format == "json":
        write_line(json.dumps(found.as_dict(), ensure_ascii=False, indent=2))
    else:
        write([compared.text(found).encode("utf-8", "surrogateescape")])
    return 1 if options.exit_code and found.differs else 0
