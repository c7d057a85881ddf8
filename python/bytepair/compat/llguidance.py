"""llguidance: its tokenizer, which makes a trie of the bytes of tokens."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from llguidance import LLTokenizer, TokenizerWrapper

from bytepair.prompts.tokens import token_list

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


class _Given:
    """The attributes that `TokenizerWrapper` reads, and the call that it makes."""

    def __init__(self, tok: Tokenizer, eos: int, bos: int | None) -> None:
        special = {token.id for token in tok.spec.added_tokens if token.special}
        tokens = token_list(tok)
        # Special tokens are marked, so that no text of a grammar is taken for them.
        self.tokens = [b"\xff" + token if id in special else token for id, token in enumerate(tokens)]
        self.eos_token_id, self.bos_token_id = eos, bos
        self.special_token_ids = sorted(special)
        self._encode = partial(tok.encode, special="text")

    def __call__(self, text: bytes) -> list[int]:
        return self._encode(text)


def ll_tokenizer(tok: Tokenizer, *, eos: int | str, bos: int | str | None = None, **options: Any) -> LLTokenizer:
    """Makes llguidance's tokenizer.

    Args:
        tok: The tokenizer.
        eos: The token that ends a text, or its id.
        bos: The token that begins one.
        **options: Further arguments of `LLTokenizer`, such as ``n_vocab``.

    Raises:
        InvalidIdError: There is no such token.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.llguidance import ll_tokenizer
        >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<e>"])
        >>> ll_tokenizer(tok, eos="<e>").tokenize_str("low low")
        [257, 32, 257]
    """

    def id_of(token: int | str) -> int:
        return tok.token_id(token) if isinstance(token, str) else token

    given = _Given(tok, id_of(eos), None if bos is None else id_of(bos))
    return LLTokenizer(TokenizerWrapper(given), **options)
