"""Calls under a limit of memory end in the right answer or in MemoryError, never in a signal, a panic or a hang."""

from __future__ import annotations

import base64
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of address space, and forks")

# A call is made in a child that may take so many bytes more than there are, for some limits from too little to enough.
CODE = r"""
import os, resource, select, signal, sys, time
import numpy as np
import bytepair as bp
from bytepair import lowlevel

counts = {"low low": 5, "lower": 3, "slowest": 2}
TOKENIZERS = {
    "pattern": lambda: bp.train(counts, vocab_size=262, split="gpt2"),
    "one piece": lambda: bp.train(counts, vocab_size=262, split="none"),
    "unigram": lambda: bp.train_unigram(counts, vocab_size=12),
    "wordpiece": lambda: bp.train_wordpiece(counts, vocab_size=30),
}
words = [f"{number * 7919 % 60_000:x}" for number in range(60_000)]
tok = TOKENIZERS[sys.argv[1]]()
text = "slower lowest " * (6 * 2**20 // 14)
many = ["slower low", "lowest of all"] * (6 * 2**20 // 46)
some = tok.encode("slower lowest ")
few = some * (6 * 2**20 // 14)
ids = np.array(few, np.uint32)

def grown():
    appender = tok.appender()
    appender.append(text)
    return appender.count(), len(appender.text)

CALLS = {
    "encode": lambda: (len(ids := tok.encode(text)), sum(ids)),
    "encode_array": lambda: int(tok.encode_array(text).sum()),
    "encode_array by one": lambda: int(tok.encode_array(text, threads=1).sum()),
    "encode_batch": lambda: sum(map(len, tok.encode_batch(many))),
    "encode_batch of long ones": lambda: sum(tok.encode_batch([text, text])[1]),
    "encode_batch_array": lambda: int(tok.encode_batch_array(many).ids.sum()),
    "count": lambda: tok.count(text),
    "count_batch": lambda: sum(tok.count_batch(many)),
    "decode": lambda: tok.decode(few).count("low"),
    "decode of an array": lambda: tok.decode(ids).count("low"),
    "decode_bytes": lambda: len(tok.decode_bytes(ids)),
    "decode_batch": lambda: [len(t) for t in tok.decode_batch([few, few])],
    "locate": lambda: lowlevel.locate(tok, text)[1][-1],
    "chunks": lambda: len(tok.chunks(text, 1000)),
    "fit": lambda: len(tok.fit(text, len(few) // 2)),
    "fit_batch": lambda: [len(t) for t in tok.fit_batch([text, text], len(few) // 2)],
    "index": lambda: tok.index(text).count(3, 300),
    "pieces": lambda: len(tok.pieces(text)),
    "appender": grown,
    "encode_parts": lambda: sum(map(len, tok.encode_parts([text, text]))),
    "decode_stream": lambda: len(tok.decode_stream().push(few)),
    "chunk_parts": lambda: sum(1 for _ in tok.chunk_parts([text], 1000)),
    "train": lambda: len(bp.train(iter([text]), vocab_size=260, split="gpt2")),
    "train on many words": lambda: bp.train(iter(words), vocab_size=300, split="gpt2").fingerprint,
    "train_wordpiece": lambda: bp.train_wordpiece(iter(words), vocab_size=60).fingerprint,
    "train_unigram": lambda: bp.train_unigram(iter(words), vocab_size=80).fingerprint,
}

def size():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

def with_room(call, room):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if room:
            limit = size() + room
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            said = repr(call()).encode()
        except MemoryError:
            said = b"memory"
        except BaseException as error:
            said = type(error).__name__.encode()
        os.write(writing, said)
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], 120)
    said = os.read(reading, 100).decode() if ready else "hangs"
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return said or f"ended by {os.waitstatus_to_exitcode(status)}"

for name in sys.argv[2:] or CALLS:
    # In a child as well: what it frees would be there for the others.
    right = with_room(CALLS[name], 0)
    ends = {room: with_room(CALLS[name], room << 20) for room in (1, 20, 60, 4000)}
    bad = {room: end for room, end in ends.items() if end not in (right, "memory")}
    print(f"{name}: {right} {bad}" if bad else name, *("r" if end == right else "m" for end in ends.values()))
"""


OF_CHARACTERS = (
    "encode",
    "encode_batch",
    "decode",
    "decode_stream",
    "locate",
    "chunks",
    "chunk_parts",
    "appender",
    "pieces",
)


@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        ("pattern", ()),
        ("one piece", ()),
        ("unigram", OF_CHARACTERS),
        ("wordpiece", OF_CHARACTERS),
    ],
)
def test_a_call_without_memory_raises_memory_error(kind: str, calls: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", CODE, kind, *calls]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [line for line in lines if ": " in line], done.stderr[-2000:]
    # The limits are such that some calls lack memory, and some do not.
    assert any("m" in line.split()[-4:] for line in lines)
    assert all(line.endswith(" r") for line in lines)


# Each in a process that has loaded nothing: memory that was freed would be there again.
LOADING = r"""
import resource, sys
import bytepair as bp
with open("/proc/self/statm") as file:
    limit = int(file.read().split()[0]) * resource.getpagesize() + (int(sys.argv[2]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print(len(bp.load(sys.argv[1], split="o200k")))
except MemoryError:
    print("memory")
"""


def test_a_file_that_does_not_fit_raises_memory_error(tmp_path: Path) -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b"%06x" % number for number in range(200_000)]
    file = tmp_path / "many.tiktoken"
    file.write_bytes(b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)))
    said = []
    for room in (2, 10, 16, 22, 4000):
        command = [sys.executable, "-c", LOADING, str(file), f"{room}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, (room, done.stderr[-2000:])
        said.append(done.stdout.strip())
    assert said == ["memory"] * 4 + ["200256"]
