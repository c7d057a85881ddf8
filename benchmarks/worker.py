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
    from collections.abc import Mapping


def digest(ids: Any) -> str:
    """A short digest of many ids, to send from process to process.

    Example:
        >>> digest([1, 2])[:8]
        '3a316d6d'
    """
    import hashlib  # OpenSSL is large.

    plain = ids.tolist() if hasattr(ids, "tolist") else ids
    return hashlib.sha256(repr(plain).encode()).hexdigest()


def halves(text: str) -> tuple[str, str]:
    r"""A text in two, cut after a line.

    Example:
        >>> halves("one\ntwo\nthree\n")
        ('one\ntwo\n', 'three\n')
    """
    middle = text.find("\n", len(text) // 2) + 1
    return text[:middle], text[middle:]


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
    if job["mode"] == "fresh":
        seen, text = halves(text)
        encode(seen)
    start = time.process_time()
    ids = encode(text)
    return {**measured, "seconds": time.process_time() - start, "digest": digest(ids)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
