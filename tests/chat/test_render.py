"""Rendered texts equal those of `transformers`, and every character has the origin in its span."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bytepair.chat.limits import Limits
from bytepair.chat.rendering import inputs
from bytepair.chat.rendering.render import render
from bytepair.chat.rendering.spans import Rendered
from bytepair.chat.template import Template
from bytepair.errors import TemplateError
from tests.chat.constructs import SNIPPETS
from tests.chat.conversations import conversation, expected, proper

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
REAL = {
    "llama3": "llama3",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "qwen3-coder": "qwen3/tokenizer_config.coder.json",
    "deepseek-r1": "deepseek/tokenizer_config.json",
    "deepseek-v3.1": "deepseek/v31_tokenizer_config.json",
    "kimi-k2": "kimi-k2",
    "phi-4": "phi-4",
    "glm-4.5": "glm45/chat_template.jinja",
}


def compare(template: Template, given: dict[str, Any]) -> Rendered | None:
    """Both render the same, or both raise."""
    theirs = expected(template.source, given, dict(template.variables))
    if isinstance(theirs, Exception):
        with pytest.raises(TemplateError):
            render(template=template, **given)
        return None
    ours = render(template=template, **given)
    assert ours.text == theirs
    whole(ours)
    return ours


def whole(rendered: Rendered) -> None:
    """Spans cover the text in order; neighbours differ."""
    at = 0
    for span in rendered.spans:
        assert span.start == at <= span.end
        assert span.start < span.end or span.kind == "content"
        at = span.end
    assert at == len(rendered.text)
    keys = [(span.kind, span.message, span.field, span.generated) for span in rendered.spans]
    assert all(one != two for one, two in pairwise(keys))


@pytest.mark.parametrize("name", SNIPPETS)
def test_constructs_render_as_in_transformers(name: str) -> None:
    rng = random.Random(name)
    template = Template(SNIPPETS[name], variables=SPECIAL)
    for index in range(40):
        compare(template, (proper if index % 2 else conversation)(rng))


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_templates_render_as_in_transformers(name: str, data: Path) -> None:
    rng = random.Random(name)
    template = Template.read(data / "vocabs" / REAL[name])
    rendered = [compare(template, (proper if index % 2 else conversation)(rng)) for index in range(150)]
    assert sum(one is not None for one in rendered) > 50


@pytest.mark.parametrize("name", Template.names())
def test_built_in_templates_render_as_in_transformers(name: str) -> None:
    rng = random.Random(name)
    rendered = [compare(Template.named(name), (proper if index % 3 else conversation)(rng)) for index in range(60)]
    assert sum(one is not None for one in rendered) > 20


# Origins of characters: each field is spelled with letters of its own.


@dataclass
class Alphabet:
    """Replaces the strings of messages and tools by letters that identify their field."""

    letters: dict[str, tuple[int | None, str]]

    def spell(self, value: Any, message: int | None, field: str) -> Any:
        if isinstance(value, str):
            letter = chr(0x4E00 + len(self.letters))
            self.letters[letter] = (message, field)
            return " " * value.startswith(" ") + letter * (len(value) % 7) + "\n" * value.endswith("\n")
        if isinstance(value, list):
            return [self.spell(item, message, f"{field}/{index}") for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self.spell(item, message, f"{field}/{key}") for key, item in value.items()}
        return value

    def conversation(self, given: dict[str, Any]) -> dict[str, Any]:
        messages = [
            {key: value if key == "role" else self.spell(value, index, key) for key, value in message.items()}
            for index, message in enumerate(given["messages"])
        ]
        spelled = dict(given, messages=messages)
        for name in ("tools", "documents"):
            if given.get(name):
                spelled[name] = [
                    {key: self.spell(value, None, f"{name}/{index}/{key}") for key, value in table.items()}
                    for index, table in enumerate(given[name])
                ]
        return spelled


def sources(rendered: Rendered) -> Iterator[tuple[str, tuple[int | None, str | None] | None]]:
    """Each character and the origin that its span records."""
    for span in rendered.spans:
        for character in rendered.text[span.start : span.end]:
            yield character, None if span.kind == "template" else (span.message, span.field)


def traced(template: Template, seed: str, rounds: int, allowed: str | None) -> int:
    rng = random.Random(seed)
    seen = 0
    for index in range(rounds):
        alphabet = Alphabet({})
        given = alphabet.conversation((proper if index % 2 else conversation)(rng))
        try:
            rendered = render(template=template, **given)
        except TemplateError:
            continue
        seen += 1
        for character, source in sources(rendered):
            if character in alphabet.letters:
                assert source == alphabet.letters[character], (character, rendered.text)
            elif source is None and allowed is not None:
                # The template's own: what it is without the letters of others.
                assert character in template.source or character in "".join(SPECIAL.values()) + allowed
    return seen


@pytest.mark.parametrize("name", SNIPPETS)
def test_characters_of_constructs_are_from_where_their_spans_say(name: str) -> None:
    assert traced(Template(SNIPPETS[name], variables=SPECIAL), name, 40, allowed=None) > 3


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_characters_of_real_templates_are_from_where_their_spans_say(name: str, data: Path) -> None:
    template = Template.read(data / "vocabs" / REAL[name])
    special = "".join(str(token) for token in template.variables.values())
    assert traced(template, name, 200, allowed=special + "\n0123456789") > 50


@pytest.mark.parametrize("name", Template.names())
def test_characters_of_built_in_templates_are_from_where_their_spans_say(name: str) -> None:
    template = Template.named(name)
    special = "".join(str(token) for token in template.variables.values())
    assert traced(template, name, 60, allowed=special + "\n") > 20


def fields(rendered: Rendered) -> list[tuple[str, int | None, str | None]]:
    return [
        (rendered.text[span.start : span.end], span.message, span.field)
        for span in rendered.spans
        if span.kind == "content"
    ]


def test_an_empty_content_has_its_place() -> None:
    rendered = render(
        [{"role": "user", "content": ""}, {"role": "user", "content": " \n"}],
        "{% for m in messages %}<{{ m.content|trim }}>{% endfor %}",
    )
    assert rendered.text == "<><>"
    assert [(span.start, span.end, span.message) for span in rendered.spans if span.kind == "content"] == [
        (1, 1, 0),
        (3, 3, 1),
    ]


def test_an_empty_rendering_has_no_spans() -> None:
    assert render([], "").spans == ()
    rendered = render([{"role": "user", "content": ""}], "{{ messages[0].content }}")
    assert (rendered.text, len(rendered.spans)) == ("", 1)


def test_paths_of_values_and_keys() -> None:
    message = {
        "role": "assistant",
        "tool_calls": [{"function": {"arguments": {"city": "Bonn", "n": 3, "no": None, "l": [True]}}}],
    }
    rendered = render([message], "{{ messages[0].tool_calls[0].function.arguments|tojson }}")
    at = "tool_calls/0/function/arguments"
    parts = "".join(f"{text}<{field}>" for text, _, field in fields(rendered)).replace(at, "@")
    assert parts == (
        '{<@>"city"<@/city>: <@>"Bonn"<@/city>, <@>"n"<@/n>: <@>3<@/n>, <@>"no"<@/no>: <@>null<@/no>, <@>"l"<@/l>: <@>'
        "[<@/l>true<@/l/0>]<@/l>}<@>"
    )


def test_an_escape_is_from_the_character_that_it_stands_for() -> None:
    rendered = render([{"role": 'a"b', "content": "c\n"}], "{{ (messages[0].role ~ messages[0].content)|tojson }}")
    assert fields(rendered) == [('a\\"b', 0, "role"), ("c\\n", 0, "content")]


def test_the_structure_that_a_template_makes_is_its_own() -> None:
    rendered = render([{"role": "user", "content": "x"}], "{{ {'r': messages[0].content, 'n': [1]}|tojson }}")
    assert fields(rendered) == [('"x"', 0, "content")]


def test_variables_tools_and_documents_have_paths() -> None:
    source = "{{ bos_token }}{{ date }}{{ tools[0].name }}{{ documents[0].text }}{{ eos_token }}{{ own }}"
    rendered = render(
        [],
        Template(source, variables={"bos_token": "<s>", "own": "o"}),
        tools=[{"name": "t"}],
        documents=[{"text": "d"}],
        variables={"date": "today", "eos_token": "</s>"},
    )
    assert rendered.text == "<s>todaytd</s>o"
    assert fields(rendered) == [
        ("today", None, "variables/date"),
        ("t", None, "tools/0/name"),
        ("d", None, "documents/0/text"),
    ]


def test_numbers_are_from_where_they_are_computed_of() -> None:
    rendered = render(
        [{"role": "user", "of": {"n": 3, "x": 1.5, "no": None, "yes": True}}],
        "{% set m = messages[0].of %}{{ m.n + 1 }}{{ m.x }}{{ m.no }}{{ m.yes }}{{ '%03d' % m.n }}{{ 7 }}",
    )
    assert fields(rendered) == [
        ("4", 0, "of/n"),
        ("1.5", 0, "of/x"),
        ("None", 0, "of/no"),
        ("True", 0, "of/yes"),
        ("003", 0, "of/n"),
    ]


def test_reasoning_has_the_names_that_templates_read() -> None:
    source = "{{ messages[0].thinking }}|{{ messages[0].reasoning_content }}"
    rendered = render([{"role": "assistant", "reasoning": "r"}], source)
    assert rendered.text == "r|r"
    assert fields(rendered) == [("r", 0, "reasoning"), ("r", 0, "reasoning")]


def test_generation_is_marked() -> None:
    rendered = render(
        [{"role": "assistant", "content": "x"}], "a{% generation %}b{{ messages[0].content }}{% endgeneration %}c"
    )
    assert [(rendered.text[s.start : s.end], s.kind, s.generated) for s in rendered.spans] == [
        ("a", "template", False),
        ("b", "template", True),
        ("x", "content", True),
        ("c", "template", False),
    ]
    assert rendered.has_generation
    assert not render([], "a b").has_generation


def test_a_generation_block_is_a_scope_and_may_hold_loops() -> None:
    source = (
        "{% set x = 'out' %}{% macro say(x) %}{% generation %}{{ x + '!' }}{% endgeneration %}{% endmacro %}"
        "{% generation %}{% for n in [1, 2] %}{{ n }}{% break %}{% endfor %}{% set x = 'in' %}{% endgeneration %}"
        "{{ say('a' + x) }}"
    )
    rendered = render([], source)
    assert [(rendered.text[span.start : span.end], span.generated) for span in rendered.spans] == [("1aout!", True)]


@pytest.mark.parametrize(
    "body", ["{% if true %}{% break %}{% endif %}", "{% for x in [] %}{% else %}{% continue %}{% endfor %}"]
)
def test_a_break_cannot_leave_a_generation_block(body: str) -> None:
    source = "{% for message in messages %}{% generation %}" + body + "{% endgeneration %}{% endfor %}"
    with pytest.raises(TemplateError, match="cannot leave a generation block"):
        render([{"role": "user"}], source)


def test_a_printed_sum_is_that_of_its_parts() -> None:
    content = [{"role": "user", "content": "<b>"}]
    cases = ["'a' + messages[0].content + 'b'", "1 + 2 + 3", "'a' + (messages[0].content | safe)", "[1] + [2]"]
    for case in cases:
        printed, kept = (render(content, source % case) for source in ("{{ %s }}", "{%% set x = %s %%}{{ x }}"))
        assert (printed.text, printed.spans) == (kept.text, kept.spans)
    with pytest.raises(TemplateError, match="unsupported operand"):
        render(content, "{{ 'a' + 1 }}")


def test_names_of_fields_are_kept_within_bounds() -> None:
    for number in range(3):
        long = {f"{'k' * 80}{field}": "v" for field in range(10)}
        many = {f"field{number}/{field}": "v" for field in range(700)}
        rendered = render(
            [{"role": "user", **long, **many}], "{% for k, v in messages[0].items() %}{{ k }},{% endfor %}"
        )
        assert rendered.text == ",".join(["role", *long, *many, ""])
        render([{"role": f"{number}/{row}"} for row in range(300)], "")
        assert len(inputs._names) <= inputs._MOST_PLACES
        assert max(map(len, inputs._names.values())) <= inputs._MOST_NAMES
        assert all(len(name) <= inputs._LONGEST_NAME for names in inputs._names.values() for name in names)


def test_the_clock_is_given() -> None:
    now = datetime(2024, 7, 26, tzinfo=timezone.utc)
    assert render([], "{{ strftime_now('%d %b %Y') }}", now=now).text == "26 Jul 2024"


def test_rich_values_are_what_they_stand_for() -> None:
    @dataclass
    class Message:
        role: str
        content: Any

    rich: list[Any] = [Message("user", np.float64(1.5)), {"role": "x", "content": np.int64(3)}]
    rendered = render(
        rich,
        "{% for m in messages %}{{ m.content }}{% endfor %}",
    )
    assert rendered.text == "1.53"


@pytest.mark.parametrize(
    ("messages", "kind", "named"),
    [
        ("hello", TypeError, "list of mappings"),
        ({"role": "user"}, TypeError, "list of mappings"),
        (["hello"], TypeError, "message 0"),
        ([{"role": "user", "content": b"x"}], TemplateError, "message 0, content, is bytes"),
        ([{}, {"role": "user", "x": {"y": [1, float("nan")]}}], TemplateError, "message 1, x/y/1, is nan"),
        ([{"role": "user", 3: "x"}], TemplateError, "key '3'"),
        ([{"role": "user", "x": {None: 1}}], TemplateError, "message 0, x, has the key 'None'"),
        ([{"role": "user", "x": object()}], TemplateError, "is object"),
        ([{"role": "user", "x": 10**5000}], TemplateError, "digits"),
    ],
)
def test_what_is_no_message_is_named(messages: Any, kind: type[Exception], named: str) -> None:
    with pytest.raises(kind, match=named):
        render(messages, "{{ messages }}")


def test_given_values_are_bounded() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(TemplateError, match="nested deeper"):
        render([{"role": "user", "content": deep}], "")
    with pytest.raises(TemplateError, match=r"Limits\.messages"):
        render([{"role": "user", "content": "x" * 1000}], "", limits=Limits(messages=500))
    round_: list[Any] = []
    round_.append(round_)
    with pytest.raises(TemplateError, match="nested deeper"):
        render([{"role": "user", "content": round_}], "")


def test_tools_that_are_functions_are_named() -> None:
    functions: Any = [print]
    with pytest.raises(TypeError, match=r"tools\[0\] is a function"):
        render([], "", tools=functions)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[0].content|urlencode }}",
        "{{ messages[0].content|wordwrap(3) }}",
        "{{ messages[0].content % () }}",
        "{{ messages[0].content.format(1) }}",
        "{{ '%a' % messages[0].content }}",
        "{{ (messages[0].content|safe) * 2 }}",
        "{{ (messages[0].content|safe).replace('a', 'b') }}",
    ],
)
def test_what_cannot_be_traced_raises(source: str) -> None:
    with pytest.raises(TemplateError):
        render([{"role": "user", "content": "é b"}], source)


def test_errors_have_the_line_of_the_template() -> None:
    with pytest.raises(TemplateError) as raised:
        render([], "a\nb\n{{ nothing.more }}\n")
    assert raised.value.line == 3
    with pytest.raises(TemplateError) as raised:
        render([], "a\n{% if %}\n")
    assert raised.value.line == 2
    with pytest.raises(TemplateError, match="no built-in template 'nothing'"):
        render([], "nothing")


@pytest.mark.parametrize(
    ("template", "content"),
    [
        ("{{ 'axb'.translate({120: messages[0].content}) }}", "Ψ"),
        ("{{ messages[0].n.real }}{{ messages[0].n.numerator }}{{ messages[0].n.conjugate() }}", "999"),
        ("{{ '{:*>5}'.format(messages[0].content) }}", "Ψ"),
    ],
)
def test_content_stays_content_where_python_forgets_it(template: str, content: str) -> None:
    rendered = render([{"role": "user", "content": "Ψ", "n": 9}], template)
    spans = [span for span in rendered.spans if span.kind == "content"]
    assert "".join(rendered.text[span.start : span.end] for span in spans) == content


@pytest.mark.parametrize(
    "template",
    [
        "{{ [1, 2]|tojson(indent=messages[0].content) }}",
        "{{ [1, 2]|tojson(separators=(messages[0].content, ':')) }}",
        "{{ '{:{fill}>9}'.format('a', fill=messages[0].content) }}",
        "{{ range(messages[0].n, 10)|list }}",
        "{{ range(0, 10, messages[0].n)|list }}",
    ],
)
def test_content_does_not_say_how_others_are_spelled(template: str) -> None:
    """The characters of this content would be in the text without an origin."""
    with pytest.raises(TemplateError):
        render([{"role": "user", "content": "Ψ", "n": 9}], template)


def test_errors_that_jinja_does_not_expect_are_of_the_template() -> None:
    """Jinja's compiler fails on a name that only the branch of an empty loop uses, in the filter of a block."""
    source = "{% for v in [] %}{% else %}{% set u | replace(dict(a=1)) %}{% endset %}{% endfor %}"
    with pytest.raises(TemplateError, match="cannot be compiled"):
        render([], source)
