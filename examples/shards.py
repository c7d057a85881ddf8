"""A corpus to batches of a training: files to shards, and shards to rows of ids with their targets.

    python examples/shards.py --out shards
    python examples/shards.py 'web/*.jsonl' --model my-model --eos '<|endoftext|>' --out shards --length 2048

Without files it reads source code that comes with Python, and without ``--model`` it trains a small tokenizer on the
same files, so that this runs anywhere; nothing else about it is a toy. Run again, it goes on with what is done.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EOS = "<|endoftext|>"
WITH_PYTHON = str(Path(sysconfig.get_path("stdlib"), "[a-m]*.py"))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a split, as a training takes them: `length` ids, and for each of them the one that follows.

    Epoch after epoch each row comes once, in an order that the seed says. A row is found by its number alone, so that a
    training that was interrupted goes on at any step, and each of several machines takes rows of its own.

    Attributes:
        ids: All ids of the split, mapped from the disk.
        length: The ids of a row.
        seed: Of the order.
    """

    ids: NDArray[np.unsignedinteger]
    length: int
    seed: int = 0

    def __len__(self) -> int:
        return max(len(self.ids) - 1, 0) // self.length

    def batch(self, step: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The inputs and targets of a step, each of shape ``(size, length)``.

        Raises:
            ValueError: The split has not enough tokens for one row.
        """
        if not len(self):
            raise ValueError(f"{len(self.ids):,} tokens make no row of {self.length:,}; take shorter rows or more text")
        epochs, places = np.divmod(np.arange(step * size, (step + 1) * size), len(self))
        orders = {
            epoch: np.random.default_rng((self.seed, epoch)).permutation(len(self)) for epoch in set(epochs.tolist())
        }
        starts = [
            int(orders[epoch][place]) * self.length
            for epoch, place in zip(epochs.tolist(), places.tolist(), strict=True)
        ]
        rows = np.stack([self.ids[start : start + self.length + 1] for start in starts]).astype(np.int64)
        return rows[:, :-1], rows[:, 1:]


def rows_of(folder: Path, split: str, length: int) -> Rows:
    """The rows of a split of a run that joined its shards.

    Raises:
        ValueError: No document is in the split.
    """
    file = folder / f"{split}.bin"
    if not file.stat().st_size:
        raise ValueError(f"no document went to {split}; write into a new folder with another --validation")
    return Rows(np.memmap(file, bp.ShardSummary.read(folder).options["dtype"], mode="r"), length)


def run(options: argparse.Namespace) -> None:
    """Makes the shards, and shows the first batch."""
    files = options.files or [WITH_PYTHON]
    if options.model:
        tok = bp.Tokenizer.from_file(options.model)
    else:
        tok = bp.train(files, vocab_size=2000, special_tokens=[options.eos])
    folder = Path(options.out)
    summary = bp.shard(
        files,
        tok,
        folder,
        eos=options.eos,
        special="text",  # what looks like a special token in a file is text
        bad="skip",
        shuffle=True,
        validation=options.validation,
        join=True,
        documents=False,
        resume=True,
        progress=True,
    )
    print(str(summary).partition("\n\n")[0])
    train, val = (rows_of(folder, split, options.length) for split in ("train", "val"))
    print(f"{len(train):,} rows of {options.length:,} tokens to train on, {len(val):,} to validate with")
    inputs, targets = train.batch(0, 2)
    print(f"a batch: {inputs.shape}, it begins with {tok.decode(inputs[0, :8].tolist())!r}")
    print(f"what follows each: {tok.decode(targets[0, :8].tolist())!r}")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="paths or globs (default: Python's own source)")
    parser.add_argument("--model", help="a tokenizer (default: one is trained on the files)")
    parser.add_argument("--eos", default=EOS, help=f"the token behind each document (default: {EOS})")
    parser.add_argument("--out", required=True, help="the folder of the run")
    parser.add_argument("--length", type=int, default=256, help="tokens of a row (default: 256)")
    parser.add_argument("--validation", default="0.05", help="the share of documents to validate with (default: 0.05)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the example; 0 if the shards are there, 1 if something was wrong with what was given."""
    options = parse(arguments)
    try:
        run(options)
    except (bp.BytepairError, ValueError) as error:
        print(f"shards: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
