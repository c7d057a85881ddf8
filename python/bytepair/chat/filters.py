"""The filters and tests of the sandbox, on values that know where they are from.

Each filter takes the run first. Those that only choose, order or group give what they were given; those that rewrite text
keep every place exactly, or raise. `REFUSED` are never run.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

import jinja2.filters as native
import jinja2.tests as native_tests
from jinja2.exceptions import FilterArgumentError, TemplateRuntimeError
from jinja2.runtime import Undefined
from markupsafe import escape as native_escape

from bytepair.chat import methods
from bytepair.chat.formatting import percent
from bytepair.chat.limits import ELEMENT
from bytepair.chat.traced import (
    TEMPLATE,
    Safe,
    TracedBool,
    TracedNone,
    cut,
    joined,
    make_list,
    make_tuple,
    number,
    origin_of,
    plain,
    runs_of,
    weigh,
)
from bytepair.chat.writing import to_json, to_text
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bytepair.chat.environment import Run

REFUSED = ("pprint", "random", "striptags", "urlize", "xmlattr")
"""Filters of Jinja that have no use in a chat template, or whose places would be a guess."""
_MOST_BITS = 1 << 13
_MOST_DIGITS = 1000
_WORD_BEGINNING = re.compile(r"([-\s({\[<]+)")


def _text_filter(method: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that is a method of what the value is as text."""

    def apply(run: Run, value: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = [None if isinstance(arg, TracedNone) else arg for arg in args]
        made = method(run, to_text(run, value), *arguments, **kwargs)
        # What is safe stays safe, and is as hard to put beside other text.
        return Safe(made, runs_of(made)) if type(value) is Safe else made

    return apply


def _center(run: Run, value: str, width: int = 80) -> str:
    return methods.center(run, value, width)


def _replace(run: Run, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    times = -1 if count is None or isinstance(count, TracedNone) else count
    return methods.replace(run, to_text(run, value), to_text(run, old), to_text(run, new), times)


def _title(run: Run, value: Any) -> str:
    """Words begin with a capital, by the rule of Jinja, which is not that of ``str.title``."""
    text = to_text(run, value)
    parts = []
    at = 0
    for piece in _WORD_BEGINNING.split(plain(text)):
        if piece:
            run.spend(32 + len(runs_of(text)))
            parts.append(methods.upper(run, cut(text, at, at + 1)))
            parts.append(methods.lower(run, cut(text, at + 1, at + len(piece))))
        at += len(piece)
    return joined(parts)


def _truncate(
    run: Run, value: str, length: int = 255, killwords: bool = False, end: str = "...", leeway: int | None = None
) -> str:
    leeway = 5 if leeway is None or isinstance(leeway, TracedNone) else leeway
    if length < len(end) or leeway < 0:
        raise FilterArgumentError(f"truncate needs a length of at least {len(end)} and a leeway of at least 0")
    if len(value) <= length + leeway:
        return value
    start = cut(value, 0, length - len(end))
    if not killwords:
        start = methods.rsplit(run, start, " ", 1)[0]
    return joined((start, end))


def _indent(run: Run, value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    indention = width if isinstance(width, str) else methods.repeat(run, " ", width)
    if not isinstance(value, str):
        raise TypeError(f"indent takes text, not {type(value).__name__}")
    lines = methods.splitlines(run, joined((value, "\n")))
    if blank:
        made = methods.join(run, joined(("\n", indention)), lines)
    else:
        run.spend(len(lines) * (len(indention) + ELEMENT))
        made = methods.join(
            run, "\n", [joined((indention, line)) if line and at else line for at, line in enumerate(lines)]
        )
    return joined((indention, made)) if first else made


def _format(run: Run, value: Any, *args: Any, **kwargs: Any) -> str:
    if args and kwargs:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return percent(run, to_text(run, value), kwargs or args)


def _escaped(run: Run, value: Any, *, again: bool) -> str:
    if type(value) is Safe and not again:
        return value
    text = to_text(run, value)
    made = methods._respelled(run, text, lambda part: str(native_escape(part)), False)
    return Safe(made, runs_of(made))


def _guess(name: str) -> Callable[..., Any]:
    """A filter that rewrites text so that places in it are not known: only for the template's own."""

    def apply(run: Run, value: Any, *args: Any, **kwargs: Any) -> Any:
        for given in (value, *args, *kwargs.values()):
            if not isinstance(given, str | int | float | None) or origin_of(given) is not TEMPLATE:
                raise TemplateError(
                    f"the filter {name} rewrites {origin_of(given)}, which cannot be traced",
                    remedy="prepare the text before it goes into the template",
                )
        run.spend(16 * len(str(value)))
        if name == "urlencode":
            return native.do_urlencode(plain(str(value)))
        return native.do_wordwrap(_Newline, plain(value), *args, **kwargs)  # type: ignore[arg-type]

    return apply


class _Newline:
    """What ``wordwrap`` asks an environment for."""

    newline_sequence = "\n"


def _join(run: Run, value: Any, d: Any = "", attribute: Any = None) -> str:
    items = iter(value)
    if attribute is not None:
        items = map(_getter(run, attribute), items)
    return methods.join(run, to_text(run, d), (to_text(run, item) for item in items))


def _string(run: Run, value: Any) -> str:
    return to_text(run, value)


def _safe(run: Run, value: Any) -> str:
    text = to_text(run, value)
    return Safe(plain(text), runs_of(text))


# Numbers.


def small(value: Any) -> Any:
    """A number that can be computed with at once.

    Raises:
        TemplateError: It has thousands of digits.
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise TemplateError(f"the template computes with numbers of more than {_MOST_BITS} bits", remedy="do not")
    return value


def _int(run: Run, value: Any, default: Any = 0, base: int = 10) -> Any:
    run.work(len(value) if isinstance(value, str) else 0)
    made = native.do_int(value, default, base)
    return small(made) if made is default else number(small(made), origin_of(value))


def _float(run: Run, value: Any, default: Any = 0.0) -> Any:
    run.work(len(value) if isinstance(value, str) else 0)
    made = native.do_float(value, default)
    return made if made is default else number(made, origin_of(value))


def _abs(_run: Run, value: Any) -> Any:
    return number(abs(value), origin_of(value))


def _round(_run: Run, value: Any, precision: int = 0, method: str = "common") -> Any:
    if abs(precision) > _MOST_DIGITS:
        raise TemplateError(f"the filter round takes at most {_MOST_DIGITS} digits, not {str(precision)[:20]}")
    return number(native.do_round(value, precision, plain(method)), origin_of(value))  # type: ignore[arg-type]


def _filesizeformat(run: Run, value: Any, binary: bool = False) -> str:
    made = native.do_filesizeformat(value, binary)
    run.spend(len(made))
    from bytepair.chat.traced import placed

    return placed(made, origin_of(value))


def _sum(run: Run, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    items = iterable if attribute is None else map(_getter(run, attribute), iterable)
    for item in items:
        start = run.call_binop(None, "+", start, item)
    return start


# Choosing, ordering and grouping.


def _getter(run: Run, attribute: Any, fold: bool = False, default: Any = None) -> Callable[[Any], Any]:
    """Looks up an attribute of an item, such as ``"function.name"``; `fold`: text in lower case, to compare it."""
    path: list[Any] = []
    if isinstance(attribute, str):
        path = [int(part) if part.isdigit() else part for part in plain(attribute).split(".")]
    elif attribute is not None and not isinstance(attribute, TracedNone):
        path = [attribute]

    def get(item: Any) -> Any:
        run.spend()
        for part in path:
            item = run.getitem(item, part)
            if default is not None and isinstance(item, Undefined):
                item = default
        if fold and isinstance(item, str):
            run.spend(len(item))
            return str.lower(item)
        return item

    return get


def _sorted(run: Run, items: Iterable[Any], key: Callable[[Any], Any], reverse: Any) -> list[Any]:
    listed = make_list(items, run)
    keys = make_list(map(key, listed), run)
    run.work(8 * keys._weight)
    order = sorted(range(len(listed)), key=keys.__getitem__, reverse=bool(reverse))
    return make_list((listed[at] for at in order), run)


def _sort(
    run: Run, value: Any, reverse: bool = False, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    parts = plain(attribute).split(",") if isinstance(attribute, str) else [attribute]
    getters = [_getter(run, part, not case_sensitive) for part in parts]
    return _sorted(run, value, lambda item: make_list([get(item) for get in getters], run), reverse)


def _dictsort(run: Run, value: Any, case_sensitive: bool = False, by: str = "key", reverse: bool = False) -> list[Any]:
    if by not in ("key", "value"):
        raise FilterArgumentError('You can only sort by either "key" or "value"')
    place = 0 if by == "key" else 1
    fold = _getter(run, None, not case_sensitive)
    return _sorted(run, (make_tuple(item, run) for item in value.items()), lambda item: fold(item[place]), reverse)


def _unique(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Iterator[Any]:
    get = _getter(run, attribute, not case_sensitive)
    seen: set[Any] = set()
    others = 0
    for item in value:
        key = get(item)
        run.spend(ELEMENT)
        run.work(weigh(key, run))
        if not isinstance(key, str):
            others += 1
            run.work(others << 4)
        if key not in seen:
            seen.add(key)
            yield item


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def apply(run: Run, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
        items = make_list(value, run)
        if not items:
            return run.undefined("No aggregated item, sequence was empty.")
        run.work(items._weight)
        return choose(items, key=_getter(run, attribute, not case_sensitive))

    return apply


def _groupby(run: Run, value: Any, attribute: Any, default: Any = None, case_sensitive: bool = False) -> list[Any]:
    get = _getter(run, attribute, not case_sensitive, default)
    real = _getter(run, attribute, False, default)
    found = []
    for key, group in groupby(_sorted(run, value, get, False), get):
        values = make_list(group, run)
        found.append(_group(run, key if case_sensitive else real(values[0]), values))
    return make_list(found, run)


class Group(tuple[Any, ...]):
    """A group of ``groupby``, whose parts have names."""

    NAMES = ("grouper", "list")


def _group(run: Run, key: Any, values: Any) -> Any:
    weight = make_tuple((key, values), run)._weight
    made = Group((key, values))
    made._origin, made._weight = TEMPLATE, weight  # type: ignore[attr-defined]
    return made


def _batch(run: Run, value: Any, linecount: int, fill_with: Any = None) -> Iterator[Any]:
    batch: list[Any] = []
    for item in value:
        run.spend(ELEMENT)
        if len(batch) == linecount:
            yield make_list(batch, run)
            batch = []
        batch.append(item)
    if batch:
        missing = linecount - len(batch)
        if fill_with is not None and not isinstance(fill_with, TracedNone) and missing > 0:
            run.spend(ELEMENT * missing)
            batch += [fill_with] * missing
        yield make_list(batch, run)


def _slice(run: Run, value: Any, slices: int, fill_with: Any = None) -> Iterator[Any]:
    items = make_list(value, run)
    size, longer = divmod(len(items), slices)
    fills = fill_with is not None and not isinstance(fill_with, TracedNone)
    at = 0
    for index in range(slices):
        run.spend(ELEMENT)
        end = at + size + (index < longer)
        yield make_list([*items[at:end], *([fill_with] if fills and index >= longer else [])], run)
        at = end


def _first(run: Run, seq: Any) -> Any:
    return next(iter(seq), run.undefined("No first item, sequence was empty."))


def _last(run: Run, seq: Any) -> Any:
    if isinstance(seq, str):
        return cut(seq, len(seq) - 1, len(seq)) if seq else run.undefined("No last item, sequence was empty.")
    return next(iter(reversed(seq)), run.undefined("No last item, sequence was empty."))


def _list(run: Run, value: Any) -> Any:
    return make_list(value, run)


def _length(_run: Run, value: Any) -> int:
    return len(value)


def _reverse(run: Run, value: Any) -> Any:
    if isinstance(value, str):
        return methods.pick(run, value, slice(None, None, -1))
    try:
        return reversed(value)
    except TypeError:
        return make_list(reversed(make_list(value, run)), run)


def _items(_run: Run, value: Any) -> Iterator[Any]:
    if isinstance(value, Undefined):
        return
    if not isinstance(value, dict):
        raise TypeError("Can only get item pairs from a mapping.")
    yield from value.items()


def _default(_run: Run, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return default_value if isinstance(value, Undefined) or (boolean and not value) else value


def _attr(run: Run, obj: Any, name: str) -> Any:
    return run.attribute(obj, plain(name))


def _map(run: Run, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    if not value:
        return
    if not args and "attribute" in kwargs:
        attribute = kwargs.pop("attribute")
        default = kwargs.pop("default", None)
        if kwargs:
            raise FilterArgumentError(f"Unexpected keyword argument {next(iter(kwargs))!r}")
        apply = _getter(run, attribute, False, default)
    else:
        if not args:
            raise FilterArgumentError("map requires a filter argument")
        name, *rest = args
        called = _known(run.filters, name, "filter")

        def apply(item: Any) -> Any:
            return called(item, *rest, **kwargs)

    for item in value:
        run.spend()
        yield apply(item)


def _known(table: Any, name: Any, kind: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = table[name]
    except KeyError:
        raise TemplateRuntimeError(f"No {kind} named {str(name)[:80]!r}.") from None
    return found


def _chosen(by_attribute: bool, wanted: bool) -> Callable[..., Any]:
    """``select`` and ``reject``, by the item itself or by an attribute."""

    def apply(run: Run, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        if not value:
            return
        rest = list(args)
        if by_attribute and not rest:
            raise FilterArgumentError("Missing parameter for attribute name")
        get = _getter(run, rest.pop(0)) if by_attribute else None
        test: Callable[..., Any] = bool
        if rest:
            test = _known(run.tests, rest.pop(0), "test")
        for item in value:
            run.spend()
            if bool(test(item if get is None else get(item), *rest, **kwargs)) is wanted:
                yield item

    return apply


def _tojson(
    run: Run,
    x: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    return to_json(run, x, ensure_ascii, indent, separators, sort_keys)


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
    "e": lambda run, value: _escaped(run, value, again=False),
    "escape": lambda run, value: _escaped(run, value, again=False),
    "filesizeformat": _filesizeformat,
    "first": _first,
    "float": _float,
    "forceescape": lambda run, value: _escaped(run, value, again=True),
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
    "string": _string,
    "sum": _sum,
    "title": _title,
    "tojson": _tojson,
    "trim": _text_filter(methods.strip),
    "truncate": _truncate,
    "unique": _unique,
    "upper": _text_filter(methods.upper),
    "urlencode": _guess("urlencode"),
    "wordcount": lambda run, value: native.do_wordcount(to_text(run, value)),
    "wordwrap": _guess("wordwrap"),
}
# Jinja would escape what these put beside text that is safe.
NOT_SAFE = ("format", "indent", "reverse", "truncate", "wordwrap", "title", "urlencode", "first", "last", "list")


def _is_bool(value: Any) -> bool:
    return value is True or value is False or isinstance(value, TracedBool)


def _same(value: Any, other: Any) -> bool:
    """``is``, where what was given is what Python has one of."""
    for stand_in in (value, other):
        if isinstance(stand_in, TracedNone):
            return value == other
        if isinstance(stand_in, TracedBool):
            return _is_bool(value) and _is_bool(other) and value == other
    if isinstance(value, int) and isinstance(other, int) and not (_is_bool(value) or _is_bool(other)):
        # These alone are one object wherever they come from.
        return value == other and -5 <= value <= 256
    return value is other


TESTS: dict[str, Callable[..., Any]] = {
    **native_tests.TESTS,
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
    # These two ask the run.
    "filter": lambda value: value in FILTERS,
    "test": lambda value: value in TESTS,
}
