"""The arguments that name corpora, and how their texts are encoded: of compare and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_text_options, number, text_options

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup


def add_corpora(parser: ArgumentParser, *, required: bool = False, more: str = "") -> _ArgumentGroup:
    """Adds what `corpora` and `corpora_options` read; gives the group, for what only one subcommand takes.

    Args:
        parser: Where they are added.
        required: Whether there has to be a corpus.
        more: What else the first corpus is, for the help.
    """
    group = parser.add_argument_group("corpora")
    group.add_argument(
        "--corpus",
        metavar="NAME=FILE",
        action="extend",
        nargs="+",
        required=required,
        default=[],
        help="a path, glob or URL of text, .jsonl, .parquet and others; what has the same NAME is one corpus, and FILE "
        f"alone is called as its file{more}",
    )
    group.add_argument("--field", metavar="NAME", help="what holds the text, in files of rows (default: text)")
    group.add_argument("--threads", metavar="N", type=number, help="up to how many threads work (default: all cores)")
    add_text_options(parser, special="text", replace=True)
    return group


def corpora(options: Namespace) -> dict[str, list[str]]:
    """The places of each corpus by its name; a file without one is called by its path if another has its name."""
    found: dict[str, list[str]] = {}
    for item in options.corpus:
        name, equals, place = item.partition("=")
        # A path, or a URL, can hold one as well.
        if equals and "/" not in name:
            if not (name and place):
                options.usage_error(f"--corpus {item!r} is not NAME=FILE, such as en=english.txt")
            found.setdefault(name, []).append(place)
        else:
            short = Path(item).name
            found.setdefault(item if short in found or not short else short, []).append(item)
    return found


def corpora_options(options: Namespace) -> dict[str, Any]:
    """The keywords for `bytepair.compare` and `bytepair.report` that say how texts are read and encoded."""
    return {**text_options(options), "field": options.field, "threads": options.threads}
