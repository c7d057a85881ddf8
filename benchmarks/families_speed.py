"""The speed of every family of tokenizers, compared with its own library, in one run.

    python -m benchmarks.families_speed [--data FOLDER] [--characters N] [--rounds N] [--only NAME] [--write]

Ids are compared before anything is timed. Each number is a median of rounds in which the two alternate: CPU time of
one thread, but wall time for batches on two. *fresh* is the first pass over unseen text, by tokenizers that encoded
other text before; *warm* is the same documents again. Loading and memory are those of fresh processes. ``--write``
puts the table into docs/performance.md. A ratio is the peer's time divided by bytepair's: above 1 bytepair is faster.
"""

from __future__ import annotations

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import bytepair as bp
from benchmarks import pages
from benchmarks.families import DOCUMENT, FAMILIES, PEERS, Family, SentencePiece, Tiktoken, Tokenizers
from bytepair import lowlevel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parent.parent
TEXTS = {"en": "en_1mb", "code": "code_1mb", "multi": "multi_1mb"}


class Ratio(NamedTuple):
    """Medians of two alternating calls, and the median of the ratios of the rounds."""

    ours: float
    theirs: float
    ratio: float


def turns(ours: Callable[[int], object], theirs: Callable[[int], object], rounds: int, clock: Any) -> Ratio:
    """Time two calls alternately; each gets the number of the round."""
    times: list[tuple[float, float]] = []
    for number in range(rounds):
        both = []
        for call in (ours, theirs):
            start = clock()
            call(number)
            both.append(clock() - start)
        times.append((both[0], both[1]))
    return Ratio(median(t[0] for t in times), median(t[1] for t in times), median(t[1] / t[0] for t in times))


class Both:
    """A family's file, loaded by both."""

    def __init__(self, family: Family, file: Path) -> None:
        self.tok, self.peer = bp.Tokenizer.from_file(file), PEERS[family.origin](file)
        self.special: Any = "allow" if isinstance(self.peer, Tokenizers) else "text"

    def ids(self, text: str) -> list[int]:
        """Ids of bytepair."""
        return self.tok.encode(text, special=self.special)

    def batch(self, texts: list[str], threads: int) -> list[list[int]]:
        """Ids of many texts, of bytepair."""
        return self.tok.encode_batch(texts, special=self.special, threads=threads)

    def peer_batch(self, texts: list[str], threads: int) -> list[list[int]]:
        """The peer's ids, by its fastest call."""
        if isinstance(self.peer, Tokenizers):
            os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
            return [list(e.ids) for e in self.peer.inner.encode_batch_fast(texts, add_special_tokens=False)]
        if isinstance(self.peer, Tiktoken):
            return self.peer.inner.encode_ordinary_batch(texts, num_threads=threads)
        if isinstance(self.peer, SentencePiece):
            return list(self.peer.inner.encode(texts, num_threads=threads))
        return [self.peer.ids(text) for text in texts]


