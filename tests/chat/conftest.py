"""A small tokenizer with chat markers, special and not; the templates that sweeps draw from."""

from __future__ import annotations

import pytest
from fuzz.chat_templates import NAMES, Subject, subjects

import bytepair as bp

MARKS = ["<|im_start|>", "<|im_end|>", "<s>", "</s>", "<think>", "</think>", "<tool_call>", "</tool_call>"]


@pytest.fixture(scope="session")
def chat_tok() -> bp.Tokenizer:
    text = "Hello there, how are you today? I am fine, thank you. user assistant system\n" * 3 + "ends.\n\n" * 9
    tok = bp.train(iter([text]), vocab_size=305, split="gpt2")
    ids = range(tok.vocab_size, tok.vocab_size + len(MARKS))
    added = [bp.AddedToken(mark, id, special="think" not in mark) for mark, id in zip(MARKS, ids, strict=True)]
    return bp.Tokenizer(tok.spec.replace(added_tokens=tuple(added)))


@pytest.fixture(params=NAMES)
def subject(request: pytest.FixtureRequest) -> Subject:
    name = str(request.param)
    if name not in subjects():
        pytest.skip(f"the template of {name} is not there")
    return subjects()[name]
