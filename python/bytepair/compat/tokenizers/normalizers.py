"""The normalizers of ``tokenizers``: each is a step of a tokenizer, and can be used by itself."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, ClassVar, NoReturn

from bytepair._core import normalize
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.values import Hidden, Regex, as_pattern, boolean, optional, text
from bytepair.formats import hf_stages


class Normalizer(Component):
    """What all normalizers are.

    Example:
        >>> Sequence([NFD(), StripAccents(), Lowercase()]).normalize_str("Élan")
        'elan'
    """

    _stage = "normalizer"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def normalize_str(self, sequence: str) -> str:
        """The normalized text.

        Raises:
            FormatError: The normalizer cannot be run; ``pointer`` says which part.
        """
        return normalize(hf_stages.read_steps("normalizer", self._raw()), text("sequence", sequence))

    def normalize(self, normalized: Any) -> NoReturn:
        """Not supported, as NormalizedString is not."""
        raise NotImplementedError("a NormalizedString is not supported; use normalize_str")

    @staticmethod
    def custom(obj: Any) -> NoReturn:
        """Not supported: a normalizer that is written in Python."""
        raise NotImplementedError("Normalizer.custom is not supported: normalizers run in Rust, without Python")


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
    """The normal form C of Unicode."""


class NFD(Normalizer):
    """The normal form D of Unicode."""


class NFKC(Normalizer):
    """The normal form KC of Unicode."""


class NFKD(Normalizer):
    """The normal form KD of Unicode."""


class Lowercase(Normalizer):
    """Makes letters small."""


class StripAccents(Normalizer):
    """Takes combining marks away."""


class Nmt(Normalizer):
    """Removes control characters, and makes white space spaces."""


class ByteLevel(Normalizer):
    """Spells bytes in the byte alphabet."""


class Strip(Normalizer):
    """Takes white space off the ends."""

    left = Option[bool](boolean, True, "strip_left")
    right = Option[bool](boolean, True, "strip_right")

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self._set(left=left, right=right)


class Prepend(Normalizer):
    """Puts a text in front of what is not empty."""

    prepend = Option[str](text, "\u2581")

    def __init__(self, prepend: str = "\u2581") -> None:
        self._set(prepend=prepend)


class Replace(Normalizer):
    """Replaces what matches a pattern."""

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
    """The table of a SentencePiece model.

    Raises:
        FormatError: The table is broken.
    """

    _precompiled_charsmap = Option[Any](_charsmap, "", "precompiled_charsmap")

    def __init__(self, precompiled_charsmap: bytes | list[int]) -> None:
        self._set(_precompiled_charsmap=precompiled_charsmap)
        # A broken table is told now.
        hf_stages.read_steps("normalizer", self._raw())


class Sequence(Inner, Normalizer):
    """One normalizer after the other."""

    _inner = "normalizers"
    _is_flat = True

    def __init__(self, normalizers: list[Normalizer]) -> None:
        self._fill(normalizers)


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """The normalizer of a normal form, by its name in small letters.

    Raises:
        ValueError: There is none of that name.
    """
    if normalizer not in NORMALIZERS:
        raise ValueError(f"{normalizer!r} is no normal form; use one of {', '.join(NORMALIZERS)}")
    return NORMALIZERS[normalizer]()
