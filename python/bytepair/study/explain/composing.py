"""`explain`: all stages of a tokenizer, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.model.cache import cached
from bytepair.resolver import TokenizerLike, load
from bytepair.study.explain.explanation import ExplainedPiece, Explanation
from bytepair.study.explain.models import Explainer, explainer_of
from bytepair.study.explain.stages import StagesBeforeModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.call.options import Added, Special
    from bytepair.tokenizer import Tokenizer


class _Explainers(NamedTuple):
    """The stages and the model of one tokenizer, ready to explain texts."""

    stages: StagesBeforeModel
    model: Explainer


def explain(tokenizer: TokenizerLike, text: str, *, special: Special = "raise", added: Added = "match") -> Explanation:
    """Explain the ids of a text: normalizer changes, pieces, and the merges, matches or segmentations of each.

    The ids are those of ``tokenizer.encode(text, special=special, added=added)``, computed by the definition of each
    model, not by the fast encoders.

    Args:
        tokenizer: A tokenizer, or any name that `bytepair.load` takes.
        text: The text.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.

    Raises:
        SpecialTokenError: The text holds a token that the call does not allow; all errors are those of
            `Tokenizer.encode`.
        TypeError: `text` is not a ``str``.

    Time is n log n in the longest piece, in Python: a million characters take a few seconds. The first call with
    a tokenizer builds tables of its vocabulary, which are cached on it.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> found = explain(tok, "low")
        >>> found.ids, [(step.left, step.right, step.result, step.rank) for step in found.pieces[0].steps]
        ([257], [(108, 111, 256, 0), (256, 119, 257, 1)])
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    tokenizer = load(tokenizer)
    options: dict[str, Any] = {"special": special, "added": added}
    # Errors of the text are those of encoding it.
    tokenizer.count(text, **options)
    parts = cached(tokenizer, "explain", _parts)
    pieces = []
    for start, end, piece, id in parts.stages.segments(text, options):
        if id is not None:
            pieces.append(ExplainedPiece(start, end, piece, "added", (id,)))
        else:
            pieces.append(ExplainedPiece(start, end, piece, **parts.model.explain(piece)))
    return Explanation(
        text=text,
        semantics=tokenizer.spec.semantics,
        normalizers=parts.stages.normalizers,
        normalized=parts.stages.normalized(text, options),
        pieces=tuple(pieces),
        tokens={id: tokenizer.token_bytes(id) for id in sorted(_named(pieces))},
        spelled=not tokenizer.spec.is_byte_level,
    )


def _parts(tokenizer: Tokenizer) -> _Explainers:
    return _Explainers(StagesBeforeModel(tokenizer.spec), explainer_of(tokenizer))


def _named(pieces: Iterable[ExplainedPiece]) -> set[int]:
    """All ids that occur."""
    named: set[int] = set()
    for piece in pieces:
        named.update(piece.ids, piece.symbols)
        named.update(step.result for step in piece.steps if step.result is not None)
        for way in piece.segmentations:
            named.update(token.id for token in way.tokens)
    return named
