"""The time from a file to the first ids, of every kind of file, compared with the library that the file was made for.

    python -m benchmarks.loading [--data FOLDER] [--rounds N] [--only NAME] [--write]

Both libraries load the same file in turns, in one process, and each time encode a short text, so that nothing is left
for later; the ids are compared first. CPU time, which counts all threads; medians of the rounds. A ratio is the peer's
time divided by bytepair's: above 1 bytepair is faster. ``--write`` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import bytepair as bp
from benchmarks import pages
from benchmarks.families import FAMILIES
from bytepair.formats import protobuf

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
SAMPLE = "The quick brown fox: 12 naïve 日本語 words,\n\tand x = f(y)!"


class File(NamedTuple):
    """A file, and the library that it was made for.

    Attributes:
        name: Its name in the table.
        file: Its place in the data folder; the kind and the number of pieces of one that is made here.
        origin: The library.
        split: The split pattern, which a rank file does not hold.
    """

    name: str
    file: str
    origin: str
    split: str | None = None


FILES = [
    *(File(family.name, family.file, family.origin) for family in FAMILIES),
    File("Unigram .model, made", "unigram 100000", "sentencepiece"),
    File("BPE .model, made", "bpe 100000", "sentencepiece"),
    File("cl100k_base", "openai/cl100k_base.tiktoken", "tiktoken", "cl100k"),
    File("o200k_base", "openai/o200k_base.tiktoken", "tiktoken", "o200k"),
    File("o200k_base, native", "openai/o200k_base.tiktoken", "native", "o200k"),
]


def made(kind: str, size: int, ranks: Path) -> bytes:
    """A model of `sentencepiece` with as many pieces: the text among the tokens of a rank file, by rank."""
    texts = bp.Tokenizer.from_file(ranks, split="o200k", special_tokens={}).spec.model.tokens
    pieces: dict[str, int] = {"<unk>": 2, "<s>": 3, "</s>": 3}
    if kind == "bpe":
        pieces |= {f"<0x{byte:02X}>": 6 for byte in range(256)}
    for token in texts:
        try:
            text = token.decode().replace(" ", "\u2581")
        except UnicodeDecodeError:
            continue
        if text.isprintable():
            pieces.setdefault(text, 1)
        if len(pieces) == size:
            break
    rows = [
        (1, protobuf.write((1, text), (2, -5 - row / 10_000 if kind == "unigram" else float(-row)), (3, kind_of)))
        for row, (text, kind_of) in enumerate(pieces.items())
    ]
    settings = protobuf.write((3, 1 if kind == "unigram" else 2), (35, kind == "bpe"))
    return protobuf.write(*rows, (2, settings), (3, protobuf.write((3, True), (4, False), (5, True))))


def prepare(row: File, data: Path, work: Path) -> Path:
    """The file that both load."""
    vocabularies = data / "vocabs"
    if " " in row.file:
        kind, size = row.file.split()
        path = work / "tokenizer.model"
        path.write_bytes(made(kind, int(size), vocabularies / "openai" / "o200k_base.tiktoken"))
        return path
    if row.origin == "native":
        saved = bp.Tokenizer.from_file(vocabularies / row.file, split=row.split, special_tokens={})
        return saved.save(work / "o200k.bytepair")[0]
    packed = (vocabularies / row.file).read_bytes()
    path = work / {"tokenizers": "tokenizer.json", "sentencepiece": "tokenizer.model"}.get(row.origin, "ranks.tiktoken")
    path.write_bytes(lzma.decompress(packed) if row.file.endswith(".xz") else packed)
    return path


def calls(row: File, path: Path, data: Path) -> tuple[Callable[[], list[int]], Callable[[], list[int]]]:
    """The timed work of bytepair and of the peer: the file is loaded and the sample encoded."""
    if row.origin == "sentencepiece":
        import sentencepiece

        return (
            lambda: bp.Tokenizer.from_file(path).encode(SAMPLE, special="text"),
            lambda: list(sentencepiece.SentencePieceProcessor(model_file=str(path)).encode(SAMPLE)),
        )
    if row.origin == "tokenizers":
        import tokenizers

        return (
            lambda: bp.Tokenizer.from_file(path).encode(SAMPLE, special="allow"),
            lambda: list(tokenizers.Tokenizer.from_file(str(path)).encode(SAMPLE, add_special_tokens=False).ids),
        )
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    pattern = bp.SPLIT_PATTERNS[row.split or ""]
    ranks = data / "vocabs" / row.file

    def theirs() -> list[int]:
        made = tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(str(ranks)), special_tokens={})
        return made.encode(SAMPLE)

    given: dict[str, Any] = {} if row.origin == "native" else {"split": row.split, "special_tokens": {}}
    return lambda: bp.Tokenizer.from_file(path, **given).encode(SAMPLE), theirs


def measure(ours: Callable[[], list[int]], theirs: Callable[[], list[int]], rounds: int) -> tuple[float, float, float]:
    """Seconds of both, and the median of the ratios of the rounds."""
    found, expected = ours(), theirs()
    if found != expected:
        raise SystemExit(f"ids differ: {found} {expected}")
    times: list[tuple[float, float]] = []
    gc.collect()
    for _ in range(rounds):
        both = []
        for call in (ours, theirs):
            start = time.process_time()
            call()
            both.append(time.process_time() - start)
        times.append((both[0], both[1]))
    return median(t[0] for t in times), median(t[1] for t in times), median(t[1] / t[0] for t in times)


HEAD = """\
| File | Beside | MB | bytepair, ms | peer, ms | ratio |
|---|---|---|---|---|---|"""


def main() -> int:
    """Measure the selected files."""
    parser = argparse.ArgumentParser(prog="benchmarks.loading")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="files with this in their names; several between commas")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    # A warning is printed once, and then costs nothing; so it is for whoever loads a file once.
    warnings.simplefilter("ignore", bp.errors.TokenizerWarning)
    print(HEAD)
    lines = [HEAD]
    for row in FILES:
        if not any(name.lower() in row.name.lower() for name in options.only.split(",")):
            continue
        with tempfile.TemporaryDirectory() as work:
            path = prepare(row, options.data, Path(work))
            ours, theirs, ratio = measure(*calls(row, path, options.data), options.rounds)
            size = path.stat().st_size / 1e6
        beside = "tiktoken" if row.origin == "native" else row.origin
        lines.append(f"| {row.name} | {beside} | {size:.1f} | {ours * 1e3:.0f} | {theirs * 1e3:.0f} | {ratio:.2f}x |")
        print(lines[-1], flush=True)
    if options.write:
        pages.put("performance.md", "benchmarks.loading", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
