"""The pre-tokenizers of ``tokenizers``: each is a step of a tokenizer, and can be used by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from bytepair._core import pre_tokenize
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.values import (
    Hidden,
    Regex,
    as_behavior,
    as_pattern,
    behavior_name,
    boolean,
    character,
    choice,
    natural,
    read_metaspace,
    text,
)
from bytepair.formats import hf_stages
from bytepair.model import byte_alphabet

if TYPE_CHECKING:
    from typing_extensions import Self


class PreTokenizer(Component):
    """What all pre-tokenizers are.

    Example:
        >>> Sequence([WhitespaceSplit(), Digits(individual_digits=True)]).pre_tokenize_str("for 24 h")
        [('for', (0, 3)), ('2', (4, 5)), ('4', (5, 6)), ('h', (7, 8))]
    """

    _stage = "pre_tokenizer"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def pre_tokenize_str(self, s: str) -> list[tuple[str, tuple[int, int]]]:
        """The pieces of a text, and their places in characters of it.

        Raises:
            FormatError: The pre-tokenizer cannot be run; ``pointer`` says which part.
        """
        return pre_tokenize(hf_stages.read_steps("pre_tokenizer", self._raw()), text("s", s))

    def pre_tokenize(self, pretok: Any) -> NoReturn:
        """Not supported, as PreTokenizedString is not."""
        raise NotImplementedError("a PreTokenizedString is not supported; use pre_tokenize_str")

    @staticmethod
    def custom(pretok: Any) -> NoReturn:
        """Not supported: a pre-tokenizer that is written in Python."""
        raise NotImplementedError("PreTokenizer.custom is not supported: pre-tokenizers run in Rust, without Python")


class BertPreTokenizer(PreTokenizer):
    """Cuts at white space, and at each punctuation mark."""


class Whitespace(PreTokenizer):
    r"""Pieces are what ``\w+|[^\w\s]+`` matches."""


class WhitespaceSplit(PreTokenizer):
    """Cuts at white space."""


class UnicodeScripts(PreTokenizer):
    """Cuts where another script begins."""


class ByteLevel(PreTokenizer):
    """Cuts as GPT-2 does, and spells bytes in the byte alphabet.

    Args:
        add_prefix_space: Whether a text gets a space in front if it has none.
        trim_offsets: Whether offsets leave white space out, which is up to the post-processor.
        use_regex: Whether it cuts at all.
        type: What the state of a ByteLevel says; nothing else is taken.
    """

    add_prefix_space = Option[bool](boolean, True)
    trim_offsets = Option[bool](boolean, True)
    use_regex = Option[bool](boolean, True)

    def __init__(
        self,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        *,
        type: str = "ByteLevel",  # noqa: A002 (as the state has it)
    ) -> None:
        if type != "ByteLevel":
            raise ValueError(f"type={type!r}: a ByteLevel is of no other type")
        self._set(add_prefix_space=add_prefix_space, trim_offsets=trim_offsets, use_regex=use_regex)

    @staticmethod
    def alphabet() -> list[str]:
        """The 256 characters of the byte alphabet.

        Example:
            >>> sorted(ByteLevel.alphabet())[:3]
            ['!', '"', '#']
        """
        return [byte_alphabet.to_characters(bytes([byte])) for byte in range(256)]


class CharDelimiterSplit(PreTokenizer):
    """Cuts at a character, which is left out."""

    delimiter = Option[str](character, " ")

    def __init__(self, delimiter: str) -> None:
        self._set(delimiter=delimiter)


class Digits(PreTokenizer):
    """Cuts digits out, each by itself or as numbers."""

    individual_digits = Option[bool](boolean, False)

    def __init__(self, individual_digits: bool = False) -> None:
        self._set(individual_digits=individual_digits)


class FixedLength(PreTokenizer):
    """Cuts after so many characters."""

    length = Option[int](natural, 5)

    def __init__(self, length: int = 5) -> None:
        self._set(length=length)


class Metaspace(PreTokenizer):
    """Makes spaces a character, and cuts in front of it.

    Args:
        replacement: The character.
        prepend_scheme: Whether a text begins with it in any case: ``always``, ``never``, or ``first`` for the first
            one.
        split: Whether it cuts at all.
    """

    replacement = Option[str](character, "\u2581")
    prepend_scheme = Option[str](choice(always="always", never="never", first="first"), "always")
    split = Option[bool](boolean, True)

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._set(replacement=replacement, prepend_scheme=prepend_scheme, split=split)

    @classmethod
    def _read(cls, table: dict[str, Any]) -> Self:
        return super()._read(read_metaspace(table))


class Punctuation(PreTokenizer):
    """Cuts at punctuation marks."""

    behavior = Option[str](as_behavior, "Isolated", read=behavior_name)

    def __init__(self, behavior: str = "isolated") -> None:
        self._set(behavior=behavior)


class Split(PreTokenizer):
    """Cuts at what matches a pattern.

    Args:
        pattern: A literal string, or a `Regex`.
        behavior: What becomes of what matches: ``removed``, ``isolated``, ``merged_with_previous``,
            ``merged_with_next`` or ``contiguous``.
        invert: Whether it cuts at what does not match.
    """

    _pattern = Option[Any](as_pattern, None, "pattern")
    pattern = Hidden()
    behavior = Option[str](as_behavior, "Removed", read=behavior_name)
    invert = Option[bool](boolean, False)

    def __init__(self, pattern: str | Regex, behavior: str, invert: bool = False) -> None:
        self._set(_pattern=pattern, behavior=behavior, invert=invert)


class Sequence(Inner, PreTokenizer):
    """One pre-tokenizer after the other."""

    _inner = "pretokenizers"
    _is_flat = True

    def __init__(self, pre_tokenizers: list[PreTokenizer]) -> None:
        self._fill(pre_tokenizers)
