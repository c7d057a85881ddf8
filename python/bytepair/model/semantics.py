"""Conversion between ``ranks`` and ``merges``, only with a proof that no id changes."""

from __future__ import annotations

from dataclasses import replace

from bytepair._core import canonical_merges
from bytepair.errors import FormatError
from bytepair.model.models import BytePair


def to_merges(model: BytePair) -> BytePair:
    """The same model with an explicit merge list.

    Each token of several bytes gets the merge of the two tokens that remain of its bytes after all lower ranks have
    merged. The proof that no text changes its ids is with ``canonical_merges`` in ``crates/core/src/merge``.

    Raises:
        FormatError: A token has no such merge, so there is no proof.

    Example:
        >>> to_merges(BytePair((b"a", b"b", b"ab"), (0, 1, 2))).merges
        ((0, 1),)
    """
    if model.merges is not None:
        return model
    return replace(model, merges=tuple(canonical_merges(list(model.tokens), list(model.ids))))


def to_ranks(model: BytePair) -> BytePair:
    """The same model without its merge list, ids being ranks.

    Raises:
        FormatError: The merges are not those that the ids imply: a text could change its ids.

    Example:
        >>> to_ranks(BytePair((b"a", b"b", b"ab"), (0, 1, 2), merges=((0, 1),))).semantics
        'ranks'
    """
    if model.merges is None:
        return model
    implied = canonical_merges(list(model.tokens), list(model.ids))
    if tuple(implied) != model.merges:
        place = next(
            (place for place, (one, other) in enumerate(zip(implied, model.merges, strict=False)) if one != other),
            min(len(implied), len(model.merges)),
        )
        raise FormatError(
            f"the merges are not what the order of the ids implies: they first differ at merge {place}",
            remedy="keep the merges: save as tokenizer.json or as the native format",
        )
    return replace(model, merges=None, ignore_merges=False)
