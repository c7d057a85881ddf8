"""A per-tokenizer cache of derived values.

Its values are not part of the tokenizer: they are neither compared nor pickled, and each process computes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer

_T = TypeVar("_T")


def cached(tokenizer: Tokenizer, name: str, make: Callable[[Tokenizer], _T]) -> _T:
    """Return a value derived from a tokenizer, computed once. Concurrent threads may each compute an equal one.

    Args:
        tokenizer: The tokenizer.
        name: The name of the value; the same name is always used with the same `make`.
        make: The function that computes it.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> cached(tok, "longest", lambda tok: max(tok.spec.model.tokens, key=len)), cached(tok, "longest", len)
        (b'low', b'low')
    """
    place = f"_cached_{name}"
    if place not in tokenizer.__dict__:
        tokenizer.__dict__[place] = make(tokenizer)
    return cast("_T", tokenizer.__dict__[place])
