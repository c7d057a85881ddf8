"""Findings about the other files in the folder of a tokenizer: tokenizer_config.json and the chat template."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.check.lint.findings import Finding, of_error, quoted, some
from bytepair.check.lint.post import added_by
from bytepair.check.template import CONTROL, parse_error
from bytepair.drawing.wording import counted, plural
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats import configs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bytepair.check.subject import Subject

_SHORTEST = 16
_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


def findings(subject: Subject) -> Iterator[Finding]:
    """All findings about the folder; none for a single file."""
    if subject.folder is None:
        return
    try:
        settings = configs.read(subject.folder)
        table = configs.table(subject.folder, configs.CONFIG)
    except (FormatError, ArtifactError) as error:
        yield broken_settings(error, subject.folder)
        return
    file = str(subject.folder / configs.CONFIG)
    yield from _unknown_tokens(subject, settings, file)
    yield from _flags(subject, table, file)
    yield from _not_listed(subject, table, file)
    yield from _not_added(subject, settings, file)
    yield from _length(settings, file)
    for name, text in settings.chat_template:
        yield from _template(subject, settings, name, text)


def broken_settings(error: Exception, folder: Path) -> Finding:
    """The finding for unreadable files beside a tokenizer."""
    said = of_error(error)
    return Finding(
        "settings-broken",
        "error",
        said["what"],
        "The folder does not load: its special tokens and its chat template are unknown.",
        said["remedy"],
        file=said["file"] or str(folder / configs.CONFIG),
        pointer=said["pointer"],
    )


def _known(subject: Subject) -> set[str]:
    tokens = {token.content for token in subject.spec.added_tokens}
    return tokens | {token.decode("utf-8", "replace") for token in subject.spec.model.tokens}


def _unknown_tokens(subject: Subject, settings: configs.Settings, file: str) -> Iterator[Finding]:
    known = _known(subject)
    unknown = [(f"{role}_token", token) for role, token in settings.roles.items() if token not in known]
    unknown += [("additional_special_tokens", t) for t in settings.additional_special_tokens if t and t not in known]
    if unknown:
        yield Finding(
            "settings-token-unknown",
            "error",
            f"the settings name {plural(len(unknown), 'special token')} that the vocabulary does not have",
            "It has no id, so it cannot begin, end or pad texts. Some libraries then give it a new id,"
            " for which the embedding has no row.",
            "add the token to the tokenizer, with the id that the model was trained with, or correct the settings",
            file=file,
            pointer=f"/{unknown[0][0]}",
            **some(f"{key} {quoted(token)}" for key, token in unknown),
        )


def _flags(subject: Subject, table: dict[str, Any], file: str) -> Iterator[Finding]:
    decoder = table.get("added_tokens_decoder")
    # The tokenizer of a folder has some flags of the settings already.
    own = {row["id"]: row for row in (subject.table or {}).get("added_tokens", ())}
    own = own or {token.id: token._asdict() for token in subject.spec.added_tokens}
    differ = []
    for key, row in decoder.items() if isinstance(decoder, dict) else ():
        token = own.get(int(key)) if key.isdecimal() else None
        if token is None or not isinstance(row, dict) or row.get("content") != token["content"]:
            continue
        # A token named in the settings is special whatever its row says, in transformers as well as here.
        other = [flag for flag in _FLAGS[1:] if row.get(flag, False) != token[flag]]
        if row.get("special", False) and not token["special"]:
            other.append("special")
        differ += [(int(key), token["content"], flag) for flag in other]
    if differ:
        yield Finding(
            "settings-flag-differs",
            "warning",
            f"{counted(len(differ), 'flag', 'differs', 'differ')} between the settings and the tokenizer",
            "Libraries that read the settings match these tokens differently from those that read the file.",
            "decide which is right, and write it into both",
            file=file,
            pointer=f"/added_tokens_decoder/{differ[0][0]}/{differ[0][2]}",
            count=len(differ),
            examples=tuple(f"{id} {quoted(content)}: {flag}" for id, content, flag in differ[:5]),
            ids=tuple(id for id, _, _ in differ[:5]),
        )


def _not_listed(subject: Subject, table: dict[str, Any], file: str) -> Iterator[Finding]:
    decoder = table.get("added_tokens_decoder")
    if not isinstance(decoder, dict) or not decoder:
        return
    absent = [token for token in subject.spec.added_tokens if token.special and str(token.id) not in decoder]
    if absent:
        yield Finding(
            "settings-lack-token",
            "note",
            f"added_tokens_decoder lacks {plural(len(absent), 'special token')} of the tokenizer",
            "Libraries that build the tokenizer from the settings alone lack these tokens.",
            "list them there too",
            file=file,
            pointer="/added_tokens_decoder",
            count=len(absent),
            examples=tuple(f"{token.id} {quoted(token.content)}" for token in absent[:5]),
            ids=tuple(token.id for token in absent[:5]),
        )


def _not_added(subject: Subject, settings: configs.Settings, file: str) -> Iterator[Finding]:
    post = json.loads(subject.spec.post_processor) if subject.spec.post_processor else None
    adds = {name for name, _, _ in added_by(post, "")}
    for role in ("bos", "eos"):
        token = getattr(settings, f"{role}_token")
        if getattr(settings, f"add_{role}_token") and token is not None and token not in adds:
            yield Finding(
                "post-processor-lacks-token",
                "warning",
                f"add_{role}_token is on, and the post-processor does not add {quoted(token)}",
                "The settings and the tokenizer disagree: ids depend on which of them a library follows.",
                f"put {role} into the post-processor, or switch add_{role}_token off",
                file=file,
                pointer=f"/add_{role}_token",
                examples=(quoted(token),),
            )


def _length(settings: configs.Settings, file: str) -> Iterator[Finding]:
    length = settings.model_max_length
    if length is not None and length < _SHORTEST:
        yield Finding(
            "length-nonsense",
            "warning",
            f"model_max_length is {length}",
            "Truncation to this length leaves nothing.",
            "write the most ids that the model takes, or remove the setting",
            file=file,
            pointer="/model_max_length",
            examples=(str(length),),
        )


def _template(subject: Subject, settings: configs.Settings, name: str, text: str) -> Iterator[Finding]:
    folder = subject.folder
    assert folder is not None
    place = folder / configs.TEMPLATE
    file = str(place if place.is_file() else folder / configs.CONFIG)
    called = "the chat template" + (f" {quoted(name)}" if name != "default" else "")
    if error := parse_error(text):
        yield Finding(
            "template-broken",
            "error",
            f"{called} cannot be parsed: {error}",
            "No chat can be rendered.",
            "correct it; chat.Template(text).render(messages) reports the fault",
            file=file,
        )
    known = {token.content for token in subject.spec.added_tokens}
    unknown = sorted(set(CONTROL.findall(text)) - known)
    if unknown:
        yield Finding(
            "template-token-unknown",
            "error",
            f"{called} writes {plural(len(unknown), 'control token')} that the tokenizer does not have",
            "It becomes several tokens of ordinary text, which the model was hardly trained on.",
            "add it to the tokenizer with the id that the model knows, or take the template that belongs to it",
            file=file,
            **some(map(quoted, unknown)),
        )
    eos = settings.eos_token
    if name == "default" and eos is not None and eos not in text and "eos_token" not in text:
        yield Finding(
            "template-without-eos",
            "note",
            f"{called} never writes eos_token, which is {quoted(eos)}",
            "A model that was trained on these chats ends its turns with something else, and generation that waits for"
            " eos_token alone does not stop.",
            "set eos_token to the token that ends a turn, or let generation stop at that token as well",
            file=file,
            examples=(quoted(eos),),
        )
