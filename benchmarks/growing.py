"""Counting in part from Python, next to what one does with a library that can only encode: all of it, again and again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from benchmarks.peers import OURS
from benchmarks.slices import SIZES
from bytepair.cli.timing import PANIC, RAISES, WRONG, medians, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import bytepair as bp
    from benchmarks.measure import Pace, Report
    from benchmarks.peers import Peer
    from benchmarks.slices import Sliced

MOST_APPENDED = 100
"""Who encodes again for each byte sits out slices of more tokens: that is quadratic."""

CHECKS = 200
"""So many counts of a text that grows are compared, and the last one."""

AT_LEAST = 2_000
"""Tokens that one run goes through, so that the clock's own time does not matter."""

BEYOND = 50
"""So many characters beyond a part that fits none may fit; longer parts are left to the tests."""


def counted(peer: Peer) -> Callable[[str], int]:
    """A library's way to count: its own, or the length of its list."""
    return peer.count or (lambda text: len(peer.encode(text)))


def some(counts: Sequence[int]) -> list[int]:
    """Every so many of the counts, and the last one.

    Example:
        >>> some([1, 2, 3]), len(some([*range(10_000)]))
        ([1, 2, 3, 3], 198)
    """
    return [*counts[:: len(counts) // CHECKS + 1], *counts[-1:]]


def places(text: str) -> list[int]:
    """For each byte of a text how many of its characters are whole then.

    Example:
        >>> places("aé")
        [1, 1, 2]
    """
    found: list[int] = []
    for at, character in enumerate(text):
        found += [at] * (len(character.encode()) - 1) + [at + 1]
    return found


def grown(tok: bp.Tokenizer, text: str) -> list[int]:
    """The count after each byte, of a text that grows."""
    appender = tok.appender(special="text")
    data = text.encode()
    counts = []
    for at in range(len(data)):
        appender.append(data[at : at + 1])
        counts.append(appender.count())
    return some(counts)


def again(count: Callable[[str], int], text: str) -> list[int]:
    """The same by encoding what there is so far again, when a byte makes a character whole."""
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
    """The same, but only those counts that are compared."""
    return [count(text[:place]) for place in some(places(text))]


def is_longest(tok: bp.Tokenizer, text: str, fit: str, limit: int) -> bool:
    """Whether a beginning of a text fits, and none that is a little longer."""
    longer = range(len(fit) + 1, min(len(text), len(fit) + BEYOND) + 1)
    fits = [tok.count(text[:end], special="text") <= limit for end in longer]
    return text.startswith(fit) and tok.count(fit, special="text") <= limit and not any(fits)


def row(
    report: Report,
    measure: str,
    calls: Mapping[str, Callable[[Any], Any]],
    given: Sequence[Any],
    expected: Mapping[str, Sequence[Any]],
    pace: Pace,
    *,
    tokens: int,
) -> None:
    """Microseconds of one call by library, those that are right.

    Args:
        report: Gets the row.
        measure: What is measured.
        calls: Library -> call.
        given: What it is called with, one after another.
        expected: Library -> what it must give.
        pace: How long to measure.
        tokens: Of each call; few are measured together.
    """
    times = max(1, AT_LEAST // (tokens * len(given)))

    def run(call: Callable[[Any], Any]) -> None:
        for _ in range(times):
            for one in given:
                call(one)

    def all_of(call: Callable[[Any], Any]) -> list[Any]:
        return [call(one) for one in given]

    verdicts = {name: verdict(functools.partial(all_of, call), expected[name]) for name, call in calls.items()}
    runs = {name: functools.partial(run, call) for name, call in calls.items() if not verdicts[name]}
    seconds = medians(runs, repeats=pace.repeats, seconds=pace.seconds)
    values: dict[str, float | str] = {name: bad for name, bad in verdicts.items() if bad in (WRONG, PANIC, RAISES)}
    values |= {name: taken / (times * len(given)) * 1e6 for name, taken in seconds.items()}
    report.row(measure, values, "us")


def tables(
    report: Report, title: str, tok: bp.Tokenizer, peers: Mapping[str, Peer], sliced: Sliced, pace: Pace
) -> None:
    """A table for each way to count, with a row for each size."""
    sizes = [tokens for tokens in SIZES if tokens in sliced.slices]
    whole(report, title, peers, sliced, sizes, pace)
    appending(report, title, tok, peers, sliced, sizes, pace)
    intervals(report, title, tok, peers, sliced, sizes, pace)
    if len(sizes) > 1:
        limits(report, title, tok, peers, sliced, sizes, pace)


def whole(
    report: Report, title: str, peers: Mapping[str, Peer], sliced: Sliced, sizes: Sequence[int], pace: Pace
) -> None:
    """Slices encoded to a list, and counted."""
    encode: dict[str, Callable[[Any], Any]] = {name: peer.encode for name, peer in peers.items()}
    count: dict[str, Callable[[Any], Any]] = {name: counted(peer) for name, peer in peers.items()}
    report.head(f"{title}: encode")
    for tokens in sizes:
        texts = sliced.texts(tokens)
        expected = dict.fromkeys(peers, [peers[OURS].encode(text) for text in texts])
        row(report, f"{tokens} tokens", encode, texts, expected, pace, tokens=tokens)
    report.head(f"{title}: count")
    for tokens in sizes:
        texts = sliced.texts(tokens)
        lengths = dict.fromkeys(peers, [len(peers[OURS].encode(text)) for text in texts])
        row(report, f"{tokens} tokens", count, texts, lengths, pace, tokens=tokens)


def appending(
    report: Report,
    title: str,
    tok: bp.Tokenizer,
    peers: Mapping[str, Peer],
    sliced: Sliced,
    sizes: Sequence[int],
    pace: Pace,
) -> None:
    """A text that grows byte by byte, with a count after each."""
    report.head(f"{title}: append byte by byte, count after each")
    for tokens in sizes:
        texts = sliced.texts(tokens)
        calls: dict[str, Callable[[Any], Any]] = {OURS: functools.partial(grown, tok)}
        others = [name for name in peers if name != OURS]
        if tokens <= MOST_APPENDED:
            calls |= {name: functools.partial(again, counted(peers[name])) for name in others}
        else:
            print(f"{', '.join(others)} sit out {tokens} tokens: to encode again for each byte is quadratic")
        expected = dict.fromkeys(calls, [from_scratch(counted(peers[OURS]), text) for text in texts])
        row(report, f"{tokens} tokens", calls, texts, expected, pace, tokens=tokens)


def intervals(
    report: Report,
    title: str,
    tok: bp.Tokenizer,
    peers: Mapping[str, Peer],
    sliced: Sliced,
    sizes: Sequence[int],
    pace: Pace,
) -> None:
    """Intervals of a text that is indexed; who has no index encodes them."""
    report.head(f"{title}: count an interval")
    index, text = tok.index(sliced.text, special="text"), sliced.text

    def encoded(count: Callable[[str], int], place: tuple[int, int]) -> int:
        return count(text[place[0] : place[1]])

    calls: dict[str, Callable[[Any], Any]] = {name: functools.partial(encoded, counted(peers[name])) for name in peers}
    calls[OURS] = lambda place: index.count(*place)
    for tokens in sizes:
        given = [(part.start, part.end) for part in sliced.slices[tokens]]
        expected = dict.fromkeys(calls, [encoded(counted(peers[OURS]), place) for place in given])
        row(report, f"{tokens} tokens", calls, given, expected, pace, tokens=tokens)


def limits(
    report: Report,
    title: str,
    tok: bp.Tokenizer,
    peers: Mapping[str, Peer],
    sliced: Sliced,
    sizes: Sequence[int],
    pace: Pace,
) -> None:
    """Slices of the largest size cut to fewer tokens, and asked whether they have more.

    Who cannot cut encodes all and decodes the first ids. That may end inside a character, or be encoded to other ids; how
    often is a row of its own.
    """
    *fewer, largest = sizes
    texts = sliced.texts(largest)
    others = {name: peer for name, peer in peers.items() if name != OURS and peer.decode}
    ids = [peers[OURS].encode(text) for text in texts]
    report.head(f"{title}: {largest} tokens cut to fewer")

    def cut(peer: Peer, limit: int, text: str) -> Any:
        return peer.decode(peer.encode(text)[:limit]) if peer.decode else None

    for limit in fewer:
        calls: dict[str, Callable[[Any], Any]] = {
            name: functools.partial(cut, peer, limit) for name, peer in others.items()
        }
        calls[OURS] = lambda text, limit=limit: tok.fit(text, limit, special="text")
        decoded = [tok.decode(row[:limit]) for row in ids]
        fits = [tok.fit(text, limit, special="text") for text in texts]
        right = all(is_longest(tok, text, fit, limit) for text, fit in zip(texts, fits, strict=True))
        expected = {**dict.fromkeys(others, decoded), OURS: fits if right else []}
        row(report, f"{limit} tokens", calls, texts, expected, pace, tokens=largest)
        other = sum(peers[OURS].encode(cut) != row[:limit] for cut, row in zip(decoded, ids, strict=True))
        longer = sum(len(fit) > len(cut) for fit, cut in zip(fits, decoded, strict=True))
        about = f"of {len(texts)}"
        report.row(f"{limit}: other ids afterwards", {**dict.fromkeys(others, other), OURS: 0}, about)
        report.row(f"{limit}: shorter than fit", {**dict.fromkeys(others, longer), OURS: 0}, about)
    report.head(f"{title}: have {largest} tokens more than a limit?")
    for limit in fewer:
        asked: dict[str, Callable[[Any], Any]] = {
            name: (lambda text, count=counted(peer), limit=limit: count(text) > limit) for name, peer in others.items()
        }
        asked[OURS] = lambda text, limit=limit: tok.count_until(text, limit, special="text") is None
        answers = dict.fromkeys(asked, [len(row) > limit for row in ids])
        row(report, f"{limit} tokens", asked, texts, answers, pace, tokens=largest)
