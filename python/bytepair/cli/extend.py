"""Learns further merges from text files, on top of a tokenizer's own; all tokens keep their ids."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_model, add_save, check_save, load, number, save
from bytepair.cli.corpus import add_corpus, corpus_options, source
from bytepair.extending import extend
from bytepair.training import TIES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
example:
  bytepair extend -m demo-output 'docs/**/*.txt' --vocab-size 10k -o larger
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.extend`."""
    add_corpus(parser, "+", "UTF-8 text: paths or globs, or - alone for stdin")
    parser.add_argument(
        "--vocab-size", metavar="N", type=number, required=True, help="the largest new id plus one, such as 32k"
    )
    parser.add_argument(
        "--ties", choices=TIES, default="lowest_ids", help="which of equally frequent pairs merges first"
    )
    parser.add_argument(
        "--min-frequency", metavar="N", type=number, default=2, help="pairs seen less often are not merged (default: 2)"
    )
    parser.add_argument("--max-token-length", metavar="N", type=number, help="the longest token to make, in bytes")
    add_model(parser)
    add_save(parser)


def run(options: Namespace) -> int:
    """Extends and saves, then says so on stderr."""
    corpus = source(options)
    tokenizer = load(options, options.model)
    check_save(options, tokenizer.spec)
    extended = extend(
        tokenizer,
        corpus or (),
        options.vocab_size,
        ties=options.ties,
        min_frequency=options.min_frequency,
        max_token_length=options.max_token_length,
        **corpus_options(options),
    )
    written = save(options, extended)
    more = len(extended) - len(tokenizer)
    print(f"{len(extended):,} tokens, {more:,} of them new: {', '.join(written)}", file=sys.stderr)
    return 0
