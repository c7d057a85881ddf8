"""The page of ``--html``: its place is checked before the work, and it is written whole."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.errors import ArtifactError
from bytepair.view import page

if TYPE_CHECKING:
    from argparse import Namespace, _ActionsContainer


def add_html(group: _ActionsContainer, *, instead: bool = False) -> None:
    """Adds the place of a page, which is written besides the output on stdout, or instead of it."""
    what = "write a page instead" if instead else "also write a page"
    group.add_argument("--html", metavar="OUT", help=f"{what}, whole in itself, which needs no network")


def check_page(options: Namespace) -> None:
    """Refuses a place of ``--html`` that cannot be written, before the work is done."""
    if options.html is None:
        return
    if options.html in ("", "-"):
        options.usage_error("--html names a file; a page does not go to stdout")
    place = Path(options.html).resolve()
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as error:
        raise ArtifactError(
            f"cannot write the page: {error.strerror}",
            file=options.html,
            remedy="choose a place in a folder that you may write to, with space left",
        ) from error


def write_page(html: str, place: str) -> None:
    """Writes a page whole or not at all, and its path on stderr."""
    page.write_page(html, place)
    print(os.fsencode(place).decode("utf-8", "backslashreplace"), file=sys.stderr)
