"""The files beside ``tokenizer.json`` that tell ``transformers`` the special tokens by role and the chat template."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.formats import configs
from bytepair.model.checks import ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bytepair.formats.manifest import Side
    from bytepair.model.spec import TokenizerSpec

# What an earlier tokenizer of the folder says about its tokens is not true of this one.
_OF_TOKENS = {
    *(f"{role}_token" for role in ROLES),
    *("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens", "add_bos_token", "add_eos_token"),
    *("padding_side", "tokenizer_class"),
}


def of_roles(spec: TokenizerSpec, folder: Path, padding_side: Side) -> dict[str, bytes]:
    """``tokenizer_config.json`` and ``special_tokens_map.json`` with the roles; none if nothing needs them.

    A configuration in the folder keeps what does not depend on the tokens, such as its chat template. Tokens that it
    names and this tokenizer does not have are taken out, or `transformers` would add them.

    Raises:
        FormatError: The configuration in the folder is broken.
        ArtifactError: It cannot be read.
    """
    # `transformers` would give a token that has no id a new one.
    there = {token.content for token in spec.added_tokens}
    named = {f"{role}_token": token for role, token in spec.roles if token in there}
    old = configs.table(folder, configs.CONFIG)
    if not named and not (old.keys() | configs.table(folder, configs.SPECIAL).keys()) & _OF_TOKENS:
        return {}
    kept = {key: value for key, value in old.items() if key not in _OF_TOKENS}
    config = {
        "clean_up_tokenization_spaces": False,
        **kept,
        **named,
        "padding_side": padding_side,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    return {configs.CONFIG: _dumps(config), configs.SPECIAL: _dumps(named)}


def of_template(source: str) -> dict[str, bytes]:
    """The file of a chat template."""
    return {configs.TEMPLATE: source.encode()}


def _dumps(table: Mapping[str, Any]) -> bytes:
    return (json.dumps(table, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
