"""Texts as transformers has them: fields that are None, text marked as safe, messages to be continued."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz.chats import renderer_of_transformers

import bytepair as bp
from bytepair.chat.rendering.render import render

CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello "}]
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TRIMMED = PLAIN.replace("m.content", "m.content | trim")


def theirs(messages: list[Any], source: str, **options: Any) -> str:
    return str(renderer_of_transformers()([messages], chat_template=source, **options)[0][0])


def test_a_field_that_is_none_is_missing() -> None:
    source = "{{ 'content' in messages[0] }}{{ messages[0].content }}{{ messages[0].calls is defined }}"
    assert render([{"role": "user", "content": None, "calls": None}], source).text == "FalseFalse"
    # Inside of a field, None is a value.
    nested = [{"role": "user", "given": {"x": None}}]
    assert render(nested, "{{ messages[0].given }}{{ messages[0].given.x }}").text == "{'x': None}None"


@pytest.mark.parametrize(
    "expression",
    [
        "'[ARGS]' + m.args|tojson|safe",
        "'{\"name\": \"' + m.name + '\", \"arguments\": ' + m.args|tojson|safe + '}<b>'",
        "m.args|tojson|safe + m.name + '<'",
        "'<' ~ (m.args|tojson|safe) ~ m.name",
        "('<' + m.args|tojson|safe)|upper",
        "('<' + m.args|tojson|safe + m.name) is escaped",
        "[m.name|safe + '<', 'x']|join('<')",
    ],
)
def test_text_marked_as_safe_is_joined_as_markupsafe_does(expression: str) -> None:
    messages = [{"role": "assistant", "name": 'n<"&', "args": {"k'": "<v>&", "n": 3}}]
    source = "{% set m = messages[0] %}{{ " + expression + " }}"
    rendered = render(messages, source)
    assert rendered.text == theirs(messages, source)
    if "tojson" in expression and "upper" not in expression and "escaped" not in expression:
        mine = "".join(rendered.text[span.start : span.end] for span in rendered.spans if span.field == "args")
        assert mine.replace(": ", "") == "{, }"
        keys = [rendered.text[span.start : span.end] for span in rendered.spans if span.field == "args/k'"]
        assert keys == ['"k\'"', '"<v>&"']


@pytest.mark.parametrize("source", [PLAIN, TRIMMED])
@pytest.mark.parametrize("said", ["Hello", "Hello ", " ", "CONTINUE_FINAL_MESSAGE_TAG x"])
def test_the_text_ends_inside_the_message_to_be_continued(source: str, said: str) -> None:
    chat = [CHAT[0], {"role": "assistant", "content": said}]
    rendered = render(chat, source, continue_final_message=True)
    assert rendered.text == theirs(chat, source, continue_final_message=True)
    assert rendered.spans[-1].end == len(rendered.text)
    assert [span.start for span in rendered.spans[1:]] == [span.end for span in rendered.spans[:-1]]


def test_a_field_or_a_part_is_continued() -> None:
    source = "{% for m in messages %}<think>{{ m.reasoning_content }}</think>{{ m.content[0].text }}</s>{% endfor %}"
    chat = [{"role": "assistant", "content": [{"type": "text", "text": "a"}], "thinking": "b"}]
    for field in (True, "thinking", "reasoning_content"):
        assert render(chat, source, continue_final_message=field).text == theirs(
            chat, source, continue_final_message=field
        )


def test_what_cannot_be_continued_is_refused() -> None:
    with pytest.raises(ValueError, match="no 'content' to continue"):
        render([{"role": "assistant"}], PLAIN, continue_final_message=True)
    with pytest.raises(ValueError, match="does not use 'thinking'"):
        render([{"role": "assistant", "thinking": "x"}], PLAIN, continue_final_message="thinking")
    with pytest.raises(ValueError, match="cannot be combined"):
        render(CHAT, PLAIN, continue_final_message=True, add_generation_prompt=True)
    with pytest.raises(bp.TemplateError, match="does not write the whole last message"):
        render(CHAT, PLAIN.replace("m.content", "m.content[:3]"), continue_final_message=True)


def test_a_message_to_be_continued_is_a_prompt(chat_tok: bp.Tokenizer) -> None:
    chat = [CHAT[0], {"role": "assistant", "content": "fine"}, CHAT[0], {"role": "assistant", "content": "thank"}]
    example = chat_tok.encode_chat(chat, "chatml", continue_final_message=True)
    assert example.text.endswith("<|im_start|>assistant\nthank")
    assert {part.message for part in example.trained} == {1}
    assert chat_tok.decode(example.labels[example.labels >= 0].tolist()) == "fine<|im_end|>"
