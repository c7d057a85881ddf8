"""Training against the peers: ``python -m benchmarks.train [--quick | --full] [--corpus NAME] [--peer NAME] ...``.

Each training run is a separate process, from a file to the merges: CPU and wall seconds and peak memory are those of
the whole process, Python and imports included. Peers with one tie rule must learn the merges that bytepair learns under
that rule, or the table has WRONG in place of a time; for a peer with its own algorithm ("own alg.") only the number of
tokens is checked. All split as GPT-2 does except these, which split at spaces. `trainers` has the call of each.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import lzma
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import plot
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import Report, data_folder
from benchmarks.peers import OURS, ROOT
from benchmarks.texts import MB
from benchmarks.trainers import RAW, TRAINERS
from benchmarks.worker import digest
from bytepair.cli.bench_timing import RAISES, WRONG

CORPORA = ("en_1mb", "en_20mb", "mixed_20mb", "code_20mb", "mixed_100mb", "mixed_1gb")
VOCABULARIES = ("5000", "32000", "100000")
THREADS = ("1", "2")
REPEATS = 3
SLOW = 5.0
"""Wall seconds in one row of a table after which a trainer does not run again for it."""


@dataclass(frozen=True)
class Run:
    """One training run: the digest of its merges, CPU and wall seconds, peak memory in MB."""

    learned: str
    cpu: float
    wall: float
    peak: float


def run(name: str, corpus: Path, tokens: int, threads: int) -> Run | str:
    """Train in a separate process; a str is the reason of a failure."""
    command = [sys.executable, "-m", "benchmarks.trainers", name, str(corpus), str(tokens), str(threads)]
    told = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | told
    ) as process:
        # Some tell what they do: ours is the last line.
        lines = process.stdout.read().decode(errors="replace").splitlines() if process.stdout else []
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        return lines[-1] if lines else f"exit code {process.returncode}"
    result = json.loads(lines[-1])
    # Not `ru_maxrss`, which on Linux begins with the memory of the process that started this one.
    return Run(result["learned"], used.ru_utime + used.ru_stime, wall, result["peak"])


def compare(report: Report, names: list[str], corpus: Path, tokens: int, threads: int, *, repeats: int) -> None:
    """Rows for one corpus and size: trainers with equal results, CPU and wall seconds, peak memory; they alternate."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    failed: dict[str, float | str] = {}
    for _ in range(repeats):
        for name, done in runs.items():
            if name in failed or sum(one.wall for one in done) > SLOW:
                continue
            one = run(name, corpus, tokens, threads)
            if isinstance(one, str):
                print(f"{name}, {tokens} tokens: {one}")
                failed[name] = RAISES
            else:
                done.append(one)
    first = {name: done[0].learned for name, done in runs.items() if done}
    expected = {"gpt2": first.get(OURS), "raw": first.get(RAW), "own": digest(tokens)}
    for name, done in runs.items():
        if any(one.learned != expected[TRAINERS[name].rule] for one in done):
            failed[name] = WRONG
    right = [name for name in names if name not in failed]
    checks = {"gpt2": "equal", "raw": "equal", "own": "own alg."}
    report.row(f"{tokens} tokens", {**failed, **{name: checks[TRAINERS[name].rule] for name in right}}, "checked")
    for measure, unit in (("cpu", "s"), ("wall", "s"), ("peak", "MB")):
        medians = {name: statistics.median(getattr(one, measure) for one in runs[name]) for name in right}
        report.row(f"{tokens} tokens, {measure}", {**failed, **medians}, unit)


