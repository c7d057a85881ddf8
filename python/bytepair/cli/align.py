"""Shows which tokens of two tokenizers cover the same text."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from bytepair.alignment.texts import align
from bytepair.cli import arguments
from bytepair.cli.streams import blame, read, write_line
from bytepair.view import aligned

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair prune -m demo-output README.md --vocab-size 270 -o smaller
  bytepair align demo-output smaller 'the newest tokens'
  echo 'the newest tokens' | bytepair align demo-output smaller --format json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    arguments.add_models(parser, "A", "B")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text itself; - or nothing is stdin")
    arguments.add_text_options(parser, special="text")
    parser.add_argument(
        "--pair",
        metavar="TOKEN=TOKEN",
        action="append",
        type=_pair,
        default=[],
        help="a special token of A, and the one of B that takes its place; once for each pair",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=("table", "json"), default="table", help="default: table")


def run(options: Namespace) -> int:
    """Writes the groups to stdout."""
    pairs = dict(options.pair)
    if pairs and options.special == "text":
        options.special = ",".join(pairs)
    a, b = arguments.load_models(options).values()
    from_stdin = options.text in (None, "-")
    text = read("-") if from_stdin else options.text.encode("utf-8", "surrogateescape")
    with blame("stdin" if from_stdin else "TEXT"):
        found = align(text, a, b, pairs=pairs, **arguments.text_options(options))
    if options.format == "json":
        write_line(json.dumps(found.as_dict()))
    else:
        write_line(aligned.text(found, text, a, b).rstrip("\n"))
    return 0


def _pair(text: str) -> tuple[str, str]:
    token, found, other = text.partition("=")
    if not (token and found and other):
        raise ArgumentTypeError(f"{text!r} is not TOKEN=TOKEN")
    return token, other
