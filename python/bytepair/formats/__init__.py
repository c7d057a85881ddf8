"""Files <-> `TokenizerSpec`, one module a format. Which format a file has is told by its content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files, manifest
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import native, tiktoken
from bytepair.loaded import AddedRow, Loaded
from bytepair.patterns import split_pattern

# What loading a rank file or a native file does not need is imported where it is used: nobody waits for JSON or
# dataclasses who has neither.

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from bytepair.spec import TokenizerSpec

FILES: dict[str, tuple[str, ...]] = {
    "native": ("tokenizer.bytepair",),
    "tokenizer.json": ("tokenizer.json",),
    "tiktoken": ("tokenizer.tiktoken",),
    "vocab+merges": ("vocab.json", "merges.txt"),
}
"""The formats, and the names of the files that each is saved as."""

_SUFFIXES = {".bytepair": "native", ".tiktoken": "tiktoken"}
_FEATURES = ("split", "special_tokens", "added_tokens", "normalizers", "prefix_space", "post_processor")


class Detected(NamedTuple):
    """The file of a tokenizer, its format, and its content: bytes, or what the JSON parsed to."""

    path: Path
    format: str
    content: Any


def detect(path: Path) -> Detected:
    """Finds the file of a tokenizer, which may be in the folder `path`, and tells its format by its content.

    Raises:
        ArtifactError: There is no such file, or it cannot be read.
        FormatError: It is no tokenizer, or the folder holds none or several.
        IntegrityError: A manifest beside it promises another hash.
    """
    path = _file_in(path) if files.is_folder(path) else path
    data = files.read(path)
    manifest.verify(path, data)
    vocab = path.with_name("vocab.json")
    if data.startswith(b"#version") and vocab.is_file():
        return detect(vocab)
    if native.looks_like(data):
        return Detected(path, "native", data)
    if data.lstrip()[:1] == b"{":
        from bytepair.formats import hf_json

        table = _parse_json(path, data)
        return Detected(path, "tokenizer.json" if hf_json.looks_like(table) else "vocab+merges", table)
    if tiktoken.looks_like(data):
        return Detected(path, "tiktoken", data)
    raise FormatError(
        "the file is no tokenizer that bytepair knows",
        file=str(path),
        remedy=f"bytepair reads {', '.join(FILES)}; is the file whole?",
    )


def _file_in(folder: Path) -> Path:
    saved = manifest.load(folder)
    if saved and saved["files"]:
        return folder / str(next(iter(saved["files"])))
    # Folders from a hub hold one tokenizer in several formats: the one that holds most of it comes first.
    for names in FILES.values():
        if (folder / names[0]).is_file():
            return folder / names[0]
    found = [path for suffix in _SUFFIXES for path in sorted(folder.glob(f"*{suffix}"))]
    if len(found) == 1:
        return found[0]
    what = "several tokenizers" if found else "no tokenizer"
    raise FormatError(f"the folder holds {what}", file=str(folder), remedy="name the file itself")


def _parse_json(path: Path, data: bytes) -> dict[str, Any]:
    import json

    try:
        table = json.loads(data, object_pairs_hook=_unique)
    except FormatError as error:
        error.file = str(path)
        raise
    except (ValueError, RecursionError) as error:
        remedy = "is it whole? fetch it again"
        raise FormatError(f"the file is not JSON: {error}", file=str(path), remedy=remedy) from error
    if not isinstance(table, dict):
        raise FormatError("the file is not a JSON object", file=str(path))
    # Only an escape can put half a surrogate pair into a string, and few files have such escapes.
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
        from collections import Counter

        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise FormatError(f"the key {twice!r} stands twice in one object", remedy="keep one of them")
    return table


def load(
    path: Path,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
) -> Loaded:
    """Reads a tokenizer from a file or a folder.

    Raises:
        ArtifactError, IntegrityError: As `detect`.
        FormatError: As `detect`; or it is broken, or holds something that is not supported.
    """
    detected = detect(path)
    try:
        loaded = _read(detected, split, special_tokens)
    except BytepairError as error:
        error.file = error.file or str(detected.path)
        raise
    return loaded._replace(partial_alphabet=True) if partial_alphabet else loaded


def _read(detected: Detected, split: str | None, special_tokens: Mapping[str, int] | None) -> Loaded:
    if detected.format in ("native", "tokenizer.json"):
        given = [name for name, value in (("split", split), ("special_tokens", special_tokens)) if value is not None]
        if given:
            raise FormatError(f"the file holds its own {given[0]}", remedy=f"leave {given[0]} out")
        if detected.format == "native":
            return native.load(detected.content)
        from bytepair.formats import hf_json

        return hf_json.load(detected.content)
    if detected.format == "vocab+merges":
        from bytepair.formats import vocab_merges

        place = detected.path.with_name("merges.txt")
        merges = files.read(place)
        manifest.verify(place, merges)
        loaded = vocab_merges.load(detected.content, merges, special_tokens or {})
        return _complete(loaded, split or "gpt2", special_tokens)
    if split is None:
        remedy = 'name it: Tokenizer.from_file(path, split="cl100k", special_tokens={...})'
        raise FormatError("a rank file holds no split pattern", remedy=remedy)
    return load_ranks(detected.content, split, special_tokens)


def load_ranks(data: bytes, split: str, special_tokens: Mapping[str, int] | None) -> Loaded:
    """Reads a rank file, which holds neither split pattern nor special tokens; FormatError names its broken line."""
    return _complete(tiktoken.load(data), split, special_tokens)


def _complete(loaded: Loaded, split: str, special_tokens: Mapping[str, int] | None) -> Loaded:
    """What a bare file does not hold, as the caller says it."""
    pattern = split_pattern(split)
    added = [AddedRow(content, id) for content, id in (special_tokens or {}).items()]
    by_id = tuple(sorted(added, key=lambda row: row.id))
    return loaded._replace(split=(pattern,) if pattern else (), added=by_id)


def save(
    spec: TokenizerSpec, path: Path, format_name: str | None, drop: Collection[str], about: manifest.About
) -> list[Path]:
    """Writes a tokenizer and its manifest, which says `about` as well; returns the files.

    Raises:
        FormatError: The format is unknown, or cannot hold a feature that is not in `drop`.
        ArtifactError: The folder cannot be written.
    """
    folder, names, format_name, dropped = plan(spec, path, format_name, drop)
    held, contents = _write(spec, format_name)
    written = dict(zip(names, contents, strict=True))
    said = manifest.build(held, format_name, written, dropped, folder=folder, about=about)
    contents_and_manifest = {**written, manifest.NAME: said}
    # Without a manifest a folder loads whatever is whole in it, so that being killed in between loses nothing.
    files.write_all(folder, contents_and_manifest, retired=manifest.NAME)
    return [folder / name for name in (*names, manifest.NAME)]


def _write(spec: TokenizerSpec, format_name: str) -> tuple[TokenizerSpec, tuple[bytes, ...]]:
    """The tokenizer with the semantics that the format holds, and its files."""
    from dataclasses import replace

    from bytepair.formats import hf_json, vocab_merges
    from bytepair.semantics import to_merges, to_ranks

    if format_name == "native":
        return spec, (native.write(spec),)
    if format_name == "tiktoken":
        held = replace(spec, model=to_ranks(spec.byte_pair))
        return held, (tiktoken.write(held),)
    if format_name == "tokenizer.json" and not spec.is_byte_level:
        return spec, (hf_json.write(spec),)
    held = replace(spec, model=to_merges(spec.byte_pair))
    return held, (hf_json.write(held),) if format_name == "tokenizer.json" else vocab_merges.write(held)


def plan(
    spec: TokenizerSpec, path: Path, format_name: str | None, drop: Collection[str]
) -> tuple[Path, tuple[str, ...], str, list[str]]:
    """Where `save` would write what: the folder, the files, the format, and the features that would be dropped.

    Only the stages of `spec` are looked at, so that it can be asked before a model is trained. Errors as `save`.
    """
    if path.name == manifest.NAME:
        raise FormatError(f"{manifest.NAME} is the name of the manifest", remedy="name a folder, or another file")
    folder, names, format_name = _place(path, format_name)
    dropped = _dropped(spec, format_name, drop)
    manifest.check_replaceable(folder)
    return folder, names, format_name, dropped


def _place(path: Path, format_name: str | None) -> tuple[Path, tuple[str, ...], str]:
    """The folder, the names of the files in it, and the format; a path that names a file says all three."""
    named = next((name for name, known in FILES.items() if path.name in known), _SUFFIXES.get(path.suffix))
    if named is None and path.suffix == ".json":
        named = "tokenizer.json"
    format_name = format_name or named or "tokenizer.json"
    if format_name not in FILES:
        raise FormatError(f"the format {format_name!r} is unknown", remedy=f"use one of {', '.join(FILES)}")
    if named is None:
        return path, FILES[format_name], format_name
    if named != format_name:
        raise FormatError(f"{path.name} is the name of a {named} file, not {format_name}", remedy="name a folder")
    return path.parent, FILES[named] if len(FILES[named]) > 1 else (path.name,), format_name


def _dropped(spec: TokenizerSpec, format_name: str, drop: Collection[str]) -> list[str]:
    """The features that the format cannot hold, all of which must be in `drop`."""
    if isinstance(drop, str):
        raise TypeError(f"drop is a list of features: ({drop!r},)")
    for name in drop:
        if name not in _FEATURES:
            raise FormatError(f"{name!r} is no feature that can be dropped", remedy=f"use {', '.join(_FEATURES)}")
    if format_name in ("native", "tokenizer.json"):
        return []
    # Of vocab.json and merges.txt GPT-2's pattern is understood.
    understood = (split_pattern("gpt2"),) if format_name == "vocab+merges" else ()
    present = (
        spec.split != understood,
        bool(spec.special_tokens),
        any(not token.special for token in spec.added_tokens),
        bool(spec.normalizers),
        spec.prefix_space,
        spec.post_processor is not None,
    )
    lost = [name for name, there in zip(_FEATURES, present, strict=True) if there]
    refused = tuple(name for name in lost if name not in drop)
    if refused:
        raise FormatError(
            f"{format_name} cannot hold {', '.join(refused)}",
            remedy=f"save as tokenizer.json or native, or say drop={refused!r}",
        )
    return lost
