"""The chat template of a folder or a GGUF file: against its tokenizer, and what it does to conversations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.check.subject import Subject
from bytepair.check.template import CONTROL, has_jinja, parse_error
from bytepair.check.verify.checklist import Check, quoted
from bytepair.errors import ArtifactError, FormatError, TemplateError
from bytepair.formats import configs, gguf

if TYPE_CHECKING:
    from mmap import mmap

    from bytepair.tokenizer import Tokenizer

_NAME = "chat template fits"
_DOES = "chat template does"
_UNNAMED = "default"
"""The name of a template that has none."""

_VARIABLE = re.compile(r"\b(bos_token|eos_token|pad_token|unk_token)\b")


def checks(subject: Subject) -> list[Check]:
    """Whether the template parses, and its control tokens are added tokens."""
    if subject.folder is None:
        return [Check(_NAME, "not applicable", "only files have a chat template")]
    place = subject.folder
    try:
        mapped = files.mapped(Path(subject.file), gguf.MAGIC) if subject.file else None
        if mapped is None:
            templates, settings = _of_folder(place)
        else:
            place = Path(subject.file)
            with mapped:
                templates, settings = _of_gguf(mapped)
    except (FormatError, ArtifactError) as error:
        return [Check.of_error(_NAME, error)]
    if not templates:
        return [Check(_NAME, "not applicable", "there is no chat template")]
    texts = templates.values()
    wrong = [what for text in texts for what in _wrong(subject.tokenizer, text, settings)]
    if wrong:
        return [Check(_NAME, "fail", "; ".join(dict.fromkeys(wrong)))]
    named = {token for text in texts for token in CONTROL.findall(text)}
    parsed = "parsed" if has_jinja() else "not parsed, for jinja2 is not installed"
    fits = Check(_NAME, "pass", f"{len(named)} control tokens that it spells are added tokens; {parsed}")
    return [fits, _behaviour(place, subject.tokenizer)] if has_jinja() and [*templates] == [_UNNAMED] else [fits]


def _of_folder(folder: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The templates of a folder by name, or by number if it lists them; and its configuration, which names tokens."""
    template, settings = configs.chat_template(folder), configs.table(folder, configs.CONFIG)
    if template is None or isinstance(template, str):
        return {} if template is None else {_UNNAMED: template}, settings
    return {str(number): _text(entry) for number, entry in enumerate(template)}, settings


def _of_gguf(data: mmap) -> tuple[dict[str, str], dict[str, Any]]:
    """The same of a GGUF file."""
    templates, roles = gguf.chat(data)
    return templates, {f"{role}_token": token for role, token in roles.items()}


def _behaviour(place: Path, tokenizer: Tokenizer) -> Check:
    """What the template does to conversations, by `bytepair.chat.check`; only a template that takes none fails."""
    # Few tokenizers have a template.
    from bytepair.chat.checking import check  # noqa: PLC0415
    from bytepair.chat.template import Template  # noqa: PLC0415

    try:
        report = check(Template.read(place), tokenizer)
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
