"""Helpers for the ``tokenizer.json`` modules: typed access to parsed JSON, and errors with a JSON pointer."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError, TokenizerWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = Any


class PassedOverWarning(TokenizerWarning):
    """A fault of a file that the library it was made for passes over."""


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


def shown(value: Json) -> str:
    """A value for messages: its `repr`, with the middle of a long one left out.

    Example:
        >>> shown("low"), len(shown("low" * 1000))
        ("'low'", 80)
    """
    return _short.repr(value)


def kind_of(stage: Json, pointer: str) -> str:
    """The type of a stage."""
    kind = stage.get("type") if isinstance(stage, dict) else None
    if not isinstance(kind, str):
        raise FormatError("a stage needs a type", pointer=pointer)
    return kind


def flag(stage: Mapping[str, Json], name: str, pointer: str, *, default: bool) -> bool:
    """True or false."""
    value = stage.get(name, default)
    if type(value) is not bool:
        raise FormatError(f"{name} is {shown(value)}, not true or false", pointer=f"{pointer}/{name}")
    return value


def text_or_none(table: Mapping[str, Json], name: str, pointer: str) -> str | None:
    """A string; None if there is none."""
    value = table.get(name)
    if not isinstance(value, str | None):
        raise FormatError(f"{name} is {shown(value)}", pointer=f"{pointer}/{name}")
    return value


def list_of(table: Mapping[str, Json], name: str, pointer: str) -> list[Json]:
    """A list, empty if there is none."""
    value = table.get(name, [])
    if not isinstance(value, list):
        raise FormatError(f"{name} is not a list", pointer=f"{pointer}/{name}")
    return value


def unsupported(what: str, pointer: str) -> FormatError:
    """The error for an unsupported feature."""
    what = what if len(what) < 200 else what[:200] + "..."
    return FormatError(f"not supported: {what}", pointer=pointer, remedy="load it with the library it was made for")


def pointer_to(parent: str, key: str) -> str:
    """The JSON pointer of a key."""
    return f"{parent}/{key.replace('~', '~0').replace('/', '~1')}"
