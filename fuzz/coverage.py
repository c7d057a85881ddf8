"""Fuzzing with coverage: ``python -m fuzz.coverage --seconds 60 [--only split]``, seconds for each target.

libFuzzer changes inputs, keeps those that reach new code, and reports panics, overflows, and inputs that take too
long. The targets are in ``crates/fuzz``; a stable toolchain builds them, with a C++ compiler for libFuzzer. What is
missing is named. Found inputs stay in ``build/fuzz``, so the next run goes on from them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
CRATE = ROOT / "crates" / "fuzz"
BUILD = ROOT / "build" / "fuzz"

TARGETS: dict[str, int] = {
    "rank_file": 2000,
    "json_model": 2000,
    "pieces": 2000,
    "json_lines": 2000,
    "decimal": 64,
    "regex": 150,
    "split": 300,
    "normalizer": 500,
    "pre_tokenizer": 500,
    "decoder": 500,
    "merging": 400,
    "characters": 300,
    "streams": 400,
}
"""The targets, and the most bytes of an input."""

FLAGS = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg fuzzing",
    "-Clink-dead-code",
)
"""The flags of `cargo fuzz`, without a sanitizer, which would need another toolchain."""


class Fuzzed(NamedTuple):
    """The executions of a target, and what failed: the end of the log, and the input."""

    executions: int
    failure: str = ""


def missing() -> list[str]:
    """What has to be installed first."""
    lacking = []
    if not shutil.which("cargo"):
        lacking.append("cargo: 'curl --proto =https -sSf https://sh.rustup.rs | sh'")
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        lacking.append("a C++ compiler, which libFuzzer is built with: 'sudo apt install g++'")
    if sys.platform != "linux":
        lacking.append("Linux")
    return lacking


def build() -> Path:
    """Build the targets; return the program."""
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))
    assert host, "rustc names its host"
    # A target that is named keeps the flags from build scripts.
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target", host[1]]
    target = ROOT / "target" / "fuzz"
    environment = {**os.environ, "RUSTFLAGS": " ".join(FLAGS), "CARGO_TARGET_DIR": str(target)}
    subprocess.run(command, cwd=CRATE, env=environment, check=True)
    return target / host[1] / "release" / "targets"


def run(program: Path, target: str, seconds: int, *, hang: int = 10) -> Fuzzed:
    """Fuzz a target from its made inputs and what earlier runs found.

    Args:
        program: From `build`.
        target: Its name.
        seconds: For how long.
        hang: So many seconds for one input are a failure.
    """
    corpus, failures = BUILD / "corpus" / target, BUILD / "failures" / target
    for folder in (corpus, failures):
        folder.mkdir(parents=True, exist_ok=True)
    options = {
        "max_total_time": seconds,
        "timeout": hang,
        "rss_limit_mb": 2048,
        "max_len": TARGETS[target],
        "print_final_stats": 1,
        "verbosity": 0,
        "artifact_prefix": f"{failures}/",
    }
    folders = [str(corpus), str(CRATE / "corpus" / target)]
    # From a shell: a child of this process begins with the peak of its memory, which counts against the limit.
    shell = ["sh", "-c", '"$@"; exit $?', "sh"]
    command = [*shell, str(program), *folders, *(f"-{name}={value}" for name, value in options.items())]
    environment = {**os.environ, "FUZZ_TARGET": target}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    return Fuzzed(int(executions[1]) if executions else 0, done.stderr[-3000:] if done.returncode else "")


def main() -> int:
    """Fuzz each target; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", choices=TARGETS, action="append", help="a target to run; may be given several times")
    options = parser.parse_args()
    if lacking := missing():
        print("no fuzzing with coverage: this needs", *lacking, sep="\n  ")
        return 0
    program = build()
    failed = []
    for target in options.only or TARGETS:
        executions, failure = run(program, target, options.seconds)
        print(f"{target}: {executions:,} executions", failure, flush=True)
        failed += [target] if failure else []
    print("failed: " + ", ".join(failed) if failed else "no failure")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
