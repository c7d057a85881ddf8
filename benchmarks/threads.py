"""All threads against one, in wall time: on many documents, and on one long string."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Pace, Report, timed
from benchmarks.peers import OURS
from benchmarks.texts import MB, documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.peers import Peer


def speedups(report: Report, peers: Mapping[str, Peer], text: str, threads: int, pace: Pace) -> None:
    """For documents and for one string: MB/s with one thread and with all, and the speedup."""
    encode = peers[OURS].encode
    texts = documents(text)
    rows = [encode(document) for document in texts]
    flat = [id for row in rows for id in row]
    cases: list[tuple[str, str, Any, Any]] = [
        ("documents", "encode_batch_array", texts, flat),
        ("to lists", "encode_batch", texts, rows),
        ("one string", "encode_long", text, encode(text)),
    ]
    for case, call, argument, expected in cases:
        calls = {name: found for name, peer in peers.items() if (found := getattr(peer, call))}
        seconds = []
        for n in dict.fromkeys((1, threads)):
            told = [name for name in calls if n > 1 or peers[name].one_thread or call == "encode_batch"]
            runs = {name: functools.partial(calls[name], argument, n) for name in told}
            measure = f"{case}, {n} thread{'s' * (n > 1)}"
            size = len(text.encode()) / MB
            seconds.append(timed(report, measure, runs, expected, pace, megabytes=size, clock=time.perf_counter))
        gains = {name: seconds[0][name] / seconds[-1][name] for name in seconds[0] if name in seconds[-1]}
        report.row(f"{case}, gain", gains, "times", higher_is_better=True)
