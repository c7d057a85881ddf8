"""Trains a tokenizer on text files and saves it."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_save, check_save, number, save
from bytepair.cli.streams import read
from bytepair.spec import SPLIT_PATTERNS, AddedToken, BytePair, TokenizerSpec, split_pattern
from bytepair.training import TIES, train

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
example:
  bytepair train 'docs/**/*.txt' README.md --vocab-size 8k --special-token '<|endoftext|>' -o my-tokenizer
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.train`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="UTF-8 text: paths or globs, or - alone for stdin")
    parser.add_argument("--vocab-size", metavar="N", type=number, required=True, help="how many tokens, such as 32k")
    parser.add_argument(
        "--split",
        metavar="NAME|PATTERN",
        default="o200k",
        help=f"{', '.join(SPLIT_PATTERNS)}, or a regular expression (default: o200k)",
    )
    parser.add_argument(
        "--special-token", metavar="TEXT", action="append", default=[], help="cut out of the text; once for each"
    )
    parser.add_argument(
        "--ties", choices=TIES, default="lowest_ids", help="which of equally frequent pairs merges first"
    )
    parser.add_argument(
        "--min-frequency", metavar="N", type=number, default=2, help="pairs seen less often are not merged (default: 2)"
    )
    parser.add_argument("--max-token-length", metavar="N", type=number, help="the longest token to make, in bytes")
    parser.add_argument("--special-ids", choices=("first", "last"), default="last", help="which ids special tokens get")
    parser.add_argument("--byte-order", choices=("raw", "gpt2"), default="raw", help="the order of the ids of bytes")
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
    add_save(parser)


def run(options: Namespace) -> int:
    """Trains and saves, then says so on stderr."""
    if "-" in options.files and len(options.files) > 1:
        options.usage_error("- (stdin) goes alone, not with files")
    special_tokens = tuple(AddedToken(text, id) for id, text in enumerate(options.special_token))
    pattern = split_pattern(options.split)
    stages = TokenizerSpec(BytePair((), ()), split=(pattern,) if pattern else (), added_tokens=special_tokens)
    check_save(options, stages)
    start = time.perf_counter()
    tokenizer = train(
        [read("-")] if options.files == ["-"] else options.files,
        options.vocab_size,
        split=options.split,
        special_tokens=options.special_token,
        ties=options.ties,
        min_frequency=options.min_frequency,
        max_token_length=options.max_token_length,
        special_ids=options.special_ids,
        byte_order=options.byte_order,
        errors=options.errors,
        threads=options.threads,
        progress={"bar": True, "off": False}.get(options.progress, options.progress),
    )
    written = save(options, tokenizer)
    seconds = time.perf_counter() - start
    tokens, merges = len(tokenizer), len(tokenizer.spec.model.merges or ())
    if options.progress == "json":
        facts = {"phase": "done", "tokens": tokens, "merges": merges, "seconds": seconds, "files": written}
        print(json.dumps(facts), file=sys.stderr)
    else:
        print(f"{tokens:,} tokens, {merges:,} merges, {seconds:.2f} s: {', '.join(written)}", file=sys.stderr)
    return 0
