r"""BPE of characters whose tokens end with ``@@`` where a word goes on: PhoBERT, BERTweet, CTRL, small Blenderbot.

Their merges are those of subword-nmt, whose words end with ``</w>``; a count may stand behind each. Their vocabularies
lack texts that merges make on the way to tokens: such a text, if it is left, is the unknown token. A line end belongs
to the word before it; with small Blenderbot it is a word, if it stands right behind one.

Source: ``tokenization_phobert.py``, ``tokenization_bertweet.py``, ``tokenization_ctrl.py`` and
``tokenization_blenderbot_small.py`` in ``transformers`` 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.formats.classes import A, B, refused, with_template
from bytepair.formats.configs import named_tokens
from bytepair.formats.json_files import ids_of
from bytepair.formats.text_files import lines
from bytepair.model.models import BytePair, Characters, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_replace, spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LISTED = frozenset(["Bertweet", "Phobert"])
"""The classes whose vocabulary is ``vocab.txt`` beside ``bpe.codes``."""


class _Spelled(NamedTuple):
    """A class whose vocabulary is ``vocab.json``."""

    roles: Mapping[str, str]
    """Its special tokens."""
    word: str
    """An expression that matches its words."""
    normalizers: tuple[str, ...] = ()


# White space as Python has it, and as the package regex has it.
_LISTED_WORD, _SPELLED_WORD = r"[^\s\x1c-\x1f]+\n?", r"\S+\n?"

# Characters that do not end a word where small letters are chosen; the two that are left out begin another word.
_IGNORED = r"[\p{Case_Ignorable}&&[^'.]]"
_SMALL_BLENDERBOT = _Spelled(
    {"bos": "__start__", "eos": "__end__", "unk": "__unk__", "pad": "__null__"},
    r"'|[.,!?()]?[^\s.,!?()']+|[.,!?()]",
    # A capital sigma at the end of a word is another small letter than elsewhere. An apostrophe takes the line end
    # behind it.
    (
        spell_replace(rf"(?<=\p{{Cased}}{_IGNORED}*)\u03a3(?!{_IGNORED}*\p{{Cased}})", "\u03c2", "Regex"),
        "Lowercase",
        spell_replace(r"(?<=[^\s'])\n", " __newln__ ", "Regex"),
    ),
)
_OF_CLASSES = {"CTRL": _Spelled({"unk": "<unk>"}, _SPELLED_WORD), "BlenderbotSmall": _SMALL_BLENDERBOT}
SPELLED = frozenset(_OF_CLASSES)
"""The classes whose vocabulary is ``vocab.json``."""

_END, _SEPARATOR = "</w>", "@@"
_ROLES = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "cls": "<s>", "mask": "<mask>"}
_FIRST = ("bos", "pad", "eos", "unk")

# Each token but one with the separator becomes one that ends a word.
_DECODERS = (
    spell_replace(r"\z", _END, "Regex"),
    spell_replace(f"{_SEPARATOR}{_END}", ""),
    spell_step({"type": "BPEDecoder", "suffix": _END}),
)


def read_listed(
    codes: bytes, vocabulary: bytes, name: str, config: Mapping[str, Any], special: Mapping[str, Any]
) -> TokenizerSpec:
    """Reads ``bpe.codes`` and ``vocab.txt``, of which each line is a token and its count.

    Args:
        codes: The merges.
        vocabulary: The tokens.
        name: The class.
        config: ``tokenizer_config.json``, parsed.
        special: ``special_tokens_map.json`` with the same.

    Raises:
        FormatError: A line is broken, or a token is listed twice; ``line`` names it. Or the folder wants the texts of
            tweets changed first.
    """
    if config.get("normalization"):
        raise refused(f"{name}Tokenizer with normalization changes a text in its own way")
    roles = named_tokens(special, _ROLES)
    ids = {token: id for id, token in enumerate(dict.fromkeys(roles[role] for role in _FIRST))}
    for number, line in enumerate(lines(vocabulary, "vocab.txt"), 1):
        if not line.strip():
            continue
        token, _, _ = line.strip().rpartition(" ")
        if not token or token in ids:
            what = f"the token {token!r} is there already" if token else f"{line[:80]!r} is not a token and its count"
            raise FormatError(what, line=number, remedy="is the file whole? fetch it again")
        ids[token] = len(ids)
    ids.setdefault(roles["mask"], len(ids))
    spec = _build(ids, _merges(codes, counted=True), roles, _LISTED_WORD)
    cls, sep = roles["cls"], roles["sep"]
    return with_template(spec, [cls, A, sep], [cls, A, sep, sep, B, sep])


def read_spelled(
    vocabulary: dict[str, Any], path: Path, merges: bytes, name: str, special: Mapping[str, Any]
) -> TokenizerSpec:
    """Reads ``vocab.json``, parsed, and ``merges.txt``.

    Args:
        vocabulary: The tokens with their ids.
        path: Their file.
        merges: The merges.
        name: The class, one of `SPELLED`.
        special: ``special_tokens_map.json``, parsed, with ``tokenizer_config.json``.

    Raises:
        FormatError: As for `read_listed`. Or the vocabulary lacks the unknown token.
    """
    of_class, vocabulary = _OF_CLASSES[name], ids_of(vocabulary, path)
    roles = named_tokens(special, of_class.roles)
    if roles["unk"] not in vocabulary:
        raise FormatError(f"the vocabulary has no {roles['unk']}", remedy="is the file whole? fetch it again")
    spec = _build(vocabulary, _merges(merges, counted=False), roles, of_class.word)
    return spec.replace(normalizers=of_class.normalizers)


def _merges(data: bytes, *, counted: bool) -> list[tuple[str, str]]:
    """The merges, each once, as tokens are spelled here."""
    rows = lines(data, "the list of merges")
    found: dict[tuple[str, str], None] = {}
    for number, line in enumerate(rows, 1):
        parts = line.split()
        if not parts or (number == 1 and line.startswith("#version")):
            continue
        if len(parts) != 2 + counted or parts[0].endswith(_END):
            raise FormatError(f"{line[:80]!r} is not a merge of two tokens", line=number, remedy="is the file whole?")
        pair = _spelled(parts[0]), _spelled(parts[1])
        # A pair that is listed twice has its later place.
        found.pop(pair, None)
        found[pair] = None
    return list(found)


def _spelled(part: str) -> str:
    return part.removesuffix(_END) if part.endswith(_END) and part != _END else part + _SEPARATOR


def _build(
    vocabulary: Mapping[str, int], merges: list[tuple[str, str]], roles: Mapping[str, str], word: str
) -> TokenizerSpec:
    special = {token: vocabulary[token] for token in roles.values() if token in vocabulary}
    unk = roles["unk"]
    ids = {token: id for token, id in vocabulary.items() if token not in special or token == unk}
    made = (left.removesuffix(_SEPARATOR) + right for left, right in merges)
    texts = dict.fromkeys((*(part for pair in merges for part in pair), *made))
    unlisted = tuple(text for text in texts if text not in ids)
    above = 1 + max(ids.values())
    known = ids | {text: above + place for place, text in enumerate(unlisted)}
    by_id = sorted(ids.items(), key=lambda row: row[1])
    columns = Columns(
        [token.encode() for token, _ in by_id],
        [id for _, id in by_id],
        [(known[left], known[right]) for left, right in merges],
    )
    alphabet = Characters(unk_token=unk, separator=_SEPARATOR, unlisted=unlisted)
    return TokenizerSpec(
        PackedModel(columns, model_options(BytePair((), (), (), alphabet=alphabet))),
        added_tokens=tuple(AddedToken(token, id) for token, id in sorted(special.items(), key=lambda row: row[1])),
        pre_tokenizers=(
            spell_step({"type": "Split", "pattern": {"Regex": word}, "behavior": "Removed", "invert": True}),
        ),
        decoders=_DECODERS,
        roles=tuple(roles.items()),
    )
