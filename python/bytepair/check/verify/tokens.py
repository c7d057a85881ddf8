"""Special and added tokens: one id in any position, and never from ordinary text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair._core import normalize
from bytepair.check.verify.checklist import Check, quoted
from bytepair.errors import BytepairError, EncodeError, SpecialTokenError
from bytepair.model.token_spelling import unknown_id

if TYPE_CHECKING:
    from bytepair.model.spec import AddedToken
    from bytepair.tokenizer import Tokenizer


def checks(tokenizer: Tokenizer) -> list[Check]:
    """Runs both checks."""
    added = tokenizer.spec.added_tokens
    special = [token for token in added if token.special]
    plain = [token for token in added if not token.special]
    contents = {token.content for token in added}
    return [
        _atomic(tokenizer, "special tokens are atomic", special, contents),
        _only_if_allowed(tokenizer, special),
        _reserved(tokenizer, special),
        _atomic(tokenizer, "added tokens are atomic", plain, contents),
    ]


def _atomic(tokenizer: Tokenizer, name: str, tokens: list[AddedToken], contents: set[str]) -> Check:
    """Encodes each alone, between words, and in front of the next one."""
    if not tokens:
        return Check(name, "not applicable", "there are none")
    lengths = sorted({len(content) for content in contents})
    broken: list[str] = []
    passed_over = 0
    for token, other in zip(tokens, [*tokens[1:], tokens[0]], strict=True):
        gap = " " if token.single_word or other.single_word else ""
        cases = [
            ("", "", [token.id]),
            ("word ", " word", None),
            ("", gap + other.content, None if gap else [token.id, other.id]),
        ]
        for left, right, expected in cases:
            text = left + token.content + right
            # The leftmost and longest of overlapping tokens is found, which may be another one.
            overlaps = _overlaps(text, len(left), len(token.content), contents, lengths)
            if overlaps or (token.normalized and _is_made_again(tokenizer, text, token.content)):
                passed_over += 1
                continue
            try:
                ids = tokenizer.encode(text, special="allow")
            except EncodeError:
                # The vocabulary lacks the words beside it, which says nothing about this token.
                passed_over += 1
                continue
            if not _are(tokenizer, ids, expected) if expected is not None else token.id not in ids:
                broken.append(token.content)
                break
    if broken:
        return Check(name, "fail", f"{len(broken)} of {len(tokens)} are not found as their id: {quoted(broken)}")
    left_out = f"; {passed_over} places where another token overlaps are left out" if passed_over else ""
    return Check(name, "pass", f"{len(tokens)}, alone, between words and beside each other{left_out}")


def _are(tokenizer: Tokenizer, ids: list[int], expected: list[int]) -> bool:
    """Whether these are the ids, but for the space that a normalizer puts in front of every text, or behind it."""
    if ids == expected or not tokenizer.spec.normalizers:
        return ids == expected
    size = len(expected)
    at = next((at for at in range(len(ids) - size + 1) if ids[at : at + size] == expected), None)
    return at is not None and not any(tokenizer.decode(rest).strip() for rest in (ids[:at], ids[at + size :]))


def _is_made_again(tokenizer: Tokenizer, text: str, content: str) -> bool:
    """Whether normalizing makes the content at more places: a space put in front makes a run of spaces longer."""
    normalized = normalize(tokenizer.spec.normalizers, text)

    def places(text: str) -> int:
        return sum(text.startswith(content, at) for at in range(len(text)))

    return places(normalized) > places(text)


def _overlaps(text: str, start: int, length: int, contents: set[str], lengths: list[int]) -> bool:
    """Whether another token overlaps the start or the end of the span."""
    end = start + length
    for first in range(max(0, start - lengths[-1] + 1), end):
        for size in lengths:
            last = first + size
            if last > start and (first < start or last > end) and last <= len(text) and text[first:last] in contents:
                return True
    return False


def _only_if_allowed(tokenizer: Tokenizer, tokens: list[AddedToken]) -> Check:
    name = "special tokens do not come from text"
    if not tokens:
        return Check(name, "not applicable", "there are no special tokens")
    unknown = unknown_id(tokenizer.spec.model)
    broken = []
    for token in tokens:
        for text in (token.content, f"word {token.content} word"):
            try:
                ids = tokenizer.encode(text, special="text", added="text")
            except EncodeError:
                continue
            # Unknown text never produces the token.
            if token.id in ids and token.id != unknown:
                broken.append(token.content)
                break
    if broken:
        return Check(name, "fail", f"{len(broken)} of {len(tokens)} come from text: {quoted(broken)}")
    return Check(name, "pass", f'{len(tokens)}, with special="text"')


def _reserved(tokenizer: Tokenizer, tokens: list[AddedToken]) -> Check:
    name = "reserved literals raise"
    if not tokens:
        return Check(name, "not applicable", "there are no special tokens")
    silent = []
    for token in tokens:
        try:
            tokenizer.encode(token.content)
        except SpecialTokenError:
            continue
        except BytepairError:
            pass
        silent.append(token.content)
    if silent:
        return Check(name, "fail", f"text that spells {quoted(silent)} is encoded by default")
    return Check(name, "pass", f"text that spells one of {len(tokens)} raises unless the call allows it")
