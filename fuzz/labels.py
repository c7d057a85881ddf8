"""Labels by definition: the slow and readable oracle for ids, offsets and labels of a chat.

`tokenizers` encodes the text. To prevent content from becoming added tokens, the text is split at the trusted
occurrences of added tokens, and a copy of the tokenizer without added tokens encodes the parts between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from fuzz.chat_vocabularies import Json, Vocabulary
    from fuzz.turns import Message, Part

Ends: TypeAlias = "Callable[[str], Sequence[str]]"
"""The marks that end the turns of a role."""

# Letters, in the peer's sense, next to a token that must be a whole word: including marks, unlike Python.
_WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")


class Token(NamedTuple):
    """An id and its source characters."""

    id: int
    start: int
    end: int


class Placed(NamedTuple):
    """A part, and its place in the text."""

    start: int
    end: int
    message: int | None
    field: str | None
    generated: bool = False
    trusted: bool = False


ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model", "ipython", "observation")


@dataclass(frozen=True)
class Expected:
    """The expected result of `encode_chat`."""

    tokens: list[Token]
    labels: list[int]
    straddling: list[int]


def placed(parts: Iterable[Part]) -> list[Placed]:
    """The place of each part."""
    out, here = [], 0
    for part in parts:
        # The name of a role that all chats have is as good as the template's own text: it may be a part of a mark.
        trusted = part.field is None or (part.field == "role" and part.text in ROLES)
        out.append(Placed(here, here + len(part.text), part.message, part.field, part.generated, trusted))
        here += len(part.text)
    return out


def is_content(part: Placed) -> bool:
    """Whether it comes from outside the template."""
    return part.field is not None


def template_runs(parts: Sequence[Placed]) -> list[tuple[int, int]]:
    """The longest stretches that may contain protocol, across empty contents too."""
    runs: list[tuple[int, int]] = []
    for part in parts:
        if part.start == part.end or not part.trusted:
            continue
        if runs and runs[-1][1] == part.start:
            runs[-1] = (runs[-1][0], part.end)
        else:
            runs.append((part.start, part.end))
    return runs


def occurrences(text: str, added: Sequence[Json], runs: Sequence[tuple[int, int]]) -> list[tuple[int, int, Json]]:
    """The added tokens that may occur at their places: inside the template's own text, or white space.

    Leftmost, longest, and literal matches before normalized ones.
    """
    free, found = [(0, len(text))], []
    for normalized in (False, True):
        rows = [row for row in added if row["normalized"] == normalized]
        if not rows:
            continue
        rows.sort(key=lambda row: -len(row["content"]))
        starts = re.compile("|".join(re.escape(row["content"]) for row in rows))
        left: list[tuple[int, int]] = []
        for first, last in free:
            at = here = first
            while match := starts.search(text, at, last):
                start = match.start()
                row, end = next(
                    ((row, start + len(row["content"])) for row in rows if _may_stand(row, text, start, last, runs)),
                    (None, start + 1),
                )
                at = end
                if row is None or (row["single_word"] and (_is_word(text, start - 1) or _is_word(text, end))):
                    continue
                found.append((start, end, row))
                left.append((here, start))
                here = end
            left.append((here, last))
        free = left
    return sorted(found, key=lambda one: one[0])


def _may_stand(row: Json, text: str, start: int, last: int, runs: Sequence[tuple[int, int]]) -> bool:
    end = start + len(row["content"])
    if not text.startswith(row["content"], start) or end > last:
        return False
    return is_white(row) or any(first <= start and end <= stop for first, stop in runs)


def is_white(row: Json) -> bool:
    """Whether it is a run of white space, which is not protocol."""
    return not row["content"].replace("▁", " ").strip()


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and _WORD.fullmatch(text[at]) is not None


def tokens_as_text(vocabulary: Vocabulary, text: str, parts: Sequence[Placed]) -> list[Token]:
    """The tokens of a text in which content is never protocol."""
    tokens: list[Token] = []
    here = 0
    for first, last, row in occurrences(text, vocabulary.added, template_runs(parts)):
        if first < here:
            continue  # white space that the token before it took
        start = here + len(text[here:first].rstrip()) if row["lstrip"] else first
        end = len(text) - len(text[last:].lstrip()) if row["rstrip"] else last
        tokens += _plain(vocabulary, text, here, start)
        tokens.append(Token(row["id"], start, end))
        here = end
    return tokens + _plain(vocabulary, text, here, len(text))


def _plain(vocabulary: Vocabulary, text: str, start: int, end: int) -> list[Token]:
    if start >= end:
        return []
    encoding = vocabulary.bare.encode(text[start:end], add_special_tokens=False)
    return [
        Token(id, start + first, start + last) for id, (first, last) in zip(encoding.ids, encoding.offsets, strict=True)
    ]


def tokens_allowed(vocabulary: Vocabulary, text: str) -> list[Token]:
    """The tokens of a text in which every added token is allowed."""
    encoding = vocabulary.full.encode(text, add_special_tokens=False)
    return [Token(id, *place) for id, place in zip(encoding.ids, encoding.offsets, strict=True)]


def reserved_in(vocabulary: Vocabulary, text: str, parts: Sequence[Placed]) -> list[Token]:
    """The reserved tokens that `tokenizers` finds in a text and that overlap content."""
    reserved = {id: row["content"] for id, row in vocabulary.reserved.items()}
    inside = [(part.start, part.end) for part in parts if not part.trusted and part.start < part.end]
    found = []
    for id, first, last in tokens_allowed(vocabulary, text):
        if id in reserved:
            start, end = literal_in(text, reserved[id], first, last)
            if any(start < stop and begin < end for begin, stop in inside):
                found.append(Token(id, start, end))
    return found


def literal_in(text: str, literal: str, start: int, end: int) -> tuple[int, int]:
    """The place of a token's literal in its match, without white space; the whole match if it is not spelled there."""
    at = text.find(literal, start, end)
    return (at, at + len(literal)) if at >= 0 else (start, end)


