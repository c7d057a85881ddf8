"""`Backend`: the face of ``tokenizers`` for ``transformers``, which hands it parts of ``tokenizers`` itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.tokenizers.components import Component, read
from bytepair.compat.tokenizers.tokenizer import _STAGES, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Backend(Tokenizer):
    """`bytepair.compat.tokenizers.Tokenizer`, with added tokens and stages of ``tokenizers`` on the outside.

    Attributes:
        original: The engine in whose place it stands; None if it was pickled.
    """

    original: Any = None

    @staticmethod
    def from_str(json: str) -> Backend:
        """The backend of the text of a ``tokenizer.json``; errors as `Tokenizer.from_str`."""
        return _backend(json)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_str(), self.encode_special_tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        return _restored(self.to_str(), self.encode_special_tokens)

    def _set_part(self, stage: str, part: Any) -> None:
        if part is not None and not isinstance(part, Component):
            part = read(_STAGES[stage]._kinds, json.loads(part.__getstate__()), f"/{stage}")
        super()._set_part(stage, part)

    def add_tokens(self, tokens: Sequence[Any]) -> int:
        """As `Tokenizer.add_tokens`."""
        return super().add_tokens([_own(token) for token in tokens])

    def add_special_tokens(self, tokens: Sequence[Any]) -> int:
        """As `Tokenizer.add_special_tokens`."""
        return super().add_special_tokens([_own(token) for token in tokens])

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id, as those of ``tokenizers``."""
        import tokenizers  # noqa: PLC0415 (who has a tokenizer of transformers has imported it)

        found = super().get_added_tokens_decoder()
        return {id: tokenizers.AddedToken(**token.__getstate__()) for id, token in found.items()}


def _own(token: Any) -> Any:
    """An added token of ``tokenizers`` as one of bytepair."""
    if isinstance(token, (str, AddedToken)) or not hasattr(token, "content"):
        return token
    return AddedToken(token.content, **{flag: getattr(token, flag) for flag in _FLAGS})


def _backend(text: str) -> Backend:
    face = Tokenizer.from_str(text)
    made = Backend.__new__(Backend)
    made.__dict__.update(face.__dict__)
    return made


def _restored(text: str, encode_special_tokens: bool) -> Backend:
    made = _backend(text)
    made.encode_special_tokens = encode_special_tokens
    return made
