"""Random conversations through every chat template in turn: ``python -m fuzz.each_template --each 10000``.

A case of `fuzz.sweep` chooses its template. Here each template has the same number of conversations, and their numbers
are printed: also after Ctrl-C, SIGTERM, and when time is over. A failure ends the run of its template alone.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from fuzz.case import FailureError, case
from fuzz.chat_templates import Subject, subjects
from fuzz.chats import check_rendering, conversation
from fuzz.encoded_chats import check_attack, check_escape, check_labels, check_reserved, vocabulary_for
from fuzz.structured import check_structure
from fuzz.structures import STRUCTURES, Structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def conversation_through(random: random.Random, subject: Subject) -> None:
    """One conversation through one published template: text, spans and labels, and an attack by each policy."""
    chat = conversation(random, subject, literals=random.random() < 0.7)
    vocabulary = vocabulary_for(random, subject, published=random.random() < 0.1)
    with case(template=subject.name, vocabulary=vocabulary.name, chat=chat):
        made = check_rendering(subject, chat)
        if made is None:
            return
        check_labels(random, subject, chat, vocabulary, made[1])
        for policy in ("reject", "text"):
            check_attack(subject, chat, vocabulary, made[1], policy)
        check_escape(subject, chat, vocabulary)
        if not vocabulary.is_folded:
            check_reserved(subject, chat, vocabulary, made[1])


def kinds() -> dict[str, Callable[[random.Random], None]]:
    """The check of each template by its name: made structures, then templates that are published."""
    made = {f"made: {one.name}": partial(_structure, structure=one) for one in STRUCTURES}
    return {**made, **{name: partial(conversation_through, subject=one) for name, one in subjects().items()}}


def _structure(random: random.Random, structure: Structure) -> None:
    check_structure(random, structure)


def run(
    names: Iterable[str], *, first: int, each: int, seconds: float, seed: str
) -> tuple[Counter[str], dict[str, str]]:
    """Run conversations, one of each template in turn.

    Returns:
        The number of conversations that passed and the first failure, by template.
    """
    checks = {name: check for name, check in kinds().items() if name in names}
    done: Counter[str] = Counter()
    failed: dict[str, str] = {}
    end = time.monotonic() + seconds
    try:
        for number in range(first, first + each):
            for name, check in checks.items():
                if name in failed:
                    continue
                try:
                    check(random.Random(f"{seed}/{name}/{number}"))
                    done[name] += 1
                except FailureError as error:
                    failed[name] = f"number {number}: {error}"
                    print(f"{name} failed, {failed[name]}", file=sys.stderr, flush=True)
            if time.monotonic() > end:
                break
    except KeyboardInterrupt:
        pass
    return done, failed


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a conversation failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.each_template", description="Conversations by template.")
    parser.add_argument("--each", type=int, default=10_000, help="conversations of each template")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one, to go on or to repeat it")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop")
    parser.add_argument("--seed", default="each", help="the same seed gives the same conversations")
    parser.add_argument("--only", default="", help="templates whose names contain this")
    chosen = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell has processes in the background ignore Ctrl-C
        signal.signal(number, signal.default_int_handler)
    names = [name for name in kinds() if chosen.only in name]
    done, failed = run(names, first=chosen.first, each=chosen.each, seconds=chosen.seconds, seed=chosen.seed)
    for name in names:
        print(f"{done[name]:>7,} {name}{' FAILED' if name in failed else ''}")
    print(f"{done.total():>7,} conversations, {len(failed)} of {len(names)} templates failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
