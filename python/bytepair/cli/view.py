"""Shows the tokens of a text by one or more tokenizers, in the terminal or on a page for a browser."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_models, add_text_options, load_models, number, text_options
from bytepair.cli.html_page import add_html, check_page, write_page
from bytepair.cli.streams import blame, read, write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair view "the newest tokens" -m demo-output
  bytepair view README.md -m demo-output --ids --pieces
  cat README.md | bytepair view -m demo-output --html view.html
"""

_COLUMNS = 100
"""The width where stdout is not a terminal."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument(
        "text", metavar="TEXT|FILE", nargs="?", help="an existing file, else the text itself; - or nothing is stdin"
    )
    parser.add_argument("--text", dest="as_text", metavar="TEXT", help="the text itself, even if a file has this name")
    parser.add_argument("--file", metavar="FILE", help="a file, never the text itself; - is stdin")
    add_models(parser)
    add_text_options(parser, special="allow")
    group = parser.add_argument_group("in the terminal")
    group.add_argument("--ids", action="store_true", help="the id below each token")
    group.add_argument(
        "--boundaries", action="store_true", help="│ after each token, the default where there are no colours"
    )
    group.add_argument("--pieces", action="store_true", help="║ after the last token of each piece, │ after others")
    group.add_argument("--by-line", action="store_true", help="each line of the text for all tokenizers, then the next")
    group.add_argument("--width", metavar="N", type=number, help="columns, from 30 on (default: those of the terminal)")
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="default: auto, if stdout is a terminal and NO_COLOR is not set",
    )
    add_html(parser, instead=True)


def run(options: Namespace) -> int:
    """Writes lines to stdout, or a page."""
    from bytepair.drawing.layout import is_coloured  # noqa: PLC0415 (as above)
    from bytepair.view import interactive, terminal  # noqa: PLC0415 (`--help` does without)
    from bytepair.view.pictures import picture  # noqa: PLC0415 (as above)

    lines = (options.ids, options.boundaries, options.pieces, options.by_line, options.width)
    if options.html is not None and (any(lines) or options.color != "auto"):
        options.usage_error(
            "--ids, --boundaries, --pieces, --by-line, --width and --color are for the terminal; a page shows all of it"
        )
    check_page(options)
    name, text = _text(options)
    width = options.width or max(shutil.get_terminal_size((_COLUMNS, 24)).columns, terminal.LEAST)
    if width < terminal.LEAST:
        options.usage_error(f"--width is at least {terminal.LEAST}")
    settings = terminal.TerminalOptions(
        width=width,
        colour=is_coloured(sys.stdout, options.color),
        ids=options.ids,
        boundaries=options.boundaries or None,
        pieces=options.pieces,
        by_line=options.by_line,
    )
    tokenizers = load_models(options)
    with blame(name) if name else nullcontext():
        seen = picture(tokenizers, text, **text_options(options))
    if options.html is not None:
        write_page(interactive.html(seen, title=f"Tokens of {name or 'the text'}"), options.html)
    else:
        write(f"{line}\n".encode() for line in terminal.lines(seen, settings))
    return 0


def _text(options: Namespace) -> tuple[str, bytes]:
    """The name of the text's file, or nothing, and the text."""
    given = [value for value in (options.text, options.as_text, options.file) if value is not None]
    if len(given) > 1:
        options.usage_error("use one of TEXT, --text and --file")
    value = given[0] if given else "-"
    if options.as_text is None and (options.file is not None or value == "-" or _is_file(value)):
        return ("stdin" if value == "-" else value), read(value)
    if options.text is not None:
        _say_if_no_file(value)
    # Bytes of the command line that are not text are shown as bytes.
    return "", value.encode(errors="surrogateescape")


def _say_if_no_file(value: str) -> None:
    """Warns that the name of a folder, or of no file, is shown as a text: the path may be misspelled."""
    try:
        is_folder = Path(value).is_dir()
    except (OSError, ValueError):
        return
    if is_folder:
        what = f"{value!r} is a folder"
    elif re.fullmatch(r"[^\s<>]*(/[^\s<>]*)?\.[A-Za-z]\w{0,5}", value) and "://" not in value:
        what = f"there is no file {value!r}"
    else:
        return
    print(
        f"bytepair: {what}, and its name is shown as the text; use --text for a text, --file for a file",
        file=sys.stderr,
    )


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except OSError:  # Longer than any name of a file.
        return False
