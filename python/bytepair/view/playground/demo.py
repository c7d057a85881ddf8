"""A tokenizer to play with where there is no other: trained on text that came with Python, in a tenth of a second."""

from __future__ import annotations

import sysconfig
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.training.byte_pairs import train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.tokenizer import Tokenizer

_VOCAB_SIZE = 8192
_ENOUGH = 2_000_000

SHORTEST = "the quick brown fox jumps over the lazy dog, and then over the other ones"


def demo() -> Tokenizer:
    """Trains it: on the manual of Python's language, which is prose, and on modules of its library."""
    return train(_texts(), _VOCAB_SIZE, split="cl100k", special_tokens=["<|endoftext|>"])


def _texts() -> Iterator[str]:
    size = 0
    for text in chain(_manual(), _modules(Path(sysconfig.get_paths()["stdlib"])), _modules(Path(__file__).parents[2])):
        yield text
        size += len(text)
        if size > _ENOUGH:
            return
    yield SHORTEST  # Of a Python that came without any text, as from a zip file, this is left.


def _manual() -> Iterator[str]:
    try:
        from pydoc_data.topics import topics  # noqa: PLC0415 (most of a megabyte)
    except ImportError:
        return
    yield from topics.values()


def _modules(folder: Path) -> Iterator[str]:
    return filter(None, map(_text, sorted(folder.glob("*.py"))))


def _text(place: Path) -> str:
    try:
        return place.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # The next one does as well.
