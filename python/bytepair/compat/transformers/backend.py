"""`Backend`: the `Tokenizer` of `bytepair.compat.tokenizers` as an engine of ``transformers``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers.components import Changes, Component, read
from bytepair.compat.tokenizers.tokenizer import _STAGES, Tokenizer
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from bytepair.compat.tokenizers.added_tokens import AddedToken


class Backend(Tokenizer):
    """`bytepair.compat.tokenizers.Tokenizer` that takes and returns added tokens and stages of ``tokenizers``.

    Attributes:
        original: The engine it replaces; None after pickling.
    """

    original: Any = None

    @staticmethod
    def from_str(json: str) -> Backend:
        """Read the text of a ``tokenizer.json``; errors as `Tokenizer.from_str`."""
        return _backend(json)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_str(), self.encode_special_tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        return _restored(self.to_str(), self.encode_special_tokens)

    def _set_part(self, stage: str, part: Any) -> None:
        if part is not None and not isinstance(part, Component):
            part = read(_STAGES[stage]._kinds, json.loads(part.__getstate__()), f"/{stage}")
        super()._set_part(stage, part)

    def _add(self, tokens: list[AddedToken]) -> int:
        """As the base class, but refuse here tokens that no engine can have, rather than in every later call."""
        before = self._added.copy()
        count = super()._add(tokens)
        normalizes = self._parts["normalizer"] is not None
        if count and any(
            (normalizes and token.normalized) or self._model.token_to_id(token.content) is not None for token in tokens
        ):
            try:
                self._engine()
            except BytepairError:
                self._added = before
                self._added_changes += 1
                Changes.tell()
                raise
        return count

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id, as objects of ``tokenizers``."""
        import tokenizers  # noqa: PLC0415 (transformers has imported it)

        found = super().get_added_tokens_decoder()
        return {id: tokenizers.AddedToken(**token.__getstate__()) for id, token in found.items()}


def _backend(text: str) -> Backend:
    face = Tokenizer.from_str(text)
    made = Backend.__new__(Backend)
    made.__dict__.update(face.__dict__)
    return made


def _restored(text: str, encode_special_tokens: bool) -> Backend:
    made = _backend(text)
    made.encode_special_tokens = encode_special_tokens
    return made
