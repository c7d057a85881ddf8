"""Finding the file of a tokenizer and its format, which is detected from the content."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair._core import require_memory
from bytepair.errors import FormatError
from bytepair.formats import (
    FILES,
    READ_ONLY_NAMES,
    READ_ONLY_SUFFIXES,
    SUFFIXES,
    foreign,
    manifest,
    merges_beside,
    native,
    tiktoken,
    vocabulary_beside,
)

# Formats are imported where they are needed: a rank file needs no JSON, bytes in a tokenizer.json no dataclasses.

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


_GZIP = b"\x1f\x8b"
_GGUF = b"GGUF"
_MAPPED = (_GGUF,) if os.name == "nt" else (_GGUF, native.WITH_TABLES)
"""Windows refuses to replace a file while it is mapped."""


_BYTES_TO_LOAD, _BYTES_OF_A_BYTE = 24 << 20, 6
"""The most memory that a tokenizer takes while it is made of a file: of modules, and for each byte of the file."""


_MODULES = {
    "tokenizer.json": "hf_json",
    "tekken.json": "tekken",
    "sentencepiece": "sentencepiece",
    "rwkv": "rwkv",
    "codes": "codes",
    "vocab.txt": "vocab_txt",
    "clip": "clip",
    "fileless": "fileless",
    "ctc": "ctc",
}


class Detected(NamedTuple):
    """The file of a tokenizer, its format, and its content: bytes, a mapped file, or parsed JSON."""

    path: Path
    format: str
    content: Any


def detect(path: Path, *, in_core: bool = False, exact_scores: bool = False) -> Detected:
    """Finds the file of a tokenizer, at `path` or in the folder `path`, and detects its format from its content.

    Args:
        path: The file or folder.
        in_core: As in `parse_tokenizer_json`: for whoever reads the content with `hf_json.read` alone.
        exact_scores: As in `parse_tokenizer_json`.

    Raises:
        ArtifactError: There is no such file, or it cannot be read; it is no regular file, or too large.
        FormatError: It is not a tokenizer, or the folder holds none or several.
        IntegrityError: A manifest beside it records another hash.
        MemoryError: Its tokenizer would not fit.
    """
    path = _file_in(path) if files.is_folder(path) else path
    if (found := _mapped(path)) is not None:
        return found
    data = files.read(path)
    require_memory(_BYTES_TO_LOAD + _BYTES_OF_A_BYTE * len(data))
    manifest.verify(path, data)
    if data.startswith(_GZIP):
        from bytepair.formats import clip  # noqa: PLC0415 (few files need it)

        data = clip.unpacked(data) or data
    foreign.check(path, data)
    vocab = vocabulary_beside(path)
    if data.startswith(b"#version") and vocab.is_file():
        return detect(vocab, in_core=in_core, exact_scores=exact_scores)
    if native.looks_like(data):
        return Detected(path, "native", data)
    if data.lstrip()[:1] == b"{":
        return _detect_json(path, data, in_core=in_core, exact_scores=exact_scores)
    if tiktoken.looks_like(data):
        return Detected(path, "tiktoken", data)
    # A line of RWKV has the form of one of fastBPE.
    for name in ("sentencepiece", "rwkv", "codes", "vocab.txt", "clip"):
        if module_of(name).looks_like(data):
            return Detected(path, name, data)
    raise _unknown(path)


def module_of(name: str) -> ModuleType:
    """The module that reads files of a format, and knows one by its content; most loads need a single one."""
    return import_module(f"bytepair.formats.{_MODULES[name]}")


def _mapped(path: Path) -> Detected | None:
    """A file that is not read whole: one of GGUF may hold weights too, a native one tables that are used in place."""
    mapped = files.mapped(path, *_MAPPED)
    if mapped is None or mapped[: len(_GGUF)] == _GGUF:
        return None if mapped is None else Detected(path, "gguf", mapped)
    files.check_size(path, len(mapped))
    manifest.verify_fingerprint(path, native.promised(mapped))
    return Detected(path, "native", mapped)


def _detect_json(path: Path, data: bytes, *, in_core: bool, exact_scores: bool) -> Detected:
    from bytepair.formats.json_files import parse_tokenizer_json  # noqa: PLC0415

    table = parse_tokenizer_json(path, data, in_core=in_core, exact_scores=exact_scores)
    for name in ("tokenizer.json", "tekken.json", "fileless"):
        if module_of(name).looks_like(table):
            return Detected(path, name, table)
    if not merges_beside(path).is_file() and module_of("ctc").is_in(path.parent):
        return Detected(path, "ctc", table)
    # JSON with more than tokens and ids is a vocabulary only if a list of merges is beside it.
    if merges_beside(path).is_file() or all(type(id) is int for id in table.values()):
        return Detected(path, "vocab+merges", table)
    raise _unknown(path)


def _unknown(path: Path) -> FormatError:
    return FormatError(
        "the file is not a tokenizer in a format that bytepair knows",
        file=str(path),
        remedy=f"bytepair reads {', '.join(FILES)}, GGUF, RWKV's and CLIP's files; is the file whole?",
    )


def _file_in(folder: Path) -> Path:
    saved = manifest.load(folder)
    if saved and saved["files"]:
        return folder / str(next(iter(saved["files"])))
    # Folders from a hub hold one tokenizer in several formats: the most complete comes first.
    present = [folder / names[0] for names in FILES.values() if (folder / names[0]).is_file()]
    # A vocabulary without merges belongs to a model of sentencepiece, or is not whole.
    alone = [path for path in present if path.name == "vocab.json" and not merges_beside(path).is_file()]
    # PhoBERT has its tokens in vocab.txt, and its merges in bpe.codes.
    codes = folder / FILES["codes"][0]
    if codes in present:
        alone += [path for path in present if path.name == FILES["vocab.txt"][0]]
    if present != alone:
        return next(path for path in present if path not in alone)
    suffixes = (*SUFFIXES, *READ_ONLY_SUFFIXES)
    endings = (*(f"*{suffix}" for suffix in suffixes), *READ_ONLY_NAMES)
    found = [path for ending in endings for path in sorted(folder.glob(ending)) if path.is_file()] or alone
    if len(found) == 1:
        return found[0]
    if found:
        raise FormatError("the folder holds several tokenizers", file=str(folder), remedy="name the file itself")
    from bytepair.formats import classes, configs, fileless  # noqa: PLC0415 (few folders need them)

    # ByT5 has no other files than those that name it.
    if place := fileless.place_in(folder):
        return place
    if (name := configs.class_of(folder)) == "FSMT":
        raise classes.refused_alone(name)
    what = f"the folder holds no tokenizer{configs.unknown_class(folder)}"
    raise FormatError(what, file=str(folder), remedy="is it the right folder, and whole? else name the file itself")
