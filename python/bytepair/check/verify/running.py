"""Speed, and equal ids when repeated, on threads, after pickling and in another process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.check.verify.checklist import Check
from bytepair.errors import EncodeError
from bytepair.formats import native, probes
from bytepair.model.compiled import CompiledTokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer

_REPEATS = 100
_SECONDS = 120
_ELSEWHERE = """
import sys
from bytepair import Tokenizer
from bytepair.formats import native, probes
print(probes.behaviour(Tokenizer(native.read(sys.stdin.buffer.read()))))
"""


def checks(tokenizer: Tokenizer) -> list[Check]:
    """Runs all of these checks."""
    expected = probes.behaviour(tokenizer)
    return [
        *_throughput(tokenizer),
        _same("the same ids twice", expected, probes.behaviour(tokenizer)),
        _threads(tokenizer),
        _pickled(tokenizer, expected),
        _elsewhere(tokenizer, expected),
        _tables(tokenizer),
    ]


def _same(name: str, expected: str, found: str) -> Check:
    if found == expected:
        return Check(name, "pass", f"on {len(probes.TEXTS)} probes")
    return Check(name, "fail", "a probe has other ids, or another text")


def _encodable(tokenizer: Tokenizer) -> list[str]:
    """The probes that the vocabulary has tokens for."""
    texts = []
    for text in probes.TEXTS:
        try:
            tokenizer.encode(text, special="text")
        except EncodeError:
            continue
        texts.append(text)
    return texts


def _throughput(tokenizer: Tokenizer) -> list[Check]:
    text = "\n".join(_encodable(tokenizer))
    try:
        ids = tokenizer.encode_array(text, special="text", threads=1)
    except EncodeError as error:
        return [Check("throughput", "not applicable", f"the probes cannot be encoded as one text: {error.what}")]
    size = len(text.encode())

    def rate(call: Callable[[], object]) -> str:
        start = time.perf_counter()
        for _ in range(_REPEATS):
            call()
        seconds = max(time.perf_counter() - start, 1e-9)
        return (
            f"{size * _REPEATS / 1e6 / seconds:.1f} MB/s on one thread, over {size:,} bytes of probes again and again"
        )

    return [
        Check("throughput of encode", "pass", rate(lambda: tokenizer.encode_array(text, special="text", threads=1))),
        Check("throughput of decode", "pass", rate(lambda: tokenizer.decode(ids))),
    ]


def _pickled(tokenizer: Tokenizer, expected: str) -> Check:
    name = "the same ids after pickling"
    try:
        again = pickle.loads(pickle.dumps(tokenizer))
    except (pickle.PickleError, AttributeError, TypeError) as error:
        # A class that is defined within a function, for example.
        return Check(name, "fail", f"it cannot be pickled: {error}")
    return _same(name, expected, probes.behaviour(again))


def _tables(tokenizer: Tokenizer) -> Check:
    """Compiles the tokenizer anew: a native file may hold its tables."""
    name, owner = "compiled tables", b""
    tables = tokenizer._tables(owner)
    if tables is None:
        return Check(name, "not applicable", "only models of bytes have them in a file")
    # Without the tables of the file.
    spec = native.read(native.write(tokenizer.spec))
    if CompiledTokenizer(spec)._tables(owner) == tables:
        return Check(name, "pass", f"{len(tables):,} bytes, the same when compiled anew")
    return Check(
        name, "fail", "those of the file are not those of its tokens and merges: save it again from a source you trust"
    )


def _threads(tokenizer: Tokenizer) -> Check:
    name = "the same ids on threads"
    texts = _encodable(tokenizer)
    one = tokenizer.encode_batch(texts, special="text", threads=1)
    if tokenizer.encode_batch(texts, special="text", threads=2) != one:
        return Check(name, "fail", "the batch of the probes has other ids on two threads than on one")
    # Long enough to be split across threads.
    long = " ".join(texts) * _REPEATS
    try:
        alone = tokenizer.encode_array(long, special="text", threads=1)
    except EncodeError as error:
        return Check(name, "not applicable", f"the probes cannot be encoded as one text: {error.what}")
    if not (tokenizer.encode_array(long, special="text", threads=2) == alone).all():
        return Check(name, "fail", "the probes as one long text have other ids on two threads than on one")
    return Check(name, "pass", f"{len(texts)} texts, and one of {len(long):,} characters, on one and on two")


def _elsewhere(tokenizer: Tokenizer, expected: str) -> Check:
    name = "the same ids in another process"
    if not sys.executable:
        return Check(name, "not applicable", "this program is no Python that could be started again")
    package = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE],
            input=native.write(tokenizer.spec),
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONPATH": path},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(name, "not applicable", f"no process could be started, or it did not end: {error}")
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Check(name, "fail", f"it ended with an error: {lines[-1] if lines else done.returncode}")
    return _same(name, expected, done.stdout.decode("ascii", "replace").strip())
