"""The model of a ``tokenizer.json``: its type, and its columns, which may be in the core.

`hf_json` reads and writes those of bytes, `hf_spelled` those that are spelled in characters.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from bytepair._core import FileVocab, JsonMerges
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats.hf_common import Json, shown, unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS = {
    "BPE": {
        "vocab",
        "merges",
        "dropout",
        "unk_token",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "fuse_unk",
        "byte_fallback",
        "ignore_merges",
    },
    "WordPiece": {"vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
    "WordLevel": {"vocab", "unk_token"},
    "Unigram": {"vocab", "unk_id", "byte_fallback"},
}


def is_object(vocab: Json) -> bool:
    """Whether a vocabulary is tokens with their ids."""
    return not vocab.is_list if isinstance(vocab, FileVocab) else isinstance(vocab, dict)


def is_list(vocab: Json) -> bool:
    """Whether a vocabulary is a list."""
    return vocab.is_list if isinstance(vocab, FileVocab) else isinstance(vocab, list)


def in_python(member: Json) -> Json:
    """A vocabulary or merges as `json.loads` returns them: for careful readers, which name what is wrong."""
    return member.to_python() if isinstance(member, FileVocab | JsonMerges) else member


def kind_of_model(model: Mapping[str, Json]) -> str:
    """The type of a model; files of early versions do not name it."""
    kind = model.get("type")
    if kind is None:
        if "merges" in model:
            kind = "BPE"
        elif is_list(model.get("vocab")):
            kind = "Unigram"
        else:
            kind = "WordPiece" if "max_input_chars_per_word" in model else "WordLevel"
    if not isinstance(kind, str) or kind not in _KEYS:
        raise unsupported(f"the model {shown(kind) if not isinstance(kind, str) else kind}", "/model/type")
    for key in model.keys() - _KEYS[kind] - {"type"}:
        raise unsupported(f"{key} in {kind}", f"/model/{key}")
    return kind


def warn_of_dropout(model: Mapping[str, Json]) -> None:
    """Warns that a file's dropout is not applied."""
    dropout = model.get("dropout")
    if dropout is not None and not isinstance(dropout, int | float):
        raise FormatError(f"dropout is {shown(dropout)}", pointer="/model/dropout")
    if dropout:
        warnings.warn(
            "the file's dropout is not applied: it is an option of each call",
            TokenizerWarning,
            stacklevel=5,
        )
