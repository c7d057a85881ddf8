"""Findings about added tokens: ordinary text taken, tokens never found, tokens not marked special."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from bytepair.check.lint.findings import Finding, tokens
from bytepair.drawing.wording import counted
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.check.subject import Subject
    from bytepair.model.spec import AddedToken

# Only control tokens are spelled like this. Plain tags such as `<b>` also occur in text.
_CONTROL = re.compile(r"<\|[^\s<>|]+\|>|<｜[^<>｜]+｜>")

_OF_WORDS = {"L", "M", "N"}
_INSIDE_WORDS = "-'’"


def findings(subject: Subject) -> Iterator[Finding]:
    """All findings about added tokens."""
    yield from _shadowing(subject)
    yield from _unmarked(subject)
    yield from _hidden(subject)
    yield from _from_text(subject)


def is_ordinary(content: str) -> bool:
    """Whether an added token is spelled like a word or number of ordinary text.

    Example:
        >>> is_ordinary(" the"), is_ordinary("ü"), is_ordinary("<think>"), is_ordinary("   "), is_ordinary("[UNK]")
        (True, True, False, False, False)
    """
    bare = "".join(content.split()).replace("▁", "")
    return bool(bare) and all(unicodedata.category(c)[0] in _OF_WORDS or c in _INSIDE_WORDS for c in bare)


def _shadowing(subject: Subject) -> Iterator[Finding]:
    ordinary = [token for token in subject.spec.added_tokens if is_ordinary(token.content)]
    special = [token for token in ordinary if token.special]
    if special:
        yield Finding(
            "shadowing-token",
            "error",
            f"{_number(special)} special and spelled like ordinary text",
            "Text with it raises SpecialTokenError, or becomes a control token where special tokens are allowed.",
            "spell control tokens unlike any text, such as <|name|>",
            **_about(subject, special),
        )
    inside = [token for token in ordinary if not token.special and not token.single_word and _is_lone_or_word(token)]
    if inside:
        yield Finding(
            "shadowing-token",
            "warning",
            f"{_number(inside)} ordinary text, also inside longer words",
            "Words are cut wherever the text contains it, and do not reach the model as in training: "
            "`the` is also in `other`." + _also_after(subject, inside),
            "set single_word for words; or remove it, so that the model's own tokens spell it",
            **_about(subject, inside),
        )
    whole = [token for token in ordinary if not token.special and token.single_word]
    if whole:
        yield Finding(
            "shadowing-word",
            "note",
            f"{_number(whole)} spelled like a word of ordinary text",
            "It is matched as a whole word before the model sees the text." + _also_after(subject, whole),
            "keep it if this is intended",
            **_about(subject, whole),
        )


def _is_lone_or_word(token: AddedToken) -> bool:
    # White space on both sides would limit it to whole words as well; on one side it does not.
    return not (token.content[:1].isspace() and token.content[-1:].isspace())


def _also_after(subject: Subject, listed: list[AddedToken]) -> str:
    said = ""
    if subject.spec.normalizers and any(token.normalized for token in listed):
        said += " It is matched in the normalized text, so other spellings become it too."
    if any(token.lstrip or token.rstrip for token in listed):
        said += " It includes the white space beside it."
    return said


def _unmarked(subject: Subject) -> Iterator[Finding]:
    unmarked = [t for t in subject.spec.added_tokens if not t.special and _CONTROL.fullmatch(t.content)]
    if unmarked:
        yield Finding(
            "unmarked-control-token",
            "note",
            f"{_number(unmarked)} spelled like a control token, and not special",
            'Text that spells it becomes it without special="allow", and skip_special_tokens keeps it in decoded text.',
            "mark it as special, unless decoded text must keep its name",
            **_about(subject, unmarked),
        )


def _hidden(subject: Subject) -> Iterator[Finding]:
    hidden = [token for token in subject.spec.added_tokens if not _is_found(subject, token)]
    if hidden:
        yield Finding(
            "hidden-token",
            "error",
            f"{_number(hidden)} not found in a text that consists only of it",
            "Another added token, or a normalizer, consumes it first: chats written as text lose it.",
            "spell it so that it contains no other added token, and match it before normalizers",
            **_about(subject, hidden),
        )


def _is_found(subject: Subject, token: AddedToken) -> bool:
    try:
        return token.id in subject.tokenizer.encode(token.content, special="allow")
    except BytepairError:
        return False


def _from_text(subject: Subject) -> Iterator[Finding]:
    """Special tokens that the model produces from text even with ``special="text"``."""
    leaking = []
    for token in subject.spec.added_tokens:
        if not token.special or token.id in subject.unknown_ids:
            continue
        try:
            ids = subject.tokenizer.encode(token.content, special="text", added="text")
        except BytepairError:
            continue
        if token.id in ids:
            leaking.append(token)
    if leaking:
        yield Finding(
            "special-from-text",
            "warning",
            f"{_number(leaking)} special, and the model also produces it from text",
            'With special="text" users can still write control tokens.',
            "remove the merges that make it, or its row, from the model; the added token stays",
            **_about(subject, leaking),
        )


def _number(listed: list[AddedToken]) -> str:
    return counted(len(listed), "added token", "is", "are")


def _about(subject: Subject, listed: list[AddedToken]) -> dict[str, Any]:
    """The file, count and examples of a finding about added tokens."""
    place = {"file": subject.file, "pointer": _pointer(subject, listed[0])}
    return {**place, **tokens((token.id, token.content) for token in listed)}


def _pointer(subject: Subject, token: AddedToken) -> str:
    rows = subject.table.get("added_tokens") if subject.table else None
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        if isinstance(row, dict) and row.get("id") == token.id:
            return f"/added_tokens/{number}"
    return ""
