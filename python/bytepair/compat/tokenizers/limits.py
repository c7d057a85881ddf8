"""Truncation and padding as arguments of Python and as JSON in ``tokenizer.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bytepair.call.padding import Padding
from bytepair.call.truncation import Truncation
from bytepair.compat.tokenizers.values import id_number, known, natural, optional, text
from bytepair.errors import FormatError
from bytepair.formats.hf_common import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.call.encoding import Encoding

T = TypeVar("T")
Json = Any

_STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
_SIDES = {"right": "Right", "left": "Left"}


class TruncationParams(NamedTuple):
    """The arguments of ``enable_truncation``."""

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def checked(self) -> TruncationParams:
        """Validate the arguments: ValueError for an unknown value, TypeError or OverflowError for an invalid one."""
        known("strategy", self.strategy, _STRATEGIES)
        known("direction", self.direction, _SIDES)
        return self._replace(max_length=natural("max_length", self.max_length), stride=natural("stride", self.stride))

    def rule(self) -> Truncation:
        """The truncation for rows."""
        strategy: Any = self.strategy
        side: Any = self.direction
        return Truncation(self.max_length, strategy, self.stride, side)

    def table(self) -> dict[str, Json]:
        """Convert to JSON."""
        return {
            "direction": _SIDES[self.direction],
            "max_length": self.max_length,
            "strategy": _STRATEGIES[self.strategy],
            "stride": self.stride,
        }

    @classmethod
    def read(cls, table: Json) -> TruncationParams:
        """Read JSON; FormatError if it is malformed."""
        keys = {"direction", "max_length", "strategy", "stride"}
        return _read(
            lambda: cls(
                natural("max_length", table["max_length"]),
                natural("stride", table.get("stride", 0)),
                _said(table["strategy"], _STRATEGIES),
                _said(table.get("direction", "Right"), _SIDES),
            ),
            table,
            keys,
            "/truncation",
        )


class PaddingParams(NamedTuple):
    """The arguments of ``enable_padding``."""

    length: int | None = None
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_token: str = "[PAD]"
    pad_type_id: int = 0
    direction: str = "right"

    def checked(self) -> PaddingParams:
        """Validate the arguments: ValueError for an unknown value, TypeError or OverflowError for an invalid one."""
        known("direction", self.direction, _SIDES)
        return self._replace(
            length=optional(natural)("length", self.length),
            pad_to_multiple_of=optional(natural)("pad_to_multiple_of", self.pad_to_multiple_of),
            pad_id=id_number("pad_id", self.pad_id),
            pad_token=text("pad_token", self.pad_token),
            pad_type_id=id_number("pad_type_id", self.pad_type_id),
        )

    def rule(self) -> Padding:
        """The padding for rows."""
        side: Any = self.direction
        return Padding(self.pad_id, self.pad_token, self.length, self.pad_to_multiple_of or 1, side)

    def table(self) -> dict[str, Json]:
        """Convert to JSON."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": _SIDES[self.direction],
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }

    @classmethod
    def read(cls, table: Json) -> PaddingParams:
        """Read JSON; FormatError if it is malformed."""
        keys = {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"}
        return _read(
            lambda: cls(
                None if table["strategy"] == "BatchLongest" else natural("strategy", table["strategy"]["Fixed"]),
                optional(natural)("pad_to_multiple_of", table.get("pad_to_multiple_of")),
                id_number("pad_id", table["pad_id"]),
                text("pad_token", table["pad_token"]),
                id_number("pad_type_id", table["pad_type_id"]),
                _said(table["direction"], _SIDES),
            ),
            table,
            keys,
            "/padding",
        )


def pad(encoding: Encoding, padding: Padding, width: int, type_id: int) -> None:
    """As `Padding.pad`, with a type id for the padding."""
    for other in encoding.overflowing:
        pad(other, padding, width, type_id)
    count = width - len(encoding)
    if count <= 0:
        return
    overflowing, encoding.overflowing = encoding.overflowing, []
    padding.pad(encoding, width)
    encoding.overflowing = overflowing
    more = [type_id] * count
    types = encoding.type_ids
    encoding.type_ids = types[:-count] + more if padding.side == "right" else more + types[count:]


def _read(make: Callable[[], T], table: Json, keys: set[str], pointer: str) -> T:
    try:
        for key in table.keys() - keys:
            raise FormatError(f"not supported: {key}", pointer=f"{pointer}/{key}")
        return make()
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{shown(table)} is malformed: {error}", pointer=pointer) from error


def _said(value: Json, names: dict[str, str]) -> str:
    for name, spelled in names.items():
        if value == spelled:
            return name
    raise ValueError(f"{shown(value)} is none of {', '.join(names.values())}")
