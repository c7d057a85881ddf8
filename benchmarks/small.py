"""Calls on short texts, where the call itself costs more than the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.measure import Pace, Report, timed
from benchmarks.peers import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.peers import Peer

TEXT = "The quick brown fox jumps over 13 d."  # 36 bytes
CALLS = 5_000


def repeated(call: Callable[[str], Any]) -> Callable[[], Any]:
    """Many calls in a loop; returns the result of the last.

    Example:
        >>> repeated(len)()
        36
    """

    def run() -> Any:
        for _ in range(CALLS - 1):
            call(TEXT)
        return call(TEXT)

    return run


def calls(report: Report, peers: Mapping[str, Peer], pace: Pace) -> None:
    """Rows for one call to a list, to an array and to a count."""
    ids = peers[OURS].encode(TEXT)
    lists = {name: repeated(peer.encode_small or peer.encode) for name, peer in peers.items()}
    encoders = {name: peer.encode_array_small or peer.encode_array for name, peer in peers.items()}
    arrays = {name: repeated(encode) for name, encode in encoders.items() if encode}
    counters = {name: peer.count_small or peer.count for name, peer in peers.items()}
    counts = {name: repeated(count) for name, count in counters.items() if count}
    timed(report, "36 bytes to a list", lists, ids, pace, calls=CALLS)
    timed(report, "36 bytes to an array", arrays, ids, pace, calls=CALLS)
    timed(report, "36 bytes, count", counts, len(ids), pace, calls=CALLS)
