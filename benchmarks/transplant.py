"""How well rows for another vocabulary keep their neighbours: ``python -m benchmarks.transplant [--write]``.

A small made model, whose true rows are known. A token's row says which words stand before and after the word that it is
in: positive mutual information with the 1,000 most frequent words on either side, projected to a few dimensions by its
singular vectors. That is a space for the tokens of any tokenizer, so the true row of each new token is known. The guide
is made likewise from other text, with a projection of its own. A method is as good as the rows of new tokens are near
the true ones, and as many of their ten nearest shared tokens are those of the true row.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from benchmarks import pages
from benchmarks.measure import data_folder, facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

METHODS = ("mean_of_parts", "similarity", "matching_pursuit")
WORDS, DIM, NEAREST = 1000, 64, 10
SIZE = 3_000_000


def contexts(tok: bp.Tokenizer, text: str, frequent: dict[str, int]) -> Matrix:
    """How often each frequent word stands before, and after, the word that a token is in."""
    counts = np.zeros((tok.vocab_size, 2 * WORDS))
    words = text.split()
    numbers = np.array([WORDS, *(frequent.get(word, WORDS) for word in words), WORDS])
    for place, ids in enumerate(tok.encode_batch([f" {word}" for word in words]), 1):
        for side, number in enumerate((numbers[place - 1], numbers[place + 1])):
            if number < WORDS:
                counts[ids, side * WORDS + number] += 1
    return counts


def information(counts: Matrix) -> Matrix:
    """Positive pointwise mutual information."""
    total = counts.sum()
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Matrix = np.nan_to_num(np.maximum(np.log(counts / expected), 0), nan=0, posinf=0, neginf=0)
    return found


def projection(rows: Matrix) -> Matrix:
    """The first singular vectors of some rows, as columns."""
    columns: Matrix = np.linalg.eigh(rows.T @ rows)[1][:, -DIM:]
    return columns


def normalized(rows: Matrix) -> Matrix:
    """Rows of length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Matrix = rows / np.where(lengths > 0, lengths, 1)
    return scaled


def table(text: str, other: str, vocab_size: int) -> str:
    """The table of all methods; `text` is that of the model and the tokenizer `old`, `other` that of the new one."""
    old = bp.train(iter([text]), vocab_size // 2, split="gpt2")
    new = bp.train(iter([other]), vocab_size, split="gpt2")
    frequent = {word: at for at, (word, _) in enumerate(Counter(text.split()).most_common(WORDS))}
    seen = contexts(new, text, frequent)
    matrix, truth = information(contexts(old, text, frequent)), information(seen)
    guide = information(contexts(new, other, frequent))
    space = projection(matrix)
    matrix, truth, guide = matrix @ space, truth @ space, guide @ projection(guide)
    shared = np.diff(bp.align_vocabularies(new, old).offsets) == 1
    often = seen.sum(axis=1) >= 20
    fresh, anchors = np.flatnonzero(~shared & often), np.flatnonzero(shared & often)
    near = normalized(truth[anchors])
    wanted = np.argsort(-(normalized(truth[fresh]) @ near.T), axis=1)[:, :NEAREST]
    lines = ["| | cosine with the true row | nearest ten kept | CPU ms a token |", "|---|---|---|---|"]
    for method in METHODS:
        options: dict[str, Any] = {"method": method, "parts": 16}
        start = time.process_time()
        rows = normalized(bp.transplant(matrix, old, new, guide, **options)[fresh])
        spent = time.process_time() - start
        found = np.argsort(-(rows @ near.T), axis=1)[:, :NEAREST]
        kept = np.mean([len({*a} & {*b}) for a, b in zip(wanted.tolist(), found.tolist(), strict=True)]) / NEAREST
        cosine = (rows * normalized(truth[fresh])).sum(axis=1).mean()
        lines.append(f"| `{method}` | {cosine:.2f} | {kept:.0%} | {spent / (~shared).sum() * 1e3:.2f} |")
    lines += ["", f"{len(fresh):,} new tokens and {len(anchors):,} shared ones that occur 20 times or more."]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if there is nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transplant", description="Rows keep their neighbours.")
    parser.add_argument("--data", help="the folder of real texts and vocabularies")
    parser.add_argument("--vocab-size", type=int, default=6000, help="new tokens, twice the old ones (default: 6,000)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/transplant.md")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    if folder is None:
        print("there are no real texts: name their folder with --data")
        return 1
    print(", ".join(f"{name} {value}" for name, value in facts(["bytepair", "numpy"]).items()))
    with lzma.open(folder / "corpora" / "en_20mb.txt.xz") as file:
        texts = [file.read(SIZE).decode(errors="ignore") for _ in range(2)]
    found = table(texts[0], texts[1], options.vocab_size)
    print(found)
    if options.write:
        pages.put("transplant.md", "benchmarks.transplant", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
