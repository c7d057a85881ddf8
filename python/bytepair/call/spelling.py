"""Tokens as the vocabulary spells them, and ids by these spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.model import byte_alphabet
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer


def spell_tokens(tok: CompiledTokenizer, ids: list[int]) -> list[str]:
    """Tokens as the vocabulary spells them: bytes in the byte alphabet, added tokens by their content."""
    known: dict[int, str] = cached(tok, "spelled_tokens", lambda _: {})
    try:
        return [known[id] for id in ids]
    except KeyError:
        pass
    spec = tok.spec
    if not known:
        known |= {id: token for token, id in spec.packed.columns.unreachable()}
        known |= {token.id: token.content for token in spec.added_tokens}
    for id in ids:
        if id not in known:
            token = tok.token_bytes(id)
            known[id] = byte_alphabet.to_characters(token) if spec.is_byte_level else token.decode("utf-8", "replace")
    return [known[id] for id in ids]


def vocabulary(tok: CompiledTokenizer) -> dict[str, int]:
    """The id of each spelling; a spelling shared by two tokens maps to the added one. Cached: do not modify it."""
    return cached(tok, "vocabulary", _vocabulary)


def _vocabulary(tok: CompiledTokenizer) -> dict[str, int]:
    ids = list(tok.spec.packed.all_ids())
    return dict(zip(spell_tokens(tok, ids), ids, strict=True)) | {
        token.content: token.id for token in tok.spec.added_tokens
    }
