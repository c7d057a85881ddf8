"""Removes tokens from a vocabulary: the last merges, or with files the tokens that they use least."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_model, add_save, check_save, load, number, save_made
from bytepair.cli.counting_arguments import add_corpus, corpus_options, source
from bytepair.cli.interrupts import interruptible
from bytepair.cli.streams import npy, write
from bytepair.training.pruning import prune

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import numpy as np
    from numpy.typing import NDArray

EXAMPLE = """\
example:
  bytepair prune -m demo-output README.md --vocab-size 270 -o smaller --map ids.npy
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.prune`."""
    add_corpus(parser, "the text whose tokens are kept")
    parser.add_argument(
        "--vocab-size", metavar="N", type=number, required=True, help="the number of tokens left, such as 32k"
    )
    parser.add_argument(
        "--map",
        metavar="FILE",
        help="the new id of each old one, -1 for removed ones: a .npy or .json file, or - for JSON on stdout",
    )
    add_model(parser)
    add_save(parser)


def run(options: Namespace) -> int:
    """Prunes, saves, and reports on stderr."""
    if options.map and options.map != "-" and not options.map.endswith((".npy", ".json")):
        options.usage_error(f"--map {options.map} is neither .npy nor .json")
    corpus = source(options, required=False)
    tokenizer = load(options, options.model)
    check_save(options, tokenizer.spec)
    with interruptible():
        pruned, ids = prune(tokenizer, options.vocab_size, corpus, **corpus_options(options))
    written = save_made(options, pruned)
    if options.map:
        write([_map(ids, options.map)], options.map)
        written += [options.map] if options.map != "-" else []
    gone = len(tokenizer) - len(pruned)
    print(f"{len(pruned):,} tokens, {gone:,} removed: {', '.join(written)}", file=sys.stderr)
    return 0


def _map(ids: NDArray[np.int64], name: str) -> bytes:
    return npy(ids) if name.endswith(".npy") else json.dumps(ids.tolist()).encode() + b"\n"
