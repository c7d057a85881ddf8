"""Converts a tokenizer into another format, with the same ids for every text, or refuses.

A feature that the format cannot hold is named, and must be dropped by name; the manifest records it. It reads native,
tokenizer.json, tekken.json, tiktoken, vocab.json with merges.txt, .model of sentencepiece, vocab.txt of BERT, codes of
subword-nmt and fastBPE, the tokenizer of a GGUF file, and vocabularies of RWKV; it writes all of these but the last
two.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_model, load
from bytepair.cli.saving import add_save, save

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
example:
  bytepair convert demo-output -o demo.tiktoken --drop split,special_tokens
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_model(parser, "input")
    add_save(parser)


def run(options: Namespace) -> int:
    """Loads and saves."""
    print(", ".join(save(options, load(options, options.input))), file=sys.stderr)
    return 0
