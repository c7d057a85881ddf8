"""The values of arguments that ``tokenizers`` has as enumerations."""

from __future__ import annotations

from enum import Enum


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
