"""Encodes text. A plain file is one text; with --lines each line of it is one, without its newline.

formats:
  ids    the ids of a text on a line, separated by spaces
  jsonl  {"file": ..., "ids": [...]} for each text
  npy    one uint32 array; it holds one text, so several files or --lines are refused
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_field, add_model, add_texts, load, text_options
from bytepair.cli.streams import blame, npy, write
from bytepair.cli.texts import blamed, texts
from bytepair.errors import SourceError

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
    add_field(parser)
    parser.add_argument("--text", help="encode this text instead of a file")
    parser.add_argument("--lines", action="store_true", help="each line is a text")
    parser.add_argument("--format", choices=("ids", "jsonl", "npy"), default="ids", help="default: ids")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the ids of each text."""
    if options.text is not None and options.files:
        options.usage_error("--text goes without files")
    if options.text is not None and options.field is not None:
        options.usage_error("--field is for files, not for --text")
    if options.format == "npy" and (options.lines or len(options.files) > 1):
        options.usage_error("npy holds one text: use one file without --lines, or --format jsonl")
    write(_encoded(options, load(options, options.model)), options.output)
    return 0


def _encoded(options: Namespace, tokenizer: Tokenizer) -> Iterator[bytes]:
    how = text_options(options)
    if options.text is not None:
        with blame("--text"):
            yield _row(options, "--text", _ids(options, tokenizer, os.fsencode(options.text), how))
        return
    found = texts(options, delimiter="\n" if options.lines else None)
    if options.format == "npy" and not (len(found) == 1 and found[0].is_one):
        raise SourceError("npy holds one text, and these are several", remedy="use --format jsonl")
    for one in found:
        for batch in one.batches():
            with blamed(batch, lines=options.lines):
                whole = [_ids(options, tokenizer, batch.texts[0], how)] if one.is_one else None
                rows = tokenizer.encode_batch(batch.texts, **how) if whole is None else whole
            for ids in rows:
                yield _row(options, one.name, ids)


def _ids(options: Namespace, tokenizer: Tokenizer, text: bytes, how: dict[str, Any]) -> Any:
    return tokenizer.encode_array(text, **how) if options.format == "npy" else tokenizer.encode(text, **how)


def _row(options: Namespace, name: str, ids: Any) -> bytes:
    if options.format == "npy":
        return npy(ids)
    row = json.dumps({"file": name, "ids": ids}) if options.format == "jsonl" else " ".join(map(str, ids))
    return row.encode() + b"\n"
