"""The process that counts a text in part with one tokenizer, for `counting_families`: a line of JSON for each measure.

Every result is compared with encoding before it is timed. Times are CPU time, medians of interleaved runs, and each is
reported with that of one `encode` of the same text.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import published
from benchmarks.growing import BEYOND, RUN
from bytepair.cli.bench_timing import WRONG, medians

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIMITS = (10, 50, 500, 5_000)
"""Tokens of a chunk."""

BOUNDARIES = ("sentence", "character")
SIDES = ("left", "right")

FITS = tuple(50 << step for step in range(10))
"""Tokens of a part that fits."""

SHORT = 100_000
"""Bytes of the shorter text, for what may not depend on the text's length, and for what is slow without counting."""

STARTS = 12
"""The places of a text at which parts that fit begin."""

FRESH = 3
"""Tokenizers that have seen no text, for each time."""

INTERVALS = 1_000
APPENDED = 100
"""Bytes appended at once."""

CHECKS = 20
"""Results of one operation that are compared with encoding, at random."""

CHECKED = 1_000_000
"""The most characters that are encoded to check that no longer part fits."""

OURS, ENCODE = "ours", "encode"


class WrongError(Exception):
    """A result is not what encoding says."""


def expect(right: bool, what: str) -> None:
    """Raise WrongError if something is not right."""
    if not right:
        raise WrongError(what)


def shorter(text: str, size: int) -> str:
    """A text of at most the given number of bytes.

    Example:
        >>> shorter("aéb", 2), shorter("aéb", 3)
        ('a', 'aé')
    """
    return text.encode()[:size].decode(errors="ignore")


