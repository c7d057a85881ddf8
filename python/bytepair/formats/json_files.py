"""Parsing JSON files strictly: lone surrogates are errors, and so are duplicate keys outside of a vocabulary."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from bytepair._core import read_decimal, read_json_model
from bytepair.errors import FormatError
from bytepair.formats import foreign
from bytepair.formats.hf_common import PassedOverWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def parse_json(path: Path, data: bytes, *, decimal: Callable[[str], float] = float) -> dict[str, Any]:
    """The object of a JSON file, whose decimal numbers `decimal` reads.

    Raises:
        FormatError: It is not a JSON object, a string is not Unicode, or a key occurs twice in one object that is not a
            vocabulary. In a vocabulary the last one counts, as to the libraries of origin, with a warning.
    """
    try:
        # From bytes `json.loads` also accepts UTF-16 and lone surrogates.
        table = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_float=decimal)
    except FormatError as error:
        error.file = str(path)
        raise
    except (ValueError, RecursionError) as error:
        foreign.check(path, data)
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


def parse_tokenizer_json(path: Path, data: bytes, *, in_core: bool = False) -> dict[str, Any]:
    """The object of a file that may be a ``tokenizer.json``.

    Args:
        path: The file.
        data: Its content.
        in_core: Whether the members ``vocab`` and ``merges`` of the model are `JsonVocab` and `JsonMerges`, with no
            Python object for each token, if there is nothing unusual about them.

    Raises:
        FormatError: As `parse_json`.
    """
    if in_core and (model := read_json_model(data)):
        vocab, merges, rest = model
        try:
            table = parse_json(path, rest, decimal=read_decimal)
        except FormatError:
            # The whole file has the same fault, and its place.
            pass
        else:
            table["model"] |= {"vocab": vocab} | ({} if merges is None else {"merges": merges})
            return table
    # A score that `tokenizers` reads one off in the last place is that number to its model.
    return parse_json(path, data, decimal=read_decimal)


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
        if any(type(value) is not int for value in table.values()):
            raise FormatError(f"the key {twice!r} occurs twice in one object", remedy="keep one of them")
        warnings.warn(
            f"the vocabulary has the token {twice!r} twice: its id is {table[twice]}, the last one",
            PassedOverWarning,
            stacklevel=2,
        )
    return table
