"""The arguments that say which text a vocabulary is changed by, and how it is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import number
from bytepair.cli.streams import read

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.training import Source


def add_corpus(parser: ArgumentParser, nargs: str, help: str) -> None:  # noqa: A002 (argparse's word)
    """Adds the files, and the keywords of `corpus_options`."""
    parser.add_argument("files", metavar="FILE", nargs=nargs, help=help)
    parser.add_argument(
        "--errors",
        choices=("strict", "replace"),
        default="strict",
        help="bytes that are not UTF-8: raise an error (default), or replace them by U+FFFD",
    )
    parser.add_argument("--threads", metavar="N", type=number, help="how many threads count (default: all cores)")
    parser.add_argument(
        "--progress",
        choices=("bar", "json", "off"),
        default="bar",
        help="on stderr: a bar if that is a terminal (default), JSON lines, or nothing",
    )


def source(options: Namespace) -> Source | None:
    """The source that the files are; None if there are none."""
    files: list[str] = options.files
    if "-" in files and len(files) > 1:
        options.usage_error("- (stdin) goes alone, not with files")
    return [read("-")] if files == ["-"] else files or None


def corpus_options(options: Namespace) -> dict[str, Any]:
    """The keywords for `bytepair.extend` and `bytepair.prune`."""
    progress = {"bar": True, "off": False}.get(options.progress, options.progress)
    return {"errors": options.errors, "threads": options.threads, "progress": progress}
