"""Vocabularies of classes of ``transformers`` whose words another library finds: MeCab in Japanese, Moses in others.

A tokenizer that is read here is for texts whose words have been found already, with U+0020 between them, and for no
others: `bytepair.compat.transformers.word_finders` makes them. So `bytepair.load` refuses such a folder, and
`bytepair.compat.transformers.AutoTokenizer` loads it.

FSMT translates: its ids are decoded by another vocabulary, that of the language it translates into (`target`).

Source: ``tokenization_bert_japanese.py``, ``tokenization_biogpt.py``, ``tokenization_flaubert.py``,
``tokenization_fsmt.py`` and ``tokenization_xlm.py`` in ``transformers`` 5.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from bytepair import files
from bytepair._core import Columns
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats import configs, manifest
from bytepair.formats.classes import A, B, refused, with_template
from bytepair.formats.json_files import ids_of, parse_json
from bytepair.formats.text_files import lines
from bytepair.formats.vocab_txt import ids_of_lines
from bytepair.model.models import BytePair, Characters, WordLevel, WordPiece, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bytepair.model.models import Model

_END = "</w>"
_SPELLED, _MERGES, _TARGET = "vocab.json", "merges.txt", "vocab-tgt.json"
_VOCABULARIES = {"BertJapanese": "vocab.txt", "FSMT": "vocab-src.json"}
"""The files of tokens that are not ``vocab.json``."""
_PRE_TOKENIZERS = (spell_step({"type": "WhitespaceSplit"}),)


class _Class(NamedTuple):
    """The special tokens of a class, its templates for one text and for two, of roles and texts, and their types."""

    roles: Mapping[str, str]
    single: tuple[str | int, ...]
    pair: tuple[str | int, ...]
    types: tuple[str, str]


_BERT = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
_BIOGPT = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>"}
_FSMT = {role: token for role, token in _BIOGPT.items() if role != "eos"}
_XLM = _Class(
    {"bos": "<s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "</s>", "mask": "<special1>"},
    ("bos", A, "sep"),
    ("bos", A, "sep", B, "sep"),
    ("000", "00011"),
)
_CLASSES = {
    "BertJapanese": _Class(_BERT, ("cls", A, "sep"), ("cls", A, "sep", B, "sep"), ("000", "00011")),
    "BioGpt": _Class(_BIOGPT, ("sep", A), ("sep", A, "sep", B), ("00", "0011")),
    "FSMT": _Class(_FSMT, (A, "sep"), (A, "sep", B, "sep"), ("00", "0011")),
    "Flaubert": _XLM,
    "XLM": _XLM,
}
NAMES = frozenset(_CLASSES)
"""The classes."""


def class_in(folder: Path) -> str | None:
    """The class that a folder names if it is one of `NAMES`, whose files are there; else None."""
    if not files.is_folder(folder):
        return None
    name = configs.class_of(folder)
    return name if name in NAMES and files.exists(folder / _VOCABULARIES.get(str(name), _SPELLED)) else None


def read(folder: Path, name: str) -> TokenizerSpec:
    """Reads the vocabulary of a class, for texts of words, or of single characters, with U+0020 between them.

    Args:
        folder: Its folder.
        name: One of `NAMES`.

    Raises:
        ArtifactError: It is a file, or one of its own is missing.
        FormatError: A file is malformed, or the vocabulary lacks a token. Or the class has pieces of sentencepiece.
    """
    if not files.is_folder(folder):
        raise ArtifactError(f"a {name}Tokenizer is no single file", file=str(folder), remedy="pass its folder")
    of_class = _CLASSES[name]
    config = configs.table(folder, configs.SPECIAL) | configs.table(folder, configs.CONFIG)
    roles = configs.named_tokens(config, of_class.roles)
    if name == "BertJapanese":
        kind = config.get("subword_tokenizer_type") or "wordpiece"
        if kind not in {"wordpiece", "character"}:
            raise refused(f"{name}Tokenizer with subword_tokenizer_type {str(kind)[:80]!r}")
        ids = {token.decode(): id for token, id in ids_of_lines(_content(folder, _VOCABULARIES[name])).items()}
        spec = _of_tokens(ids, roles, by_character=kind == "character")
    else:
        ids = _spelled(folder, _VOCABULARIES.get(name, _SPELLED))
        spec = _of_pairs(ids, _pairs(_content(folder, _MERGES)), roles)
    special = {token: ids[token] for token in roles.values() if token in ids}
    by_id = sorted(special.items(), key=lambda row: row[1])
    spec = spec.replace(added_tokens=tuple(AddedToken(token, id) for token, id in by_id), roles=tuple(roles.items()))
    single, pair = ([roles.get(str(part), part) for part in row] for row in (of_class.single, of_class.pair))
    return with_template(spec, single, pair, of_class.types)


def target(folder: Path) -> dict[int, str]:
    """The tokens that ids of FSMT are decoded to, by their ids.

    Raises:
        ArtifactError: The file is missing.
        FormatError: It is malformed.
    """
    return {id: token for token, id in _spelled(folder, _TARGET).items()}


def _spelled(folder: Path, name: str) -> dict[str, int]:
    path = folder / name
    return ids_of(parse_json(path, _content(folder, name)), path)


def _content(folder: Path, name: str) -> bytes:
    path = folder / name
    if not files.exists(path):
        raise ArtifactError(f"there is no {name}", file=str(path), remedy="fetch it too")
    data = files.read(path)
    manifest.verify(path, data)
    return data


def _of_tokens(ids: Mapping[str, int], roles: Mapping[str, str], *, by_character: bool) -> TokenizerSpec:
    """The tokenizer of a ``vocab.txt``: of words, or of single characters."""
    unk = _known(ids, roles["unk"])
    inner = {token: id for token, id in ids.items() if token not in roles.values() or token == unk}
    model: Model = WordLevel((), (), unk_token=unk) if by_character else WordPiece((), (), unk_token=unk)
    return TokenizerSpec(
        PackedModel(_columns(inner), model_options(model)),
        pre_tokenizers=_PRE_TOKENIZERS,
        decoders=() if by_character else (spell_step({"type": "WordPiece", "prefix": "##", "cleanup": False}),),
    )


def _of_pairs(ids: Mapping[str, int], pairs: list[tuple[str, str]], roles: Mapping[str, str]) -> TokenizerSpec:
    """The tokenizer of a ``vocab.json`` and its merges, whose words end with ``</w>``."""
    unk = _known(ids, roles["unk"])
    inner = {token: id for token, id in ids.items() if token not in roles.values() or token == unk}
    texts = dict.fromkeys((*(part for pair in pairs for part in pair), *(left + right for left, right in pairs)))
    unlisted = tuple(text for text in texts if text not in inner)
    above = 1 + max(inner.values())
    known = inner | {text: above + place for place, text in enumerate(unlisted)}
    alphabet = Characters(unk_token=unk, end_of_word_suffix=_END, unlisted=unlisted)
    return TokenizerSpec(
        PackedModel(
            _columns(inner, [(known[left], known[right]) for left, right in pairs]),
            model_options(BytePair((), (), (), alphabet=alphabet)),
        ),
        pre_tokenizers=_PRE_TOKENIZERS,
        decoders=(spell_step({"type": "BPEDecoder", "suffix": _END}),),
    )


def _known(ids: Mapping[str, int], unk: str) -> str:
    if unk not in ids:
        raise FormatError(f"the vocabulary has no {unk}", remedy="is the file whole? fetch it again")
    return unk


def _columns(ids: Mapping[str, int], pairs: list[tuple[int, int]] | None = None) -> Columns:
    by_id = sorted(ids.items(), key=lambda row: row[1])
    return Columns([token.encode() for token, _ in by_id], [id for _, id in by_id], pairs)


def _pairs(data: bytes) -> list[tuple[str, str]]:
    """The merges, each once; a count may stand behind a pair. A last line that does not end is left out, as there."""
    found: dict[tuple[str, str], None] = {}
    for number, line in enumerate(lines(data, _MERGES)[:-1], 1):
        parts = line.split()
        if not parts or (number == 1 and line.startswith("#version")):
            continue
        if len(parts) not in {2, 3}:
            raise FormatError(f"{line[:80]!r} is not a merge of two tokens", line=number, remedy="is the file whole?")
        # A pair that is listed twice has its later place.
        found.pop((parts[0], parts[1]), None)
        found[parts[0], parts[1]] = None
    return list(found)


def write(
    spec: TokenizerSpec, vocabulary: Mapping[str, int], decoded: Mapping[int, str] | None = None
) -> dict[str, bytes]:
    """Writes the files of a tokenizer that `read` made.

    Args:
        spec: The tokenizer.
        vocabulary: The tokens of its vocabulary with their ids, without those that were added to it.
        decoded: The tokens that `target` returned, for FSMT.

    Raises:
        FormatError: A ``vocab.txt`` cannot hold ids with holes.
    """
    by_id = sorted(vocabulary.items(), key=lambda row: row[1])
    model = spec.model
    if not isinstance(model, BytePair):
        if [id for _, id in by_id] != list(range(len(by_id))):
            raise FormatError("vocab.txt cannot hold ids with holes")
        return {"vocab.txt": "".join(f"{token}\n" for token, _ in by_id).encode()}
    assert model.alphabet is not None
    texts = dict(zip(model.ids, (token.decode() for token in model.tokens), strict=True))
    above = 1 + max(model.ids)
    texts |= {above + place: text for place, text in enumerate(model.alphabet.unlisted)}
    merges = "".join(f"{texts[left]} {texts[right]}\n" for left, right in model.merges or ())
    name = _SPELLED if decoded is None else _VOCABULARIES["FSMT"]
    held = {name: json.dumps(dict(by_id), ensure_ascii=False).encode(), _MERGES: merges.encode()}
    if decoded is None:
        return held
    ids = {token: id for id, token in decoded.items()}
    return held | {_TARGET: json.dumps(ids, ensure_ascii=False).encode()}
