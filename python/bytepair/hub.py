"""The published encodings by name. This is the only file that may use the network.

Sizes, hashes and special tokens are those of ``tiktoken_ext/openai_public.py``.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bytepair import files, formats
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLISHED_AT = "https://openaipublic.blob.core.windows.net/encodings"
"""Where the rank files are published; ``BYTEPAIR_ENCODINGS_URL`` names a mirror."""

_SECONDS = 60
_LARGEST = 64 << 20


class _Encoding(NamedTuple):
    file: str
    sha256: str
    split: str
    special_tokens: Mapping[str, int]


_END = "<|endoftext|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_R50K = ("r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", "gpt2")
_P50K = ("p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", "gpt2")
_CL100K = ("cl100k_base.tiktoken", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", "cl100k")
_O200K = ("o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", "o200k")

_HARMONY_NAMED = {
    "<|startoftext|>": 199998,
    _END: 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    "<|endofprompt|>": 200018,
}
_HARMONY = _HARMONY_NAMED | {
    f"<|reserved_{id}|>": id
    for id in range(200000, 201088)
    # As published, 200018 has a reserved name too; an id is one token here, and that is its proper name.
    if id not in _HARMONY_NAMED.values()
}

ENCODINGS: dict[str, _Encoding] = {
    # GPT-2's own two files give the same tokens and ids as r50k_base.
    "gpt2": _Encoding(*_R50K, {_END: 50256}),
    "r50k_base": _Encoding(*_R50K, {_END: 50256}),
    "p50k_base": _Encoding(*_P50K, {_END: 50256}),
    "p50k_edit": _Encoding(*_P50K, {_END: 50256, **dict(zip(_FIM, range(50281, 50284), strict=True))}),
    "cl100k_base": _Encoding(
        *_CL100K, {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), "<|endofprompt|>": 100276}
    ),
    "o200k_base": _Encoding(*_O200K, {_END: 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": _Encoding(*_O200K, _HARMONY),
}


def get_encoding(name: str, *, folder: str | os.PathLike[str] | None = None) -> Tokenizer:
    """A published encoding: ``gpt2 r50k_base p50k_base p50k_edit cl100k_base o200k_base o200k_harmony``.

    Its rank file is taken from `folder` if that is given, else from the user's cache, else fetched over HTTPS into the
    cache. Whatever its way, its SHA-256 is checked.

    Args:
        name: Which encoding.
        folder: A folder that holds the rank file under its published name; then nothing is fetched. The environment
            variable ``BYTEPAIR_ENCODINGS`` says the same for all calls. The cache is ``BYTEPAIR_CACHE``.

    Raises:
        FormatError: There is no encoding of this name.
        ArtifactError: The file is not there, cannot be fetched or cannot be kept.
        IntegrityError: The file is not the published one.
    """
    encoding = ENCODINGS.get(name)
    if encoding is None:
        raise FormatError(f"there is no encoding {name!r}", remedy=f"use one of {', '.join(ENCODINGS)}")
    folder = folder or os.environ.get("BYTEPAIR_ENCODINGS")
    path = Path(folder or _cache()) / encoding.file
    if folder or path.is_file():
        data = files.read(path)
        _check(data, encoding, str(path))
    else:
        url = f"{os.environ.get('BYTEPAIR_ENCODINGS_URL', PUBLISHED_AT).rstrip('/')}/{encoding.file}"
        data = _fetch(url)
        _check(data, encoding, url)
        files.write_all(path.parent, {path.name: data})
    return Tokenizer._from_loaded(formats.load_ranks(data, encoding.split, encoding.special_tokens))


def _cache() -> Path:
    if named := os.environ.get("BYTEPAIR_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bytepair"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bytepair" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bytepair"


def _fetch(url: str) -> bytes:
    remedy = "check the network, or put the file into a folder and pass get_encoding(name, folder=...)"
    # Only those who fetch wait for this import.
    import http.client  # noqa: PLC0415
    import urllib.error  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise ArtifactError(f"{url} is not an HTTPS address", remedy="use one in BYTEPAIR_ENCODINGS_URL")
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:
            data: bytes = response.read(_LARGEST + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise ArtifactError(f"cannot fetch {url}: {error}", remedy=remedy) from error
    if len(data) > _LARGEST:
        raise ArtifactError(f"{url} is larger than {_LARGEST >> 20} MiB", remedy=remedy)
    return data


def _check(data: bytes, encoding: _Encoding, source: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != encoding.sha256:
        raise IntegrityError(
            f"the file is not the published {encoding.file}: SHA-256 {found[:16]}..., not {encoding.sha256[:16]}...",
            file=source,
            remedy="remove it and fetch it again",
        )
