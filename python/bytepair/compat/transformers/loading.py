"""A folder or a repository -> an engine, and the settings in its files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.transformers import classes
from bytepair.compat.transformers.added import as_added, base_size
from bytepair.errors import ArtifactError, BytepairError, FormatError, TokenizerWarning
from bytepair.formats import configs, detection, found_words, gguf, hf_json
from bytepair.formats.classes import NAMES, extra_ids, name_of
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEGACY_EXTRA, _EXTRA = "additional_special_tokens", "extra_special_tokens"
_OF_THE_FILE = ("added_tokens_decoder", "chat_template", "tokenizer_class", "name_or_path", "auto_map")
_PATHS = ("special_tokens_map_file", "tokenizer_file", "vocab_file", "merges_file", "tokenizer_object")


class Parts(NamedTuple):
    """The parts of a tokenizer.

    Attributes:
        engine: The engine.
        base: The size of its vocabulary without added tokens.
        added: Tokens listed in other files that the engine's own file lacks.
        settings: Keyword arguments of the constructor.
        stem: The class in ``transformers``, such as ``"Llama"`` for ``LlamaTokenizer``; None for a general one.
        model: The parsed ``config.json`` of the model, if there is one.
    """

    engine: Tokenizer
    base: int
    added: list[AddedToken]
    settings: dict[str, Any]
    stem: str | None = None
    model: dict[str, Any] = {}  # noqa: RUF012 (never changed)


def place(
    name: str | os.PathLike[str],
    *,
    subfolder: str = "",
    gguf_file: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    local_files_only: bool = False,
    token: str | bool | None = None,
    revision: str = "main",
) -> Path:
    """Find the folder or file of a tokenizer; a repository is fetched if it is not cached.

    Raises:
        ArtifactError: It does not exist or cannot be fetched.
    """
    path = Path(name)
    if not path.exists():
        if subfolder or gguf_file:
            option = "subfolder" if subfolder else "gguf_file"
            raise ArtifactError(
                f"{option} is not supported for a repository", remedy="fetch the files, and pass their folder"
            )
        if isinstance(name, os.PathLike) or str(name).count("/") > 1 or str(name).startswith((".", "~")):
            raise ArtifactError("there is no such file or folder", file=str(name))
        from bytepair.formats import hub  # noqa: PLC0415 (only loading from the hub needs it)

        return hub.snapshot(
            str(name), revision=revision, local_files_only=local_files_only, token=token, cache=cache_dir
        ).folder
    if subfolder:
        path /= subfolder
    return path / gguf_file if gguf_file else path


def parts(path: Path, *, by_class: bool, stem: str | None = None) -> Parts:
    """Read the parts of a tokenizer from a folder or a file.

    Args:
        path: The folder or the file.
        by_class: Whether settings that no file contains are the defaults of the class.
        stem: The class, if it is not the one that the files name.

    Raises:
        FormatError: The class is for another kind of model.
        FormatError, ArtifactError, IntegrityError: As `Tokenizer.from_file`.
    """
    name = stem
    if name not in found_words.NAMES:
        name = found_words.class_in(path) if by_class and stem is None else None
    if name is not None:
        # Only the class that finds the words can use such a vocabulary.
        engine = Tokenizer(found_words.read(path, name))
        detected, base = None, base_size(engine)
        settings: dict[str, Any] = {"_target": found_words.target(path)} if name == "FSMT" else {}
    else:
        detected = detection.detect(path)
        engine, base, settings = _engine(path, detected)
    if detected is not None and not files.is_folder(path):
        if detected.format == "gguf":
            settings |= _of_gguf(detected)
        if stem is not None:
            settings |= _by_class(stem, engine, settings)
        return Parts(engine, base, [], settings, stem)
    found = configs.read(path)
    config = configs.table(path, configs.CONFIG)
    added = _listed(config)
    if "added_tokens_decoder" not in config:
        config |= configs.table(path, configs.SPECIAL)
        added += _added_tokens_file(path, config)
    # Paths and private names are not settings.
    config = {key: value for key, value in config.items() if key not in _PATHS and not key.startswith("_")}
    config = {key: value for key, value in config.items() if value is not None or _is_name(key)}
    extra = config.pop(_LEGACY_EXTRA, None)
    if not config.get(_EXTRA) and extra:
        config[_EXTRA] = extra
    # The tokenizer's own file has these, or reading it has applied them.
    config = {key: value for key, value in config.items() if key not in ("add_bos_token", "add_eos_token")}
    templates = dict(found.chat_template)
    kind = config.get("tokenizer_class")
    settings |= {key: value for key, value in config.items() if key not in _OF_THE_FILE}
    if templates:
        settings["chat_template"] = _one_or_all(templates)
    settings["tokenizer_class"] = kind
    model = configs.table(path, configs.MODEL)
    if by_class:
        has_names = any(_is_name(key) for key in settings)
        stem = stem or name or _class_of(kind, model.get("model_type"), engine, guess=not has_names)
        settings |= _by_class(stem, engine, settings)
        has_own = stem is not None and any(_is_name(key) for key in classes.known(stem))
        holds_none = detected is None or detected.format != "tokenizer.json"
        if not has_own and holds_none and name_of({"tokenizer_class": kind}, model) in NAMES:
            named = {f"{role}_token": token for role, token in engine.spec.roles}
            settings |= {key: token for key, token in named.items() if key not in settings}
    return Parts(engine, base, added, settings, stem, model)


def _of_gguf(detected: detection.Detected) -> dict[str, Any]:
    """The special tokens and the chat template of a GGUF file."""
    with detected.content as data, warnings.catch_warnings():
        # The tokenizer was read before, with its warnings.
        warnings.simplefilter("ignore", TokenizerWarning)
        templates, roles = gguf.chat(data)
    settings: dict[str, Any] = {f"{role}_token": token for role, token in roles.items()}
    return settings | ({"chat_template": _one_or_all(templates)} if templates else {})


def _one_or_all(templates: dict[str, str]) -> str | dict[str, str]:
    return templates["default"] if list(templates) == ["default"] else templates


def _is_name(key: str) -> bool:
    return key.endswith("_token")


def _engine(path: Path, detected: detection.Detected) -> tuple[Tokenizer, int, dict[str, Any]]:
    """The tokenizer of a file or folder, the size of its vocabulary, and the padding settings of its own file."""
    if detected.format != "tokenizer.json":
        with warnings.catch_warnings():
            # Named tokens without an id are added later.
            warnings.simplefilter("ignore", configs.TokenWithoutIdWarning)
            engine = Tokenizer.from_file(path)
        return engine, base_size(engine), {}
    try:
        return of_table(detected.content)
    except BytepairError as error:
        error.file = error.file or str(detected.path)
        raise


def of_table(table: dict[str, Any]) -> tuple[Tokenizer, int, dict[str, Any]]:
    """The tokenizer of a parsed ``tokenizer.json``, the size of its vocabulary, and its sides and padding token."""
    engine = Tokenizer(hf_json.read({**table, "truncation": None, "padding": None}))
    settings: dict[str, Any] = {}
    padding, truncation = table.get("padding") or {}, table.get("truncation") or {}
    if isinstance(padding, dict) and isinstance(padding.get("pad_token"), str):
        settings["pad_token"] = padding["pad_token"]
    for name, options in (("padding_side", padding), ("truncation_side", truncation)):
        direction = options.get("direction") if isinstance(options, dict) else None
        if isinstance(direction, str):
            settings[name] = direction.lower()
    vocab = table["model"].get("vocab")
    return engine, len(vocab) if isinstance(vocab, (dict, list)) else base_size(engine), settings


def _listed(config: Mapping[str, Any]) -> list[AddedToken]:
    listed = config.get("added_tokens_decoder") or {}
    if not isinstance(listed, dict) or not all(str(id).isdecimal() for id in listed):
        raise FormatError(
            f"added_tokens_decoder is {str(listed)[:80]!r}", pointer="/added_tokens_decoder", remedy="correct it"
        )
    try:
        return [as_added(token) for _, token in sorted(listed.items(), key=lambda item: int(item[0]))]
    except TypeError as error:
        raise FormatError(str(error), pointer="/added_tokens_decoder", remedy="correct it") from error


def _added_tokens_file(path: Path, config: Mapping[str, Any]) -> list[AddedToken]:
    """The tokens of ``added_tokens.json``, which older versions wrote."""
    table = configs.table(path, configs.ADDED)
    named = {str(_content(value)) for key, value in config.items() if _is_name(key) and value}
    by_id = sorted(table.items(), key=lambda item: int(item[1]))
    return [AddedToken(content, special=content in named) for content, _ in by_id]


def _content(value: Any) -> Any:
    return value.get("content") if isinstance(value, dict) else value


def _class_of(kind: str | None, model_type: str | None, engine: Tokenizer, *, guess: bool) -> str | None:
    """The class that ``AutoTokenizer`` of ``transformers`` chooses; None for a general one."""
    stem = classes.stem_of(kind, model_type)
    if stem is None and kind is None and guess:
        return classes.guessed({token.content for token in engine.spec.added_tokens}, engine.special_tokens)
    # Some byte-level files name a class for vocabularies of characters.
    return stem if stem is None or classes.fits(stem, engine.spec.semantics, engine.spec.is_byte_level) else None


def _by_class(stem: str | None, engine: Tokenizer, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a class that the files do not set."""
    if stem is None:
        return {}
    if not classes.fits(stem, engine.spec.semantics, engine.spec.is_byte_level):
        raise FormatError(f"{stem}Tokenizer is for another kind of model", remedy="use AutoTokenizer.from_pretrained")
    added = {token.content for token in engine.spec.added_tokens}
    found = {key: value for key, value in classes.known(stem).items() if key not in settings}
    if stem not in found_words.NAMES:
        # Files may name a class for its code and have other tokens.
        found = {key: value for key, value in found.items() if not _is_name(key) or value in added}
    if stem == "T5" and not settings.get(_EXTRA):
        found[_EXTRA] = [name for name in map("<extra_id_{}>".format, range(extra_ids(settings))) if name in added]
    return found
