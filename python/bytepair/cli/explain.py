"""Shows why a text has its ids: pieces, and merges step by step; or, with --timeline, the first merges of a training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.checkpoints import MERGES
from bytepair.cli.arguments import add_model, add_policy, load, number, text_options
from bytepair.cli.streams import write_line
from bytepair.explaining import explain, timeline
from bytepair.view import explained
from bytepair.view import timeline as timelines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
examples:
  bytepair explain ' unbelievable' -m demo-output
  bytepair explain ' unbelievable' -m demo-output --html explained.html
  bytepair explain --timeline demo-output
  bytepair explain --timeline merges.jsonl --most 200 --html timeline.html
"""
