"""Conversations as ids and labels: trained spans, truncation, and errors."""

from __future__ import annotations

import json
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest

import bytepair as bp

CHAT = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "Hello there"},
    {"role": "assistant", "content": "I am fine, thank you."},
    {"role": "user", "content": "how are you"},
    {"role": "assistant", "content": ""},
]
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TOOLS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.thinking %}<think>\n{{ m.thinking }}\n</think>\n\n{% endif %}{{ m.content }}"
    "{% for t in m.tool_calls %}\n<tool_call>\n{{ t.name }}: {{ t.arguments | tojson }}\n</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def trained(example: bp.chat.ChatExample) -> list[str]:
    """The text of each run of tokens that are trained on."""
    runs: list[str] = []
    before = False
    for (start, end), label in zip(example.offsets.tolist(), example.labels.tolist(), strict=True):
        if label != -100:
            text = example.text[start:end]
            if before:
                runs[-1] += text
            else:
                runs.append(text)
        before = label != -100
    return runs


@pytest.mark.parametrize("template", ["chatml", PLAIN])
def test_what_the_assistant_said_and_its_end_are_trained_on(chat_tok: bp.Tokenizer, template: str) -> None:
    example = chat_tok.encode_chat(CHAT, template)
    assert trained(example) == ["I am fine, thank you.<|im_end|>", "<|im_end|>"]
    kept = example.labels != -100
    assert (example.labels[kept] == example.input_ids[kept]).all()
    assert chat_tok.decode(example.input_ids.tolist()) == example.text
    assert example.input_ids.tolist() == chat_tok.encode(example.text, special="allow")
    assert example.attention_mask.tolist() == [1] * len(example)
    assert example.position_ids.tolist() == list(range(len(example)))
    assert {array.dtype for array in (example.input_ids, example.labels)} == {np.dtype(np.int64)}
    assert example.offsets.dtype == np.int32
    assert example.to_dict()["labels"] == example.labels.tolist()


USER, ANSWER = CHAT[1:3]
WITHOUT_TEXT = pytest.mark.parametrize("content", ["", [], None, " ", [{"type": "text", "text": ""}]])
TAKES_ALL = PLAIN.replace(
    "{{ m.content }}",
    "{% if m.content is string %}{{ m.content | trim }}{% else %}"
    "{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}",
)


@WITHOUT_TEXT
@pytest.mark.parametrize("template", [TAKES_ALL, TAKES_ALL.replace("<|im_end|>", "</think><|im_end|>")])
def test_a_message_without_text_has_the_end_of_its_turn(chat_tok: bp.Tokenizer, template: str, content: Any) -> None:
    said = [USER, {"role": "assistant", "content": content}, USER, {"role": "assistant", "content": "fine"}]
    end = template.partition("{% endif %}")[2].partition("\n")[0]
    assert trained(chat_tok.encode_chat(said, template)) == [end, f"fine{end}"]


def test_a_block_without_text_is_trained(chat_tok: bp.Tokenizer) -> None:
    block = "{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
    template = (
        f"{{% for m in messages %}}<|im_start|>{{% if m.role == 'assistant' %}}{block}{{% endif %}}{{% endfor %}}"
    )
    for content in ("", None):
        example = chat_tok.encode_chat([USER, {"role": "assistant", "content": content}, USER], template)
        assert trained(example) == ["<|im_end|>"]


