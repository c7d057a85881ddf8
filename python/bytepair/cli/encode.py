"""Encodes text. Each file is one text; with --lines each line of it is one, without its newline.

formats:
  ids    the ids of a text on a line, separated by spaces
  jsonl  {"file": ..., "ids": [...]} for each text
  npy    one uint32 array; it holds one text, so several files or --lines are refused
"""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_model, add_texts, load, text_options
from bytepair.cli.streams import blame, lines, read, write

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  bytepair encode --text 'Hello, world' -m demo-output
  bytepair encode README.md -m demo-output | bytepair decode -m demo-output | cmp - README.md
  bytepair encode README.md -m demo-output --lines --format jsonl -o README.jsonl
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_texts(parser)
    parser.add_argument("--text", help="encode this text instead of a file")
    parser.add_argument("--lines", action="store_true", help="each line is a text")
    parser.add_argument("--format", choices=("ids", "jsonl", "npy"), default="ids", help="default: ids")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the ids of each text."""
    if options.text is not None and options.files:
        options.usage_error("--text goes without files")
    if options.format == "npy" and (options.lines or len(options.files) > 1):
        options.usage_error("npy holds one text: use one file without --lines, or --format jsonl")
    write(_encoded(options, load(options, options.model)), options.output)
    return 0


def _encoded(options: Namespace, tokenizer: Tokenizer) -> Iterator[bytes]:
    how = text_options(options)
    for name in ["--text"] if options.text is not None else options.files or ["-"]:
        data = read(name) if options.text is None else os.fsencode(options.text)
        with blame(name, rows_are_lines=options.lines):
            if options.format == "npy":
                yield _npy(tokenizer.encode_array(data, **how))
                continue
            rows = tokenizer.encode_batch(lines(data), **how) if options.lines else [tokenizer.encode(data, **how)]
        for ids in rows:
            row = json.dumps({"file": name, "ids": ids}) if options.format == "jsonl" else " ".join(map(str, ids))
            yield row.encode() + b"\n"


def _npy(ids: Any) -> bytes:
    import numpy as np  # noqa: PLC0415 (slow to import)

    file = io.BytesIO()
    np.save(file, ids)
    return file.getvalue()
