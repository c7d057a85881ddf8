"""Builds of the core compared in one process, in turns: ``python -m benchmarks.paired BUILD BUILD ...``.

A busy machine changes its speed by a third within seconds, so that two processes show no difference below that. Here
every build encodes the same 500 kB before any encodes the next, the first of them by turns, and the ratio of each such
round counts. A build compared with itself comes out within two percent: nothing below that means anything.

A build is the path of a compiled core, with a name and a tier if wanted: ``NAME=PATH@TIER``. Tiers are those of the
variable BYTEPAIR_TIER. The first build is the base of the ratios; above 1 a build is faster than it.

    cp target/release/lib_core.so before.so
    python -m benchmarks.paired before.so before.so@avx2 target/release/lib_core.so

- cold: one half of a text, by tokenizers that have seen nothing.
- fresh: the other half, after it.
- warm, list, count: the other half again.

Ids are compared before a time counts. Each build has `str` objects of its own, so that none profits from what another
one left in them. Times are CPU time of one thread.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import lzma
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.choose import add_choice, chosen
from benchmarks.measure import data_folder
from benchmarks.worker import halves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import bytepair as bp

PACKAGE = "bytepair"
CORE = f"{PACKAGE}._core"
TIER = "BYTEPAIR_TIER"
CORPORA = ("en", "code", "multi")
PARTS = ("cold", "fresh", "warm", "list", "count")
CHUNK = 500_000
"""Characters that a build encodes before it is the next one's turn."""


@dataclass(frozen=True)
class Build:
    """A compiled core, and the widest tier of instructions that it may use; none for all."""

    name: str
    path: Path
    tier: str | None

    @classmethod
    def parse(cls, text: str) -> Build:
        """A build from ``NAME=PATH@TIER``, of which only the path is needed.

        Example:
            >>> Build.parse("new=lib.so@avx2").name, Build.parse("build/lib.so@avx2").name
            ('new', 'lib@avx2')
        """
        name, _, rest = text.rpartition("=")
        path, _, tier = rest.partition("@")
        return cls(name or "@".join(part for part in (Path(path).stem, tier) if part), Path(path), tier or None)


