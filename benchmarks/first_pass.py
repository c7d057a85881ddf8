"""What a fresh process does: load a vocabulary, then encode a text for the first time.

`run` starts such a process and hands back what it measured. It is this module, run with its job as JSON.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, plain
from benchmarks.peers import Vocabulary, load

if TYPE_CHECKING:
    from collections.abc import Mapping


def digest(ids: Any) -> str:
    """A short stand-in for many ids, to send from process to process."""
    return hashlib.sha256(repr(plain(ids)).encode()).hexdigest()


def halves(text: str) -> tuple[str, str]:
    """A text in two, cut after a line."""
    middle = text.find("\n", len(text) // 2) + 1
    return text[:middle], text[middle:]


def run(library: str, vocabulary: Vocabulary, corpus: Path, mode: str) -> dict[str, Any]:
    """Measures one first pass.

    Args:
        library: Which library.
        vocabulary: What it loads.
        corpus: The text.
        mode: ``cold`` times the whole text, ``fresh`` its second half after the first one.

    Returns:
        CPU seconds to ``load`` (from the file to the first id, without importing the library) and to encode
        (``seconds``), and the `digest` of the ids.
    """
    job = {"library": library, "vocabulary": asdict(vocabulary), "corpus": corpus, "mode": mode}
    command = [sys.executable, "-m", "benchmarks.first_pass", json.dumps(job, default=str)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main(job: Mapping[str, Any]) -> dict[str, Any]:
    """The fresh process: `run` says what it gets and gives."""
    files = {kind: Path(path) for kind in ("ranks", "json") if (path := job["vocabulary"][kind])}
    vocabulary = Vocabulary(**{**job["vocabulary"], **files})
    text = Path(job["corpus"]).read_bytes().decode()
    # Importing is not loading, and numpy is imported by the first array.
    for module in (job["library"], "numpy"):
        importlib.import_module(module)
    start = time.process_time()
    peer = load(job["library"], vocabulary)
    peer.encode("a")
    loaded = time.process_time() - start
    encode = peer.encode_array or peer.encode
    if job["mode"] == "fresh":
        seen, text = halves(text)
        encode(seen)
    start = time.process_time()
    ids = encode(text)
    return {"seconds": time.process_time() - start, "load": loaded, "digest": digest(ids)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
