"""The filters and tests of the sandbox, on values that know where they are from.

Each filter takes the world first. Those that only choose, order or group give what they were given; those that rewrite
text keep every place exactly, or raise. `REFUSED` are never run. The file is long because Jinja has many filters.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import jinja2.filters as native
import jinja2.tests as native_tests
from jinja2.exceptions import FilterArgumentError, TemplateRuntimeError
from jinja2.runtime import Undefined
from markupsafe import escape as native_escape

from bytepair.chat.limits import ELEMENT
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
    from collections.abc import Callable, Iterable, Iterator

    from bytepair.chat.sandbox.world import World

REFUSED = ("pprint", "random", "striptags", "urlize", "xmlattr")
"""Filters of Jinja that have no use in a chat template, or whose places would be a guess."""
_MOST_BITS = 1 << 13
_MOST_DIGITS = 1000
# Python wraps a long word in time quadratic in its length.
_MOST_GUESSED = 1 << 15
_WORD = re.compile(r"\w+")
_WORD_BEGINNING = re.compile(r"([-\s({\[<]+)")


def _text_filter(method: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that is a method of what the value is as text."""

    def apply(world: World, value: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = [None if isinstance(arg, TracedNone) else arg for arg in args]
        made = method(world, to_text(world, value), *arguments, **kwargs)
        # What is safe stays safe, and is as hard to put beside other text.
        return Safe(made, runs_of(made)) if type(value) is Safe else made

    return apply


def _center(world: World, value: str, width: int = 80) -> str:
    return methods.center(world, value, width)


def _replace(world: World, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    times = -1 if count is None or isinstance(count, TracedNone) else count
    return methods.replace(world, to_text(world, value), to_text(world, old), to_text(world, new), times)


def _title(world: World, value: Any) -> str:
    """Words begin with a capital, by the rule of Jinja, which is not that of ``str.title``."""
    text = to_text(world, value)
    parts = []
    at = 0
    for piece in _WORD_BEGINNING.split(plain(text)):
        if piece:
            world.spend(32 + len(runs_of(text)))
            parts.append(methods.upper(world, cut(text, at, at + 1)))
            parts.append(methods.lower(world, cut(text, at + 1, at + len(piece))))
        at += len(piece)
    return joined(parts)


def _truncate(  # noqa: PLR0917 (as Jinja has it)
    world: World, value: str, length: int = 255, killwords: bool = False, end: str = "...", leeway: int | None = None
) -> str:
    leeway = 5 if leeway is None or isinstance(leeway, TracedNone) else leeway
    if length < len(end) or leeway < 0:
        raise FilterArgumentError(f"truncate needs a length of at least {len(end)} and a leeway of at least 0")
    if len(value) <= length + leeway:
        return value
    start = cut(value, 0, length - len(end))
    if not killwords:
        start = methods.rsplit(world, start, " ", 1)[0]
    return joined((start, end))


def _indent(world: World, value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    indention = width if isinstance(width, str) else methods.repeat(world, " ", width)
    if not isinstance(value, str):
        raise TypeError(f"indent takes text, not {type(value).__name__}")
    lines = methods.splitlines(world, joined((value, "\n")))
    if blank:
        made = methods.join(world, joined(("\n", indention)), lines)
    else:
        world.spend(len(lines) * (len(indention) + ELEMENT))
        made = methods.join(
            world, "\n", [joined((indention, line)) if line and at else line for at, line in enumerate(lines)]
        )
    return joined((indention, made)) if first else made


def _wordcount(world: World, value: Any) -> int:
    text = to_text(world, value)
    world.work(16 * len(text))
    return sum(1 for _ in _WORD.finditer(text))


def _format(world: World, value: Any, *args: Any, **kwargs: Any) -> str:
    if args and kwargs:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return percent(world, to_text(world, value), kwargs or args)


def _escaped(world: World, value: Any, *, again: bool) -> str:
    if type(value) is Safe and not again:
        return value
    text = to_text(world, value)
    made = methods.respelled(world, text, lambda part: str(native_escape(part)), False)
    return Safe(made, runs_of(made))


def _guess(name: str) -> Callable[..., Any]:
    """A filter that rewrites text so that places in it are not known: only for the template's own."""

    def apply(world: World, value: Any, *args: Any, **kwargs: Any) -> Any:
        for given in (value, *args, *kwargs.values()):
            if not isinstance(given, str | int | float | None) or origin_of(given) is not TEMPLATE:
                raise TemplateError(
                    f"the filter {name} rewrites {origin_of(given)}, which cannot be traced",
                    remedy="prepare the text before it goes into the template",
                )
        if len(str(value)) > _MOST_GUESSED:
            raise TemplateError(f"the filter {name} takes at most {_MOST_GUESSED} characters")
        world.spend(16 * len(str(value)))
        if name == "urlencode":
            return native.do_urlencode(plain(str(value)))
        return native.do_wordwrap(_Newline, plain(value), *args, **kwargs)  # type: ignore[arg-type]  # as Jinja takes it

    return apply


class _Newline:
    """What ``wordwrap`` asks an environment for."""

    newline_sequence = "\n"


def _join(world: World, value: Any, d: Any = "", attribute: Any = None) -> str:
    items = iter(value)
    if attribute is not None:
        items = map(_getter(world, attribute), items)
    return methods.join(world, to_text(world, d), (to_text(world, item) for item in items))


def _string(world: World, value: Any) -> str:
    return to_text(world, value)


def _safe(world: World, value: Any) -> str:
    text = to_text(world, value)
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


def _int(world: World, value: Any, default: Any = 0, base: int = 10) -> Any:
    world.work(len(value) if isinstance(value, str) else 0)
    made = native.do_int(value, default, base)
    return small(made) if made is default else number(small(made), origin_of(value))


def _float(world: World, value: Any, default: Any = 0.0) -> Any:
    world.work(len(value) if isinstance(value, str) else 0)
    made = native.do_float(value, default)
    return made if made is default else number(made, origin_of(value))


def _abs(_run: World, value: Any) -> Any:
    return number(abs(value), origin_of(value))


def _round(_run: World, value: Any, precision: int = 0, method: str = "common") -> Any:
    if abs(precision) > _MOST_DIGITS:
        raise TemplateError(f"the filter round takes at most {_MOST_DIGITS} digits, not {str(precision)[:20]}")
    return number(native.do_round(value, precision, plain(method)), origin_of(value))  # type: ignore[arg-type]  # as Jinja takes it


def _filesizeformat(world: World, value: Any, binary: bool = False) -> str:
    made = native.do_filesizeformat(value, binary)
    world.spend(len(made))
    return placed(made, origin_of(value))


def _sum(world: World, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    items = iterable if attribute is None else map(_getter(world, attribute), iterable)
    for item in items:
        start = world.call_binop(None, "+", start, item)
    return start


# Choosing, ordering and grouping.


def _getter(world: World, attribute: Any, fold: bool = False, default: Any = None) -> Callable[[Any], Any]:
    """Looks up an attribute of an item, such as ``"function.name"``; `fold`: text in lower case, to compare it."""
    path: list[Any] = []
    if isinstance(attribute, str):
        path = [int(part) if part.isdigit() else part for part in plain(attribute).split(".")]
    elif attribute is not None and not isinstance(attribute, TracedNone):
        path = [attribute]

    def get(item: Any) -> Any:
        world.spend()
        for part in path:
            item = world.getitem(item, part)
            if default is not None and isinstance(item, Undefined):
                item = default
        if fold and isinstance(item, str):
            world.spend(len(item))
            return str.lower(item)
        return item

    return get


def _sorted(world: World, items: Iterable[Any], key: Callable[[Any], Any], reverse: Any) -> list[Any]:
    listed = make_list(items, world)
    keys = make_list(map(key, listed), world)
    world.work(8 * keys._weight)
    order = sorted(range(len(listed)), key=keys.__getitem__, reverse=bool(reverse))
    return make_list((listed[at] for at in order), world)


def _sort(
    world: World, value: Any, reverse: bool = False, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    parts = plain(attribute).split(",") if isinstance(attribute, str) else [attribute]
    getters = [_getter(world, part, not case_sensitive) for part in parts]
    return _sorted(world, value, lambda item: make_list([get(item) for get in getters], world), reverse)


def _dictsort(
    world: World, value: Any, case_sensitive: bool = False, by: str = "key", reverse: bool = False
) -> list[Any]:
    if by not in ("key", "value"):
        raise FilterArgumentError('You can only sort by either "key" or "value"')
    place = 0 if by == "key" else 1
    fold = _getter(world, None, not case_sensitive)
    return _sorted(world, (make_tuple(item, world) for item in value.items()), lambda item: fold(item[place]), reverse)


def _unique(world: World, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Iterator[Any]:
    get = _getter(world, attribute, not case_sensitive)
    seen: set[Any] = set()
    others = 0
    for item in value:
        key = get(item)
        world.spend(ELEMENT)
        world.work(weigh(key, world))
        if not isinstance(key, str):
            others += 1
            world.work(others << 4)
        if key not in seen:
            seen.add(key)
            yield item


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def apply(world: World, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
        items = make_list(value, world)
        if not items:
            return world.undefined("No aggregated item, sequence was empty.")
        world.work(items._weight)
        return choose(items, key=_getter(world, attribute, not case_sensitive))

    return apply


def _groupby(world: World, value: Any, attribute: Any, default: Any = None, case_sensitive: bool = False) -> list[Any]:
    get = _getter(world, attribute, not case_sensitive, default)
    real = _getter(world, attribute, False, default)
    found = []
    for key, group in groupby(_sorted(world, value, get, False), get):
        values = make_list(group, world)
        found.append(_group(world, key if case_sensitive else real(values[0]), values))
    return make_list(found, world)


class Group(TracedTuple):
    """A group of ``groupby``, whose parts have names."""

    NAMES = ("grouper", "list")


def _group(world: World, key: Any, values: Any) -> Any:
    weight = make_tuple((key, values), world)._weight
    made = Group((key, values))
    made._origin, made._weight = TEMPLATE, weight
    return made


def _batch(world: World, value: Any, linecount: int, fill_with: Any = None) -> Iterator[Any]:
    batch: list[Any] = []
    for item in value:
        world.spend(ELEMENT)
        if len(batch) == linecount:
            yield make_list(batch, world)
            batch = []
        batch.append(item)
    if batch:
        missing = linecount - len(batch)
        if fill_with is not None and not isinstance(fill_with, TracedNone) and missing > 0:
            world.spend(ELEMENT * missing)
            batch += [fill_with] * missing
        yield make_list(batch, world)


def _slice(world: World, value: Any, slices: int, fill_with: Any = None) -> Iterator[Any]:
    items = make_list(value, world)
    size, longer = divmod(len(items), slices)
    fills = fill_with is not None and not isinstance(fill_with, TracedNone)
    at = 0
    for index in range(slices):
        world.spend(ELEMENT)
        end = at + size + (index < longer)
        yield make_list([*items[at:end], *([fill_with] if fills and index >= longer else [])], world)
        at = end


def _first(world: World, seq: Any) -> Any:
    return next(iter(seq), world.undefined("No first item, sequence was empty."))


def _last(world: World, seq: Any) -> Any:
    if isinstance(seq, str):
        return cut(seq, len(seq) - 1, len(seq)) if seq else world.undefined("No last item, sequence was empty.")
    return next(iter(reversed(seq)), world.undefined("No last item, sequence was empty."))


def _list(world: World, value: Any) -> Any:
    return make_list(value, world)


def _length(_run: World, value: Any) -> int:
    return len(value)


def _reverse(world: World, value: Any) -> Any:
    if isinstance(value, str):
        return methods.pick(world, value, slice(None, None, -1))
    try:
        return reversed(value)
    except TypeError:
        return make_list(reversed(make_list(value, world)), world)


def _items(_run: World, value: Any) -> Iterator[Any]:
    if isinstance(value, Undefined):
        return
    if not isinstance(value, dict):
        raise TypeError("Can only get item pairs from a mapping.")
    yield from value.items()


def _default(_run: World, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return default_value if isinstance(value, Undefined) or (boolean and not value) else value


def _attr(world: World, obj: Any, name: str) -> Any:
    return world.attribute(obj, plain(name))


def _map(world: World, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    if not value:
        return
    if not args and "attribute" in kwargs:
        attribute = kwargs.pop("attribute")
        default = kwargs.pop("default", None)
        if kwargs:
            raise FilterArgumentError(f"Unexpected keyword argument {next(iter(kwargs))!r}")
        apply = _getter(world, attribute, False, default)
    else:
        if not args:
            raise FilterArgumentError("map requires a filter argument")
        name, *rest = args
        called = _known(world.filters, name, "filter")

        def apply(item: Any) -> Any:
            return called(item, *rest, **kwargs)

    for item in value:
        world.spend()
        yield apply(item)


def _known(table: Any, name: Any, kind: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = table[name]
    except KeyError:
        raise TemplateRuntimeError(f"No {kind} named {str(name)[:80]!r}.") from None
    return found


def _chosen(by_attribute: bool, wanted: bool) -> Callable[..., Any]:
    """``select`` and ``reject``, by the item itself or by an attribute."""

    def apply(world: World, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        if not value:
            return
        rest = list(args)
        if by_attribute and not rest:
            raise FilterArgumentError("Missing parameter for attribute name")
        get = _getter(world, rest.pop(0)) if by_attribute else None
        test: Callable[..., Any] = bool
        if rest:
            test = _known(world.tests, rest.pop(0), "test")
        for item in value:
            world.spend()
            if bool(test(item if get is None else get(item), *rest, **kwargs)) is wanted:
                yield item

    return apply


def _tojson(  # noqa: PLR0917 (as transformers has it)
    world: World,
    x: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    return to_json(world, x, ensure_ascii, indent, separators, sort_keys)


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
    "e": lambda world, value: _escaped(world, value, again=False),
    "escape": lambda world, value: _escaped(world, value, again=False),
    "filesizeformat": _filesizeformat,
    "first": _first,
    "float": _float,
    "forceescape": lambda world, value: _escaped(world, value, again=True),
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
    "wordcount": _wordcount,
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
            return bool(value == other)
        if isinstance(stand_in, TracedBool):
            return _is_bool(value) and _is_bool(other) and bool(value == other)
    if isinstance(value, int) and isinstance(other, int) and not (_is_bool(value) or _is_bool(other)):
        # These alone are one object wherever they come from.
        return value == other and -5 <= value <= 256
    return bool(value is other)


TESTS: dict[str, Callable[..., Any]] = {
    **cast("dict[str, Callable[..., Any]]", native_tests.TESTS),
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
    # These two ask the world.
    "filter": lambda value: value in FILTERS,
    "test": lambda value: value in TESTS,
}
