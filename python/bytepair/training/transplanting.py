"""The rows of an embedding for the vocabulary of another model, guided by that model's own embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.alignment.vocabularies import align_vocabularies
from bytepair.errors import FormatError
from bytepair.resolver import TokenizerLike, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from numpy.typing import NDArray

    from bytepair.call.ragged import Ragged
    from bytepair.tokenizer import Tokenizer

_METHODS = ("similarity", "matching_pursuit", "mean_of_parts")

_BLOCK = 64


def transplant(
    matrix: Any,
    old: TokenizerLike,
    new: TokenizerLike,
    guide: Any = None,
    *,
    method: Literal["similarity", "matching_pursuit", "mean_of_parts"] = "similarity",
    parts: int = 16,
    pairs: Mapping[str, str] | None = None,
) -> Any:
    """Rebuilds an embedding or output layer for the tokenizer of another model.

    Tokens that mean the same bytes in both tokenizers keep their rows; they are the anchors. Each other token of `new`
    gets a sum of anchors' rows. Its weights come from `guide`, an embedding of `new` in any space, such as that of the
    model that `new` belongs to: they write the token's row there as a sum of the anchors' rows there.

    - ``similarity``: the cosines with all anchors, made into weights by sparsemax (Martins and Astudillo, 2016), as in
      FOCUS (Dobler and de Melo, 2023).
    - ``matching_pursuit``: orthogonal matching pursuit (Pati et al., 1993; for vocabularies Goddard and Fernandes Neto,
      2025). The anchor that points most nearly along what is left joins, and all weights are fitted again by least
      squares, until there are `parts` anchors.
    - ``mean_of_parts``: the mean of the rows of the ids of its bytes in `old`, which needs no guide.

    Args:
        matrix: Shape ``(old.vocab_size, dim)``: a numpy array, or a tensor of torch. It is not changed.
        old: The tokenizer of the matrix, or any name that `bytepair.load` takes.
        new: The tokenizer of the result, likewise.
        guide: Shape ``(new.vocab_size, any)``, an array or tensor.
        method: How weights are found.
        parts: The most anchors of a token, for ``matching_pursuit``.
        pairs: Added tokens of `new`, each with the one of `old` that means the same, as for `align_vocabularies`.

    Returns:
        Shape ``(new.vocab_size, dim)``, of the type and dtype of `matrix`. Ids without a token have zeros.

    Raises:
        FormatError: A matrix has other than two dimensions or fewer rows than its tokenizer has ids, or is of integers;
            the guide is missing or of no use; the two vocabularies share no token.
        SpecialTokenError: `pairs` names a token that its tokenizer does not have.
        ValueError: `method` is unknown, or `parts` is below 1.

    Complexity: for each token `parts` products of the guide's anchors with a row, in blocks of 64 tokens; once for
    ``similarity``. Memory: anchors times 64 numbers beside the matrices.

    Example:
        >>> import numpy as np
        >>> from bytepair import train
        >>> old, new = train({"low": 5}, vocab_size=258), train({"lot": 5}, vocab_size=258)
        >>> matrix, guide = np.arange(258.0)[:, None], np.eye(258)
        >>> guide[257] = guide[256] + guide[116]
        >>> new.token_bytes(257), transplant(matrix, old, new, guide, method="matching_pursuit", parts=2)[257]
        (b'lot', array([372.]))
    """
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is unknown; use one of {', '.join(_METHODS)}")
    if parts < 1:
        raise ValueError(f"parts={parts} would make no rows; use 1 or more")
    old, new = load(old), load(new)
    rows = _numbers(matrix, old, "matrix")
    found = align_vocabularies(new, old, pairs=pairs)
    known = np.diff(found.offsets) == 1
    anchors = np.flatnonzero(known)
    sources = found.ids[found.offsets[:-1][known]]
    result = np.zeros((new.vocab_size, rows.shape[1]), rows.dtype)
    result[anchors] = rows[sources]
    fresh = np.array(sorted(_token_ids(new) - set(anchors.tolist())), np.intp)
    if method == "mean_of_parts":
        for id in fresh.tolist():
            result[id] = _mean_of_parts(rows, id, old, new, found)
        return _like(matrix, result)
    if guide is None:
        raise FormatError(
            f"{method} needs a guide: an embedding with a row for each id of the new tokenizer",
            remedy='pass guide=, or method="mean_of_parts"',
        )
    directions = _numbers(guide, new, "guide").astype(np.float64, copy=False)
    lengths = np.linalg.norm(directions, axis=1)
    able = lengths[anchors] > 0
    anchors, sources = anchors[able], sources[able]
    if len(fresh) and not len(anchors):
        raise FormatError(
            "the two vocabularies share no token that the guide has a direction for",
            remedy="pass another guide, or pairs= of added tokens",
        )
    values = rows[sources].astype(np.float64, copy=False)
    atoms = directions[anchors]
    units = atoms / lengths[anchors, None]
    for start in range(0, len(fresh), _BLOCK):
        some = fresh[start : start + _BLOCK]
        if method == "similarity":
            toward = directions[some] / np.maximum(lengths[some, None], np.finfo(np.float64).tiny)
            result[some] = _sparsemax(toward @ units.T) @ values
        else:
            chosen, weights = _pursue(directions[some], atoms, units, min(parts, len(atoms)))
            result[some] = np.einsum("nk,nkd->nd", weights, values[chosen])
    return _like(matrix, result)


def _pursue(
    targets: NDArray[np.float64], atoms: NDArray[np.float64], units: NDArray[np.float64], parts: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Orthogonal matching pursuit of some rows at once: the atoms of each, and their weights."""
    many = len(targets)
    chosen = np.zeros((many, parts), np.intp)
    products = np.zeros((many, parts, parts))
    wanted = np.zeros((many, parts))
    weights = np.zeros((many, parts))
    left = targets.copy()
    for part in range(parts):
        nearness = np.abs(left @ units.T)
        np.put_along_axis(nearness, chosen[:, :part], -1.0, axis=1)
        chosen[:, part] = nearness.argmax(axis=1)
        so_far = atoms[chosen[:, : part + 1]]
        newest = so_far[:, part]
        row = np.einsum("nkd,nd->nk", so_far, newest)
        products[:, part, : part + 1] = products[:, : part + 1, part] = row
        wanted[:, part] = (targets * newest).sum(axis=1)
        # Anchors can depend on one another: the pseudo-inverse takes the least weights.
        inverse = np.linalg.pinv(products[:, : part + 1, : part + 1], hermitian=True)
        weights[:, : part + 1] = np.einsum("nij,nj->ni", inverse, wanted[:, : part + 1])
        left = targets - np.einsum("nk,nkd->nd", weights[:, : part + 1], so_far)
    return chosen, weights


