"""`render`: messages -> text with spans."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bytepair.chat.limits import Limits
from bytepair.chat.rendering.continuing import field_of, tagged, until_tag
from bytepair.chat.rendering.inputs import TracedInputs
from bytepair.chat.rendering.spans import Rendered
from bytepair.chat.template import Template
from bytepair.chat.traced.values import joined_apart
from bytepair.errors import BytepairError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.chat.sandbox.program import Program


_TRACED = re.compile(r"(?:bytepair\.chat\.traced\.values\.)?Traced(\w+)")


def render(
    messages: Sequence[Mapping[str, Any]],
    template: Template | str,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    variables: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Rendered:
    r"""Render a chat as text, and record the origin of each character.

    The text equals that of ``apply_chat_template`` in ``transformers``. A template that rewrites content so that
    origins are not exactly known raises an error.

    Args:
        messages: Mappings with ``role``, ``content`` and any other fields that the template reads.
        template: A template, the name of a built-in one, or Jinja source.
        tools: Descriptions of functions, as JSON schemas.
        documents: Mappings with ``title`` and ``text``.
        add_generation_prompt: Whether to append the beginning of an assistant's message.
        continue_final_message: Whether the text ends inside the last message, for a model to continue; or the field to
            continue, such as ``"reasoning_content"``.
        variables: Other variables of the template, such as ``{"enable_thinking": False}``; they override the template's
            own.
        now: The time that ``strftime_now`` formats; by default the current time.
        limits: Limits of time, memory and size.

    Returns:
        The text and its spans. Time is linear in the text and the number of its parts.

    Raises:
        TemplateError: The template is malformed, rejects the messages, exceeds a limit, or cannot be traced; ``line``
            is the line of the template.
        TypeError: An argument has the wrong type.
        ValueError: There is nothing to continue, or a generation prompt is requested as well.

    Example:
        >>> rendered = render([{"role": "user", "content": "Hi"}], "chatml", add_generation_prompt=True)
        >>> rendered.text
        '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'
        >>> [(span.role, span.field) for span in rendered.spans if span.kind == "content"]
        [('user', 'role'), ('user', 'content')]
    """
    template = template_of(template)
    program = program_of(template, limits)
    field, said = field_of(continue_final_message), ""
    if field:
        if add_generation_prompt:
            raise ValueError("continue_final_message and add_generation_prompt cannot be combined")
        messages, said = tagged(messages, field, template.source)
    inputs = TracedInputs(limits)
    values = inputs.arguments(messages, tools, documents, template, variables)
    values["add_generation_prompt"] = add_generation_prompt
    clock = datetime.now if now is None else (lambda: now)
    try:
        text, runs = joined_apart(program.run(values, limits, inputs.size, clock))
    except MemoryError:
        raise  # The memory of a template is bounded: the process itself is short of it.
    except Exception as error:
        raise _explained(error, program.line(error.__traceback__)) from error
    rendered = Rendered(text, runs, program.has_generation, template)
    return until_tag(rendered, said) if field else rendered


def template_of(template: Template | str) -> Template:
    """The template of an argument; TypeError for neither a template nor a text."""
    if isinstance(template, Template):
        return template
    if not isinstance(template, str):
        raise TypeError(f"a template is a Template, the name of one, or its source, not {type(template).__name__}")
    # Every useful source has a tag or a space; the name of a template has neither.
    return Template.named(template) if template.replace("-", "").replace("_", "").isalnum() else Template(template)


def program_of(template: Template, limits: Limits = Limits()) -> Program:  # noqa: B008 (frozen)
    """The compiled template.

    Raises:
        TemplateError: It does not compile, or jinja2 is not installed.
    """
    try:
        from bytepair.chat.sandbox.program import compiled  # noqa: PLC0415 (Jinja is an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jinja2", "markupsafe"):
            raise
        raise TemplateError("chat templates need jinja2", remedy="pip install 'jinja2>=3.1,<3.2'") from error
    return compiled(template, limits)


def _explained(error: Exception, line: int | None) -> BytepairError:
    """An error raised while a template runs, as a BytepairError."""
    if isinstance(error, TemplateError):
        return TemplateError(error.what, remedy=error.remedy, line=error.line or line)
    if isinstance(error, RecursionError):
        return TemplateError(
            "the template calls itself too often", line=line, remedy="raise Limits.depth if this is intended"
        )
    return TemplateError(
        f"the template fails: {type(error).__name__}: {_TRACED.sub(_native_name, str(error)[:500])}",
        line=line,
        remedy="check that the messages have the fields it reads",
    )


def _native_name(match: re.Match[str]) -> str:
    return match[1].lower()
