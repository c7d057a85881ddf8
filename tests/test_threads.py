"""One call on several threads: the same ids and errors, Ctrl-C, and bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz import kinds

import bytepair as bp
from tests.conftest import HOSTILE

STREAM_MB = int(os.environ.get("BYTEPAIR_STREAM_MB", "50"))
"""The MB of text that `test_pieces_that_never_repeat_do_not_grow_memory` encodes; with 2000 it takes minutes."""


def outcome(call: object, *args: object, **options: object) -> object:
    """The result of a call, or all attributes of its error."""
    assert callable(call)
    try:
        return call(*args, **options)
    except bp.BytepairError as error:
        return type(error), str(error), error.__dict__


@pytest.mark.parametrize("split", ["o200k", "gpt2", "none", r"\w+|(?<=b)c"])
def test_threads_change_neither_ids_nor_errors_of_a_long_text(sources: list[str], split: str) -> None:
    random = Random(5)
    added = [bp.AddedToken("<n>", 700, normalized=True), bp.AddedToken("<m>", 701, lstrip=True, rstrip=True)]
    spec = bp.train(iter(sources[:2]), 600, split=split, special_tokens=["<|end|>"]).spec
    tok = bp.Tokenizer(spec.replace(added_tokens=(*spec.added_tokens, *added)))
    words = [*HOSTILE, *sources[2].split(" ")[:500]]
    for case in range(6):
        parts = random.choices(words, k=30_000)
        if case % 2:
            parts.insert(random.randrange(len(parts)), "<m>" if case == 1 else "  <m>\n<n> ")
        if case > 2:
            parts.insert(random.randrange(len(parts)), "<|end|>")
        text = " ".join(parts)
        assert len(text.encode()) > 300_000  # Enough to be cut.
        batch = [text, *parts[:200], text[:1000], text]
        choices: list[dict[str, Any]] = [
            {},
            {"special": "allow"},
            {"special": "text", "added": "text"},
            {"added": "raise"},
        ]
        for options in choices:
            expected = outcome(tok.encode, text, threads=1, **options)
            rows = outcome(tok.encode_batch, batch, threads=1, **options)
            assert outcome(tok.encode_batch, batch, threads=7, **options) == rows
            for threads in (2, 7, None):
                assert outcome(tok.encode, text, threads=threads, **options) == expected
                if isinstance(expected, list):
                    assert tok.encode_array(text, threads=threads, **options).tolist() == expected
                    assert tok.count(text, threads=threads, **options) == len(expected)


@pytest.mark.parametrize("kind", kinds.FILES)
def test_threads_change_neither_ids_nor_errors_of_any_model(kind: str, tmp_path: Path) -> None:
    tmp_path.joinpath("tokenizer.json").write_bytes(kinds.FILES[kind])
    tok = bp.Tokenizer.from_file(tmp_path / "tokenizer.json", partial_alphabet=True)
    random = Random(3)
    words = ["low", " low", "lower", " Newest", "ﬁ", "é", "e\u0301", "中", ".", "\n", "  ", "1", "'s", "😀"]
    for script in ("low Low. ", "".join(words), "中文 ひらがな"):
        text = "".join(random.choices([*words, script], k=100_000))
        expected = outcome(tok.encode, text, threads=1)
        for threads in (2, 7):
            assert outcome(tok.encode, text, threads=threads) == expected
            assert outcome(tok.encode, text.encode(), threads=threads) == expected
            rows = outcome(tok.encode_batch, ["low", text], threads=threads)
            if isinstance(expected, list):
                assert rows == [tok.encode("low"), expected]
                assert tok.count(text, threads=threads) == len(expected)
            else:
                assert isinstance(rows, tuple)


def test_no_thread_is_no_thread(tok: bp.Tokenizer) -> None:
    for call in (tok.encode, tok.encode_array, tok.count):
        with pytest.raises(ValueError, match="threads=0"):
            call("low", threads=0)


def run(code: str, *args: str, timeout: int = 120) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on Unix")
@pytest.mark.parametrize(
    "call", ["encode", "encode_array", "count", "encode_batch", "count_batch", "encode_batch_array"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_control_c_ends_a_long_call(call: str, threads: int) -> None:
    code = """
