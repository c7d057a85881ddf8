"""Rank files of published encodings: in a folder, in the caches of bytepair and tiktoken, or fetched.

Besides `sources/opening.py`, which reads URLs, only this module and `hub` use the network.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats.announcing import announce
from bytepair.formats.encodings import ENCODINGS, PUBLISHED_AT, PublishedEncoding
from bytepair.formats.loading import read_ranks

if TYPE_CHECKING:
    from bytepair.model.spec import TokenizerSpec

TIKTOKEN_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
"""The environment variables that name tiktoken's cache; the first that is set counts."""

_SECONDS = 60
_LARGEST = 64 << 20


def read_encoding(name: str, *, folder: str | os.PathLike[str] | None = None) -> TokenizerSpec:
    """Reads a published encoding; arguments and errors as `bytepair.get_encoding`."""
    encoding = ENCODINGS.get(name)
    if encoding is None:
        raise FormatError(f"there is no encoding {name!r}", remedy=f"use one of {', '.join(ENCODINGS)}")
    try:
        data = _content(encoding, _named(folder))
    except ArtifactError as error:
        if not folder and _named(folder):
            remedy = "the variable BYTEPAIR_ENCODINGS names this folder: put the file into it, or unset the variable"
            error.remedy, error.cli_remedy = remedy, None
        raise
    return read_ranks(data, encoding.split, encoding.special_tokens)


def is_stored(name: str, *, folder: str | os.PathLike[str] | None = None) -> bool:
    """Whether `read_encoding` finds the rank file on this machine."""
    encoding, named = ENCODINGS[name], _named(folder)
    if (Path(named or cache_folder()) / encoding.file).is_file():
        return True
    return not named and _kept_by_tiktoken(encoding) is not None


def _named(folder: str | os.PathLike[str] | None) -> str | os.PathLike[str] | None:
    return folder or os.environ.get("BYTEPAIR_ENCODINGS")


def _content(encoding: PublishedEncoding, folder: str | os.PathLike[str] | None) -> bytes:
    path = Path(folder or cache_folder()) / encoding.file
    if folder or path.is_file():
        data = files.read(path)
        _check(data, encoding, str(path))
        return data
    if (kept := _kept_by_tiktoken(encoding)) is not None:
        return kept
    url = f"{os.environ.get('BYTEPAIR_ENCODINGS_URL', PUBLISHED_AT).rstrip('/')}/{encoding.file}"
    announce(f"fetching {url} once, into {path.parent}")
    data = fetch(url)
    _check(data, encoding, url)
    # A cache that the environment names for tiktoken serves both.
    if not os.environ.get("BYTEPAIR_CACHE") and any(os.environ.get(name) for name in TIKTOKEN_CACHES):
        path = tiktoken_cached(_address(encoding)) or path
    files.write_all(path.parent, {path.name: data}, is_swept=True)
    return data


def _kept_by_tiktoken(encoding: PublishedEncoding) -> bytes | None:
    """The rank file in tiktoken's cache. A broken or unreadable one is none: the cache belongs to another library."""
    path = tiktoken_cached(_address(encoding))
    try:
        # Anyone may have put anything into a temporary folder.
        data = path.read_bytes() if path is not None and path.is_file() else b""
    except OSError:
        return None
    return data if files.sha256(data).hex() == encoding.sha256 else None


def _address(encoding: PublishedEncoding) -> str:
    return f"{PUBLISHED_AT}/{encoding.file}"


def tiktoken_cache() -> Path | None:
    """The cache of tiktoken: ``TIKTOKEN_CACHE_DIR``, ``DATA_GYM_CACHE_DIR``, or else a temporary folder.

    Returns:
        The folder, which need not exist; None if the variable is empty, which disables the cache.
    """
    named = next((os.environ[name] for name in TIKTOKEN_CACHES if name in os.environ), None)
    if named is None:
        import tempfile  # noqa: PLC0415 (few calls get here)

        return Path(tempfile.gettempdir()) / "data-gym-cache"
    return Path(named) if named else None


def tiktoken_cached(url: str) -> Path | None:
    """The path of a URL's file in tiktoken's cache; None if the cache is disabled."""
    import hashlib  # noqa: PLC0415 (as in `files.sha256`)

    folder = tiktoken_cache()
    # SHA-1 only makes a name; the content is checked by SHA-256.
    return folder and folder / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def cache_folder() -> Path:
    """The folder of fetched encodings: ``BYTEPAIR_CACHE``, or the system's folder for caches."""
    if named := os.environ.get("BYTEPAIR_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bytepair"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bytepair" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bytepair"


def fetch(url: str) -> bytes:
    """The content of an HTTPS address.

    Raises:
        ArtifactError: It is another kind of address, cannot be fetched, or is larger than 64 MiB.
    """
    remedy = (
        "check the network, or put the file into a folder and pass get_encoding(name, folder=...), or name the folder "
        "in BYTEPAIR_ENCODINGS"
    )
    cli_remedy = (
        "check the network, or put the file into a folder and pass --encodings FOLDER, or set BYTEPAIR_ENCODINGS"
    )
    # Few calls fetch.
    import http.client  # noqa: PLC0415
    import urllib.error  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise ArtifactError(f"{url} is not an HTTPS address", remedy="use one in BYTEPAIR_ENCODINGS_URL")
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:
            data: bytes = response.read(_LARGEST + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise ArtifactError(f"cannot fetch {url}: {error}", remedy=remedy, cli_remedy=cli_remedy) from error
    if len(data) > _LARGEST:
        raise ArtifactError(f"{url} is larger than {_LARGEST >> 20} MiB", remedy=remedy, cli_remedy=cli_remedy)
    return data


def _check(data: bytes, encoding: PublishedEncoding, source: str) -> None:
    found = files.sha256(data).hex()
    if found != encoding.sha256:
        raise IntegrityError(
            f"the file is not the published {encoding.file}: SHA-256 {found[:16]}..., not {encoding.sha256[:16]}...",
            file=source,
            remedy="remove it and fetch it again",
        )
