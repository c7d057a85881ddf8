"""``vocab.json`` of a model of speech, such as wav2vec 2.0: a letter is a token, and one token stands between words.

What such a model hears is decoded as the output of connectionist temporal classification (CTC): of equal tokens in a
row one is left, then the token for padding goes.

Source: ``tokenization_wav2vec2.py`` in ``transformers`` 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import configs, hf_json
from bytepair.formats.classes import refused
from bytepair.formats.hf_common import pointer_to
from bytepair.formats.json_files import ids_of

if TYPE_CHECKING:
    from pathlib import Path

    from bytepair.model.spec import TokenizerSpec

NAME = "Wav2Vec2CTC"
"""The class."""

_ROLES = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}


def is_in(folder: Path) -> bool:
    """Whether a folder names the class, or the kind of its model."""
    return configs.class_of(folder) == NAME


def read(vocabulary: dict[str, Any], folder: Path) -> TokenizerSpec:
    """The tokenizer of a vocabulary.

    Args:
        vocabulary: The tokens with their ids; or such a table for each language, of which the folder chooses one.
        folder: Where it is.

    Raises:
        FormatError: The folder chooses no language, or makes letters capitals. Or the unknown token is missing, or an
            id is no number; ``pointer`` locates it.
    """
    config = configs.table(folder, configs.SPECIAL) | configs.table(folder, configs.CONFIG)
    if configs.flag(config, folder, "do_lower_case", usual=False):
        raise refused(f"{NAME}Tokenizer with do_lower_case, which makes the letters of a text capitals")
    ids = _of_language(vocabulary, config.get("target_lang"), folder / "vocab.json")
    usual = {role: token for role, token in _ROLES.items() if config.get(f"{role}_token", token) is not None}
    roles = configs.named_tokens(config, usual)
    if "unk" not in roles or roles["unk"] not in ids:
        raise FormatError(f"the vocabulary has no {roles.get('unk', '<unk>')}", remedy="is the file whole?")
    delimiter = configs.token_content(config, "word_delimiter_token") or "|"
    space = configs.token_content(config, "replace_word_delimiter_char") or " "
    # Roles without a token get ids behind all others.
    known = dict.fromkeys((*ids, *(row.content for row, _ in configs.listed_tokens(folder))))
    missing = [token for token in dict.fromkeys(roles.values()) if token not in known]
    special = set(roles.values())
    rows = {token: id for token, id in ids.items() if len(token) > 1 or token in special}
    rows |= {token: len(known) + place for place, token in enumerate(missing)}
    table = {
        "version": "1.0",
        "added_tokens": [
            # Those of the vocabulary take the white space beside them.
            _row(id, token, special=token in special, strips=token in ids and len(token) > 1)
            for token, id in sorted(rows.items(), key=lambda row: row[1])
        ],
        "normalizer": _replace({"String": " "}, delimiter),
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": r"[\s\S]"},
            "behavior": "Isolated",
            "invert": False,
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {
                    "type": "CTC",
                    "pad_token": roles.get("pad", ""),
                    "word_delimiter_token": delimiter,
                    "cleanup": False,
                },
                _replace({"String": delimiter}, space),
                {"type": "Fuse"},
                _replace({"Regex": r"\A\s+|\s+\z"}, ""),
            ],
        },
        "model": {
            "type": "WordLevel",
            "vocab": {token: id for token, id in ids.items() if len(token) == 1 or token == roles["unk"]},
            "unk_token": roles["unk"],
        },
    }
    return hf_json.read(table).replace(roles=tuple(roles.items()))


def _of_language(vocabulary: dict[str, Any], language: object, path: Path) -> dict[str, int]:
    """The tokens with their ids; of a language if there are several."""
    if vocabulary and all(isinstance(ids, dict) for ids in vocabulary.values()):
        if not isinstance(language, str) or language not in vocabulary:
            names = ", ".join(sorted(vocabulary)[:20])
            what = "the vocabulary is of many languages, and the folder chooses none of them"
            raise FormatError(what, remedy=f"set target_lang in {configs.CONFIG} to one of {names}")
        return ids_of(vocabulary[language], path, pointer_to("", language))
    return ids_of(vocabulary, path)


def _row(id: int, token: str, *, special: bool, strips: bool) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": strips, "rstrip": strips, "normalized": False, "special": special}
    return {"id": id, "content": token, **flags}


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}
