"""The targets of `fuzz.coverage` without coverage: ``python -m fuzz.mutations --seconds 60 [--only split]``.

Inputs are mutations of the made ones and of those that coverage found. Nothing is learned from them, so that two to
a hundred times as many run in the same time. What ends a target is kept in ``build/fuzz/failures``.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
from pathlib import Path

from fuzz import coverage
from fuzz.coverage import BUILD, CRATE, ROOT, TARGETS, Fuzzed


def build() -> Path:
    """Build the program; return it."""
    target = ROOT / "target" / "mutate"
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--bin", "mutate"]
    subprocess.run(command, cwd=CRATE, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, check=True)
    return target / "release" / "mutate"


def run(program: Path, target: str, seconds: int, seed: int) -> Fuzzed:
    """Run a target on mutations.

    Args:
        program: From `build`.
        target: Its name.
        seconds: For how long.
        seed: Of the mutations.
    """
    found, failure = BUILD / "corpus" / target, BUILD / "failures" / target / f"mutation-{seed}"
    for folder in (found, failure.parent):
        folder.mkdir(parents=True, exist_ok=True)
    command = [str(program), target, str(seconds), str(seed), str(TARGETS[target]), str(failure)]
    folders = [str(CRATE / "corpus" / target), str(found)]
    done = subprocess.run([*command, *folders], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        return Fuzzed(0, f"seed {seed}, input {failure}: {done.stderr[-3000:]}")
    return Fuzzed(int(done.stdout))


def main() -> int:
    """Run each target; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--only", choices=TARGETS, action="append", help="a target to run; may be given several times")
    options = parser.parse_args()
    if lacking := coverage.missing():
        print("the targets cannot be built: this needs", *lacking, sep="\n  ")
        return 0
    program = build()
    failed = []
    for target in options.only or TARGETS:
        executions, failure = run(program, target, options.seconds, options.seed)
        print(f"{target}, seed {options.seed}: {executions:,} executions", failure, flush=True)
        failed += [target] if failure else []
    print("failed: " + ", ".join(failed) if failed else "no failure")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
