"""Appended turns: existing ids stay unchanged."""

from __future__ import annotations

import pytest

import bytepair as bp

PROMPT = [{"role": "user", "content": "how are you"}]
REWRITES = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.thinking and loop.last %}<think>{{ m.thinking }}</think>{% endif %}{{ m.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def prompt(tok: bp.Tokenizer) -> bp.chat.ChatExample:
    return tok.encode_chat(PROMPT, "chatml", train_on=None, add_generation_prompt=True)


def test_appending_turns_is_encoding_all_where_nothing_differs(chat_tok: bp.Tokenizer) -> None:
    chat = [*PROMPT, {"role": "assistant", "content": "I am fine"}, {"role": "user", "content": "thank you é"}]
    example = chat_tok.encode_chat(chat[:2], "chatml")
    longer = bp.chat.extend(chat_tok, example, chat[2:])
    whole = chat_tok.encode_chat(chat, "chatml")
    assert longer.to_dict() == whole.to_dict()
    assert (longer.offsets == whole.offsets).all()
    assert longer.differs_at is None
    assert longer.messages == chat
    again = bp.chat.extend(chat_tok, longer, [{"role": "assistant", "content": "."}], add_generation_prompt=True)
    assert again.text.endswith("<|im_start|>assistant\n")


def test_ids_that_a_model_wrote_stay_as_they_are(chat_tok: bp.Tokenizer) -> None:
    start = prompt(chat_tok)
    wrote = chat_tok.encode([*"I am é fin", "e", bp.Control("<|im_end|>")])
    wrote = [id for part in [*"I am é fin", "e"] for id in chat_tok.encode(part)] + wrote[-1:]
    answer = {"role": "assistant", "content": "I am é fine"}
    longer = bp.chat.extend(chat_tok, start, [answer, {"role": "user", "content": "?"}], ids=wrote)
    ids = longer.input_ids.tolist()
    assert ids[: len(start) + len(wrote)] == [*start.input_ids.tolist(), *wrote]
    assert chat_tok.decode(ids) == longer.text
    whole = chat_tok.encode_chat([*PROMPT, answer, {"role": "user", "content": "?"}], "chatml", train_on=None)
    assert longer.differs_at is not None
    assert whole.input_ids.tolist()[: longer.differs_at] == ids[: longer.differs_at]
    assert whole.input_ids.tolist()[longer.differs_at] != ids[longer.differs_at]
    # Both bytes of the é have the place of the character.
    texts = [longer.text[begin:end] for begin, end in longer.offsets.tolist()]
    assert texts[len(start) : len(start) + len(wrote)] == [*"I am éé fine", "<|im_end|>"]


def test_what_a_model_wrote_is_trained_on_by_its_own_tokens(chat_tok: bp.Tokenizer) -> None:
    start = chat_tok.encode_chat([{"role": "assistant", "content": "x"}, *PROMPT], "chatml", add_generation_prompt=True)
    wrote = [*(chat_tok.encode(part)[0] for part in "fine"), chat_tok.reserved_tokens["<|im_end|>"]]
    longer = bp.chat.extend(chat_tok, start, [{"role": "assistant", "content": "fine"}], ids=wrote)
    assert longer.labels.tolist()[len(start) : len(start) + len(wrote)] == wrote


def test_a_template_that_rewrites_what_is_fixed_is_refused_with_the_place(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat([*PROMPT, {"role": "assistant", "content": "fine", "thinking": "so"}], REWRITES)
    with pytest.raises(bp.TemplateError, match="changes the earlier text") as caught:
        bp.chat.extend(chat_tok, example, PROMPT)
    assert caught.value.character is not None
    assert example.text[caught.value.character :].startswith("<think>")
    with pytest.raises(bp.TemplateError, match="the ids do not match the rendered text"):
        bp.chat.extend(chat_tok, prompt(chat_tok), [{"role": "assistant", "content": "a"}], ids=chat_tok.encode("b"))


def test_text_that_merges_across_what_is_fixed_is_told(chat_tok: bp.Tokenizer) -> None:
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    example = chat_tok.encode_chat([{"role": "assistant", "content": "Hello th"}], template)
    longer = bp.chat.extend(chat_tok, example, [{"role": "assistant", "content": "ere"}])
    assert longer.input_ids.tolist()[: len(example)] == example.input_ids.tolist()
    assert chat_tok.decode(longer.input_ids.tolist()) == "Hello there"
    assert longer.differs_at is not None
    assert [longer.text[start:end] for start, end in longer.offsets.tolist()][-1].endswith("e")


def test_truncated_examples_are_not_extended(chat_tok: bp.Tokenizer) -> None:
    example = chat_tok.encode_chat([{"role": "assistant", "content": "Hello there"}], "chatml", max_length=20)
    with pytest.raises(ValueError, match="max_length"):
        bp.chat.extend(chat_tok, example, PROMPT)
