"""Counts the tokens of the texts in files, and their total, like wc.

Special tokens in a text are counted as the text that they are; --special allow counts each as one token.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_field, add_model, add_texts, load, text_options
from bytepair.cli.streams import blame, write_line
from bytepair.cli.texts import blamed, texts

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.cli.texts import Texts
    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  bytepair count --text 'Hello, world' -m demo-output
  bytepair count README.md -m demo-output
  cat README.md | bytepair count -m demo-output
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_texts(parser, special="text")
    add_field(parser)
    parser.add_argument("--text", help="count this text instead of a file")
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: table")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the count and the name of each file."""
    if options.text is not None and options.files:
        options.usage_error("--text goes without files")
    if options.text is not None and options.field is not None:
        options.usage_error("--field is for files, not for --text")
    tokenizer = load(options, options.model)
    if options.text is not None:
        with blame("--text"):
            tokens = tokenizer.count(os.fsencode(options.text), **text_options(options))
        write_line(json.dumps({"file": "--text", "tokens": tokens}) if options.format == "jsonl" else str(tokens))
        return 0
    counts = [(_count(one, tokenizer, text_options(options)), one.name) for one in texts(options)]
    if options.format == "jsonl":
        for count, name in counts:
            write_line(json.dumps({"file": name, "tokens": count}))
        return 0
    if len(counts) > 1:
        counts.append((sum(count for count, _ in counts), "total"))
    width = max(len(str(count)) for count, _ in counts)
    for count, name in counts:
        # Unnamed stdin has no name, as with wc.
        write_line(f"{count:>{width}} {name}" if options.files else str(count))
    return 0


def _count(texts: Texts, tokenizer: Tokenizer, how: dict[str, Any]) -> int:
    count = 0
    for batch in texts.batches():
        with blamed(batch):
            count += (
                tokenizer.count(batch.texts[0], **how)
                if texts.is_one
                else sum(tokenizer.count_batch(batch.texts, **how))
            )
    return count
