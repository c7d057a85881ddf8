"""Names that ``tokenizers`` has for components written in Python: they say that there are none here."""

from __future__ import annotations

from enum import Enum
from typing import Any, NoReturn


class OffsetReferential(Enum):
    """What offsets refer to."""

    ORIGINAL = "original"
    NORMALIZED = "normalized"


class OffsetType(Enum):
    """What offsets count."""

    BYTE = "byte"
    CHAR = "char"


class SplitDelimiterBehavior(Enum):
    """What becomes of what divides: a value that ``Split`` and ``Punctuation`` take."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"


class NormalizedString:
    """Not supported: what normalizers written in Python change."""

    def __new__(cls, *said: Any, **more: Any) -> NoReturn:  # noqa: D102 (whatever is said)
        raise NotImplementedError("NormalizedString is not supported; normalizers have normalize_str")


class PreTokenizedString:
    """Not supported: what pre-tokenizers written in Python change."""

    def __new__(cls, *said: Any, **more: Any) -> NoReturn:  # noqa: D102 (whatever is said)
        raise NotImplementedError("PreTokenizedString is not supported; pre-tokenizers have pre_tokenize_str")
