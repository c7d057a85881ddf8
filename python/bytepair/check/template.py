"""Chat templates, checked without being rendered."""

from __future__ import annotations

import importlib.util
import re

from bytepair.errors import TemplateError

CONTROL = re.compile(r"<\|[\w/:.▁-]+\|>|<｜[\w/:.▁ -]+｜>")
"""Words between bars inside angle brackets, ASCII or full-width: only control tokens are spelled so."""


def has_jinja() -> bool:
    """Whether templates can be parsed."""
    return importlib.util.find_spec("jinja2") is not None


def parse_error(text: str) -> str:
    """The error of a template that cannot be parsed; empty if it can, or if Jinja is not installed."""
    if not has_jinja():
        return ""
    # Few tokenizers have a template.
    from bytepair.chat.limits import Limits  # noqa: PLC0415
    from bytepair.chat.sandbox.program import compiled  # noqa: PLC0415
    from bytepair.chat.template import Template  # noqa: PLC0415

    try:
        compiled(Template(text), Limits())
    except TemplateError as error:
        return str(error)
    return ""
