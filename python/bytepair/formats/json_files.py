"""Parsing JSON files: lone surrogates are errors, and a key that occurs twice is read as its library reads it.

`ids_of` checks a table of tokens and ids.
"""

from __future__ import annotations

import json
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from bytepair._core import read_decimal, read_json_model
from bytepair.errors import FormatError
from bytepair.formats import foreign
from bytepair.formats.hf_common import PassedOverWarning, pointer_to, shown
from bytepair.model.checks import MOST_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Where `tokenizers` refuses a key that occurs twice. Everywhere else the last value counts, as for `json.load`.
_ONCE = re.compile(
    r"/(?:(?:added_tokens/\d+|truncation|padding|post_processor)/(?!(?:type|special_tokens/[^/]*)\Z)|model/type\Z)"
)


class _Repeated(dict[str, Any]):
    """An object with a key that occurs twice: the first such key."""

    key: str


def parse_json(path: Path, data: bytes, *, decimal: Callable[[str], float] = float) -> dict[str, Any]:
    """The object of a JSON file, whose decimal numbers `decimal` reads.

    Raises:
        FormatError: It is not a JSON object, a string is not Unicode, or a key occurs twice where `tokenizers` refuses
            that (added tokens, post-processors). Elsewhere its last value counts, with a warning.
    """
    table, repeated = _parse(path, data, decimal)
    if repeated:
        _check_repeated(path, table)
    return table


def _parse(path: Path, data: bytes, decimal: Callable[[str], float]) -> tuple[dict[str, Any], list[_Repeated]]:
    """The object of a file, and the objects in it that have a key twice."""
    repeated: list[_Repeated] = []
    try:
        # From bytes `json.loads` also accepts UTF-16 and lone surrogates.
        text = data.decode("utf-8-sig")
        table = json.loads(text, object_pairs_hook=partial(_table, repeated), parse_float=decimal)
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
    return table, repeated


def parse_tokenizer_json(
    path: Path, data: bytes, *, in_core: bool = False, exact_scores: bool = False
) -> dict[str, Any]:
    """The object of a file that may be a ``tokenizer.json``.

    Args:
        path: The file.
        data: Its content.
        in_core: Whether the members ``vocab`` and ``merges`` of the model are `FileVocab` and `JsonMerges`, with no
            Python object for each token, if there is nothing unusual about them.
        exact_scores: Whether decimals are read exactly, and not as `tokenizers` reads them.

    Raises:
        FormatError: As `parse_json`.
    """
    # A score that `tokenizers` reads one off in the last place is that number to its model.
    decimal = float if exact_scores else read_decimal
    if in_core and (model := read_json_model(data, exact_scores)):
        vocab, merges, rest = model
        try:
            table, repeated = _parse(path, rest, decimal)
        except FormatError:
            # The whole file has the same fault, and its place.
            repeated = []
        else:
            # Of two models the core has read the first.
            if not repeated:
                table["model"] |= {"vocab": vocab} | ({} if merges is None else {"merges": merges})
                return table
    return parse_json(path, data, decimal=decimal)


def ids_of(table: dict[str, Any], path: Path, parent: str = "") -> dict[str, int]:
    """A parsed table of tokens and ids, which is checked.

    Args:
        table: The table.
        path: Its file.
        parent: Its JSON pointer there.

    Raises:
        FormatError: An id is no number, is out of range or another token's as well, or a token is empty; ``pointer``
            names the token.

    Example:
        >>> from pathlib import Path
        >>> ids_of({"a": 0, "b": 0}, Path("vocab.json"))
        Traceback (most recent call last):
        ...
        bytepair.errors.FormatError: 'a' and 'b' have the same id, 0 (file vocab.json, pointer /b); fetch the file again
    """
    ids = table.values()
    is_sound = set(map(type, ids)) == {int} and 0 <= min(ids) <= max(ids) < MOST_IDS and "" not in table
    if is_sound and len(set(ids)) == len(ids):
        return table
    # One of them is at fault: which?
    tokens: dict[int, str] = {}
    for token, id in table.items():
        if type(id) is not int or not 0 <= id < MOST_IDS or not token:
            what = f"the id of {token[:80]!r} is {str(id)[:80]}"
            raise FormatError(what, file=str(path), pointer=pointer_to(parent, token), remedy="fetch the file again")
        if tokens.setdefault(id, token) != token:
            what = f"{tokens[id]!r} and {token!r} have the same id, {id}"
            raise FormatError(what, file=str(path), pointer=pointer_to(parent, token), remedy="fetch the file again")
    return table


def _lone_surrogate(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return ascii(text[error.start])
    return None


def _table(repeated: list[_Repeated], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) == len(pairs):
        return table
    found = _Repeated(table)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            found.key = key
            break
        seen.add(key)
    repeated.append(found)
    return found


def _check_repeated(path: Path, table: dict[str, Any]) -> None:
    """Warns of objects with a key that occurs twice; raises FormatError if `tokenizers` refuses one of them."""
    found = list(_find_repeated(table))
    for pointer, _, _ in found:
        if _ONCE.match(pointer):
            raise FormatError(
                "the key occurs twice in one object, which `tokenizers` refuses as well",
                file=str(path),
                pointer=pointer,
                remedy="keep one of them",
            )
    pointer, key, table = found[0]
    if all(type(value) is int for value in table.values()):
        what = f"the vocabulary has the token {shown(key)} twice: its id is {table[key]}, the last one"
    else:
        what = f"the key {pointer} occurs twice: its last value counts, as in the library that the file was made for"
    more = f" (and so in {len(found) - 1} more objects)" if len(found) > 1 else ""
    warnings.warn(what + more, PassedOverWarning, stacklevel=3)


def _find_repeated(table: dict[str, Any]) -> Iterator[tuple[str, str, _Repeated]]:
    """The pointer and the key of what occurs twice, and its object."""
    stack: list[tuple[str, Any]] = [("", table)]
    while stack:
        pointer, value = stack.pop()
        if isinstance(value, _Repeated):
            yield pointer_to(pointer, value.key), value.key, value
        rows = value.items() if isinstance(value, dict) else enumerate(value)
        stack += ((pointer_to(pointer, str(key)), inner) for key, inner in rows if isinstance(inner, dict | list))
