"""Files <-> `TokenizerSpec`, one module a format. Which format a file has is told by its content."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files, manifest
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import hf_json, native, tiktoken, vocab_merges
from bytepair.spec import AddedToken, TokenizerSpec, split_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FILES: dict[str, tuple[str, ...]] = {
    "native": ("tokenizer.bytepair",),
    "tokenizer.json": ("tokenizer.json",),
    "tiktoken": ("tokenizer.tiktoken",),
    "vocab+merges": ("vocab.json", "merges.txt"),
}
"""The formats, and the names of the files that each is saved as."""

_SUFFIXES = {".bytepair": "native", ".tiktoken": "tiktoken"}


def load(
    path: Path,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
) -> TokenizerSpec:
    """Reads a tokenizer from a file or a folder.

    Raises:
        ArtifactError: There is no such file, or it cannot be read.
        FormatError: It is broken, of an unknown kind, or holds something that is not supported.
        IntegrityError: A manifest beside it promises another hash.
    """
    path = _file_of(path) if path.is_dir() else path
    try:
        spec = _read(path, split, special_tokens)
    except BytepairError as error:
        error.file = error.file or str(path)
        raise
    return replace(spec, model=replace(spec.model, partial_alphabet=True)) if partial_alphabet else spec


def _file_of(folder: Path) -> Path:
    saved = manifest.load(folder)
    if saved:
        return folder / next(iter(saved["files"]), "")
    names = [name for known in FILES.values() for name in known[:1]]
    found = [folder / name for name in names if (folder / name).is_file()] or sorted(folder.glob("*.tiktoken"))
    if len(found) == 1:
        return found[0]
    what = "several tokenizers" if found else "no tokenizer"
    raise FormatError(f"the folder holds {what}", file=str(folder), remedy="name the file itself")


def _read(path: Path, split: str | None, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    data = files.read(path)
    manifest.verify(path, data)
    if native.looks_like(data):
        _refuse_options("the native format", split, special_tokens)
        return native.read(data)
    if data.lstrip()[:1] == b"{":
        table = _parse_json(data)
        if hf_json.looks_like(table):
            _refuse_options("tokenizer.json", split, special_tokens)
            return hf_json.read(table)
        if table and all(type(id) is int for id in table.values()):
            merges = path.with_name("merges.txt")
            contents = files.read(merges)
            manifest.verify(merges, contents)
            spec = vocab_merges.read(data, contents, special_tokens or {})
            return _complete(spec, split or "gpt2", special_tokens)
        raise FormatError("the JSON is neither a tokenizer.json nor a vocab.json", remedy="check what the file is")
    if data.startswith(b"#version") and path.with_name("vocab.json").is_file():
        return _read(path.with_name("vocab.json"), split, special_tokens)
    if tiktoken.looks_like(data):
        if split is None:
            raise FormatError(
                "a rank file holds no split pattern",
                remedy='name it: Tokenizer.from_file(path, split="cl100k", special_tokens={...})',
            )
        return _complete(tiktoken.read(data), split, special_tokens)
    raise FormatError(
        "the file is no tokenizer that bytepair knows",
        remedy=f"bytepair reads {', '.join(FILES)}; is the file whole?",
    )


def _parse_json(data: bytes) -> dict[str, Any]:
    try:
        table = json.loads(data, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the file is not JSON: {error}", remedy="is it whole? fetch it again") from error
    if not isinstance(table, dict):
        raise FormatError("the file is not a JSON object")
    return table


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FormatError(f"the key {twice!r} stands twice in one object", remedy="keep one of them")
    return table


def _refuse_options(holder: str, split: str | None, special_tokens: Mapping[str, int] | None) -> None:
    if split is not None or special_tokens is not None:
        name = "split" if split is not None else "special_tokens"
        raise FormatError(f"{holder} holds its own {name}", remedy=f"leave {name} out")


def _complete(spec: TokenizerSpec, split: str, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    """What a bare file does not hold, as the caller says it."""
    pattern = split_pattern(split)
    added = [AddedToken(content, id) for content, id in (special_tokens or {}).items()]
    return replace(
        spec,
        split=(pattern,) if pattern else (),
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
    )


def save(spec: TokenizerSpec, path: Path, format_name: str | None, drop: Collection[str]) -> list[Path]:
    """Writes a tokenizer and its manifest; returns the files.

    Raises:
        FormatError: The format is unknown, or cannot hold a feature that is not in `drop`.
        ArtifactError: The folder cannot be written.
    """
    folder, names, format_name = _place(path, format_name)
    manifest.check_replaceable(folder)
    held, dropped = _held(spec, format_name, drop)
    if format_name == "native":
        contents = [native.write(held)]
    elif format_name == "tokenizer.json":
        contents = [hf_json.write(held)]
    elif format_name == "tiktoken":
        contents = [tiktoken.write(held)]
    else:
        contents = list(vocab_merges.write(held))
    written = dict(zip(names, contents, strict=True))
    files.write_all(folder, {**written, manifest.NAME: manifest.build(spec, format_name, written, dropped)})
    return [folder / name for name in (*names, manifest.NAME)]


def _place(path: Path, format_name: str | None) -> tuple[Path, tuple[str, ...], str]:
    """The folder, the names of the files in it, and the format; a path that names a file says two of them."""
    named = next((name for name, known in FILES.items() if path.name in known), _SUFFIXES.get(path.suffix))
    format_name = format_name or named or "tokenizer.json"
    if format_name not in FILES:
        raise FormatError(f"the format {format_name!r} is unknown", remedy=f"use one of {', '.join(FILES)}")
    if named is None:
        if path.suffix == ".json":
            return path.parent, (path.name,), "tokenizer.json"
        return path, FILES[format_name], format_name
    if named != format_name:
        raise FormatError(f"{path.name} is the name of a {named} file, not {format_name}", remedy="name a folder")
    names = FILES[named] if len(FILES[named]) > 1 else (path.name,)
    return path.parent, names, format_name


def _held(spec: TokenizerSpec, format_name: str, drop: Collection[str]) -> tuple[TokenizerSpec, list[str]]:
    """What the format can hold of a tokenizer, and the features that had to go."""
    module = {"tiktoken": tiktoken, "vocab+merges": vocab_merges}.get(format_name)
    if module is None:
        return spec, []
    understood = getattr(module, "UNDERSTOOD_SPLIT", ())
    present = {
        "split": spec.split != understood,
        "special_tokens": bool(spec.special_tokens),
        "added_tokens": any(not token.special for token in spec.added_tokens),
        "normalizers": bool(spec.normalizers),
        "prefix_space": spec.prefix_space,
        "post_processor": spec.post_processor is not None,
    }
    lost = [name for name, there in present.items() if there]
    refused = [name for name in lost if name not in drop]
    if refused:
        raise FormatError(
            f"{format_name} cannot hold {', '.join(refused)}",
            remedy=f"save as tokenizer.json or native, or say drop={tuple(refused)!r}",
        )
    return spec, lost
