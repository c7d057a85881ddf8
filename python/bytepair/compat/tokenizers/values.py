"""Checks for the options of components, and their JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bytepair._core import check_step
from bytepair.formats.hf_common import shown
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Callable

Json = Any


def boolean(name: str, value: Any) -> bool:
    """Check a bool, of Python or numpy."""
    if value is True or value is False:
        return bool(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name} is True or False, not {shown(value)}")


def text(name: str, value: Any) -> str:
    """Check a string."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{name} is a str, not {shown(value)}")


def natural(name: str, value: Any, below: int = 2**64) -> int:
    """Check an integer from 0 to below `below`."""
    if isinstance(value, type) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a number, not {shown(value)}")
    number = int(value.__index__())
    if not 0 <= number < below:
        raise OverflowError(f"{name}={number} is not from 0 to {below - 1}")
    return number


def id_number(name: str, value: Any) -> int:
    """Check an id or another integer of 32 bits."""
    return natural(name, value, 2**32)


def real(name: str, value: Any) -> float:
    """Check a real number."""
    if isinstance(value, (type, str)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{name} is a number, not {shown(value)}")
    return float(value)


def listed(name: str, value: Any) -> list[Any]:
    """The items of an iterable that is not a string or a mapping."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is a list, not {type(value).__name__}")
    return list(value)


def character(name: str, value: Any) -> str:
    """Check a single character."""
    value = text(name, value)
    if len(value) != 1:
        raise ValueError(f"{name}: expected a string of length 1, and {shown(value)} has {len(value)}")
    return str(value)


def optional(check: Callable[[str, Any], Json]) -> Callable[[str, Any], Json]:
    """Make a check that also takes None."""
    return lambda name, value: None if value is None else check(name, value)


def known(name: str, value: Any, table: Mapping[str, Json]) -> Json:
    """The JSON value of a name in a table; ValueError for an unknown name."""
    if text(name, value) not in table:
        raise ValueError(f"{name}={shown(value)} is unknown; use one of {', '.join(table)}")
    return table[str(value)]


def choice(**table: str) -> Callable[[str, Any], Json]:
    """Make a check for one of these names, each with its JSON value."""
    return lambda name, value: known(name, value, table)


_BEHAVIORS = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}
_NAMES = {value: name for name, value in _BEHAVIORS.items()}


def as_behavior(name: str, value: Any) -> Json:
    """The JSON value of the behavior of a split."""
    return known(name, getattr(value, "value", value), _BEHAVIORS)


def behavior_name(value: Json) -> str:
    """The Python name of the behavior of a split."""
    return _NAMES.get(value, str(value))


class Regex:
    """A regular expression, in contrast to a literal string.

    Args:
        s: The expression.

    Raises:
        PatternError: The expression does not compile.

    Example:
        >>> from bytepair.compat.tokenizers import Regex, pre_tokenizers
        >>> pre_tokenizers.Split(Regex(r"[0-9]+"), "isolated").pre_tokenize_str("ab12")
        [('ab', (0, 2)), ('12', (2, 4))]
    """

    def __init__(self, s: str) -> None:
        self.pattern = text("s", s)
        step = {"type": "Replace", "pattern": {"Regex": self.pattern}, "content": ""}
        check_step("normalizer", spell_step(step))


def as_pattern(name: str, value: Any) -> dict[str, str]:
    """The JSON of a literal string or a regular expression."""
    if isinstance(value, Regex):
        return {"Regex": value.pattern}
    return {"String": text(name, value)}


def read_metaspace(table: dict[str, Json]) -> dict[str, Json]:
    """Convert a Metaspace of an old file, with ``add_prefix_space``, to one with ``prepend_scheme``."""
    if "add_prefix_space" not in table or "prepend_scheme" in table:
        return table
    kept = {key: value for key, value in table.items() if key not in ("add_prefix_space", "str_rep")}
    return {**kept, "prepend_scheme": "always" if boolean("add_prefix_space", table["add_prefix_space"]) else "never"}


class Hidden:
    """The pattern of a component, which ``tokenizers`` neither shows nor changes."""

    def __get__(self, component: Any, owner: Any) -> Any:
        raise NotImplementedError("the pattern of a component cannot be read; see its state, or make a new component")

    def __set__(self, component: Any, value: Any) -> None:
        raise NotImplementedError("the pattern of a component cannot be set; make a new component")
