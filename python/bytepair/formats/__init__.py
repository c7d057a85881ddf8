"""Files <-> `TokenizerSpec`, one module a format. Which format a file has is told by its content.

Long because it knows each format's files, features and refusals, side by side.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.errors import BytepairError, FormatError
from bytepair.formats import manifest, native, tiktoken
from bytepair.model.loaded import AddedRow, Loaded
from bytepair.model.split_patterns import split_pattern

# What loading a rank file or a native file does not need is imported where it is used: nobody waits for JSON or
# dataclasses who has neither.

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from bytepair.model.spec import TokenizerSpec

FILES: dict[str, tuple[str, ...]] = {
    "native": ("tokenizer.bytepair",),
    "tokenizer.json": ("tokenizer.json",),
    "tekken.json": ("tekken.json",),
    "tiktoken": ("tokenizer.tiktoken",),
    "vocab+merges": ("vocab.json", "merges.txt"),
    "sentencepiece": ("tokenizer.model",),
    "vocab.txt": ("vocab.txt", "tokenizer_config.json"),
    "codes": ("bpe.codes", "bpe.vocab"),
}
"""The formats that are written, and the names of the files that each is saved as. GGUF is only read."""

_SUFFIXES = {".bytepair": "native", ".tiktoken": "tiktoken", ".model": "sentencepiece", ".codes": "codes"}
_READ_ONLY = (".gguf",)
_FEATURES = (
    *("split", "special_tokens", "added_tokens", "normalizers", "prefix_space", "post_processor"),
    *("pre_tokenizers", "decoders"),
)
_HOLD_THEIR_STAGES = ("native", "tokenizer.json")
# These hold only certain forms of each stage; which, is seen when what was written is read.
_READ_AGAIN = ("tekken.json", "sentencepiece", "vocab.txt", "codes")
_OF_BYTES = ("tiktoken", "vocab+merges", "tekken.json")


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
    if (mapped := files.mapped(path, b"GGUF")) is not None:
        # A model may be there as well, of any size.
        return Detected(path, "gguf", mapped)
    data = files.read(path)
    manifest.verify(path, data)
    vocab = path.with_name("vocab.json")
    if data.startswith(b"#version") and vocab.is_file():
        return detect(vocab)
    if native.looks_like(data):
        return Detected(path, "native", data)
    if data.lstrip()[:1] == b"{":
        return _detect_json(path, data)
    if tiktoken.looks_like(data):
        return Detected(path, "tiktoken", data)
    from bytepair.formats import codes, sentencepiece, vocab_txt

    known = {"sentencepiece": sentencepiece, "codes": codes, "vocab.txt": vocab_txt}
    for name, module in known.items():
        if module.looks_like(data):
            return Detected(path, name, data)
    raise _unknown(path)


def _detect_json(path: Path, data: bytes) -> Detected:
    from bytepair.formats import hf_json, tekken

    table = parse_json(path, data)
    for name, module in {"tokenizer.json": hf_json, "tekken.json": tekken}.items():
        if module.looks_like(table):
            return Detected(path, name, table)
    # What holds more than tokens and ids is no vocabulary, unless a list of merges stands beside it.
    if path.with_name("merges.txt").is_file() or all(type(id) is int for id in table.values()):
        return Detected(path, "vocab+merges", table)
    raise _unknown(path)


def _unknown(path: Path) -> FormatError:
    return FormatError(
        "the file is not a tokenizer that bytepair reads",
        file=str(path),
        remedy=f"bytepair reads {', '.join(FILES)} and GGUF; is the file whole?",
    )


def _file_in(folder: Path) -> Path:
    saved = manifest.load(folder)
    if saved and saved["files"]:
        return folder / str(next(iter(saved["files"])))
    # Folders from a hub hold one tokenizer in several formats: the one that holds most of it comes first.
    for names in FILES.values():
        if (folder / names[0]).is_file():
            return folder / names[0]
    suffixes = (*_SUFFIXES, *_READ_ONLY)
    found = [path for suffix in suffixes for path in sorted(folder.glob(f"*{suffix}")) if path.is_file()]
    if len(found) == 1:
        return found[0]
    what = "several tokenizers" if found else "no tokenizer"
    raise FormatError(f"the folder holds {what}", file=str(folder), remedy="name the file itself")


def parse_json(path: Path, data: bytes) -> dict[str, Any]:
    """The object of a JSON file; FormatError if it is none, a key stands twice, or a string is not Unicode."""
    import json

    try:
        # From bytes `json.loads` takes also UTF-16, and halves of surrogate pairs.
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
        raise FormatError(f"the key {twice!r} occurs twice in one object", remedy="keep one of them")
    return table


def load(
    path: Path,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    detected: Detected | None = None,
) -> Loaded:
    """Reads a tokenizer from a file or a folder, where files beside it count as well if it was not saved by bytepair.

    Args:
        path: The file or folder.
        split: For files that hold none.
        special_tokens: For files that hold none.
        partial_alphabet: Whether bytes that UTF-8 uses may have no token.
        detected: What `detect` says of it, if that was asked already: the file is then not read and parsed again.

    Raises:
        ArtifactError, IntegrityError: As `detect`.
        FormatError: As `detect`; or it is broken, or holds something that is not supported.
    """
    detected = detected or detect(path)
    try:
        loaded = _read(detected, split, special_tokens)
        if files.is_folder(path) and detected.format != "native" and not _saved_here(detected.path):
            from bytepair.formats import configs

            loaded = configs.apply(loaded, path, detected.format)
    except BytepairError as error:
        error.file = error.file or str(detected.path)
        raise
    # Models of characters have no alphabet of bytes that could be partial.
    return loaded._replace(partial_alphabet=True) if partial_alphabet and loaded.model is None else loaded


def _saved_here(path: Path) -> bool:
    saved = manifest.load(path.parent)
    return saved is not None and path.name in saved["files"]


def _read(detected: Detected, split: str | None, special_tokens: Mapping[str, int] | None) -> Loaded:
    if detected.format not in ("tiktoken", "vocab+merges"):
        given = [name for name, value in (("split", split), ("special_tokens", special_tokens)) if value is not None]
        given = [name for name in given if (detected.format, name) != ("gguf", "split")]
        if given:
            option = {"split": "--split", "special_tokens": "--special-token"}[given[0]]
            raise FormatError(
                f"the file holds its own {given[0].replace('_', ' ')}",
                remedy=f"leave {given[0]} out",
                cli_remedy=f"leave {option} out",
            )
        if detected.format == "native":
            return native.load(detected.content)
        return _read_whole(detected, split)
    if detected.format == "vocab+merges":
        from bytepair.formats import vocab_merges

        place = detected.path.with_name("merges.txt")
        merges = files.read(place)
        manifest.verify(place, merges)
        loaded = vocab_merges.load(detected.content, merges, special_tokens or {})
        return _complete(loaded, split or "gpt2", special_tokens)
    if split is None:
        raise FormatError(
            "a rank file holds no split pattern",
            remedy='name it: Tokenizer.from_file(path, split="cl100k", special_tokens={...})',
            cli_remedy="name it: --split cl100k --special-token TEXT=ID",
        )
    return load_ranks(detected.content, split, special_tokens)


def _read_whole(detected: Detected, split: str | None) -> Loaded:
    """A file that holds all stages of its tokenizer."""
    from bytepair.formats import codes, configs, gguf, hf_json, sentencepiece, tekken, vocab_txt

    path, content = detected.path, detected.content
    if detected.format == "gguf":
        with content:
            return gguf.load(content, split)
    if detected.format == "vocab.txt":
        return vocab_txt.load(content, configs.table(path.parent, configs.CONFIG))
    if detected.format == "codes":
        beside = path.with_name(path.name.replace("codes", "vocab"))
        vocabulary = files.read(beside) if beside != path and beside.is_file() else None
        if vocabulary is not None:
            manifest.verify(beside, vocabulary)
        return codes.load(content, vocabulary)
    modules = {"tokenizer.json": hf_json, "tekken.json": tekken, "sentencepiece": sentencepiece}
    loaded: Loaded = modules[detected.format].load(content)
    return loaded


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
    dropped += _lost(spec, held, format_name, drop) if format_name in _READ_AGAIN else []
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
    from bytepair.model.semantics import to_merges, to_ranks

    if format_name == "native":
        return spec, (native.write(spec),)
    if format_name == "tiktoken":
        held = replace(spec, model=to_ranks(spec.byte_pair))
        return held, (tiktoken.write(held),)
    if format_name in _READ_AGAIN:
        return _write_and_read(spec, format_name)
    if format_name == "tokenizer.json" and not spec.is_byte_level:
        return spec, (hf_json.write(spec),)
    held = replace(spec, model=to_merges(spec.byte_pair))
    return held, (hf_json.write(held),) if format_name == "tokenizer.json" else vocab_merges.write(held)


def _write_and_read(spec: TokenizerSpec, format_name: str) -> tuple[TokenizerSpec, tuple[bytes, ...]]:
    """What the files of a format that holds certain forms of each stage say, and the files."""
    import json

    from bytepair.formats import codes, sentencepiece, tekken, vocab_txt

    if format_name == "sentencepiece":
        written = (sentencepiece.write(spec),)
        return sentencepiece.read(*written), written
    if format_name == "tekken.json":
        written = (tekken.write(spec),)
        return tekken.read(json.loads(written[0])), written
    if format_name == "codes":
        merges, vocabulary = codes.write(spec)
        return codes.read(merges, vocabulary), (merges, vocabulary)
    vocabulary, config = vocab_txt.write(spec)
    return vocab_txt.read(vocabulary, json.loads(config)), (vocabulary, config)


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
            raise FormatError(f"{name!r} is not a feature that can be dropped", remedy=f"use {', '.join(_FEATURES)}")
    _check_kind(spec, format_name)
    if format_name in _HOLD_THEIR_STAGES or format_name in _READ_AGAIN:
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
        bool(spec.pre_tokenizers),
        bool(spec.decoders),
    )
    return _allowed([name for name, there in zip(_FEATURES, present, strict=True) if there], format_name, drop)


def _check_kind(spec: TokenizerSpec, format_name: str) -> None:
    """Raises FormatError if the format is for models of another kind."""
    from bytepair.model.spec import BytePair, Unigram, WordPiece

    if format_name == "tokenizer.json" and any(
        step.startswith('{"type": "SentencePiece"') for step in spec.normalizers
    ):
        raise FormatError(
            "tokenizer.json cannot hold the normalizer of sentencepiece: `tokenizers` has none that does the same",
            remedy="save as sentencepiece or native",
        )
    model = spec.model
    letters = isinstance(model, BytePair) and model.alphabet is not None
    fits = {"sentencepiece": letters or isinstance(model, Unigram), "vocab.txt": isinstance(model, WordPiece)}
    if (format_name in _OF_BYTES and not spec.is_byte_level) or not (fits | {"codes": letters}).get(format_name, True):
        kind = (
            "BytePair of characters" if letters else "BytePair of bytes" if spec.is_byte_level else type(model).__name__
        )
        raise FormatError(f"{format_name} cannot hold a {kind}", remedy="save as tokenizer.json or native")


def _lost(spec: TokenizerSpec, held: TokenizerSpec, format_name: str, drop: Collection[str]) -> list[str]:
    """The features that what was written does not hold, all of which must be in `drop`; the model is never one."""
    from bytepair.model.semantics import to_ranks

    model = to_ranks(spec.byte_pair) if format_name in _OF_BYTES else spec.model
    if model != held.model:
        raise FormatError(
            f"{format_name} cannot hold this model: it would come back as another one",
            remedy="save as tokenizer.json or native",
        )
    lost = []
    for name in _FEATURES:
        if name in ("special_tokens", "added_tokens"):
            both = [[t for t in one.added_tokens if t.special == (name == "special_tokens")] for one in (spec, held)]
        else:
            both = [getattr(one, name) for one in (spec, held)]
        if both[0] != both[1]:
            lost.append(name)
    return _allowed(lost, format_name, drop)


def _allowed(lost: list[str], format_name: str, drop: Collection[str]) -> list[str]:
    refused = tuple(name for name in lost if name not in drop)
    if refused:
        raise FormatError(
            f"{format_name} cannot hold {', '.join(refused)}",
            remedy=f"save as tokenizer.json or native, or pass drop={refused!r}",
            cli_remedy=f"save as tokenizer.json or native, or pass --drop {','.join(refused)}",
        )
    return lost
