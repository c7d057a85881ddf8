"""What is trained, by definition: the oracle of ids, places and labels of a chat, slow and readable.

Text is encoded by `tokenizers`. What it must not do, take content for protocol, is kept from it by cutting the text at
the trusted occurrences of added tokens and encoding what lies between by a copy of the tokenizer that has no added tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fuzz.chat_vocabularies import Json, Vocabulary
    from fuzz.turns import Message, Part


class Token(NamedTuple):
    """An id and the characters it is from."""

    id: int
    start: int
    end: int


class Placed(NamedTuple):
    """A part, and where it is in the text."""

    start: int
    end: int
    message: int | None
    field: str | None


@dataclass(frozen=True)
class Expected:
    """What `encode_chat` must give."""

    tokens: list[Token]
    labels: list[int]
    straddling: list[int]


def placed(parts: Iterable[Part]) -> list[Placed]:
    """Where each part is."""
    out, here = [], 0
    for part in parts:
        out.append(Placed(here, here + len(part.text), part.message, part.field))
        here += len(part.text)
    return out


def is_content(part: Placed) -> bool:
    """Whether it is from outside of the template."""
    return part.field is not None


def template_runs(parts: Sequence[Placed]) -> list[tuple[int, int]]:
    """The longest stretches of the template's own text, over empty contents too."""
    runs: list[tuple[int, int]] = []
    for part in parts:
        if part.start == part.end or is_content(part):
            continue
        if runs and runs[-1][1] == part.start:
            runs[-1] = (runs[-1][0], part.end)
        else:
            runs.append((part.start, part.end))
    return runs


def occurrences(text: str, added: Sequence[Json], start: int, end: int) -> list[tuple[int, int, Json]]:
    """The added tokens in ``text[start:end]``, leftmost, longest: first those matched as they are, then the normalized."""
    free, found = [(start, end)], []
    for normalized in (False, True):
        rows = {row["content"]: row for row in added if row["normalized"] == normalized}
        if not rows:
            continue
        pattern = re.compile("|".join(re.escape(content) for content in sorted(rows, key=len, reverse=True)))
        left: list[tuple[int, int]] = []
        for first, last in free:
            here = first
            for match in pattern.finditer(text, first, last):
                row = rows[match[0]]
                if row["single_word"] and (_is_word(text, match.start() - 1) or _is_word(text, match.end())):
                    continue
                found.append((*match.span(), row))
                left.append((here, match.start()))
                here = match.end()
            left.append((here, last))
        free = left
    return sorted(found, key=lambda one: one[0])


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and re.fullmatch(r"\w", text[at]) is not None


def tokens_as_text(vocabulary: Vocabulary, text: str, parts: Sequence[Placed]) -> list[Token]:
    """The tokens of a text in which content is never protocol."""
    tokens: list[Token] = []
    here = 0
    trusted = [one for run in template_runs(parts) for one in occurrences(text, vocabulary.added, *run)]
    for start, end, row in trusted:
        if row["lstrip"]:
            start = max(here, len(text[:start].rstrip()))
        if row["rstrip"]:
            end += len(text[end:]) - len(text[end:].lstrip())
        tokens += _plain(vocabulary, text, here, max(here, start))
        tokens.append(Token(row["id"], max(here, start), end))
        here = max(here, end)
    return tokens + _plain(vocabulary, text, here, len(text))


def _plain(vocabulary: Vocabulary, text: str, start: int, end: int) -> list[Token]:
    if start >= end:
        return []
    encoding = vocabulary.bare.encode(text[start:end], add_special_tokens=False)
    return [Token(id, start + first, start + last) for id, (first, last) in zip(encoding.ids, encoding.offsets, strict=True)]


def tokens_allowed(vocabulary: Vocabulary, text: str) -> list[Token]:
    """The tokens of a text in which every added token is one."""
    encoding = vocabulary.full.encode(text, add_special_tokens=False)
    return [Token(id, *place) for id, place in zip(encoding.ids, encoding.offsets, strict=True)]


def reserved_in(text: str, added: Sequence[Json], parts: Sequence[Placed]) -> list[tuple[int, int, str]]:
    """Every occurrence of a reserved literal, overlapping others or not, that is in content or partly so."""
    found = []
    inside = [(part.start, part.end) for part in parts if is_content(part) and part.start < part.end]
    for row in added:
        at = text.find(row["content"])
        while at >= 0:
            end = at + len(row["content"])
            if any(at < last and first < end for first, last in inside):
                found.append((at, end, row["content"]))
            at = text.find(row["content"], at + 1)
    return found


def overlaps(token: Token, part: Placed) -> bool:
    """Whether they have a character in common."""
    return token.start < part.end and part.start < token.end


def trained_parts(parts: Sequence[Placed], messages: Sequence[Message]) -> list[Placed]:
    """What an assistant wrote: all of its fields but role and name."""
    return [
        part
        for part in parts
        if part.message is not None
        and messages[part.message].get("role") == "assistant"
        and part.field is not None
        and part.field.split("/")[0] not in ("role", "name")
    ]


def expected(
    tokens: list[Token],
    parts: Sequence[Placed],
    messages: Sequence[Message],
    ends: Collection[int],
    *,
    train_end: bool = True,
) -> Expected:
    """Labels by definition: a look at every token and every part."""
    wanted = trained_parts(parts, messages)
    full = [part for part in wanted if part.start < part.end]
    others = [part for part in parts if part.start < part.end and part not in wanted]
    rows = {row for row, token in enumerate(tokens) if any(overlaps(token, part) for part in full)}
    straddling = sorted(row for row in rows if any(overlaps(tokens[row], part) for part in others))
    if train_end:
        rows |= {row for message in {part.message for part in wanted} for row in _end_of(tokens, parts, wanted, message, ends)}
    return Expected(tokens, [token.id if row in rows else -100 for row, token in enumerate(tokens)], straddling)


def _end_of(
    tokens: Sequence[Token], parts: Sequence[Placed], wanted: Sequence[Placed], message: int | None, ends: Collection[int]
) -> list[int]:
    """The row of the mark that ends a message: after its last content, before anything of another."""
    last = max(part.end for part in wanted if part.message == message)
    later = [part.start for part in parts if part.message not in (None, message) and part.start >= last]
    limit = min(later, default=max((part.end for part in parts), default=0))
    rows = [row for row, token in enumerate(tokens) if token.id in ends and token.end > last and token.start < limit]
    return rows[:1]
