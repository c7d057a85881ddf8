"""The special tokens of a tokenizer by role: bos, eos, pad and unk, as its files name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.call.spelling import spell_tokens, vocabulary
from bytepair.model.cache import cached
from bytepair.model.meanings import unknown_of

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer


def token_of(tok: CompiledTokenizer, role: str) -> str | None:
    """The token of a role; None if no file names one. The unknown token is then that of the model, if it has one."""
    named = dict(tok.spec.roles).get(role)
    if named is None and role == "unk" and (id := _unknown(tok)) is not None:
        return spell_tokens(tok, [id])[0]
    return named


def id_of(tok: CompiledTokenizer, role: str) -> int | None:
    """The id of the token of a role; None if no file names one, or the named token has no id.

    Example:
        >>> import bytepair as bp
        >>> spec = bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]).spec
        >>> tok = bp.Tokenizer(spec.replace(roles=(("eos", "<|end|>"), ("pad", "<pad>"))))
        >>> id_of(tok, "eos"), id_of(tok, "pad"), id_of(tok, "bos")
        (257, None, None)
    """
    named = dict(tok.spec.roles).get(role)
    if named is None:
        return _unknown(tok) if role == "unk" else None
    added = {token.content: token.id for token in tok.spec.added_tokens}
    # An added token is found without a table of the whole vocabulary.
    return added[named] if named in added else vocabulary(tok).get(named)


def _unknown(tok: CompiledTokenizer) -> int | None:
    return cached(tok, "unknown", lambda tok: unknown_of(tok.spec))