def test_history_can_leave_out_what_a_content_begins_with(chat_tok: bp.Tokenizer) -> None:
    """As Qwen 3 does: the end of the conversation has the reasoning of a content, history does not."""
    thought = "<thought>{{ m.content.split('</thought>')[0] }}</thought>{{ m.content.split('</thought>')[1] }}"
    rest = "{{ m.content.split('</thought>')[-1] }}"
    kept = f"{{% if loop.last and '</thought>' in m.content %}}{thought}{{% else %}}{rest}"
    template = PLAIN.replace("{{ m.content }}", kept + "{% endif %}")
    answer = {"role": "assistant", "content": "well</thought>fine"}
    assert trained(chat_tok.encode_chat([USER, answer, USER], template)) == ["fine<|im_end|>"]
    assert trained(chat_tok.encode_chat([USER, answer], template)) == ["<thought>well</thought>fine<|im_end|>"]
    # What is moved into marks ends with these, and not with the end of the turn.
    moved = f"{{% for m in messages %}}<|im_start|>{{{{ m.role }}}}{kept}{{% endif %}}{{% endfor %}}"
    example = chat_tok.encode_chat([USER, {"role": "assistant", "content": "well</thought>"}], moved)
    assert [part.why for part in example.trained][-1] == "mark"


def test_a_name_behind_the_content_is_in_the_turn(chat_tok: bp.Tokenizer) -> None:
    template = PLAIN.replace("{{ m.content }}", "{{ m.content }}{% if m.name %} ({{ m.name }}){% endif %}")
    said = [{"role": "user", "content": "fine", "name": "you"}, ANSWER]
    example = chat_tok.encode_chat(said, template, train_on="user")
    assert [part.why for part in example.trained] == ["field", "mark", "end"]
    assert trained(example) == ["fine (you)<|im_end|>"]
    assert trained(chat_tok.encode_chat(said, template, train_on="user", train_marks=False)) == ["fine", "<|im_end|>"]


def test_the_end_of_an_empty_answer_is_not_that_of_the_message_before(chat_tok: bp.Tokenizer) -> None:
    marks = "{{ '<u>' if m.role == 'user' else '<a>' }}{{ m.content }}{{ '</s>' if m.role == 'assistant' }}"
    template = f"{{% for m in messages %}}{marks}{{% endfor %}}"
    said = [USER, {"role": "assistant", "content": ""}]
    assert trained(chat_tok.encode_chat(said, template, train_on="user", end_of_turn="</s>")) == ["Hello there"]


def test_a_turn_ends_behind_its_last_part_even_if_that_is_empty(chat_tok: bp.Tokenizer) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role != 'tool' %}{{ m.content }}<|im_end|>"
        "{% else %}{% for part in m.content %}<part>{{ part }}</part>{% endfor %}{% endif %}{% endfor %}"
    )
    for parts in (["fine", ""], ["", ""], ["", "fine"], ["fine", "", ""], [""]):
        for behind in ([], [ANSWER]):
            said: list[dict[str, Any]] = [USER, {"role": "tool", "content": parts}, *behind]
            example = chat_tok.encode_chat(said, template, train_on="tool", train_marks=False)
            (end,) = (part for part in example.trained if part.why == "end")
            where = "".join(f"<part>{part}</part>" for part in parts)
            assert end.end == example.text.index(where) + len(where)
            texts = [example.text[part.start : part.end] for part in example.trained]
            assert texts == [*filter(None, parts), "</part>"]


def test_a_prompt_behind_parts_is_also_one_behind_text(chat_tok: bp.Tokenizer) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ 'user' if m.role == 'user' else 'assistant' }}\n"
        "{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for p in m.content %}{{ p.text }}</part>{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    said: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        ANSWER,
        USER,
        ANSWER,
    ]
    assert trained(chat_tok.encode_chat(said, template)) == ["I am fine, thank you.<|im_end|>"] * 2


def test_a_message_that_is_moved_to_the_front_has_no_end(chat_tok: bp.Tokenizer) -> None:
    others = (
        "{% for m in messages %}{% if m.role != 'system' %}<|im_start|>{{ m.content }}<|im_end|>{% endif %}{% endfor %}"
    )
    template = "{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}{% endif %}{% endfor %}" + others
    said = [USER, {"role": "system", "content": "fine"}, ANSWER]
    assert trained(chat_tok.encode_chat(said, template, train_on="system")) == ["fine"]