def corpus_file(name: str, folder: Path | None, work: Path) -> Path:
    """A text by name, unpacked; ``stdlib`` is the Python sources that every machine has.

    ``mixed_20mb`` is the first 20 MB of ``mixed_100mb``, ``mixed_1gb`` ten copies of all of that. In each copy the
    small letters of ASCII are moved on by one more: other words, so that there are other pieces, of the same lengths.
    """
    path = work / f"{name}.txt"
    if path.exists():
        return path
    if folder is None:
        path.write_bytes(b"".join(source.read_bytes() for source in sorted(_stdlib().glob("*.py"))))
        return path
    if name == "en_1mb":
        return folder / "corpora" / "en_1mb.txt"
    if name == "mixed_20mb":
        with corpus_file("mixed_100mb", folder, work).open("rb") as file:
            path.write_bytes(file.read(20 * MB).decode(errors="ignore").encode())
    elif name == "mixed_1gb":
        letters = bytes(range(ord("a"), ord("z") + 1))
        text = corpus_file("mixed_100mb", folder, work).read_bytes()
        with path.open("wb") as file:
            for copy in range(10):
                file.write(text.translate(bytes.maketrans(letters, letters[copy:] + letters[:copy])))
    else:
        with lzma.open(folder / "corpora" / f"{name}.txt.xz") as packed, path.open("wb") as file:
            shutil.copyfileobj(packed, file)
    return path


def _stdlib() -> Path:
    return Path(sysconfig.get_paths()["stdlib"])


def installed(names: list[str]) -> list[str]:
    """The trainers that are installed; prints a line for each that is not. bytepair runs under each rule of a peer."""
    found = []
    for name in names:
        if name == RAW or importlib.util.find_spec(name):
            found.append(name)
        else:
            print(f"{name} takes no part: it is not installed (make bench installs it)")
    rules = {TRAINERS[name].rule for name in found if not name.startswith(OURS)}
    return [name for name in found if name != RAW or "raw" in rules]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train", description="Training against the peers.")
    parser.add_argument("--data", help="the folder of real texts")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="one small corpus, once")
    how.add_argument("--full", action="store_true", help="everything, with a gigabyte: hours")
    add_choice(parser, "--corpus", CORPORA, "only these corpora")
    add_choice(parser, "--vocabulary", VOCABULARIES, "only these numbers of tokens")
    add_choice(parser, "--threads", THREADS, "only these numbers of threads")
    add_choice(parser, "--peer", [name for name in TRAINERS if not name.startswith(OURS)], "only these peers")
    options = parser.parse_args(arguments)
    quick = {"corpora": ("en_1mb",), "vocabularies": ("5000",), "threads": ("1",)}
    normal = {
        "corpora": ("en_20mb", "mixed_20mb", "mixed_100mb"),
        "vocabularies": ("5000", "32000"),
        "threads": THREADS,
    }
    full = {"corpora": CORPORA[1:], "vocabularies": VOCABULARIES, "threads": THREADS}
    usual = quick if options.quick else full if options.full else normal

    def choice(option: str, given: list[str] | None, known: tuple[str, ...], what: str) -> list[str]:
        return chosen(parser, option, given, known) if given else list(usual[what])

    corpora = choice("--corpus", options.corpus, CORPORA, "corpora")
    vocabularies = choice("--vocabulary", options.vocabulary, VOCABULARIES, "vocabularies")
    threads = choice("--threads", options.threads, THREADS, "threads")
    peers = chosen(parser, "--peer", options.peer, [name for name in TRAINERS if not name.startswith(OURS)])
    names = installed([name for name in TRAINERS if name.startswith(OURS) or name in peers])
    folder = data_folder(options.data)
    report = Report("train", [name for name in names if name != RAW])
    with tempfile.TemporaryDirectory() as work:
        for corpus in corpora if folder else ["stdlib"]:
            path = corpus_file(corpus, folder, Path(work))
            for n in threads:
                sizes = vocabularies
                if n != "1" and not (options.threads or options.full):
                    # Threads are for large corpora, and this is to end in about ten minutes.
                    sizes = vocabularies[-1:] if path.stat().st_size >= 100 * MB else []
                if sizes:
                    report.head(f"{corpus}, {n} thread{'s' * (n != '1')}", names)
                for tokens in sizes:
                    compare(report, names, path, int(tokens), int(n), repeats=1 if options.quick else REPEATS)
    report.save()
    plot.rates(report, ("s", "MB"))
    return int(WRONG in {row["value"] for row in report.rows})


if __name__ == "__main__":
    sys.exit(main())