def strings_of(value: Any) -> Iterator[str]:
    """All texts of a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings_of(key)
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def expected(
    tokens: list[Token],
    parts: Sequence[Placed],
    messages: Sequence[Message],
    ends: Ends,
    text: str,
    *,
    train_on: Sequence[str] = ("assistant",),
    train_end: bool = True,
) -> Expected:
    """Labels by definition: a test of every token and every part.

    Tokens are trained if they overlap the content of a role (all fields except role and name) or the mark that ends its
    turn. If a template declares the generated parts, those of an assistant's turn are trained.
    """
    own = [at for at, message in enumerate(messages) if message.get("role") in train_on]
    wanted: list[tuple[int, int]] = []
    for at in own:
        mine = [part for part in parts if part.message == at]
        if not mine:
            continue
        end = _end_of(text, parts, at, ends(messages[at]["role"]))
        if messages[at]["role"] == "assistant" and any(part.generated for part in parts):
            block = _generated(parts, at)
            if not block:
                continue  # nothing of this message was generated
            stop = len(text) if end is None else end[0]
            wanted += [(part.start, min(part.end, stop)) for part in block if part.start < stop]
        else:
            wanted += [
                (part.start, part.end) for part in mine if (part.field or "").split("/")[0] not in ("role", "name")
            ]
        wanted += [end] if train_end and end else []
    characters = {at for start, end in wanted for at in range(start, end)}
    rows = {row for row, token in enumerate(tokens) if not characters.isdisjoint(range(token.start, token.end))}
    straddling = sorted(row for row in rows if not characters.issuperset(range(tokens[row].start, tokens[row].end)))
    return Expected(tokens, [token.id if row in rows else -100 for row, token in enumerate(tokens)], straddling)


def leaves_out(parts: Sequence[Part], messages: Sequence[Message], train_on: Sequence[str]) -> bool:
    """Whether the text lacks the calls of a message that is to be trained, or everything of it."""
    for at, message in enumerate(messages):
        fields = {(part.field or "").split("/")[0] for part in parts if part.message == at} - {"role", "name"}
        if message.get("role") in train_on and (
            (message.get("tool_calls") and "tool_calls" not in fields) or (message.get("content") and not fields)
        ):
            return True
    return False


def _generated(parts: Sequence[Placed], message: int) -> list[Placed]:
    """The generated parts around a message's own; adjacent blocks have an empty part of the template between them."""
    block: list[Placed] = []
    mine = False
    for part in parts:
        if part.generated:
            block.append(part)
            mine |= part.message == message
        elif mine:
            break
        else:
            block = []
    return block if mine else []


def _end_of(text: str, parts: Sequence[Placed], message: int, ends: Sequence[str]) -> tuple[int, int] | None:
    """The mark that ends a message: the first in the template's text after its last part."""
    row = max(row for row, part in enumerate(parts) if part.message == message)
    last = parts[row].end
    # Empty ones may stand at the same place, before it or behind it.
    limit = min((part.start for part in parts[row + 1 :] if is_content(part)), default=len(text))
    found = [(at, at + len(end)) for end in ends if (at := text.find(end, last, limit)) >= 0]
    return min(found, default=None)
