"""Removes tokens from a vocabulary: the last merges, or with files the tokens that they use least or hardly at all."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, cast

from bytepair.cli.arguments import add_model, load, number
from bytepair.cli.counting_arguments import add_corpus, corpus_options, source
from bytepair.cli.interrupts import interruptible
from bytepair.cli.saving import add_save, check_save, save_made
from bytepair.cli.streams import npy, write
from bytepair.study.residues import residues
from bytepair.training.pruning import prune

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import numpy as np
    from numpy.typing import NDArray

EXAMPLE = """\
examples:
  bytepair prune -m demo-output README.md --vocab-size 270 -o smaller --map ids.npy
  bytepair prune -m demo-output 'docs/**/*.md' --most-uses 0 --keep-ids -o without-residues
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.prune`."""
    add_corpus(parser, "the text whose tokens are kept")
    parser.add_argument("--vocab-size", metavar="N", type=number, help="the number of tokens left, such as 32k")
    parser.add_argument(
        "--most-uses",
        metavar="N",
        type=int,
        help="in place of --vocab-size: remove tokens that the files use at most N times, where no other needs them",
    )
    parser.add_argument("--keep-ids", action="store_true", help="leave holes in place of removed tokens")
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
    if (options.vocab_size is None) == (options.most_uses is None):
        options.usage_error("prune takes --vocab-size N, or --most-uses N and files")
    if options.most_uses is not None and (options.from_counts or not options.files):
        options.usage_error("--most-uses encodes text: name files")
    corpus = source(options, required=False)
    tokenizer = load(options, options.model)
    check_save(options, tokenizer.spec)
    with interruptible():
        reading = corpus_options(options)
        if options.most_uses is None:
            pruned, ids = prune(tokenizer, options.vocab_size, corpus, keep_ids=options.keep_ids, **reading)
        else:
            del reading["memory"]
            hardly_used = residues(tokenizer, cast("Any", corpus), most_uses=options.most_uses, **reading)
            print(hardly_used, file=sys.stderr)
            pruned, ids = prune(tokenizer, remove=hardly_used.ids, keep_ids=options.keep_ids)
    written = save_made(options, pruned)
    if options.map:
        write([_map(ids, options.map)], options.map)
        written += [options.map] if options.map != "-" else []
    gone = len(tokenizer) - len(pruned)
    print(f"{len(pruned):,} tokens, {gone:,} removed: {', '.join(written)}", file=sys.stderr)
    return 0


def _map(ids: NDArray[np.int64], name: str) -> bytes:
    return npy(ids) if name.endswith(".npy") else json.dumps(ids.tolist()).encode() + b"\n"
