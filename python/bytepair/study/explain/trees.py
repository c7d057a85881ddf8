"""The merge tree of each token of a tokenizer, which is the same in every text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.model.cache import cached
from bytepair.model.models import BytePair
from bytepair.study.explain.merging import Merging, TokenMerge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.tokenizer import Tokenizer


def merging_of(tokenizer: Tokenizer) -> Merging | None:
    """The merges of a tokenizer, cached on it; None if its model has none."""
    return cached(tokenizer, "merging", _merging)


def _merging(tokenizer: Tokenizer) -> Merging | None:
    model = tokenizer.spec.model
    return Merging(model) if isinstance(model, BytePair) else None


def made_by(tokenizer: Tokenizer, ids: Iterable[int]) -> dict[int, TokenMerge | None]:
    """The merge that makes each token, and each token that it is made of, down to those that no merge makes.

    The tree of a token depends on the token alone, not on the text around it. Proof: consider the symbols of a token in
    an encoding. No merge crossed an end of them, else its result would reach beyond the token. Each merge among them
    was, when it happened, the lowest and leftmost pair of the whole piece, so also of these symbols; and
    merges elsewhere left them as they were. So they merged as they would alone.

    With an alphabet of characters, symbols also depend on the token's position in a word. Its spelling determines that,
    except in vocabularies that spell a prefix, a suffix or a byte in two ways: there the first that leads to it counts.

    Args:
        tokenizer: Any tokenizer.
        ids: Ids that it has.

    Returns:
        `TokenMerge` by id; None for a token that no merge makes: a byte or character, an added token, one that is only
        taken whole (`taken_whole`), and all tokens of models without merges.

    Raises:
        InvalidIdError: The tokenizer does not have an id.

    Time is n log n in the bytes of the tokens; results are cached on the tokenizer.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> trees = made_by(tok, [257])
        >>> trees[257], trees[256], trees[119]
        (TokenMerge(left=256, right=119, rank=1), TokenMerge(left=108, right=111, rank=0), None)
    """
    merging = merging_of(tokenizer)
    found: dict[int, TokenMerge | None] = {}
    waiting = list(ids)
    for id in waiting:
        if id in found:
            continue
        tokenizer.token_bytes(id)
        made = found[id] = merging.made(id) if merging else None
        if made is not None:
            waiting += made[:2]
    return found


def taken_whole(tokenizer: Tokenizer, ids: Iterable[int]) -> set[int]:
    """The ids whose tokens no merges make, so that they occur only as whole pieces.

    Example:
        >>> from bytepair import Tokenizer
        >>> from bytepair.model.models import BytePair
        >>> from bytepair.model.spec import TokenizerSpec
        >>> model = BytePair((b"a", b"b", b"abab"), (0, 1, 2), partial_alphabet=True)
        >>> taken_whole(Tokenizer(TokenizerSpec(model)), [0, 1, 2])
        {2}
    """
    merging = merging_of(tokenizer)
    return {id for id in ids if merging and merging.is_whole(id)}
