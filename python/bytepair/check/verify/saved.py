"""Files, content, behaviour and Unicode against the manifest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair._core import UNICODE_VERSION, __version__
from bytepair.check.subject import Subject
from bytepair.check.verify.checklist import Check
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats import manifest, probes

if TYPE_CHECKING:
    from pathlib import Path


def file_hashes(folder: Path, path: Path) -> tuple[dict[str, Any] | None, Check]:
    """The manifest of a folder, and the check that its files exist and match their hashes."""
    name = "file hashes"
    try:
        table = manifest.load(folder)
    except (FormatError, IntegrityError) as error:
        return None, Check.of_error(name, error)
    if table is None:
        return None, Check(name, "not applicable", f"there is no {manifest.NAME}: saving with bytepair writes one")
    wrong = []
    for file, promised in table["files"].items():
        try:
            found = hashlib.sha256(files.read(folder / file)).hexdigest()
        except ArtifactError as error:
            wrong.append(f"{file}: {error.what}")
            continue
        if found != promised:
            wrong.append(f"{file} is not the file that was saved")
    if wrong:
        return table, Check(name, "fail", "; ".join(wrong))
    if path != folder and path.name not in table["files"]:
        return None, Check(name, "not applicable", f"the manifest beside it does not name {path.name}")
    return table, Check(name, "pass", f"{', '.join(table['files'])} and the manifest itself")


def checks(subject: Subject) -> list[Check]:
    """Compares content, behaviour and Unicode with the manifest."""
    names = ("fingerprint", "behaviour", "Unicode version", "chat template hash")
    table = subject.manifest
    if table is None:
        return [Check(name, "not applicable", "there is no manifest to compare with") for name in names]
    return [_fingerprint(subject, table), _behaviour(subject, table), _unicode(table), _template(subject, table)]


def _fingerprint(subject: Subject, table: dict[str, Any]) -> Check:
    name, found = "fingerprint", subject.tokenizer.fingerprint
    if found == table.get("fingerprint"):
        return Check(name, "pass", found)
    return Check(name, "fail", f"it is {found}, and the manifest records {table.get('fingerprint')}{_dropped(table)}")


def _behaviour(subject: Subject, table: dict[str, Any]) -> Check:
    name, recorded = "behaviour", table.get("behaviour")
    if recorded is None:
        return Check(name, "not applicable", "the manifest is of a version that did not record it")
    if not isinstance(recorded, dict) or recorded.get("probes") != probes.VERSION:
        return Check(
            name, "not applicable", f"it was recorded with other probes than those of version {probes.VERSION}"
        )
    found = probes.behaviour(subject.tokenizer)
    if found == recorded.get("sha256"):
        return Check(name, "pass", f"{len(probes.TEXTS)} probes have the ids and the texts that they had: {found}")
    saved_with = table.get("library")
    return Check(
        name,
        "fail",
        f"a probe has other ids, or another text, than when it was saved (with bytepair {saved_with}; this is "
        f"{__version__}){_dropped(table)}",
    )


def _dropped(table: dict[str, Any]) -> str:
    lost = table.get("dropped")
    return (
        f"; {', '.join(map(str, lost))} was dropped and must be passed again" if isinstance(lost, list) and lost else ""
    )


def _unicode(table: dict[str, Any]) -> Check:
    name, recorded = "Unicode version", table.get("unicode")
    if recorded is None:
        return Check(name, "not applicable", "the manifest is of a version that did not record it")
    if recorded == dict(UNICODE_VERSION):
        return Check(name, "pass", ", ".join(f"{what} {version}" for what, version in UNICODE_VERSION.items()))
    then = recorded if isinstance(recorded, dict) else {}
    other = [
        f"{what} {then.get(what)} then, {now} now" for what, now in UNICODE_VERSION.items() if then.get(what) != now
    ]
    return Check(name, "fail", f"{'; '.join(other)}: text with the characters between may have other ids")


def _template(subject: Subject, table: dict[str, Any]) -> Check:
    name, recorded = "chat template hash", table.get("chat_template")
    if subject.folder is None or "chat_template" not in table:
        return Check(name, "not applicable", "the manifest is of a version that did not record it")
    try:
        found = manifest.template_hash(subject.folder)
    except (FormatError, ArtifactError) as error:
        return Check.of_error(name, error)
    if found == recorded:
        return Check(name, "pass" if found else "not applicable", found or "there was none, and there is none")
    if recorded is None:
        return Check(name, "not applicable", "it was added after the tokenizer was saved")
    return Check(name, "fail", "the template is " + ("gone" if found is None else "not the one that was there"))
