"""Every cut and flipped bit of a small file of each format: a tokenizer or FormatError, soon and in little memory.

``python -m fuzz.damage`` takes some minutes. A load may take a second of processor time, and 8 times the file's memory
beside what a load of the whole file takes.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import bytepair as bp
from bytepair.formats import loading
from fuzz import kinds, saved

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 1.0
TIMES_THE_FILE = 8
_BESIDES = 1 << 20  # What one load or another takes for its classes and tables, whatever the file.


class Damaged(NamedTuple):
    """What the damage of one file led to."""

    files: int = 0
    refused: int = 0
    slowest: float = 0.0
    peak: int = 0


def small_files() -> dict[str, tuple[str, bytes]]:
    """A small file of each kind: its name in a folder, and its bytes."""
    files = {f"tokenizer.json, {name}": ("tokenizer.json", data) for name, data in kinds.FILES.items()}
    for format in saved.OF_BYTES:
        _, contents = saved.saved(format)
        files |= {f"{format}, {name}": (name, data) for name, data in contents.items() if name != saved.MANIFEST}
    return files


def damages(data: bytes) -> Iterator[bytes]:
    """Every beginning, and the whole with each bit flipped."""
    yield from (data[:cut] for cut in range(len(data)))
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


def _load(path: Path, data: bytes) -> tuple[bool, float, int]:
    """Whether damaged data is refused, and the time and the memory that this took."""
    path.write_bytes(data)
    tracemalloc.reset_peak()
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    try:
        loading.load(path, partial_alphabet=True).check()
    except bp.FormatError:
        refused = True
    else:
        refused = False
    return refused, time.process_time() - start, tracemalloc.get_traced_memory()[1] - before


def damage(name: str, data: bytes, *, every: int = 1, first: int = 0) -> Damaged:
    """Load the damaged forms of a file, or every so manieth of them.

    Raises:
        AssertionError: A load took too much time or memory.
    """
    done = Damaged()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        path = Path(folder, name)
        tracemalloc.start()
        try:
            whole = max(_load(path, data)[2] for _ in range(2))
            for number, damaged in enumerate(damages(data)):
                if number % every != first:
                    continue
                refused, seconds, peak = _load(path, damaged)
                assert seconds <= SECONDS, (name, seconds, damaged)
                assert peak <= whole + TIMES_THE_FILE * len(data) + _BESIDES, (name, peak, damaged)
                done = Damaged(done.files + 1, done.refused + refused, max(done.slowest, seconds), max(done.peak, peak))
        finally:
            tracemalloc.stop()
    return done


def main() -> None:
    """Damage the files and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose name contains this")
    options = parser.parse_args()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, (file, data) in small_files().items():
        if options.only in name:
            done = damage(file, data)
            print(
                f"{name}, {len(data)} bytes: {done.files:,} files, {done.refused:,} refused, at most "
                f"{done.slowest:.3f} s and {done.peak / 1e3:.0f} kB",
                flush=True,
            )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start
    print(f"the process grew by {grown / 1024:.0f} MiB in all")


if __name__ == "__main__":
    main()
