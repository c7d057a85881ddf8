"""``tekken.json`` of Mistral: a split pattern, tokens by rank, and special tokens, which have the first ids.

An id is a rank plus the number of special tokens. The file may hold more tokens than are used: ``default_vocab_size``
is their number, special tokens included. Reserved special tokens have names like ``<SPECIAL_20>``; files before
version ``v11`` may name none, and mean Mistral's first twenty. Images and audio are no part of a tokenizer: their
settings are ignored when read, and not written.

Source: ``mistral_common/tokens/tokenizers/tekken.py``.
"""

from __future__ import annotations

import binascii
import json
from typing import Any, cast

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.model.checks import MOST_IDS
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec

_FIRST_SPECIAL = [
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
]
# `mistral_common` finds them by these names, whatever their ids.
_ROLES = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
_UNNAMED_UNTIL = ("v1", "v2", "v3", "v7")
_WRITTEN_VERSION = "v7"
# A generous limit: a number in the file must not cost more memory than the file could justify.
_MOST_SPECIAL = 1 << 14


def looks_like(table: Any) -> bool:
    """Whether a parsed JSON file is a ``tekken.json``."""
    return isinstance(table, dict) and (isinstance(table.get("config"), dict) or isinstance(table.get("vocab"), list))


def read(table: dict[str, Any]) -> TokenizerSpec:
    """Reads a parsed ``tekken.json``.

    Raises:
        FormatError: Something in it is broken; ``pointer`` locates it.
    """
    config, vocab = table.get("config"), table.get("vocab")
    if not isinstance(config, dict) or not isinstance(vocab, list):
        raise FormatError("config or vocab is missing", pointer="/", remedy="is the file whole? fetch it again")
    size, special = (_number(config, name) for name in ("default_vocab_size", "default_num_special_tokens"))
    pattern = config.get("pattern")
    if not isinstance(pattern, str):
        raise FormatError(f"the pattern is {pattern!r}", pointer="/config/pattern")
    used = size - special
    if not 0 <= used <= len(vocab):
        what = f"{size} tokens, of which {special} are special, are not in a vocabulary of {len(vocab)}"
        raise FormatError(what, pointer="/config/default_vocab_size")
    named = _special(table, config, special)
    tokens = [_token(entry, rank) for rank, entry in enumerate(vocab[:used])]
    return TokenizerSpec(
        PackedModel(Columns(tokens, list(range(special, size)), None)),
        split=(pattern,) if pattern else (),
        added_tokens=tuple(AddedToken(name, id) for id, name in enumerate(named)),
        roles=tuple((role, name) for role, name in _ROLES.items() if name in named),
    )


def _number(config: dict[str, Any], name: str) -> int:
    value = config.get(name)
    if type(value) is not int or not 0 <= value < MOST_IDS:
        raise FormatError(f"{name} is {value!r}", pointer=f"/config/{name}")
    return value


def _token(entry: Any, rank: int) -> bytes:
    pointer = f"/vocab/{rank}"
    if not isinstance(entry, dict) or entry.get("rank") != rank:
        raise FormatError(f"{entry!r} is not the token of rank {rank}", pointer=pointer)
    spelled = entry.get("token_bytes")
    try:
        token = binascii.a2b_base64(spelled, strict_mode=True) if isinstance(spelled, str) else b""
    except ValueError:
        token = b""
    if not token:
        raise FormatError(f"{spelled!r} is not a token in base64", pointer=f"{pointer}/token_bytes")
    return token


def _special(table: dict[str, Any], config: dict[str, Any], count: int) -> list[str]:
    """The special tokens by id."""
    listed = table.get("special_tokens")
    if listed is None:
        if config.get("version", "v3") not in _UNNAMED_UNTIL:
            raise FormatError("the file names no special tokens", pointer="/special_tokens", remedy="fetch a newer one")
        names = list(_FIRST_SPECIAL)
    elif isinstance(listed, list):
        names = [_special_name(entry, id) for id, entry in enumerate(listed)]
    else:
        raise FormatError("the special tokens are not a list", pointer="/special_tokens")
    if len(names) > count:
        what = f"there are {len(names)} special tokens, and default_num_special_tokens is {count}"
        raise FormatError(what, pointer="/config/default_num_special_tokens")
    if count > _MOST_SPECIAL:
        what = f"the number of special tokens is {count}"
        raise FormatError(what, pointer="/config/default_num_special_tokens")
    names += [f"<SPECIAL_{id}>" for id in range(len(names), count)]
    if len(set(names)) < len(names):
        raise FormatError("two special tokens have one name", pointer="/special_tokens")
    return names


def _special_name(entry: Any, id: int) -> str:
    if not isinstance(entry, dict) or entry.get("rank") != id or not isinstance(entry.get("token_str"), str):
        raise FormatError(f"{entry!r} is not the special token with id {id}", pointer=f"/special_tokens/{id}")
    return cast("str", entry["token_str"])


def write(spec: TokenizerSpec) -> bytes:
    """Writes a ``tekken.json`` of version ``v7``, the last that `mistral-common` reads without further keys.

    Raises:
        FormatError: The tokenizer has something that the file cannot hold: more than one split pattern, special tokens
            whose ids are not the first, tokens whose ids are not ranks.
    """
    # Most loaded tokenizers are never saved.
    from bytepair.model.semantics import to_ranks  # noqa: PLC0415

    model = to_ranks(spec.byte_pair)
    special = [token.content for token in spec.added_tokens]
    count = len(special)
    plain = all(token == type(token)(token.content, id) for id, token in enumerate(spec.added_tokens))
    if not plain:
        raise _cannot("added tokens other than special ones with the first ids and without options")
    if model.ids != tuple(range(count, count + len(model.ids))):
        raise _cannot("ids that do not follow those of the special tokens without a hole")
    if len(spec.split) > 1:
        raise _cannot("several split patterns")
    config = {
        "pattern": "".join(spec.split),
        "num_vocab_tokens": len(model.tokens),
        "default_vocab_size": count + len(model.tokens),
        "default_num_special_tokens": count,
        "version": _WRITTEN_VERSION,
    }
    vocab = [
        {"rank": rank, "token_bytes": binascii.b2a_base64(token, newline=False).decode(), "token_str": _text(token)}
        for rank, token in enumerate(model.tokens)
    ]
    names = [{"rank": id, "token_str": name, "is_control": True} for id, name in enumerate(special)]
    table = {"config": config, "vocab": vocab, "special_tokens": names}
    return json.dumps(table, ensure_ascii=False, indent=1).encode()


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _cannot(what: str) -> FormatError:
    return FormatError(f"tekken.json cannot hold {what}", remedy="save as tokenizer.json or native")