def test_a_system_message_with_tools_behind_it_has_no_end(chat_tok: bp.Tokenizer) -> None:
    template = PLAIN.replace(
        "{{ m.content }}", "{{ m.content }}{% for t in tools %}<tool>{{ t.name }}</tool>{% endfor %}"
    )
    tools = [{"name": "fine"}]
    assert trained(chat_tok.encode_chat(CHAT[:2], template, tools=tools, train_on="system")) == ["You are kind."]


def test_memory_is_that_of_the_result(chat_tok: bp.Tokenizer) -> None:
    said = [USER, {"role": "assistant", "content": "I am fine, thank you. " * 10_000}]
    chat_tok.encode_chat([USER, ANSWER], "chatml")
    tracemalloc.start()
    example = chat_tok.encode_chat(said, "chatml")
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Ids and labels have 8 bytes a token, offsets 16; the text has one a character, and a copy while it is made.
    assert held < 33 * len(example) + 2 * len(example.text)
    assert most < 36 * len(example) + 5 * len(example.text)


def test_the_first_token_can_be_trained_on(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat([{"role": "assistant", "content": "Hello"}], "{{ messages[0].content }}</s>")
    assert example.labels[0] == example.input_ids[0]
    assert trained(example) == ["Hello</s>"]


def test_the_end_of_a_turn_can_be_left_out_or_named(chat_tok: bp.Tokenizer) -> None:
    assert trained(chat_tok.encode_chat(CHAT, "chatml", train_end=False)) == ["I am fine, thank you."]
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }} END\n{% endfor %}"
    ended = "".join(trained(chat_tok.encode_chat(CHAT, template)))
    assert ended.replace(" ", "") == "Iamfine,thankyou.ENDEND"
    assert trained(chat_tok.encode_chat(CHAT, template, train_end=False)) == [" I am fine, thank you."]
    named = chat_tok.encode_chat(CHAT, template, end_of_turn=("END\n", "never"))
    assert "".join(trained(named)).replace(" ", "") == "Iamfine,thankyou.END\nEND\n"


def test_the_eos_token_of_the_call_ends_a_turn(chat_tok: bp.Tokenizer) -> None:
    template = "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    example = chat_tok.encode_chat(CHAT[2:3], template, variables={"eos_token": "[EOS]"})
    assert trained(example) == ["I am fine, thank you.[EOS]"]
    own = bp.chat.Template(template, variables={"eos_token": "[EOS]"})
    assert trained(chat_tok.encode_chat(CHAT[2:3], own)) == ["I am fine, thank you.[EOS]"]


def test_others_can_be_trained_on(chat_tok: bp.Tokenizer) -> None:
    def said(**options: Any) -> list[str]:
        return trained(chat_tok.encode_chat(CHAT, PLAIN, train_end=False, **options))

    assert said(train_on="user") == ["Hello there", "how are you"]
    assert said(train_on={"user", "system"}) == ["You are kind.", "Hello there", "how are you"]
    assert said(train_on=lambda number, message: number == 1 and message["role"] == "user") == ["Hello there"]
    assert said(train_on=None) == []
    with pytest.raises(TypeError, match="train_on"):
        said(train_on=[1])


def test_what_would_teach_nothing_is_refused(chat_tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.TemplateError, match=r"no token is trained on.*train_on=None"):
        chat_tok.encode_chat(CHAT[:2], "chatml")
    with pytest.raises(bp.TemplateError, match="no token is trained on"):
        chat_tok.encode_chat(CHAT[3:], "chatml", train_end=False)


def test_a_message_that_the_template_leaves_out_is_refused(chat_tok: bp.Tokenizer) -> None:
    call = {"function": {"name": "look", "arguments": {}}}
    called: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [call]}
    chat = [CHAT[1], called, {"role": "assistant", "content": "x"}]
    with pytest.raises(bp.TemplateError, match="nothing of the tool_calls of message 1"):
        chat_tok.encode_chat(chat, PLAIN)
    assert trained(chat_tok.encode_chat(chat, PLAIN, train_on=lambda number, _: number == 2)) == ["x<|im_end|>"]
    silent = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
    with pytest.raises(bp.TemplateError, match="nothing of the content of message 2"):
        chat_tok.encode_chat(CHAT, silent)


