"""xgrammar: its information about a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xgrammar import TokenizerInfo, VocabType

from bytepair.prompts.tokens import token_list

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


def tokenizer_info(tok: Tokenizer, *, stop: list[int | str], vocab_size: int | None = None) -> TokenizerInfo:
    """Makes xgrammar's information about a tokenizer: the bytes of each token, in raw form.

    Special tokens and ids without a token have no bytes, so that no text of a grammar is taken for them.

    Args:
        tok: The tokenizer.
        stop: The tokens that end a text, or their ids.
        vocab_size: The rows of the model's output, if these are more than ``tok.vocab_size``.

    Raises:
        InvalidIdError: There is no such token.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.xgrammar import tokenizer_info
        >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<e>"])
        >>> tokenizer_info(tok, stop=["<e>"]).decoded_vocab[257]
        b'low'
    """
    special = {token.id for token in tok.spec.added_tokens if token.special}
    tokens = [b"" if id in special else token for id, token in enumerate(token_list(tok))]
    ends = [tok.token_id(token) if isinstance(token, str) else token for token in stop]
    return TokenizerInfo(tokens, VocabType.RAW, vocab_size=vocab_size or len(tokens), stop_token_ids=ends)
