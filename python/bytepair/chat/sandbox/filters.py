"""The filters and tests of the sandbox, on traced values.

Each filter takes the runtime as its first argument. Filters that select, order or group return the values unchanged;
filters that rewrite text keep the exact source of every character, or raise. `REFUSED` are never run. The file is long
because Jinja has many filters.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from bytepair.chat import jinja as native
from bytepair.chat.jinja import FilterArgumentError, TemplateRuntimeError, Undefined
from bytepair.chat.limits import ELEMENT, Budget
from bytepair.chat.traced import methods
from bytepair.chat.traced.formatting import percent
from bytepair.chat.traced.printing import to_json, to_text
from bytepair.chat.traced.values import (
    TEMPLATE,
    Safe,
    TracedBool,
    TracedNone,
    TracedTuple,
    cut,
    joined,
    make_list,
    make_tuple,
    number,
    origin_of,
    placed,
    plain,
    runs_of,
    weigh,
)
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

REFUSED = ("pprint", "random", "striptags", "urlize", "xmlattr")
"""Filters of Jinja without a use in a chat template, or whose results cannot be traced exactly."""
_MOST_BITS = 1 << 13
_MOST_DIGITS = 1000
# Python wraps a long word in time quadratic in its length.
_MOST_GUESSED = 1 << 15
_WORD = re.compile(r"\w+")
_WORD_BEGINNING = re.compile(r"([-\s({\[<]+)")


class Operations(Budget):
    """The operations on values that filters need of a running template; `Runtime` implements them.

    Attributes:
        filters: Filters by name, bound to the running template.
        tests: Tests by name, likewise.
    """

    __slots__ = ()
    filters: Mapping[str, Any]
    tests: Mapping[str, Any]

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``obj[argument]``."""
        raise NotImplementedError

    def attribute(self, obj: Any, name: str) -> Any:
        """``obj|attr("name")``."""
        raise NotImplementedError

    def call_binop(self, context: Any, sign: str, left: Any, right: Any) -> Any:
        """``left + right`` and the like."""
        raise NotImplementedError


