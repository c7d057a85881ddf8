"""Reports on templates: each fault with a template that has it, and the smallest conversation that shows it."""

from __future__ import annotations

import pytest
from fuzz.structured import one_token_a_byte, template_of
from fuzz.structures import STRUCTURES

import bytepair as bp
from bytepair.chat.rendering.render import render
from tests.conftest import WHOLE

GOOD = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function | tojson }}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TOOLED = "{{ tools | tojson if tools else '' }}" + GOOD
FAULTS = {
    "keeps earlier text": GOOD.replace("m.reasoning_content %}<think>", "m.reasoning_content and loop.last %}<think>"),
    "repeats the prompt": GOOD.replace("%}<|assistant|>", "%}<|assistant|><think>"),
    "keeps reasoning": GOOD.replace("{% if m.reasoning_content %}", "{% if false %}"),
    "keeps content": GOOD.replace("m.content", "m.content | trim"),
    "keeps the order of tools": "{{ (tools or []) | sort(attribute='function.name') | tojson }}" + GOOD,
    "takes a system message": "{{ raise_exception('no system') if messages[0].role == 'system' }}" + GOOD,
    "takes tools": GOOD,
    "takes tool calls": GOOD.replace("m.tool_calls", "[]"),
    "takes several calls": GOOD.replace("m.tool_calls %}", "(m.tool_calls or [])[:1] %}"),
    "takes chats without tools": "{{ raise_exception('no tools') if not tools }}" + TOOLED,
    "takes contents as text": "{{ raise_exception('no parts') if messages[0].content is string }}"
    + GOOD.replace("{{ m.content }}", "{% for p in m.content %}{{ p.text }}{% endfor %}"),
    "takes results": GOOD.replace("{{ m.content }}", "{{ m.content if m.role != 'tool' }}"),
    "takes reasoning": GOOD.replace("m.reasoning_content", "nothing"),
    "takes parts": "{{ raise_exception('no parts') if messages[0].content is not string }}" + GOOD,
    # With the end of the one before in the header, no prompt is in the text of the next message.
    "can be trained on": "{{ raise_exception('x') if add_generation_prompt or messages|length < 2 }}"
    "{% for m in messages %}<{{ range(9)|list if m.content == 'x' else 'go' }}>{% endfor %}",
}


def test_a_template_without_faults() -> None:
    report = bp.chat.check(TOOLED, one_token_a_byte())
    assert [finding.name for finding in report.findings if finding.holds is not True] == []
    assert str(report).splitlines()[0] == "keeps earlier text: yes"


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found(name: str) -> None:
    found = bp.chat.check(FAULTS[name], one_token_a_byte())[name]
    assert found.holds is False, found
    assert found.conversation
    assert str(found).startswith(f"{name}: no")


def test_a_template_that_needs_tools_or_parts_is_checked_with_them() -> None:
    for name in ("takes chats without tools", "takes contents as text"):
        report = bp.chat.check(FAULTS[name], one_token_a_byte())
        wrong = [finding.name for finding in report.findings if finding.holds is False]
        assert wrong == ([name] if "tools" in name else [name, "takes tools"]), str(report)
    with pytest.raises(bp.errors.TemplateError, match="no chats"):
        bp.chat.check("{{ raise_exception('no chats') }}")


def test_the_counterexample_is_the_smallest() -> None:
    last = FAULTS["keeps earlier text"]
    found = bp.chat.check(last)["keeps earlier text"]
    chat = found.conversation or []
    assert [message["role"] for message in chat] == ["user", "assistant", "user"]
    before, whole = (render(messages, last).text for messages in (chat[:-1], chat))
    assert not whole.startswith(before)
    # No shorter beginning of it shows the fault.
    assert render(chat[:-1], last).text.startswith(render(chat[:-2], last).text)


def test_ids_are_checked_with_a_tokenizer() -> None:
    # "ab" is one token, so that the ids change where a message is appended, though the text does not.
    tok = bp.train({"ab": 5}, vocab_size=257)
    joined = "{% for m in messages %}{{ m.content }}{% endfor %}"
    assert bp.chat.check(joined, tok)["keeps earlier text"].holds
    found = bp.chat.check(joined, tok)["keeps earlier ids"]
    assert (found.holds, len(found.conversation or [])) == (False, 2)
    with pytest.raises(KeyError):
        bp.chat.check(joined)["keeps earlier ids"]


def test_what_the_structures_are_known_to_do() -> None:
    known = {
        "chatml": {"keeps earlier text": True, "repeats the prompt": True, "keeps reasoning": True},
        "harmony": {"keeps earlier text": False, "repeats the prompt": True},
        "QwQ: a prompt that history drops": {"repeats the prompt": False, "takes reasoning": False},
        "chatml, reasoning of the last turns only": {"keeps earlier text": False, "keeps reasoning": False},
    }
    for structure in STRUCTURES:
        if structure.name not in known and not WHOLE:
            continue
        report = bp.chat.check(template_of(structure), one_token_a_byte())
        assert report["can be trained on"].holds, structure.name
        for name, holds in known.get(structure.name, {}).items():
            assert report[name].holds is holds, (structure.name, name)


def test_arguments_that_are_json_are_tried_too() -> None:
    joined = GOOD.replace("{{ c.function | tojson }}", "{{ c.function.name + c.function.arguments }}")
    assert bp.chat.check(joined, one_token_a_byte())["takes tool calls"].holds


def test_a_template_that_takes_nothing_is_an_error() -> None:
    with pytest.raises(bp.TemplateError, match="no"):
        bp.chat.check("{{ raise_exception('no') }}")
