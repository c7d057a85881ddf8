"""Models of ``sentencepiece`` whose ids are in a vocabulary beside them: Marian's, M2M100's, Speech2Text's, BARTpho's.

Marian's folders hold ``source.spm`` and ``target.spm``, which cut texts of two languages, and one vocabulary for both:
`sentencepiece` has pieces that it does not have, which become the unknown token, and it has tokens that the pieces of
one language do not reach, which are decoded. M2M100 has the tokens of its languages behind the vocabulary. BARTpho has
the pieces of Vietnamese, of a model for many languages, in ``dict.txt``.

Source: ``tokenization_marian.py`` and its like in ``transformers`` 4.
"""

from __future__ import annotations

import math
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import FormatError
from bytepair.formats.configs import CONFIG, named_tokens, table
from bytepair.formats.json_files import ids_of
from bytepair.formats.text_files import lines
from bytepair.model.models import Unigram
from bytepair.model.spec import AddedToken, TokenizerSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SOURCE, TARGET = "source.spm", "target.spm"
_VOCABULARY, _TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
_ROLES = {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
_LISTED = "dict.txt"
_FIRST = ("bos", "pad", "eos", "unk", "sep", "cls")
"""BARTpho's tokens before those of its list, by their roles."""
_OF_BERT = {"sep": "</s>", "cls": "<s>", "mask": "<mask>"}
_CODES = (">>", "<<")
"""Marian's token for a language stands between these."""

_LANGUAGES = {
    "m2m100": (
        "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu "
        "hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt "
        "ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"
    ),
    "wmt21": "en ha is ja cs ru zh de",
}
"""M2M100's languages, in the order of their tokens."""


def is_marian(path: Path) -> bool:
    """Whether a file is Marian's: it has the name of one, and a vocabulary beside it."""
    return path.name in {SOURCE, TARGET} and path.with_name(_VOCABULARY).is_file()


def marian(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of Marian's ``.spm``, with the ids of the vocabulary beside it.

    Raises:
        FormatError: The vocabulary is missing or broken; ``pointer`` locates the fault. Or the model is no Unigram.
    """
    is_target = path.name == TARGET and path.with_name(_TARGET_VOCABULARY).is_file()
    vocabulary = _vocabulary(path.parent, _TARGET_VOCABULARY if is_target else _VOCABULARY)
    roles = named_tokens(config, _ROLES)
    begin, end = _CODES
    codes = [token for token in vocabulary if token.startswith(begin) and token.endswith(end)]
    added = [AddedToken(token, vocabulary[token], special=False) for token in codes]
    return _numbered(spec, vocabulary, roles, added)


def m2m100(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> tuple[TokenizerSpec, str]:
    """The tokenizer of M2M100's ``.model``, with the ids of the vocabulary beside it, and the token of its language.

    Raises:
        FormatError: As for `marian`; or the folder names unknown languages.
    """
    vocabulary = _vocabulary(path.parent, _VOCABULARY)
    languages = _LANGUAGES[one_of(config, path, "language_codes", "m2m100", list(_LANGUAGES))].split()
    roles = named_tokens(config, {"bos": "<s>", **_ROLES, "sep": "</s>"})
    added = [AddedToken(f"__{code}__", len(vocabulary) + place) for place, code in enumerate(languages)]
    return _numbered(spec, vocabulary, roles, added), f"__{one_of(config, path, 'src_lang', 'en', languages)}__"


def speech_to_text(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of Speech2Text's ``.model``, with the ids of the vocabulary beside it.

    Raises:
        FormatError: As for `marian`.
    """
    return _numbered(spec, _vocabulary(path.parent, _VOCABULARY), named_tokens(config, {"bos": "<s>", **_ROLES}), ())


def bartpho(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of BARTpho's ``.model``, with ids by the lines of ``dict.txt`` beside it.

    Raises:
        FormatError: As for `marian`. Or a line of ``dict.txt`` has no token, or one that is there already.
    """
    roles = named_tokens(config, {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", **_OF_BERT})
    place = path.with_name(_LISTED)
    vocabulary = {token: id for id, token in enumerate(dict.fromkeys(roles[role] for role in _FIRST))}
    listed = lines(files.read(place), _LISTED)
    for number, line in enumerate(listed if listed[-1] else listed[:-1], 1):
        token = next(iter(line.split()), "")
        if not token or token in vocabulary:
            what = f"{token!r} is there already" if token else "the line has no token"
            raise FormatError(what, file=str(place), line=number, remedy="fetch the file again")
        vocabulary[token] = len(vocabulary)
    vocabulary.setdefault(roles["mask"], len(vocabulary))
    numbered = _numbered(spec, vocabulary, roles, ())
    added = (token._replace(lstrip=token.content == roles["mask"]) for token in numbered.added_tokens)
    return numbered.replace(added_tokens=tuple(added))


def _numbered(
    spec: TokenizerSpec, vocabulary: Mapping[str, int], roles: Mapping[str, str], added: Sequence[AddedToken]
) -> TokenizerSpec:
    model = spec.model
    if not isinstance(model, Unigram) or model.byte_fallback:
        raise FormatError(
            "not supported: a vocabulary beside a .model that is no Unigram, or has pieces for bytes",
            remedy="load the .model by its own name, for the ids of sentencepiece",
        )
    missing = next((token for token in roles.values() if token not in vocabulary), None)
    if missing is not None:
        raise FormatError(f"{missing!r} is not in {_VOCABULARY}", remedy="fetch the folder again")
    unk = roles["unk"]
    pieces = dict(zip(map(bytes.decode, model.tokens), model.scores, strict=True))
    # The unknown token has a score that does not count.
    del pieces[model.tokens[model.ids.index(model.unk_id or 0)].decode()]
    pieces[unk] = 0.0
    special = [AddedToken(token, vocabulary[token]) for token in dict.fromkeys(roles.values())]
    apart = {token.content for token in (*special, *added)} - {unk}
    ids = {token: id for token, id in sorted(vocabulary.items(), key=itemgetter(1)) if token not in apart}
    numbered = Unigram(
        tokens=tuple(map(str.encode, ids)),
        ids=tuple(ids.values()),
        # Other tokens of the vocabulary are never found.
        scores=tuple([pieces.get(token, -math.inf) for token in ids]),
        unk_id=vocabulary[unk],
        unk_score=model.unk_score,
        unlisted=tuple(sorted((piece, score) for piece, score in pieces.items() if piece not in ids)),
    )
    by_id = sorted((*special, *added), key=lambda token: token.id)
    return spec.replace(model=numbered, added_tokens=tuple(by_id), roles=tuple(roles.items()))


def _vocabulary(folder: Path, name: str) -> dict[str, int]:
    found = table(folder, name)
    if not found:
        raise FormatError(f"{name} is missing", file=str(folder / name), remedy="fetch the folder again")
    return ids_of(found, folder / name)


def one_of(config: Mapping[str, Any], path: Path, name: str, usual: str, known: Sequence[str]) -> str:
    """The value of a setting that the folder of a ``.model`` has, or else `usual`.

    Raises:
        FormatError: It is not one that is known.
    """
    value = config.get(name) or usual
    if value not in known:
        place = str(path.with_name(CONFIG))
        what, remedy = f"{name} is {str(value)[:80]!r}", f"use one of {', '.join(known)}"
        raise FormatError(what, file=place, pointer=f"/{name}", remedy=remedy)
    return str(value)