def rotated(text: str, number: int) -> list[str]:
    """The text from each of some places on, with what is before at its end: texts of one length that begin differently.

    Example:
        >>> rotated("abcd", 2)
        ['abcd', 'cdab']
    """
    places = [len(text) * at // number for at in range(number)]
    return [text[place:] + text[:place] for place in places]


@dataclass
class Subject:
    """A tokenizer, a text, and how long to measure."""

    name: str
    text: str
    repeats: int
    seconds: float

    def __post_init__(self) -> None:
        self.tok = published.tokenizer(self.name)
        self.chance = random.Random(self.name)
        self.short = shorter(self.text, SHORT)

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return self.tok.encode(text, special="allow")

    def count(self, text: str) -> int:
        """The number of ids of a text, by encoding it."""
        return len(self.encode(text))

    def timed(
        self,
        call: Callable[[], Any],
        text: str | None = None,
        calls: int = 1,
        beside: Mapping[str, Callable[[], Any]] | None = None,
    ) -> dict[str, float]:
        """Seconds of a call, or of each of those that it makes; of one `encode` of the text; of what runs beside it."""
        start = time.process_time()
        call()
        times = 1 + int(RUN / max(time.process_time() - start, 1e-6))

        def run() -> None:
            for _ in range(times):
                call()

        encode = functools.partial(self.encode, self.text if text is None else text)
        runs: dict[str, Callable[[], Any]] = {ENCODE: encode, OURS: run, **(beside or {})}
        taken = medians(runs, repeats=self.repeats, seconds=self.seconds)
        return {**taken, OURS: taken[OURS] / times / calls}

    def fits_no_more(self, start: int, end: int, limit: int) -> bool:
        """Whether no part that is a little longer has at most so many tokens."""
        most = max(2, min(BEYOND, CHECKED // CHECKS // max(end - start, 1)))
        longer = range(end + 1, min(end + most, len(self.text)) + 1)
        return not any(self.count(self.text[start:to]) <= limit for to in longer)


def encode(subject: Subject) -> dict[str, float]:
    """One encode, and how many ids it has."""
    taken = subject.timed(functools.partial(subject.encode, subject.text))
    return {**taken, "tokens": subject.count(subject.text)}


def chunks(subject: Subject, limit: str, boundary: Any) -> dict[str, float]:
    """A text in chunks."""
    text, most = subject.text, int(limit)
    call = functools.partial(subject.tok.chunks, text, most, boundary=boundary, special="allow")
    found = call()
    before = 0
    for start, end, tokens in found:
        expect(start == before < end, f"the chunk {start}-{end} does not follow {before}")
        expect(tokens <= most and tokens == subject.count(text[start:end]), f"the chunk {start}-{end} has other tokens")
        before = end
    expect(before == len(text), "the chunks are not the text")
    if boundary == "character":
        some = subject.chance.sample(found[:-1], min(CHECKS, len(found) - 1)) if found else []
        for start, end, _ in some:
            expect(subject.fits_no_more(start, end, most), f"the chunk {start}-{end} could be longer")
    return {**subject.timed(call), "chunks": len(found)}


def fresh(subject: Subject) -> dict[str, float]:
    """The first encode and the first chunks of a tokenizer that has seen no text yet."""
    runs: dict[str, Callable[[bp.Tokenizer], Any]] = {ENCODE: lambda tok: tok.encode(subject.text, special="allow")}
    for limit in LIMITS:
        runs[str(limit)] = functools.partial(bp.Tokenizer.chunks, text=subject.text, limit=limit, special="allow")
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(FRESH):
        for name, run in runs.items():
            tok = bp.Tokenizer(subject.tok.spec)
            start = time.process_time()
            run(tok)
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def fit(subject: Subject, side: str) -> dict[str, float]:
    """Parts that fit, for limits that double, of the text and of a shorter one; seconds of one call."""
    found: dict[str, float] = {}
    tokens = subject.count(subject.short)
    texts = {"long": rotated(subject.text, STARTS), "short": rotated(subject.short, STARTS)}
    for limit in FITS:
        runs: dict[str, Callable[[], Any]] = {}
        for length, given in texts.items():
            if length == "short" and limit > tokens // 2:
                continue
            for text in given:
                check_fit(subject, text, limit, side)
            runs[length] = functools.partial(fits, subject.tok, given, limit, side)
        # The short one is repeated as well, so that neither the clock nor earlier contents of caches matter.
        start = time.process_time()
        runs["long"]()
        times = 1 + int(RUN / max(time.process_time() - start, 1e-6))
        again = {name: functools.partial(repeat, run, times) for name, run in runs.items()}
        taken = medians(again, repeats=subject.repeats, seconds=subject.seconds)
        found |= {f"{limit} {name}": seconds / times / STARTS for name, seconds in taken.items()}
    return found


def repeat(call: Callable[[], Any], times: int) -> None:
    """Call something again and again."""
    for _ in range(times):
        call()


def fits(tok: bp.Tokenizer, texts: Sequence[str], limit: int, side: Any) -> list[str]:
    """The longest part of each text."""
    return [tok.fit(text, limit, side, special="allow") for text in texts]


def check_fit(subject: Subject, text: str, limit: int, side: Any) -> None:
    """The part fits, and none that is a little longer."""
    part = subject.tok.fit(text, limit, side, special="allow")
    is_left = side == "left"
    expect(text.startswith(part) if is_left else text.endswith(part), f"the fit to {limit} is no part of the text")
    expect(subject.count(part) <= limit, f"the fit to {limit} has more tokens")
    most = max(2, min(BEYOND, CHECKED // CHECKS // max(len(part), 1)))
    for length in range(len(part) + 1, min(len(part) + most, len(text)) + 1):
        longer = text[:length] if is_left else text[len(text) - length :]
        expect(subject.count(longer) > limit, f"the fit to {limit} could be longer")


def index(subject: Subject) -> dict[str, float]:
    """An index of a text, built."""
    call = functools.partial(subject.tok.index, subject.text, special="allow")
    made = call()
    expect(made.count() == subject.count(subject.text), "the index counts other tokens")
    return {**subject.timed(call), "bytes": made.nbytes / len(subject.text.encode())}


def interval(subject: Subject) -> dict[str, float]:
    """Random intervals of an index; seconds of one."""
    text = subject.text
    made = subject.tok.index(text, special="allow")
    places = [sorted(subject.chance.choices(range(len(text) + 1), k=2)) for _ in range(INTERVALS)]
    near = [(start, min(start + 2_000, len(text))) for start, _ in places[:INTERVALS]]
    for start, end in [*places[:CHECKS], *near[: 10 * CHECKS]]:
        expect(made.count(start, end) == subject.count(text[start:end]), f"the interval {start}-{end} has other tokens")

    def run() -> None:
        for start, end in places:
            made.count(start, end)

    return subject.timed(run, calls=len(places))


def grown(tok: bp.Tokenizer, parts: Sequence[bytes]) -> list[int]:
    """The counts of a text after each of its parts."""
    appender = tok.appender(special="allow")
    counts = []
    for part in parts:
        appender.append(part)
        counts.append(appender.count())
    return counts


def append(subject: Subject) -> dict[str, float]:
    """A text that grows by some bytes, with a count after each; seconds of all."""
    return growing(subject, subject.text, APPENDED)


def each(subject: Subject) -> dict[str, float]:
    """A shorter text that grows byte by byte, with a count after each, and the same calls where they cost least."""
    parts = list(map(bytes, zip(subject.short.encode(), strict=True)))
    bare = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tuple(bytes([byte]) for byte in range(256)), tuple(range(256)))))
    return growing(subject, subject.short, 1, {"calls": lambda: grown(bare, parts)})


def growing(
    subject: Subject, text: str, size: int, beside: Mapping[str, Callable[[], Any]] | None = None
) -> dict[str, float]:
    """Seconds of growing a text by parts of a size, of one `encode` of it, and of what runs beside it."""
    data = text.encode()
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    counts = grown(subject.tok, parts)
    for at in [len(parts) - 1, *subject.chance.choices(range(len(parts)), k=CHECKS)]:
        so_far = data[: (at + 1) * size].decode(errors="ignore")
        expect(counts[at] == subject.count(so_far), f"the count after {len(so_far)} characters is another")
    return subject.timed(functools.partial(grown, subject.tok, parts), text, beside=beside)


def bisected(subject: Subject, limit: str) -> dict[str, float]:
    """Chunks as one finds them without counting in part: counts of more and more text, then of halves."""
    most, text, found = int(limit), subject.short, []
    call = functools.partial(by_halves, subject.count, text, most)
    found = call()
    expect("".join(found) == text and all(subject.count(part) <= most for part in found), "the chunks are not the text")
    return {**subject.timed(call, text), "chunks": len(found)}


def by_halves(count: Callable[[str], int], text: str, limit: int) -> list[str]:
    """Parts of a text that fit, each found by counting beginnings: a little shorter than the longest at times.

    Example:
        >>> by_halves(len, "abcdefg", 3)
        ['abc', 'def', 'g']
    """
    found, start = [], 0
    while start < len(text):
        step = limit
        while start + step < len(text) and count(text[start : start + step]) <= limit:
            step *= 2
        low, high = 1, min(step, len(text) - start)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if count(text[start : start + middle]) <= limit else (low, middle - 1)
        found.append(text[start : start + low])
        start += low
    return found


def stride(subject: Subject, limit: str) -> dict[str, float]:
    """Chunks by `tokenizers`: rows of a truncated encoding, with the places of each."""
    peer = published.peer(subject.name)
    if peer is None:
        return {}
    peer.enable_truncation(int(limit), stride=0)

    def call() -> list[tuple[int, int]]:
        first = peer.encode(subject.text, add_special_tokens=False)
        rows = [first, *first.overflowing]
        return [(row.offsets[0][0], row.offsets[-1][1]) for row in rows if row.offsets]

    rows = call()
    # A row of the whole, encoded by itself, can have more tokens than the limit.
    over = sum(subject.count(subject.text[start:end]) > int(limit) for start, end in rows)
    return {**subject.timed(call), "chunks": len(rows), "over": over}


def again(subject: Subject) -> dict[str, float]:
    """The counts of a growing text by encoding it again after each part: on a short text, for that is quadratic."""
    text = shorter(subject.short, SHORT // 4)
    data = text.encode()
    ends = [data[:end].decode(errors="ignore") for end in range(APPENDED, len(data) + APPENDED, APPENDED)]
    return subject.timed(lambda: [subject.count(end) for end in ends], text)


MEASURES: dict[str, Callable[[Subject], Mapping[str, float]]] = {
    "encode": encode,
    **{
        f"chunks {limit} {boundary}": functools.partial(chunks, limit=str(limit), boundary=boundary)
        for boundary, limit in itertools.product(BOUNDARIES, LIMITS)
    },
    "fresh": fresh,
    **{f"fit {side}": functools.partial(fit, side=side) for side in SIDES},
    "index": index,
    "interval": interval,
    "append": append,
    "each": each,
    **{f"bisected {limit}": functools.partial(bisected, limit=str(limit)) for limit in LIMITS},
    **{f"stride {limit}": functools.partial(stride, limit=str(limit)) for limit in LIMITS},
    "again": again,
}
"""The measures by name; without counting in part from `bisected` on."""


def main(job: Mapping[str, Any]) -> None:
    """Write a line for each measure of a job: its numbers, or in place of them what is wrong."""
    text = shorter(Path(job["corpus"]).read_bytes().decode(), job["bytes"])
    subject = Subject(job["tokenizer"], text, job["repeats"], job["seconds"])
    for measure in job["measures"]:
        try:
            found: dict[str, Any] = {"measure": measure, **MEASURES[measure](subject)}
        except WrongError as error:
            found = {"measure": measure, WRONG: f"{measure}: {error}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.stdin.read()))
