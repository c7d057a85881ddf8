"""`render`: messages -> text with spans."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bytepair.chat.limits import ELEMENT, Limits
from bytepair.chat.rendering.inputs import TracedInputs
from bytepair.chat.rendering.spans import Rendered, Span
from bytepair.chat.template import Template
from bytepair.chat.traced.values import joined, runs_of
from bytepair.errors import BytepairError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from bytepair.chat.traced.values import Origin

_TRACED = re.compile(r"(?:bytepair\.chat\.traced\.values\.)?Traced(\w+)")


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
        from bytepair.chat.sandbox.runtime import Runtime  # noqa: PLC0415 (as above)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jinja2", "markupsafe"):
            raise
        raise TemplateError("chat templates need jinja2", remedy="pip install 'bytepair[chat]'") from error
    template = _template(template)
    inputs = TracedInputs(limits)
    values = inputs.arguments(messages, tools, documents, template, variables)
    values["add_generation_prompt"] = add_generation_prompt
    program = compiled(template, limits)
    clock = datetime.now if now is None else (lambda: now)
    runtime = Runtime(limits, inputs.size, clock)
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
