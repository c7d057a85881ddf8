"""The pre-tokenizers of ``tokenizers``, for a tokenizer or on their own."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from bytepair._core import pre_tokenize
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.shared import ByteLevelOptions, MetaspaceOptions
from bytepair.compat.tokenizers.strings import PreTokenizedString
from bytepair.compat.tokenizers.values import (
    Hidden,
    Regex,
    as_behavior,
    as_pattern,
    behavior_name,
    boolean,
    character,
    natural,
    text,
)
from bytepair.formats import hf_stages
from bytepair.model import byte_alphabet


class PreTokenizer(Component):
    """The base class of pre-tokenizers.

    Example:
        >>> Sequence([WhitespaceSplit(), Digits(individual_digits=True)]).pre_tokenize_str("for 24 h")
        [('for', (0, 3)), ('2', (4, 5)), ('4', (5, 6)), ('h', (7, 8))]
    """

    _stage = "pre_tokenizer"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def pre_tokenize_str(self, s: str) -> list[tuple[str, tuple[int, int]]]:
        """Split a text into pieces; return each with its start and end in characters.

        Raises:
            FormatError: The pre-tokenizer is not supported; ``pointer`` names the part.
        """
        if self._has_custom:
            pieces = PreTokenizedString(s)
            self.pre_tokenize(pieces)
            return [(piece, place) for piece, place, _ in pieces.get_splits()]
        return pre_tokenize(hf_stages.read_steps("pre_tokenizer", self._raw()), text("s", s))

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Split the parts of a `PreTokenizedString` that have no tokens; errors as `pre_tokenize_str`."""
        if not isinstance(pretok, PreTokenizedString):
            kind = type(pretok).__name__
            raise TypeError(f"pre_tokenize takes a PreTokenizedString, not {kind}; use pre_tokenize_str")
        if self._custom is not None:
            self._custom.pre_tokenize(pretok)
        elif self._has_custom and isinstance(self, Inner):
            for each in self:
                cast("PreTokenizer", each).pre_tokenize(pretok)
        else:
            steps = hf_stages.read_steps("pre_tokenizer", self._raw())
            later = tuple(step.replace('"prepend_scheme": "first"', '"prepend_scheme": "never"') for step in steps)
            pretok.split(lambda _, part: part._pieces(later if part._whole()[0] else steps))

    @staticmethod
    def custom(pretok: Any) -> PreTokenizer:
        """Make a pre-tokenizer of an object with a method ``pre_tokenize(pretok: PreTokenizedString)``.

        It runs in Python, text by text. A tokenizer with one cannot be saved.

        Example:
            >>> class Halves:
            ...     def pre_tokenize(self, pretok):
            ...         pretok.split(lambda number, part: [part[: len(str(part)) // 2], part[len(str(part)) // 2 :]])
            >>> PreTokenizer.custom(Halves()).pre_tokenize_str("slower")
            [('slo', (0, 3)), ('wer', (3, 6))]
        """
        return PreTokenizer._of_object(pretok)


class BertPreTokenizer(PreTokenizer):
    """Splits at white space and at each punctuation mark."""


class Whitespace(PreTokenizer):
    r"""Returns the matches of ``\w+|[^\w\s]+`` as pieces."""


class WhitespaceSplit(PreTokenizer):
    """Splits at white space."""


class UnicodeScripts(PreTokenizer):
    """Splits where the script changes."""


class ByteLevel(ByteLevelOptions, PreTokenizer):
    """Splits like GPT-2, and spells bytes by the byte alphabet.

    Args:
        add_prefix_space: Whether to prepend a space to a text that begins with none.
        trim_offsets: Whether offsets exclude white space; only the post-processor uses it.
        use_regex: Whether to split.
        type: ``"ByteLevel"``, as in the state of a ByteLevel.
    """

    def __init__(
        self,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        *,
        type: str = "ByteLevel",  # noqa: A002 (as the state has it)
    ) -> None:
        self._set(add_prefix_space=add_prefix_space, trim_offsets=trim_offsets, use_regex=use_regex, type=type)

    @staticmethod
    def alphabet() -> list[str]:
        """List the 256 characters of the byte alphabet.

        Example:
            >>> sorted(ByteLevel.alphabet())[:3]
            ['!', '"', '#']
        """
        return [byte_alphabet.to_characters(bytes([byte])) for byte in range(256)]


class CharDelimiterSplit(PreTokenizer):
    """Splits at a character and drops it."""

    delimiter = Option[str](character, " ")

    def __init__(self, delimiter: str) -> None:
        self._set(delimiter=delimiter)


class Digits(PreTokenizer):
    """Splits digits off, one by one or as numbers."""

    individual_digits = Option[bool](boolean, False)

    def __init__(self, individual_digits: bool = False) -> None:
        self._set(individual_digits=individual_digits)


class FixedLength(PreTokenizer):
    """Splits into pieces of a fixed number of characters."""

    length = Option[int](natural, 5)

    def __init__(self, length: int = 5) -> None:
        self._set(length=length)


class Metaspace(MetaspaceOptions, PreTokenizer):
    """Replaces spaces by a character, and splits before it.

    Args:
        replacement: The character.
        prepend_scheme: When to prepend the character to a text: ``always``, ``never``, or ``first`` for the first
            text only.
        split: Whether to split.
    """


class Punctuation(PreTokenizer):
    """Splits at punctuation marks."""

    behavior = Option[str](as_behavior, "Isolated", read=behavior_name)

    def __init__(self, behavior: str = "isolated") -> None:
        self._set(behavior=behavior)


class Split(PreTokenizer):
    """Splits at the matches of a pattern.

    Args:
        pattern: A literal string, or a `Regex`.
        behavior: The treatment of a match: ``removed``, ``isolated``, ``merged_with_previous``,
            ``merged_with_next`` or ``contiguous``.
        invert: Whether to split at the text between matches instead.
    """

    _pattern = Option[Any](as_pattern, None, "pattern")
    pattern = Hidden()
    behavior = Option[str](as_behavior, "Removed", read=behavior_name)
    invert = Option[bool](boolean, False)

    def __init__(self, pattern: str | Regex, behavior: str, invert: bool = False) -> None:
        self._set(_pattern=pattern, behavior=behavior, invert=invert)


class Sequence(Inner, PreTokenizer):
    """Applies pre-tokenizers in order."""

    _inner = "pretokenizers"
    _is_flat = True

    def __init__(self, pre_tokenizers: list[PreTokenizer]) -> None:
        self._fill(pre_tokenizers)