def measure(both: Both, texts: dict[str, str], rounds: int) -> dict[str, Ratio]:
    """All measurements of this process."""
    peer, clock = both.peer, time.process_time
    parts = {name: [text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT)] for name, text in texts.items()}
    # The first round, which is not counted, is what warms both for text that they have not seen.
    mixed = [part for row in zip(*parts.values(), strict=False) for part in row]
    size = max(1, len(mixed) // (rounds + 1))
    groups = [mixed[at * size : (at + 1) * size] for at in range(rounds + 1)]
    for part in groups[0]:
        if both.ids(part) != peer.ids(part):
            raise SystemExit(f"ids differ: {part[:100]!r}")
    found = {
        "fresh": turns(
            lambda n: [both.ids(part) for part in groups[n + 1]],
            lambda n: [peer.ids(part) for part in groups[n + 1]],
            rounds,
            clock,
        )
    }
    for part in mixed:
        ids = peer.ids(part)
        if both.ids(part) != ids:
            raise SystemExit(f"ids differ: {part[:100]!r}")

    def again(ours: Callable[[Any], object], theirs: Callable[[Any], object], items: Sequence[Any]) -> Ratio:
        return turns(lambda _: [ours(i) for i in items], lambda _: [theirs(i) for i in items], rounds, clock)

    for name, documents in parts.items():
        found[name] = again(both.ids, peer.ids, documents[:60])
    some = mixed[:120]
    found["warm"] = again(both.ids, peer.ids, some)
    found["count"] = again(
        lambda part: both.tok.count(part, special=both.special), lambda part: len(peer.ids(part)), some
    )
    encoded = [both.ids(part) for part in some]
    found["decode"] = again(both.tok.decode, peer.decode, encoded)
    if isinstance(peer, Tokenizers):
        inner = peer.inner

        def places(part: str) -> object:
            encoding = inner.encode(part, add_special_tokens=False)
            return encoding.ids, encoding.offsets

        found["located"] = again(
            lambda part: lowlevel.locate(both.tok, part, special="allow"),
            places,
            some,
        )
    for threads, timer in ((1, clock), (2, time.perf_counter)):
        found[f"batch{threads}"] = turns(
            lambda _, n=threads: both.batch(some, n),  # type: ignore[misc]  # the default binds n
            lambda _, n=threads: both.peer_batch(some, n),  # type: ignore[misc]  # as above
            rounds,
            timer,
        )
    return found


def memory() -> float:
    """Resident memory of this process, MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def load_alone(name: str, file: Path) -> None:
    """Print the cost of loading: CPU seconds, and additional MB, the library itself imported."""
    load: Callable[[Path], Any] = bp.Tokenizer.from_file if name == "bytepair" else PEERS[name]
    if name != "bytepair":
        __import__(name)
    before, start = memory(), time.process_time()
    made = load(file)
    spent = time.process_time() - start
    print(spent, memory() - before, bool(made))


def loading(family: Family, file: Path, rounds: int) -> tuple[Ratio, Ratio]:
    """Seconds and MB of both."""
    rows: dict[str, list[list[float]]] = {"bytepair": [], family.origin: []}
    for _ in range(rounds):
        for name, found in rows.items():
            command = [sys.executable, "-m", "benchmarks.families_speed", "--load", name, str(file)]
            out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
            found.append([float(out[0]), float(out[1])])
    ours, theirs = rows["bytepair"], rows[family.origin]

    def ratio(column: int) -> Ratio:
        mine, other = median(r[column] for r in ours), median(r[column] for r in theirs)
        return Ratio(mine, other, other / mine)

    return ratio(0), ratio(1)


def line(family: Family, found: dict[str, Ratio], loaded: tuple[Ratio, Ratio], size: int) -> str:
    """A row of the table."""
    seconds, megabytes = loaded
    cells = [f"{found[name].ratio:.1f}x" for name in ("en", "code", "multi", "fresh")]
    cells += [f"{found[n].ratio:.1f}x" if n in found else "-" for n in ("batch1", "batch2", "located")]
    cells += [f"{found[name].ratio:.1f}x" for name in ("decode", "count")]
    cells.append(f"{seconds.ours:.2f} s ({seconds.ratio:.1f}x)")
    cells.append(f"{megabytes.ours:.0f} MB ({megabytes.ratio:.1f}x)")
    speed = size / found["warm"].ours / 1e6
    return f"| {family.name} | {family.origin} | {speed:.0f} | " + " | ".join(cells) + " |"


HEAD = """\
| Family | Beside | warm, MB/s | English | code | multilingual | fresh | batch | on 2 threads | places | decode \
| count | load | memory |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> int:
    """Measure the selected families."""
    parser = argparse.ArgumentParser(prog="benchmarks.families_speed")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--characters", type=int, default=600_000, help="characters of each text")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="families with this in their names; several between commas")
    parser.add_argument("--load", nargs=2, metavar=("LIBRARY", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    if options.load:
        load_alone(options.load[0], Path(options.load[1]))
        return 0
    texts = {}
    for name, stem in TEXTS.items():
        texts[name] = (options.data / "corpora" / f"{stem}.txt").read_text("utf-8")[: options.characters]
    print(HEAD)
    lines = [HEAD]
    for family in FAMILIES:
        if not any(name.lower() in family.name.lower() for name in options.only.split(",")):
            continue
        packed = (options.data / "vocabs" / family.file).read_bytes()
        with tempfile.TemporaryDirectory() as work:
            file = Path(work) / ("tokenizer.model" if family.origin == "sentencepiece" else "tokenizer.json")
            file.write_bytes(lzma.decompress(packed) if family.file.endswith(".xz") else packed)
            both = Both(family, file)
            found = measure(both, texts, options.rounds)
            loaded = loading(family, file, 3)
        parts = [text[at : at + DOCUMENT] for at in range(0, options.characters, DOCUMENT) for text in texts.values()]
        size = sum(len(part.encode()) for part in parts[:120])
        lines.append(line(family, found, loaded, size))
        print(lines[-1], flush=True)
    if options.write:
        pages.put("performance.md", "benchmarks.families_speed", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
