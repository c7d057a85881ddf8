"""Sweep over native files whose compiled tables somebody forged: the checksum is right, the tables are not."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from unittest import mock

import numpy as np

import bytepair as bp
from bytepair.formats import native
from fuzz.case import LETTERS, case, equal, text_of, trained

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_HEAD = 64
"""Bytes before the tables: the layout, the length and the checksum as words."""
_FACTOR = 0x9E37_79B9_7F4A_7C15
_WORD = (1 << 64) - 1
_Result = TypeVar("_Result")


def sweep_forged(random: random.Random) -> None:
    """Forged tables are refused, or calls end with an error or with tokens that spell the text."""
    letters = random.choice(LETTERS)
    tok = trained(random, letters, split=random.choice(["none", "gpt2"]))
    with mock.patch.object(native, "_TOKENS_WITH_TABLES", 0):
        data = native.write_compiled(tok)
    forged, changes = _forged(random, data)
    texts = [text_of(random, letters) for _ in range(3)] + [letters * random.choice([1, 30, 400])]
    with case(tokenizer=tok.spec, changes=changes, texts=texts):
        try:
            read = bp.Tokenizer(native.read(forged))
        except bp.FormatError:
            return
        for text in texts:
            ids = _ended(partial(read.encode, text))
            if ids is not None:
                equal("the bytes of the ids", read.decode_bytes(ids), text.encode())
            for call in _calls(read, tok, text):
                _ended(call)


def _calls(read: bp.Tokenizer, tok: bp.Tokenizer, text: str) -> tuple[Callable[[], object], ...]:
    """Each way into the tables."""

    def appended() -> None:
        appender = read.appender()
        for start in range(0, len(text), 50):
            appender.append(text[start : start + 50])
            appender.count()

    def prepended() -> None:
        prepender = read.prepender()
        for end in range(len(text), 0, -50):
            prepender.prepend(text[max(end - 50, 0) : end])
            prepender.count()

    return (
        lambda: read.count(text),
        lambda: read.chunks(text, 17),
        lambda: read.fit(text, 23),
        lambda: read.count_until(text, 50),
        lambda: read.index(text).count(len(text) // 3, len(text) // 2),
        appended,
        prepended,
        lambda: read.heal(read.encode(text[:40])),
        lambda: read.cover(text[:20]),
        lambda: read.next_mask(read.encode(text[:30])),
        lambda: read.sample(text[:200], 2, 0.5),
        lambda: bp.PrefixCache(read).encode(text),
        lambda: bp.align(text, read, tok),
    )


def _ended(call: Callable[[], _Result]) -> _Result | None:
    """The result of a call; None if it ends with an error of bytepair's."""
    try:
        return call()
    except bp.BytepairError:
        return None


def _forged(random: random.Random, data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The file with some words of its tables changed and the checksum made right; the changes."""
    hashed = data[len(native.WITH_TABLES) :][:32]
    payload = len(native.WITH_TABLES) + 40
    end = payload + int.from_bytes(data[payload - 8 : payload], "little")
    start = end + -end % 64
    layout = int.from_bytes(data[start : start + 8], "little")
    owner = _checksum(hashed, layout)
    found = int.from_bytes(data[start + 16 : start + 24], "little")
    equal("the checksum of the tables", _checksum(data[start + _HEAD :], owner), found)
    tables = bytearray(data)
    words = (np.flatnonzero(np.frombuffer(data[start + _HEAD :], "<u4")) * 4 + start + _HEAD).tolist()
    changes = []
    for _ in range(random.randint(1, 3)):
        at = random.choice(words) if random.random() < 0.8 else random.randrange(start + _HEAD, len(data), 4)
        (word,) = struct.unpack_from("<I", tables, at)
        (other,) = struct.unpack_from("<I", tables, random.choice(words))
        flipped = word ^ 1 << random.randrange(32)
        new = random.choice([0, 2**32 - 1, random.randrange(1000), flipped, word + 1 & 2**32 - 1, other])
        struct.pack_into("<I", tables, at, new)
        changes.append((at - start, new))
    struct.pack_into("<Q", tables, start + 16, _checksum(bytes(tables[start + _HEAD :]), owner))
    return bytes(tables), changes


def _checksum(data: bytes, seed: int) -> int:
    """The checksum of `crates/core/src/stored.rs`."""
    blocks = np.frombuffer(data + bytes(64 - len(data) % 64), "<u8").reshape(-1, 8)
    sums = np.full(8, seed, np.uint64)
    factor, left, right = np.uint64(_FACTOR), np.uint64(29), np.uint64(35)
    with np.errstate(over="ignore"):
        for block in blocks:
            sums = (sums ^ block) * factor
            sums = sums << left | sums >> right
    total = len(data)
    for one in sums.tolist():
        total = (total ^ one) * _FACTOR & _WORD
        total = (total << 29 | total >> 35) & _WORD
    return total
