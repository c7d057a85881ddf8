"""`train_new_from_iterator`: train a new vocabulary for the stages of a tokenizer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair.compat.tokenizers import Tokenizer, pre_tokenizers, trainers
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.transformers.added import as_added
from bytepair.compat.transformers.saving import _ATTRIBUTES, tokenizer_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair.compat.transformers.state import State

T = TypeVar("T", bound="State")

_TRAINERS: dict[str, Any] = {
    "BPE": trainers.BpeTrainer,
    "Unigram": trainers.UnigramTrainer,
    "WordLevel": trainers.WordLevelTrainer,
    "WordPiece": trainers.WordPieceTrainer,
}


def train_new(  # noqa: PLR0917 (as the method)
    tokenizer: T,
    texts: Iterable[Any],
    vocab_size: int,
    length: int | None,
    new_special_tokens: list[Any] | None,
    special_tokens_map: Mapping[str, str] | None,
    **options: Any,
) -> T:
    """As `PreTrainedTokenizerFast.train_new_from_iterator`."""
    renamed = dict(special_tokens_map or {})
    table = json.loads(tokenizer_json(tokenizer))
    added, processor = table["added_tokens"], table["post_processor"]
    kind = table["model"]["type"]
    empty = _without_vocabulary(table, renamed)
    face = Tokenizer.from_str(json.dumps({**empty, "added_tokens": [], "post_processor": None}))
    more = [as_added(token, special=True if isinstance(token, str) else None) for token in new_special_tokens or ()]
    special = [_renamed(token, renamed) for token in added if token["special"] or kind == "Unigram"] + more
    trainer = _TRAINERS[kind](
        vocab_size=vocab_size, special_tokens=special, **{**_trainer_settings(empty), "show_progress": False, **options}
    )
    face.train_from_iterator(texts, trainer=trainer, length=length)
    done = json.loads(face.to_str())
    done["post_processor"] = _renumbered(processor, face, renamed)
    settings: dict[str, Any] = {name: getattr(tokenizer, name) for name in (*_ATTRIBUTES, "chat_template")}
    for name, token in tokenizer._named.items():
        settings[name] = token if token is None else _name(token, renamed)
    settings["extra_special_tokens"] = [*(_name(token, renamed) for token in tokenizer._extra), *more]
    tokenizer_class: Any = type(tokenizer)
    trained: T = tokenizer_class(Tokenizer.from_str(json.dumps(done)), **settings)
    return trained


def _name(token: Any, renamed: Mapping[str, str]) -> Any:
    content = renamed.get(str(token), str(token))
    if isinstance(token, str):
        return content
    return AddedToken(content, **{**_flags(as_added(token)), "special": True})


def _flags(token: AddedToken) -> dict[str, Any]:
    return {name: value for name, value in token.__getstate__().items() if name != "content"}


def _renamed(row: Mapping[str, Any], renamed: Mapping[str, str]) -> AddedToken:
    flags = {name: value for name, value in row.items() if name not in ("id", "content", "special")}
    # A trainer makes its special tokens special.
    return AddedToken(renamed.get(row["content"], row["content"]), **flags)


def _without_vocabulary(table: dict[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    model = dict(table["model"])
    match model["type"]:
        case "BPE":
            model |= {"vocab": {}, "merges": []}
        case "Unigram":
            unknown = model["unk_id"]
            if unknown is not None:
                token = model["vocab"][unknown][0]
                model |= {"unk_id": 0, "vocab": [[renamed.get(token, token), 0.0]]}
        case _:
            # These models require an unknown token.
            unknown = renamed.get(model["unk_token"], model["unk_token"])
            model |= {"unk_token": unknown, "vocab": {unknown: 0}}
    if model["type"] == "BPE" and model.get("unk_token") in renamed:
        model["unk_token"] = renamed[model["unk_token"]]
    return {**table, "model": model}


def _trainer_settings(table: Mapping[str, Any]) -> dict[str, Any]:
    """The trainer settings that the model and the stages determine."""
    model, settings = table["model"], {}
    if model["type"] == "BPE":
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            if model.get(name) is not None:
                settings[name] = model[name]
    if model["type"] == "Unigram" and model["unk_id"] is not None:
        settings["unk_token"] = model["vocab"][0][0]
    before = table["pre_tokenizer"] or {}
    steps = before.get("pretokenizers", [before])
    if any(step.get("type") == "ByteLevel" for step in steps):
        settings["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    return settings


def _renumbered(processor: Any, face: Tokenizer, renamed: Mapping[str, str]) -> Any:
    """The post-processor with the new names and ids of its tokens."""
    if processor is None:
        return None
    done = dict(processor)
    if done["type"] == "Sequence":
        done["processors"] = [_renumbered(each, face, renamed) for each in done["processors"]]
    for name in ("cls", "sep"):
        if name in done:
            token = renamed.get(done[name][0], done[name][0])
            done[name] = [token, _id(face, token)]
    if "special_tokens" in done:
        done["special_tokens"] = {
            key: {**row, "tokens": tokens, "ids": [_id(face, token) for token in tokens]}
            for key, row in done["special_tokens"].items()
            for tokens in [[renamed.get(token, token) for token in row["tokens"]]]
        }
    return done


def _id(face: Tokenizer, token: str) -> int:
    id = face.token_to_id(token)
    if id is None:
        raise ValueError(f"the post-processor adds {token!r}, which the new vocabulary lacks; name it as special")
    return id
