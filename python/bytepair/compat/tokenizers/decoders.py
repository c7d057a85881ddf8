"""The decoders of ``tokenizers``: steps from tokens to text, for a tokenizer or on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from bytepair._core import decode_tokens
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.shared import ByteLevelOptions, MetaspaceOptions
from bytepair.compat.tokenizers.values import Regex, as_pattern, boolean, character, id_number, listed, natural, text
from bytepair.formats import hf_stages

if TYPE_CHECKING:
    from collections.abc import Sequence as Tokens


class Decoder(Component):
    """The base class of decoders.

    Example:
        >>> WordPiece().decode(["jump", "##ed", "."])
        'jumped.'
    """

    _stage = "decoder"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def decode(self, tokens: Tokens[str]) -> str:
        """Decode tokens to text.

        Raises:
            FormatError: The decoder is not supported; ``pointer`` names the part.
        """
        if self._custom is not None:
            return "".join(self._custom.decode_chain(list(tokens)))
        steps = hf_stages.read_steps("decoder", self._raw())
        return decode_tokens(steps, list(tokens)) if steps else "".join(tokens)

    @staticmethod
    def custom(decoder: Any) -> Decoder:
        """Make a decoder of an object with a method ``decode_chain(tokens: list[str]) -> list[str]``.

        The text is what the method returns, joined. It runs in Python; a tokenizer with one cannot be saved.

        Example:
            >>> class Dashes:
            ...     def decode_chain(self, tokens):
            ...         return [f"{token}-" for token in tokens]
            >>> Decoder.custom(Dashes()).decode(["lo", "w"])
            'lo-w-'
        """
        return Decoder._of_object(decoder)


class BPEDecoder(Decoder):
    """Replaces the suffix of words by a space."""

    suffix = Option[str](text, "</w>")

    def __init__(self, suffix: str = "</w>") -> None:
        self._set(suffix=suffix)


class ByteFallback(Decoder):
    """Converts tokens such as ``<0x41>`` to bytes."""


class ByteLevel(ByteLevelOptions, Decoder):
    """Converts the byte alphabet to bytes. The options are those of the pre-tokenizer and have no effect here."""

    def __init__(
        self,
        *,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        type: str = "ByteLevel",  # noqa: A002 (as the state has it)
    ) -> None:
        self._set(add_prefix_space=add_prefix_space, trim_offsets=trim_offsets, use_regex=use_regex, type=type)


class CTC(Decoder):
    """Removes repeated tokens and padding."""

    pad_token = Option[str](text, "<pad>")
    word_delimiter_token = Option[str](text, "|")
    cleanup = Option[bool](boolean, True)

    def __init__(self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> None:
        self._set(pad_token=pad_token, word_delimiter_token=word_delimiter_token, cleanup=cleanup)


class Fuse(Decoder):
    """Joins all tokens into one."""


class Metaspace(MetaspaceOptions, Decoder):
    """Replaces a character by spaces."""


class Replace(Decoder):
    """Replaces the matches of a pattern."""

    _pattern = Option[Any](as_pattern, None, "pattern")
    _content = Option[str](text, "", "content")

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._set(_pattern=pattern, _content=content)


class Strip(Decoder):
    """Strips a number of occurrences of a character from the ends of tokens."""

    content = Option[str](character, " ")
    start = Option[int](natural, 0)
    stop = Option[int](natural, 0)

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self._set(content=content, start=left, stop=right)


class WordPiece(Decoder):
    """Joins the tokens of a word, and removes spaces before punctuation marks."""

    prefix = Option[str](text, "##")
    cleanup = Option[bool](boolean, True)

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._set(prefix=prefix, cleanup=cleanup)


class Sequence(Inner, Decoder):
    """Applies decoders in order."""

    _inner = "decoders"

    def __init__(self, decoders_py: list[Decoder]) -> None:
        self._fill(decoders_py)
        if self._has_custom:
            raise NotImplementedError(
                "a Sequence takes no decoder written in Python: call the other decoders in its decode_chain"
            )


def _ids(given: Any) -> list[int]:
    return [id_number("ids", id) for id in listed("ids", given)]


class Decodes(Protocol):
    """A tokenizer, as far as `DecodeStream` uses it."""

    def decode(self, ids: Tokens[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids."""


class DecodeStream:
    """Streaming decode: each step returns the text that has become certain, or None.

    Text that ends with an incomplete character (U+FFFD) is held back.

    Args:
        ids: Earlier ids, whose text is not returned again.
        skip_special_tokens: Whether to leave special tokens out.

    Example:
        >>> from bytepair.compat.tokenizers import Tokenizer, models
        >>> tokenizer = Tokenizer(models.BPE())
        >>> tokenizer.add_tokens(["my", "name"])
        2
        >>> stream = DecodeStream()
        >>> stream.step(tokenizer, 0), stream.step(tokenizer, 1)
        ('my', ' name')
    """

    def __init__(self, ids: Tokens[int] | None = None, skip_special_tokens: bool | None = False) -> None:
        self._ids = [] if ids is None else _ids(ids)
        self._skip = boolean("skip_special_tokens", False if skip_special_tokens is None else skip_special_tokens)
        self._shown = ""
        self._shown_ids = 0

    def step(self, tokenizer: Decodes, id: int | Tokens[int]) -> str | None:
        """Add one or more ids; return their text, or None if it is not certain yet.

        Raises:
            ValueError: The text of all ids does not begin with the text returned so far.
        """
        if not self._shown and self._ids:
            before = tokenizer.decode(self._ids, self._skip)
            if not before.endswith("\ufffd"):
                self._shown, self._shown_ids = before, len(self._ids)
        self._ids = [*self._ids, *_ids([id] if isinstance(id, int) else id)]
        whole = tokenizer.decode(self._ids, self._skip)
        if len(whole.encode()) <= len(self._shown.encode()) or whole.endswith("\ufffd"):
            return None
        if not whole.startswith(self._shown):
            raise ValueError(f"invalid prefix: the ids are {whole!r} now, which does not begin with {self._shown!r}")
        more = whole[len(self._shown) :]
        count = len(self._ids) - self._shown_ids
        self._ids = self._ids[self._shown_ids :]
        self._shown, self._shown_ids = tokenizer.decode(self._ids, self._skip), count
        return more
