"""Weights of groups -> whole numbers to multiply their counts by, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from typing import NoReturn, TypeAlias

from bytepair.errors import TrainingError

Weight: TypeAlias = str | int | float | Decimal | Fraction

_LARGEST = 2**63 - 1
_MOST_DIGITS = 40


def multipliers(weights: Mapping[str, Weight]) -> tuple[dict[str, int], int]:
    """The weights over their least common denominator: a count times its multiplier, over the denominator.

    Args:
        weights: The weight of each group, above 0: a decimal as ``str`` or ``Decimal``, a whole number, or a
            ``Fraction``. A ``float`` means its shortest decimal, as written in the source: 0.7 is 7/10.

    Returns:
        The multiplier of each group, and the denominator of all: numbers below 2^63 with no common divisor.

    Raises:
        TrainingError: A weight is not a number, is not above 0, or needs numbers of 2^63 or more.
        TypeError: It is something else.

    Example:
        >>> multipliers({"en": "0.7", "code": 1.5, "fr": 2})
        ({'en': 7, 'code': 15, 'fr': 20}, 10)
    """
    exact = {group: _exact(weight, f"the weight of {group!r}") for group, weight in weights.items()}
    denominator = lcm(*(weight.denominator for weight in exact.values()))
    result = {group: int(weight * denominator) for group, weight in exact.items()}
    for group, number in result.items():
        if max(number, denominator) > _LARGEST:
            raise TrainingError(
                f"the weight of {group!r} is {number}/{denominator}, and these must be below 2^63",
                remedy="use fewer digits",
            )
    return result, denominator


def parse_weight(argument: str) -> tuple[str, Decimal]:
    """A group and its weight from a command-line argument: the name ends at the first ``=``, as for `parse_group`.

    Raises:
        TrainingError: It is something else.

    Example:
        >>> parse_weight("en=0.7")
        ('en', Decimal('0.7'))
    """
    group, _, weight = argument.partition("=")
    if not group or not weight:
        raise TrainingError(f"{argument!r} is not GROUP=WEIGHT", remedy="write, for example, en=0.7")
    _exact(weight, f"the weight of {group!r}")
    return group, Decimal(weight)


def parse_group(argument: str) -> tuple[str, str]:
    """A group and its path or glob from a command-line argument: the name ends at the first ``=``.

    Raises:
        TrainingError: It is something else.

    Example:
        >>> parse_group("en=corpus/en/*.txt")
        ('en', 'corpus/en/*.txt')
    """
    group, _, path = argument.partition("=")
    if not group or not path:
        raise TrainingError(f"{argument!r} is not GROUP=PATH", remedy="write, for example, en=corpus/en/*.txt")
    return group, path


def _exact(weight: Weight, what: str) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, (str, int, float, Decimal, Fraction)):
        raise TypeError(f"{what} is {type(weight).__name__}, not a number or str")
    if isinstance(weight, (int, Fraction)):
        exact = Fraction(weight)
    else:
        try:
            decimal = weight if isinstance(weight, Decimal) else Decimal(str(weight))
        except InvalidOperation:
            _refuse(what, weight, "is no number")
        # Checked before any arithmetic: a short text can denote a number of a billion digits.
        if not decimal.is_finite():
            _refuse(what, weight, "is no number")
        if decimal and (abs(decimal.adjusted()) > _MOST_DIGITS or len(decimal.as_tuple().digits) > _MOST_DIGITS):
            _refuse(what, weight, "has too many digits")
        exact = Fraction(decimal) if decimal else Fraction(0)
    if exact <= 0:
        _refuse(what, weight, "is not above 0")
    return exact


def _refuse(what: str, weight: Weight, reason: str) -> NoReturn:
    shown = repr(str(weight)[:60])
    remedy = "leave the group out of the source" if "above" in reason else "write a decimal, such as 0.7 or 2"
    raise TrainingError(f"{what}, {shown}, {reason}", remedy=remedy)
