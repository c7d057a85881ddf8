"""The decoders of ``tokenizers``: each is a step from tokens to text, and can be used by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from bytepair._core import decode_tokens
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.values import (
    Regex,
    as_pattern,
    boolean,
    character,
    choice,
    id_number,
    listed,
    natural,
    read_metaspace,
    text,
)
from bytepair.formats import hf_stages

if TYPE_CHECKING:
    from collections.abc import Sequence as Tokens

    from typing_extensions import Self


class Decoder(Component):
    """What all decoders are.

    Example:
        >>> WordPiece().decode(["jump", "##ed", "."])
        'jumped.'
    """

    _stage = "decoder"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def decode(self, tokens: Tokens[str]) -> str:
        """The text of tokens.

        Raises:
            FormatError: The decoder cannot be run; ``pointer`` says which part.
        """
        steps = hf_stages.read_steps("decoder", self._raw())
        return decode_tokens(steps, list(tokens)) if steps else "".join(tokens)

    @staticmethod
    def custom(decoder: Any) -> NoReturn:
        """Not supported: a decoder that is written in Python."""
        raise NotImplementedError("Decoder.custom is not supported: decoders run in Rust, without Python")


class BPEDecoder(Decoder):
    """Makes the suffix of words a space."""

    suffix = Option[str](text, "</w>")

    def __init__(self, suffix: str = "</w>") -> None:
        self._set(suffix=suffix)


class ByteFallback(Decoder):
    """Makes bytes of tokens such as ``<0x41>``."""


class ByteLevel(Decoder):
    """Makes bytes of the byte alphabet; its options are those of the pre-tokenizer, and do nothing here."""

    add_prefix_space = Option[bool](boolean, True)
    trim_offsets = Option[bool](boolean, True)
    use_regex = Option[bool](boolean, True)

    def __init__(
        self,
        *,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        type: str = "ByteLevel",  # noqa: A002 (as the state has it)
    ) -> None:
        if type != "ByteLevel":
            raise ValueError(f"type={type!r}: a ByteLevel is of no other type")
        self._set(add_prefix_space=add_prefix_space, trim_offsets=trim_offsets, use_regex=use_regex)


class CTC(Decoder):
    """Leaves out what is repeated, and padding."""

    pad_token = Option[str](text, "<pad>")
    word_delimiter_token = Option[str](text, "|")
    cleanup = Option[bool](boolean, True)

    def __init__(self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> None:
        self._set(pad_token=pad_token, word_delimiter_token=word_delimiter_token, cleanup=cleanup)


class Fuse(Decoder):
    """Makes one token of all."""


class Metaspace(Decoder):
    """Makes a character spaces."""

    replacement = Option[str](character, "\u2581")
    prepend_scheme = Option[str](choice(always="always", never="never", first="first"), "always")
    split = Option[bool](boolean, True)

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._set(replacement=replacement, prepend_scheme=prepend_scheme, split=split)

    @classmethod
    def _read(cls, table: dict[str, Any]) -> Self:
        return super()._read(read_metaspace(table))


class Replace(Decoder):
    """Replaces what matches a pattern."""

    _pattern = Option[Any](as_pattern, None, "pattern")
    _content = Option[str](text, "", "content")

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._set(_pattern=pattern, _content=content)


class Strip(Decoder):
    """Takes so many of a character off the ends of tokens."""

    content = Option[str](character, " ")
    start = Option[int](natural, 0)
    stop = Option[int](natural, 0)

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self._set(content=content, start=left, stop=right)


class WordPiece(Decoder):
    """Joins what continues a word, and takes spaces away in front of punctuation marks."""

    prefix = Option[str](text, "##")
    cleanup = Option[bool](boolean, True)

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._set(prefix=prefix, cleanup=cleanup)


class Sequence(Inner, Decoder):
    """One decoder after the other."""

    _inner = "decoders"

    def __init__(self, decoders_py: list[Decoder]) -> None:
        self._fill(decoders_py)


def _ids(given: Any) -> list[int]:
    return [id_number("ids", id) for id in listed("ids", given)]


class Decodes(Protocol):
    """A tokenizer, as far as `DecodeStream` uses it."""

    def decode(self, ids: Tokens[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids."""


class DecodeStream:
    """Decodes ids that come one after another: each step gives the text that is certain by then, or None.

    Text ends with U+FFFD as long as a character is not whole, and is kept back then.

    Args:
        ids: What came before; its text is not given again.
        skip_special_tokens: Whether special tokens are left out.

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
        """The text that one or more ids add; None if that is not certain yet.

        Raises:
            ValueError: The text of all ids does not begin with what was given already.
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
