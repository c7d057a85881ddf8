"""``manifest.json`` beside a saved tokenizer: saved files, their hashes, and features that the format could not hold.

It is sealed: its last value is the SHA-256 of everything before it, which detects a damaged manifest and a file of
another kind. Manifests without a seal, from earlier versions, load if they hold only the keys of those versions.
Unknown keys of a sealed manifest are kept: the seal proves that a later version wrote them, and they weaken no check.
Without a seal they are refused, since a damaged key looks the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair._core import UNICODE_VERSION, __version__
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats import native
from bytepair.model.checks import check_roles
from bytepair.model.split_patterns import split_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias

    from bytepair.model.compiled import CompiledTokenizer
    from bytepair.model.spec import TokenizerSpec

    Side: TypeAlias = Literal["left", "right"]

NAME = "manifest.json"
_KIND = "bytepair tokenizer"
_SEAL = "manifest_sha256"
_HEX_DIGITS = 64
_END = b'"\n}\n'
_UNSEALED = {
    *("kind", "format", "fingerprint", "semantics", "tokens"),
    *("split", "normalizers", "special_tokens", "dropped", "files"),
}
"""The keys of a manifest without a seal."""


class About(NamedTuple):
    """The contents of a manifest that are not in the spec; `roles` and `chat_template` instead of those of the
    tokenizer and of the folder, if given.
    """

    tokenizer: CompiledTokenizer
    padding_sides: tuple[Side, Side]
    origin: str | Mapping[str, Any] | None
    roles: tuple[tuple[str, str], ...] | None = None
    chat_template: str | None = None


def build(
    spec: TokenizerSpec,
    format_name: str,
    contents: Mapping[str, bytes],
    dropped: Sequence[str],
    *,
    folder: Path,
    about: About,
) -> bytes:
    """The manifest of some files of `folder` that hold `spec`, less what was dropped on request.

    Its fingerprint and behaviour are those of the tokenizer when loaded again, with the dropped features passed by the
    caller.

    Raises:
        FormatError: A padding side is neither ``left`` nor ``right``; the origin is not JSON; the
            ``tokenizer_config.json`` of the folder is broken.
    """
    import json  # noqa: PLC0415 (only where there is a manifest)

    from bytepair.formats import probes  # noqa: PLC0415 (as above)

    tokenizer = about.tokenizer
    named = tokenizer.spec.roles if about.roles is None else about.roles
    table = {
        "kind": _KIND,
        "version": 2,
        "library": __version__,
        "format": format_name,
        "files": {name: files.sha256(data).hex() for name, data in contents.items()},
        "fingerprint": native.fingerprint_of(tokenizer) if spec is tokenizer.spec else native.fingerprint(spec),
        "semantics": spec.semantics,
        "model": type(spec.model).__name__,
        "vocab_size": tokenizer.vocab_size,
        "tokens": len({*spec.model.ids, *(token.id for token in spec.added_tokens)}),
        "special_tokens": {},
        "split": [split_name(pattern) or pattern for pattern in spec.split],
        "prefix_space": spec.prefix_space,
        "normalizers": spec.normalizers,
        "pre_tokenizers": spec.pre_tokenizers,
        "decoders": spec.decoders,
        "unicode": dict(UNICODE_VERSION),
        # A format that converts between ranks and merges does so only with a proof that all ids are kept.
        "behaviour": {"probes": probes.VERSION, "sha256": probes.behaviour(tokenizer)},
        "padding_sides": _padding_sides(about.padding_sides),
        "chat_template": (
            template_hash(folder) if about.chat_template is None else _hash_of_template(about.chat_template)
        ),
        "origin": about.origin,
        "dropped": list(dropped),
        **({"roles": dict(named)} if named else {}),
    }
    try:
        text = json.dumps(table, ensure_ascii=False, indent=2, allow_nan=False)
        # There can be very many: `json.dumps` with an indent takes ten times as long. In a text the quotation marks of
        # the key would be escaped.
        before, key, after = text.partition('"special_tokens": {')
        quote = json.encoder.encode_basestring
        rows = ",".join(f"\n    {quote(token)}: {id}" for token, id in spec.special_tokens.items())
        text = before + key + (rows + "\n  " if rows else "") + after
        return seal(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"the origin is not JSON: {error}", remedy="give a string, or a table of strings") from error


def _padding_sides(sides: Sequence[str]) -> dict[str, str]:
    if isinstance(sides, str) or len(sides) != 2 or any(side not in ("left", "right") for side in sides):
        raise FormatError(
            f"padding_sides={sides!r} are not two sides",
            remedy='give those of training and generation: ("right", "left")',
        )
    return dict(zip(("training", "generation"), sides, strict=True))


def seal(text: bytes) -> bytes:
    r"""An indented JSON object whose last value is the hash of everything before it.

    Example:
        >>> sealed = seal(b'{\n  "a": 1\n}')
        >>> sealed[:31], len(sealed)
        (b'{\n  "a": 1,\n  "manifest_sha256"', 102)
    """
    start = text.removesuffix(b"\n}") + f',\n  "{_SEAL}": "'.encode()
    return start + files.sha256(start).hex().encode() + _END


def _is_sealed(data: bytes) -> bool:
    start = data[: -_HEX_DIGITS - len(_END)]
    return data[len(start) :] == files.sha256(start).hex().encode() + _END


def template_hash(folder: Path) -> str | None:
    """The SHA-256 of the folder's chat template, in hexadecimal; None if it has none.

    Raises:
        FormatError: ``tokenizer_config.json`` is broken.
    """
    # Only saving and verifying need these.
    from bytepair.formats import configs  # noqa: PLC0415

    found = configs.chat_template(folder)
    return None if found is None else _hash_of_template(found)


def _hash_of_template(found: str | list[Any]) -> str:
    import json  # noqa: PLC0415 (few folders have one)

    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, sort_keys=True)
    return files.sha256(text.encode("utf-8", "surrogatepass")).hex()


def _json(data: bytes, place: Path, what: str, remedy: str) -> Any:
    import json  # noqa: PLC0415 (as above)

    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}", file=str(place), remedy=remedy) from error


def load(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None if there is none, or it is from another program.

    Raises:
        FormatError: It is no JSON, or names a file that is not of its folder.
        IntegrityError: It was changed after it was written.
    """
    place = folder / NAME
    if files.is_folder(place) or not files.exists(place):
        return None
    return _parse(files.read(place), place)


