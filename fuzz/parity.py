"""Sweep over trainings by parity: merges, and the groups they are chosen for, are those of the naive loop."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.reference import train_parity
from fuzz.case import case, equal, quiet
from fuzz.stages import texts_of

if TYPE_CHECKING:
    from random import Random

NAMES = ("en", "de", "hi")


def random_texts(random: Random, letters: str) -> list[str]:
    """Some short texts of these letters."""
    return ["".join(random.choices(letters, k=random.randint(1, 12))) for _ in range(random.randint(1, 5))]


def counts_of(texts: list[str]) -> dict[bytes, int]:
    """The texts as whole pieces."""
    return dict(Counter(text.encode() for text in texts))


def sweep_parity(random: Random) -> None:
    """A training by parity has the merges, counts and groups of the naive loop."""
    names = NAMES[: random.randint(2, 3)]
    texts = {name: random_texts(random, letters) for name, letters in zip(NAMES, ("ab", "abc", "éb"), strict=True)}
    train = {name: texts[name] for name in names}
    development = {name: random_texts(random, "abé") for name in names} if random.random() < 0.5 else None
    merges, after = random.randint(0, 20), random.choice([0, 0, 3])
    window, alpha = random.choice([(0, 2.0), (4, 1.0), (6, 2.0), (3, 0.5)])
    options: dict[str, Any] = {
        "ties": random.choice(["lowest_ids", "greatest_bytes", "smallest_bytes"]),
        "min_frequency": random.randint(1, 2),
        "max_token_length": random.choice([None, 4]),
    }
    objective = bp.Parity(
        None if development is None else {name: texts_of(some) for name, some in development.items()},
        after=after,
        window=window,
        alpha=alpha,
    )
    with case(train=train, development=development, merges=merges, objective=objective, options=options), quiet():
        trained = bp.train_with_statistics(
            {name: texts_of(some) for name, some in train.items()},
            256 + merges,
            split="none",
            objective=objective,
            **options,
        )
        shown = development or train
        expected = train_parity(
            [counts_of(some) for some in train.values()],
            [counts_of(some) for some in shown.values()],
            [1 if development else sum(map(len, some)) for some in shown.values()],
            merges,
            after=after,
            window=(window, max(math.floor(alpha * window / len(names)), 1)) if window else None,
            **options,
        )
        found = [(merge.left, merge.right, merge.count) for merge in trained.merges]
        equal("the merges", found, [(merge.left, merge.right, merge.count) for merge, _ in expected])
        groups = [*names, None]
        equal("the groups", trained.chosen_for, [groups[group] for _, group in expected])
        tokens = sum(len(trained.tokenizer.encode(text)) for some in train.values() for text in some)
        equal("the tokens", trained.statistics.tokens, tokens)
