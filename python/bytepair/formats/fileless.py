"""ByT5, Perceiver and CANINE: each byte is a token, or each character, and no file holds them.

A folder is of such a class if ``tokenizer_config.json`` or ``config.json`` says so. The special tokens of ByT5 and
Perceiver have the first ids, then come the bytes, then the sentinels of ByT5. The id of a character is its code point,
and CANINE's special tokens are characters as well: NUL, and four that Unicode leaves for private use.

Source: ``tokenization_byt5.py``, ``tokenization_perceiver.py`` and ``tokenization_canine.py`` in ``transformers`` 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.formats import configs
from bytepair.formats.classes import A, B, extra_ids, name_of, with_template
from bytepair.model.models import WordLevel, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class _Class(NamedTuple):
    """A class whose tokens are the bytes."""

    roles: Mapping[str, str]
    """Its special tokens, in the order of their ids."""
    single: tuple[str | int, ...]
    """The template for one text, of roles and texts."""
    pair: tuple[str | int, ...]
    strips: bool = False
    """Whether special tokens take the white space beside them."""
    sentinels: int = 0
    """How many there are where a folder does not say."""


_CLASSES = {
    "ByT5": _Class(
        {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}, (A, "eos"), (A, "eos", B, "eos"), strips=True, sentinels=125
    ),
    "Perceiver": _Class(
        {"pad": "[PAD]", "bos": "[BOS]", "eos": "[EOS]", "mask": "[MASK]", "cls": "[CLS]", "sep": "[SEP]"},
        ("cls", A, "sep"),
        ("cls", A, "sep", B, "sep"),
    ),
}


_CANINE = {"bos": "\ue000", "eos": "\ue001", "sep": "\ue001", "cls": "\ue000", "pad": "\0", "mask": "\ue003"}
"""The special tokens of CANINE."""


def looks_like(table: Mapping[str, Any]) -> bool:
    """Whether a parsed configuration names such a class.

    Example:
        >>> looks_like({"tokenizer_class": "ByT5Tokenizer"}), looks_like({"tokenizer_class": "T5Tokenizer"})
        (True, False)
    """
    return name_of(table, table) in {*_CLASSES, "Canine"}


def place_in(folder: Path) -> Path | None:
    """The configuration of a folder that names such a class; None if none does."""
    places = (folder / name for name in (configs.CONFIG, configs.MODEL))
    return next((place for place in places if place.is_file() and looks_like(configs.table(folder, place.name))), None)


def read(table: Mapping[str, Any], folder: Path) -> TokenizerSpec:
    """The tokenizer of a configuration.

    Args:
        table: The configuration that names the class.
        folder: Where it is; other files of it may name the special tokens.

    Raises:
        FormatError: A token is no text, or none of CANINE's characters; or the number of sentinels is none.

    Example:
        >>> from pathlib import Path
        >>> spec = read({"tokenizer_class": "ByT5Tokenizer"}, Path("none"))
        >>> spec.model.ids[:2], spec.added_tokens[-1].id
        ((3, 4), 383)
    """
    config = dict(table) | configs.table(folder, configs.SPECIAL) | configs.table(folder, configs.CONFIG)
    name = str(name_of(table, table))
    if name == "Canine":
        return _of_characters(config)
    of_class = _CLASSES[name]
    roles = configs.named_tokens(config, of_class.roles)
    first = len(roles)
    strips = {"lstrip": of_class.strips, "rstrip": of_class.strips}
    added = [AddedToken(token, id, **strips) for id, token in enumerate(roles.values())]
    # Where a folder lists tokens with their ids, these are added with all others that it lists.
    if "added_tokens_decoder" not in config:
        named = [token for token in configs.more_tokens(config) if token]
        sentinels = named or [f"<extra_id_{number}>" for number in range(extra_ids(config, of_class.sentinels))]
        added += [AddedToken(token, first + 256 + place) for place, token in enumerate(sentinels)]
    columns = Columns([bytes([byte]) for byte in range(256)], list(range(first, first + 256)), [])
    spec = TokenizerSpec(PackedModel(columns), added_tokens=tuple(added), roles=tuple(roles.items()))
    single, pair = ([roles.get(str(part), part) for part in row] for row in (of_class.single, of_class.pair))
    return with_template(spec, single, pair)


def _of_characters(config: Mapping[str, Any]) -> TokenizerSpec:
    roles = configs.named_tokens(config, _CANINE)
    for role, token in roles.items():
        if len(token) != 1:
            what = f"{role}_token is {token[:80]!r}, and the tokens are characters"
            raise FormatError(what, pointer=f"/{role}_token", remedy=f"correct {configs.CONFIG}, or remove it")
    # Surrogates are no characters. The model gets no special tokens: as text they are unknown.
    special = set(map(ord, roles.values()))
    ids = [id for id in (*range(0xD800), *range(0xE000, 0x110000)) if id not in special]
    columns = Columns([chr(id).encode() for id in ids], ids, None)
    added = [AddedToken(token, ord(token), lstrip=token == roles["mask"]) for token in sorted(set(roles.values()))]
    spec = TokenizerSpec(
        PackedModel(columns, model_options(WordLevel((), (), unk_token="\ufffd"))),
        added_tokens=tuple(added),
        pre_tokenizers=(
            spell_step({"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}),
        ),
        decoders=("Fuse",),
        roles=tuple(roles.items()),
    )
    cls, sep = roles["cls"], roles["sep"]
    return with_template(spec, [cls, A, sep], [cls, A, sep, B, sep], ("000", "00011"))
