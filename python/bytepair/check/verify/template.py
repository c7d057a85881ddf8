"""The chat template of a folder: against its tokenizer, and what it does to conversations."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from bytepair.check.subject import Subject
from bytepair.check.template import CONTROL, has_jinja, parse_error
from bytepair.check.verify.checklist import Check, quoted
from bytepair.errors import ArtifactError, FormatError, TemplateError
from bytepair.formats import configs

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

_NAME = "chat template fits"
_DOES = "chat template does"

_VARIABLE = re.compile(r"\b(bos_token|eos_token|pad_token|unk_token)\b")


def checks(subject: Subject) -> list[Check]:
    """Whether the template parses, and its control tokens are added tokens."""
    if subject.folder is None:
        return [Check(_NAME, "not applicable", "only a folder has a chat template")]
    try:
        template, settings = configs.chat_template(subject.folder), configs.table(subject.folder, configs.CONFIG)
    except (FormatError, ArtifactError) as error:
        return [Check.of_error(_NAME, error)]
    if template is None:
        return [Check(_NAME, "not applicable", "there is no chat template")]
    texts = [template] if isinstance(template, str) else [_text(entry) for entry in template]
    wrong = [what for text in texts for what in _wrong(subject.tokenizer, text, settings)]
    if wrong:
        return [Check(_NAME, "fail", "; ".join(dict.fromkeys(wrong)))]
    named = {token for text in texts for token in CONTROL.findall(text)}
    parsed = "parsed" if has_jinja() else "not parsed, for jinja2 is not installed"
    fits = Check(_NAME, "pass", f"{len(named)} control tokens that it spells are added tokens; {parsed}")
    return [fits, _behaviour(subject)] if has_jinja() and isinstance(template, str) else [fits]


def _behaviour(subject: Subject) -> Check:
    """What the template does to conversations, by `bytepair.chat.check`; only a template that takes none fails."""
    # Few tokenizers have a template.
    from bytepair.chat.checking import check  # noqa: PLC0415
    from bytepair.chat.template import Template  # noqa: PLC0415

    assert subject.folder is not None
    try:
        report = check(Template.read(subject.folder), subject.tokenizer)
    except TemplateError as error:
        return Check.of_error(_DOES, error)
    missing = [finding.name for finding in report.findings if finding.holds is False]
    return Check(_DOES, "pass", f"not: {', '.join(missing)}" if missing else "all of bytepair.chat.check")


def _text(entry: Any) -> str:
    """The template in an entry of a list of named ones; empty if it has none, which fails the check."""
    text = entry.get("template") if isinstance(entry, dict) else None
    return text if isinstance(text, str) else ""


def _wrong(tokenizer: Tokenizer, text: str, settings: dict[str, Any]) -> list[str]:
    if not text:
        return ["a template is empty, or no text"]
    known = {token.content for token in tokenizer.spec.added_tokens}
    wrong = []
    if unknown := sorted(set(CONTROL.findall(text)) - known):
        wrong.append(f"it spells {quoted(unknown)}, which are not added tokens: they would be text")
    for variable in sorted(set(_VARIABLE.findall(text))):
        token = configs.token_content(settings, variable)
        if token and token not in known:
            wrong.append(f"it uses {variable}, which is {token!a} and no added token")
    if error := parse_error(text):
        wrong.append(f"it cannot be parsed: {json.dumps(error)}")
    return wrong
