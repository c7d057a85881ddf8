"""Ctrl-C during calls of the core: each ends soon, and what it was called on can be used again."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import signal, sys
import bytepair as bp

tok = bp.train({"low": 5, "lower": 3}, vocab_size=260, split=sys.argv[1])
text = "slower lowest " * 4_000_000
tokens = tok.count(text)
assert tokens == 8 * 4_000_000, tokens
appender, prepender = tok.appender(), tok.prepender()
appender.append(text)
prepender.prepend(text)
index = tok.index(text)
calls = {
    "encode": lambda: tok.encode(text),
    "encode_array": lambda: tok.encode_array(text),
    "encode_batch": lambda: tok.encode_batch([text, text]),
    "count": lambda: tok.count(text),
    "count_batch": lambda: tok.count_batch([text, text]),
    "count_until": lambda: tok.count_until(text, tokens),
    "fit": lambda: tok.fit(text, tokens // 2),
    "fit from the right": lambda: tok.fit(text, tokens // 2, "right"),
    "fit_batch": lambda: tok.fit_batch([text, text], tokens // 2),
    "chunks": lambda: tok.chunks(text, 50),
    "chunks_batch": lambda: tok.chunks_batch([text, text], 50),
    "chunk_parts": lambda: list(tok.chunk_parts([text], 50)),
    "index": lambda: tok.index(text),
    "index.ids": lambda: index.ids(),
    "appender.count": lambda: appender.count(),
    "appender.fits": lambda: appender.fits(" low", tokens),
    "appender.mark": lambda: appender.mark(),
    "appender.ids": lambda: appender.ids(),
    "prepender.count": lambda: prepender.count(),
    "prepender.fits": lambda: prepender.fits("low ", tokens),
    "prepender.mark": lambda: prepender.mark(),
    "prepender.ids": lambda: prepender.ids(),
}
# A timer of the system comes also while no other thread can run.
signal.signal(signal.SIGALRM, signal.default_int_handler)
tok.encode_array("low")  # Imports numpy, which must not be what is interrupted.
for name, call in calls.items():
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(name, "ended by itself")
    except KeyboardInterrupt:
        pass
assert tok.encode("slower lowest ") == tok.encode("slower lowest slower lowest ")[:8]
assert appender.count() == prepender.count() == index.count() == tokens
print("all else as before")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a timer that sends a signal")
@pytest.mark.parametrize("split", ["gpt2", "none"])
def test_control_c_ends_every_long_call(split: str) -> None:
    """With and without a split pattern, which makes the text one piece."""
    done = subprocess.run([sys.executable, "-c", CODE, split], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "all else as before\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a timer that sends a signal")
@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_handler_raises_leaves_the_call(threads: int) -> None:
    """A handler of the program's own: an exception of its type, and calls of its own meanwhile."""
    code = """
import signal, sys
import bytepair as bp

class TooLate(Exception):
    pass

def stop(*_):
    calls.append(tok.count("lower"))
    if len(calls) == 3:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise TooLate("three signals")

calls = []
tok = bp.train({"low": 5, "lower": 3}, vocab_size=260, split="gpt2")
text = "slower lowest " * 20_000_000
tok.encode_array("low")
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
try:
    tok.count(text, threads=int(sys.argv[1]))
except TooLate as error:
    print(error, calls, tok.count("slower"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(threads)], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "three signals [1, 1, 1] 2\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a timer that sends a signal")
def test_every_call_is_interrupted_at_random_moments() -> None:
    """Calls of each kind of tokenizer end in KeyboardInterrupt or by themselves, and ids stay what they were."""
    command = [sys.executable, "-m", "fuzz.interrupts", "--moments", "2", "--size", "150000", "--seed", "7"]
    command += ["--wall", "--only", "words"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    *calls, total = done.stdout.splitlines()
    assert len(calls) > 150, calls
    assert int(total.split()[0]) > len(calls) // 4, total


WHERE_NUMPY_IS_FOUND = """
import sys
import numpy
import bytepair as bp

tok = bp.train({"low": 5}, vocab_size=258)

def stop(frame, event, argument):
    # As the handler of a signal can, wherever the main thread runs Python's code.
    if frame.f_code.co_filename.endswith("_version.py"):
        raise KeyboardInterrupt

sys.setprofile(stop)
ids = tok.encode_array("low")
sys.setprofile(None)
print(ids.tolist())
"""


def test_no_handler_runs_where_the_bindings_look_for_numpys_functions() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHERE_NUMPY_IS_FOUND], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "[257]\n"), done.stderr
