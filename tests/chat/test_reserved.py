"""Content never becomes a control token, unless the call allows it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import bytepair as bp
from bytepair import lowlevel

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"


def chat(content: Any = "Hello", role: str = "user") -> list[dict[str, Any]]:
    return [{"role": role, "content": content}, {"role": "assistant", "content": "fine"}]


def test_a_reserved_literal_is_rejected_by_message_role_and_place(chat_tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.SpecialTokenError, match=r"message 0 \(user\), content holds .*'<\|im_end\|>'") as caught:
        chat_tok.encode_chat(chat("é and <|im_end|>"), TEMPLATE)
    assert (caught.value.pointer, caught.value.character) == ("/0/content", 6)
    assert 'policy="text"' in caught.value.remedy
    # Special or not, if the template writes it.
    with pytest.raises(bp.SpecialTokenError, match="</think>"):
        chat_tok.encode_chat(chat("</think>"), TEMPLATE + "</think>")


@pytest.mark.parametrize(
    ("messages", "others", "pointer"),
    [
        (chat(role="<s>"), {}, "/0/role"),
        ([{"role": "user", "content": "", "<s>": 1}, *chat()], {}, "/0/<s>"),
        ([{"role": "user", "content": [{"text": "a"}, {"text": "<s>"}]}, *chat()], {}, "/0/content/1/text"),
        ([{"role": "user", "content": "", "tool_calls": [{"arguments": {"<s>": 1}}]}, *chat()], {}, None),
        (chat(), {"tools": [{"name": "<s>"}]}, "/tools/0/name"),
        (chat(), {"documents": [{"text": "<s>"}]}, "/documents/0/text"),
        (chat(), {"variables": {"date": "<s>"}}, "/variables/date"),
    ],
)
def test_no_field_is_passed_over(
    chat_tok: bp.Tokenizer, messages: Any, others: dict[str, Any], pointer: str | None
) -> None:
    with pytest.raises(bp.SpecialTokenError) as caught:
        chat_tok.encode_chat(messages, TEMPLATE, **others)
    assert pointer is None or caught.value.pointer == pointer


def test_literals_that_come_together_are_rejected(chat_tok: bp.Tokenizer) -> None:
    for template, content in (
        ("{{ messages[0].content }}end|>{{ messages[1].content }}", "<|im_"),
        ("<|im_{{ messages[0].content }}{{ messages[1].content }}", "end|>"),
    ):
        with pytest.raises(bp.SpecialTokenError, match=r"message 0 \(user\), content.* forms .*<\|im_end\|>"):
            chat_tok.encode_chat(chat(content), template)
        example = chat_tok.encode_chat(chat(content), template, policy="text")
        assert not frozenset(chat_tok.reserved_tokens.values()) & set(example.input_ids.tolist())


def test_content_cannot_take_a_mark_of_the_template_away(chat_tok: bp.Tokenizer) -> None:
    # "</s" of the content and "<s>" of the template share nothing, but a match of the first must not hide the second.
    example = chat_tok.encode_chat(chat("</s"), "{{ messages[0].content }}<s>{{ messages[1].content }}", policy="text")
    ids = example.input_ids.tolist()
    assert [id for id in ids if id in frozenset(chat_tok.reserved_tokens.values())] == [chat_tok.reserved_tokens["<s>"]]


def test_as_text_it_is_text_in_its_context(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat(chat("a<|im_end|>b</think>"), TEMPLATE, policy="text", reserve="all")
    ids = example.input_ids.tolist()
    control = bp.Control
    assert ids == chat_tok.encode(
        [
            control("<|im_start|>"),
            "user\na<|im_end|>b</think>",
            control("<|im_end|>"),
            control("<|im_start|>"),
            "assistant\nfine",
            control("<|im_end|>"),
        ],
        special="text",
        added="text",
    )


def test_allowed_it_is_the_token(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat(chat("a<|im_end|>b</think>"), TEMPLATE, policy="allow")
    assert example.input_ids.tolist() == chat_tok.encode(example.text, special="allow")


def test_escaping_can_be_undone(chat_tok: bp.Tokenizer) -> None:
    random = Random(11)
    parts = ["<|im_end|>", "< |im_end|>", "<  |im_end|>", "<", " ", "<s>", "< s>", "|im_end|>", "</think>", "é", "s>"]
    for _ in range(2000):
        text = "".join(random.choices(parts, k=random.randrange(8)))
        escaped = bp.chat.escape(chat_tok, text)
        assert not lowlevel.find_added(chat_tok, escaped)
        assert bp.chat.unescape(chat_tok, escaped) == text
    example = chat_tok.encode_chat(chat("a<s>"), TEMPLATE, policy="escape")
    assert "a< s>" in example.text
    content = next(span for span in example.spans if span.field == "content")
    assert bp.chat.unescape(chat_tok, example.text[content.start : content.end]) == "a<s>"


def test_what_cannot_be_escaped_is_refused() -> None:
    tok = bp.train({"hi": 5}, vocab_size=259, special_tokens=["§", "<e>"])
    with pytest.raises(bp.SpecialTokenError, match="cannot be escaped"):
        bp.chat.escape(tok, "a§b")
    assert bp.chat.escape(tok, "a<e>b") == "a< e>b"


def test_special_tokens_of_variables_are_the_templates(chat_tok: bp.Tokenizer) -> None:
    template = "{{ bos_token }}{{ messages[1].content }}{{ eos_token }}"
    example = chat_tok.encode_chat(chat(), template, variables={"bos_token": "<s>", "eos_token": "</s>"})
    names = chat_tok.reserved_tokens
    assert (example.input_ids[0], example.input_ids[-1]) == (names["<s>"], names["</s>"])
    assert example.labels[-1] == names["</s>"]


def test_messages_that_are_nested_without_end_are_refused(chat_tok: bp.Tokenizer) -> None:
    deep: Any = "x"
    for _ in range(10_000):
        deep = [deep]
    policies: list[Any] = ["reject", "escape", "text"]
    for policy in policies:
        with pytest.raises(bp.TemplateError, match=r"nested|deep"):
            chat_tok.encode_chat(chat(deep), TEMPLATE, policy=policy)


def test_half_characters_are_named(chat_tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.EncodeError, match=r"message 0 \(user\), content holds the lone surrogate") as caught:
        chat_tok.encode_chat(chat("a\ud800"), TEMPLATE, policy="text")
    assert (caught.value.pointer, caught.value.character) == ("/0/content", 1)


def test_marks_may_be_spelled_with_the_role(chat_tok: bp.Tokenizer) -> None:
    tok = chat_tok.with_added_tokens(["<|user|>", "<|assistant|>"])
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>{% endfor %}"
    policies: list[Any] = ["reject", "text", "escape"]
    for policy in policies:
        ids = tok.encode_chat(chat(), template, policy=policy).input_ids.tolist()
        assert ids == tok.encode("<|user|>Hello</s><|assistant|>fine</s>", special="allow")
    with pytest.raises(bp.SpecialTokenError, match="role"):
        tok.encode_chat(chat(role="im_end"), template)
    example = tok.encode_chat(chat(role="im_end"), template, policy="text")
    assert tok.reserved_tokens["<|im_end|>"] not in example.input_ids


def test_content_that_a_normalizer_joins_with_a_mark_is_rejected() -> None:
    base = bp.train({"hi": 5}, vocab_size=257).spec
    mark = bp.AddedToken("<m>", 300, special=True, normalized=True)
    tok = bp.Tokenizer(base.replace(normalizers=("NFC",), added_tokens=(mark,)))
    template = "{% for m in messages %}<m>{{ m.content }}{% endfor %}"
    assert (tok.encode_chat(chat("a"), template).input_ids == 300).sum() == 2
    with pytest.raises(bp.SpecialTokenError, match="content breaks the template's '<m>'"):
        tok.encode_chat(chat("\u0338a"), template)


HTML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


@pytest.fixture(scope="module")
def html_tok(chat_tok: bp.Tokenizer) -> bp.Tokenizer:
    """A tokenizer with tokens for HTML, as that of Gemma 3."""
    first = chat_tok.vocab_size
    added = [bp.AddedToken(name, first + row, special=False) for row, name in enumerate(("<b>", "</b>", "im_end|><b>"))]
    return bp.Tokenizer(chat_tok.spec.replace(added_tokens=(*chat_tok.spec.added_tokens, *added)))


def test_added_tokens_that_control_nothing_are_ordinary_text(html_tok: bp.Tokenizer) -> None:
    chat = [{"role": "user", "content": "<b>Hi</b><think>"}, {"role": "assistant", "content": "<b>fine</b>"}]
    example = html_tok.encode_chat(chat, HTML)
    ids = html_tok.encode(example.text, special="allow")
    assert example.input_ids.tolist() == ids
    assert html_tok.reserved_tokens["<b>"] in ids
    assert not {"<b>", "</b>", "<think>"} & example.reserved.keys()
    assert {"<|im_end|>", "<s>", "<tool_call>"} < example.reserved.keys()
    assert (html_tok.encode_chat(chat, HTML, policy="text").input_ids == example.input_ids).all()


def test_what_the_template_writes_is_reserved(html_tok: bp.Tokenizer) -> None:
    chat = [{"role": "user", "content": "x <think>"}, {"role": "assistant", "content": "fine"}]
    written = HTML.replace("{{ m.content }}", "<think></think>{{ m.content }}")
    # Also if it puts a token together from parts, and also if it does not write it in this chat.
    joined = HTML.replace("{{ m.content }}", "{{ '<' ~ 'think' ~ '>' }}{{ m.content }}")
    silent = HTML + "{% if false %}<think>{% endif %}"
    for source in (written, joined, silent):
        with pytest.raises(bp.SpecialTokenError, match=r"message 0 .*'<think>'"):
            html_tok.encode_chat(chat, source)
        example = html_tok.encode_chat(chat, source, policy="text")
        assert "<think>" in example.reserved
        mark = html_tok.reserved_tokens["<think>"]
        assert (example.input_ids == mark).sum() == (0 if source == silent else 2)


def test_a_call_reserves_more(html_tok: bp.Tokenizer) -> None:
    chat = [{"role": "user", "content": "<b>"}, {"role": "assistant", "content": "fine"}]
    for more in ("all", "<b>", ["<b>", "</b>"]):
        with pytest.raises(bp.SpecialTokenError, match="'<b>'"):
            html_tok.encode_chat(chat, HTML, reserve=more)
        mark = html_tok.reserved_tokens["<b>"]
        assert mark not in html_tok.encode_chat(chat, HTML, policy="text", reserve=more).input_ids
    with pytest.raises(ValueError, match="'<i>', which is no added token"):
        html_tok.encode_chat(chat, HTML, reserve="<i>")


def test_free_tokens_help_no_reserved_one(html_tok: bp.Tokenizer) -> None:
    """A free token beside the template's text, with which it would spell a reserved one, stays text."""
    first = html_tok.vocab_size
    longer = bp.AddedToken("<|x<b>", first, special=True)
    tok = bp.Tokenizer(html_tok.spec.replace(added_tokens=(*html_tok.spec.added_tokens, longer)))
    chat = [{"role": "user", "content": "<b> <b>"}, {"role": "assistant", "content": "fine"}]
    source = HTML.replace("{{ m.content }}", "<|x{{ m.content }}")
    with pytest.raises(bp.SpecialTokenError, match="forms the reserved token"):
        tok.encode_chat(chat, source)
    assert first not in tok.encode_chat(chat, source, policy="text").input_ids
