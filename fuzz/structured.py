"""Sweep over made templates: what is trained, against the oracle of ``structures.py``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.errors import TemplateError
from fuzz.case import case, equal
from fuzz.chats import renderer_of_transformers, without_none
from fuzz.structures import STRUCTURES, Structure, conversation, source, written

if TYPE_CHECKING:
    import random


@functools.cache
def one_token_a_byte() -> bp.Tokenizer:
    """A tokenizer with which what is trained is known to the character."""
    return bp.train({"a": 1}, vocab_size=256)


@functools.cache
def template_of(structure: Structure) -> bp.chat.Template:
    """The template of a structure."""
    return bp.chat.Template(source(structure), variables={"eos_token": structure.eos} if structure.eos else None)


def sweep_structures(random: random.Random) -> None:
    """One conversation through one structure."""
    check_structure(random, random.choice(STRUCTURES))


def check_structure(random: random.Random, structure: Structure) -> None:
    """Compare the text of a random conversation with `transformers`, and what is trained with the oracle.

    Raises:
        AssertionError: They differ.
    """
    template, tok = template_of(structure), one_token_a_byte()
    messages = conversation(random, structure)
    prompted = random.random() < 0.3
    pieces = written(structure, messages, add_generation_prompt=prompted)
    text = "".join(piece.text for piece in pieces)
    wanted: set[int] = set()
    at = 0
    for piece in pieces:
        wanted |= set(range(at, at + len(piece.text))) if piece.is_trained else set()
        at += len(piece.text)
    with case(structure=structure.name, messages=messages, prompted=prompted):
        given = {"add_generation_prompt": prompted, **template.variables}
        render = renderer_of_transformers()
        equal("text", text, render([without_none(messages)], chat_template=template.source, **given)[0][0])
        try:
            example = tok.encode_chat(messages, template, add_generation_prompt=prompted)
        except TemplateError as error:
            if wanted or "no token is trained" not in str(error):
                raise
            return
        equal("text", example.text, text)
        equal("trained", shown(text, characters(example.intervals)), shown(text, wanted))
        equal("reasons", characters((part.start, part.end) for part in example.trained), wanted)
        answers = {row for row, message in enumerate(messages) if message["role"] == "assistant"}
        equal("messages of others", {part.message for part in example.trained} - answers, set())
        try:
            only = tok.encode_chat(messages, template, add_generation_prompt=prompted, train_marks=False)
        except TemplateError as error:
            if "no token is trained" not in str(error):
                raise
            return
        equal("what is trained only without marks", characters(only.intervals) - wanted, set())


def characters(intervals: Any) -> set[int]:
    """The places of all characters in intervals."""
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
