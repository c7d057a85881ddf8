"""Ids to serve after a sampled turn: what was sampled stays, what follows is the template's, drift is explained."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fuzz.case import case
from fuzz.structured import one_token_a_byte, template_of
from fuzz.structures import STRUCTURES, Structure, conversation

import bytepair as bp
from tests.conftest import WHOLE

USER = {"role": "user", "content": "how are you"}
ANSWER = {"role": "assistant", "content": "I am fine"}
CONVERSATIONS = 200 if WHOLE else 4
# These end turns in history in another way than at the end of a conversation: those with calls, or those without.
OTHER_ENDS = {
    "harmony": False,
    "Apertus: results inside of a turn": True,
    "Apertus: a prompt after results that history drops": True,
}


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_a_splice_goes_on_as_the_template_does(structure: Structure) -> None:
    template = template_of(structure)
    for number in range(CONVERSATIONS):
        chooses = random.Random(f"splice/{structure.name}/{number}")
        messages = conversation(chooses, structure)
        answers = [
            at for at, message in enumerate(messages[:-1])
            if message["role"] == "assistant" and messages[at + 1]["role"] != "assistant"
        ]  # fmt: skip
        for at in answers:
            following = messages[at + 1 : next((n for n in answers if n > at), len(messages))]
            if following[-1]["role"] == "assistant":
                following = following[:-1]
            with case(structure=structure.name, messages=messages, at=at):
                whole = one_token_a_byte().encode_chat(messages[: at + 1], template)
                parts = [part for part in whole.trained if part.message == at]
                sampled = [id for part in parts for id in whole.text[part.start : part.end].encode()]
                text = whole.text[: parts[0].start]
                served = list(text.encode())
                if OTHER_ENDS.get(structure.name) is bool(messages[at].get("tool_calls")):
                    with pytest.raises(bp.TemplateError, match="does not end message"):
                        splice(served, sampled, messages[: at + 1], following, template)
                    continue
                made = splice(served, sampled, messages[: at + 1], following, template)
                ids = made.ids.tolist()
                assert ids[: made.kept] == [*served, *sampled]
                # The texts are equal if the template keeps the earlier turns as they were.
                expected = one_token_a_byte().encode_chat(
                    [*messages[: at + 1], *following], template, train_on=None, add_generation_prompt=True
                )
                fixed = text + bytes(sampled).decode()
                if expected.text.startswith(fixed):
                    assert bytes(ids).decode() == expected.text
                    assert made.drift is None
                else:
                    assert made.drift is not None
                    assert made.drift.cause == "template"
                # Whatever was before, what follows is what the template writes behind the turn.
                assert expected.text.endswith(bytes(ids[made.kept :]).decode())


def splice(served: Any, sampled: Any, messages: Any, following: Any, template: Any) -> bp.chat.Splice:
    return bp.chat.splice(one_token_a_byte(), served, sampled, messages, following, template=template)


def test_the_cause_of_drift_is_named(chat_tok: bp.Tokenizer) -> None:
    served = chat_tok.encode_chat([USER], "chatml", train_on=None, add_generation_prompt=True).input_ids.tolist()
    end = chat_tok.special_tokens["<|im_end|>"]
    usual = [*chat_tok.encode("I am fine"), end]
    letters = [*(id for letter in "I am fine" for id in chat_tok.encode(letter)), end]
    spelled = chat_tok.encode("I am fine<|im_end|>", special="text")
    changed = [*chat_tok.encode("I am  fine"), end]
    causes = []
    for sampled in (usual, letters, spelled, changed):
        made = bp.chat.splice(chat_tok, served, sampled, [USER, ANSWER], [USER], template="chatml")
        assert made.ids[: made.kept].tolist() == [*served, *sampled]
        assert not made.closed
        causes.append(made.drift and made.drift.cause)
        whole = chat_tok.encode_chat([USER, ANSWER, USER], "chatml", train_on=None, add_generation_prompt=True)
        if made.drift:
            at = made.drift.token
            assert made.ids[:at].tolist() == whole.input_ids[:at].tolist()
            assert made.ids[at] != whole.input_ids[at]
    assert causes == [None, "tokenizer", "special token", "template"]


def test_a_turn_that_was_cut_off_is_closed(chat_tok: bp.Tokenizer) -> None:
    served = chat_tok.encode_chat([USER], "chatml", train_on=None, add_generation_prompt=True).input_ids.tolist()
    sampled = chat_tok.encode("I am fine")
    made = bp.chat.splice(chat_tok, served, sampled, [USER, ANSWER], [USER], template="chatml")
    assert made.closed
    assert made.ids[made.kept] == chat_tok.special_tokens["<|im_end|>"]
    assert made.drift is None


def test_what_cannot_be_spliced_is_refused(chat_tok: bp.Tokenizer) -> None:
    with pytest.raises(ValueError, match="needs a sampled message"):
        bp.chat.splice(chat_tok, [], [], [], [USER], template="chatml")
    with pytest.raises(bp.TemplateError, match="nothing of message 1"):
        bp.chat.splice(
            chat_tok, [], [], [USER, {"role": "assistant", "content": None}], [USER],
            template="{% for m in messages if m.content %}{{ m.content }}{% endfor %}",
        )  # fmt: skip
    with pytest.raises(bp.SpecialTokenError):
        bp.chat.splice(chat_tok, [], [], [USER, ANSWER], [{"role": "user", "content": "<|im_end|>"}], template="chatml")