def _parse(data: bytes, place: Path) -> dict[str, Any] | None:
    table = _json(data, place, "the manifest", "remove the file")
    # Either of the two identifies a manifest of bytepair, so that damage to one is detected.
    if not isinstance(table, dict) or not (table.get("kind") == _KIND or _SEAL in table):
        return None
    for name in table["files"] if isinstance(table.get("files"), dict) else ():
        if not name or name != Path(name).name or not name.isprintable():
            raise FormatError(f"the manifest names {name!r}, which is no file of its folder", file=str(place))
    is_old = table.keys() == _UNSEALED and isinstance(table["files"], dict)
    if not is_old and not (_is_sealed(data) and isinstance(table.get("files"), dict)):
        raise IntegrityError(
            "the manifest is not the one that was saved: its hash differs from the one in it",
            file=str(place),
            remedy=f"save the tokenizer again; if you changed it on purpose, remove {NAME}",
        )
    return table


def roles(table: Mapping[str, Any], folder: Path) -> tuple[tuple[str, str], ...]:
    """The special tokens by role that the manifest of a folder names.

    Raises:
        FormatError: They are not roles and tokens.
    """
    found = table.get("roles", {})
    pairs = tuple(found.items()) if isinstance(found, dict) else (found,)
    try:
        check_roles(pairs)
    except FormatError as error:
        error.file = str(folder / NAME)
        raise
    return pairs


def check_replaceable(folder: Path) -> None:
    """Raises ArtifactError if saving into `folder` would overwrite a ``manifest.json`` of another kind.

    One that is damaged may be replaced.
    """
    try:
        is_foreign = files.exists(folder / NAME) and load(folder) is None
    except IntegrityError:
        return
    if is_foreign:
        raise ArtifactError(
            "a manifest.json of another kind is there", file=str(folder / NAME), remedy="save into a folder of its own"
        )


def verify(path: Path, data: bytes) -> None:
    """Checks a file against the manifest beside it, if it is listed there.

    Raises:
        FormatError: As `load`.
        IntegrityError: As `load`; or the file is not the one that was saved.
    """
    table = load(path.parent)
    promised = table["files"].get(path.name) if table else None
    if promised is not None and promised != files.sha256(data).hex():
        raise _changed(path, "hash")


def verify_fingerprint(path: Path, fingerprint: str) -> None:
    """Checks the fingerprint that a native file states against the manifest beside it, if the file is listed there.

    The hash of all of the file would take longer than everything else: `bytepair verify` compares it.

    Raises:
        FormatError, IntegrityError: As `verify`.
    """
    table = load(path.parent)
    if table and path.name in table["files"] and table.get("fingerprint") != fingerprint:
        raise _changed(path, "fingerprint")


def _changed(path: Path, what: str) -> IntegrityError:
    return IntegrityError(
        f"{path.name} is not the file that was saved: its {what} differs from the one in {NAME}",
        file=str(path),
        remedy=f"save it again; if you changed it on purpose, remove {NAME}",
    )
