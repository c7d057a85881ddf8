"""``vocab.txt`` of ESM: a token a line, found in a text wherever it stands.

The tokens are letters of proteins, or bases of nucleotides by six. The longest token that begins at a place is found
there; what is between two of them and has no white space is one unknown token.

Source: ``tokenization_esm.py`` and ``Trie`` in ``transformers`` 4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import hf_json
from bytepair.formats.classes import A, B, template
from bytepair.formats.configs import named_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.model.spec import TokenizerSpec

_ROLES = {"unk": "<unk>", "cls": "<cls>", "pad": "<pad>", "mask": "<mask>", "eos": "<eos>"}

_LONGEST_TOKEN = 64
"""In characters: each is a level of the expression."""

_WHITE_SPACE = r"[\s\x1c-\x1f]+"
"""White space as Python has it."""


def looks_like(data: bytes) -> bool:
    """Whether all of its special tokens are lines of the beginning."""
    begin = b"\n" + data[: 1 << 16] + b"\n"
    return all(b"\n" + token.encode() + b"\n" in begin for token in _ROLES.values())


def read(tokens: Sequence[str], config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of the lines of a vocabulary.

    Args:
        tokens: The lines, each once.
        config: ``tokenizer_config.json``, parsed. An ``eos_token`` that is null adds nothing behind a text.

    Raises:
        FormatError: A token is long or has white space; ``line`` names it. Or a special token is missing.
        PatternError: There are too many tokens to be found.

    Example:
        >>> spec = read(["<cls>", "<pad>", "<eos>", "<unk>", "L", "A", "<mask>"], {})
        >>> spec.model.tokens
        (b'<unk>', b'L', b'A')
    """
    for number, token in enumerate(tokens, 1):
        if len(token) > _LONGEST_TOKEN or token.split() != [token]:
            what = "has white space" if len(token) <= _LONGEST_TOKEN else f"has more than {_LONGEST_TOKEN} characters"
            raise FormatError(f"the token {token[:80]!r} {what}", line=number, remedy="fetch the file again")
    ids = {token: id for id, token in enumerate(tokens)}
    has_no_end = "eos_token" in config and config["eos_token"] is None
    roles = named_tokens(config, {role: token for role, token in _ROLES.items() if role != "eos" or not has_no_end})
    missing = next((token for token in roles.values() if token not in ids), None)
    if missing is not None:
        raise FormatError(f"the vocabulary has no {missing}", remedy="is the file whole? fetch it again")
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = sorted((ids[token], token) for token in set(roles.values()))
    found = [token for token in tokens if token not in roles.values()]
    end = [roles["eos"]] if "eos" in roles else []
    splits = {_WHITE_SPACE: "Removed"} | ({_one_of(found): "Isolated"} if found else {})
    table = {
        "version": "1.0",
        "added_tokens": [{"id": id, "content": token, "special": True, **flags} for id, token in special],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": False}
                for regex, behavior in splits.items()
            ],
        },
        # Text never becomes a special token.
        "model": {
            "type": "WordLevel",
            "vocab": {token: ids[token] for token in (roles["unk"], *found)},
            "unk_token": roles["unk"],
        },
    }
    step = template([roles["cls"], A, *end], [roles["cls"], A, *end, B, *end], ids)
    return hf_json.read(table).replace(post_processor=step, roles=tuple(roles.items()))


def _one_of(words: Iterable[str]) -> str:
    """A regular expression for the longest of the words.

    Letters before equal rests share one, so that all words of six letters of four are short.
    """
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    letters: dict[str, list[str]] = {}
    for letter, rest in rests.items():
        longer = [word for word in rest if word]
        optional = "?" if len(longer) < len(rest) else ""
        pattern = f"(?:{_one_of(longer)}){optional}" if longer else ""
        letters.setdefault(pattern, []).append(letter)
    return "|".join(f"[{''.join(map(re.escape, first))}]{rest}" for rest, first in letters.items())
