"""Checks a tokenizer against its manifest, and the behaviour that its users rely on.

Files, round trips, special tokens, fertility, chat template, padding, embedding size, offsets, speed, determinism: a
line each. Nothing is changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair.check.verify import verify
from bytepair.cli.arguments import add_model, load
from bytepair.cli.streams import write_line
from bytepair.formats.hub import ENCODINGS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair verify demo-output
  bytepair verify demo-output --json

exit code: 1 if a line fails
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_model(parser, "model")
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="a model's folder (config.json, *.safetensors): check that it has a row for each id",
    )
    parser.add_argument("--json", action="store_true", help="write the report as JSON")


def run(options: Namespace) -> int:
    """Writes the report; 1 if a line failed."""
    if options.model in ENCODINGS:
        report = verify(load(options, options.model), checkpoint=options.checkpoint)
    else:
        if options.encodings:
            options.usage_error(f"--encodings is for the name of an encoding; {options.model} is none")
        report = verify(
            options.model,
            checkpoint=options.checkpoint,
            split=options.split,
            special_tokens=dict(options.special_token) if options.special_token else None,
            partial_alphabet=options.partial_alphabet,
        )
    report = report.for_cli()
    write_line(json.dumps(report.as_dict(), indent=2) if options.json else str(report))
    return 0 if report.passed else 1
