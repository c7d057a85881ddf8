"""Sweeps over growing texts and parts that fit: their results against encoding the same text from scratch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fuzz.case import case, equal
from fuzz.counted import Failure, Parts, counting_text, outcome, random_options, same, some_texts

if TYPE_CHECKING:
    import random

    import bytepair as bp
    from bytepair.formats.manifest import Side
    from fuzz.counted import Counted

MOST_STEPS = 200
"""The most parts and rollbacks of a case."""

LIMITS = 48
"""Random limits of a text, besides the least and the most."""

ROUNDS = 4
"""How often a text grows in other parts while each of its beginnings, or ends, is counted once."""


def counted(tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> int | Failure:
    """The number of ids of a text, or the error."""
    return outcome(lambda: len(tok.encode(text, **options)))


def check_growing(growing: Any, tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> None:
    """The count and the ids of a text that has grown are those of the same text."""
    expected = outcome(lambda: tok.encode(text, **options))
    same("the count", outcome(growing.count), expected if isinstance(expected, Failure) else len(expected))
    same("the ids", outcome(growing.ids), expected)


def sweep_appending(random: random.Random) -> None:
    """A text that grows at its end, by characters, bytes and texts, with rollbacks."""
    some_texts(appending, random)


def sweep_prepending(random: random.Random) -> None:
    """A text that grows at its front, with rollbacks."""
    some_texts(prepending, random)


def sweep_fitting(random: random.Random) -> None:
    """The longest part that fits, against trying every one."""
    some_texts(fitting, random)


def appending(random: random.Random, drawn: Counted) -> None:
    """A text that grows at its end."""
    tok, options, text = drawn.tok, random_options(random, drawn), counting_text(random, drawn.contents)
    appender, marks, parts = tok.appender(**options), [], list[Any]()
    with case(tok=drawn.said, options=options, text=text, parts=parts):
        rest = text.encode() if random.random() < 0.5 else text
        while rest and len(parts) < MOST_STEPS:
            length = random.choice([1, 1, 1, 2, 3, random.randint(1, 200)])
            part, rest = rest[:length], rest[length:]
            if random.random() < 0.1 and isinstance(part, str):
                limit, expected = random.randint(0, 60), counted(tok, appender.text + part, options)
                if isinstance(expected, int):
                    equal("fits", appender.fits(part, limit), expected <= limit)
            parts.append(part)
            appender.append(part)
            if random.random() < 0.8:
                same("the count", outcome(appender.count), counted(tok, appender.text, options))
            if random.random() < 0.2:
                marks.append((appender.mark(), appender.text, appender.pending))
            if marks and random.random() < 0.15:
                del marks[random.randrange(len(marks)) + 1 :]
                mark, before, pending = marks[-1]
                parts.append(("back to", before, pending))
                appender.rollback(mark)
                equal("the text", (appender.text, appender.pending), (before, pending))
                same("the count", outcome(appender.count), counted(tok, before, options))
                if isinstance(rest, bytes):
                    rest = text.encode()[len(before.encode()) + len(pending) :]
                elif random.random() < 0.5:
                    rest = text[len(before) :]
        check_growing(appender, tok, appender.text, options)
        grow_again(random, tok, text, "left", options)


def prepending(random: random.Random, drawn: Counted) -> None:
    """A text that grows at its front."""
    tok, options, text = drawn.tok, random_options(random, drawn), counting_text(random, drawn.contents)
    rest, prepender, marks, parts = text, tok.prepender(**options), [], list[Any]()
    with case(tok=drawn.said, options=options, text=text, parts=parts):
        while rest and len(parts) < MOST_STEPS:
            length = random.choice([1, 1, 1, 2, 3, random.randint(1, 300)])
            rest, part = rest[:-length], rest[-length:]
            if random.random() < 0.1:
                limit, expected = random.randint(0, 60), counted(tok, part + prepender.text, options)
                if isinstance(expected, int):
                    equal("fits", prepender.fits(part, limit), expected <= limit)
            parts.append(part)
            prepender.prepend(part)
            if random.random() < 0.8:
                same("the count", outcome(prepender.count), counted(tok, prepender.text, options))
            if random.random() < 0.2:
                marks.append((prepender.mark(), prepender.text))
            if marks and random.random() < 0.15:
                del marks[random.randrange(len(marks)) + 1 :]
                mark, before = marks[-1]
                parts.append(("back to", before))
                prepender.rollback(mark)
                equal("the text", prepender.text, before)
                same("the count", outcome(prepender.count), counted(tok, before, options))
        check_growing(prepender, tok, prepender.text, options)
        grow_again(random, tok, text, "right", options)


def grow_again(random: random.Random, tok: bp.Tokenizer, text: str, side: Side, options: dict[str, Any]) -> None:
    """The counts of a text that grows are those of its beginnings, or of its ends, in whatever parts it comes."""
    counts = Parts(tok, text, side, options).counts
    for _ in range(ROUNDS):
        growing: Any = tok.appender(**options) if side == "left" else tok.prepender(**options)
        steps = random.choice([[1], [1, 1, 2, 5], [1, 2, 3, 30]])
        length = 0
        while length < len(text):
            before, length = length, min(length + random.choice(steps), len(text))
            if side == "left":
                growing.append(text[before:length])
            else:
                growing.prepend(text[len(text) - length : len(text) - before])
            if random.random() < 0.9:
                same(f"the count of {length} characters", outcome(growing.count), counts[length])


def fitting(random: random.Random, drawn: Counted) -> None:
    """The longest parts of a text."""
    tok, options, text = drawn.tok, random_options(random, drawn), counting_text(random, drawn.contents)
    with case(tok=drawn.said, options=options, text=text):
        check_fitting(tok, text, random, options)


def check_fitting(tok: bp.Tokenizer, text: str, random: random.Random, options: dict[str, Any]) -> None:
    """Fits of a text to random limits, on both sides, in a batch and of bytes."""
    for side in ("left", "right"):
        parts = Parts(tok, text, side, options)
        known = sorted({count for count in parts.counts if isinstance(count, int)}) or [0]
        limits = {0, 1, 2, known[-1], known[-1] + 1, *random.choices([*known, max(known[-1] - 1, 0)], k=LIMITS)}
        for limit in limits:
            parts.check(limit)
        limit = random.choice([*limits])
        fit, fit_batch = partial(tok.fit, side=side, **options), partial(tok.fit_batch, side=side, **options)
        one, other = (outcome(partial(fit, part, limit)) for part in (text, text[1:]))
        equal(
            "the fit of bytes",
            outcome(partial(fit, text.encode(), limit)),
            one.encode() if isinstance(one, str) else one,
        )
        first = next((each for each in (one, other) if isinstance(each, Failure)), None)
        equal("fit_batch", outcome(partial(fit_batch, [text, text[1:]], limit)), first or [one, other])
