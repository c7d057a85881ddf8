"""Time on endless runs: ``python -m fuzz.linear`` compares texts of half a megabyte and of a megabyte.

A stage that rereads everything for each character takes four times as long for twice the text, a linear one twice as
long. Covers every step by itself and every kind of tokenizer. The best of several times counts, since single times are
meaningless on a shared machine.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair._core import normalize, pre_tokenize
from fuzz import kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = {
    "a letter": "l",
    "a mark": "\u0301",
    "two marks": "\u0301\u0323",
    "a letter with marks": "e\u0323\u0301",
    "a space": " ",
    "a blank": "▁",
    "an ideograph": "日",
    "a joined emoji": "👩\u200d💻",
    "a joiner": "\u200d",
    "a line's end": "\r\n",
    "a flag": "🇩",
    "parts of a syllable": "\u1100\u1161",
    "a digit": "1",
    "a full stop": ".",
    "a long ligature": "ﷺ",
    "a word": "low ",
    "a sign that joins": "\u0600",
}
NORMALIZERS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
PRE_TOKENIZERS = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")

BYTES = 1 << 19
MOST_RATIO = 3
# Faster times per half a megabyte are not quadratic, and too short to compare.
SECONDS = 0.05
ATTEMPTS = 5


def steps(table: kinds.Table, stage: str, inner: str) -> Iterator[str]:
    """The steps of a stage, as the core takes them."""
    value = table.get(stage) or {inner: []}
    for step in value.get(inner, [value]):
        yield json.dumps(step) if len(step) > 1 else step["type"]


def calls() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """The measured calls, by name."""
    tables = kinds.TABLES.values()
    normalizers = {*NORMALIZERS, *(step for table in tables for step in steps(table, "normalizer", "normalizers"))}
    pre_tokenizers = {
        *PRE_TOKENIZERS,
        *(step for table in tables for step in steps(table, "pre_tokenizer", "pretokenizers")),
    }
    for step in sorted(normalizers):
        yield f"normalizing by {step}", functools.partial(normalize, [step])
        yield f"normalizing with offsets by {step}", functools.partial(normalize, [step], offsets=True)
    for step in sorted(pre_tokenizers):
        yield f"cutting by {step}", functools.partial(pre_tokenize, [step])
    with tempfile.TemporaryDirectory() as folder:
        for kind, data in kinds.FILES.items():
            path = Path(folder, "tokenizer.json")
            path.write_bytes(data)
            tok = bp.Tokenizer.from_file(path, partial_alphabet=True)
            yield f"encoding by {kind}", functools.partial(tok.encode, special="text")
            yield f"counting by {kind}", functools.partial(tok.count, special="text", added="text")
            yield f"offsets by {kind}", functools.partial(tok.offsets, special="text")
            yield f"decoding by {kind}", functools.partial(there_and_back, tok)


def there_and_back(tok: bp.Tokenizer, text: str) -> str:
    """Encode and decode."""
    return tok.decode(tok.encode(text, special="text"))


def seconds(call: Callable[[str], Any], text: str) -> float:
    """Seconds of a call; errors of bytepair's own count as results."""
    start = time.perf_counter()
    with contextlib.suppress(bp.BytepairError):
        call(text)
    return time.perf_counter() - start


def ratio(call: Callable[[str], Any], run: str) -> float:
    """The time ratio of the longer to the shorter text, at best; 0 if both are fast."""
    short, long = (run * (size // len(run.encode())) for size in (BYTES, 2 * BYTES))
    best = [seconds(call, short), seconds(call, long)]
    for _ in range(ATTEMPTS):
        if best[1] < 2 * SECONDS or best[1] < MOST_RATIO * best[0]:
            break
        best = [min(best[0], seconds(call, short)), min(best[1], seconds(call, long))]
    return best[1] / best[0] if best[1] >= 2 * SECONDS else 0


def main() -> int:
    """Measure everything; the exit code is 1 if a step is not linear."""
    warnings.simplefilter("ignore", bp.TokenizerWarning)
    failed = done = 0
    for name, call in calls():
        for run, text in RUNS.items():
            done += 1
            if (times := ratio(call, text)) >= MOST_RATIO:
                failed += 1
                print(f"{name}: {times:.1f} times as long for twice as much of {run}", file=sys.stderr, flush=True)
    print(f"linear: {done - failed} of {done} calls")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
