"""`AddedToken`, and the added tokens of a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers.values import boolean, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A token that is matched before normalization and pre-tokenization.

    Args:
        content: The text of the token.
        single_word: Whether it is matched only as a whole word.
        lstrip: Whether it includes the white space before it.
        rstrip: Whether it includes the white space after it.
        normalized: Whether it is matched in the normalized text; None for True unless it is special.
        special: Whether it is special.

    Example:
        >>> token = AddedToken("<mask>", lstrip=True)
        >>> token.normalized, token == AddedToken("<mask>")
        (True, False)
    """

    def __init__(
        self,
        content: str | None = None,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        self.content = "" if content is None else content
        self.special = special
        self._single_word = boolean("single_word", single_word)
        self._lstrip = boolean("lstrip", lstrip)
        self._rstrip = boolean("rstrip", rstrip)
        self._normalized = None if normalized is None else boolean("normalized", normalized)

    @property
    def content(self) -> str:
        """The text of the token."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        self._content = text("content", content)

    @property
    def special(self) -> bool:
        """Whether it is special."""
        return self._special

    @special.setter
    def special(self, special: bool) -> None:
        self._special = boolean("special", special)

    @property
    def single_word(self) -> bool:
        """Whether it is matched only as a whole word."""
        return self._single_word

    @property
    def lstrip(self) -> bool:
        """Whether it includes the white space before it."""
        return self._lstrip

    @property
    def rstrip(self) -> bool:
        """Whether it includes the white space after it."""
        return self._rstrip

    @property
    def normalized(self) -> bool:
        """Whether it is matched in the normalized text."""
        return not self.special if self._normalized is None else self._normalized

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, **{flag: getattr(self, flag) for flag in _FLAGS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        AddedToken.__init__(self, **state)

    def _key(self) -> tuple[Any, ...]:
        return (self.content, *(getattr(self, flag) for flag in _FLAGS))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, AddedToken) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return (
            f'AddedToken("{self.content}", rstrip={self.rstrip}, lstrip={self.lstrip}, '
            f"single_word={self.single_word}, normalized={self.normalized}, special={self.special})"
        )

    def _fixed(self) -> AddedToken:
        """A copy, unaffected by later changes."""
        return AddedToken(**self.__getstate__())

    def _json(self, id: int) -> dict[str, Any]:
        return {"id": id, **self.__getstate__()}


def tokens_of(given: Any, *, special: bool) -> list[AddedToken]:
    """Convert a list of strings and added tokens; `special` makes them special.

    Raises:
        TypeError: The list contains something else.
    """
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"tokens is a List[Union[str, AddedToken]], not {type(given).__name__}")
    tokens = []
    for each in given:
        if isinstance(each, str):
            tokens.append(AddedToken(each, special=special))
        elif all(hasattr(each, name) for name in ("content", *_FLAGS)):
            # An added token of tokenizers itself, such as transformers makes.
            if special:
                each.special = True
            tokens.append(AddedToken(each.content, **{flag: getattr(each, flag) for flag in _FLAGS}))
        else:
            raise TypeError(f"Input must be a List[Union[str, AddedToken]], and {each!r} is neither")
    return tokens


class AddedTokens:
    """The added tokens of a tokenizer, by id."""

    def __init__(self) -> None:
        self.by_id: dict[int, AddedToken] = {}
        self.ids: dict[str, int] = {}

    def copy(self) -> AddedTokens:
        """A copy, unaffected by later changes."""
        made = AddedTokens()
        made.by_id, made.ids = dict(self.by_id), dict(self.ids)
        return made

    def put(self, id: int, token: AddedToken) -> None:
        """Assign an id to a token."""
        before = self.ids.get(token.content)
        if before is not None and before != id:
            del self.by_id[before]
        self.by_id[id] = token
        self.ids[token.content] = id

    def add(self, tokens: Iterable[AddedToken], vocab: Mapping[str, int]) -> int:
        """Add tokens: a token of the vocabulary keeps its id; the others get the next free ids in order.

        Args:
            tokens: The tokens.
            vocab: The vocabulary of the model.

        Returns:
            The number of tokens that are new or have changed flags.
        """
        size = len(vocab)
        last = max(self.by_id, default=-1)
        following = last + 1 if self.by_id and (last >= size or size == 0) else size
        count = 0
        for token in tokens:
            id = self.ids.get(token.content)
            if not token.content or (id is not None and self.by_id[id] == token):
                continue
            if id is None:
                id = vocab.get(token.content)
            if id is None:
                id = following
                following += 1
            self.put(id, token)
            count += 1
        return count

    def table(self) -> list[dict[str, Any]]:
        """The tokens as JSON for ``tokenizer.json``."""
        return [token._json(id) for id, token in sorted(self.by_id.items())]
