"""`align`: the tokens of texts by two tokenizers, in groups that cover the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair import _core
from bytepair.alignment.pairs import Pairs
from bytepair.alignment.places import place
from bytepair.alignment.result import Alignment, AlignmentBatch
from bytepair.call.ragged import Ragged
from bytepair.errors import BytepairError, EncodeError
from bytepair.resolver import TokenizerLike, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair.call.options import Added, Special


def align(
    text: str | bytes,
    a: TokenizerLike,
    b: TokenizerLike,
    *,
    pairs: Mapping[str, str] | None = None,
    special: Special = "raise",
    added: Added = "match",
) -> Alignment:
    """Encode a text with two tokenizers and group the tokens that cover the same text.

    The groups are the finest: within a group there is no position where a token of `a` and one of `b` both end. So a
    value of each token (a probability, a hidden state, a loss) of one model can be carried to the other.

    Args:
        text: ``str``, or UTF-8 ``bytes``.
        a: The first tokenizer, or any name that `bytepair.load` takes.
        b: The second, likewise.
        pairs: For special tokens that are spelled differently: each added token of `a` that the text may hold, and the
            token of `b` that takes its place: ``{"<|im_end|>": "<|eot_id|>"}``. Both become one group of two tokens.
        special: As for `Tokenizer.encode`; tokens of `pairs` are allowed besides.
        added: As for `Tokenizer.encode`.

    Raises:
        EncodeError: As `Tokenizer.encode`, and so are the other errors.
        SpecialTokenError: The text holds a token that the call does not allow, or `pairs` names one that its tokenizer
            does not have.

    Complexity:
        About the time of encoding with both, where the stages before the models keep most of the text or only put marks
        for its spaces; where they change it, that of `Tokenizer.offsets`. Memory for 32 bytes a token.

    Example:
        >>> import bytepair as bp
        >>> a = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
        >>> b = bp.train({"er": 5}, vocab_size=257, special_tokens=["</s>"])
        >>> [(x.tolist(), y.tolist()) for x, y in bp.align("low<|end|>", a, b, pairs={"<|end|>": "</s>"})]
        [([257], [108, 111, 119]), ([258], [256])]
    """
    try:
        return align_batch([text], a, b, pairs=pairs, special=special, added=added, threads=1).groups
    except BytepairError as error:
        error.row = None
        raise


def align_batch(
    texts: Iterable[str | bytes],
    a: TokenizerLike,
    b: TokenizerLike,
    *,
    pairs: Mapping[str, str] | None = None,
    special: Special = "raise",
    added: Added = "match",
    threads: int | None = None,
) -> AlignmentBatch:
    """`align` for each text of a batch. Errors report their row.

    Several threads encode; where stages change the texts, their tokens are located on one.

    Example:
        >>> import bytepair as bp
        >>> a, b = (bp.train({"low": 5}, vocab_size=size) for size in (257, 258))
        >>> [len(found) for found in bp.align_batch(["low", "slow low"], a, b)]
        [1, 4]
    """
    a, b = load(a), load(b)
    paired = Pairs(a, b, pairs or {})
    first = [_utf8(text, row) for row, text in enumerate(texts)]
    in_a = place(a, first, special=paired.allow_a(special), added=added, threads=threads)
    second, moves = paired.replace(first)
    in_b = place(b, second, special=paired.allow_b(special), added=added, threads=threads)
    columns_b = in_b.columns if moves is None else moves.back(in_b)
    rows, groups_a, groups_b, places = _core.align_tokens(in_a.columns, columns_b)
    return AlignmentBatch(
        Alignment(Ragged(in_a.ids, groups_a), Ragged(in_b.ids, groups_b), places.reshape(-1, 2)), rows
    )


def _utf8(text: str | bytes, row: int) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(
            f"the text holds the lone surrogate {text[error.start]!r}",
            row=row,
            byte=len(text[: error.start].encode()),
            character=error.start,
            remedy='replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
        ) from None
