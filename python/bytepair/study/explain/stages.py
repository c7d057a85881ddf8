"""The stages before the model: what normalizers change, and which pieces there are.

They run in the core, with a model behind them that has one id for each piece: so what is said of them is what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import _core
from bytepair._core import normalize
from bytepair.model.spec import TokenizerSpec, WordLevel
from bytepair.model.steps import parse_step
from bytepair.study.explain.explanation import Change, Normalized
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.model.spec import AddedToken

_LONGEST_STEP = 100
"""Longer steps, in characters, are said by their names: some have tables in them."""


class Segment(NamedTuple):
    """A piece, or an added token.

    Attributes:
        start: Its first character in the text.
        end: The character behind its last one.
        text: What the model is given; of an added token the text that it took.
        added: The id of the added token; None for a piece.
    """

    start: int
    end: int
    text: str
    added: int | None


class Stages:
    """What a tokenizer does to a text before its model is asked.

    Args:
        spec: The tokenizer.

    Example:
        >>> from bytepair.model.spec import BytePair
        >>> model = BytePair((b"a",), (0,), partial_alphabet=True)
        >>> stages = Stages(TokenizerSpec(model, normalizers=("Lowercase",), split=("[a-z]",)))
        >>> [segment.text for segment in stages.segments("Ab", {})]
        ['a', 'b']
        >>> stages.normalized("Ab", {})[0].changes
        (Change(step='Lowercase', before='Ab', after='ab'),)
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
        """All normalizers, as they are said."""
        return tuple(map(_said, self._spec.normalizers))

    def segments(self, text: str, said: dict[str, Any]) -> Iterator[Segment]:
        """The pieces and added tokens of a text in order; `said` is what `Tokenizer.encode` takes."""
        ids, places, _, _ = _core.locate(self._to_pieces, text, **said)
        texts = self._to_pieces.pieces(text, **said)
        for id, (start, end), piece in zip(ids, places, texts, strict=True):
            yield Segment(start, end, piece, None if id == self._piece else id)

    def normalized(self, text: str, said: dict[str, Any]) -> tuple[Normalized, ...]:
        """The stretches between added tokens that normalizers change, and how."""
        if not self._spec.normalizers:
            return ()
        if "special" in said and not isinstance(said["special"], str):
            said = {**said, "special": self._special & set(said["special"])}
        ids, places, _, _ = _core.locate(self._to_stretches, text, **said)
        found = []
        for id, (start, end) in zip(ids, places, strict=True):
            changes = tuple(self._changes(text[start:end])) if id == self._piece else ()
            if changes:
                found.append(Normalized(start, end, changes))
        return tuple(found)

    def _changes(self, stretch: str) -> Iterator[Change]:
        for step in self._spec.normalizers:
            after = normalize([step], stretch)
            if after != stretch:
                yield Change(_said(step), stretch, after)
            stretch = after


def _one_id(id: int, added: tuple[AddedToken, ...]) -> WordLevel:
    """A model that gives each piece this id."""
    name = "\ue000"
    while any(token.content == name for token in added):
        name += "\ue000"
    return WordLevel((name.encode(),), (id,), name)


def _ids(added: tuple[AddedToken, ...]) -> set[int]:
    return {token.id for token in added}


def _said(step: str) -> str:
    return step if len(step) <= _LONGEST_STEP else str(parse_step(step)["type"])
