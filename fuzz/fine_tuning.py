"""Fine-tuning beyond encoding: appended turns, the template's own text as labels, caches."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from bytepair.chat.encoding.cache import EncodingCache
from bytepair.errors import BytepairError, LimitError, TemplateError
from fuzz.case import case, equal
from fuzz.chat_templates import subjects
from fuzz.chats import conversation, given_to, template_of
from fuzz.encoded_chats import vocabulary_for

if TYPE_CHECKING:
    import random

    from bytepair.chat.encoding.example import ChatExample

_ALL = ("system", "user", "assistant", "tool")
# Shared by all cases, so that a key that leaves something out gives what another case made.
_CACHE = EncodingCache(examples=2000)


def sweep_fine_tuning(random: random.Random) -> None:
    """One conversation: cut and continued, with more and fewer trained spans, through a cache."""
    subject = random.choice(list(subjects().values()))
    chat = conversation(random, subject, literals=random.random() < 0.5)
    kinds = (_plain(subject.marks), vocabulary_for(random, subject, published=random.random() < 0.1).tok)
    tok = random.choice(kinds)
    given = given_to(subject, chat)
    add_generation_prompt = given.pop("add_generation_prompt", False)
    given |= {"policy": random.choice(["text", "allow"]), "train_on": random.choice([None, None, _ALL, "assistant"])}
    given |= {"train_marks": random.random() < 0.3, "template": template_of(subject.name)}
    answers = [at for at, message in enumerate(chat.messages) if message.get("role") == "assistant"]
    prompted = bool(answers) and random.random() < 0.6
    at = random.choice(answers) if prompted else random.randrange(len(chat.messages) + 1)
    with case(template=subject.name, chat=chat, at=at, options=given):
        try:
            whole = tok.encode_chat(chat.messages, add_generation_prompt=add_generation_prompt, **given)
        except BytepairError:
            return
        check_marks(tok, whole, given, add_generation_prompt)
        check_cache(random, tok, whole, given, add_generation_prompt)
        try:
            start = tok.encode_chat(chat.messages[:at], add_generation_prompt=prompted, **given)
        except BytepairError:
            return
        check_extending(random, tok, start, whole)


@functools.cache
def _plain(marks: tuple[str, ...]) -> bp.Tokenizer:
    """A vocabulary whose tokens decode to their source text, in any combination."""
    text = "system user assistant tool content Hello there, thank you\n" * 3 + "".join(marks)
    return bp.train(iter([text]), vocab_size=280 + len(set(marks)), special_tokens=list(dict.fromkeys(marks)))


def check_extending(random: random.Random, tok: bp.Tokenizer, start: ChatExample, whole: ChatExample) -> None:
    """Compare an extended example with the whole.

    Raises:
        AssertionError: They differ where they must not, or it is refused without a reason.
    """
    rest = list(whole.messages[len(start.messages) :])
    follows = whole.text.startswith(start.text)
    ids = _sampled(random, tok, whole.text[len(start.text) :]) if follows and random.random() < 0.5 else []
    try:
        longer = bp.chat.extend(tok, start, rest, ids=ids, add_generation_prompt=whole.options.add_generation_prompt)
    except TemplateError as error:
        same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(start.text, whole.text, strict=False))
        equal("whether the text goes on", follows, False)
        equal("where it does not", error.character, len(list(same)))
        return
    equal("whether the text goes on", follows, True)
    fixed = [*start.input_ids.tolist(), *ids]
    equal("what is fixed", longer.input_ids[: len(fixed)].tolist(), fixed)
    equal("the text", longer.text, whole.text)
    equal("what is trained on", longer.intervals, whole.intervals)
    ours, others = longer.input_ids.tolist(), whole.input_ids.tolist()
    if longer.differs_at is None:
        equal("ids", ours, others)
        # White space after the fixed text belongs to a mark in the whole, but not in the text fixed without it.
        if not whole.text[len(start.text) :][:1].isspace():
            equal("labels", longer.labels.tolist(), whole.labels.tolist())
            equal("straddling", longer.straddling, whole.straddling)
            if not ids:
                equal("offsets", longer.offsets.tolist(), whole.offsets.tolist())
        return
    equal("what is before the difference", ours[: longer.differs_at], others[: longer.differs_at])
    equal("whether it differs", ours[longer.differs_at :][:1] != others[longer.differs_at :][:1], True)
    for id, label, (begin, end) in zip(ours, longer.labels.tolist(), longer.offsets.tolist(), strict=True):
        overlaps = begin < end and any(left < end and begin < right for left, right in longer.intervals)
        equal(f"the label of {(begin, end)}", label, id if overlaps else -100)


def _sampled(random: random.Random, tok: bp.Tokenizer, text: str) -> list[int]:
    """Ids of the first part of a text as a model may have written them, cut anywhere; empty if that fails."""
    ids: list[int] = []
    at = 0
    end = random.randint(0, min(len(text), 40))
    while at < end:
        length = random.randint(1, 4)
        ids += tok.encode(text[at : min(at + length, end)], special="text", added="text")
        at += length
    return ids if tok.decode(ids) == text[:end] else []


def check_marks(tok: bp.Tokenizer, whole: ChatExample, given: dict[str, Any], prompt: bool) -> None:
    """``train_marks`` adds trained tokens, and the template wrote the additional ones."""
    if given["train_on"] is None:
        return
    both = []
    for marks in (False, True):
        try:
            made = tok.encode_chat(whole.messages, add_generation_prompt=prompt, **{**given, "train_marks": marks})
        except TemplateError:
            return
        trained = np.zeros(len(made.text), dtype=np.bool_)
        for start, end in made.intervals:
            trained[start:end] = True
        both.append(trained)
    equal("what is trained on only without marks", np.flatnonzero(both[0] & ~both[1]).tolist(), [])
    given_text = np.zeros(len(whole.text), dtype=np.bool_)
    for span in whole.spans:
        given_text[span.start : span.end] = span.kind == "content" and span.message is None
    equal("what nobody said and is trained on", np.flatnonzero(both[1] & ~both[0] & given_text).tolist(), [])


def check_cache(
    random: random.Random, tok: bp.Tokenizer, whole: ChatExample, given: dict[str, Any], prompt: bool
) -> None:
    """A cache changes no result, whatever it held before."""
    options: dict[str, Any] = {**given, "add_generation_prompt": prompt, "train_end": random.random() < 0.5}
    if random.random() < 0.5:
        options |= {"max_length": random.randint(1, len(whole) + 1), "truncation": random.choice(["left", "right"])}
    try:
        made = tok.encode_chat(whole.messages, **options)
    except (TemplateError, LimitError):
        return
    for _ in range(2):
        kept = tok.encode_chat(whole.messages, **options, cache=_CACHE)
        for name in ("input_ids", "labels", "offsets", "attention_mask"):
            equal(f"{name} of the cache", getattr(kept, name).tolist(), getattr(made, name).tolist())
        equal("the rest of the cache", (kept.straddling, kept.dropped), (made.straddling, made.dropped))
