"""Cuts text files into chunks within a token limit, at headings, paragraphs, lines, sentences or words.

Each chunk is a line of JSON: {"file": ..., "start": ..., "end": ..., "tokens": ..., "text": ...}; start and end are
bytes of the text. Where a file holds several texts, such as a .jsonl, "document" is the number of each, from 0. Plain
files are read as they are cut, in little memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.chunk.chunks import KINDS
from bytepair.cli.arguments import add_field, add_model, add_texts, load, number, text_options
from bytepair.cli.streams import write
from bytepair.cli.texts import texts

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  bytepair chunk README.md -m demo-output --limit 200 --boundary markdown
  bytepair chunk *.md -m demo-output --limit 512 --overlap 64 -o chunks.jsonl
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_texts(parser)
    add_field(parser)
    parser.add_argument("--limit", metavar="N", type=number, required=True, help="the token limit of a chunk")
    parser.add_argument(
        "--overlap",
        metavar="K",
        type=number,
        default=0,
        help="the token limit of the text that two chunks share (default: 0)",
    )
    parser.add_argument(
        "--boundary",
        choices=KINDS,
        default="sentence",
        help="the strongest kind of place to cut at (default: sentence)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the chunks of each file."""
    if options.overlap >= options.limit:
        options.usage_error("--overlap has to be less than --limit")
    write(_chunks(options, load(options, options.model)), options.output)
    return 0


def _chunks(options: Namespace, tokenizer: Tokenizer) -> Iterator[bytes]:
    for one in texts(options):
        for place, (position, parts) in enumerate(one.documents()):
            where = {"file": one.name} if one.is_one else {"file": one.name, "document": place}
            with one.blame(position):
                stream = tokenizer.chunk_parts(
                    parts,
                    options.limit,
                    overlap=options.overlap,
                    boundary=options.boundary,
                    **text_options(options),
                )
                for chunk, text in stream:
                    row = {**where, **chunk._asdict(), "text": text}
                    yield json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