def _sparsemax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point to each row whose numbers are not negative and add up to 1."""
    ordered = -np.sort(-scores, axis=1)
    above = np.cumsum(ordered, axis=1) - 1
    support = (ordered * np.arange(1, scores.shape[1] + 1) > above).sum(axis=1)
    threshold = above[np.arange(len(scores)), support - 1] / support
    kept: NDArray[np.float64] = np.maximum(scores - threshold[:, None], 0)
    return kept


def _mean_of_parts(rows: NDArray[Any], id: int, old: Tokenizer, new: Tokenizer, found: Ragged) -> NDArray[np.float64]:
    parts = found[id].tolist()
    added = next((token.content for token in new.spec.added_tokens if token.id == id), None)
    if not parts and added is not None:
        parts = old.encode(added, special="text")
    mean: NDArray[np.float64] = rows[parts].mean(axis=0, dtype=np.float64) if parts else np.zeros(rows.shape[1])
    return mean


def _token_ids(tokenizer: Tokenizer) -> set[int]:
    spec = tokenizer.spec
    return {*spec.model.ids, *(token.id for token in spec.added_tokens)}


def _numbers(given: Any, tokenizer: Tokenizer, name: str) -> NDArray[Any]:
    """The rows of a matrix as an array; those of a tensor in 32 bits, if it has fewer."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        given = given.float() if given.element_size() < 4 else given
    rows = np.asarray(given)
    if rows.ndim != 2 or rows.dtype.kind != "f":
        raise FormatError(
            f"the {name} has {rows.ndim} dimensions of {rows.dtype}",
            remedy="pass a row of floating point numbers for each id: shape (vocab_size, dim)",
        )
    if len(rows) < tokenizer.vocab_size:
        raise FormatError(
            f"the {name} has {len(rows)} rows, and its tokenizer {tokenizer.vocab_size} ids",
            remedy="pass the tokenizer that it belongs to",
        )
    return rows[: tokenizer.vocab_size]


def _like(given: Any, result: NDArray[Any]) -> Any:
    if not hasattr(given, "detach"):
        return result
    import torch  # type: ignore[import-not-found, unused-ignore]  # whoever passes a tensor has it

    return torch.from_numpy(result).to(given)
