"""Training against `tokenizers`: ``python -m benchmarks.train [--data FOLDER] [--quick]``.

Each training is a process of its own on one thread, from files to merges; its CPU seconds and peak memory are those of
the whole process. The merges must be equal before a time is printed: both use the gpt2 split pattern, the id layout of
the GPT-2 byte alphabet, and of equally frequent pairs merge the one with the lowest ids. Below that stand the readable
trainers of ``bytepair.reference`` on a small corpus, with the core next to them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import bytepair as bp
from benchmarks.measure import Report, data_folder
from benchmarks.peers import OURS, ROOT
from bytepair import reference
from bytepair.cli.timing import WRONG, medians
from bytepair.formats import byte_alphabet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIN_FREQUENCY = 2
LADDER = {"V2": "incremental", "V4": "inverted", "V5": "heap", "linked list": "linked_list"}
LADDER_MERGES = 300
LADDER_CHARACTERS = 200_000
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


def train_bytepair(corpus: Path, vocab_size: int) -> list[list[str]]:
    """The merges that bytepair learns, in the byte alphabet."""
    warnings.simplefilter("ignore", bp.TokenizerWarning)
    options = {"split": "gpt2", "ties": "lowest_ids", "byte_order": "gpt2", "min_frequency": MIN_FREQUENCY}
    model = bp.train(corpus, vocab_size, threads=1, **options).spec.model  # type: ignore[arg-type]  # choices, kept as str
    spelled = dict(zip(model.ids, map(byte_alphabet.to_characters, model.tokens), strict=True))
    return [[spelled[left], spelled[right]] for left, right in model.merges or ()]


def train_tokenizers(corpus: Path, vocab_size: int) -> list[list[str]]:
    """The merges that tokenizers learns."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def texts() -> Iterator[str]:
        # Lines, as its own reader of files takes them, but only where the cut changes no piece: between a line break
        # after text and text.
        yield from re.split(r"(?<=\S\n)(?=\S)", corpus.read_bytes().decode())

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=MIN_FREQUENCY,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tok.train_from_iterator(texts(), trainer)
    merges: list[list[str]] = json.loads(tok.to_str())["model"]["merges"]
    return merges


TRAINERS: dict[str, Callable[[Path, int], list[list[str]]]] = {
    "bytepair": train_bytepair,
    "tokenizers": train_tokenizers,
}


@dataclass(frozen=True)
class Trained:
    """What one process gave: the hash of its merges, CPU seconds and peak memory."""

    merges: str
    seconds: float
    megabytes: float


def in_process(library: str, corpus: Path, vocab_size: int) -> Trained:
    """Trains in a process of its own.

    Its peak memory counts from that of this process, so this one must stay small.
    """
    command = [sys.executable, "-m", "benchmarks.train", "--one", library, str(corpus), str(vocab_size)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=os.environ | ONE_THREAD) as process:
        merges = process.stdout.read().decode().strip() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return Trained(merges, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)


def corpora(folder: Path | None, work: Path, *, quick: bool) -> dict[str, Path]:
    """The texts by name, unpacked; without the folder, the Python sources that every machine has."""
    if folder is None:
        with (work / "stdlib.txt").open("wb") as file:
            for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
                file.write(path.read_bytes())
        return {"stdlib": work / "stdlib.txt"}
    found = {"en 1 MB": folder / "corpora" / "en_1mb.txt"}
    if not quick:
        found["en 20 MB"] = work / "en_20mb.txt"
        with lzma.open(folder / "corpora" / "en_20mb.txt.xz") as packed, found["en 20 MB"].open("wb") as file:
            shutil.copyfileobj(packed, file)
    return found


def compare(report: Report, corpus: Path, vocab_size: int, repeats: int) -> None:
    """Trains with each library in turns; the table says WRONG where the merges differ from bytepair's."""
    trained: dict[str, list[Trained]] = {name: [] for name in report.libraries}
    for _ in range(repeats):
        for name, runs in trained.items():
            runs.append(in_process(name, corpus, vocab_size))
    expected = trained[OURS][0].merges
    right = {name for name, runs in trained.items() if all(run.merges == expected for run in runs)}
    seconds: dict[str, float | str] = dict.fromkeys(trained, WRONG)
    megabytes: dict[str, float | str] = dict.fromkeys(trained, WRONG)
    for name in right:
        seconds[name] = statistics.median(run.seconds for run in trained[name])
        megabytes[name] = statistics.median(run.megabytes for run in trained[name])
    report.row(f"{vocab_size} tokens, CPU", seconds, "s")
    report.row(f"{vocab_size} tokens, peak", megabytes, "MB")


def ladder(report: Report, corpus: Path) -> None:
    """The readable trainers and the core, from the same counts, must learn the same merges with the same counts."""
    with corpus.open(encoding="utf-8", newline="") as file:
        counts = reference.count_pieces([file.read(LADDER_CHARACTERS)], bp.SPLIT_PATTERNS["gpt2"])

    def reference_merges(name: str) -> list[tuple[bytes, bytes, int]]:
        return [*reference.TRAINERS[name](counts, LADDER_MERGES, ties="lowest_ids").merges]

    def core_merges() -> list[tuple[bytes, bytes, int]]:
        return [*bp.train_merges(counts, LADDER_MERGES, ties="lowest_ids")]

    runs: dict[str, Callable[[], list[tuple[bytes, bytes, int]]]]
    runs = {OURS: core_merges, **{label: partial(reference_merges, name) for label, name in LADDER.items()}}
    expected = runs["V2"]()
    right = {name: run for name, run in runs.items() if run() == expected}
    title = f"readable trainers, {len(counts)} pieces"
    report.head(title, list(runs))
    values: dict[str, float | str] = {**dict.fromkeys(runs, WRONG), **medians(right, repeats=1, seconds=60)}
    report.row(f"{LADDER_MERGES} merges", values, "s")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; the exit code is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train", description="Training against tokenizers.")
    parser.add_argument("--data", help="the folder of real texts")
    parser.add_argument("--quick", action="store_true", help="the small corpus only, once")
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "CORPUS", "TOKENS"), help="print the hash of the merges")
    chosen = parser.parse_args(arguments)
    if chosen.one:
        library, corpus, vocab_size = chosen.one
        merges = TRAINERS[library](Path(corpus), int(vocab_size))
        print(hashlib.sha256(json.dumps(merges).encode()).hexdigest())
        return 0
    folder = data_folder(chosen.data)
    report = Report("train", list(TRAINERS))
    with tempfile.TemporaryDirectory() as work:
        texts = corpora(folder, Path(work), quick=chosen.quick)
        for title, path in texts.items():
            report.head(title)
            for vocab_size in (5_000, 32_000):
                compare(report, path, vocab_size, 1 if chosen.quick else 3)
        ladder(report, next(iter(texts.values())))
    report.save()
    return int(report.wrong)


if __name__ == "__main__":
    sys.exit(main())
