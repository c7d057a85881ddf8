"""Runs a checklist: is this tokenizer the one that was saved, and does it do what its users rely on?

Files against their manifest, round trips, special tokens, fertility, chat template, padding, embedding size, offsets,
speed, determinism: one line each. Nothing is changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.check.verify import verify
from bytepair.cli.arguments import add_model, model_options
from bytepair.cli.streams import write_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair verify demo-output
  bytepair verify demo-output --json

exit code: 1 if a check fails
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_model(parser, "model")
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="a model's folder (config.json, *.safetensors): has it a row for each id?",
    )
    parser.add_argument("--json", action="store_true", help="write the checklist as JSON")


def run(options: Namespace) -> int:
    """Writes the checklist; 1 if a check failed."""
    checklist = verify(options.model, checkpoint=options.checkpoint, **model_options(options, options.model)).for_cli()
    write_line(json.dumps(checklist.as_dict(), indent=2) if options.json else str(checklist))
    return 0 if checklist.passed else 1
