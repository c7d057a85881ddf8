"""Renderings, labels and attacks against oracles that do not trace content.

A share of each runs always. ``BYTEPAIR_WHOLE=1`` runs 10,000 conversations for each template and 100,000 attacks.
"""

from __future__ import annotations

import random

import pytest
from fuzz.case import case
from fuzz.chat_templates import Subject, subjects
from fuzz.chats import check_rendering, conversation, given_to, template_of
from fuzz.encoded_chats import check_attack, check_escape, check_labels, check_reserved, vocabulary_for

import bytepair as bp
from bytepair.chat.rendering.render import render
from bytepair.errors import TemplateError
from tests.conftest import WHOLE

CONVERSATIONS = 10_000 if WHOLE else 16
ATTACKS = 100_000 if WHOLE else 240
BYTES = bp.train({"a": 1}, vocab_size=256)


def test_conversations(subject: Subject) -> None:
    """The text is that of `transformers`, spans and labels are those of the oracles."""
    refused = 0
    for number in range(CONVERSATIONS):
        chooses = random.Random(f"held/{subject.name}/{number}")
        chat = conversation(chooses, subject, literals=number % 2 == 0)
        vocabulary = vocabulary_for(chooses, subject, published=WHOLE or (number < 4 and subject.name == "llama3"))
        with case(template=subject.name, number=number, vocabulary=vocabulary.name, chat=chat):
            made = check_rendering(subject, chat)
            if made is None:
                refused += 1
                continue
            check_labels(chooses, subject, chat, vocabulary, made[1])
    assert refused < CONVERSATIONS / 3


@pytest.mark.parametrize("policy", ["reject", "text", "escape"])
def test_attacks(policy: str) -> None:
    """No content of any field becomes a reserved id."""
    names = list(subjects())
    for number in range(ATTACKS // 3):
        chooses = random.Random(f"attack/{policy}/{number}")
        subject = subjects()[names[number % len(names)]]
        # Half of what is to be refused holds nothing, so that refusing too much is seen as well.
        chat = conversation(chooses, subject, literals=policy != "reject" or number % 2 == 0, broken=0)
        vocabulary = vocabulary_for(chooses, subject, published=WHOLE or number % 10 == 0)
        with case(template=subject.name, number=number, vocabulary=vocabulary.name, chat=chat):
            made = check_rendering(subject, chat)
            if made is None:
                continue
            if policy == "escape":
                check_escape(subject, chat, vocabulary)
            else:
                check_attack(subject, chat, vocabulary, made[1], policy)
            if policy == "text" and not vocabulary.is_folded:
                check_reserved(subject, chat, vocabulary, made[1])


def test_nothing_of_other_messages_is_trained(subject: Subject) -> None:
    """Each message is rendered a second time with other letters: where the texts differ is what it says."""
    for number in range(CONVERSATIONS):
        chooses = random.Random(f"others/{subject.name}/{number}")
        chat = conversation(chooses, subject, literals=False, broken=0)
        given = given_to(subject, chat)
        try:
            example = BYTES.encode_chat(chat.messages, template_of(subject.name), policy="text", **given)
        except TemplateError:
            continue
        trained = {at for start, end in example.intervals for at in range(start, end)}
        for at, message in enumerate(chat.messages):
            content = message.get("content")
            if message.get("role") == "assistant" or not isinstance(content, str) or not content.isascii():
                continue
            other = "".join(chr((ord(letter) - 97 + 1) % 26 + 97) if letter.islower() else letter for letter in content)
            changed = [*chat.messages[:at], {**message, "content": other}, *chat.messages[at + 1 :]]
            with case(template=subject.name, number=number, message=at, chat=chat):
                text = render(changed, template_of(subject.name), **given).text
                differs = {place for place, pair in enumerate(zip(example.text, text, strict=True)) if len({*pair}) > 1}
                assert not differs & trained
