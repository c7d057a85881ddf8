"""What is worked out about a tokenizer when it is first asked for, and kept with it.

It is no part of the tokenizer: it is neither compared nor pickled, and each process makes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer

_T = TypeVar("_T")


def cached(tokenizer: Tokenizer, name: str, make: Callable[[Tokenizer], _T]) -> _T:
    """What `make` makes of a tokenizer, made once. Threads that ask at once may each make it; they get equal ones.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> cached(tok, "longest", lambda tok: max(tok.spec.model.tokens, key=len)), cached(tok, "longest", len)
        (b'low', b'low')
    """
    place = f"_kept_{name}"
    if place not in tokenizer.__dict__:
        tokenizer.__dict__[place] = make(tokenizer)
    return cast("_T", tokenizer.__dict__[place])
