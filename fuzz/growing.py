"""Sweep over growing texts and parts that fit: their results against encoding the same text from scratch."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bytepair as bp
from fuzz.case import case, equal
from fuzz.texts import ADDED, CLASSES, SPECIALS, random_text, tokenizer

if TYPE_CHECKING:
    import random

# Tokens that begin and end with each other, so that tokens found are taken back when more text comes.
OVERLAPPING = ("<", "<|end", "|>", ">>", "aa", "aaaa", "sa", "1 a", "'s", "  ")

FAST = ("plain", "merges", "taken whole", "several ways", "overlapping")
SLOW = ("flags", "normalized", "in a row", "other engine")


@functools.cache
def variant(split: str, kind: str) -> bp.Tokenizer:
    """A tokenizer with a split pattern and a feature that affects counting."""
    tok = tokenizer(split)
    if kind == "plain":
        return tok
    spec, model = tok.spec, tok.spec.byte_pair
    above = tok.vocab_size
    ranks = dict(zip(model.tokens, model.ids, strict=True))

    def added(contents: tuple[str, ...], **flags: Any) -> tuple[bp.AddedToken, ...]:
        new = (bp.AddedToken(content, above + at, special=False, **flags) for at, content in enumerate(contents))
        return (*spec.added_tokens, *new)

    def with_tokens(*more: bytes) -> bp.BytePair:
        new = ((above + at, token) for at, token in enumerate(more) if token not in ranks)
        joined = [*((id, token) for token, id in ranks.items()), *new]
        return bp.BytePair(tuple(token for _, token in joined), tuple(id for id, _ in joined))

    changes: dict[str, dict[str, Any]] = {
        "merges": {"model": replace(model, ignore_merges=True)},
        # No merges lead to them.
        "taken whole": {"model": with_tokens(b"AsA1", b" \n1", "日ん日".encode(), b"aSaS")},
        # Tokens with a part that ranks above them.
        "several ways": {"model": with_tokens(b"aSs", b"aS", b"  1", b" 1", b"ts1", b"ts")},
        "overlapping": {"added_tokens": added(OVERLAPPING)},
        "flags": {"added_tokens": added(("<s>", "1 "), lstrip=True, single_word=True)},
        "normalized": {"normalizers": ("NFC",), "added_tokens": added(("ta",), normalized=True)},
        "in a row": {"split": (r"\p{N}{1,3}", "[一-龥]+", bp.SPLIT_PATTERNS["gpt2"])},
        "other engine": {"split": (r"(?:(?=a)a|\w)+|\s|.",)},
    }
    return bp.Tokenizer(spec.replace(**changes[kind]))


def random_tokenizer(random: random.Random) -> bp.Tokenizer:
    """One of the variants, more often one that is counted fast."""
    kind = random.choice(SLOW if random.random() < 0.15 else FAST)
    return variant(random.choice(list(bp.SPLIT_PATTERNS)), kind)


def growing_text(random: random.Random) -> str:
    """Texts with runs in between, so that pieces are short and long."""
    atoms = [atom for name in CLASSES for atom in CLASSES[name]]
    run = random.choice([*atoms, *OVERLAPPING, ADDED, SPECIALS[0]]) * random.randint(0, 150)
    return random.choice([run + random_text(random), random_text(random) + run, random_text(random)])


def options_of(random: random.Random) -> dict[str, Any]:
    """The options of a call for added tokens; sometimes they are not allowed."""
    return random.choice(
        [{"special": "allow"}] * 4 + [{"special": "text", "added": "text"}, {"special": {SPECIALS[0]}}]
    )


def counted(tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> int | str:
    """The number of ids of a text, or the error."""
    try:
        return len(tok.encode(text, **options))
    except bp.SpecialTokenError as error:
        return str(error)


def counts_of(growing: Any) -> int | str:
    """The count of a growing text, or the error."""
    try:
        return int(growing.count())
    except bp.SpecialTokenError as error:
        return str(error)


def sweep_appending(random: random.Random) -> None:
    """A text that grows at its end, by characters, bytes and texts, with rollbacks."""
    tok, options, text = random_tokenizer(random), options_of(random), growing_text(random)
    appender, marks, parts = tok.appender(**options), [], list[Any]()
    with case(tok=tok.spec.split, added=tok.spec.added_tokens, options=options, parts=parts):
        rest = text.encode() if random.random() < 0.5 else text
        while rest:
            length = random.choice([1, 1, 1, 2, 3, random.randint(1, 200)])
            part, rest = rest[:length], rest[length:]
            if random.random() < 0.1 and isinstance(part, str):
                limit, expected = random.randint(0, 60), counted(tok, appender.text + part, options)
                if isinstance(expected, int):
                    equal("fits", appender.fits(part, limit), expected <= limit)
            parts.append(part)
            appender.append(part)
            if random.random() < 0.8:
                equal("the count", counts_of(appender), counted(tok, appender.text, options))
            if random.random() < 0.2:
                marks.append((appender.mark(), appender.text, appender.pending))
            if marks and random.random() < 0.15:
                del marks[random.randrange(len(marks)) + 1 :]
                mark, before, pending = marks[-1]
                parts.append(("back to", before, pending))
                appender.rollback(mark)
                equal("the text", (appender.text, appender.pending), (before, pending))
                equal("the count", counts_of(appender), counted(tok, before, options))
                rest = text.encode()[len(before.encode()) + len(pending) :] if isinstance(rest, bytes) else rest
                if len(parts) > 200:
                    break
        if isinstance(expected := counted(tok, appender.text, options), int):
            equal("the ids", appender.ids(), tok.encode(appender.text, **options))
            equal("the count", appender.count(), expected)


def sweep_prepending(random: random.Random) -> None:
    """A text that grows at its front, with rollbacks."""
    tok, options, rest = random_tokenizer(random), options_of(random), growing_text(random)
    prepender, marks, parts = tok.prepender(**options), [], list[Any]()
    with case(tok=tok.spec.split, added=tok.spec.added_tokens, options=options, parts=parts):
        while rest and len(parts) < 200:
            length = random.choice([1, 1, 1, 2, 3, random.randint(1, 300)])
            rest, part = rest[:-length], rest[-length:]
            if random.random() < 0.1:
                limit, expected = random.randint(0, 60), counted(tok, part + prepender.text, options)
                if isinstance(expected, int):
                    equal("fits", prepender.fits(part, limit), expected <= limit)
            parts.append(part)
            prepender.prepend(part)
            if random.random() < 0.8:
                equal("the count", counts_of(prepender), counted(tok, prepender.text, options))
            if random.random() < 0.2:
                marks.append((prepender.mark(), prepender.text))
            if marks and random.random() < 0.15:
                del marks[random.randrange(len(marks)) + 1 :]
                mark, before = marks[-1]
                parts.append(("back to", before))
                prepender.rollback(mark)
                equal("the text", prepender.text, before)
                equal("the count", counts_of(prepender), counted(tok, before, options))
        if isinstance(expected := counted(tok, prepender.text, options), int):
            equal("the ids", prepender.ids(), tok.encode(prepender.text, **options))
            equal("the count", prepender.count(), expected)


def sweep_fitting(random: random.Random) -> None:
    """The longest part that fits, against trying every one."""
    tok, text = random_tokenizer(random), growing_text(random)
    options: dict[str, Any] = {"special": "allow", "added": random.choice(["match", "text"])}
    with case(tok=tok.spec.split, added=tok.spec.added_tokens, options=options, text=text):
        places = range(len(text) + 1)
        lefts = [tok.count(text[:at], **options) for at in places]
        rights = [tok.count(text[at:], **options) for at in places]
        limits = {0, 1, random.randint(0, lefts[-1] + 1), random.randint(0, lefts[-1] + 1), lefts[-1]}
        for limit in limits:
            longest = max(at for at in places if lefts[at] <= limit)
            equal(f"fit to {limit}", tok.fit(text, limit, **options), text[:longest])
            longest = min(at for at in places if rights[at] <= limit)
            equal(f"fit to {limit} on the right", tok.fit(text, limit, "right", **options), text[longest:])
        fits = tok.fit_batch([text, text[1:]], 7, **options)
        equal("fit_batch", fits, [tok.fit(text, 7, **options), tok.fit(text[1:], 7, **options)])
