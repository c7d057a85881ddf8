"""Tokens of a Unigram that are never in a best path.

Any part of a best path is itself a best path of its text; otherwise replacing it would improve the whole. So a token
that is beaten on its own text, by a sum that is truly greater, is in no best path. Where sums are equal, or nearly so,
nothing is proved and nothing is reported.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bytepair.errors import BytepairError
from bytepair.model.models import Unigram
from bytepair.model.token_spelling import named_byte

if TYPE_CHECKING:
    from bytepair.model.spec import TokenizerSpec
    from bytepair.tokenizer import Tokenizer

_EQUAL = 1e-3
"""Sums of scores that differ by less count as equal: files store scores with about seven digits."""


def beaten(spec: TokenizerSpec) -> list[int]:
    """The positions of such tokens.

    Example:
        >>> from bytepair.model.spec import TokenizerSpec
        >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), (0, 1, 2, 3), (0.0, -1.0, -1.0, -9.0), unk_id=0)
        >>> beaten(TokenizerSpec(model))
        [3]
    """
    from bytepair.tokenizer import Tokenizer  # noqa: PLC0415 (which imports what imports this)

    model = spec.model
    if not isinstance(model, Unigram):
        raise TypeError(f"this is for a Unigram, not {type(model).__name__}")
    # The model alone: each text is one piece.
    alone = Tokenizer(
        spec.replace(
            split=(), added_tokens=(), normalizers=(), prefix_space=False, post_processor=None, pre_tokenizers=()
        )
    )
    score_of = dict(zip(model.ids, model.scores, strict=True))
    # The score of unknown text is not that of a token, even if it becomes bytes.
    unsure = {
        id
        for id, token in zip(model.ids, model.tokens, strict=True)
        if id == model.unk_id or (model.byte_fallback and named_byte(token))
    }
    wanted = [(place, id) for place, id in enumerate(model.ids) if id not in unsure]
    rows = _encoded(alone, [model.tokens[place].decode() for place, _ in wanted])
    found = []
    for (place, id), row in zip(wanted, rows, strict=True):
        if row in ([id], []) or not unsure.isdisjoint(row):
            continue
        if math.fsum(score_of[other] for other in row) > score_of[id] + _EQUAL:
            found.append(place)
    return found


def _encoded(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """The ids of each text; none for one that cannot be encoded."""
    try:
        return tokenizer.encode_batch(texts)
    except BytepairError:
        # Without an unknown token a character may have no token.
        return [_encoded(tokenizer, [text])[0] for text in texts] if len(texts) > 1 else [[]]
