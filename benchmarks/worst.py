"""The worst texts: one piece that no split pattern cuts. How time grows with it shows whether it is linear."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from benchmarks.measure import Pace, Report, timed
from benchmarks.peers import OURS
from benchmarks.texts import drawn, worst_cases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.peers import Peer

LARGE = (10_000_000, 100_000_000)


def pieces(report: Report, peers: Mapping[str, Peer], characters: int, pace: Pace, *, full: bool) -> None:
    """Seconds to an array (or list) for each alphabet, and growth from half of the characters to all."""
    for kind, alphabet in worst_cases().items():
        growth(report, kind, peers, drawn(alphabet, characters), pace)
        for size in LARGE if full else ():
            growth(report, kind, {OURS: peers[OURS]}, drawn(alphabet, size), Pace(2, pace.seconds))


def growth(report: Report, kind: str, peers: Mapping[str, Peer], whole: str, pace: Pace) -> None:
    """Rows for half of a text, for all of it, and for the ratio of their times; 2 is linear."""
    seconds = []
    for text in (whole[: len(whole) // 2], whole):
        expected = peers[OURS].encode(text)
        runs = {name: functools.partial(peer.encode_array or peer.encode, text) for name, peer in peers.items()}
        seconds.append(timed(report, f"{kind}, {len(text) / 1e6:g}M", runs, expected, pace))
    half, all_of_it = seconds
    ratios = {name: all_of_it[name] / half[name] for name in all_of_it if name in half}
    report.row(f"{kind}, growth", ratios, "times")
