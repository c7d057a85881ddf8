"""Faults that published templates showed, each by a small made template with the same structure."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz.structured import one_token_a_byte

import bytepair as bp

USER = {"role": "user", "content": "hello"}
ANSWER = {"role": "assistant", "content": "good day"}
CALL = {"type": "function", "function": {"name": "look", "arguments": {"at": "it"}}}


def reasons(messages: list[Any], template: str, **options: Any) -> list[tuple[str, str]]:
    example = one_token_a_byte().encode_chat(messages, template, **options)
    return [(part.why, example.text[part.start : part.end]) for part in example.trained]


def test_parts_only_and_no_prompt() -> None:
    """LLaVA-NeXT: no prompt for generation, and contents that are text are refused."""
    template = (
        "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content[0].text }} [/INST]"
        "{% else %} {{ m.content[0].text }}</s>{% endif %}{% endfor %}"
    )
    parts = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in (USER, ANSWER)]
    assert reasons(parts * 2, template) == [("field", "good day"), ("end", "</s>")] * 2


PREAMBLE = (
    "<|s|>system<|m|>Be good.<|e|>"
    "{% for m in messages %}<|s|>{{ m.role }}<|m|>{{ m.content }}<|e|>{% endfor %}<|s|>assistant<|m|>"
)


def test_a_turn_behind_every_conversation_is_not_its_end() -> None:
    """Llama 3 as it was. The header is known by the first message, which only a mark stands before."""
    template = PREAMBLE.replace("<|s|>system<|m|>Be good.<|e|>", "<|begin|>")
    for messages in ([USER, ANSWER], [USER, ANSWER, USER, ANSWER], [USER, ANSWER, USER]):
        answers = sum(message is ANSWER for message in messages)
        assert reasons(messages, template) == [("field", "good day"), ("end", "<|e|>")] * answers


def test_a_preamble_that_ends_as_turns_do() -> None:
    """Command R7B: the mark that begins the text begins the header, and ends nothing."""
    assert reasons([USER, ANSWER], PREAMBLE) == [("field", "good day"), ("end", "<|e|>")]
    assert reasons([USER, ANSWER, USER], PREAMBLE) == [("field", "good day"), ("end", "<|e|>")]
    with pytest.raises(bp.TemplateError, match="behind every conversation"):
        reasons([USER, ANSWER], "Be good." + PREAMBLE)
    assert reasons([USER, ANSWER], "Be good." + PREAMBLE, end_of_turn="<|e|>")[-1] == ("end", "<|e|>")


def test_a_request_behind_every_conversation() -> None:
    """Command R+ with tools: a system message ends each text."""
    template = PREAMBLE.replace("{% endfor %}<|s|>assistant", "{% endfor %}<|s|>system<|m|>Write.<|e|><|s|>assistant")
    assert reasons([USER, ANSWER], template) == [("field", "good day"), ("end", "<|e|>")]


def test_an_answer_of_white_space_whose_reasoning_history_drops() -> None:
    """Qwen 3."""
    template = (
        "{% for m in messages %}<|s|>{{ m.role }}\n{% if m.reasoning_content and loop.last %}<think>"
        "{{ m.reasoning_content }}</think>{% endif %}{{ m.content | trim }}<|e|>{% endfor %}"
        "{% if add_generation_prompt %}<|s|>assistant\n{% endif %}"
    )
    thought = {"role": "assistant", "content": "\n\n", "reasoning_content": "why"}
    assert reasons([USER, thought, USER], template) == [("end", "<|e|>")]
    assert ("end", "<|e|>") in reasons([USER, thought], template)


def test_a_call_ends_with_its_mark_though_an_empty_content_follows_the_results() -> None:
    """Gemma 4 of Unsloth: content is behind the calls and their results."""
    template = (
        "{% for m in messages %}{% if m.role != 'tool' %}<|s|>{{ m.role }}\n"
        "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}</call>{% endfor %}"
        "{% if m.tool_calls %}<|r|>{% endif %}{{ m.content }}{% if not m.tool_calls %}<|e|>{% endif %}"
        "{% else %}{{ m.content }}</r>{% endif %}{% endfor %}"
        "{% if add_generation_prompt and messages[-1].role != 'tool' %}<|s|>assistant\n{% endif %}"
    )
    calling = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert reasons([USER, calling, {"role": "tool", "content": "seen"}], template) == [
        ("mark", "<call>"),
        ("field", "look"),
        ("mark", "</call>"),
        ("end", "<|r|>"),
    ]


def test_a_content_of_a_line_end_before_calls_that_the_end_of_a_conversation_strips() -> None:
    """Qwen 3."""
    template = (
        "{% for m in messages %}<|s|>{{ m.role }}\n{{ m.content | trim if loop.last else m.content }}"
        "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}</call>{% endfor %}<|e|>{% endfor %}"
        "{% if add_generation_prompt %}<|s|>assistant\n{% endif %}"
    )
    calling = {"role": "assistant", "content": "\n", "tool_calls": [CALL]}
    assert reasons([USER, calling, USER], template)[:2] == [("field", "\n"), ("mark", "<call>")]


FIRST_CALL = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.tool_calls %}<call>{{ m.tool_calls[0].function | tojson }}</call>{% endif %}<end>{% endfor %}"
)


def test_only_the_first_call_of_a_message() -> None:
    """Llama 3.1 and others: what the text lacks is not learnt without a word."""
    calling = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert reasons([USER, calling, ANSWER], FIRST_CALL)
    twice = {**calling, "tool_calls": [CALL, CALL]}
    with pytest.raises(bp.TemplateError, match=r"nothing of call 1 of message 1, .*; give each call a message of its"):
        reasons([USER, twice, ANSWER], FIRST_CALL)
    assert reasons([USER, twice, ANSWER], FIRST_CALL, train_on=lambda number, _: number == 2)
    whole = FIRST_CALL.replace("m.tool_calls[0].function | tojson", "m.tool_calls | tojson")
    assert reasons([USER, twice, ANSWER], whole)


def test_a_system_message_that_is_moved_before_an_empty_one_does_not_end_with_its_header() -> None:
    """DeepSeek V3: system messages come first, whatever stands before them."""
    template = (
        "{% for m in messages if m.role == 'system' %}{{ m.content }}\n{% endfor %}"
        "{% for m in messages if m.role == 'user' %}<|User|>{{ m.content }}{% endfor %}"
    )
    system = {"role": "system", "content": "be good"}
    for content in ("", "hello"):
        messages = [{"role": "user", "content": content}, system]
        assert reasons(messages, template, train_on="system", train_marks=False) == [("field", "be good")]


def test_the_mark_behind_reasoning_in_a_content_of_parts_ends_no_turn() -> None:
    """GLM 4.5: turns have no end, and what is before the mark is the reasoning."""
    template = (
        "{% for m in messages %}<|{{ m.role }}|>\n{% for p in m.content %}"
        "{% if '</think>' in p.text %}<think>{{ p.text.split('</think>')[0] }}</think>"
        "{{ p.text.split('</think>')[-1] }}{% else %}{{ p.text }}{% endif %}{% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )

    def parts(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    for prompt in (False, True):
        messages = [parts("user", "hello"), parts("assistant", "why</think>")]
        made = reasons(messages, template, train_marks=False, add_generation_prompt=prompt)
        assert ("end", "</think>") not in made
        assert made[0] == ("field", "why")


def test_a_mark_that_no_conversation_ends_with() -> None:
    """ChatML as vLLM has it, and Apertus, whose text begins with more than marks."""
    chatml = (
        "{% for m in messages %}<|s|>{{ m.role }}\n{{ m.content }}{% if not loop.last %}<|e|>\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|e|>\n<|s|>assistant\n{% endif %}"
    )
    apertus = (
        "<|sys|>Be good.</sys>{% for m in messages %}{% if m.role == 'user' %}{% if not loop.first %}<|e|>{% endif %}"
        "<|user|>{{ m.content }}{% else %}<|bot|>{{ m.content }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|bot|>{% endif %}"
    )
    for template in (chatml, apertus):
        learnt = [("field", "good day"), ("end", "<|e|>"), ("field", "good day")]
        assert reasons([USER, ANSWER] * 2, template) == learnt
    # The text between is a header; the first header has no more.
    header = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    assert ("end", "<|user|>") not in reasons([USER, ANSWER] * 2, header)


def test_an_end_that_is_told_is_not_that_of_a_next_message_without_text() -> None:
    """GLM 4.5 and Gemma, whose empty messages have a header and nothing else."""
    template = (
        "{% for m in messages %}{{ '<|user|>' if m.role == 'user' else '<|system|>' }}"
        "{% for p in m.content or [] %}{{ p.text }}{% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    user, empty = {"role": "user", "content": [{"type": "text", "text": "hello"}]}, {"role": "system", "content": []}
    options: dict[str, Any] = {
        "train_on": lambda number, _: number == 0,
        "train_marks": False,
        "end_of_turn": "<|user|>",
    }
    assert reasons([user, user], template, **options) == [("field", "hello"), ("end", "<|user|>")]
    assert reasons([user, empty, user], template, **options) == [("field", "hello")]
