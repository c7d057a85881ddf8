"""The runtime of one rendering: all that a running template can reach.

Operators, filters, tests, functions, and the attributes in `_ATTRIBUTES`; nothing else of a value is accessible. The
compiled code calls the `Runtime` as its environment. The file is long because it holds the whole border of the sandbox.
"""

from __future__ import annotations

import operator
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair.chat.jinja import (
    CALL_ARGUMENTS,
    BlockReference,
    Context,
    Cycler,
    Joiner,
    LoopContext,
    Macro,
    Namespace,
    SecurityError,
    Undefined,
    new_context,
)
from bytepair.chat.limits import ELEMENT, RUN, Limits, exceeded
from bytepair.chat.sandbox import filters
from bytepair.chat.traced import methods
from bytepair.chat.traced.formatting import percent
from bytepair.chat.traced.printing import to_text
from bytepair.chat.traced.values import (
    CONTAINERS,
    TEMPLATE,
    VIEWS,
    Safe,
    Text,
    TracedDict,
    TracedList,
    TracedNone,
    TracedTuple,
    join,
    joined,
    joined_apart,
    make_dict,
    make_list,
    make_tuple,
    number,
    origin_of,
    plain,
    runs_of,
    weigh,
    weight,
)
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

_LONGEST_RANGE = 100_000
_LARGEST_NUMBER = 1 << 53
_MOST_MESSAGE = 1000
_MOST_TIME_FORMAT = 200
_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": operator.pow,
    "%": operator.mod,
}


class SafeNamespace(Namespace):
    """A namespace of a template that refuses names with a leading underscore."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise SecurityError(f"a namespace has no attribute {name!r}: names must not begin with an underscore")
        super().__setitem__(name, value)


class BoundMethod:
    """A method of a string or a container, bound for a call by a template."""

    __slots__ = ("_method", "_value", "_world")

    def __init__(self, runtime: Runtime, method: Callable[..., Any], value: Any) -> None:
        self._world = runtime
        self._method = method
        self._value = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method with None for the traced stand-ins of None."""
        args = tuple(None if isinstance(arg, TracedNone) else arg for arg in args)
        return self._method(self._world, self._value, *args, **kwargs)


class LazySequence:
    """The lazy result of a filter. Nesting is limited, since Python unwinds nested generators recursively."""

    __slots__ = ("_depth", "_items")
    _depth: int

    def __init__(self, items: Iterator[Any], runtime: Runtime, given: Iterable[Any]) -> None:
        self._items = items
        self._depth = 1 + max((value._depth for value in given if isinstance(value, LazySequence)), default=0)
        if self._depth > runtime.limits.depth:
            raise exceeded(f"the template nests lazy filters deeper than {runtime.limits.depth} levels", "depth")

    def __iter__(self) -> Iterator[Any]:
        return self._items


class _DictFunction:
    """The function ``dict`` of templates, which has ``dict.fromkeys``."""

    __slots__ = ("_world",)

    def __init__(self, runtime: Runtime) -> None:
        self._world = runtime

    def fromkeys(self, keys: Iterable[Any], value: Any = None) -> TracedDict:
        """``dict.fromkeys(...)``."""
        return _from_keys(self._world, None, keys, value)

    def __call__(self, *args: Any, **kwargs: Any) -> TracedDict:
        if len(args) > 1:
            raise TypeError(f"dict expected at most 1 argument, got {len(args)}")
        given = args[0] if args else ()
        pairs = given.items() if isinstance(given, dict) else (tuple(pair) for pair in given)
        return make_dict(_chained(pairs, kwargs.items()), self._world)


def _chained(*parts: Iterable[Any]) -> Iterator[Any]:
    for part in parts:
        yield from part


def _flat(printed: Iterable[str | tuple[str, ...]]) -> list[str]:
    """The parts of what was printed."""
    parts: list[str] = []
    for piece in printed:
        if isinstance(piece, tuple):
            parts += piece
        else:
            parts.append(piece)
    return parts


def _from_keys(runtime: Runtime, _value: Any, keys: Iterable[Any], value: Any = None) -> TracedDict:
    return make_dict(((key, value) for key in keys), runtime)


def _copied(runtime: Runtime, value: Any) -> Any:
    if isinstance(value, dict):
        return make_dict(value.items(), runtime, getattr(value, "_origin", TEMPLATE))
    return make_list(value, runtime, getattr(value, "_origin", TEMPLATE))


