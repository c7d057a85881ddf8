"""Decodes ids. The texts are written one after another, with nothing between them: `encode | decode` returns the bytes.
With --lines each text is written as a line: `encode --lines | decode --lines` returns the lines
(a last line without a newline gains one).

formats: those of encode
  ids    a line of ids for each text
  jsonl  {"ids": [...]} for each text
  npy    one array of integers, which is one text
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_model, load
from bytepair.cli.streams import blame, read, separated, write
from bytepair.errors import FormatError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  echo 72 101 108 108 111 10 | bytepair decode -m demo-output
  bytepair encode README.md -m demo-output --lines | bytepair decode -m demo-output --lines | cmp - README.md
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="ids; - or nothing is stdin")
    parser.add_argument("--format", choices=("ids", "jsonl", "npy"), default="ids", help="of the input; default: ids")
    parser.add_argument("--lines", action="store_true", help="write each text as a line")
    parser.add_argument("--skip-special-tokens", action="store_true", help="leave special tokens out")
    parser.add_argument(
        "--errors",
        choices=("replace", "strict", "ignore", "backslashreplace", "surrogateescape"),
        default="replace",
        help="bytes that are not UTF-8: replace them by U+FFFD (default), ..., or surrogateescape: as they are",
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the text of each row of ids."""
    write(_decoded(options, load(options, options.model)), options.output)
    return 0


def _decoded(options: Namespace, tokenizer: Tokenizer) -> Iterator[bytes]:
    data = read(options.file)
    parse: Callable[[bytes], Any] = {"ids": _ids, "jsonl": _jsonl, "npy": _npy}[options.format]
    for number, row in enumerate([data] if options.format == "npy" else separated(data, b"\n"), 1):
        with blame(options.file, line=None if options.format == "npy" else number):
            text = tokenizer.decode(parse(row), options.errors, skip_special_tokens=options.skip_special_tokens)
        yield text.encode("utf-8", "surrogateescape") + (b"\n" if options.lines else b"")


def _ids(line: bytes) -> list[int]:
    for word in line.split():
        if not word.isdigit() or len(word) > 20:
            raise FormatError(f"not an id: {word!r}", remedy="ids are whole numbers")
    return [int(word) for word in line.split()]


def _jsonl(line: bytes) -> list[int]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the line is not JSON: {error}", remedy="check that the file is whole") from error
    ids = row.get("ids") if isinstance(row, dict) else None
    if not isinstance(ids, list) or not all(type(id) is int for id in ids):
        raise FormatError(
            'the line is not {"ids": [...]} with whole numbers',
            remedy="`bytepair encode --format jsonl` writes such lines",
        )
    return ids


def _npy(data: bytes) -> Any:
    import numpy as np  # noqa: PLC0415 (slow to import)

    try:
        ids = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise FormatError(f"not an npy file: {error}", remedy="check that the file is whole") from error
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise FormatError("the array is not of ids", remedy="use an array of integers with one dimension")
    return ids
