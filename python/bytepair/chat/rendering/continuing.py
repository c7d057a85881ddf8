"""Texts that end inside their last message, for a model to continue it.

As in `transformers`, a tag is added to the message, and the text ends where the template writes the tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.chat.rendering.inputs import REASONING
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.chat.rendering.spans import Rendered

_TAG = "CONTINUE_FINAL_MESSAGE_TAG "


def field_of(continue_final_message: bool | str) -> str:
    """The field that is continued; "" for none."""
    return continue_final_message if isinstance(continue_final_message, str) else "content" * continue_final_message


def tagged(messages: Sequence[Mapping[str, Any]], field: str, source: str) -> tuple[list[Any], str]:
    """The messages with a tag at the end of a field of the last one, and the text before the tag.

    Raises:
        ValueError: There is no such text, or the template does not mention the field.
    """
    last = dict(messages[-1]) if messages else {}
    # Reasoning is copied to all of its names, and the template may use any of them.
    names = REASONING if field in REASONING else (field,)
    field = next((name for name in names if last.get(name) is not None), "")
    if not field:
        raise ValueError(f"the last message has no {names[0]!r} to continue")
    if not any(name in source for name in names):
        raise ValueError(f"the chat template does not use {field!r}, the field to continue")
    if isinstance(last[field], str):
        said = last[field]
        last |= {name: said + _TAG for name in names if last.get(name) == said}
        return [*messages[:-1], last], said
    blocks = [dict(block) for block in last[field]]
    block = next((block for block in reversed(blocks) if "text" in block), None)
    if block is None:
        raise ValueError("the last message has no text to continue")
    said = block["text"]
    block["text"] = said + _TAG
    last[field] = blocks
    return [*messages[:-1], last], said


def until_tag(rendered: Rendered, said: str) -> Rendered:
    """The part of a rendered text before the tag.

    Raises:
        TemplateError: The template does not write the tag, or not all of the text before it.
    """
    text = rendered.text
    place = text.rfind(_TAG.strip())
    if place < 0 or said.strip() not in text:
        raise TemplateError(
            "the chat template does not write the whole last message, so it cannot be continued",
            remedy="continue another field, such as continue_final_message='reasoning_content'",
        )
    # If the tag's space is missing, the template trims the message: trim the text likewise.
    return rendered.until(place if text.startswith(_TAG, place) else len(text[:place].rstrip()))
