"""The normalizers of ``tokenizers``, for a tokenizer or on their own."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, ClassVar, cast

from bytepair._core import normalize
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.strings import NormalizedString
from bytepair.compat.tokenizers.values import Hidden, Regex, as_pattern, boolean, optional, text
from bytepair.formats import hf_stages


class Normalizer(Component):
    """The base class of normalizers.

    Example:
        >>> Sequence([NFD(), StripAccents(), Lowercase()]).normalize_str("Élan")
        'elan'
    """

    _stage = "normalizer"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def normalize_str(self, sequence: str) -> str:
        """Normalize a text.

        Raises:
            FormatError: The normalizer is not supported; ``pointer`` names the part.
        """
        if self._has_custom:
            edited = NormalizedString(sequence)
            self.normalize(edited)
            return edited.normalized
        return normalize(hf_stages.read_steps("normalizer", self._raw()), text("sequence", sequence))

    def normalize(self, normalized: NormalizedString) -> None:
        """Normalize a `NormalizedString` in place; errors as `normalize_str`."""
        if not isinstance(normalized, NormalizedString):
            raise TypeError(f"normalize takes a NormalizedString, not {type(normalized).__name__}; use normalize_str")
        if self._custom is not None:
            self._custom.normalize(normalized)
        elif self._has_custom and isinstance(self, Inner):
            for each in self:
                cast("Normalizer", each).normalize(normalized)
        else:
            normalized._run(*hf_stages.read_steps("normalizer", self._raw()))

    @staticmethod
    def custom(obj: Any) -> Normalizer:
        """Make a normalizer of an object with a method ``normalize(normalized: NormalizedString)``.

        It runs in Python, text by text. A tokenizer with one cannot be saved.

        Example:
            >>> class Shout:
            ...     def normalize(self, normalized):
            ...         normalized.uppercase()
            >>> Normalizer.custom(Shout()).normalize_str("low")
            'LOW'
        """
        return Normalizer._of_object(obj)


class BertNormalizer(Normalizer):
    """The normalizer of BERT."""

    clean_text = Option[bool](boolean, True)
    handle_chinese_chars = Option[bool](boolean, True)
    strip_accents = Option["bool | None"](optional(boolean), None)
    lowercase = Option[bool](boolean, True)

    def __init__(
        self,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> None:
        self._set(
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )


class NFC(Normalizer):
    """Unicode normalization form C."""


class NFD(Normalizer):
    """Unicode normalization form D."""


class NFKC(Normalizer):
    """Unicode normalization form KC."""


class NFKD(Normalizer):
    """Unicode normalization form KD."""


class Lowercase(Normalizer):
    """Converts text to lowercase."""


class StripAccents(Normalizer):
    """Removes combining marks."""


class Nmt(Normalizer):
    """Removes control characters and replaces white space by spaces."""


class ByteLevel(Normalizer):
    """Spells bytes by the byte alphabet."""


class Strip(Normalizer):
    """Strips white space at the ends."""

    left = Option[bool](boolean, True, "strip_left")
    right = Option[bool](boolean, True, "strip_right")

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self._set(left=left, right=right)


class Prepend(Normalizer):
    """Prepends a string to text that is not empty."""

    prepend = Option[str](text, "\u2581")

    def __init__(self, prepend: str = "\u2581") -> None:
        self._set(prepend=prepend)


class Replace(Normalizer):
    """Replaces the matches of a pattern."""

    _pattern = Option[Any](as_pattern, None, "pattern")
    content = Option[str](text, "")
    pattern = Hidden()

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self._set(_pattern=pattern, content=content)


def _charsmap(name: str, value: Any) -> str:
    if not isinstance(value, (bytes, bytearray, list)):
        raise TypeError(f"{name} is bytes, not {type(value).__name__}")
    return b64encode(bytes(value)).decode()


class Precompiled(Normalizer):
    """The normalization table of a SentencePiece model.

    Raises:
        FormatError: The table is malformed.
    """

    _precompiled_charsmap = Option[Any](_charsmap, "", "precompiled_charsmap")

    def __init__(self, precompiled_charsmap: bytes | list[int]) -> None:
        self._set(_precompiled_charsmap=precompiled_charsmap)
        # Report a malformed table at once.
        hf_stages.read_steps("normalizer", self._raw())


class Sequence(Inner, Normalizer):
    """Applies normalizers in order."""

    _inner = "normalizers"
    _is_flat = True

    def __init__(self, normalizers: list[Normalizer]) -> None:
        self._fill(normalizers)


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """Return the normalizer of a Unicode normalization form by its lowercase name.

    Raises:
        ValueError: There is no form of this name.
    """
    if normalizer not in NORMALIZERS:
        raise ValueError(f"{normalizer!r} is not a normalization form; use one of {', '.join(NORMALIZERS)}")
    return NORMALIZERS[normalizer]()
