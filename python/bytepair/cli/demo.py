"""Trains a small tokenizer on text of this machine (Python's own library), and shows it at work."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli.arguments import number
from bytepair.cli.streams import write_line, write_table
from bytepair.errors import IntegrityError, TrainingError
from bytepair.tokenizer import Tokenizer
from bytepair.training.byte_pairs import train

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
example:
  bytepair demo --vocab-size 4096
"""

SAMPLE = "A tokenizer returns the longest tokens that it has learned: 'def encode(self, text)', naïve café, 東京."

_SUFFIXES = (".py", ".txt", ".rst")
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test"}
_BACKGROUNDS = ("\033[30;48;5;153m", "\033[30;48;5;223m")
_RESET = "\033[0m"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument("--folder", default="demo-output", help="where the tokenizer goes (default: demo-output)")
    parser.add_argument("--vocab-size", metavar="N", type=number, default=8192, help="default: 8192")


def run(options: Namespace) -> int:
    """Trains, saves, loads and uses a tokenizer, and checks the round trip."""
    texts, skipped = _texts(Path(sysconfig.get_paths()["stdlib"]))
    size = sum(map(len, texts))
    start = time.perf_counter()
    trained = train(texts, options.vocab_size, progress=True)
    training = time.perf_counter() - start

    files = trained.save(options.folder)
    tokenizer = Tokenizer.from_file(options.folder)

    start = time.perf_counter()
    rows = tokenizer.encode_batch(texts)
    encoding = time.perf_counter() - start
    tokens = sum(map(len, rows))
    equal = sum(tokenizer.decode_bytes(ids) == text for ids, text in zip(rows, texts, strict=True))

    learned = [token.decode("utf-8", "backslashreplace") for token in tokenizer.spec.model.tokens[256:]]
    words = sorted({token.strip() for token in learned if token.strip().isalpha()}, key=lambda word: (-len(word), word))
    write_line("A tokenizer for the library that comes with Python\n")
    write_table(
        {
            "text": f"{len(texts):,} files, {size / 1e6:.1f} MB; {skipped} skipped that are not UTF-8",
            "training": f"{len(tokenizer):,} tokens in {training:.2f} s, {size / training / 1e6:.0f} MB/s",
            "encoding": f"{tokens:,} tokens in {encoding:.2f} s, {size / encoding / 1e6:.0f} MB/s",
            "compression": f"{size / tokens:.2f} bytes per token",
            "round trip": f"{equal:,} of {len(texts):,} files come back byte for byte",
            "first merges": " ".join(map(repr, learned[:8])),
            "long words": " ".join(words[:6]),
            "files": "\n              ".join(map(str, files)),
        }
    )
    write_line(f"\n{_coloured(tokenizer)}\n")
    _say_what_next(options.folder, str(files[-1]))
    if equal < len(texts) or tokenizer != trained:
        raise IntegrityError("a text, or the tokenizer itself, did not come back as it was", file=options.folder)
    return 0


def _texts(root: Path) -> tuple[list[bytes], int]:
    """The UTF-8 texts below a folder, and the number of files that are not UTF-8."""
    texts, skipped = [], 0
    for path in sorted(root.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file() and not _LEFT_OUT.intersection(path.relative_to(root).parts):
            text = path.read_bytes()
            try:
                text.decode()
            except UnicodeDecodeError:
                skipped += 1
            else:
                texts.append(text)
    if not texts:
        raise TrainingError(
            "this Python has no text with it", file=str(root), remedy="use `bytepair train` on text of your own"
        )
    return texts, skipped


def _coloured(tokenizer: Tokenizer) -> str:
    tokens = [token.decode("utf-8", "backslashreplace") for token in tokenizer.tokens(SAMPLE)]
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return "|".join(tokens)
    return "".join(_BACKGROUNDS[place % 2] + token for place, token in enumerate(tokens)) + _RESET


def _say_what_next(folder: str, file: str) -> None:
    model, file = shlex.quote(folder), shlex.quote("README.md" if Path("README.md").is_file() else file)
    write_line("Next:")
    for arguments in (
        f"inspect {model}",
        f"encode --text 'Hello, world' -m {model}",
        f"encode {file} -m {model} | {_command()} decode -m {model}",
        f"count {file} -m {model}",
        f"train {file} --vocab-size 500 -o {shlex.quote(folder + '-2')}",
    ):
        write_line(f"  {_command()} {arguments}")


def _command() -> str:
    """The command for this program: its name where the shell finds it, else the command that started it."""
    if shutil.which("bytepair"):
        return "bytepair"
    typed = sys.argv[0]
    return shlex.quote(typed) if Path(typed).name == "bytepair" else f"{shlex.quote(sys.executable)} -m bytepair"
