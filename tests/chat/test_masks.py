"""Masks and messages to be continued, compared with transformers on random conversations."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fuzz.case import case
from fuzz.chat_templates import NAMES, Subject, subjects
from fuzz.chat_vocabularies import small
from fuzz.chats import conversation, given_to, renderer_of_transformers, template_of, without_none

import bytepair as bp
from bytepair.chat.rendering.render import render
from tests.conftest import WHOLE

transformers = pytest.importorskip("transformers")
FIELDS: tuple[bool | str, ...] = (True, True, "reasoning_content", "thinking")
CONVERSATIONS = 2_000 if WHOLE else 6


def test_a_message_is_continued_as_in_transformers(subject: Subject) -> None:
    """Text, or a refusal of both."""
    continued = 0
    for number in range(CONVERSATIONS):
        chooses = random.Random(f"continue/{subject.name}/{number}")
        chat = conversation(chooses, subject, literals=number % 2 == 0, broken=0)
        messages = without_none(chat.messages)
        given = given_to(subject, chat) | {"add_generation_prompt": False}
        field = chooses.choice(FIELDS)
        with case(template=subject.name, number=number, chat=chat, field=field):
            expected = continued_by_transformers(subject, messages, chat.tools, chat.variables, field)
            try:
                found: str | None = render(
                    chat.messages, template_of(subject.name), **given, continue_final_message=field
                ).text
            except (bp.TemplateError, ValueError):
                found = None
            assert found == expected
            continued += expected is not None
    assert continued > CONVERSATIONS / 10


def continued_by_transformers(
    subject: Subject, messages: list[Any], tools: Any, variables: dict[str, Any], field: bool | str
) -> str | None:
    try:
        (text,), _ = renderer_of_transformers()(
            [messages], tools=tools, chat_template=subject.source, continue_final_message=field, **variables
        )
    except Exception:  # whatever comes out of a template
        return None
    return str(text)


def test_labels_of_blocks_are_the_mask_of_transformers() -> None:
    """Where a template declares what the assistant says, labels are the mask; without blocks, the mask has nothing."""
    compared = 0
    for name in NAMES:
        if name not in subjects():
            continue
        subject = subjects()[name]
        template = template_of(name)
        for number in range(CONVERSATIONS):
            chooses = random.Random(f"masks/{name}/{number}")
            chat = conversation(chooses, subject, literals=False, broken=0)
            vocabulary = small("bytes", "plain", subject.marks)
            peer = transformers.PreTrainedTokenizerFast(tokenizer_object=vocabulary.full)
            with case(template=name, number=number, chat=chat):
                try:
                    example = vocabulary.tok.encode_chat(
                        chat.messages, template, policy="allow", **given_to(subject, chat)
                    )
                except bp.TemplateError:
                    continue
                made = peer.apply_chat_template(
                    without_none(chat.messages),
                    tools=chat.tools,
                    chat_template=template.source,
                    add_generation_prompt=chat.add_generation_prompt,
                    return_assistant_tokens_mask=True,
                    **chat.variables,
                )
                assert example.input_ids.tolist() == made["input_ids"]
                if not example.rendered.has_generation:
                    assert not any(made["assistant_masks"])
                    continue
                assert (example.labels != -100).astype(int).tolist() == made["assistant_masks"]
                compared += 1
    assert compared > CONVERSATIONS
