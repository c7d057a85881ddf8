"""Findings about the post-processor: the tokens that it adds, against the vocabulary."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.check.lint.findings import Finding, quoted
from bytepair.drawing.wording import plural
from bytepair.model.models import WordPiece

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bytepair.check.subject import Subject

_DEEPEST = 64


def findings(subject: Subject) -> Iterator[Finding]:
    """All findings about the post-processor."""
    table = json.loads(subject.spec.post_processor) if subject.spec.post_processor else None
    spec = subject.spec
    spelled = {
        id: token.decode("utf-8", "replace") for token, id in zip(spec.model.tokens, spec.model.ids, strict=True)
    }
    spelled |= {id: token.content for id, token in subject.added.items()}
    yield from wrong_ids(table, spelled, subject.file)
    yield from _adds_nothing(subject, table)


def wrong_ids(table: Any, spelled: Mapping[int, str], file: str) -> Iterator[Finding]:
    """Ids that a post-processor adds under a name that the vocabulary does not map to them.

    Args:
        table: The post-processor as ``tokenizer.json`` has it, parsed.
        spelled: The tokens of the vocabulary, added ones too.
        file: The file that holds it.
    """
    wrong = [(name, id, pointer) for name, id, pointer in added_by(table, "/post_processor") if spelled.get(id) != name]
    if wrong:
        yield Finding(
            "post-processor-id",
            "error",
            f"the post-processor adds {plural(len(wrong), 'token')} with an id of another token, or of none",
            "Each text gets a wrong token in front of it or behind it, without an error.",
            "give the post-processor the ids that the vocabulary has",
            file=file,
            pointer=wrong[0][2],
            count=len(wrong),
            examples=tuple(f"{quoted(name)} is {id}, which is {_token(spelled, id)}" for name, id, _ in wrong[:5]),
            ids=tuple(id for _, id, _ in wrong[:5]),
        )


def _token(spelled: Mapping[int, str], id: int) -> str:
    return quoted(spelled[id]) if id in spelled else "no token"


def added_by(table: Any, pointer: str, depth: int = 0) -> Iterator[tuple[str, int, str]]:
    """The tokens that a post-processor adds: name, id and JSON pointer. Malformed entries are skipped."""
    if not isinstance(table, dict) or depth > _DEEPEST:
        return
    inner = table.get("processors")
    if isinstance(inner, list):
        for row, each in enumerate(inner):
            yield from added_by(each, f"{pointer}/processors/{row}", depth + 1)
    for key in ("cls", "sep"):
        pair = table.get(key)
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int:
            yield pair[0], pair[1], f"{pointer}/{key}"
    named = table.get("special_tokens")
    for name, entry in named.items() if isinstance(named, dict) else ():
        ids, texts = (entry.get(key) if isinstance(entry, dict) else None for key in ("ids", "tokens"))
        if isinstance(ids, list) and isinstance(texts, list):
            for text, id in zip(texts, ids, strict=False):
                if isinstance(text, str) and type(id) is int:
                    yield text, id, f"{pointer}/special_tokens/{name}"


def _adds_nothing(subject: Subject, table: Any) -> Iterator[Finding]:
    """A BERT-like model without [CLS] and [SEP] around its texts."""
    special = subject.spec.special_tokens
    if not isinstance(subject.spec.model, WordPiece) or not {"[CLS]", "[SEP]"} <= special.keys():
        return
    adds = {name for name, _, _ in added_by(table, "")}
    absent = [name for name in ("[CLS]", "[SEP]") if name not in adds]
    if absent:
        yield Finding(
            "post-processor-lacks-token",
            "warning",
            f"the post-processor does not add {' and '.join(absent)}",
            "BERT-like models are trained on texts between [CLS] and [SEP], and do worse without.",
            "give it a TemplateProcessing with both",
            file=subject.file,
            pointer="/post_processor" if subject.table is not None else "",
            count=len(absent),
            examples=tuple(f"{special[name]} {quoted(name)}" for name in absent),
            ids=tuple(special[name] for name in absent),
        )
