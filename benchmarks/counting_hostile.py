"""Texts of many megabytes without a place to cut, through each way to count in part: reports what is not linear.

Each tokenizer, kind of text and operation has a process of its own (``python -m benchmarks.counting_hostile`` reads its
job from stdin), which writes a line for each size. A process that writes none in time is ended, and a line says so.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks import children, published
from benchmarks.texts import drawn, worst_cases
from benchmarks.worker import peak
from bytepair.cli.bench_timing import RAISES, WRONG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import bytepair as bp
    from benchmarks.measure import Report

KINDS: dict[str, str] = {"letter": "a", "spaces": " ", "Han": "中", "Hans": worst_cases()["CJK"]}
"""The alphabets of texts: a letter, spaces, one ideograph, twenty thousand of them."""

SIZES = (1_000_000, 10_000_000, 100_000_000)
QUICK_SIZES = (100_000, 1_000_000)
SMALL = 1_000_000
"""The longest text that is encoded to check a result."""

CHUNK, FIT, PART = 500, 5_000, 1 << 16
MANY = 2.0
"""An operation is reported if it takes so many times longer for a byte of ten times the text."""


def append(tok: bp.Tokenizer, text: str) -> int:
    """All tokens of a text in parts, counted after each."""
    appender = tok.appender(special="text")
    step = PART // len(text[:1].encode() or b" ")
    tokens = 0
    for start in range(0, len(text), step):
        appender.append(text[start : start + step])
        tokens = appender.count()
    return tokens


def prepend(tok: bp.Tokenizer, text: str) -> int:
    """The same, from the end to the front."""
    prepender = tok.prepender(special="text")
    step = PART // len(text[:1].encode() or b" ")
    tokens = 0
    for end in range(len(text), 0, -step):
        prepender.prepend(text[max(0, end - step) : end])
        tokens = prepender.count()
    return tokens


def is_all(tok: bp.Tokenizer, text: str, tokens: int) -> bool:
    """Whether a text has so many tokens; of a long one, that is not asked."""
    return len(text.encode()) > SMALL or tokens == len(tok.encode(text, special="text"))


def are_chunks(tok: bp.Tokenizer, text: str, found: Sequence[bp.Chunk]) -> bool:
    """Whether chunks are the text and fit; of the first and the last one each token is counted."""
    ends = [0, *(chunk.end for chunk in found)]
    follow = ends[-1] == len(text) and all(chunk.start == end for chunk, end in zip(found, ends, strict=False))
    some = [found[0], found[-1]]
    counted = all(chunk.tokens == len(tok.encode(text[chunk.start : chunk.end], special="text")) for chunk in some)
    return follow and counted and all(chunk.tokens <= CHUNK for chunk in found)


def is_fit(tok: bp.Tokenizer, text: str, found: str) -> bool:
    """Whether a part fits, and not with one character more."""
    counts = [len(tok.encode(text[: len(found) + more], special="text")) for more in (0, 1)]
    return text.startswith(found) and counts[0] <= FIT and (len(found) == len(text) or counts[1] > FIT)


OPERATIONS: dict[str, tuple[Callable[[bp.Tokenizer, str], Any], Callable[[bp.Tokenizer, str, Any], bool]]] = {
    "count": (lambda tok, text: tok.count(text, special="text"), is_all),
    "chunks": (lambda tok, text: tok.chunks(text, CHUNK, special="text"), are_chunks),
    "fit": (lambda tok, text: tok.fit(text, FIT, special="text"), is_fit),
    "index": (lambda tok, text: tok.index(text, special="text").count(), is_all),
    "append": (append, is_all),
    "prepend": (prepend, is_all),
}
"""Timed calls, each with a check of its result."""


def text_of(kind: str, size: int) -> str:
    """A text of a kind, of about the given number of bytes.

    Example:
        >>> text_of("letter", 3), len(text_of("Hans", 300))
        ('aaa', 100)
    """
    alphabet = KINDS[kind]
    characters = size // len(alphabet[0].encode())
    return alphabet * characters if len(alphabet) == 1 else drawn(alphabet, characters, 0)


def child(job: Mapping[str, Any]) -> None:
    """Write the seconds of an operation for each size, the bytes of memory at the peak, and whether it was right."""
    tok, (operation, is_right) = published.tokenizer(job["tokenizer"]), OPERATIONS[job["operation"]]
    operation(tok, "a b")
    for size in job["sizes"]:
        text = text_of(job["kind"], size)
        before, start = peak(), time.process_time()
        result = operation(tok, text)
        seconds, used = time.process_time() - start, (peak() - before) * 1e6 / size
        found = {"size": size, "seconds": seconds, "peak": used, "right": is_right(tok, text, result)}
        print(json.dumps(found), flush=True)


def measure(
    name: str, kind: str, operation: str, sizes: Sequence[int], limit: float
) -> tuple[dict[int, float | str], dict[int, float]]:
    """The seconds of each size, or what is in the table in place of them, and bytes at the peak for each of the text.

    Nothing is larger than what took too long.
    """
    job = {"tokenizer": name, "kind": kind, "operation": operation, "sizes": [*sizes]}
    found: dict[int, float | str] = {}
    peaks: dict[int, float] = {}
    try:
        for row in children.lines("benchmarks.counting_hostile", job, limit):
            found[row["size"]] = row["seconds"] if row["right"] else WRONG
            peaks[row["size"]] = row["peak"]
    except children.OverError:
        found[sizes[len(found)]] = f"> {limit:g} s"
    except children.FailedError as error:
        print(f"{name}, {operation} of {kind}: {error}", flush=True)
        found[sizes[min(len(found), len(sizes) - 1)]] = RAISES
    return found, peaks


def growth(found: Mapping[int, float | str]) -> float | str:
    """How many times longer the last size takes than the one before; what is in place of a time, if anything is.

    Example:
        >>> growth({10: 1.0, 100: 10.5}), growth({10: 1.0, 100: "> 60 s"}), growth({10: 1.0})
        (10.5, '> 60 s', '-')
    """
    for value in found.values():
        if isinstance(value, str):
            return value
    *_, before, last = [1.0, *found.values()]
    return float(last) / max(float(before), 1e-6) if len(found) > 1 else "-"


def tables(
    report: Report,
    *,
    names: Sequence[str],
    kinds: Sequence[str],
    operations: Sequence[str],
    sizes: Sequence[int],
    limit: float,
) -> None:
    """A table for each tokenizer and kind of text: seconds by size, and their growth; names what is not linear."""
    slow: list[str] = []
    for name in names:
        if published.path(name) is None:
            print(f"{name} is not measured: there is no {published.FILES[name]}")
            continue
        for kind in kinds:
            report.head(f"{name}, {kind}", operations)
            measured = {operation: measure(name, kind, operation, sizes, limit) for operation in operations}
            found = {operation: row for operation, (row, _) in measured.items()}
            for size in sizes:
                values = {operation: row[size] for operation, row in found.items() if size in row}
                report.row(f"{size / 1e6:g} MB", values, "s")
                report.wrong |= bool({WRONG, RAISES} & {*values.values()})
            last = {operation: peaks[sizes[-1]] for operation, (_, peaks) in measured.items() if sizes[-1] in peaks}
            report.row(f"{sizes[-1] / 1e6:g} MB, peak", last, "bytes/byte")
            grown = {operation: growth(row) for operation, row in found.items()}
            report.row(f"of {sizes[-2] / 1e6:g} MB" if len(sizes) > 1 else "growth", grown, "times")
            step = sizes[-1] / sizes[-2] if len(sizes) > 1 else 1
            slow += [
                f"{name}, {operation} of {kind}: {value if isinstance(value, str) else f'{value:.3g} times'}"
                for operation, value in grown.items()
                if value != "-" and (isinstance(value, str) or (value > MANY * step and is_long(found[operation])))
            ]
    print(f"\n{len(slow)} not linear" + "".join(f"\n  {line}" for line in slow), flush=True)


def is_long(found: Mapping[int, float | str]) -> bool:
    """Whether the last time is long enough to be compared.

    Example:
        >>> is_long({10: 0.001, 100: 0.01}), is_long({10: 0.1, 100: 3.0})
        (False, True)
    """
    last = [*found.values()][-1]
    return isinstance(last, str) or last > 0.05


if __name__ == "__main__":
    child(json.loads(sys.stdin.read()))
