"""`ChatRows` in `datasets.map`, in worker processes: the labels of each row are those of `encode_chat`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import bytepair as bp

datasets = pytest.importorskip("datasets")

MARKS = ["<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments }}</call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.parametrize("processes", [None, 2])
def test_a_column_of_labels_is_what_encode_chat_makes(processes: int | None) -> None:
    tok = bp.train({"Hello": 5, "thanks": 4}, vocab_size=264, special_tokens=MARKS)
    call = {"function": {"name": "look", "arguments": '{"at": "x"}'}}
    plain = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "thanks"}]
    called = [plain[0], {"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "42"}]
    tools = [{"name": "look"}]
    rows: list[dict[str, Any]] = [
        {"messages": plain, "tools": None},
        {"messages": [*called, plain[1]], "tools": json.dumps(tools)},
    ] * 4
    data = datasets.Dataset.from_list(rows)
    made = data.map(bp.chat.ChatRows(tok, TEMPLATE), remove_columns=data.column_names, num_proc=processes)
    for row, found in zip(rows, made, strict=True):
        given = tools if row["tools"] else None
        assert found == tok.encode_chat(row["messages"], TEMPLATE, tools=given).to_dict()
