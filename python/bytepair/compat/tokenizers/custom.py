"""Encoding with normalizers and pre-tokenizers written in Python: stage by stage, on what the one before left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._core import find_added
from bytepair.call.encoding import Encoding as Columns
from bytepair.compat.tokenizers.compiling import compile_core
from bytepair.compat.tokenizers.encoding import Encoding
from bytepair.compat.tokenizers.limits import pad
from bytepair.compat.tokenizers.models import Token
from bytepair.compat.tokenizers.strings import NormalizedString, PreTokenizedString

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bytepair.compat.tokenizers.normalizers import Normalizer
    from bytepair.compat.tokenizers.pre_tokenizers import PreTokenizer
    from bytepair.compat.tokenizers.rows import Ready, Text

Part = tuple[NormalizedString, "list[Token] | None"]


class Stages:
    """The stages of a tokenizer, of which some are written in Python.

    Args:
        normalizer: The normalizer; None for none.
        pre_tokenizer: The pre-tokenizer; None for none.
        tokenize: Text of a piece to tokens, with offsets in bytes.
        added: The added tokens that texts are searched for, as JSON.
    """

    def __init__(
        self,
        normalizer: Normalizer | None,
        pre_tokenizer: PreTokenizer | None,
        tokenize: Callable[[str], list[Token]],
        added: list[dict[str, Any]],
    ) -> None:
        self._normalizer, self._pre_tokenizer, self._tokenize = normalizer, pre_tokenizer, tokenize
        as_they_are = [token for token in added if not token["normalized"]]
        # A token that is matched in normalized text is normalized itself, and matched as it is then.
        normalized = [
            {**token, "content": self._normalized(token["content"]), "normalized": False}
            for token in added
            if token["normalized"]
        ]
        free = max((token["id"] for token in added), default=0) + 1
        no_model = {"type": "WordLevel", "vocab": {"": free}, "unk_token": ""}
        self._finders = [
            compile_core(no_model, [token for token in tokens if token["content"]], {}) if tokens else None
            for tokens in (as_they_are, normalized)
        ]

    def _normalized(self, content: str) -> str:
        return content if self._normalizer is None else self._normalizer.normalize_str(content)

    def rows(self, ready: Ready, inputs: list[tuple[Text, ...]], *, add: bool) -> list[Encoding]:
        """Encode texts and pairs; arguments and errors as for `Ready.rows`."""
        bare = ready._replace(padding=None)
        made = []
        for row in inputs:
            sides = [self._side(text, place) for place, text in enumerate(row)]
            made.append(bare.finish(sides, add=add, width=None))
        padding = ready.padding
        if padding is not None:
            width = padding.width(max(map(len, made), default=0))
            for each in made:
                pad(each, padding, width, ready.pad_type_id)
        return [Encoding._of(each) for each in made]

    def _side(self, text: Text, sequence: int) -> Columns:
        if isinstance(text, str):
            return self._split(text)._columns(sequence, None)
        whole = Columns([], [], [], [], [], [], [])
        for number, word in enumerate(text):
            one = self._split(word)._columns(sequence, number)
            for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask"):
                getattr(whole, name).extend(getattr(one, name))
        return whole

    def words(self, text: str) -> Iterator[str]:
        """The pieces of a text that are no added tokens."""
        return (piece.normalized for piece, tokens in self._pieces(text)._splits if tokens is None)

    def _split(self, text: str) -> PreTokenizedString:
        """A text, tokenized."""
        made = self._pieces(text)
        made.tokenize(self._tokenize)
        return made

    def _pieces(self, text: str) -> PreTokenizedString:
        """A text, cut into pieces, with tokens for those that are added tokens."""
        parts: list[Part] = []
        first, second = self._finders
        for part, tokens in self._found(first, NormalizedString(text)):
            if tokens is None and self._normalizer is not None:
                self._normalizer.normalize(part)
            parts += [(part, tokens)] if tokens is not None else self._found(second, part)
        made = PreTokenizedString._of(text, parts)
        if self._pre_tokenizer is not None:
            self._pre_tokenizer.pre_tokenize(made)
        return made

    def _found(self, finder: Any, text: NormalizedString) -> list[Part]:
        """The added tokens in a text, and the text between them."""
        found = [] if finder is None else find_added(finder, text.normalized)
        parts: list[Part] = []
        at = 0
        for id_, start, end in found:
            parts.append((text._part(at, start), None))
            part = text._part(start, end)
            # Its value is the text that matched, white space that it takes included.
            parts.append((part, [Token(id_, part.normalized, (0, len(part.normalized.encode())))]))
            at = end
        # A text without such tokens stays what callbacks may have kept of it.
        parts.append((text if not found else text._part(at, len(text.normalized)), None))
        return parts