import os, signal, sys, threading, time
import bytepair as bp
tok = bp.train({"low": 5, "lower": 3}, vocab_size=260, split="gpt2")
text = "slower lowest " * 6_000_000
text = [text, text] if "batch" in sys.argv[1] else text
tok.encode_array("low")  # Imports numpy, which must not be what is interrupted.
timer = threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGINT))
try:
    timer.start()
    getattr(tok, sys.argv[1])(text, threads=int(sys.argv[2]))
    print("ended by itself")
except KeyboardInterrupt:
    print("interrupted", tok.encode("lower"), tok.count_batch(["low"] * 100_000)[-1])
"""
    done = run(code, call, str(threads))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "interrupted [259] 1\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("threads", "bound"), [(1, 0), (1, 2_000_000), (2, 2_000_000)])
def test_pieces_that_never_repeat_do_not_grow_memory(threads: int, bound: int) -> None:
    code = """
import sys
from random import Random
import bytepair as bp
from bytepair.lowlevel import cache_memory, limit_cache_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def block():
    # Words of 13 letters, none of which comes twice.
    letters = random.randbytes(910_000).translate(table)
    return b" ".join([letters[at:at + 13] for at in range(0, len(letters), 13)])

table = bytes(97 + byte % 26 for byte in range(256))
random = Random(3)
threads, bound, total = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) * 1_000_000
if bound:
    limit_cache_memory(thread=bound)
tok = bp.train({"lower": 5, "slow": 3}, vocab_size=262, split="gpt2")
for _ in range(2):
    text = block()
    small = tok.count("low " * 250_000, threads=threads)
before, done, most = resident(), 0, 0
while done < total:
    text = None
    text = block()
    tok.count(text, threads=threads)
    done += len(text)
    most = max(most, resident())
print(most - before, cache_memory()[0] * threads)
"""
    done = run(code, str(threads), str(bound), str(STREAM_MB), timeout=60 + STREAM_MB)
    assert done.returncode == 0, done.stderr
    grown, stated = map(int, done.stdout.split())
    assert stated == (bound or 64 << 20) * threads
    # The measurement covers the whole process, whose allocators keep a few megabytes of their own.
    assert grown <= stated + 8_000_000


def test_bounds_of_memory_change_no_id(sources: list[str]) -> None:
    text = "".join(sources)
    spec = bp.train(iter(sources[:2]), 600, split="o200k").spec
    expected = bp.Tokenizer(spec).encode(text)
    before = bp.lowlevel.cache_memory()
    try:
        for thread, process in [(262_144, 1 << 30), (1 << 26, 0)]:
            bp.lowlevel.limit_cache_memory(thread, process)
            assert bp.lowlevel.cache_memory() == (thread, process)
            tok = bp.Tokenizer(spec)
            for threads in (1, 2):
                assert tok.encode(text, threads=threads) == expected
                assert tok.count(text, threads=threads) == len(expected)
        with pytest.raises(ValueError, match="thread=262143 is too small for caches; use 262144 or more"):
            bp.lowlevel.limit_cache_memory(thread=262_143)
        assert bp.lowlevel.cache_memory() == (1 << 26, 0)
    finally:
        bp.lowlevel.limit_cache_memory(*before)


@pytest.mark.parametrize("tier", ["plain", "neon", "avx2", "avx512"])
def test_ids_are_the_same_on_every_tier(tier: str, sources: list[str]) -> None:
    code = """
import sys
import bytepair as bp
text = sys.stdin.buffer.read().decode()
print(bp.train(iter([text[:100_000]]), 600, split="o200k").encode(text))
"""
    text = "".join(sources) + "".join(HOSTILE)
    here = bp.train(iter([text[:100_000]]), 600, split="o200k").encode(text)
    environment = {**os.environ, "BYTEPAIR_TIER": tier}
    command, data = [sys.executable, "-c", code], text.encode("utf-8", "replace")
    done = subprocess.run(command, input=data, capture_output=True, env=environment, check=True)
    assert done.stdout.decode() == f"{here}\n"


def test_an_unknown_tier_is_an_error() -> None:
    environment = {**os.environ, "BYTEPAIR_TIER": "sse9"}
    command = [sys.executable, "-c", "import bytepair"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "ValueError: BYTEPAIR_TIER is sse9, not one of plain, neon, avx2, avx512" in done.stderr
