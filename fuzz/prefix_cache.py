"""Sweep over the cache of prefixes: texts that grow, branch and repeat, with tokenizers of every kind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import bytepair as bp
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_SHORTEST = 4_000
"""Characters of the first text: shorter ones fill no block."""


def sweep_prefix_cache(random: random.Random) -> None:
    """A cache has the ids of encoding, or its error, for texts with common beginnings, in little memory."""
    tok, letters, said = drawn.tokenizer(random)
    special = random.choice(["allow", "text", "raise"])
    cache = bp.PrefixCache(tok, bytes=random.choice([1 << 16, 1 << 20]), special=special)
    part = drawn.text(random, letters, tok) or "a"
    texts = [part * (_SHORTEST // len(part) + random.randint(1, 2000 // len(part) + 1))]
    with case(tokenizer=said, special=special, part=part):
        for _ in range(random.randint(2, 6)):
            before = random.choice(texts)
            cut = random.choice([len(before), random.randint(0, len(before))])
            texts.append(before[:cut] + drawn.text(random, letters, tok) * random.choice([1, 1, 50]))
            text = _given(random, texts[-1])
            expected = _result(partial(tok.encode, text, special=special))
            equal("ids", _result(partial(_list, cache, text)), expected)
            if isinstance(expected, list):
                equal("count", cache.count(text), len(expected))


def _given(random: random.Random, text: str) -> str | bytes:
    """A text as `str` or `bytes`, seldom with something in it that is not Unicode."""
    at = random.randint(0, len(text))
    if random.random() < 0.5:
        return text[:at] + "\ud800" + text[at:] if random.random() < 0.1 else text
    given = text.encode()
    return given[:at] + b"\xff" + given[at:] if random.random() < 0.1 else given


def _list(cache: bp.PrefixCache, text: str | bytes) -> list[int]:
    ids: list[int] = cache.encode(text).tolist()
    return ids


def _result(call: Callable[[], object]) -> object:
    try:
        return call()
    except bp.BytepairError as error:
        return str(error), error.byte, error.character
