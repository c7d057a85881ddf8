"""The pages on algorithms: the names in them exist, and their claims about every vocabulary hold."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAGES = sorted((ROOT / "docs" / "algorithms").glob("*.md"))
CORE = ROOT / "crates" / "core" / "src"

Pair: TypeAlias = tuple[bytes, bytes]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_and_tests_that_are_named_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for name in re.findall(r"`([\w/]+(?:\.rs|\.py|/))`", text):
        places = [ROOT / name, CORE / name, *CORE.rglob(name), *(ROOT / "python").rglob(name)]
        assert any(place.exists() for place in places), name
    sources = [*CORE.rglob("*.rs"), *(ROOT / "tests").rglob("*.py")]
    code = "".join(file.read_text("utf-8") for file in sources)
    for name in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`", text):
        assert re.search(rf"\b(fn|def) {name}\(", code), name
    sweeps = (ROOT / "fuzz" / "sweep.py").read_text("utf-8")
    for name in re.findall(r"--only (\w+)", text):
        assert f'"{name}": sweep_' in sweeps, name


def process(piece: bytes, ranks: Mapping[Pair, int]) -> tuple[list[bytes], list[Pair]]:
    """The encoding, and the pairs that merged, in order."""
    symbols, steps = [bytes([byte]) for byte in piece], list[Pair]()
    while found := [(ranks[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks]:
        at = min(found)[1]
        steps.append((symbols[at], symbols[at + 1]))
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    return symbols, steps


def random_rules(random: Random, letters: str) -> tuple[list[bytes], dict[Pair, int]]:
    """Tokens, and the pairs that merge: ranks or a list, in an order that training produces or in any other."""
    tokens = [letter.encode() for letter in letters]
    for _ in range(random.randint(2, 8)):
        token = b"".join(random.choices(tokens, k=2))
        if len(token) <= 6 and token not in tokens:
            at = len(tokens) if random.random() < 0.5 else random.randint(len(letters), len(tokens))
            tokens.insert(at, token)
    cuts = [(token[:at], token[at:]) for token in tokens for at in range(1, len(token))]
    pairs = [pair for pair in cuts if set(pair) <= set(tokens)]
    if random.random() < 0.5:
        return tokens, {pair: tokens.index(b"".join(pair)) for pair in pairs}
    return tokens, {pair: rank for rank, pair in enumerate(random.sample(pairs, len(pairs)))}


def test_neighbours_that_fit_are_an_encoding_and_tokens_have_one_tree_under_any_rules() -> None:
    random = Random(9)
    out_of_turn = sequences = 0
    for _ in range(400):
        letters = random.choice(["ab", "abc"])
        tokens, ranks = random_rules(random, letters)
        made = [token for token in tokens if process(token, ranks)[0] == [token]]
        fits = {(s, t): process(s + t, ranks)[0] == [s, t] for s in made for t in made}
        tree: dict[bytes, Pair] = {}
        for _ in range(30):
            encoding, steps = process("".join(random.choices(letters, k=random.randint(1, 12))).encode(), ranks)
            assert all(fits[pair] for pair in pairwise(encoding)), (ranks, encoding)
            assert all(tree.setdefault(b"".join(pair), pair) == pair for pair in steps), (ranks, steps)
            out_of_turn += any(ranks[one] > ranks[other] for one, other in pairwise(steps))
            tokens_that_fit = [random.choice(made)]
            while len(tokens_that_fit) < 6:
                last = tokens_that_fit[-1]
                following = [token for token in made if fits[last, token]]
                if not following:
                    break
                tokens_that_fit.append(random.choice(following))
            sequences += len(tokens_that_fit) > 2
            assert process(b"".join(tokens_that_fit), ranks)[0] == tokens_that_fit, (ranks, tokens_that_fit)
    assert min(out_of_turn, sequences) > 300, (out_of_turn, sequences)