def _text_filter(method: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that calls a method of ``str`` on the value's text."""

    def apply(runtime: Operations, value: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = [None if isinstance(arg, TracedNone) else arg for arg in args]
        made = method(runtime, to_text(runtime, value), *arguments, **kwargs)
        # The result of a safe text is safe, too.
        return Safe(made, runs_of(made)) if type(value) is Safe else made

    # For a call without arguments on a text that nothing marks.
    apply.method = method  # type: ignore[attr-defined]  # functions have attributes
    return apply


def _center(runtime: Operations, value: str, width: int = 80) -> str:
    return methods.center(runtime, value, width)


def _replace(runtime: Operations, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    times = -1 if count is None or isinstance(count, TracedNone) else count
    return methods.replace(runtime, to_text(runtime, value), to_text(runtime, old), to_text(runtime, new), times)


def _title(runtime: Operations, value: Any) -> str:
    """Capitalize words by Jinja's rule, which differs from ``str.title``."""
    text = to_text(runtime, value)
    parts = []
    at = 0
    for piece in _WORD_BEGINNING.split(plain(text)):
        if piece:
            runtime.spend(32 + len(runs_of(text)))
            parts.append(methods.upper(runtime, cut(text, at, at + 1)))
            parts.append(methods.lower(runtime, cut(text, at + 1, at + len(piece))))
        at += len(piece)
    return joined(parts)


def _truncate(  # noqa: PLR0917 (as Jinja has it)
    runtime: Operations,
    value: str,
    length: int = 255,
    killwords: bool = False,
    end: str = "...",
    leeway: int | None = None,
) -> str:
    leeway = 5 if leeway is None or isinstance(leeway, TracedNone) else leeway
    if length < len(end) or leeway < 0:
        raise FilterArgumentError(f"truncate needs a length of at least {len(end)} and a leeway of at least 0")
    if len(value) <= length + leeway:
        return value
    start = cut(value, 0, length - len(end))
    if not killwords:
        start = methods.rsplit(runtime, start, " ", 1)[0]
    return joined((start, end))


def _indent(runtime: Operations, value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    indention = width if isinstance(width, str) else methods.repeat(runtime, " ", width)
    if not isinstance(value, str):
        raise TypeError(f"indent takes text, not {type(value).__name__}")
    lines = methods.splitlines(runtime, joined((value, "\n")))
    if blank:
        made = methods.join(runtime, joined(("\n", indention)), lines)
    else:
        runtime.spend(len(lines) * (len(indention) + ELEMENT))
        made = methods.join(
            runtime, "\n", [joined((indention, line)) if line and at else line for at, line in enumerate(lines)]
        )
    return joined((indention, made)) if first else made


def _wordcount(runtime: Operations, value: Any) -> int:
    text = to_text(runtime, value)
    runtime.work(16 * len(text))
    return sum(1 for _ in _WORD.finditer(text))


def _format(runtime: Operations, value: Any, *args: Any, **kwargs: Any) -> str:
    if args and kwargs:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return percent(runtime, to_text(runtime, value), kwargs or args)


def escaped(runtime: Operations, value: Any, *, again: bool = False) -> str:
    """Text with the characters of HTML escaped, marked as safe; safe text as it is, unless `again`."""
    if type(value) is Safe and not again:
        return value
    text = to_text(runtime, value)
    made = methods.respelled(runtime, text, lambda part: str(native.escape(part)), False)
    return Safe(made, runs_of(made))


def _guess(name: str) -> Callable[..., Any]:
    """A filter whose result cannot be traced: it takes only the template's own text."""

    def apply(runtime: Operations, value: Any, *args: Any, **kwargs: Any) -> Any:
        for given in (value, *args, *kwargs.values()):
            if not isinstance(given, str | int | float | None) or origin_of(given) is not TEMPLATE:
                raise TemplateError(
                    f"the filter {name} rewrites {origin_of(given)}, which cannot be traced",
                    remedy="prepare the text before rendering",
                )
        if len(str(value)) > _MOST_GUESSED:
            raise TemplateError(f"the filter {name} takes at most {_MOST_GUESSED} characters")
        runtime.spend(16 * len(str(value)))
        if name == "urlencode":
            return native.do_urlencode(plain(str(value)))
        return native.do_wordwrap(_Newline, plain(value), *args, **kwargs)  # type: ignore[arg-type]  # as Jinja takes it

    return apply


class _Newline:
    """The part of an environment that ``wordwrap`` reads."""

    newline_sequence = "\n"


def _join(runtime: Operations, value: Any, d: Any = "", attribute: Any = None) -> str:
    items = iter(value)
    if attribute is not None:
        items = map(_getter(runtime, attribute), items)
    return methods.join(runtime, to_text(runtime, d), (to_text(runtime, item) for item in items))


def _safe(runtime: Operations, value: Any) -> str:
    text = to_text(runtime, value)
    return Safe(plain(text), runs_of(text))


# Numbers.


def small(value: Any) -> Any:
    """Return a value, or raise TemplateError for a number with thousands of digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise TemplateError(
            f"the template computes with numbers of more than {_MOST_BITS} bits", remedy="use smaller numbers"
        )
    return value


def _int(runtime: Operations, value: Any, default: Any = 0, base: int = 10) -> Any:
    runtime.work(len(value) if isinstance(value, str) else 0)
    made = native.do_int(value, default, base)
    return small(made) if made is default else number(small(made), origin_of(value))


def _float(runtime: Operations, value: Any, default: Any = 0.0) -> Any:
    runtime.work(len(value) if isinstance(value, str) else 0)
    made = native.do_float(value, default)
    return made if made is default else number(made, origin_of(value))


def _abs(_runtime: Operations, value: Any) -> Any:
    return number(abs(value), origin_of(value))


def _round(_runtime: Operations, value: Any, precision: int = 0, method: str = "common") -> Any:
    if abs(precision) > _MOST_DIGITS:
        raise TemplateError(f"the filter round takes at most {_MOST_DIGITS} digits, not {str(precision)[:20]}")
    return number(native.do_round(value, precision, plain(method)), origin_of(value))  # type: ignore[arg-type]  # as Jinja takes it


def _filesizeformat(runtime: Operations, value: Any, binary: bool = False) -> str:
    made = native.do_filesizeformat(value, binary)
    runtime.spend(len(made))
    return placed(made, origin_of(value))


def _sum(runtime: Operations, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    items = iterable if attribute is None else map(_getter(runtime, attribute), iterable)
    for item in items:
        start = runtime.call_binop(None, "+", start, item)
    return start


# Selecting, ordering and grouping.


def _getter(runtime: Operations, attribute: Any, fold: bool = False, default: Any = None) -> Callable[[Any], Any]:
    """Make a function that looks up an attribute such as ``"function.name"``; `fold` lowercases text to compare it."""
    path: list[Any] = []
    if isinstance(attribute, str):
        path = [int(part) if part.isdigit() else part for part in plain(attribute).split(".")]
    elif attribute is not None and not isinstance(attribute, TracedNone):
        path = [attribute]

    def get(item: Any) -> Any:
        runtime.spend()
        for part in path:
            item = runtime.getitem(item, part)
            if default is not None and isinstance(item, Undefined):
                item = default
        if fold and isinstance(item, str):
            runtime.spend(len(item))
            return str.lower(item)
        return item

    return get


def _sorted(runtime: Operations, items: Iterable[Any], key: Callable[[Any], Any], reverse: Any) -> list[Any]:
    listed = make_list(items, runtime)
    keys = make_list(map(key, listed), runtime)
    runtime.work(8 * keys._weight)
    order = sorted(range(len(listed)), key=keys.__getitem__, reverse=bool(reverse))
    return make_list((listed[at] for at in order), runtime)


def _sort(
    runtime: Operations, value: Any, reverse: bool = False, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    parts = plain(attribute).split(",") if isinstance(attribute, str) else [attribute]
    getters = [_getter(runtime, part, not case_sensitive) for part in parts]
    return _sorted(runtime, value, lambda item: make_list([get(item) for get in getters], runtime), reverse)


def _dictsort(
    runtime: Operations, value: Any, case_sensitive: bool = False, by: str = "key", reverse: bool = False
) -> list[Any]:
    if by not in ("key", "value"):
        raise FilterArgumentError('You can only sort by either "key" or "value"')
    place = 0 if by == "key" else 1
    fold = _getter(runtime, None, not case_sensitive)
    return _sorted(
        runtime, (make_tuple(item, runtime) for item in value.items()), lambda item: fold(item[place]), reverse
    )


def _unique(runtime: Operations, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Iterator[Any]:
    get = _getter(runtime, attribute, not case_sensitive)
    seen: set[Any] = set()
    others = 0
    for item in value:
        key = get(item)
        runtime.spend(ELEMENT)
        runtime.work(weigh(key, runtime))
        if not isinstance(key, str):
            others += 1
            runtime.work(others << 4)
        if key not in seen:
            seen.add(key)
            yield item


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def apply(runtime: Operations, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
        items = make_list(value, runtime)
        if not items:
            return Undefined("No aggregated item, sequence was empty.")
        runtime.work(items._weight)
        return choose(items, key=_getter(runtime, attribute, not case_sensitive))

    return apply


def _groupby(
    runtime: Operations, value: Any, attribute: Any, default: Any = None, case_sensitive: bool = False
) -> list[Any]:
    get = _getter(runtime, attribute, not case_sensitive, default)
    real = _getter(runtime, attribute, False, default)
    found = []
    for key, group in groupby(_sorted(runtime, value, get, False), get):
        values = make_list(group, runtime)
        found.append(_group(runtime, key if case_sensitive else real(values[0]), values))
    return make_list(found, runtime)


class Group(TracedTuple):
    """A group of ``groupby``: a tuple with named parts."""

    NAMES = ("grouper", "list")


def _group(runtime: Operations, key: Any, values: Any) -> Any:
    weight = make_tuple((key, values), runtime)._weight
    made = Group((key, values))
    made._origin, made._weight = TEMPLATE, weight
    return made


def _batch(runtime: Operations, value: Any, linecount: int, fill_with: Any = None) -> Iterator[Any]:
    batch: list[Any] = []
    for item in value:
        runtime.spend(ELEMENT)
        if len(batch) == linecount:
            yield make_list(batch, runtime)
            batch = []
        batch.append(item)
    if batch:
        missing = linecount - len(batch)
        if fill_with is not None and not isinstance(fill_with, TracedNone) and missing > 0:
            runtime.spend(ELEMENT * missing)
            batch += [fill_with] * missing
        yield make_list(batch, runtime)


def _slice(runtime: Operations, value: Any, slices: int, fill_with: Any = None) -> Iterator[Any]:
    items = make_list(value, runtime)
    size, longer = divmod(len(items), slices)
    fills = fill_with is not None and not isinstance(fill_with, TracedNone)
    at = 0
    for index in range(slices):
        runtime.spend(ELEMENT)
        end = at + size + (index < longer)
        yield make_list([*items[at:end], *([fill_with] if fills and index >= longer else [])], runtime)
        at = end


def _first(_runtime: Operations, seq: Any) -> Any:
    return next(iter(seq), Undefined("No first item, sequence was empty."))


def _last(_runtime: Operations, seq: Any) -> Any:
    if isinstance(seq, str):
        return cut(seq, len(seq) - 1, len(seq)) if seq else Undefined("No last item, sequence was empty.")
    return next(iter(reversed(seq)), Undefined("No last item, sequence was empty."))


def _list(runtime: Operations, value: Any) -> Any:
    return make_list(value, runtime)


def _length(_runtime: Operations, value: Any) -> int:
    return len(value)


def _reverse(runtime: Operations, value: Any) -> Any:
    if isinstance(value, str):
        return methods.pick(runtime, value, slice(None, None, -1))
    try:
        return reversed(value)
    except TypeError:
        return make_list(reversed(make_list(value, runtime)), runtime)


def _items(_runtime: Operations, value: Any) -> Iterator[Any]:
    if isinstance(value, Undefined):
        return
    if not isinstance(value, dict):
        raise TypeError("Can only get item pairs from a mapping.")
    yield from value.items()


def _default(_runtime: Operations, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return default_value if isinstance(value, Undefined) or (boolean and not value) else value


def _attr(runtime: Operations, obj: Any, name: str) -> Any:
    return runtime.attribute(obj, plain(name))


def _map(runtime: Operations, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    if not value:
        return
    if not args and "attribute" in kwargs:
        attribute = kwargs.pop("attribute")
        default = kwargs.pop("default", None)
        if kwargs:
            raise FilterArgumentError(f"Unexpected keyword argument {next(iter(kwargs))!r}")
        apply = _getter(runtime, attribute, False, default)
    else:
        if not args:
            raise FilterArgumentError("map requires a filter argument")
        name, *rest = args
        called = _known(runtime.filters, name, "filter")

        def apply(item: Any) -> Any:
            return called(item, *rest, **kwargs)

    for item in value:
        runtime.spend()
        yield apply(item)


def _known(table: Any, name: Any, kind: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = table[name]
    except KeyError:
        raise TemplateRuntimeError(f"No {kind} named {str(name)[:80]!r}.") from None
    return found


def _chosen(by_attribute: bool, wanted: bool) -> Callable[..., Any]:
    """``select`` and ``reject``, by the item itself or by an attribute."""

    def apply(runtime: Operations, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        if not value:
            return
        rest = list(args)
        if by_attribute and not rest:
            raise FilterArgumentError("Missing parameter for attribute name")
        get = _getter(runtime, rest.pop(0)) if by_attribute else None
        test: Callable[..., Any] = bool
        if rest:
            test = _known(runtime.tests, rest.pop(0), "test")
        for item in value:
            runtime.spend()
            if bool(test(item if get is None else get(item), *rest, **kwargs)) is wanted:
                yield item

    return apply


FILTERS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "attr": _attr,
    "batch": _batch,
    "capitalize": _text_filter(methods.capitalize),
    "center": _text_filter(_center),
    "count": _length,
    "d": _default,
    "default": _default,
    "dictsort": _dictsort,
    "e": lambda runtime, value: escaped(runtime, value, again=False),
    "escape": lambda runtime, value: escaped(runtime, value, again=False),
    "filesizeformat": _filesizeformat,
    "first": _first,
    "float": _float,
    "forceescape": lambda runtime, value: escaped(runtime, value, again=True),
    "format": _format,
    "groupby": _groupby,
    "indent": _indent,
    "int": _int,
    "items": _items,
    "join": _join,
    "last": _last,
    "length": _length,
    "list": _list,
    "lower": _text_filter(methods.lower),
    "map": _map,
    "max": _extreme(max),
    "min": _extreme(min),
    "reject": _chosen(by_attribute=False, wanted=False),
    "rejectattr": _chosen(by_attribute=True, wanted=False),
    "replace": _replace,
    "reverse": _reverse,
    "round": _round,
    "safe": _safe,
    "select": _chosen(by_attribute=False, wanted=True),
    "selectattr": _chosen(by_attribute=True, wanted=True),
    "slice": _slice,
    "sort": _sort,
    "string": to_text,
    "sum": _sum,
    "title": _title,
    "tojson": to_json,
    "trim": _text_filter(methods.strip),
    "truncate": _truncate,
    "unique": _unique,
    "upper": _text_filter(methods.upper),
    "urlencode": _guess("urlencode"),
    "wordcount": _wordcount,
    "wordwrap": _guess("wordwrap"),
}
# Jinja would escape text that these join with safe text.
NOT_SAFE = ("format", "indent", "reverse", "truncate", "wordwrap", "title", "urlencode", "first", "last", "list")


def _is_bool(value: Any) -> bool:
    return value is True or value is False or isinstance(value, TracedBool)


def _same(value: Any, other: Any) -> bool:
    """``is``, with traced stand-ins counted as the None, True or False that they represent."""
    for stand_in in (value, other):
        if isinstance(stand_in, TracedNone):
            return bool(value == other)
        if isinstance(stand_in, TracedBool):
            return _is_bool(value) and _is_bool(other) and bool(value == other)
    if isinstance(value, int) and isinstance(other, int) and not (_is_bool(value) or _is_bool(other)):
        # Python keeps one object for each of these ints.
        return value == other and -5 <= value <= 256
    return bool(value is other)


TESTS: dict[str, Callable[..., Any]] = {
    **cast("dict[str, Callable[..., Any]]", native.TESTS),
    "none": lambda value: value is None or isinstance(value, TracedNone),
    "boolean": _is_bool,
    "true": lambda value: _is_bool(value) and bool(value),
    "false": lambda value: _is_bool(value) and not value,
    "integer": lambda value: isinstance(value, int) and not _is_bool(value),
    "escaped": lambda value: isinstance(value, Safe),
    "sameas": _same,
    "odd": lambda value: small(value) % 2 == 1,
    "even": lambda value: small(value) % 2 == 0,
    "divisibleby": lambda value, num: small(value) % small(num) == 0,
    # Tests of the names of filters and tests.
    "filter": lambda value: value in FILTERS,
    "test": lambda value: value in TESTS,
}
