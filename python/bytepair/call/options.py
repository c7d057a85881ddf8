"""The types of the arguments that every call which reads text takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair._core import Control

TextInput: TypeAlias = "str | bytes | Sequence[str | bytes | Control]"
"""A text: ``str``, UTF-8 ``bytes``, or a list of these and of `Control` that is one text."""

Ids: TypeAlias = "Sequence[int] | NDArray[np.integer]"
"""Ids: a list, or an array."""

Special: TypeAlias = "Literal['raise', 'text', 'allow'] | Collection[str]"
"""How special tokens in a text are treated: an error, text, or tokens; or the set of those that are tokens."""

Added: TypeAlias = Literal["match", "text", "raise"]
"""How added tokens that are not special are treated: tokens, text, or an error."""

Errors: TypeAlias = Literal["strict", "replace"]
"""How lone surrogates and bytes that are not UTF-8 are treated: an error, or U+FFFD."""

Side: TypeAlias = Literal["left", "right"]
"""An end of a text or of a row."""
