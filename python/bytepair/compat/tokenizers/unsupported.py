"""Names of ``tokenizers`` for components written in Python, which are not supported."""

from __future__ import annotations

from enum import Enum
from typing import Any, NoReturn


class OffsetReferential(Enum):
    """The reference of offsets: the original or the normalized text."""

    ORIGINAL = "original"
    NORMALIZED = "normalized"


class OffsetType(Enum):
    """The unit of offsets: bytes or characters."""

    BYTE = "byte"
    CHAR = "char"


class SplitDelimiterBehavior(Enum):
    """The treatment of a match: a value for ``Split`` and ``Punctuation``."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"


class NormalizedString:
    """Not supported: the argument of normalizers written in Python."""

    def __new__(cls, *args: Any, **options: Any) -> NoReturn:  # noqa: D102 (any arguments)
        raise NotImplementedError("NormalizedString is not supported; normalizers have normalize_str")


class PreTokenizedString:
    """Not supported: the argument of pre-tokenizers written in Python."""

    def __new__(cls, *args: Any, **options: Any) -> NoReturn:  # noqa: D102 (any arguments)
        raise NotImplementedError("PreTokenizedString is not supported; pre-tokenizers have pre_tokenize_str")
