"""Counting with every two stages and every model: ``python -m fuzz.combinations [--seed S] [--only MODEL,MODEL]``.

Each combination is made once, with added tokens whose flags go round, and gets one case of each sweep over counting.
That is some fifty thousand tokenizers: half an hour.
"""

from __future__ import annotations

import argparse
import itertools
import random
import secrets
import sys
from typing import TYPE_CHECKING

from benchmarks.choose import add_choice, chosen

from fuzz.case import Compared, FailureError
from fuzz.chunks import chunking
from fuzz.counted import Counted
from fuzz.growing import appending, fitting, prepending
from fuzz.made import ADDED, MODELS, PAIRS, Made, made
from fuzz.texts import counting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SWEEPS: tuple[Callable[[random.Random, Counted], None], ...] = (counting, appending, prepending, fitting, chunking)


def run(models: Iterable[str], pairs: Iterable[int], seed: str) -> tuple[int, int]:
    """Run one case of each sweep for these models and pairs; return how many tokenizers were made, and were refused.

    Raises:
        FailureError: A case failed; the message says of which combination.
    """
    done = refused = 0
    flags = itertools.cycle(ADDED)
    for model, pair in itertools.product(models, pairs):
        chance = random.Random(f"{seed}/{model}/{pair}")
        found = made(chance, PAIRS[pair], model, next(flags))
        if found is None:
            refused += 1
            continue
        done += 1
        try:
            count(chance, found)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the core is no Exception
            raise FailureError(f"{model}, pair {pair}, seed {seed}: {error}") from error
    return done, refused


def count(chance: random.Random, found: Made) -> None:
    """One case of each sweep."""
    contents = tuple(token.content for token in found.tok.spec.added_tokens)
    for sweep in SWEEPS:
        sweep(chance, Counted(*found, contents))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.combinations", description="Counting with every two stages.")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the same seed gives the same cases")
    parser.add_argument("--step", type=int, default=1, help="take each of so many pairs of stages only")
    add_choice(parser, "--only", list(MODELS), "only these models")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    for model in chosen(parser, "--only", options.only, list(MODELS)):
        try:
            done, refused = run([model], range(0, len(PAIRS), options.step), options.seed)
        except FailureError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{model}: {done:,} tokenizers, {refused:,} refused; {Compared.values:,} values so far", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