def test_a_turn_that_cannot_be_known_is_refused(chat_tok: bp.Tokenizer) -> None:
    # The template takes no conversation that ends with an answer, except this one.
    picky = "{% if messages|length not in (3, 5) or not add_generation_prompt %}{{ raise_exception('no') }}{% endif %}"
    with pytest.raises(bp.TemplateError, match=r"so the end of that turn is unknown.*end_of_turn="):
        chat_tok.encode_chat(CHAT, picky + PLAIN, add_generation_prompt=True)
    headed = "{{ raise_exception('no') if messages|length != 2 }}" + PLAIN.replace("m.role", "'bot'")
    with pytest.raises(bp.TemplateError, match=r"where message 1 begins cannot be known.*train_marks=False"):
        chat_tok.encode_chat(
            [CHAT[1], {"role": "assistant", "content": "", "thinking": "x"}],
            "{{ raise_exception('no') if messages|length != 2 or messages[1].content }}"
            "<|im_start|>bot {{ messages[1].thinking }}",
            end_of_turn="<|im_end|>",
        )
    assert trained(chat_tok.encode_chat(CHAT[1:3], headed)) == ["I am fine, thank you.<|im_end|>"]


BLOCKS = "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}"


@pytest.mark.parametrize(
    ("block", "on", "off"),
    [
        ("{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}\n", "<|im_end|>", ""),
        # The end of the turn is trained on, wherever the block ends.
        ("{% generation %}{{ m.content }}{% endgeneration %}<|im_end|>\n", "<|im_end|>", ""),
        ("{% generation %}{{ m.content }}<|im_end|>\n{% endgeneration %}", "<|im_end|>\n", ""),
        ("{% generation %}<think>\n{{ m.content }}!<|im_end|>{% endgeneration %}", "!<|im_end|>", "!"),
    ],
)
def test_generation_blocks_say_what_is_trained_on(chat_tok: bp.Tokenizer, block: str, on: str, off: str) -> None:
    template = BLOCKS + block + "{% else %}{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    head = "<think>\n" if "think" in block else ""
    for train_end, end in ((True, on), (False, off)):
        example = chat_tok.encode_chat(CHAT, template, train_end=train_end)
        said = [head + content + end for content in ("I am fine, thank you.", "")]
        assert trained(example) == [text for text in said if text]
    users = chat_tok.encode_chat(CHAT, template, train_on="user")
    assert trained(users) == ["Hello there<|im_end|>", "how are you<|im_end|>"]


def test_a_turn_without_its_block_is_not_trained_on(chat_tok: bp.Tokenizer) -> None:
    template = BLOCKS + (
        "{% if loop.last %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
        "{% else %}{{ m.content }}<|im_end|>{% endif %}{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}"
    )
    assert trained(chat_tok.encode_chat(CHAT, template)) == ["<|im_end|>"]


def _is(wanted: int, number: int, _: Any) -> bool:
    return number == wanted


def test_blocks_that_meet_are_divided_by_the_end_of_the_turn(chat_tok: bp.Tokenizer) -> None:
    template = "{% for m in messages %}{% generation %}> {{ m.content }}<|im_end|>{% endgeneration %}{% endfor %}"
    chat = [{"role": "assistant", "content": content} for content in ("Hello", "", "fine")]
    for number, whole in enumerate(("> Hello<|im_end|>", "> <|im_end|>", "> fine<|im_end|>")):
        chosen = chat_tok.encode_chat(chat, template, train_on=partial(_is, number))
        assert trained(chosen) == [whole]
    unended = chat_tok.encode_chat(chat, template, train_end=False)
    assert trained(unended) == ["> Hello", "> ", "> fine"]


