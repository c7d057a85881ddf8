"""Resolves the name of a tokenizer and loads it, for every call and every command.

A name is, in this order: a published encoding (``"gpt2"``; a file of that name is ``"./gpt2"``), a file or folder, a
model (``"gpt-4o"``), a repository of Hugging Face's hub (``"Qwen/Qwen3-8B"``). The network is used only for an encoding
that is not in the cache, and for a name of the form ``org/name`` that is not a path.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytepair import files
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats import READ_ONLY_SUFFIXES, SUFFIXES, encodings, hub
from bytepair.formats.fetching import read_encoding
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

TokenizerLike: TypeAlias = "Tokenizer | str | os.PathLike[str]"
"""A tokenizer, or a name of one: see `load`."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FILES = {*SUFFIXES, *READ_ONLY_SUFFIXES, ".json", ".txt"}
_CLOSE = 0.75


class Named(NamedTuple):
    """The meaning of a name: an encoding, a path or a repository, and which one."""

    kind: Literal["encoding", "path", "repository"]
    name: str


def resolve(name: str | os.PathLike[str]) -> Named:
    """The meaning of a name; nothing is read or fetched.

    Raises:
        ArtifactError: It has none; the message lists the kinds of names tried.

    Example:
        >>> resolve("cl100k_base"), resolve("gpt-4o"), resolve("Qwen/Qwen3-8B").kind
        (Named(kind='encoding', name='cl100k_base'), Named(kind='encoding', name='o200k_base'), 'repository')
    """
    text = os.fspath(name)
    is_name = isinstance(name, str)
    if is_name and text in encodings.ENCODINGS:
        return Named("encoding", text)
    if text and files.exists(Path(text)):
        return Named("path", text)
    if is_name and (encoding := encodings.encoding_of_model(text)):
        return Named("encoding", encoding)
    if is_name and _looks_like_repository(text):
        return Named("repository", text)
    raise _unknown(text)


def _looks_like_repository(name: str) -> bool:
    # "model/tokenizer.json" and "folder/nmae" are mistyped paths, which must not be sent to a server.
    return (
        _REPOSITORY.fullmatch(name) is not None
        and Path(name).suffix not in _FILES
        and not files.exists(Path(name).parent)
    )


def _unknown(name: str) -> ArtifactError:
    import difflib  # noqa: PLC0415 (for the message)

    known = [*encodings.ENCODINGS, *encodings.MODEL_TO_ENCODING]
    close = difflib.get_close_matches(name, known, 1, _CLOSE)
    hint = f"did you mean {close[0]!r}? Else " if close else ""
    return ArtifactError(
        f"{name!a} is not a file or folder, a published encoding, the name of a model, or a repository of the hub",
        remedy=f"{hint}check the path, or use an encoding ({', '.join(encodings.ENCODINGS)}), a model such as gpt-4o, "
        "or a repository such as Qwen/Qwen3-8B",
    )


def load(
    tokenizer: TokenizerLike,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    exact_scores: bool = False,
    encodings: str | os.PathLike[str] | None = None,
    local_files_only: bool = False,
    max_bytes: int | None = None,
) -> Tokenizer:
    """Loads a tokenizer by name or path.

    Args:
        tokenizer: A published encoding (``"o200k_base"``), a file or folder as for `Tokenizer.from_file`, a model
            (``"gpt-4o"``), or a repository of the hub (``"Qwen/Qwen3-8B"``), in this order; ``"./gpt2"`` is always a
            path. A `Tokenizer` is returned as it is.
        split: As for `Tokenizer.from_file`, for files that hold none.
        special_tokens: As for `Tokenizer.from_file`, for files that hold none.
        partial_alphabet: As for `Tokenizer.from_file`.
        exact_scores: As for `Tokenizer.from_file`.
        encodings: The folder of the rank files of encodings, as for `get_encoding`.
        local_files_only: Whether to do without the network for a repository; ``HF_HUB_OFFLINE`` does the same.
        max_bytes: As for `Tokenizer.from_file`.

    Raises:
        ArtifactError: The name is none of these, or its files cannot be read or fetched.
        FormatError: The files are broken, hold an unsupported feature, or already hold the value of an option.
        IntegrityError: A file differs from the one published or saved.

    Example:
        >>> import bytepair as bp, tempfile
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = tok.save(folder)
        ...     bp.load(folder) == tok
        True
    """
    found = find(
        tokenizer,
        split=split,
        special_tokens=special_tokens,
        partial_alphabet=partial_alphabet,
        exact_scores=exact_scores,
        encodings=encodings,
        local_files_only=local_files_only,
    )
    if isinstance(found, Tokenizer):
        return found
    options: dict[str, Any] = {
        "split": split,
        "special_tokens": special_tokens,
        "partial_alphabet": partial_alphabet,
        "exact_scores": exact_scores,
        "max_bytes": max_bytes,
    }
    if isinstance(found, hub.Origin):
        return Tokenizer._from_origin(found, **options)
    return Tokenizer.from_file(found, **options)


