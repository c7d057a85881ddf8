"""Per-tokenizer cache: values computed on first use and kept with the tokenizer.

They are not part of the tokenizer: neither compared nor pickled, and each process computes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.model.compiled import CompiledTokenizer

_T = TypeVar("_T")
_Tokenizer = TypeVar("_Tokenizer", bound="CompiledTokenizer")


def cached(tokenizer: _Tokenizer, name: str, make: Callable[[_Tokenizer], _T]) -> _T:
    """Returns ``make(tokenizer)``, computed once per tokenizer and name.

    Threads that call at the same time may each compute it; the results are equal.

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
