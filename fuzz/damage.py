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
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Small(NamedTuple):
    """A small file of a tokenizer.

    Attributes:
        file: Its name in the folder.
        beside: All files of the folder, and their bytes.
        loaded: The name of the one that is loaded.
        options: The options of loading.
    """

    file: str
    beside: dict[str, bytes]
    loaded: str
    options: dict[str, Any]

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.beside[self.file]


def small_files() -> dict[str, Small]:
    """A small file of each kind."""
    json = "tokenizer.json"
    files = {f"{json}, {name}": Small(json, {json: data}, json, {}) for name, data in kinds.FILES.items()}
    for format in saved.OF_BYTES:
        beside = {name: data for name, data in saved.saved(format)[1].items() if name != saved.MANIFEST}
        # A list of merges is loaded with the vocabulary that it is for.
        loaded = {name: "vocab.json" if name == "merges.txt" else name for name in beside}
        options = saved.OPTIONS.get(format, {})
        files |= {f"{format}, {name}": Small(name, beside, loaded[name], options) for name in beside}
    return files


def damages(data: bytes) -> Iterator[bytes]:
    """Every beginning, and the whole with each bit flipped."""
    yield from (data[:cut] for cut in range(len(data)))
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


def _load(folder: Path, small: Small, data: bytes) -> tuple[bool, float, int]:
    """Whether damaged data is refused, and the time and the memory that this took."""
    (folder / small.file).write_bytes(data)
    tracemalloc.reset_peak()
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    try:
        loading.load(folder / small.loaded, partial_alphabet=True, **small.options).check()
    except (bp.FormatError, bp.PatternError):
        refused = True
    else:
        refused = False
    return refused, time.process_time() - start, tracemalloc.get_traced_memory()[1] - before


def damage(small: Small, *, every: int = 1, first: int = 0) -> Damaged:
    """Load the damaged forms of a file, or every so manieth of them.

    Raises:
        AssertionError: The whole file was refused, or a load took too much time or memory.
    """
    done = Damaged()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        folder = Path(made)
        for name, data in small.beside.items():
            (folder / name).write_bytes(data)
        tracemalloc.start()
        try:
            wholes = [_load(folder, small, small.data) for _ in range(2)]
            assert not any(refused for refused, _, _ in wholes), small.file
            whole = max(peak for _, _, peak in wholes)
            for number, damaged in enumerate(damages(small.data)):
                if number % every != first:
                    continue
                refused, seconds, peak = _load(folder, small, damaged)
                assert seconds <= SECONDS, (small.file, seconds, damaged)
                assert peak <= whole + TIMES_THE_FILE * len(small.data) + _BESIDES, (small.file, peak, damaged)
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
    for name, small in small_files().items():
        if options.only in name:
            done = damage(small)
            print(
                f"{name}, {len(small.data)} bytes: {done.files:,} files, {done.refused:,} refused, at most "
                f"{done.slowest:.3f} s and {done.peak / 1e3:.0f} kB",
                flush=True,
            )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start
    print(f"the process grew by {grown / 1024:.0f} MiB in all")


if __name__ == "__main__":
    main()
