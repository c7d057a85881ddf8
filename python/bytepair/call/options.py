"""Argument types shared by all calls that read text."""

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
"""The policy for special tokens in a text: an error, text, or tokens; or the set of those that become tokens."""

Added: TypeAlias = Literal["match", "text", "raise"]
"""The policy for added tokens that are not special: tokens, text, or an error."""

Errors: TypeAlias = Literal["strict", "replace"]
"""The policy for lone surrogates and invalid UTF-8: an error, or U+FFFD."""

Side: TypeAlias = Literal["left", "right"]
"""An end of a text or of a row."""
