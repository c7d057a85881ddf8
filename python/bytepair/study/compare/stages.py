"""The stages of two tokenizers side by side, from their specs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.model.models import BytePair
from bytepair.model.split_patterns import split_name
from bytepair.study.compare.result import SharedAddedTokens, StageComparison, options

if TYPE_CHECKING:
    from bytepair.model.models import Model
    from bytepair.model.spec import AddedToken, TokenizerSpec

_COLUMNS = {"tokens", "ids", "merges", "scores", "alphabet"}


def stages(a: TokenizerSpec, b: TokenizerSpec) -> tuple[StageComparison, ...]:
    """Compare each stage of two specs, in order.

    Example:
        >>> import bytepair as bp
        >>> one, two = (bp.train({"low": 5}, vocab_size=258, split=split).spec for split in ("gpt2", "cl100k"))
        >>> [(stage.name, stage.a, stage.b) for stage in stages(one, two) if not stage.same]
        [('split', ('gpt2',), ('cl100k',))]
    """
    return (
        StageComparison("added tokens", a.added_tokens == b.added_tokens, _added_lines(a), _added_lines(b)),
        StageComparison("normalizer", a.normalizers == b.normalizers, a.normalizers, b.normalizers),
        StageComparison("split", _split_of(a) == _split_of(b), _split_lines(a), _split_lines(b)),
        StageComparison("model", a.model == b.model, _model_lines(a.model), _model_lines(b.model)),
        StageComparison("post-processor", a.post_processor == b.post_processor, _post_lines(a), _post_lines(b)),
        StageComparison("decoder", a.decoders == b.decoders, a.decoders, b.decoders),
    )


def added_tokens(a: TokenizerSpec, b: TokenizerSpec) -> SharedAddedTokens:
    """Compare the added tokens of two specs, by content."""
    mine, theirs = ({token.content: token for token in spec.added_tokens} for spec in (a, b))
    both = [(token, theirs[content]) for content, token in mine.items() if content in theirs]
    return SharedAddedTokens(
        same=sum(one == other for one, other in both),
        other_id=tuple((one.content, one.id, other.id) for one, other in both if one.id != other.id),
        other_flags=tuple(one.content for one, other in both if one != other and one.id == other.id),
        only_a=_missing(mine, theirs),
        only_b=_missing(theirs, mine),
    )


def _missing(tokens: dict[str, AddedToken], others: dict[str, AddedToken]) -> tuple[tuple[str, int], ...]:
    return tuple((content, token.id) for content, token in tokens.items() if content not in others)


def _added_lines(spec: TokenizerSpec) -> tuple[str, ...]:
    if not spec.added_tokens:
        return ()
    return (f"{len(spec.added_tokens):,}, {len(spec.special_tokens):,} special",)


def _split_of(spec: TokenizerSpec) -> tuple[object, ...]:
    return spec.split, spec.prefix_space, spec.pre_tokenizers


def _split_lines(spec: TokenizerSpec) -> tuple[str, ...]:
    patterns = tuple(split_name(pattern) or pattern for pattern in spec.split)
    return patterns + ("prefix space",) * spec.prefix_space + spec.pre_tokenizers


def _model_lines(model: Model) -> tuple[str, ...]:
    settings = dict(options(model))
    if isinstance(model, BytePair):
        kind = f"BytePair of {'bytes' if model.alphabet is None else 'characters'}, {model.semantics}"
        settings |= options(model.alphabet) if model.alphabet else {}
    else:
        kind = type(model).__name__
    lines = [kind, f"{len(model.tokens):,} tokens"]
    if isinstance(model, BytePair) and model.merges is not None:
        lines.append(f"{len(model.merges):,} merges")
    # Options that are off or missing are left out.
    lines += [
        name if value is True else f"{name} {value}"
        for name, value in settings.items()
        if name not in _COLUMNS and value is not None and value is not False
    ]
    return tuple(lines)


def _post_lines(spec: TokenizerSpec) -> tuple[str, ...]:
    return () if spec.post_processor is None else (spec.post_processor,)
