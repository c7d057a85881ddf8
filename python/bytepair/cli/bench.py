"""Times a tokenizer on your own text, next to tiktoken and tokenizers where they are installed and can hold it.

Ids are checked before a time is printed: WRONG marks a library that returns other ids. Times are medians of CPU time;
those of the batch, which runs on all threads over documents of a few KB, are of wall time. The first pass is the first
time that this process sees the text. The other libraries treat special tokens in it as text.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import add_model, add_texts, load, number, text_options
from bytepair.cli.bench_libraries import Calls, rivals
from bytepair.cli.bench_timing import WRONG, medians, same, verdict
from bytepair.cli.streams import blame, read, write_line, write_table
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping

    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  bytepair bench README.md -m demo-output
  bytepair bench README.md -m demo-output --json
"""

OURS = "bytepair"

_DOCUMENT = 3_000
_SECONDS = 2.0  # After this long, a library sits out the further repeats of a row.

Rates = dict[str, "float | str"]
"""MB/s by library; a str names the fault instead."""


@dataclass(frozen=True)
class Row:
    """One timed call: its run by each library, the expected result, and the clock."""

    runs: Mapping[str, Callable[[], Any]]
    expected: Any
    clock: Callable[[], float] = time.process_time


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_texts(parser)
    parser.add_argument("--repeats", type=number, default=5, metavar="N", help="runs of each call (default: 5)")
    parser.add_argument("--threads", type=number, metavar="N", help="of the batch (default: all cores)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    add_model(parser)


def run(options: Namespace) -> int:
    """Writes the sizes of the text and the speed of encoding it."""
    tokenizer = load(options, options.model)
    how = text_options(options)
    texts = [_text(name, tokenizer, how) for name in options.files or ["-"]]
    size = sum(len(text.encode()) for text in texts)
    if not size:
        raise ArtifactError("there is no text to time", remedy="use a file with text, best a megabyte or more")
    threads = options.threads or os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        others, absent = rivals(tokenizer, Path(folder), options.added)
    libraries = {OURS: _ours(tokenizer, how), **others}
    tokens, rates = _measured(libraries, texts, threads, options.repeats)
    facts = {"files": len(texts), "bytes": size, "tokens": tokens, "bytes_per_token": round(size / max(tokens, 1), 3)}
    if options.json:
        facts["threads"] = threads
        write_line(json.dumps({"model": options.model, **facts, "unit": "MB/s", "rates": rates, "absent": absent}))
        return 0
    write_table({name: f"{value:,}" for name, value in facts.items()})
    write_line()
    _write_rates(rates, list(libraries))
    for name, reason in absent.items():
        write_line(f"{name} is left out: {reason}")
    return 0


def _text(name: str, tokenizer: Tokenizer, how: Mapping[str, Any]) -> str:
    """A file as str, which the other libraries need; bytes that are not UTF-8 raise the error of `encode`."""
    data = read(name)
    try:
        return data.decode("utf-8", how["errors"])
    except UnicodeDecodeError:
        with blame(name):
            tokenizer.count(data, **how)
        raise


def _ours(tokenizer: Tokenizer, how: Mapping[str, Any]) -> Calls:
    return Calls(
        to_array=functools.partial(tokenizer.encode_array, **how),
        to_list=functools.partial(tokenizer.encode, **how),
        count=functools.partial(tokenizer.count, **how),
        batch=lambda texts, threads: tokenizer.encode_batch(texts, threads=threads, **how),
        decode=tokenizer.decode,
    )


def _measured(
    libraries: Mapping[str, Calls], texts: list[str], threads: int, repeats: int
) -> tuple[int, dict[str, Rates]]:
    """The number of tokens, and the rates of each row."""
    import numpy  # noqa: F401, PLC0415 (the first array imports it, which is not encoding)

    ours = libraries[OURS]
    first, given = _first_passes(libraries, texts)
    ids = [ours.to_list(text) for text in texts]
    rates = {"array, first pass": first}
    size = sum(len(text.encode()) for text in texts) / 1e6
    first |= {name: WRONG for name, rows in given.items() if not same(rows, ids)}
    for name, row in _rows(libraries, texts, ids, threads).items():
        bad = {library: failed for library, run in row.runs.items() if (failed := verdict(run, row.expected))}
        right = {library: run for library, run in row.runs.items() if library not in bad}
        taken = medians(right, repeats=repeats, seconds=_SECONDS, clock=row.clock)
        rates[name] = {library: bad.get(library) or _rate(size, taken[library]) for library in row.runs}
    return sum(map(len, ids)), rates


def _first_passes(libraries: Mapping[str, Calls], texts: list[str]) -> tuple[Rates, dict[str, list[Any]]]:
    """The rates of each library's first pass, and its result."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    rates: Rates = {}
    given: dict[str, list[Any]] = {}
    for name, calls in libraries.items():
        encode = _each(calls.to_array or calls.to_list, texts)
        if name == OURS:
            # Its errors are for the user, not for a table.
            start = time.process_time()
            given[name] = encode()
            rates[name] = _rate(size, time.process_time() - start)
            continue
        start = time.process_time()
        failed = verdict(lambda name=name, encode=encode: given.update({name: encode()}), None)  # type: ignore[misc]
        rates[name] = failed or _rate(size, time.process_time() - start)
    return rates, given


def _rows(libraries: Mapping[str, Calls], texts: list[str], ids: list[list[int]], threads: int) -> dict[str, Row]:
    """The calls that are timed once the text has been seen."""
    ours = libraries[OURS]
    documents = [document for text in texts for document in _documents(text)]
    batches = {name: functools.partial(calls.batch, documents, threads) for name, calls in libraries.items()}
    counts = {name: _each(calls.count, texts) for name, calls in libraries.items() if calls.count}
    return {
        "array": Row({name: _each(calls.to_array, texts) for name, calls in libraries.items() if calls.to_array}, ids),
        "list": Row({name: _each(calls.to_list, texts) for name, calls in libraries.items()}, ids),
        "count": Row(counts, [len(row) for row in ids]),
        f"batch, {threads} thread{'s' * (threads > 1)}": Row(
            batches, [ours.to_list(document) for document in documents], time.perf_counter
        ),
        "decode": Row(
            {name: _each(calls.decode, ids) for name, calls in libraries.items()}, [ours.decode(row) for row in ids]
        ),
    }


def _documents(text: str) -> list[str]:
    """Splits a text into documents of whole lines, each of a few thousand characters."""
    found = [""]
    for line in text.splitlines(keepends=True):
        if len(found[-1]) >= _DOCUMENT:
            found.append("")
        found[-1] += line
    return found


def _each(call: Callable[[Any], Any], arguments: list[Any]) -> Callable[[], list[Any]]:
    return lambda: [call(argument) for argument in arguments]


def _rate(megabytes: float, seconds: float) -> float:
    """MB/s; a clock that has not moved counts as a nanosecond."""
    return float(f"{megabytes / max(seconds, 1e-9):.4g}")


def _write_rates(rates: Mapping[str, Rates], libraries: list[str]) -> None:
    """Writes a line for each row: MB/s, and the ratio to the fastest other library."""
    columns = [max(len(name), 9) + 2 for name in libraries]
    width = max(len(name) for name in [*rates, "MB/s"])
    cells = "".join(f"{name:>{column}}" for name, column in zip(libraries, columns, strict=True))
    write_line(f"{'MB/s':<{width}}{cells}" + "    ratio" * (len(libraries) > 1))
    for name, row in rates.items():
        cells = "".join(
            f"{row.get(library, '-'):>{column}}" for library, column in zip(libraries, columns, strict=True)
        )
        others = [rate for library, rate in row.items() if library != OURS and isinstance(rate, float)]
        ours = row[OURS]
        ratio = f"{ours / max(others):>8.2f}x" if others and isinstance(ours, float) else ""
        write_line(f"{name:<{width}}{cells}{ratio}")
