"""outlines-core: its vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlines_core import Vocabulary

from bytepair.prompts.tokens import token_list

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


def vocabulary(tok: Tokenizer, *, eos: int | str) -> Vocabulary:
    """Makes a vocabulary of outlines-core: the ids of each token's bytes, without added tokens.

    Args:
        tok: The tokenizer.
        eos: The token that ends a text, or its id.

    Raises:
        InvalidIdError: There is no such token.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.outlines import vocabulary
        >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<e>"])
        >>> vocabulary(tok, eos="<e>").get(b"low")
        [257]
    """
    end = tok.token_id(eos) if isinstance(eos, str) else eos
    added = {token.id for token in tok.spec.added_tokens}
    ids: dict[bytes, list[int]] = {}
    for id, token in enumerate(token_list(tok)):
        if token and id not in added and id != end:
            ids.setdefault(token, []).append(id)
    return Vocabulary(end, ids)
