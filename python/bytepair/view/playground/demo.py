"""A demo tokenizer, trained in a tenth of a second on text that comes with Python."""

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
    """Train it on the language reference of Python, which is prose, and on modules of its library."""
    return train(_texts(), _VOCAB_SIZE, split="cl100k", special_tokens=["<|endoftext|>"])


def _texts() -> Iterator[str]:
    size = 0
    for text in chain(_manual(), _modules(Path(sysconfig.get_paths()["stdlib"])), _modules(Path(__file__).parents[2])):
        yield text
        size += len(text)
        if size > _ENOUGH:
            return
    yield SHORTEST  # The rest for a Python without any text, as in a zip file.


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
        return ""  # Another module serves as well.
