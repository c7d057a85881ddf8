"""Labels on made templates of every structure, against an oracle that writes each text part by part.

A share runs always. ``BYTEPAIR_WHOLE=1`` runs 10,000 conversations for each structure.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from fuzz.case import case
from fuzz.chats import renderer_of_transformers, without_none
from fuzz.structures import STRUCTURES, Structure, conversation, source, written

import bytepair as bp
from tests.conftest import WHOLE

CONVERSATIONS = 10_000 if WHOLE else 10
# One token for each byte: what is trained is known to the character.
BYTES = bp.train({"a": 1}, vocab_size=256)


def template_of(structure: Structure) -> bp.chat.Template:
    return bp.chat.Template(source(structure), variables={"eos_token": structure.eos} if structure.eos else None)


def characters(intervals: Any) -> set[int]:
    return {at for start, end in intervals for at in range(start, end)}


def shown(text: str, trained: set[int]) -> str:
    """The text with what is trained in brackets."""
    made = ""
    for at, character in enumerate(text):
        made += (
            "⟦" * (at in trained and at - 1 not in trained)
            + character
            + "⟧" * (at in trained and at + 1 not in trained)
        )
    return made


def test_there_are_thirty_structures() -> None:
    assert len({structure.name for structure in STRUCTURES}) == len(STRUCTURES) >= 30


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_what_a_model_writes_is_trained_and_nothing_else(structure: Structure) -> None:
    template = template_of(structure)
    for number in range(CONVERSATIONS):
        chooses = random.Random(f"structure/{structure.name}/{number}")
        messages = conversation(chooses, structure)
        prompted = chooses.random() < 0.3
        pieces = written(structure, messages, add_generation_prompt=prompted)
        text = "".join(piece.text for piece in pieces)
        wanted: set[int] = set()
        at = 0
        for piece in pieces:
            wanted |= set(range(at, at + len(piece.text))) if piece.is_trained else set()
            at += len(piece.text)
        with case(structure=structure.name, number=number, messages=messages, prompted=prompted):
            given = {"add_generation_prompt": prompted, **template.variables}
            render = renderer_of_transformers()
            assert render([without_none(messages)], chat_template=template.source, **given)[0] == [text]
            if not wanted:
                with pytest.raises(bp.TemplateError, match="no token is trained"):
                    BYTES.encode_chat(messages, template, add_generation_prompt=prompted)
                continue
            example = BYTES.encode_chat(messages, template, add_generation_prompt=prompted)
            assert example.text == text
            assert shown(text, characters(example.intervals)) == shown(text, wanted)
            assert characters((part.start, part.end) for part in example.trained) == wanted
            answers = {row for row, message in enumerate(messages) if message["role"] == "assistant"}
            assert {part.message for part in example.trained} <= answers
            only = BYTES.encode_chat(messages, template, add_generation_prompt=prompted, train_marks=False)
            assert characters(only.intervals) <= wanted
