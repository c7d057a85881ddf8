"""Shows why a text has its ids: pieces, and merges step by step; with --timeline, the first merges of a training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.cli.arguments import add_model, add_text_options, default_model, load, number, text_options
from bytepair.cli.html_page import add_html, check_page, write_page
from bytepair.cli.streams import blame, read, write_line
from bytepair.errors import EncodeError
from bytepair.study.explain import explain, timeline
from bytepair.training.checkpoints import MERGES
from bytepair.view import explained
from bytepair.view import timeline as timelines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from types import ModuleType

    from bytepair.study.explain import Explanation, Timeline

EXAMPLE = """\
examples:
  bytepair explain ' unbelievable' -m demo-output
  bytepair explain ' unbelievable' -m demo-output --html explained.html
  bytepair explain --timeline demo-output --most 20
  bytepair explain --timeline demo-output --most 200 --html timeline.html
"""

_COLUMNS = 100
"""The width where stdout is not a terminal."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text itself; - or nothing is stdin")
    parser.add_argument(
        "--timeline",
        metavar="LOG|MODEL",
        help="the first merges: of a log (train --log), of the folder of a --checkpoint, or of a tokenizer",
    )
    parser.add_argument("--most", metavar="N", type=number, help="with --timeline: how many merges (default: 1000)")
    add_model(parser, required=False)
    add_text_options(parser, special="allow")
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=("text", "json"), help="default: text; json is complete, however long")
    add_html(group, instead=True)


def run(options: Namespace) -> int:
    """Writes text or JSON to stdout, or a page."""
    if options.html is not None and options.format:
        options.usage_error("--format is for stdout, and --html writes a page")
    check_page(options)
    if options.timeline is not None:
        if options.text is not None or options.model is not None:
            options.usage_error("--timeline names its source; use it without TEXT and -m")
        return _show_timeline(options)
    options.model = options.model or default_model()
    if options.model is None or options.most is not None:
        options.usage_error("use TEXT and -m MODEL, or --timeline LOG|MODEL with or without --most")
    tokenizer = load(options, options.model)
    if options.text in (None, "-"):
        with blame("stdin"):
            found = explain(tokenizer, _decoded(read("-")), **text_options(options))
    else:
        found = explain(tokenizer, options.text, **text_options(options))
    width = max(shutil.get_terminal_size((_COLUMNS, 24)).columns, explained.LEAST)
    return _show(options, found, explained, width=width)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise EncodeError(
            f"the bytes are not UTF-8: 0x{data[error.start]:02X} is not allowed here",
            byte=error.start,
            character=len(data[: error.start].decode()),
            remedy="`bytepair view` shows any bytes",
        ) from None


def _show_timeline(options: Namespace) -> int:
    place = options.timeline
    source = place if _is_log(Path(place)) else load(options, place)
    found = timeline(source, **({} if options.most is None else {"most": options.most}))
    return _show(options, found, timelines)


def _show(options: Namespace, found: Explanation | Timeline, view: ModuleType, **how: int) -> int:
    if options.html is not None:
        write_page(view.html(found), options.html)
    elif options.format == "json":
        write_line(json.dumps(found.as_dict(), ensure_ascii=False))
    else:
        write_line(view.text(found, **how).rstrip("\n"))
    return 0


def _is_log(place: Path) -> bool:
    """Whether a path is a merge log, or a folder with one."""
    if files.is_folder(place):
        return files.exists(place / MERGES)
    if not files.exists(place):
        return False
    with place.open("rb") as file:
        return place.suffix == ".jsonl" or file.read(7) == b'{"rank"'
