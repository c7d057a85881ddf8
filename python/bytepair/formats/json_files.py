"""Parsing JSON files strictly: duplicate keys and lone surrogates are errors."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path


def parse_json(path: Path, data: bytes) -> dict[str, Any]:
    """The object of a JSON file.

    Raises:
        FormatError: It is not a JSON object, a key occurs twice in one object, or a string is not Unicode.
    """
    try:
        # From bytes `json.loads` also accepts UTF-16 and lone surrogates.
        table = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique)
    except FormatError as error:
        error.file = str(path)
        raise
    except (ValueError, RecursionError) as error:
        where: dict[str, Any] = {"byte": error.start} if isinstance(error, UnicodeDecodeError) else {}
        if isinstance(error, json.JSONDecodeError):
            where = {"line": error.lineno, "character": error.pos}
        remedy = "is it whole? fetch it again"
        raise FormatError(f"the file is not JSON: {error}", file=str(path), remedy=remedy, **where) from error
    if not isinstance(table, dict):
        raise FormatError("the file is not a JSON object", file=str(path))
    # Only an escape can put a lone surrogate into a string, and few files have such escapes.
    if re.search(rb"\\u[dD][89A-Fa-f]", data) and (half := _lone_surrogate(json.dumps(table, ensure_ascii=False))):
        raise FormatError(f"a string holds the lone surrogate {half}", file=str(path), remedy="fetch it again")
    return table


def _lone_surrogate(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return ascii(text[error.start])
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise FormatError(f"the key {twice!r} occurs twice in one object", remedy="keep one of them")
    return table