# Accessible attributes by class; for the methods of strings see `bytepair.chat.traced.methods`.
_OF_LOOPS = frozenset(name for name in dir(LoopContext) if not name.startswith("_"))
_ATTRIBUTES: tuple[tuple[Any, frozenset[str]], ...] = (
    (LoopContext, _OF_LOOPS),
    (dict, frozenset({"get", "items", "keys", "values"})),
    (list, frozenset({"index", "count"})),
    (tuple, frozenset({"index", "count"})),
    (float, frozenset({"real", "imag", "is_integer", "conjugate"})),
    (int, frozenset({"real", "imag", "numerator", "denominator", "bit_length", "conjugate"})),
    (range, frozenset({"start", "stop", "step"})),
    (Macro, frozenset({"name", "arguments", "catch_kwargs", "catch_varargs", "caller"})),
    (Cycler, frozenset({"reset", "current", "next", "pos"})),
    (_DictFunction, frozenset({"fromkeys"})),
    (Joiner, frozenset({"sep", "used"})),
    (BlockReference, frozenset({"super", "name"})),
)
_TEXTS = {str, Text}
_STR_NAMES = frozenset(name for name in dir(str) if not name.startswith("_"))
_MUTATING = frozenset(
    {"clear", "pop", "popitem", "setdefault", "update", "append", "reverse", "insert", "sort", "extend", "remove"}
)


class _BoundTable(dict[str, Any]):
    """Filters or tests for the compiled code, bound to the runtime on first access."""

    __slots__ = ("_bind", "_table")

    def __init__(self, table: dict[str, Any], bind: Callable[[str, Any], Any]) -> None:
        self._table = table
        self._bind = bind

    def __missing__(self, name: str) -> Any:
        bound = self[plain(name)] = self._bind(plain(name), self._table[name])
        return bound


