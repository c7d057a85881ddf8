"""``manifest.json`` beside a saved tokenizer: what was saved, its hashes, and what the format could not hold."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats import native
from bytepair.patterns import split_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.spec import TokenizerSpec

NAME = "manifest.json"
_KIND = "bytepair tokenizer"


def build(spec: TokenizerSpec, format_name: str, contents: Mapping[str, bytes], dropped: Sequence[str]) -> bytes:
    """The manifest of some files that hold `spec`, less what was dropped on request.

    Its fingerprint is that of the tokenizer as it loads again (with what was dropped said again by the caller).
    """
    import json  # noqa: PLC0415 (only where there is a manifest)

    table = {
        "kind": _KIND,
        "format": format_name,
        "fingerprint": native.fingerprint(spec),
        "semantics": spec.semantics,
        "tokens": len({*spec.model.ids, *(token.id for token in spec.added_tokens)}),
        "split": [split_name(pattern) or pattern for pattern in spec.split],
        "normalizers": spec.normalizers,
        "special_tokens": spec.special_tokens,
        "dropped": list(dropped),
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()},
    }
    return json.dumps(table, ensure_ascii=False, indent=2).encode() + b"\n"


def load(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None if there is none, or it is somebody else's.

    Raises:
        FormatError: It is damaged.
    """
    place = folder / NAME
    if files.is_folder(place) or not files.exists(place):
        return None
    import json  # noqa: PLC0415 (as above)

    try:
        table = json.loads(files.read(place))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the manifest is not JSON: {error}", file=str(place), remedy="remove the file") from error
    if not isinstance(table, dict) or table.get("kind") != _KIND or not isinstance(table.get("files"), dict):
        return None
    for name in table["files"]:
        if not name or name != Path(name).name or not name.isprintable():
            raise FormatError(f"the manifest names {name!r}, which is no file of its folder", file=str(place))
    return table


def check_replaceable(folder: Path) -> None:
    """Raises ArtifactError if saving into `folder` would overwrite a ``manifest.json`` of another kind."""
    if files.exists(folder / NAME) and load(folder) is None:
        raise ArtifactError(
            "a manifest.json of another kind is there", file=str(folder / NAME), remedy="save into a folder of its own"
        )


def verify(path: Path, data: bytes) -> None:
    """Checks a file against the manifest beside it, if that knows it.

    Raises:
        IntegrityError: The file is not the one that was saved.
    """
    table = load(path.parent)
    promised = table["files"].get(path.name) if table else None
    if promised is not None and promised != hashlib.sha256(data).hexdigest():
        raise IntegrityError(
            f"{path.name} is not the file that was saved: its hash differs from the one in {NAME}",
            file=str(path),
            remedy=f"save it again; if you changed it on purpose, remove {NAME}",
        )
