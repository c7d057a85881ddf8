"""The stages before the model: the changes of normalizers, and the pieces.

They run in the core, followed by a model that has one id for each piece, so an explanation shows the actual stages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import _core
from bytepair._core import normalize
from bytepair.model.models import WordLevel
from bytepair.model.spec import TokenizerSpec
from bytepair.model.steps import parse_step
from bytepair.study.explain.explanation import NormalizedStretch, NormalizerChange
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.model.spec import AddedToken

_LONGEST_STEP = 100
"""Longer steps, in characters, are shown by name: some contain tables."""


class Segment(NamedTuple):
    """A piece, or an added token.

    Attributes:
        start: Its first character in the text.
        end: The character behind its last one.
        text: The input of the model; for an added token the text that it matched.
        added: The id of the added token; None for a piece.
    """

    start: int
    end: int
    text: str
    added: int | None


class StagesBeforeModel:
    """The stages of a tokenizer that run before its model.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> model = BytePair((b"a",), (0,), partial_alphabet=True)
        >>> stages = StagesBeforeModel(TokenizerSpec(model, normalizers=("Lowercase",), split=("[a-z]",)))
        >>> [segment.text for segment in stages.segments("Ab", {})]
        ['a', 'b']
        >>> stages.normalized("Ab", {})[0].changes
        (NormalizerChange(step='Lowercase', before='Ab', after='ab'),)
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec
        self._piece = next(id for id in range(len(spec.added_tokens) + 1) if id not in _ids(spec.added_tokens))
        self._model = _one_id(self._piece, spec.added_tokens)
        self._to_pieces = Tokenizer(
            TokenizerSpec(
                self._model,
                split=spec.split,
                added_tokens=spec.added_tokens,
                normalizers=spec.normalizers,
                prefix_space=spec.prefix_space,
                pre_tokenizers=spec.pre_tokenizers,
            )
        )
        original = tuple(token for token in spec.added_tokens if not token.normalized)
        self._to_stretches = Tokenizer(TokenizerSpec(self._model, added_tokens=original))
        self._special = {token.content for token in original if token.special}

    @property
    def normalizers(self) -> tuple[str, ...]:
        """All normalizers, as they are shown."""
        return tuple(map(_shown, self._spec.normalizers))

    def segments(self, text: str, options: dict[str, Any]) -> Iterator[Segment]:
        """The pieces and added tokens of a text in order; `options` are those of `Tokenizer.encode`."""
        ids, places, _, _ = _core.locate(self._to_pieces, text, **options)
        texts = self._to_pieces.pieces(text, **options)
        for id, (start, end), piece in zip(ids, places, texts, strict=True):
            yield Segment(start, end, piece, None if id == self._piece else id)

    def normalized(self, text: str, options: dict[str, Any]) -> tuple[NormalizedStretch, ...]:
        """The stretches between added tokens that normalizers change, and how."""
        if not self._spec.normalizers:
            return ()
        if "special" in options and not isinstance(options["special"], str):
            options = {**options, "special": self._special & set(options["special"])}
        ids, places, _, _ = _core.locate(self._to_stretches, text, **options)
        found = []
        for id, (start, end) in zip(ids, places, strict=True):
            changes = tuple(self._changes(text[start:end])) if id == self._piece else ()
            if changes:
                found.append(NormalizedStretch(start, end, changes))
        return tuple(found)

    def _changes(self, stretch: str) -> Iterator[NormalizerChange]:
        for step in self._spec.normalizers:
            after = normalize([step], stretch)
            if after != stretch:
                yield NormalizerChange(_shown(step), stretch, after)
            stretch = after


def _one_id(id: int, added: tuple[AddedToken, ...]) -> WordLevel:
    """A model with this id for every piece."""
    name = "\ue000"
    while any(token.content == name for token in added):
        name += "\ue000"
    return WordLevel((name.encode(),), (id,), name)


def _ids(added: tuple[AddedToken, ...]) -> set[int]:
    return {token.id for token in added}


def _shown(step: str) -> str:
    return step if len(step) <= _LONGEST_STEP else str(parse_step(step)["type"])
