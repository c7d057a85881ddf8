"""Kills of a process that saves, at random moments: nothing is lost, and the next save removes what was left.

``python -m fuzz.killed --kills 3000`` takes three minutes. A child saves two tokenizers in turns into one folder, and
is killed. Then the folder holds one of them; or, in a format of two files, it is refused until the next save.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import bytepair as bp
from bytepair import files

DROP = {"tiktoken": ("split",), "vocab+merges": ("split",)}
FORMATS = ("native", "tokenizer.json", "tiktoken", "vocab+merges")
_LONGEST = 0.02


def kill(folder: Path, format: str, both: list[bp.Tokenizer], seconds: float) -> str:
    """Kill a child that saves after some seconds; return what the folder then holds: ``"whole"`` or ``"refused"``."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                for tok in both:
                    tok.save(folder, format, drop=DROP.get(format, ()))
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child ended with {status}"
    assert os.WTERMSIG(status) == signal.SIGKILL
    return held(folder, format, both)


def held(folder: Path, format: str, both: list[bp.Tokenizer]) -> str:
    """What a folder holds: one of two tokenizers, or nothing that can be loaded."""
    options: dict[str, Any] = {"split": "gpt2"} if format in DROP else {}
    try:
        found = bp.load(folder, **options)
    except bp.IntegrityError:
        assert format == "vocab+merges", format
        return "refused"
    ids = [tok.encode("lower lowest") for tok in both]
    assert found.encode("lower lowest") in ids, format
    return "whole"


def run(kills: int, seed: int) -> Counter[str]:
    """Kill so many times, formats in turns; return how often which was seen, and how often files were left."""
    drawn = random.Random(seed)
    both = [bp.train({"low": 5, "lower": 3, "est": size}, vocab_size=size, split="gpt2") for size in (259, 262)]
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for format in FORMATS:
            both[0].save(Path(name, format), format, drop=DROP.get(format, ()))
        for number in range(kills):
            format = FORMATS[number % len(FORMATS)]
            folder = Path(name, format)
            seen[kill(folder, format, both, drawn.uniform(0, _LONGEST))] += 1
            seen["left"] += any(folder.glob(f"{files.TEMPORARY}*"))
            if drawn.random() < 0.25:
                both[0].save(folder, format, drop=DROP.get(format, ()))
                assert not list(folder.glob(f"{files.TEMPORARY}*"))
                assert held(folder, format, both[:1]) == "whole"
    return seen


def main() -> None:
    """Run with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seen = run(options.kills, options.seed)
    print(
        f"{options.kills} kills: {seen['whole']} whole, {seen['refused']} refused until saved again, "
        f"{seen['left']} left temporary files, none of which the next save left"
    )


if __name__ == "__main__":
    main()
