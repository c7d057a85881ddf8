"""Chats as text: `render`, which hands a template values that know where they are from.

The file is long because what is given may be wrong in many ways, each of which is named.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bytepair.chat.limits import ELEMENT, Limits, exceeded
from bytepair.chat.rendering.spans import Rendered, Span
from bytepair.chat.template import SPECIAL, Template
from bytepair.errors import BytepairError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from bytepair.chat.traced.values import Origin

# Where a message's reasoning stands; older names are copied to the newer ones, which templates read.
_REASONING = ("reasoning_content", "thinking", "reasoning")
_ANY_REASONING = frozenset(_REASONING)
_TRACED = re.compile(r"(?:bytepair\.chat\.traced\.values\.)?Traced(\w+)")
_MOST_BITS = 1 << 13
_RESERVED = ("messages", "tools", "documents", "add_generation_prompt")


def render(
    messages: Sequence[Mapping[str, Any]],
    template: Template | str,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Rendered:
    r"""Make text of a chat, and know of each character where it is from.

    The text is that of ``apply_chat_template`` in ``transformers``. Where a template rewrites content so that its
    places are not exactly known, it raises.

    Args:
        messages: Mappings with ``role``, ``content`` and whatever else the template reads.
        template: A template, the name of a built-in one, or source in the language of Jinja.
        tools: Descriptions of functions, as JSON schemas.
        documents: Mappings with ``title`` and ``text``.
        add_generation_prompt: Whether to end with the beginning of an assistant's message.
        variables: What else the template asks for, such as ``{"enable_thinking": False}``; they win over its own.
        now: What ``strftime_now`` of the template says; by default the time of the machine.
        limits: What it may take.

    Returns:
        The text and its spans. Time grows with the text and with the number of its parts.

    Raises:
        TemplateError: The template is broken, refuses the messages, passes a limit, or cannot be traced; ``line`` is
            that of the template.
        TypeError: An argument is of another type.

    Example:
        >>> rendered = render([{"role": "user", "content": "Hi"}], "chatml", add_generation_prompt=True)
        >>> rendered.text
        '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'
        >>> [(span.role, span.field) for span in rendered.spans if span.kind == "content"]
        [('user', 'role'), ('user', 'content')]
    """
    try:
        from bytepair.chat.sandbox.program import FILE_NAME, compiled  # noqa: PLC0415 (Jinja is an extra)
        from bytepair.chat.sandbox.runtime import Runtime  # noqa: PLC0415 (only who calls it waits for it)
        from bytepair.chat.traced.values import joined, runs_of  # noqa: PLC0415 (only who calls it waits for it)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jinja2", "markupsafe"):
            raise
        raise TemplateError("chat templates need jinja2", remedy="pip install 'bytepair[chat]'") from error
    template = _template(template)
    given = _Given(limits)
    values = given.arguments(messages, tools, documents, template, variables)
    values["add_generation_prompt"] = add_generation_prompt
    program = compiled(template, limits)
    clock = datetime.now if now is None else (lambda: now)
    runtime = Runtime(limits, given.size, clock)
    pieces = []
    try:
        for piece in runtime.pieces(program, values):
            runtime.write(len(piece))
            runtime.left -= ELEMENT
            pieces.append(piece)
        text = joined(pieces)
    except Exception as error:
        line = _line(error.__traceback__, FILE_NAME, program.line)
        raise _explained(error, line) from error
    return Rendered(str.__str__(text), _spans(runs_of(text)), program.has_generation, template)


def _template(template: Template | str) -> Template:
    if isinstance(template, Template):
        return template
    if not isinstance(template, str):
        raise TypeError(f"a template is a Template, a name or a source, not {type(template).__name__}")
    # No template of use has neither a tag nor a space.
    return Template.named(template) if template.replace("-", "").replace("_", "").isalnum() else Template(template)


def _spans(runs: Sequence[tuple[int, Origin]]) -> tuple[Span, ...]:
    spans = []
    at = start = 0
    key: tuple[Any, ...] | None = None
    last = None
    for length, origin in runs:
        if origin is last:
            at += length
            continue
        here = origin.key()
        last = origin
        if here != key and (length or origin.kind == "content"):
            if key is not None:
                spans.append(Span(start, at, *key))
            start, key = at, here
        at += length
    if key is not None and (at or key[0] == "content"):
        spans.append(Span(start, at, *key))
    return tuple(spans)


def _line(trace: TracebackType | None, file_name: str, line_of: Callable[[int], int | None]) -> int | None:
    """The line of the template in which an error arose: the innermost one."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file_name:
            line = line_of(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _explained(error: Exception, line: int | None) -> BytepairError:
    """What went wrong in a template, whatever it was."""
    if isinstance(error, TemplateError):
        return TemplateError(error.what, remedy=error.remedy, line=error.line or line)
    if isinstance(error, RecursionError):
        return TemplateError(
            "the template calls itself too often", line=line, remedy="raise Limits.depth if it is meant so"
        )
    if isinstance(error, MemoryError):
        return TemplateError("the template needs too much memory", line=line, remedy="make it simpler")
    return TemplateError(
        f"the template fails: {type(error).__name__}: {_TRACED.sub(_native_name, str(error)[:500])}",
        line=line,
        remedy="check that the messages have what it reads",
    )


def _native_name(match: re.Match[str]) -> str:
    return match[1].lower()


class _Given:
    """What is given, as values that know where they are from."""

    def __init__(self, limits: Limits) -> None:
        from bytepair.chat.traced import values as traced  # noqa: PLC0415 (as above)

        self._limits = limits
        self._traced = traced
        self._left = limits.messages
        self._place: tuple[int | None, str | None] = (None, None)

    @property
    def size(self) -> int:
        """How many characters were given; an element counts as elsewhere."""
        return self._limits.messages - self._left

    def arguments(
        self, messages: Any, tools: Any, documents: Any, template: Template, variables: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """What the template finds by name."""
        values = {name: self._own(value, name) for name, value in template.variables.items()}
        for name, value in (variables or {}).items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a variable is text, not {type(name).__name__}")
            if name in _RESERVED:
                raise TypeError(f"the variable {name!r} is an argument of its own")
            own = name in SPECIAL
            values[name] = self._own(value, name) if own else self._value(value, self._origin(f"variables/{name}"), 0)
        values["messages"] = self._messages(messages)
        values["tools"] = self._tables(tools, "tools")
        values["documents"] = self._tables(documents, "documents")
        return values

    def _own(self, value: Any, name: str) -> Any:
        """A variable that is text of the template."""
        self._take(ELEMENT + (len(value) if isinstance(value, str) else 0))
        if value is None or type(value) in (str, bool, int, float):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, list | tuple):
            return self._list([self._own(item, name) for item in value], self._traced.TEMPLATE)
        if isinstance(value, Mapping):
            pairs = [(str.__str__(self._name(key, name)), self._own(item, name)) for key, item in value.items()]
            return self._dict(pairs, self._traced.TEMPLATE)
        raise TypeError(f"the variable {name!r} is {type(value).__name__}: give text, numbers, lists or mappings")

    def _tables(self, tables: Any, name: str) -> Any:
        if tables is None:
            return None
        if isinstance(tables, str | bytes | Mapping) or not isinstance(tables, Sequence):
            raise TypeError(f"{name} is a list of mappings, not {type(tables).__name__}")
        for index, table in enumerate(tables):
            if callable(table):
                raise TypeError(f"{name}[{index}] is a function: describe it by a JSON schema")
            if not isinstance(meant_by(table), Mapping):
                raise TypeError(f"{name}[{index}] is a mapping, not {type(table).__name__}")
        return self._value(list(tables), self._origin(name), 0)

    def _messages(self, messages: Any) -> Any:
        messages = getattr(messages, "messages", messages)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise TypeError(f"messages are a list of mappings, not {type(messages).__name__}")
        found = []
        for index, given in enumerate(messages):
            message = given if type(given) is dict else meant_by(given)
            if not isinstance(message, Mapping):
                raise TypeError(f"message {index} is a mapping, not {type(given).__name__}")
            role = message.get("role")
            self._place = (index, str.__str__(role) if isinstance(role, str) else None)
            pairs = [self._pair(key, value, "", 1) for key, value in message.items()]
            if not _ANY_REASONING.isdisjoint(message):
                pairs = self._with_reasoning(pairs)
            found.append(self._dict(pairs, self._origin("")))
        self._place = (None, None)
        return self._list(found, self._origin("messages"))

    def _with_reasoning(self, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """The pairs of a message with its reasoning under the names that templates read."""
        known = dict(pairs)
        # What is given as None has a stand-in.
        empty = self._traced.TracedNone
        source = next((name for name in _REASONING if name in known and type(known[name]) is not empty), None)
        if source is None:
            return pairs
        origin = self._origin(source)
        value = known[source]
        thinking = [] if "thinking" in known else [(self._text("thinking", origin), value)]
        changed = [(name, value if name == "reasoning_content" else old) for name, old in pairs]
        standard = [] if "reasoning_content" in known else [(self._text("reasoning_content", origin), value)]
        # As `transformers` merges them: what is new in front, what was there in its order, what is last at the end.
        front = [pair for pair in changed if pair[0] == "thinking"]
        return [*thinking, *front, *(pair for pair in changed if pair[0] != "thinking"), *standard]

    def _origin(self, field: str) -> Origin:
        message, role = self._place
        return self._traced.Origin("content", message, role, field)

    def _text(self, text: str, origin: Origin) -> Any:
        self._take(len(text) + ELEMENT)
        return self._traced.Text(text, ((len(text), origin),))

    def _name(self, key: Any, field: str) -> str:
        if not isinstance(key, str):
            raise TemplateError(
                f"{self._where(field)} has the key {str(key)[:80]!r}, which is {type(key).__name__}",
                remedy="keys are text",
            )
        return key if type(key) is str else str.__str__(key)

    def _where(self, field: str | None) -> str:
        message = self._place[0]
        if message is None:
            return str(field)
        return f"message {message}" + (f", {field}," if field else "")

    def _pair(self, key: Any, value: Any, parent: str | None, depth: int) -> tuple[Any, Any]:
        """A key and its value, which are from one place."""
        name = self._name(key, str(parent))
        origin = self._origin(f"{parent}/{name}" if parent else name)
        if type(value) is str:
            # As below, in one step: most of what is given is text.
            self._take(len(name) + len(value) + 2 * ELEMENT)
            text = self._traced.Text
            return text(name, ((len(name), origin),)), text(value, ((len(value), origin),))
        return self._text(name, origin), self._value(value, origin, depth)

    def _value(self, value: Any, origin: Origin, depth: int) -> Any:
        """A value from outside; numpy's scalars, dataclasses and models of pydantic are what they stand for."""
        if type(value) is str:
            return self._text(value, origin)
        value = meant_by(value)
        if isinstance(value, str):
            return self._text(str.__str__(value), origin)
        self._take(ELEMENT)
        where = origin.field
        if value is None or isinstance(value, bool | int | float):
            if isinstance(value, float) and not math.isfinite(value):
                raise TemplateError(f"{self._where(where)} is {value}", remedy="JSON has no such number")
            if isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise TemplateError(f"{self._where(where)} has thousands of digits", remedy="give it as text")
            return self._traced.number(value, origin)
        if depth > self._limits.depth:
            raise exceeded(f"{self._where(str(where)[:80])} is nested deeper than {self._limits.depth} levels", "depth")
        if isinstance(value, Mapping):
            return self._dict([self._pair(key, item, where, depth + 1) for key, item in value.items()], origin)
        if isinstance(value, list | tuple):
            items = [self._value(item, self._origin(f"{where}/{at}"), depth + 1) for at, item in enumerate(value)]
            return self._list(items, origin, isinstance(value, tuple))
        raise TemplateError(
            f"{self._where(where)} is {type(value).__name__}",
            remedy="give text, numbers, True, False, None, lists and mappings",
        )

    def _take(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise exceeded(f"messages and tools have more than {self._limits.messages} characters", "messages")

    def _list(self, items: list[Any], origin: Origin, as_tuple: bool = False) -> Any:
        made = self._traced.TracedTuple(items) if as_tuple else self._traced.TracedList(items)
        made._origin, made._weight = origin, sum(map(_weight, items))
        return made

    def _dict(self, pairs: list[tuple[Any, Any]], origin: Origin) -> Any:
        made = self._traced.TracedDict(pairs)
        made._origin = origin
        made._weight = sum([ELEMENT + len(key) + _weight(value) for key, value in pairs])
        return made


def _weight(value: Any) -> int:
    return ELEMENT + (len(value) if isinstance(value, str) else getattr(value, "_weight", 0))


def meant_by(value: Any) -> Any:
    """What a rich object stands for."""
    if value is None or isinstance(value, str | int | float | Mapping | list | tuple | bytes):
        return value
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ():
        return meant_by(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) and not isinstance(value, type) else value
