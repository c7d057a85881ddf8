"""Encodings by name: the published ones, and those that packages register under ``tiktoken_ext``."""

from __future__ import annotations

import importlib
import os
import pkgutil
import threading
from collections.abc import Callable
from typing import Any

from bytepair import files
from bytepair.compat.tiktoken import core, load, splitting
from bytepair.compat.tiktoken.core import Encoding
from bytepair.formats import encodings
from bytepair.tokenizer import Tokenizer

ENCODINGS: dict[str, Encoding] = {}
"""The encodings made so far, one object for each name."""

# The reserved name of an id that also has a proper name. The core has one token for each id.
_SECOND_NAMES = {"o200k_harmony": {"<|reserved_200018|>": 200018}}

# tiktoken's own plug-in, which makes the published encodings.
_OWN_PLUGIN = "tiktoken_ext.openai_public"

_lock = threading.RLock()
_constructors: dict[str, Callable[[], dict[str, Any]]] | None = None


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by name, the same object each time.

    Published encodings are found as by `bytepair.get_encoding`, or in tiktoken's cache (``TIKTOKEN_CACHE_DIR``). The
    SHA-256 is always checked.

    Args:
        encoding_name: A published encoding, or one that a package under ``tiktoken_ext`` registers.

    Raises:
        ValueError: There is no encoding of this name, or the argument is not a string.
        ArtifactError: The rank file is missing and cannot be fetched.
        IntegrityError: The rank file is not the published one.

    Example:
        >>> get_encoding("o300k_base")
        Traceback (most recent call last):
        ValueError: there is no encoding 'o300k_base'; use one of gpt2, r50k_base, p50k_base, ...
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding is a str, not {type(encoding_name).__name__}")  # noqa: TRY004
    if encoding_name not in ENCODINGS:
        with _lock:
            # Another thread may have made it in the meantime.
            if encoding_name not in ENCODINGS:
                encoding = _make(encoding_name)
                encoding._is_registered = True
                ENCODINGS[encoding_name] = encoding
    return ENCODINGS[encoding_name]


core.by_name = get_encoding


def list_encoding_names() -> list[str]:
    """List the names that `get_encoding` takes, including those of packages.

    Example:
        >>> list_encoding_names()[:4]
        ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit']
    """
    return [*encodings.ENCODINGS, *_plugins()]


def _make(name: str) -> Encoding:
    if name in encodings.ENCODINGS:
        return _published(name)
    constructor = _plugins().get(name)
    if constructor is None:
        raise ValueError(
            f"there is no encoding {name!r}; use one of {', '.join(list_encoding_names())}, or a package that "
            "registers it under tiktoken_ext"
        )
    return Encoding(**constructor())


def _published(name: str) -> Encoding:
    encoding = encodings.ENCODINGS[name]
    kept = load.cached(f"{encodings.PUBLISHED_AT}/{encoding.file}")
    if os.environ.get("BYTEPAIR_ENCODINGS") or kept is None or not _is(kept, encoding.sha256):
        tokenizer = Tokenizer(encodings.read(name))
    else:
        tokenizer = Tokenizer.from_file(kept, split=encoding.split, special_tokens=encoding.special_tokens)
    special = {**encoding.special_tokens, **_SECOND_NAMES.get(name, {})}
    return Encoding._published(name, tokenizer, splitting.PUBLISHED[encoding.split], special)


def _is(path: Any, sha256: str) -> bool:
    """Whether a file exists with this SHA-256. Errors are ignored: the cache belongs to another library."""
    try:
        return load.check_hash(files.read(path), sha256)
    except OSError:
        return False


def _plugins() -> dict[str, Callable[[], dict[str, Any]]]:
    """The ``ENCODING_CONSTRUCTORS`` of all modules of the namespace ``tiktoken_ext``; collected once."""
    global _constructors  # noqa: PLW0603 (found once a process)
    with _lock:
        if _constructors is None:
            _constructors = _find_plugins()
        return _constructors


def _find_plugins() -> dict[str, Callable[[], dict[str, Any]]]:
    try:
        namespace = importlib.import_module("tiktoken_ext")
    except ImportError:
        return {}
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for _, module_name, _ in pkgutil.iter_modules(namespace.__path__, "tiktoken_ext."):
        if module_name == _OWN_PLUGIN:
            continue
        try:
            constructors = importlib.import_module(module_name).ENCODING_CONSTRUCTORS
        except AttributeError as error:
            raise ValueError(f"the tiktoken plugin {module_name} has no ENCODING_CONSTRUCTORS") from error
        for name, constructor in constructors.items():
            if name in found or name in encodings.ENCODINGS:
                raise ValueError(f"the tiktoken plugin {module_name} registers {name!r}, which is registered already")
            found[name] = constructor
    return found
