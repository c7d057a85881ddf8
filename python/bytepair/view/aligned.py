"""An `Alignment` as text for a terminal: a line a group, with the tokens of both tokenizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.drawing.layout import aligned
from bytepair.drawing.wording import plural
from bytepair.view.spelling import spell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bytepair.alignment.result import Alignment
    from bytepair.tokenizer import Tokenizer

_APART = " | "
"""Between two tokens."""


def text(alignment: Alignment, given: str | bytes, a: Tokenizer, b: Tokenizer) -> str:
    r"""An alignment as a table without control characters: the text of each group, and its tokens.

    Groups that are not one to one are marked.

    Args:
        alignment: What `bytepair.align` made of the text.
        given: The text.
        a: The first tokenizer.
        b: The second.

    Example:
        >>> import bytepair as bp
        >>> a, b = (bp.train({"low": 5, "er": 4}, vocab_size=size) for size in (258, 259))
        >>> print(text(bp.align("lower", a, b), "lower", a, b), end="")
           text  A      B
           low   low    low
        *  er    e | r  er
        2 groups, 1 of them one to one; 3 tokens of A, 2 of B
    """
    data = given.encode() if isinstance(given, str) else given
    rows = [["", "text", "A", "B"]]
    for (ids_a, ids_b), (start, end), is_pair in zip(
        alignment, alignment.places.tolist(), alignment.is_one_to_one.tolist(), strict=True
    ):
        rows.append(["" if is_pair else "*", spell(data[start:end]), _spelled(ids_a, a), _spelled(ids_b, b)])
    pairs = int(alignment.is_one_to_one.sum())
    summary = f"{plural(len(alignment), 'group')}, {pairs:,} of them one to one"
    tokens = f"{plural(len(alignment.a.ids), 'token')} of A, {len(alignment.b.ids):,} of B"
    return "\n".join([*aligned(rows, left=(0, 1, 2, 3)), f"{summary}; {tokens}"]) + "\n"


def _spelled(ids: NDArray[np.uint32], tokenizer: Tokenizer) -> str:
    return _APART.join(spell(tokenizer.token_bytes(id)) for id in ids.tolist())