CALLS: list[dict[str, Any]] = [
    {"role": "user", "content": "Hello", "tool_calls": []},
    {
        "role": "assistant",
        "content": "",
        "thinking": "how?",
        "tool_calls": [{"name": "look", "arguments": {"where": "there", "n": 3, "deep": None}}],
    },
    {"role": "tool", "content": "fine"},
    {"role": "assistant", "content": "thank you"},
]


def test_calls_and_thinking_are_trained_with_their_marks(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat(CALLS, TOOLS, train_marks=False)
    arguments = '{"where": "there", "n": 3, "deep": null}'
    assert trained(example) == ["how?", "look", arguments, "<|im_end|>", "thank you<|im_end|>"]
    whole = chat_tok.encode_chat(CALLS, TOOLS)
    call = f"<think>\nhow?\n</think>\n\n<tool_call>\nlook: {arguments}\n</tool_call><|im_end|>"
    assert trained(whole) == [call, "thank you<|im_end|>"]
    assert [(whole.text[part.start : part.end], part.why, part.field) for part in whole.trained[:4]] == [
        ("<think>\n", "mark", None),
        ("how?", "field", "thinking"),
        ("\n</think>\n\n<tool_call>\n", "mark", None),
        ("look", "field", "tool_calls/0/name"),
    ]
    unended = chat_tok.encode_chat(CALLS, TOOLS, train_end=False)
    assert trained(unended) == [call.removesuffix("<|im_end|>"), "thank you"]


def test_tokens_of_content_and_template_are_trained_on_and_told(chat_tok: bp.Tokenizer) -> None:
    # "ends" with a full stop and two line ends behind it are two tokens, of which the template writes a part.
    template = "{% for m in messages %}{{ m.content }}\n\n{% endfor %}"
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "Hello th"}]
    example = chat_tok.encode_chat(chat, template.replace("}}\n", "}}ere\n"), train_end=False)
    assert example.straddling
    for row in example.straddling:
        start, end = example.offsets[row]
        assert example.labels[row] != -100
        assert start < example.intervals[0][1] < end
    assert "".join(trained(example)) == "Hello there"


@pytest.mark.parametrize("side", ["left", "right"])
def test_truncation_cuts_labels_with_ids(chat_tok: bp.Tokenizer, side: str) -> None:
    whole = chat_tok.encode_chat(CHAT, "chatml")
    cuts = 0
    for length in range(1, len(whole) + 2):
        keep = slice(max(0, len(whole) - length), None) if side == "left" else slice(length)
        try:
            example = chat_tok.encode_chat(CHAT, "chatml", max_length=length, truncation=side)
        except bp.LimitError as error:
            assert (whole.labels[keep] == -100).all()
            assert "labelled token" in error.what  # noqa: PT017 (which lengths raise is what is asked)
            continue
        cuts += 1
        assert (example.labels == whole.labels[keep]).all()
        assert (example.input_ids == whole.input_ids[keep]).all()
        assert (example.offsets == whole.offsets[keep]).all()
        assert example.dropped == len(whole) - len(example)
        assert example.text == whole.text
    assert cuts > 5
    with pytest.raises(bp.LimitError, match="max_length=5"):
        chat_tok.encode_chat(CHAT, "chatml", max_length=5, truncation=None)


def test_options_that_are_unknown_are_refused(chat_tok: bp.Tokenizer) -> None:
    wrong: list[dict[str, Any]] = [{"policy": "ignore"}, {"truncation": "both"}, {"max_length": 0}]
    for options in wrong:
        with pytest.raises(ValueError, match=next(iter(options))):
            chat_tok.encode_chat(CHAT, "chatml", **options)


def test_a_cache_gives_the_same(chat_tok: bp.Tokenizer) -> None:
    cache = bp.chat.EncodingCache()
    options: list[dict[str, Any]] = [
        {},
        {"train_end": False},
        {"train_on": "user"},
        {"policy": "text"},
        {"max_length": 40, "truncation": "left"},
        {"max_length": 40},
    ]
    for time in range(2):
        for said in options:
            example = chat_tok.encode_chat(CHAT, "chatml", cache=cache, **said)
            fresh = chat_tok.encode_chat(CHAT, "chatml", **said)
            assert example.to_dict() == fresh.to_dict()
            assert (example.offsets == fresh.offsets).all()
            assert (example.straddling, example.dropped) == (fresh.straddling, fresh.dropped)
        assert (cache.hits, cache.misses) == (time * len(options), len(options))


