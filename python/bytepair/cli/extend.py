"""Learns more merges from text files, after a tokenizer's own; all tokens keep their ids."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_model, load, number
from bytepair.cli.counting_arguments import add_corpus, add_merging, corpus_options, source
from bytepair.cli.interrupts import interruptible
from bytepair.cli.saving import add_save, check_save, save_made
from bytepair.training.extending import extend

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair extend -m demo-output 'docs/**/*.md' --vocab-size 10k -o larger
  bytepair extend -m demo-output 'docs/**/*.md' --vocab-size 10k --stage superwords --max-words 4 -o wider
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.extend`."""
    add_corpus(parser, "the text to learn from")
    parser.add_argument(
        "--vocab-size", metavar="N", type=number, required=True, help="the largest new id plus one, such as 32k"
    )
    parser.add_argument(
        "--stage", metavar="NAME|PATTERN", help="split text otherwise from here on: superwords merges across words"
    )
    add_merging(parser)
    add_model(parser)
    add_save(parser)


def run(options: Namespace) -> int:
    """Extends, saves, and reports on stderr."""
    corpus = source(options)
    tokenizer = load(options, options.model)
    check_save(options, tokenizer.spec)
    with interruptible():
        extended = extend(
            tokenizer,
            corpus or (),
            options.vocab_size,
            split=options.stage,
            ties=options.ties,
            min_frequency=options.min_frequency,
            max_token_length=options.max_token_length,
            max_words=options.max_words,
            **corpus_options(options),
        )
    written = save_made(options, extended)
    more = len(extended) - len(tokenizer)
    print(f"{len(extended):,} tokens, {more:,} of them new: {', '.join(written)}", file=sys.stderr)
    return 0
