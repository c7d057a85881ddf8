r"""``codes`` of subword-nmt and fastBPE, and ``vocab`` beside it: BPE of characters whose words end in ``</w>``.

A line of the codes is a merge, in order: ``l o``; fastBPE adds how often it occurred. A line of the vocabulary is a
token as these programs print it, and its count: ``low@@`` is the token ``low``, after which a word goes on, and
``low`` is ``low</w>``, which ends one. Ids are the numbers of its lines; tokens that only the codes have follow.
Without a vocabulary ids are assigned in this order: ``<unk>``, characters, products of merges. Words are separated by
spaces and line ends. A vocabulary is never taken as a filter (``--vocabulary`` of subword-nmt), which would split
tokens again.

Source: ``apply_bpe.py`` of subword-nmt 0.3, ``fastBPE.hpp``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.formats.text_files import lines
from bytepair.model.models import BytePair, Characters, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = "#version: 0.2"
_END, _GOES_ON, _UNK = "</w>", "@@", "<unk>"
_COUNTED = re.compile(rb"[^ \n]+ [^ \n]+ \d+\r?(?:\n|$)")
_ALPHABET = Characters(unk_token=_UNK, end_of_word_suffix=_END)
_SPLIT = {"type": "Split", "pattern": {"Regex": "[ \\n\\r]+"}, "behavior": "Removed", "invert": False}
_PRE_TOKENIZERS = (spell_step(_SPLIT),)
_DECODERS = (spell_step({"type": "BPEDecoder", "suffix": _END}),)


def looks_like(data: bytes) -> bool:
    """Whether it is a list of merges, with a version or counts, and some merges end a word."""
    return _END.encode() in data and (data.startswith(b"#version") or _COUNTED.match(data) is not None)


def read(data: bytes, vocab: bytes | None = None) -> TokenizerSpec:
    r"""Reads the codes, and the vocabulary if there is one.

    Raises:
        FormatError: A line is broken; ``line`` names it. Or the version is 0.1, where ``</w>`` is a symbol of its own.

    Example:
        >>> read(b"#version: 0.2\nl o\nlo w</w>\n").model.tokens[-2:]
        (b'lo', b'low</w>')
    """
    pairs = list(_pairs(data))
    ids: dict[str, int] = {} if vocab is not None else {_UNK: 0}
    for token in _vocabulary(vocab or b""):
        ids[token] = len(ids)
    if vocab is None:
        parts = {part for pair in pairs for part in pair}
        # A merge can have longer parts that no merge produces; they are tokens too.
        letters = {letter for part in parts for letter in part.removesuffix(_END)}
        for token in (*sorted(letters), *sorted(letter + _END for letter in letters)):
            ids.setdefault(token, len(ids))
    for left, right in pairs:
        for token in (left, right, left + right):
            ids.setdefault(token, len(ids))
    unk = ids.setdefault(_UNK, len(ids))
    merges = [(ids[left], ids[right]) for left, right in pairs]
    columns = Columns([token.encode() for token in ids], list(ids.values()), merges)
    return TokenizerSpec(
        PackedModel(columns, model_options(BytePair((), (), (), alphabet=_ALPHABET))),
        added_tokens=(AddedToken(_UNK, unk),),
        pre_tokenizers=_PRE_TOKENIZERS,
        decoders=_DECODERS,
    )


def _pairs(data: bytes) -> Iterator[tuple[str, str]]:
    """The merges, each once."""
    rows = lines(data, "the file of codes")
    counted = not rows[0].startswith("#version")
    if not counted and not re.fullmatch(r"#version: 0\.2(\.0)*", rows[0].strip()):
        raise FormatError(f"not supported: codes of {rows[0].strip()[1:40]}", line=1, remedy="learn them again")
    seen = set()
    for number, line in enumerate(rows, 1):
        parts = line.strip("\r ").split(" ")
        if parts == [""] or (number == 1 and not counted):
            continue
        if len(parts) != 2 + counted or not all(parts) or (counted and not parts[2].isdecimal()):
            raise FormatError(f"{line[:80]!r} is not a merge of two tokens", line=number, remedy="is the file whole?")
        pair = parts[0], parts[1]
        if parts[0].endswith(_END):
            raise FormatError(f"{parts[0]!r} ends a word and cannot merge with what follows", line=number)
        if pair not in seen:
            seen.add(pair)
            yield pair


def _vocabulary(data: bytes) -> Iterator[str]:
    """The tokens, as the model spells them."""
    seen = set()
    for number, line in enumerate(lines(data, "the vocabulary"), 1):
        if not (line := line.rstrip("\r")):
            continue
        token, _, count = line.rpartition(" ")
        if not token or not count.isdecimal():
            raise FormatError(f"{line[:80]!r} is not a token and its count", line=number, remedy="is the file whole?")
        spelled = token.removesuffix(_GOES_ON) if token.endswith(_GOES_ON) and token != _GOES_ON else token + _END
        spelled = _UNK if token == _UNK else spelled
        if spelled in seen:
            raise FormatError(f"the token {token!r} occurs twice", line=number)
        seen.add(spelled)
        yield spelled


def write(spec: TokenizerSpec) -> tuple[bytes, bytes]:
    """Writes the codes, as subword-nmt 0.2 has them, and the vocabulary, whose counts are all 1.

    Raises:
        FormatError: The tokenizer has a feature that they cannot hold; the error names it.
    """
    model = spec.model
    if not isinstance(model, BytePair) or model.alphabet is None:
        raise _cannot("a model that is not BPE of characters")
    if model.alphabet.separator or model.alphabet.unlisted:
        raise _cannot("tokens that have the separator in their names, or texts that are no tokens")
    spelled = {id: token.decode() for token, id in zip(model.tokens, model.ids, strict=True)}
    if strange := next((token for token in spelled.values() if len(token.split()) != 1), None):
        raise _cannot(f"the token {strange!r}, for white space separates tokens there")
    merges = [f"{spelled[left]} {spelled[right]}" for left, right in model.merges or ()]
    lines = [f"{_printed(token)} 1" for token in spelled.values()]
    return "\n".join([_VERSION, *merges, ""]).encode(), "\n".join([*lines, ""]).encode()


def _printed(token: str) -> str:
    """A token as the programs print it."""
    if token == _UNK:
        return token
    return token.removesuffix(_END) if token.endswith(_END) else token + _GOES_ON


def _cannot(what: str) -> FormatError:
    return FormatError(f"codes cannot hold {what}", remedy="save as tokenizer.json or native")
