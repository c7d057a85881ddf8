"""The differences of two plans: a run resumes only with its own plan."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bytepair.errors import CorpusError
from bytepair.shards.plans import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bytepair.shards.plans import Plan

_MOST_SHOWN = 5


def check_same(old: Plan, new: Plan, folder: Path, hint: str = "") -> None:
    """Raises CorpusError if a run cannot go on by another plan, and names all that differs; `hint` ends the remedy."""
    found = list(_differences(old, new))
    if not found:
        return
    shown = "; ".join(found[:_MOST_SHOWN]) + (f"; and {len(found) - _MOST_SHOWN} more" if found[_MOST_SHOWN:] else "")
    raise CorpusError(
        f"the run in this folder has another plan: {shown}",
        file=str(folder / NAME),
        remedy=f"resume with the same sources and options, or write into a new folder{hint}",
    )


def _differences(old: Plan, new: Plan) -> Iterator[str]:
    if type(old.options) is not type(new.options):
        yield "it makes a table of counts, not shards, or the reverse"
        return
    if old.tokenizer != new.tokenizer:
        yield f"the tokenizer's fingerprint was {old.tokenizer[:12]}... and is {new.tokenizer[:12]}..."
    for mine, theirs in ((old.options, new.options), (old.reading, new.reading)):
        for field in fields(mine):
            was, now = getattr(mine, field.name), getattr(theirs, field.name)
            if was != now:
                yield f"{field.name.replace('_', ' ')} was {_shown(was)} and is {_shown(now)}"
    was_by, is_by = dict(old.packages), dict(new.packages)
    # With other options it is no wonder that a package is needed no more.
    named = was_by.keys() | is_by.keys() if old.options == new.options else was_by.keys() & is_by.keys()
    for name in sorted(named):
        if was_by.get(name) != is_by.get(name):
            yield f"{name} was {was_by.get(name)} and is {is_by.get(name)}"
    before = {(input.group, input.name): input for input in old.inputs}
    after = {(input.group, input.name): input for input in new.inputs}
    yield from (f"the input {name!r} is gone" for group, name in before if (group, name) not in after)
    yield from (f"the input {name!r} is new" for group, name in after if (group, name) not in before)
    for key, input in after.items():
        if key in before and before[key] != input:
            what = "has changed" if before[key].address == input.address else f"was at {before[key].address}"
            yield f"the input {input.name!r} {what}"
    if list(before) != list(after) and before.keys() == after.keys():
        yield "the inputs come in another order"
    if old.inputs == new.inputs and old.stages != new.stages:
        yield "the tasks are cut otherwise"


def _shown(value: Any) -> str:
    """An option's value in words that suit both Python and the command line."""
    if value is None:
        return "not set"
    return ("on" if value else "off") if isinstance(value, bool) else repr(value)
