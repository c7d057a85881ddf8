"""A tokenizer to play with where there is no other: trained on text that came with Python, in a tenth of a second."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.training import train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.tokenizer import Tokenizer

_VOCAB_SIZE = 8192
_ENOUGH = 2_000_000


def demo() -> Tokenizer:
    """Trains it: on the manual of Python's language, which is prose, and then on modules of its library."""
    return train(list(_texts()), _VOCAB_SIZE, split="cl100k", special_tokens=["<|endoftext|>"])


def _texts() -> Iterator[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    own = Path(__file__).parents[2]
    places = [library / "pydoc_data" / "topics.py", *sorted(library.glob("*.py")), *sorted(own.glob("*.py"))]
    size = 0
    for place in places:
        try:
            text = place.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            # A Python without sources, or with one that is no text: the next one does as well.
            continue
        yield text
        size += len(text)
        if size > _ENOUGH:
            return
    yield __doc__  # Of a Python that came without any text, as from a zip file, this is left.
