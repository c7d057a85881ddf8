"""The rows of an embedding for another vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.resolver import TokenizerLike, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from bytepair.tokenizer import Tokenizer

    Fill: TypeAlias = "Literal['mean_of_parts', 'mean', 'zeros'] | Callable[[bytes], ArrayLike]"

_FILLS = ("mean_of_parts", "mean", "zeros")

_CHUNK = 4096


def resize_embeddings(
    matrix: NDArray[Any],
    old: TokenizerLike,
    new: TokenizerLike,
    *,
    fill: Fill = "mean_of_parts",
    rows: int | None = None,
) -> NDArray[Any]:
    """Rebuilds an embedding or output layer, a matrix with a row per id, for another tokenizer.

    Tokens in both tokenizers keep their rows, whatever their ids: those with equal bytes, and added tokens with equal
    content. A new token gets a row by `fill`. Rows without a token (holes between ids, and padding behind them) are
    zeros in the result.

    Args:
        matrix: Shape ``(old.vocab_size, dim)``, of any dtype. Other types are converted by ``numpy.asarray``; the
            matrix is not changed. Pass a bias as one column: ``bias[:, None]``.
        old: The tokenizer of the matrix, or any name that `bytepair.load` takes.
        new: The tokenizer of the result, likewise.
        fill: ``mean_of_parts``: the mean of the rows of the ids of the token's bytes in the old tokenizer;
            ``mean``: the mean of the rows of all its tokens; ``zeros``; or a callable from the token's bytes to
            a row. Means are taken in float64.
        rows: For padded matrices: the number of rows of the result, from ``new.vocab_size`` on. The matrix may then
            have more rows than ``old.vocab_size``; they are dropped. For a multiple of 128:
            ``rows=-(-new.vocab_size // 128) * 128``.

    Returns:
        A new array of shape ``(new.vocab_size, dim)``, or ``(rows, dim)``, with the dtype of `matrix`. No other array
        of this size is made.

    Raises:
        FormatError: `matrix` has other than two dimensions, fewer rows than ``old.vocab_size``, or more and `rows` is
            not given; `rows` is below ``new.vocab_size``; a mean of integers is requested; a callable returns a row of
            another shape.
        EncodeError: A byte of a new token has no token in the old vocabulary, so it has no parts.

    Time: linear in the result, and a Python step for each token.

    Example:
        >>> import numpy as np
        >>> from bytepair import extend, train
        >>> old = train({"low": 5}, vocab_size=258)
        >>> new = extend(old, {"lowest": 2}, vocab_size=259, max_token_length=2)
        >>> matrix = np.arange(258.0)[:, None]
        >>> new.token_bytes(258), resize_embeddings(matrix, old, new)[-1]
        (b'es', array([108.]))
    """
    old, new = load(old), load(new)
    matrix = np.asarray(matrix)
    total = _check(matrix, old, new, fill, rows)
    kept, fresh, holes = _correspondence(old, new, total)
    # Rows without an old token are overwritten; copying row 0 into them lets one call copy all without a second matrix.
    result = np.empty((total, matrix.shape[1]), matrix.dtype)
    if len(matrix):
        np.take(matrix, kept, axis=0, out=result, mode="clip")
    result[holes] = 0
    if fresh and fill == "mean":
        result[list(fresh)] = _mean(matrix, sorted(set(_tokens(old).values())))
    elif fresh and fill == "zeros":
        result[list(fresh)] = 0
    elif fill == "mean_of_parts":
        parts = _Parts(old)
        for id, (token, is_added) in fresh.items():
            result[id] = _mean(matrix, parts(token, is_added=is_added))
    elif callable(fill):
        for id, (token, _) in fresh.items():
            row = np.asarray(fill(token))
            if row.shape != result.shape[1:]:
                raise FormatError(
                    f"the row for {token!r} has the shape {row.shape}", remedy=f"return one of {result.shape[1:]}"
                )
            result[id] = row
    return result


def _check(matrix: NDArray[Any], old: Tokenizer, new: Tokenizer, fill: Fill, rows: int | None) -> int:
    """The number of rows of the result."""
    if not callable(fill) and fill not in _FILLS:
        raise ValueError(f"fill={fill!r} is unknown; use one of {', '.join(_FILLS)}, or a callable")
    if matrix.ndim != 2:
        raise FormatError(
            f"the matrix has {matrix.ndim} dimensions", remedy="pass a row for each id: shape (vocab_size, dim)"
        )
    if len(matrix) < old.vocab_size:
        raise FormatError(
            f"the matrix has {len(matrix)} rows, and the old tokenizer {old.vocab_size} ids",
            remedy="pass the tokenizer that the matrix belongs to",
        )
    if len(matrix) > old.vocab_size and rows is None:
        raise FormatError(
            f"the matrix has {len(matrix)} rows, {len(matrix) - old.vocab_size} more than the old tokenizer has ids",
            remedy=f"if they are padding, pass the rows of the result, which drops them: rows={new.vocab_size}",
        )
    if rows is not None and rows < new.vocab_size:
        raise FormatError(f"rows={rows} is fewer than the {new.vocab_size} ids", remedy=f"use {new.vocab_size} or more")
    if matrix.dtype.kind in "iub" and fill in ("mean", "mean_of_parts"):
        raise FormatError(
            f"a mean of {matrix.dtype} is not {matrix.dtype}", remedy='convert the matrix, or use fill="zeros"'
        )
    return new.vocab_size if rows is None else rows


def _tokens(tokenizer: Tokenizer) -> dict[tuple[bytes, bool], int]:
    """The id of each token, keyed by its bytes and whether it is added."""
    spec = tokenizer.spec
    tokens = {(token, False): id for token, id in zip(spec.model.tokens, spec.model.ids, strict=True)}
    tokens.update({(token.content.encode(), True): token.id for token in spec.added_tokens})
    return tokens


def _correspondence(
    old: Tokenizer, new: Tokenizer, rows: int
) -> tuple[NDArray[np.intp], dict[int, tuple[bytes, bool]], NDArray[np.bool_]]:
    """The old row of each row, the new tokens by id, and a mask of rows without a token."""
    known = _tokens(old)
    kept = np.zeros(rows, np.intp)
    holes = np.ones(rows, np.bool_)
    fresh: dict[int, tuple[bytes, bool]] = {}
    for token, id in _tokens(new).items():
        if token in known:
            kept[id] = known[token]
            fresh.pop(id, None)
        elif holes[id]:
            fresh[id] = token
        holes[id] = False
    return kept, fresh, holes


class _Parts:
    """The ids, in a tokenizer, of tokens that it does not have."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._encoder = tokenizer.encoder("heap")

    def __call__(self, token: bytes, *, is_added: bool) -> list[int]:
        # Added tokens are text, which is split; the others lie within a piece, and need not be text.
        if is_added:
            return self._tokenizer.encode(token, special="text")
        return self._encoder.encode_piece(token)


def _mean(matrix: NDArray[Any], ids: list[int]) -> NDArray[np.float64]:
    total = np.zeros(matrix.shape[1], np.float64)
    for start in range(0, len(ids), _CHUNK):
        total += matrix[ids[start : start + _CHUNK]].sum(axis=0, dtype=np.float64)
    return total / len(ids)
