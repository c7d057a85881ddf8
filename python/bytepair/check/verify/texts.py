"""Round trips, fertility and offsets, on the probes."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from bytepair.check.verify.checklist import Check
from bytepair.errors import EncodeError
from bytepair.formats import probes
from bytepair.model.token_spelling import unknown_id

if TYPE_CHECKING:
    from bytepair.model.spec import NormalForm
    from bytepair.tokenizer import Tokenizer

_NO_SPACES = ("Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Kana and Han", "Han")
"""Scripts without spaces between words."""


def checks(tokenizer: Tokenizer) -> list[Check]:
    """Checks round trips and fertility."""
    lossy, unknown = loses(tokenizer), unknown_id(tokenizer.spec.model)
    trips = [
        _round_trip(tokenizer, f"round trip: {name}", group, lossy, unknown) for name, group in probes.GROUPS.items()
    ]
    fertilities = [_fertility(tokenizer, script, text, unknown) for script, text in probes.SENTENCES.items()]
    return [*trips, *fertilities]


def loses(tokenizer: Tokenizer) -> str:
    """The stages that may change decoded text; empty if none does."""
    spec = tokenizer.spec
    taking = [token.content for token in spec.added_tokens if not token.special and (token.lstrip or token.rstrip)]
    reasons = {
        "normalizers": bool(spec.normalizers),
        "prefix_space": spec.prefix_space,
        "a model whose tokens are not bytes": not spec.is_byte_level,
        f"the added token {taking[0]!r}, which takes white space" if taking else "": bool(taking),
    }
    return ", ".join(reason for reason, holds in reasons.items() if holds)


def _round_trip(tokenizer: Tokenizer, name: str, texts: tuple[str, ...], lossy: str, unknown: int | None) -> Check:
    changed, lost, shorter = 0, 0, 0
    for text in texts:
        try:
            ids = tokenizer.encode(text, special="text")
            back = tokenizer.decode(ids)
        except EncodeError as error:
            return Check(name, "not applicable", f"the vocabulary does not have what a text needs: {error.what}")
        if back == text:
            continue
        if not lossy:
            return Check(name, "fail", f"{text!a} comes back as {back!a}")
        if unknown in ids:
            # The name of the unknown token is no text, and words next to it may be split differently.
            lost += 1
            continue
        changed += 1
        again = tokenizer.decode(tokenizer.encode(back, special="text"))
        if again != back and again.lstrip(" ") == back.lstrip(" "):
            # Decoding strips a space that encoding did not add: so the file has it, and so does its library.
            shorter += 1
        elif again != back:
            return Check(name, "fail", f"{text!a} comes back as {back!a}, and that as {again!a}")
    if not changed and not lost:
        return Check(name, "pass", f"{len(texts)} texts come back")
    stable = f"{changed} of {len(texts)} texts come back changed, and then stay as they are" if changed else ""
    if shorter:
        stable = (
            f"{changed} of {len(texts)} texts come back changed, {shorter} of them with fewer leading spaces each time"
        )
    gone = f"{lost} of {len(texts)} hold what is unknown to the vocabulary" if lost else ""
    return Check(name, "not applicable", f"{'; '.join(filter(None, (stable, gone)))}; by {lossy}")


def _fertility(tokenizer: Tokenizer, script: str, text: str, unknown: int | None) -> Check:
    name = f"fertility: {script}"
    try:
        ids = tokenizer.encode(text, special="text")
    except EncodeError as error:
        return Check(name, "not applicable", f"the vocabulary does not have what the text needs: {error.what}")
    size, bytes_ = len(ids), len(text.encode())
    words = "" if script in _NO_SPACES else f"{size / len(text.split()):.2f} tokens a word, "
    lost = sum(id == unknown for id in ids)
    seen = f", {lost} of {size} unknown" if lost else ""
    detail = f"{words}{size / len(text):.2f} a character, {size / bytes_:.2f} a byte{seen}"
    # A normal form may have more bytes than the text; a prefix space adds one more.
    forms: tuple[NormalForm, ...] = ("NFC", "NFD", "NFKC", "NFKD") if tokenizer.spec.normalizers else ()
    most = max([bytes_, *(len(unicodedata.normalize(form, text).encode()) for form in forms)]) + 1
    is_bounded = size <= most
    return Check(name, "pass" if is_bounded else "fail", detail if is_bounded else f"{detail}: more tokens than bytes")


def offsets_check(tokenizer: Tokenizer) -> Check:
    """Whether offsets are ordered, inside the text, and cover all of it if no text is lost."""
    name, lossy = "offsets", loses(tokenizer)
    # Some builds of the core have no offsets.
    offsets: Any = getattr(tokenizer, "offsets", None)
    if offsets is None:
        return Check(name, "not applicable", "this version of bytepair gives no offsets")
    for text in probes.TEXTS:
        try:
            ids, places = tokenizer.encode(text, special="text"), offsets(text, special="text")
        except EncodeError:
            continue
        if wrong := _wrong_places(len(text), len(ids), places, covers=not lossy):
            return Check(name, "fail", f"of {text!a} {wrong}")
    what = "in order and in the text" + ("" if lossy else ", all of which they cover")
    return Check(name, "pass", f"on {len(probes.TEXTS)} probes {what}")


def _wrong_places(length: int, ids: int, places: list[tuple[int, int]], *, covers: bool) -> str:
    if len(places) != ids:
        return f"there are {len(places)} offsets for {ids} ids"
    before = (0, 0)
    for start, end in places:
        if not 0 <= start <= end <= length:
            return f"{(start, end)} is not in the text"
        if start < before[0] or end < before[1]:
            return f"{(start, end)} comes behind {before}"
        if covers and start > before[1]:
            return f"no id covers {(before[1], start)}"
        before = (start, end)
    return f"no id covers {(before[1], length)}" if covers and before[1] != length else ""
