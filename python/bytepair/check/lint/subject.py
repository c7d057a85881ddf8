"""What is linted, and what several groups of findings ask of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bytepair.model import byte_alphabet
from bytepair.model.marks import falls_back, named_byte, unknown_id
from bytepair.model.spec import BytePair

if TYPE_CHECKING:
    from pathlib import Path

    from bytepair.model.spec import AddedToken, TokenizerSpec
    from bytepair.tokenizer import Tokenizer

# Rows that are kept free on purpose, or that stand for what is no text. Nothing is lost if text never becomes them.
_RESERVED = re.compile(
    r"<.*>|\[.*\]|｟.*｠|.*(?:unused|reserved|extra_id|madeupword|placeholder).*", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Subject:
    """A tokenizer, and where it is from.

    Attributes:
        tokenizer: The tokenizer.
        file: The file that it was loaded from; empty if it was not.
        table: What a ``tokenizer.json`` holds; None of other files.
        folder: The folder that was linted, whose other files count as well; None for a single file.
        is_partial: Whether its user knows that bytes may have no token.
        knows_stages: Whether its split pattern is known, which a rank file does not hold.
    """

    tokenizer: Tokenizer
    file: str = ""
    table: dict[str, Any] | None = None
    folder: Path | None = None
    is_partial: bool = False
    knows_stages: bool = True

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The tokenizer as plain data."""
        return self.tokenizer.spec

    @cached_property
    def added(self) -> dict[int, AddedToken]:
        """The added tokens by id."""
        return {token.id: token for token in self.spec.added_tokens}

    @cached_property
    def unknown_ids(self) -> set[int]:
        """The id of what is unknown, if there is one."""
        id = unknown_id(self.spec.model)
        return set() if id is None else {id}

    @property
    def takes_whole(self) -> bool:
        """Whether a piece that is a token is taken whole, whatever merges: with ranks it always is."""
        model = self.spec.model
        return isinstance(model, BytePair) and (model.merges is None or model.ignore_merges)

    @cached_property
    def falls_back(self) -> bool:
        """Whether unknown characters become bytes, by tokens that are named so."""
        return falls_back(self.spec.model)

    @cached_property
    def uses_byte_alphabet(self) -> bool:
        """Whether a model of characters is given bytes, a character for each."""
        steps = (*self.spec.pre_tokenizers, *self.spec.normalizers)
        return any('"ByteLevel"' in step or step == "ByteLevel" for step in steps)

    def is_aside(self, id: int, token: bytes) -> bool:
        """Whether it is not for the model to give this token: an added one, what is unknown, a byte by name."""
        if id in self.added or id in self.unknown_ids:
            return True
        return self.falls_back and named_byte(token) is not None

    def shown(self, token: bytes) -> str | bytes:
        """A token as people read it: where bytes are spelled as characters, what these are."""
        if not self.spec.is_byte_level and self.uses_byte_alphabet:
            text = token.decode()
            bare = byte_alphabet.to_bytes(text)
            return text if bare is None else bare
        return token


def looks_reserved(token: str | bytes) -> bool:
    """Whether a token is a name for something rather than text.

    Example:
        >>> looks_reserved("<extra_id_3>"), looks_reserved("[unused7]"), looks_reserved(" the")
        (True, True, False)
    """
    text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
    return _RESERVED.fullmatch(text.strip()) is not None
