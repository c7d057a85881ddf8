"""Counting intervals and growing texts from Python, compared with libraries that can only encode everything again."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.peers import OURS
from bytepair.cli.bench_timing import medians, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import bytepair as bp
    from benchmarks.measure import Pace, Report
    from benchmarks.peers import Peer
    from benchmarks.slices import Sliced

Call: TypeAlias = "Callable[[Any], Any]"

MOST_APPENDED = 100
"""Libraries that encode again for each byte skip slices of more tokens: that is quadratic."""

CHECKS = 200
"""The number of counts of a growing text that are compared, besides the last one."""

RUN = 2e-3
"""Seconds. Shorter calls are repeated, so that neither the clock's own time nor earlier cache contents matter."""

BEYOND = 50
"""No part up to this many characters longer than the result may fit; longer parts are left to the tests."""


def counted(peer: Peer) -> Callable[[str], int]:
    """A library's way to count: its own, or the length of its list."""
    return peer.count or (lambda text: len(peer.encode(text)))


def some(counts: Sequence[int]) -> list[int]:
    """Sample the counts at a fixed step, and keep the last one.

    Example:
        >>> some([1, 2, 3]), len(some([*range(10_000)]))
        ([1, 2, 3, 3], 198)
    """
    return [*counts[:: len(counts) // CHECKS + 1], *counts[-1:]]


def places(text: str) -> list[int]:
    """For each byte of a text, the number of complete characters so far.

    Example:
        >>> places("aé")
        [1, 1, 2]
    """
    found: list[int] = []
    for at, character in enumerate(text):
        found += [at] * (len(character.encode()) - 1) + [at + 1]
    return found


def grown(tok: bp.Tokenizer, text: str) -> list[int]:
    """The count after each byte of a growing text."""
    appender = tok.appender(special="text")
    data = text.encode()
    counts = []
    for at in range(len(data)):
        appender.append(data[at : at + 1])
        counts.append(appender.count())
    return some(counts)


def again(count: Callable[[str], int], text: str) -> list[int]:
    """The same by encoding the text so far again, whenever a byte completes a character."""
    counts: list[int] = []
    known = 0
    for place in places(text):
        if place != known:
            known = place
            counts.append(count(text[:place]))
        else:
            counts.append(counts[-1] if counts else 0)
    return some(counts)


def from_scratch(count: Callable[[str], int], text: str) -> list[int]:
    """The same, but only the counts that are compared."""
    return [count(text[:place]) for place in some(places(text))]


def is_longest(tok: bp.Tokenizer, text: str, fit: str, limit: int) -> bool:
    """Whether a prefix of a text fits, and no slightly longer one does."""
    longer = range(len(fit) + 1, min(len(text), len(fit) + BEYOND) + 1)
    fits = [tok.count(text[:end], special="text") <= limit for end in longer]
    return text.startswith(fit) and tok.count(fit, special="text") <= limit and not any(fits)


def first(peer: Peer, limit: int, text: str) -> str | None:
    """The text of the first ids."""
    return peer.decode(peer.encode(text)[:limit]) if peer.decode else None


def fit(tok: bp.Tokenizer, limit: int, text: str) -> str:
    """The longest prefix that fits."""
    return tok.fit(text, limit, special="text")


def has_more(count: Callable[[str], int], limit: int, text: str) -> bool:
    """Whether a text has more tokens than the limit, by counting them all."""
    return count(text) > limit


def passes(tok: bp.Tokenizer, limit: int, text: str) -> bool:
    """The same by a call that stops at the limit."""
    return tok.count_until(text, limit, special="text") is None


@dataclass(frozen=True)
class Comparison:
    """A text and its slices, counted in part by bytepair and by its peers.

    Attributes:
        report: Gets the rows.
        title: Title of its tables; the operation is appended.
        tok: bytepair's tokenizer.
        peers: All libraries, bytepair too.
        sliced: The text and its slices.
        pace: Limits of the measurement.
    """

    report: Report
    title: str
    tok: bp.Tokenizer
    peers: Mapping[str, Peer]
    sliced: Sliced
    pace: Pace

    def encode(self, text: str) -> list[int]:
        """The expected ids."""
        ids: list[int] = self.peers[OURS].encode(text)
        return ids

    def count(self, text: str) -> int:
        """The expected count."""
        return len(self.encode(text))

    @property
    def others(self) -> list[str]:
        """The peers."""
        return [name for name in self.peers if name != OURS]

    def row(self, tokens: int, calls: Mapping[str, Call], given: Sequence[Any], expected: Mapping[str, Any]) -> None:
        """Microseconds per call by library, for libraries with the right result.

        Args:
            tokens: Label of the row.
            calls: Library -> call.
            given: Arguments, one after another.
            expected: Library -> expected result.
        """

        def all_of(call: Call) -> list[Any]:
            return [call(one) for one in given]

        def run(call: Call, times: int) -> None:
            for _ in range(times):
                for one in given:
                    call(one)

        verdicts = {name: verdict(functools.partial(all_of, call), expected[name]) for name, call in calls.items()}
        right = {name: call for name, call in calls.items() if not verdicts[name]}
        times = {}
        for name, call in right.items():
            start = time.process_time()
            run(call, 1)
            times[name] = 1 + int(RUN / max(time.process_time() - start, 1e-6))
        runs = {name: functools.partial(run, call, times[name]) for name, call in right.items()}
        seconds = medians(runs, repeats=self.pace.repeats, seconds=self.pace.seconds)
        values: dict[str, float | str] = {name: bad for name, bad in verdicts.items() if bad}
        values |= {name: taken / (times[name] * len(given)) * 1e6 for name, taken in seconds.items()}
        self.report.row(f"{tokens} tokens", values, "us")

    def tables(self) -> None:
        """A table for each way to count, with a row for each size."""
        self.whole("encode", {name: peer.encode for name, peer in self.peers.items()}, self.encode)
        self.whole("count", {name: counted(peer) for name, peer in self.peers.items()}, self.count)
        self.appending()
        self.intervals()
        *fewer, largest = self.sliced.slices
        texts = self.sliced.texts(largest)
        self.cut(texts, largest, fewer)
        self.asked(texts, largest, fewer)

    def whole(self, what: str, calls: Mapping[str, Call], right: Call) -> None:
        """Slices on their own."""
        self.report.head(f"{self.title}: {what}")
        for tokens in self.sliced.slices:
            texts = self.sliced.texts(tokens)
            expected = [right(text) for text in texts]
            self.row(tokens, calls, texts, dict.fromkeys(calls, expected))

    def appending(self) -> None:
        """A text that grows byte by byte, with a count after each."""
        self.report.head(f"{self.title}: append each byte, count after each")
        for tokens in self.sliced.slices:
            texts = self.sliced.texts(tokens)
            calls: dict[str, Call] = {OURS: functools.partial(grown, self.tok)}
            if tokens <= MOST_APPENDED:
                calls |= {name: functools.partial(again, counted(self.peers[name])) for name in self.others}
            else:
                names = " and ".join(self.others)
                print(f"{names} sit out {tokens} tokens: to encode again for each byte is quadratic")
            expected = [from_scratch(self.count, text) for text in texts]
            self.row(tokens, calls, texts, dict.fromkeys(calls, expected))

    def intervals(self) -> None:
        """Intervals of an indexed text; libraries without an index encode them."""
        self.report.head(f"{self.title}: count an interval")
        index, text = self.tok.index(self.sliced.text, special="text"), self.sliced.text

        def encoded(count: Callable[[str], int], place: tuple[int, int]) -> int:
            return count(text[place[0] : place[1]])

        calls: dict[str, Call] = {name: functools.partial(encoded, counted(self.peers[name])) for name in self.others}
        calls[OURS] = lambda place: index.count(*place)
        for tokens, slices in self.sliced.slices.items():
            places = [(part.start, part.end) for part in slices]
            expected = [encoded(self.count, place) for place in places]
            self.row(tokens, calls, places, dict.fromkeys(calls, expected))

    def cut(self, texts: Sequence[str], tokens: int, limits: Sequence[int]) -> None:
        """Texts cut to fewer tokens.

        Libraries that cannot cut encode everything and decode the first ids. The result may end inside a character, or
        be encoded to other ids; the frequency is a row of its own.
        """
        self.report.head(f"{self.title}: {tokens} tokens cut to fewer")
        ids = [self.encode(text) for text in texts]
        for limit in limits:
            calls: dict[str, Call] = {
                name: functools.partial(first, peer, limit) for name, peer in self.peers.items() if peer.decode
            }
            calls[OURS] = functools.partial(fit, self.tok, limit)
            decoded = [self.tok.decode(row[:limit]) for row in ids]
            fits = [calls[OURS](text) for text in texts]
            right = all(is_longest(self.tok, text, fit, limit) for text, fit in zip(texts, fits, strict=True))
            expected = dict.fromkeys(calls, decoded) | {OURS: fits if right else []}
            self.row(limit, calls, texts, expected)
            other = sum(self.encode(text) != row[:limit] for text, row in zip(decoded, ids, strict=True))
            shorter = sum(len(cut) < len(fit) for fit, cut in zip(fits, decoded, strict=True))
            of = f"of {len(texts)}"
            self.report.row(f"{limit}, then other ids", dict.fromkeys(self.others, other), of)
            self.report.row(f"{limit}, not the longest", dict.fromkeys(self.others, shorter), of)

    def asked(self, texts: Sequence[str], tokens: int, limits: Sequence[int]) -> None:
        """Whether texts have more tokens than a limit."""
        self.report.head(f"{self.title}: {tokens} tokens, more than a limit?")
        for limit in limits:
            calls: dict[str, Call] = {
                name: functools.partial(has_more, counted(peer), limit) for name, peer in self.peers.items()
            }
            calls[OURS] = functools.partial(passes, self.tok, limit)
            expected = [self.count(text) > limit for text in texts]
            self.row(limit, calls, texts, dict.fromkeys(calls, expected))
