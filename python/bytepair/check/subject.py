"""The tokenizer that is checked, and facts that several checks need."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bytepair.model import byte_alphabet
from bytepair.model.models import BytePair, Unigram
from bytepair.model.token_spelling import falls_back, named_byte, unknown_id

if TYPE_CHECKING:
    from pathlib import Path

    from bytepair.model.spec import AddedToken, TokenizerSpec
    from bytepair.tokenizer import Tokenizer

# Names of reserved and special rows: these need not be reachable from text.
_RESERVED = re.compile(
    r"<.*>|\[.*\]|｟.*｠|.*(?:unused|reserved|extra_id|madeupword|placeholder).*", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Subject:
    """A tokenizer, and the files that it was loaded from.

    Attributes:
        tokenizer: The tokenizer.
        file: The file that it was loaded from; empty if it was not.
        table: The parsed ``tokenizer.json``; None for other formats.
        folder: The folder whose other files are checked as well; None for none.
        manifest: The manifest of the folder; None if there is none.
        is_partial: Whether bytes are known to have no token.
        knows_stages: Whether its split pattern is known: a rank file does not hold one.
    """

    tokenizer: Tokenizer
    file: str = ""
    table: dict[str, Any] | None = None
    folder: Path | None = None
    manifest: dict[str, Any] | None = None
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
        """The id of the unknown token, if there is one."""
        id = unknown_id(self.spec.model)
        return set() if id is None else {id}

    @cached_property
    def never_found(self) -> set[int]:
        """The tokens that a Unigram never finds, such as those of the other language in a vocabulary of Marian."""
        model = self.spec.model
        scored = zip(model.ids, model.scores, strict=True) if isinstance(model, Unigram) else ()
        return {id for id, score in scored if score == -math.inf}

    @property
    def takes_whole(self) -> bool:
        """Whether a piece that is a token is never merged; always so with ranks."""
        model = self.spec.model
        return isinstance(model, BytePair) and (model.merges is None or model.ignore_merges)

    @cached_property
    def falls_back(self) -> bool:
        """Whether unknown characters become byte tokens such as ``<0x0A>``."""
        return falls_back(self.spec.model)

    @cached_property
    def uses_byte_alphabet(self) -> bool:
        """Whether the characters of a model stand for bytes."""
        steps = (*self.spec.pre_tokenizers, *self.spec.normalizers)
        return any('"ByteLevel"' in step or step == "ByteLevel" for step in steps)

    def is_aside(self, id: int, token: bytes) -> bool:
        """Whether text need not become this token: an added one, the unknown one, a byte, one that is never found."""
        if id in self.added or id in self.unknown_ids or id in self.never_found:
            return True
        return self.falls_back and named_byte(token) is not None

    def shown(self, token: bytes) -> str | bytes:
        """A token for display: characters that stand for bytes are shown as these bytes."""
        if not self.spec.is_byte_level and self.uses_byte_alphabet:
            text = token.decode()
            bare = byte_alphabet.to_bytes(text)
            return text if bare is None else bare
        return token


def looks_reserved(token: str | bytes) -> bool:
    """Whether a token is a name rather than text.

    Example:
        >>> looks_reserved("<extra_id_3>"), looks_reserved("[unused7]"), looks_reserved(" the")
        (True, True, False)
    """
    text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
    return _RESERVED.fullmatch(text.strip()) is not None
