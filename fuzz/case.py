"""Shared by all sweeps: failures of a case, and sources of random texts and tokenizers."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.training.learning import TIES

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

# Few letters make many ties and collisions; a character of several bytes, and white space, make pieces.
LETTERS = ("ab", "ab", "abc", "aé", "ab ", "a \n", "日a")


class FailureError(AssertionError):
    """A case that failed, with everything needed to repeat it by hand."""


@contextmanager
def case(**inputs: Any) -> Iterator[None]:
    """Add the inputs of the block to any error that leaves it, including panics of the core."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, FailureError):
        raise
    except BaseException as error:
        shown = "".join(f"\n  {name} = {value!r}" for name, value in inputs.items())
        raise FailureError(f"{type(error).__name__}: {error}\nwith{shown}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings of trainings that run out of pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        yield


class Compared:
    """How many values were compared so far, in this process."""

    values = 0


def equal(what: str, got: object, expected: object) -> None:
    """Raise AssertionError with both values if they differ."""
    Compared.values += 1
    if got != expected:
        raise AssertionError(f"{what} is {got!r}, not {expected!r}")


def text_of(random: random.Random, letters: str) -> str:
    """A text: mostly short, sometimes long enough for the algorithms for long pieces."""
    longest = 300 if random.random() < 0.1 else 30
    return "".join(random.choices(letters, k=random.randint(0, longest)))


def counts_of(random: random.Random, letters: str) -> dict[str, int]:
    """A few pieces with small counts, so that many pairs tie."""
    pieces = ("".join(random.choices(letters, k=random.randint(1, 12))) for _ in range(random.randint(1, 8)))
    return {piece: random.randint(1, 4) for piece in pieces}


def trained(random: random.Random, letters: str, **options: Any) -> bp.Tokenizer:
    """A tokenizer of up to 30 merges."""
    chosen = {
        "split": "none",
        "ties": random.choice(TIES),
        "min_frequency": random.choice([1, 2]),
        "max_token_length": random.choice([None, None, 2, 4]),
        "byte_order": random.choice(["raw", "gpt2"]),
        "special_ids": random.choice(["first", "last"]),
        **options,
    }
    counts = counts_of(random, letters)
    with case(counts=counts, options=chosen), quiet():
        return bp.train(counts, 256 + random.randint(0, 30) + len(chosen.get("special_tokens", ())), **chosen)
