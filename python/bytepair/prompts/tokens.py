"""The bytes of each token by id, in the forms that libraries for grammars take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.model.meanings import stands_for

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer


def token_list(tokenizer: CompiledTokenizer) -> list[bytes]:
    """The bytes of the text of each id, added tokens too; empty for an id without a token.

    Example:
        >>> import bytepair as bp
        >>> token_list(bp.train({"low": 5}, vocab_size=259, special_tokens=["<e>"]))[256:]
        [b'lo', b'low', b'<e>']
    """
    tokens = [b""] * tokenizer.vocab_size
    for id, token in stands_for(tokenizer.spec).items():
        tokens[id] = token
    for added in tokenizer.spec.added_tokens:
        tokens[added.id] = added.content.encode()
    return tokens
