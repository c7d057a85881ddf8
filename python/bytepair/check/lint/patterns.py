r"""Findings about steps: strings meant as patterns, decoders that leave marks, steps without effect.

``{"String": "\\s+"}`` cuts where the text has a backslash, an s and a plus sign; ``{"Regex": ...}`` was meant. Such a
file loads without a warning in every library, and its text is never split.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bytepair._core import normalize
from bytepair.check.lint.findings import Finding, quoted
from bytepair.errors import BytepairError
from bytepair.formats.hf_common import pointer_to
from bytepair.model.steps import parse_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bytepair.check.subject import Subject

# Classes, groups with options, repeated groups and sets: few plain strings contain these by chance.
_REGEX = re.compile(r"\\[sSdDwWbB]|\\[pP]\{|\(\?[:=!<>imsx-]|\[\^|\[[^\]]{2,}\][+*?{]|\)[+*?{]|\.[+*]|\\[nrtfv][+*?\]]")
_STAGES = ("normalizer", "pre_tokenizer", "decoder")
_SAMPLE = "Hello, world of words"
_MARKS = "Ġ▁Ċ"


def findings(subject: Subject) -> Iterator[Finding]:
    """All findings about steps."""
    if subject.table is not None:
        yield from literal_patterns(subject.table, subject.file)
    else:
        yield from _literal_splits(subject)
    yield from _marks(subject)
    yield from _idle(subject)
    yield from _deletes(subject)


def looks_like_regex(text: str) -> bool:
    r"""Whether a string was probably meant as a regular expression.

    Example:
        >>> looks_like_regex(r"\s+|\d"), looks_like_regex(" "), looks_like_regex("..."), looks_like_regex("[^a]")
        (True, False, False, True)
    """
    return _REGEX.search(text) is not None


def literal_patterns(table: Mapping[str, Any], file: str) -> Iterator[Finding]:
    """Strings that look like regular expressions, in all stages of a ``tokenizer.json``."""
    for stage in _STAGES:
        for text, pointer in _strings(table.get(stage), f"/{stage}", 0):
            if looks_like_regex(text):
                yield _literal(text, stage, file, pointer)


def _strings(value: Any, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    """The patterns that are strings, at any depth."""
    if depth > 32:
        return
    if isinstance(value, list):
        for row, each in enumerate(value):
            yield from _strings(each, f"{pointer}/{row}", depth + 1)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "pattern" and isinstance(each, dict) and isinstance(each.get("String"), str):
                yield each["String"], f"{pointer}/pattern/String"
            elif key == "pattern" and isinstance(each, str):
                yield each, f"{pointer}/pattern"
            else:
                yield from _strings(each, pointer_to(pointer, key), depth + 1)


def _literal_splits(subject: Subject) -> Iterator[Finding]:
    """The same for a tokenizer: the pattern of a string is that string, escaped."""
    for pattern in subject.spec.split:
        text = re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)
        if re.escape(text) == pattern and looks_like_regex(text):
            yield _literal(text, "pre_tokenizer", subject.file, "")
    for stage, steps in zip(
        _STAGES, (subject.spec.normalizers, subject.spec.pre_tokenizers, subject.spec.decoders), strict=True
    ):
        for step in steps:
            for text, _ in _strings(parse_step(step), "", 0):
                if looks_like_regex(text):
                    yield _literal(text, stage, subject.file, "")


def _literal(text: str, stage: str, file: str, pointer: str) -> Finding:
    does = {"pre_tokenizer": "cuts text", "normalizer": "replaces text", "decoder": "replaces text"}[stage]
    return Finding(
        "literal-pattern",
        "error",
        "a regular expression is stored as a String, and is matched letter by letter",
        f"The step {does} only at these literal characters, which text never has: pieces, and with them ids,"
        " are not those intended.",
        'write {"Regex": ...} in place of {"String": ...}',
        file=file,
        pointer=pointer,
        examples=(quoted(text, 80),),
    )


def _marks(subject: Subject) -> Iterator[Finding]:
    """Decoded text with the vocabulary's marks for spaces left in it."""
    try:
        ids = subject.tokenizer.encode(_SAMPLE, special="text", added="text")
        decoded = subject.tokenizer.decode(ids)
    except BytepairError:
        return
    left = [mark for mark in _MARKS if mark in decoded]
    if left:
        yield Finding(
            "decoder-missing",
            "error",
            f"decoded text still has {' and '.join(map(quoted, left))} where the text had spaces",
            "Output of the model is not readable: the decoder that turns tokens into text is missing or the wrong one.",
            "for Ġ set the decoder ByteLevel, for ▁ set Metaspace, as the pre-tokenizer has it",
            file=subject.file,
            pointer="/decoder" if subject.table is not None else "",
            examples=(f"{quoted(_SAMPLE)} comes back as {quoted(decoded, 60)}",),
        )


def _idle(subject: Subject) -> Iterator[Finding]:
    """A Split at a string that the normalizers always remove."""
    steps = subject.spec.normalizers
    for step in subject.spec.pre_tokenizers:
        parsed = parse_step(step)
        pattern = parsed.get("pattern")
        text = pattern.get("String") if parsed["type"] == "Split" and isinstance(pattern, dict) else None
        if not steps or not isinstance(text, str) or len(text) != 1:
            continue
        last = parse_step(steps[-1])
        is_replaced = last["type"] == "Replace" and last.get("pattern") == {"String": text}
        if is_replaced and text not in normalize((steps[-1],), text):
            yield Finding(
                "idle-split",
                "note",
                f"a Split cuts at {quoted(text)}, which the normalizer always removes",
                "This step never cuts. Where it is the only one, all text between two added tokens is one piece.",
                "leave it where a model was trained so",
                file=subject.file,
                pointer="/pre_tokenizer" if subject.table is not None else "",
            )


def _deletes(subject: Subject) -> Iterator[Finding]:
    """A Replace that deletes visible text."""
    for number, step in enumerate(subject.spec.normalizers):
        parsed = parse_step(step)
        pattern = parsed.get("pattern")
        text = next(iter(pattern.values()), "") if isinstance(pattern, dict) else ""
        if parsed["type"] == "Replace" and parsed.get("content") == "" and str(text).strip():
            several = len(subject.spec.normalizers) > 1
            yield Finding(
                "deleting-normalizer",
                "note",
                "a normalizer deletes text",
                "Decoded text lacks it, and offsets skip it.",
                "check that this is intended",
                file=subject.file,
                pointer=("/normalizer" + f"/normalizers/{number}" * several) if subject.table is not None else "",
                examples=(quoted(str(text)),),
            )
