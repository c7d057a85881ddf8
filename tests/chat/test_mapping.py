"""Rows of a data set as ids and labels."""

from __future__ import annotations

import json
import pickle

import pytest

import bytepair as bp

CHAT = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "fine"}]
TOOLED = (
    "{% for t in tools or [] %}{{ t.name }};{% endfor %}{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"
)


def test_a_row_is_what_encode_chat_makes(chat_tok: bp.Tokenizer) -> None:
    rows = bp.chat.ChatRows(chat_tok, "chatml", assistant_masks=True)
    row = rows({"messages": CHAT, "source": "x"})
    example = chat_tok.encode_chat(CHAT, "chatml")
    assert {name: row[name] for name in example.to_dict()} == example.to_dict()
    assert row["assistant_masks"] == [int(label != -100) for label in row["labels"]]
    assert "assistant_masks" not in bp.chat.ChatRows(chat_tok, "chatml")({"messages": CHAT})


def test_tools_may_be_json(chat_tok: bp.Tokenizer) -> None:
    tools = [{"name": "look"}]
    rows = bp.chat.ChatRows(chat_tok, TOOLED)
    made = rows({"messages": CHAT, "tools": json.dumps(tools)})
    assert made == rows({"messages": CHAT, "tools": tools}) != rows({"messages": CHAT, "tools": None})
    with pytest.raises(bp.TemplateError, match="tools is a text that is not JSON"):
        rows({"messages": CHAT, "tools": "[{"})


def test_missing_fields_of_a_table_do_not_count(chat_tok: bp.Tokenizer) -> None:
    """A column of Arrow has the same fields in each message, None where there is no value."""
    filled = [{**message, "tool_calls": None, "reasoning_content": None, "name": None} for message in CHAT]
    rows = bp.chat.ChatRows(chat_tok, "chatml")
    assert rows({"messages": filled}) == rows({"messages": CHAT})


def test_workers_can_receive_it(chat_tok: bp.Tokenizer) -> None:
    template = bp.chat.Template(TOOLED, variables={"eos_token": "</s>"}, name="own")
    rows = pickle.loads(pickle.dumps(bp.chat.ChatRows(chat_tok, template, max_length=30)))
    assert (rows.options.template, rows.options.template.name) == (template, "own")
    assert rows({"messages": CHAT}) == bp.chat.ChatRows(chat_tok, template, max_length=30)({"messages": CHAT})
    example = pickle.loads(pickle.dumps(chat_tok.encode_chat(CHAT, template)))
    assert (example.text, example.trained) == (
        chat_tok.encode_chat(CHAT, template).text,
        chat_tok.encode_chat(CHAT, template).trained,
    )


def test_what_is_no_row_is_refused(chat_tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.TemplateError, match="no messages; its columns are text"):
        bp.chat.ChatRows(chat_tok, "chatml")({"text": "x"})
    with pytest.raises(TypeError, match="tools is a column"):
        bp.chat.ChatRows(chat_tok, "chatml", tools=[])
    with pytest.raises(TypeError, match="trains"):
        bp.chat.ChatRows(chat_tok, "chatml", trains=True)
    with pytest.raises(ValueError, match="policy"):
        bp.chat.ChatRows(chat_tok, "chatml", policy="none")
