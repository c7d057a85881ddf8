"""`save_pretrained`: files from which ``transformers`` and bytepair load an equal tokenizer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.compat.transformers.added import FLAGS, is_token
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats import configs, hf_json, manifest
from bytepair.model.checks import ROLES

if TYPE_CHECKING:
    from pathlib import Path

    from bytepair.compat.transformers.state import State
    from bytepair.formats.manifest import Side

_ATTRIBUTES = (
    *("model_max_length", "padding_side", "truncation_side", "model_input_names"),
    *("clean_up_tokenization_spaces", "split_special_tokens"),
)


def save(tokenizer: State, folder: Path, *, save_jinja_files: bool) -> tuple[str, ...]:
    """As `PreTrainedTokenizerFast.save_pretrained`."""
    if folder.is_file():
        raise ArtifactError("this is a file; pass a folder", file=str(folder))
    manifest.check_replaceable(folder)
    config = _config(tokenizer)
    templates = _templates(tokenizer, config, as_files=save_jinja_files)
    format_name, held = tokenizer._files()
    if format_name != "tokenizer.json":
        config["added_tokens_decoder"] = {
            str(id): {name: value for name, value in _table(token).items() if name != "__type"}
            for id, token in tokenizer.added_tokens_decoder.items()
        }
    written = (json.dumps(config, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
    side: Side = "left" if tokenizer.padding_side == "left" else "right"
    origin = tokenizer.engine.origin
    about = manifest.About(tokenizer.engine, (side, side), origin and origin.record(), _roles(tokenizer))
    about_files = manifest.build(tokenizer.engine.spec, format_name, held, [], folder=folder, about=about)
    replaced = _earlier_templates(folder, templates)
    if "tokenizer.json" not in held:
        replaced.append(folder / "tokenizer.json")
    # A kill in between leaves files of two tokenizers, which the new manifest refuses to load as one.
    files.write_all(
        folder,
        {manifest.NAME: about_files, **templates, configs.CONFIG: written, **held},
        replaced=replaced,
        is_swept=True,
    )
    return tuple(str(folder / name) for name in (configs.CONFIG, *templates, *held, manifest.NAME))


def _roles(tokenizer: State) -> tuple[tuple[str, str], ...]:
    """The named tokens by role, which may have changed since the engine was loaded."""
    named = tokenizer.special_tokens_map
    return tuple((role, token) for role in ROLES if (token := named.get(f"{role}_token")))


def _config(tokenizer: State) -> dict[str, Any]:
    config: dict[str, Any] = {name: getattr(tokenizer, name) for name in _ATTRIBUTES}
    config |= {key: value for key, value in tokenizer.init_kwargs.items() if _is_json(value)}
    config |= {name: None if token is None else str(token) for name, token in tokenizer._named.items()}
    if tokenizer._extra:
        config["extra_special_tokens"] = [_table(token) for token in tokenizer._extra]
    config["tokenizer_class"] = config.get("tokenizer_class") or "PreTrainedTokenizerFast"
    return config


def _table(token: Any) -> Any:
    if isinstance(token, str) or not is_token(token):
        return token
    return {"__type": "AddedToken", "content": token.content, **{name: bool(getattr(token, name)) for name in FLAGS}}


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _templates(tokenizer: State, config: dict[str, Any], *, as_files: bool) -> dict[str, bytes]:
    """The template files by name; without files, the templates go into `config`."""
    own = tokenizer.chat_template
    if own is None:
        return {}
    if not as_files:
        listed = [{"name": name, "template": each} for name, each in own.items()] if isinstance(own, dict) else own
        config["chat_template"] = listed
        return {}
    by_name = own if isinstance(own, dict) else {"default": own}
    found = {}
    for name, template in by_name.items():
        if not name or name.startswith(".") or any(mark in name for mark in "/\\\0"):
            raise FormatError(f"{name!r} is not a valid name of a template", remedy="use letters")
        found[configs.TEMPLATE if name == "default" else f"{configs.TEMPLATES}/{name}.jinja"] = template.encode()
    return found


def _earlier_templates(folder: Path, templates: dict[str, bytes]) -> list[Path]:
    """Template files of an earlier save that this one does not write."""
    kept = {folder / name for name in templates}
    earlier = (folder / configs.TEMPLATE, *(folder / configs.TEMPLATES).glob("*.jinja"))
    return [path for path in earlier if path not in kept and path.is_file()]


def tokenizer_json(tokenizer: State) -> bytes:
    """The engine's ``tokenizer.json``, with added tokens restored to the vocabulary if they were in it."""
    engine = tokenizer.engine
    written = hf_json.write(engine.spec)
    columns = set(engine.spec.packed.all_ids())
    missing = tokenizer.vocab_size - len(columns)
    outside = [row for row in engine.spec.added_tokens if row[1] not in columns]
    if missing <= 0 or not outside:
        return written
    table = json.loads(written)
    vocab = table["model"]["vocab"]
    restored = sorted((row[1], row[0]) for row in outside)[:missing]
    if isinstance(vocab, dict):
        for id, content in restored:
            vocab.setdefault(content, id)
        table["model"]["vocab"] = dict(sorted(vocab.items(), key=lambda item: item[1]))
    else:
        # Ids are indices there, and added tokens are matched before the model, so they need no score.
        vocab.extend([content, 0.0] for id, content in restored if id >= len(vocab))
    return hf_json._dumps(table).encode()
