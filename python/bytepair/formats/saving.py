"""`TokenizerSpec` -> files and their manifest, or a refusal that names the features a format cannot hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.errors import FormatError
from bytepair.formats import (
    FILES,
    READ_ONLY_SUFFIXES,
    SUFFIXES,
    codes,
    config_files,
    hf_json,
    manifest,
    native,
    sentencepiece,
    tekken,
    tiktoken,
    vocab_merges,
    vocab_txt,
)
from bytepair.model.models import BytePair, Unigram, WordPiece
from bytepair.model.semantics import to_merges, to_ranks
from bytepair.model.steps import has_type

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from bytepair.model.compiled import CompiledTokenizer
    from bytepair.model.spec import TokenizerSpec

_FEATURES = (
    *("split", "special_tokens", "added_tokens", "normalizers", "prefix_space", "post_processor"),
    *("pre_tokenizers", "decoders"),
)
_HOLD_THEIR_STAGES = ("native", "tokenizer.json")
# These hold only some forms of each stage: the files are read back to find the features that they lost.
_READ_AGAIN = ("tekken.json", "sentencepiece", "vocab.txt", "codes")
_OF_FILES = {
    *READ_ONLY_SUFFIXES,
    *(".txt", ".md", ".html", ".csv", ".tsv", ".jsonl", ".yaml", ".yml", ".toml", ".parquet", ".arrow", ".npy", ".npz"),
    *(".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".safetensors", ".onnx", ".zip", ".tar", ".gz", ".bz2", ".xz"),
    *(".zst", ".vocab", ".merges", ".bpe", ".spm", ".tekken", ".jinja", ".py"),
}
"""Suffixes of files, never of a folder of a tokenizer; ``v1.5`` may be one."""
_OF_BYTES = ("tiktoken", "vocab+merges", "tekken.json")


def save(
    spec: TokenizerSpec, path: Path, format_name: str | None, drop: Collection[str], about: manifest.About
) -> list[Path]:
    """Writes a tokenizer and its manifest, which also records `about`; returns the paths.

    Raises:
        FormatError: The format is unknown, or cannot hold a feature that is not in `drop`.
        ArtifactError: The folder cannot be written.
    """
    folder, names, format_name, dropped = plan(spec, path, format_name, drop)
    held, contents = _write(spec, format_name, about.tokenizer)
    dropped += _lost(spec, held, format_name, drop) if format_name in _READ_AGAIN else []
    written = dict(zip(names, contents, strict=True))
    record = manifest.build(held, format_name, written, dropped, folder=folder, about=about)
    others: dict[str, bytes] = {}
    if tuple(names) == ("tokenizer.json",):
        others |= config_files.of_roles(spec, folder, about.padding_sides[0])
    if about.chat_template is not None:
        others |= config_files.of_template(about.chat_template)
    if len(written) == 1 and not others:
        # A folder without a manifest still loads: a kill in between loses nothing.
        files.write_all(folder, {**written, manifest.NAME: record}, retired=manifest.NAME, is_swept=True)
    else:
        # A kill in between leaves files of two tokenizers, which the new manifest refuses to load as one.
        files.write_all(folder, {manifest.NAME: record, **others, **written}, is_swept=True)
    return [folder / name for name in (*written, *others, manifest.NAME)]


def _write(  # noqa: PLR0911 (one per format)
    spec: TokenizerSpec, format_name: str, tokenizer: CompiledTokenizer
) -> tuple[TokenizerSpec, tuple[bytes, ...]]:
    """The tokenizer as the files hold it, and the files."""
    match format_name:
        case "native":
            return spec, (native.write_compiled(tokenizer) if spec is tokenizer.spec else native.write(spec),)
        case "tiktoken":
            held = spec.replace(model=to_ranks(spec.byte_pair))
            return held, (tiktoken.write(held),)
        case "tokenizer.json":
            held = spec.replace(model=to_merges(spec.byte_pair)) if spec.is_byte_level else spec
            return held, (hf_json.write(held),)
        case "vocab+merges":
            held = spec.replace(model=to_merges(spec.byte_pair))
            return held, vocab_merges.write(held)
        case "sentencepiece":
            model = sentencepiece.write(spec)
            return sentencepiece.read(model), (model,)
        case "tekken.json":
            table = tekken.write(spec)
            return tekken.read(json.loads(table)), (table,)
        case "codes":
            merges, vocabulary = codes.write(spec)
            return codes.read(merges, vocabulary), (merges, vocabulary)
        case _:
            vocabulary, config = vocab_txt.write(spec)
            return vocab_txt.read(vocabulary, json.loads(config)), (vocabulary, config)


def plan(
    spec: TokenizerSpec, path: Path, format_name: str | None, drop: Collection[str]
) -> tuple[Path, tuple[str, ...], str, list[str]]:
    """The plan of `save`: the folder, the file names, the format, and the features that would be dropped.

    It depends only on the stages of `spec`, so it can run before a model is trained. Errors as `save`.
    """
    if path.name == manifest.NAME:
        raise FormatError(f"{manifest.NAME} is the name of the manifest", remedy="name a folder, or another file")
    folder, names, format_name = _place(path, format_name)
    dropped = _dropped(spec, format_name, drop)
    files.check_writable(folder, names)
    manifest.check_replaceable(folder)
    return folder, names, format_name, dropped


def _place(path: Path, format_name: str | None) -> tuple[Path, tuple[str, ...], str]:
    """The folder, the names of the files in it, and the format; a path that names a file decides all three."""
    named = next((name for name, known in FILES.items() if path.name in known), SUFFIXES.get(path.suffix))
    if named is None and path.suffix == ".json":
        named = "tokenizer.json"
    format_name = format_name or named or "tokenizer.json"
    if format_name not in FILES:
        raise FormatError(f"the format {format_name!r} is unknown", remedy=f"use one of {', '.join(FILES)}")
    if named is None:
        _check_folder(path)
        return path, FILES[format_name], format_name
    if named != format_name:
        raise FormatError(f"{path.name} is the name of a {named} file, not {format_name}", remedy="name a folder")
    return path.parent, FILES[named] if len(FILES[named]) > 1 else (path.name,), format_name


def _check_folder(path: Path) -> None:
    """Raises FormatError if the path looks like a file of another kind: a folder of that name is not what was meant."""
    if path.suffix.lower() not in _OF_FILES or files.is_folder(path):
        return
    reason = "only read" if path.suffix in READ_ONLY_SUFFIXES else "no format of a tokenizer"
    raise FormatError(
        f"{path.name} is the name of a file, and {path.suffix} is {reason}",
        remedy=f"name a folder, such as {path.stem or 'tokenizer'}, or a file such as {path.stem or 'tokenizer'}.json",
    )


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
    assumed = vocab_merges.ASSUMED_SPLIT if format_name == "vocab+merges" else ()
    present = (
        spec.split != assumed,
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
    if format_name == "tokenizer.json" and any(has_type(step, "SentencePiece") for step in spec.normalizers):
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
    """The features that the written files do not hold, all of which must be in `drop`; the model is never one."""
    model = to_ranks(spec.byte_pair) if format_name in _OF_BYTES else spec.model
    if model != held.model:
        raise FormatError(
            f"{format_name} cannot hold this model: it would load as another one",
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