def find(
    tokenizer: TokenizerLike,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    exact_scores: bool = False,
    encodings: str | os.PathLike[str] | None = None,
    local_files_only: bool = False,
) -> Tokenizer | Path | hub.Origin:
    """As `load`, but for a tokenizer in files only its path or its origin on the hub, without loading it."""
    options: dict[str, Any] = {
        "split": split,
        "special_tokens": special_tokens,
        "partial_alphabet": partial_alphabet or None,
        "exact_scores": exact_scores or None,
    }
    if isinstance(tokenizer, Tokenizer):
        _refuse("a loaded tokenizer", **options, encodings=encodings)
        return tokenizer
    kind, name = resolve(tokenizer)
    if kind == "encoding":
        _refuse(f"the encoding {name}", **options)
        return get_encoding(name, folder=encodings)
    _refuse(f"{name!a}, which is not an encoding,", encodings=encodings)
    if kind == "path":
        return Path(name)
    try:
        return hub.snapshot(name, local_files_only=local_files_only)
    except ArtifactError as error:
        raise ArtifactError(
            f"{name!a} is not a file or folder; {error.what}", remedy=error.remedy, cli_remedy=error.cli_remedy
        ) from error


def _refuse(what: str, **options: object) -> None:
    """Raises FormatError for an option that would be ignored."""
    for name, value in options.items():
        if value is not None:
            option = "--special-token" if name == "special_tokens" else f"--{name.replace('_', '-')}"
            raise FormatError(
                f"{what} takes no {name.replace('_', ' ')}",
                remedy=f"leave {name} out",
                cli_remedy=f"leave {option} out",
            )


def get_encoding(name: str, *, folder: str | os.PathLike[str] | None = None) -> Tokenizer:
    """Loads a published encoding: ``gpt2 r50k_base p50k_base p50k_edit cl100k_base o200k_base o200k_harmony``.

    Its rank file is taken from `folder` if given, else from the user's cache, else from tiktoken's, else fetched over
    HTTPS into the cache. Its SHA-256 is always checked.

    Args:
        name: The encoding.
        folder: A folder that holds the rank file under its published name; then nothing is fetched. The environment
            variable ``BYTEPAIR_ENCODINGS`` names one for all calls. ``BYTEPAIR_CACHE`` names the cache, and
            ``TIKTOKEN_CACHE_DIR`` or ``DATA_GYM_CACHE_DIR`` that of tiktoken, into which files are fetched if it alone
            is named.

    Raises:
        FormatError: There is no encoding of this name.
        ArtifactError: The file does not exist, cannot be fetched or cannot be written to the cache.
        IntegrityError: The file is not the published one.
    """
    return Tokenizer(read_encoding(name, folder=folder))


def encoding_for_model(model: str, *, folder: str | os.PathLike[str] | None = None) -> Tokenizer:
    """Loads the published encoding that a model of OpenAI uses.

    Args:
        model: The model, such as ``"gpt-4o"`` or ``"gpt-4o-2024-05-13"``.
        folder: As for `get_encoding`.

    Raises:
        FormatError: The encoding of the model is not known.
        ArtifactError, IntegrityError: As `get_encoding`.
    """
    name = encodings.encoding_of_model(model)
    if name is None:
        raise FormatError(
            f"no encoding is known for the model {model!r}",
            remedy=f"name the encoding: {', '.join(encodings.ENCODINGS)}",
        )
    return get_encoding(name, folder=folder)
