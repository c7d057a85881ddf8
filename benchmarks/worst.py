"""The worst texts: one piece that no split pattern cuts. The growth of time shows whether an encoder is linear.

Libraries cache pieces of any length, so each text is encoded once by each: every repeat gets another text.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import first_pass
from benchmarks.measure import Pace, Report
from benchmarks.peers import LIBRARIES, OURS
from benchmarks.texts import drawn, worst_cases
from bytepair.cli.bench_timing import WRONG, medians, plain, same, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.peers import Peer, Vocabulary

TEXTS = 3
LARGE = (10_000_000, 100_000_000)


def pieces(
    report: Report, peers: Mapping[str, Peer], vocabulary: Vocabulary, characters: int, pace: Pace, *, full: bool
) -> None:
    """Seconds to an array (or list) for each alphabet, and growth from half of the characters to all; 2 is linear."""
    for kind, alphabet in worst_cases().items():
        text = drawn(alphabet, characters, 0)
        living = {name: peer for name, peer in peers.items() if survives(name, vocabulary, text)}
        for name in peers.keys() - living.keys():
            print(f"{name} takes no part in {kind}: it ends the process")
        growth(report, kind, living, characters, pace)
        for size in LARGE if full else ():
            growth(report, kind, {OURS: peers[OURS]}, size, Pace(1, pace.seconds))


def survives(library: str, vocabulary: Vocabulary, text: str) -> bool:
    """Whether a library that is known to abort the process survives this text."""
    if not LIBRARIES[library].aborts:
        return True
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "text"
        corpus.write_text(text, encoding="utf-8", newline="")
        return first_pass.run(library, vocabulary, corpus, "whole") is not None


def growth(report: Report, kind: str, peers: Mapping[str, Peer], characters: int, pace: Pace) -> None:
    """Rows for half of the characters, for all of them, and for the ratio of their times."""
    half, whole = (one_size(report, kind, peers, size, pace) for size in (characters // 2, characters))
    report.row(f"{kind}, growth", {name: whole[name] / half[name] for name in whole if name in half}, "times")


def one_size(report: Report, kind: str, peers: Mapping[str, Peer], characters: int, pace: Pace) -> dict[str, float]:
    """A row; the seconds of each library whose ids are right.

    Those of bytepair are right if they decode to the text, those of the others if they are the same.
    """
    alphabet = worst_cases()[kind]
    for peer in peers.values():
        peer.encode(drawn(alphabet, 100, TEXTS))  # What a library does once must not count.
    texts = [drawn(alphabet, characters, seed) for seed in range(min(TEXTS, pace.repeats))]
    given: dict[str, list[Any]] = {name: [] for name in peers}
    values: dict[str, float | str] = {}

    def taking(name: str, encode: Callable[[str], Any]) -> Callable[[], Any]:
        turns = itertools.count()

        def run() -> None:
            text = texts[next(turns)]
            failed = verdict(lambda: given[name].append(encode(text)), None)
            if failed:
                values[name] = failed

        return run

    runs = {name: taking(name, peer.encode_array or peer.encode) for name, peer in peers.items()}
    seconds = medians(runs, repeats=len(texts), seconds=pace.seconds)
    if [peers[OURS].decode(ids) for ids in given[OURS]] != texts[: len(given[OURS])]:  # type: ignore[misc]  # it has decode
        values[OURS] = WRONG
    if len(peers) > 1:
        # Slower libraries have encoded fewer of the texts; bytepair makes up for what others did more.
        most = max(map(len, given.values()))
        given[OURS] += [peers[OURS].encode(text) for text in texts[len(given[OURS]) : most]]
    expected = [plain(ids) for ids in given[OURS]] if len(peers) > 1 else []
    for name, results in given.items():
        if not all(same(ids, right) for ids, right in zip(results, expected, strict=False)):
            values[name] = WRONG
    report.row(f"{kind}, {characters / 1e6:g}M", {**seconds, **values}, "s")
    return {name: taken for name, taken in seconds.items() if name not in values}
