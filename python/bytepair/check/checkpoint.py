"""The number of rows in the embedding of a checkpoint, without loading it.

A safetensors file begins with the length of its head (8 bytes, little-endian) and the head: a JSON object with the
shape of each tensor.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import ArtifactError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST_HEAD = 100_000_000
_WEIGHTS = re.compile(
    r"(^|[._])(embed_tokens|tok_embeddings|word_embeddings?|token_embeddings?|wte|embed_in|embed_out|embeddings?|shared"
    r"|lm_head)\.weight$|^(embed_tokens|lm_head|output)\.weight$"
)
_OF_OTHER_THINGS = re.compile(r"position|token_type|patch|vision|visual|image|audio|norm|relative|time_embed")


def rows(folder: Path) -> dict[str, int]:
    """The rows that a checkpoint has for ids: in its ``config.json``, and in each matrix of ``*.safetensors``.

    Raises:
        ArtifactError: There is no such folder, or a file of it cannot be read.
        FormatError: It does not specify its rows, or is broken.
    """
    if not files.is_folder(folder):
        raise ArtifactError(f"{str(folder)!a} is not a folder", remedy="name the folder of a checkpoint")
    found = {**_configured(folder / "config.json"), **dict(_matrices(folder))}
    if not found:
        what = "the folder has neither a config.json with vocab_size nor an embedding in *.safetensors"
        raise FormatError(what, file=str(folder), remedy="name the folder of a checkpoint")
    return found


def _configured(place: Path) -> dict[str, int]:
    if not files.exists(place):
        return {}
    table = _object(files.read(place), place)
    inner = table.get("text_config")
    found = table.get("vocab_size", inner.get("vocab_size") if isinstance(inner, dict) else None)
    return {"vocab_size of config.json": found} if isinstance(found, int) else {}


def _matrices(folder: Path) -> Iterator[tuple[str, int]]:
    for place in sorted(folder.glob("*.safetensors")):
        for name, entry in _head(place).items():
            if not _WEIGHTS.search(name) or _OF_OTHER_THINGS.search(name):
                continue
            shape = entry.get("shape") if isinstance(entry, dict) else None
            if not isinstance(shape, list) or not all(isinstance(size, int) for size in shape):
                raise FormatError(f"the tensor {name!a} has no shape", file=str(place), remedy="fetch it again")
            if len(shape) == 2:
                yield name, shape[0]


def _head(place: Path) -> dict[str, Any]:
    """The head of a safetensors file; nothing else is read."""
    try:
        with files.open_regular(place) as file:
            length = int.from_bytes(file.read(8), "little")
            if length > _LARGEST_HEAD:
                raise FormatError(
                    f"its head would have {length:,} bytes", file=str(place), remedy="it is not a safetensors file"
                )
            head = file.read(length)
    except ArtifactError:
        raise
    except OSError as error:
        raise ArtifactError(f"cannot read the file: {error.strerror or error}", file=str(place)) from error
    if len(head) < length or not head:
        raise FormatError("the file is cut short in its head", file=str(place), remedy="fetch it again")
    return _object(head, place)


def _object(data: bytes, place: Path) -> dict[str, Any]:
    try:
        table = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is not JSON: {error}", file=str(place), remedy="fetch it again") from error
    if not isinstance(table, dict):
        raise FormatError("it is not a JSON object", file=str(place), remedy="fetch it again")
    return table