def _without_package() -> dict[str, Any]:
    names = [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
    return {name: sys.modules.pop(name) for name in names}


def load(build: Build, make: Callable[[Any], bp.Tokenizer]) -> bp.Tokenizer:
    """A tokenizer made by a package of its own around a build; the package that is imported already stays as it is."""
    before, tier = _without_package(), os.environ.pop(TIER, None)
    if build.tier:
        os.environ[TIER] = build.tier
    try:
        with tempfile.TemporaryDirectory() as folder:
            # A file that is loaded twice is one core, with one tier.
            path = shutil.copy(build.path, folder)
            loader = importlib.machinery.ExtensionFileLoader(CORE, path)
            spec = importlib.util.spec_from_file_location(CORE, path, loader=loader)
            assert spec is not None
            sys.modules[CORE] = core = importlib.util.module_from_spec(spec)
            loader.exec_module(core)
        return make(importlib.import_module(PACKAGE))
    finally:
        _without_package()
        sys.modules.update(before)
        os.environ.pop(TIER, None)
        if tier is not None:
            os.environ[TIER] = tier


def chunks(text: str, size: int) -> list[str]:
    """A text in parts of this many characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


@dataclass(frozen=True)
class Round:
    """The seconds that each build took for one chunk."""

    part: str
    bytes: int
    seconds: Mapping[str, float]


class DifferentIdsError(Exception):
    """Two builds gave different results for a chunk."""


def _call(tok: bp.Tokenizer, part: str) -> Callable[[str], Any]:
    if part == "count":
        return lambda text: tok.count(text, special="text", threads=1)
    if part == "list":
        return lambda text: tok.encode(text, special="text", threads=1)
    return lambda text: tok.encode_array(text, special="text", threads=1)


def rounds(
    toks: Mapping[str, bp.Tokenizer],
    text: str,
    parts: Sequence[str],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> Iterator[Round]:
    """Each chunk of a text by all tokenizers, which take turns at being first.

    Args:
        toks: Name -> tokenizer.
        text: Cut into halves and chunks.
        parts: What is measured; the first half is always encoded before the second.
        repeats: How often what is warm is repeated.
        clock: Seconds.

    Raises:
        DifferentIdsError: They do not agree.
    """
    first, second = (chunks(half, CHUNK) for half in halves(text))
    copies = {name: ["".join(list(chunk)) for chunk in second] for name in toks}
    again = [part for part in parts if part in PARTS[2:]]
    turn = 0
    for part in ["cold", "fresh", *again * repeats]:
        for number, chunk in enumerate(first if part == "cold" else second):
            seconds, results = {}, {}
            turn += 1
            names = [*toks]
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                mine = "".join(list(chunk)) if part == "cold" else copies[name][number]
                call = _call(toks[name], part)
                start = clock()
                result = call(mine)
                seconds[name] = clock() - start
                results[name] = result.tobytes() if hasattr(result, "tobytes") else result
            for name in names[1:]:
                if results[name] != results[names[0]]:
                    raise DifferentIdsError(f"{names[0]} and {name} differ in chunk {number} of {part}")
            if part in parts:
                yield Round(part, len(chunk.encode()), seconds)


def summary(found: Sequence[Round], base: str) -> dict[str, tuple[float, float, float, float]]:
    """The speed of each build and its ratio to the base.

    Returns:
        Name -> the median MB/s, and the lower quartile, the median and the upper quartile of the ratios of each round.

    Example:
        >>> times = [Round("warm", 1_000_000, {"old": 0.02, "new": 0.01})] * 2
        >>> summary(times, "old")["new"]
        (100.0, 2.0, 2.0, 2.0)
    """
    made = {}
    for name in found[0].seconds:
        ratios = [turn.seconds[base] / turn.seconds[name] for turn in found]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        made[name] = statistics.median(turn.bytes / 1e6 / turn.seconds[name] for turn in found), low, middle, high
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired", description="Builds of the core, in turns.")
    parser.add_argument("builds", nargs="+", metavar="NAME=PATH@TIER", help="compiled cores; the first is the base")
    parser.add_argument("--data", help="the folder of real vocabularies and texts")
    parser.add_argument("--vocabulary", default="o200k_base", help="a published encoding of tiktoken")
    parser.add_argument("--repeats", type=int, default=3, help="how often what is warm is repeated")
    parser.add_argument("--megabytes", type=int, default=20, help="how much of each text")
    add_choice(parser, "--corpus", CORPORA, "only these texts")
    add_choice(parser, "--only", PARTS, "measure only")
    options = parser.parse_args(arguments)
    builds = [Build.parse(build) for build in options.builds]
    if len({build.name for build in builds}) < len(builds):
        parser.error("two builds have one name; write NAME=PATH")
    folder = data_folder(options.data)
    if folder is None:
        parser.error("the data folder is not there; --data names it")
    parts = chosen(parser, "--only", options.only, PARTS)
    published = folder / "vocabs" / "openai"
    for corpus in chosen(parser, "--corpus", options.corpus, CORPORA):
        toks = {
            build.name: load(build, lambda package: package.get_encoding(options.vocabulary, folder=published))
            for build in builds
        }
        with lzma.open(folder / "corpora" / f"{corpus}_20mb.txt.xz", "rt", encoding="utf-8", newline="") as file:
            text = file.read(options.megabytes * 1_000_000)
        found = list(rounds(toks, text, parts, options.repeats))
        for part in parts:
            of_part = summary([turn for turn in found if turn.part == part], builds[0].name)
            for name in toks:
                speed, low, middle, high = of_part[name]
                ratio = f"{middle:6.3f} ({low:.3f} to {high:.3f})"
                print(f"{corpus:6}{part:6}{name:16}{speed:7.1f} MB/s  {ratio}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