class Runtime(filters.Operations):
    """The environment of one rendering, called by compiled templates.

    Args:
        limits: The limits.
        given: The size of the inputs in characters.
        now: A function that returns the time.
    """

    autoescape = False
    is_async = False
    undefined = Undefined
    context_class = Context

    __slots__ = ("filters", "globals", "now", "tests")

    def __init__(self, limits: Limits, given: int, now: Callable[[], datetime]) -> None:
        super().__init__(limits, given)
        self.now = now
        self.filters = _BoundTable(filters.FILTERS, self._bind_filter)
        self.tests = _BoundTable(filters.TESTS, self._bind_test)
        self.globals: dict[str, Any] = {
            "range": self.range,
            "dict": _DictFunction(self),
            "namespace": self.namespace,
            "cycler": self.cycler,
            "joiner": self.joiner,
            "raise_exception": self.raise_exception,
            "strftime_now": self.strftime_now,
        }

    def parts(
        self, root: Callable[..., Iterator[Any]], blocks: dict[str, Callable[..., Any]], variables: dict[str, Any]
    ) -> list[str]:
        """Run a compiled template; its text in parts."""
        blocks = {name: partial(block, environment=self) for name, block in blocks.items()}
        context = new_context(self, None, blocks, variables, globals=self.globals)  # type: ignore[arg-type]  # as Jinja takes it
        parts: list[str] = []
        for piece in root(context, environment=self):
            if isinstance(piece, tuple):
                parts += piece
                self.left -= ELEMENT * len(piece)
                self.output -= sum(map(len, piece))
            else:
                parts.append(piece)
                self.left -= ELEMENT
                self.output -= len(piece)
            if self.output < 0:
                self.write(0)
        return parts

    # Called by the compiled code.

    @property
    def turn(self) -> bool:
        """Charge one turn of a loop."""
        self._ticks -= 1
        if self._ticks < 0 or self.left < 0:
            self._look()
        return True

    def show(self, value: Any) -> str:
        """The text of a printed value."""
        text: str = value if isinstance(value, str) else to_text(self, value)
        self.spend(0 if type(text) is str else RUN * len(text._runs))  # type: ignore[attr-defined]  # else it is a Text
        return text

    def shown(self, values: tuple[Any, ...]) -> str | tuple[str, ...]:
        """The text of ``{{ a + b + c }}``, in parts if all are text."""
        runs = 0
        for value in values:
            if type(value) is Text:
                runs += len(value._runs)
            elif type(value) is not str:
                return self.show(self.added(values))
        self.spend(RUN * (runs + len(values)))
        return values

    def chain(self, values: Iterable[Any]) -> str:
        """``a ~ b ~ c``."""
        return self.concat([value if isinstance(value, str) else to_text(self, value) for value in values])

    def added(self, values: tuple[Any, ...]) -> Any:
        """``a + b + c``."""
        if set(map(type, values)) <= _TEXTS:
            return join(values, self)
        made = values[0]
        for value in values[1:]:
            made = self.call_binop(None, "+", made, value)
        return made

    def concat(self, printed: Iterable[str | tuple[str, ...]]) -> str:
        """The text of a block or a macro."""
        return join(_flat(printed), self)

    def listed(self, items: Iterable[Any]) -> TracedList:
        """``[a, b]``."""
        return make_list(items, self)

    def tupled(self, items: Iterable[Any]) -> TracedTuple:
        """``(a, b)``."""
        return make_tuple(items, self)

    def mapped(self, items: Iterable[tuple[Any, Any]]) -> TracedDict:
        """``{a: b}``."""
        return make_dict(items, self)

    def weighed(self, value: Any) -> Any:
        """An operand of a comparison, charged for its whole size."""
        if isinstance(value, str):
            if len(value) > 256:
                self.work(len(value))
        elif isinstance(value, (*CONTAINERS, dict, list, tuple, *VIEWS)):
            self.work(weigh(value, self))
        return value

    def part(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """``value[start:stop:step]``."""
        bounds = slice(*(None if isinstance(bound, TracedNone) else bound for bound in (start, stop, step)))
        if isinstance(value, str):
            self._no_operand(value)
            return methods.pick(self, value, bounds)
        if isinstance(value, list | tuple):
            self.spend(ELEMENT * len(range(*bounds.indices(len(value)))))
            make = make_list if isinstance(value, list) else make_tuple
            return make(value[bounds], self, getattr(value, "_origin", TEMPLATE))
        if isinstance(value, range | Undefined):
            return value[bounds]
        raise TypeError(f"{type(value).__name__!r} object is not subscriptable")

    def generation(self, printed: list[str | tuple[str, ...]]) -> str:
        """The body of a ``{% generation %}`` block."""
        parts = _flat(printed)
        self.spend(sum(map(weight, parts)) + ELEMENT * len(parts))
        text, runs = joined_apart(parts)
        return Text(text, tuple([(length, origin.in_generation()) for length, origin in runs])) if runs else text

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``obj[argument]``."""
        if type(obj) is TracedDict and type(argument) is str and argument in obj:
            return obj[argument]
        try:
            if isinstance(obj, str):
                if not isinstance(argument, str):
                    self._no_operand(obj)
                    return methods.pick(self, obj, argument)
            else:
                if isinstance(argument, tuple):
                    self.weighed(argument)
                return obj[argument]
        except (TypeError, LookupError):
            pass
        if isinstance(argument, str):
            found = self._attribute(obj, plain(argument))
            if found is not None:
                return found[0]
        return Undefined(obj=obj, name=argument)

    def field(self, obj: Any, name: str) -> Any:
        """``obj.name``, where no dict has a method of this name."""
        if type(obj) is TracedDict:
            return obj[name] if name in obj else Undefined(obj=obj, name=name)
        if type(obj) is LoopContext and name in _OF_LOOPS:
            return getattr(obj, name)
        return self.getattr(obj, name)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``obj.attribute``."""
        found = self._attribute(obj, attribute)
        if found is not None:
            return found[0]
        try:
            return obj[attribute]
        except (TypeError, LookupError):
            return Undefined(obj=obj, name=attribute)

    def attribute(self, obj: Any, name: str) -> Any:
        """``obj|attr("name")``, which is never an item."""
        found = self._attribute(obj, name)
        return Undefined(obj=obj, name=name) if found is None else found[0]

    def lookup(self, value: Any, name: Any, is_attribute: bool) -> Any:
        """``value.name`` or ``value[name]`` in a format string."""
        return self.getattr(value, name) if is_attribute else self.getitem(value, name)

    def _attribute(self, obj: Any, name: str) -> tuple[Any] | None:  # noqa: PLR0911 (a kind of value each)
        """An accessible attribute, in a tuple; None if there is none.

        Raises:
            TemplateError: The attribute exists in Python and is not accessible.
        """
        if name.startswith("__"):
            raise TemplateError(f"the template accesses {name[:80]}", remedy="remove it: internals are not accessible")
        if name.startswith("_"):
            return None
        if isinstance(obj, str):
            return self._method(obj, name)
        if isinstance(obj, Undefined | Namespace):
            try:
                return (getattr(obj, name),)
            except AttributeError:
                return None
        if isinstance(obj, dict | list | tuple):
            found = self._of_container(obj, name)
            if found is not None:
                return found
        for kind, names in _ATTRIBUTES:
            if isinstance(obj, kind) and name in names:
                if kind in (int, float):
                    return (self._of_number(obj, name),)
                return (getattr(obj, name),)
        of = GeneratorType if type(obj) is LazySequence else type(obj)
        if hasattr(of, name):
            kind = of.__name__
            raise TemplateError(f"the template uses {kind}.{name[:80]}", remedy="remove it: it is not supported")
        return None

    def _method(self, text: str, name: str) -> tuple[Any] | None:
        method = methods.METHODS.get(name)
        if method is None:
            if name in _STR_NAMES:
                raise TemplateError(f"the template uses str.{name}", remedy="remove it: it is not supported")
            return None
        if not name.startswith(("is", "count", "find", "startswith", "endswith")):
            self._no_operand(text)
        return (BoundMethod(self, method, text),)

    def _of_number(self, value: Any, name: str) -> Any:
        """A part of a number, with the number's origin; or a method that returns one."""
        found = getattr(value, name)
        if callable(found):
            return BoundMethod(self, lambda _, of: number(getattr(of, name)(), origin_of(of)), value)
        return number(found, origin_of(value))

    def _of_container(self, obj: Any, name: str) -> tuple[Any] | None:
        if name == "copy" and not isinstance(obj, tuple):
            return (BoundMethod(self, _copied, obj),)
        if name == "fromkeys" and isinstance(obj, dict):
            return (BoundMethod(self, _from_keys, obj),)
        if isinstance(obj, filters.Group) and name in filters.Group.NAMES:
            return (obj[filters.Group.NAMES.index(name)],)
        if name in _MUTATING and hasattr(obj, name):
            what = f"access to attribute {name!r} of {type(obj).__name__!r} object is unsafe."
            return (Undefined(what, name=name, obj=obj, exc=SecurityError),)
        return None

    def call(self, _context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """``obj(...)``."""
        self.spend()
        for name in CALL_ARGUMENTS:
            kwargs.pop(name, None)
        if isinstance(obj, BoundMethod):
            return obj(*args, **kwargs)
        if isinstance(obj, Macro | LoopContext | BlockReference):
            for value in (*args, *kwargs.values()):
                if isinstance(value, tuple | dict):
                    self.hold(weigh(value, self))
            self.enter()
            made = obj(*args, **kwargs)
            self.depth -= 1
            return made
        try:
            return obj(*args, **kwargs)
        except StopIteration:
            return Undefined("value was undefined because a callable raised a StopIteration exception")

    def call_binop(self, context: Any, sign: str, left: Any, right: Any) -> Any:  # noqa: ARG002 (as Jinja calls it)
        """``left + right`` and the like."""
        if isinstance(left, str) or isinstance(right, str):
            made = self._of_text(sign, left, right)
        elif isinstance(left, int | float) and isinstance(right, int | float):
            made = self._of_numbers(sign, left, right)
        elif isinstance(left, Undefined) or isinstance(right, Undefined):
            made = _OPERATORS[sign](left, right)
        else:
            made = self._of_lists(sign, left, right)
        return made

    def _of_text(self, sign: str, left: Any, right: Any) -> Any:
        if sign == "+" and isinstance(left, str) and isinstance(right, str) and Safe in (type(left), type(right)):
            # As markupsafe joins: text that is not safe is escaped.
            # An escape has at most five characters.
            self.spend(5 * (weight(left) + weight(right)))
            made = joined([filters.escaped(self, value) for value in (left, right)])
            return Safe(made, runs_of(made))
        self._no_operand(left)
        self._no_operand(right)
        if sign == "+" and isinstance(left, str) and isinstance(right, str):
            self.spend(weight(left) + weight(right))
            return joined((left, right))
        if sign == "*":
            text, times = (left, right) if isinstance(left, str) else (right, left)
            if isinstance(times, int):
                return methods.repeat(self, text, times)
        if sign == "%" and isinstance(left, str):
            return percent(self, left, right)
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return _OPERATORS[sign](left, right)
        raise _unsupported(sign, left, right)

    def _of_numbers(self, sign: str, left: Any, right: Any) -> Any:
        self.spend()
        if isinstance(left, int) and isinstance(right, int):
            bits = filters.small(left).bit_length()
            filters.small(right)
            if sign == "**" and right > 0:
                # The size of the result, checked before it is computed.
                filters.small(1 << min(bits * right, 1 << 16))
        made = _OPERATORS[sign](left, right)
        origin = origin_of(left)
        return number(filters.small(made), origin if origin is not TEMPLATE else origin_of(right))

    def _of_lists(self, sign: str, left: Any, right: Any) -> Any:
        for kind, make in ((list, make_list), (tuple, make_tuple)):
            if sign == "+" and isinstance(left, kind) and isinstance(right, kind):
                return make(_chained(left, right), self)
            if sign == "*":
                items, times = (left, right) if isinstance(left, kind) else (right, left)
                if isinstance(items, kind) and isinstance(times, int):
                    self.spend(ELEMENT * len(items) * max(0, times))
                    return make(items * times, self)
        raise _unsupported(sign, left, right)

    def call_unop(self, context: Any, sign: str, value: Any) -> Any:  # noqa: ARG002 (as Jinja calls it)
        """``-value``."""
        made = -value if sign == "-" else +value
        return number(made, origin_of(value))

    def _no_operand(self, value: Any) -> None:
        if type(value) is Safe:
            raise TemplateError(
                "the template changes text marked as safe, which would be escaped",
                remedy="remove the filter safe, or join with + or ~",
            )

    def _bind_filter(self, name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
        not_safe = name in filters.NOT_SAFE
        method = getattr(apply, "method", None)

        def bound(*args: Any, **kwargs: Any) -> Any:
            if method is not None and len(args) == 1 and type(args[0]) is Text and not kwargs:
                return method(self, args[0])
            self.spend()
            if not_safe:
                self._no_operand(args[0])
            made = apply(self, *args, **kwargs)
            return LazySequence(made, self, (*args, *kwargs.values())) if type(made) is GeneratorType else made

        return bound

    def _bind_test(self, name: str, apply: Callable[..., Any]) -> Callable[..., Any]:  # noqa: ARG002 (as Jinja calls it)
        def bound(*args: Any) -> Any:
            self.spend()
            for value in args:
                self.weighed(value)
            return apply(*args)

        return bound

    # Functions of templates.

    def range(self, *args: Any) -> range:
        """``range(...)`` with limits on its length and numbers."""
        if len(args) > 1 and any(origin_of(arg) is not TEMPLATE for arg in (args[0], *args[2:])):
            raise TemplateError(
                "the template counts from or by a number of the inputs, whose origin would be lost",
                remedy="count from 0 by 1, and compute with the counter",
            )
        if any(isinstance(arg, int) and abs(arg) > _LARGEST_NUMBER for arg in args):
            raise TemplateError("the template requests a range of huge numbers", remedy="use smaller ones")
        made = range(*args)
        if len(made) > _LONGEST_RANGE:
            raise TemplateError(
                f"the template requests a range of {len(made)} numbers", remedy=f"use at most {_LONGEST_RANGE}"
            )
        return made

    def namespace(self, /, *args: Any, **kwargs: Any) -> SafeNamespace:
        """``namespace(...)``."""
        values = _DictFunction(self)(*args, **kwargs)
        for name in values:
            if isinstance(name, str) and name.startswith("_"):
                raise SecurityError(f"a namespace has no attribute {name!r}: names must not begin with an underscore")
        return SafeNamespace(values)

    def cycler(self, *items: Any) -> Cycler:
        """``cycler(...)``."""
        self.spend(ELEMENT * len(items))
        return Cycler(*items)

    def joiner(self, sep: Any = ", ") -> Joiner:
        """``joiner(...)``."""
        return Joiner(sep)

    def raise_exception(self, message: Any) -> NoReturn:
        """Raise the error by which a template rejects messages."""
        text = to_text(self, message)
        raise TemplateError(
            f"the template rejects these messages: {text[:_MOST_MESSAGE]}", remedy="change the messages as it says"
        )

    def strftime_now(self, format: Any) -> str:
        """``strftime_now(format)``: the time of the rendering."""
        if not isinstance(format, str) or origin_of(format) is not TEMPLATE:
            raise TemplateError(
                "the template formats the time by a format from the inputs", remedy="write the format into the template"
            )
        if len(format) > _MOST_TIME_FORMAT or any(digit.isdigit() for digit in format):
            raise TemplateError("the template formats the time by a long format", remedy="use a plain one")
        return self.now().strftime(plain(format))


def _unsupported(sign: str, left: Any, right: Any) -> TypeError:
    kinds = [type(value).__name__.removeprefix("Traced") for value in (left, right)]
    return TypeError(f"unsupported operand type(s) for {sign}: {kinds[0]!r} and {kinds[1]!r}")
