"""The chat template of a folder against its tokenizer, without running it."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import TYPE_CHECKING, Any

from bytepair.check.verify.report import Check, Subject, quoted
from bytepair.errors import ArtifactError, FormatError, TemplateError
from bytepair.formats import manifest

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

_NAME = "chat template fits"

# In words between bars inside angle brackets, ASCII or full-width, nothing but a control token is spelled.
CONTROL = re.compile(r"<\|[\w/:.▁-]+\|>|<｜[\w/:.▁ -]+｜>")
_VARIABLE = re.compile(r"\b(bos_token|eos_token|pad_token|unk_token)\b")


def checks(subject: Subject) -> list[Check]:
    """Whether the control tokens that it spells are added tokens, and whether it can be parsed."""
    if subject.folder is None:
        return [Check(_NAME, "not applicable", "a chat template stands beside files")]
    try:
        template, settings = manifest.template(subject.folder), manifest.configuration(subject.folder)
    except (FormatError, ArtifactError) as error:
        return [Check.of_error(_NAME, error)]
    if template is None:
        return [Check(_NAME, "not applicable", "there is no chat template")]
    texts = [template] if isinstance(template, str) else [_text(entry) for entry in template]
    wrong = [what for text in texts for what in _wrong(subject.tokenizer, text, settings)]
    if wrong:
        return [Check(_NAME, "fail", "; ".join(dict.fromkeys(wrong)))]
    named = {token for text in texts for token in CONTROL.findall(text)}
    parsed = "parsed" if _has_jinja() else "not parsed, for jinja2 is not installed"
    return [Check(_NAME, "pass", f"{len(named)} control tokens that it spells are added tokens; {parsed}")]


def _text(entry: Any) -> str:
    """The template of an entry of a list of named ones; empty if it has none, which is then said."""
    text = entry.get("template") if isinstance(entry, dict) else None
    return text if isinstance(text, str) else ""


def _wrong(tokenizer: Tokenizer, text: str, settings: dict[str, Any]) -> list[str]:
    if not text:
        return ["a template is empty, or no text"]
    known = {token.content for token in tokenizer.spec.added_tokens}
    wrong = []
    if unknown := sorted(set(CONTROL.findall(text)) - known):
        wrong.append(f"it spells {quoted(unknown)}, which are no added tokens: they would be text")
    for variable in sorted(set(_VARIABLE.findall(text))):
        token = content(settings.get(variable))
        if token and token not in known:
            wrong.append(f"it uses {variable}, which is {token!a} and no added token")
    if error := _unparsable(text):
        wrong.append(f"it cannot be parsed: {error}")
    return wrong


def content(token: Any) -> str | None:
    """The text of a token in ``tokenizer_config.json``, which is a string or a table."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else None


def _has_jinja() -> bool:
    return importlib.util.find_spec("jinja2") is not None


def _unparsable(text: str) -> str:
    if not _has_jinja():
        return ""
    from bytepair.chat.limits import Limits  # noqa: PLC0415 (only a template asks for these)
    from bytepair.chat.sandbox.program import compiled  # noqa: PLC0415 (as above)
    from bytepair.chat.template import Template  # noqa: PLC0415 (as above)

    try:
        compiled(Template(text), Limits())
    except TemplateError as error:
        return json.dumps(str(error), ensure_ascii=True)
    return ""
