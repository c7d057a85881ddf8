"""The core alone: runs ``crates/core/examples/count`` and reads its rows."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers import ROOT

if TYPE_CHECKING:
    from benchmarks.peers import Vocabulary
    from benchmarks.slices import Sliced

COMMAND = ("cargo", "run", "--quiet", "--release", "--package", "bytepair-core", "--example", "count", "--")


class CoreError(Exception):
    """The example returned no rows; the message is the reason."""


def build() -> str:
    """Build the example; return the reason if that fails, else an empty string."""
    if shutil.which(COMMAND[0]) is None:
        return "there is no cargo"
    built = subprocess.run([COMMAND[0], "build", *COMMAND[2:-1]], cwd=ROOT, capture_output=True, text=True, check=False)
    return built.stderr.strip()


def run(arguments: list[str], seconds: float | None = None) -> list[dict[str, Any]]:
    """Run the example.

    Args:
        arguments: See its head.
        seconds: Time limit.

    Returns:
        Its rows.

    Raises:
        CoreError: It failed.
        subprocess.TimeoutExpired: It took longer.
    """
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
    )
    if done.returncode:
        raise CoreError(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def slices(vocabulary: Vocabulary, split: str, sliced: Sliced, runs: int) -> list[dict[str, Any]]:
    """A row for each size and measure: total nanoseconds, and the number of bytes or calls.

    Args:
        vocabulary: It has a rank file.
        split: The name of a split pattern.
        sliced: The text, and its slices.
        runs: The number of runs of each measure; measures alternate.

    Raises:
        CoreError: The example failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        text, places = Path(folder) / "text.txt", Path(folder) / "slices.json"
        sliced.write(text, places)
        return run(["slices", str(vocabulary.ranks), split, str(text), str(places), str(runs)])


def piece(
    vocabulary: Vocabulary, case: tuple[str, str, str], size: int, seconds: float
) -> tuple[float | None, int | None]:
    """Seconds of one operation on one piece (None if its result is wrong), and its peak in bytes (None if unknown).

    Args:
        vocabulary: It has a rank file.
        case: The name of a split pattern, the content of the piece, and the operation.
        size: The bytes of the piece.
        seconds: Time limit of the process.

    Raises:
        CoreError: The example failed.
        subprocess.TimeoutExpired: It took longer.
    """
    (row,) = run(["piece", str(vocabulary.ranks), *case, str(size)], seconds)
    return row["seconds"], row["peak"]
