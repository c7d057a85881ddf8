"""The fresh process in which a library loads a vocabulary and encodes its first text: see `first_pass`.

It imports as little as possible, since every import counts as memory of the library.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers import Vocabulary, import_library, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def digest(ids: Any) -> str:
    """A short digest of many ids, to send from process to process.

    Example:
        >>> digest([1, 2])[:8]
        '3a316d6d'
    """
    import hashlib  # OpenSSL is large.

    plain = ids.tolist() if hasattr(ids, "tolist") else ids
    return hashlib.sha256(repr(plain).encode()).hexdigest()


BLOCK = 50_000
"""Characters of a block: the even ones of a text are one half of it, the odd ones the other."""


def halves(text: str, block: int = BLOCK) -> tuple[str, str]:
    """The even and the odd blocks of a text: both have the same mixture.

    Example:
        >>> halves("aabbccd", 2)
        ('aacc', 'bbd')
    """
    blocks = [text[at : at + block] for at in range(0, len(text), block)]
    return "".join(blocks[::2]), "".join(blocks[1::2])


def repeated(call: Callable[[], Any]) -> float:
    """The median CPU seconds of up to five calls, with no more of them once two seconds have passed."""
    taken: list[float] = []
    while len(taken) < 5 and sum(taken) < 2:
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return sorted(taken)[len(taken) // 2]


def peak() -> float:
    """The peak memory of this process so far, in MB.

    Linux reports the peak since the program was started in /proc; `ru_maxrss` there includes the memory of the parent
    process, which may be more.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def main(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run the measurement that `first_pass.run` requests."""
    files = {kind: Path(path) for kind in ("ranks", "json") if (path := job["vocabulary"][kind])}
    vocabulary = Vocabulary(**{**job["vocabulary"], **files})
    import_library(job["library"])
    start = time.process_time()
    peer = load(job["library"], vocabulary)
    peer.encode("a")
    measured = {"load": time.process_time() - start, "peak": peak()}
    if job["mode"] == "load":
        return measured
    encode = peer.encode_array or peer.encode
    encode("a")  # Numpy is imported by the first array.
    text = Path(job["corpus"]).read_bytes().decode()
    if job["mode"] == "whole":
        start = time.process_time()
        ids = encode(text)
        return {**measured, "whole": time.process_time() - start, "digest": digest(ids)}
    for name, half in zip(("cold", "fresh"), halves(text), strict=True):
        start = time.process_time()
        ids = encode(half)
        measured[name] = time.process_time() - start
    measured["warm"] = repeated(lambda: encode(half))
    if peer.count:
        counted = peer.count
        measured["count"] = repeated(lambda: counted(half))
        measured["counted"] = counted(half) == len(ids)
    return {**measured, "digest": digest(ids)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