def test_an_example_keeps_what_it_was_made_of(chat_tok: bp.Tokenizer) -> None:
    chat = [{"role": "assistant", "content": "Hello"}]
    example = chat_tok.encode_chat(chat, "chatml")
    chat[0]["content"] = "there"
    assert example.messages[0]["content"] == "Hello"


@pytest.mark.parametrize("side", ["left", "right"])
def test_special_tokens_of_the_post_processor_stay_whatever_is_cut_off(chat_tok: bp.Tokenizer, side: str) -> None:
    bos, eos = chat_tok.reserved_tokens["<s>"], chat_tok.reserved_tokens["</s>"]
    processor = {"type": "RobertaProcessing", "sep": ["</s>", eos], "cls": ["<s>", bos], "trim_offsets": False}
    processor["add_prefix_space"] = False
    tok = bp.Tokenizer(chat_tok.spec.replace(post_processor=json.dumps(processor)))
    messages = [{"role": "user", "content": "how are you"}, {"role": "assistant", "content": "I am fine, thank you"}]
    bare = tok.encode_chat(messages, "chatml", train_on=("user", "assistant"))
    cache = bp.chat.EncodingCache()
    for room in range(1, len(bare) + 1):
        keep = slice(len(bare) - room, None) if side == "left" else slice(room)
        if (bare.labels[keep] == -100).all():
            continue
        for _ in range(2):
            made = tok.encode_chat(
                messages,
                "chatml",
                train_on=("user", "assistant"),
                add_special_tokens=True,
                max_length=room + 2,
                truncation=side,
                cache=cache,
            )
            assert made.input_ids.tolist() == [bos, *bare.input_ids[keep].tolist(), eos]
            assert made.labels.tolist() == [-100, *bare.labels[keep].tolist(), -100]
            assert made.offsets[1:-1].tolist() == bare.offsets[keep].tolist()
            assert made.dropped == len(bare) - room
    # The same text without them is another entry.
    assert len(tok.encode_chat(messages, "chatml", cache=cache)) == len(bare)
    with pytest.raises(ValueError, match="add_special_tokens"):
        bp.chat.extend(tok, made, messages)
    with pytest.raises(bp.TemplateError, match="already writes"):
        tok.encode_chat(messages, "{{ '<s>' }}{{ messages[1].content }}", add_special_tokens=True)


def test_documents_are_content_under_each_policy(chat_tok: bp.Tokenizer) -> None:
    source = "{% for d in documents %}<s>{{ d.title }}\n{{ d.text }}</s>{% endfor %}{{ messages[0].content }}<|im_end|>"
    messages = [{"role": "assistant", "content": "fine"}]
    mark = chat_tok.reserved_tokens["<s>"]
    refused: list[list[dict[str, Any]]] = [
        [{"title": "<s>", "text": "x"}],
        [{"title": "x", "<s>": 1}],
        [{"title": "<", "text": "s>"}, {"text": "</s>"}],
    ]
    for documents in refused:
        with pytest.raises(bp.SpecialTokenError, match="documents"):
            chat_tok.encode_chat(messages, source, documents=documents)
    given = [{"title": "<s>", "text": "a<s>b"}]
    marks = {
        policy: (chat_tok.encode_chat(messages, source, documents=given, policy=policy).input_ids == mark).sum()
        for policy in ("text", "escape", "allow")
    }
    assert marks == {"text": 1, "escape": 1, "allow": 3}
    escaped = chat_tok.encode_chat(messages, source, documents=given, policy="escape")
    assert bp.chat.unescape(chat_tok, escaped.text.removeprefix("<s>")).startswith("<s>\na<s>b")
