"""Shows the tokens of a text, as one or more tokenizers cut it: in the terminal, or on a page for a browser."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_models, add_text_options, load_models, number, text_options
from bytepair.cli.pages import check_page, write_page
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
"""Of what is no terminal."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument(
        "text", metavar="TEXT|FILE", nargs="?", help="a file that is there, else the text itself; - or nothing is stdin"
    )
    parser.add_argument("--text", dest="as_text", metavar="TEXT", help="the text itself, also if a file is called so")
    parser.add_argument("--file", metavar="FILE", help="a file, and never the text itself; - is stdin")
    add_models(parser)
    add_text_options(parser, special="allow")
    group = parser.add_argument_group("in the terminal")
    group.add_argument("--ids", action="store_true", help="the id below each token")
    group.add_argument(
        "--boundaries", action="store_true", help="│ behind each token, as there is anyway where there are no colours"
    )
    group.add_argument("--pieces", action="store_true", help="║ behind the last token of each piece, │ behind others")
    group.add_argument("--by-line", action="store_true", help="each line of the text for all tokenizers, then the next")
    group.add_argument("--width", metavar="N", type=number, help="columns, from 30 on (default: those of the terminal)")
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="default: auto, if stdout is a terminal and NO_COLOR is not set",
    )
    parser.add_argument("--html", metavar="OUT", help="write a page instead, whole in itself, which needs no network")


def run(options: Namespace) -> int:
    """Writes lines to stdout, or a page."""
    from bytepair.drawing.layout import is_coloured  # noqa: PLC0415 (as above)
    from bytepair.view import interactive, terminal  # noqa: PLC0415 (`--help` does without)
    from bytepair.view.pictures import picture  # noqa: PLC0415 (as above)

    lines = (options.ids, options.boundaries, options.pieces, options.by_line, options.width)
    if options.html is not None and (any(lines) or options.color != "auto"):
        options.usage_error(
            "--ids, --boundaries, --pieces, --by-line, --width and --color are for the terminal; a page has it all"
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
    """The file that the text is from, or nothing, and the text."""
    given = [value for value in (options.text, options.as_text, options.file) if value is not None]
    if len(given) > 1:
        options.usage_error("one text is shown: TEXT, --text or --file")
    value = given[0] if given else "-"
    if options.as_text is None and (options.file is not None or value == "-" or _is_file(value)):
        return ("stdin" if value == "-" else value), read(value)
    if options.text is not None:
        _say_if_no_file(value)
    # Bytes of the command line that are no text are shown as what they are.
    return "", value.encode(errors="surrogateescape")


def _say_if_no_file(value: str) -> None:
    """Says that what looks like a path is shown as a text: the path may be misspelled."""
    try:
        is_folder = Path(value).is_dir()
    except (OSError, ValueError):
        return
    if is_folder:
        said = f"{value!r} is a folder"
    elif re.fullmatch(r"[^\s<>]*(/[^\s<>]*)?\.[A-Za-z]\w{0,5}", value) and "://" not in value:
        said = f"no file is called {value!r}"
    else:
        return
    print(f"bytepair: {said}: the name itself is shown; --text says so, --file says otherwise", file=sys.stderr)


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except OSError:  # Longer than any name of a file.
        return False
