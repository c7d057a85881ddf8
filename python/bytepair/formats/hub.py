"""Published encodings by name, and tokenizers of a hub.

Beside `sources/opening.py`, which reads what URLs name, nothing else uses the network.

Sizes, hashes and special tokens are those of ``tiktoken_ext/openai_public.py``. The hub is that of ``huggingface_hub``,
which alone is asked, and only here.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files, formats
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from bytepair.model.loaded import Loaded

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
    path = Path(folder or cache_folder()) / encoding.file
    if folder or path.is_file():
        data = files.read(path)
        _check(data, encoding, str(path))
    else:
        url = f"{os.environ.get('BYTEPAIR_ENCODINGS_URL', PUBLISHED_AT).rstrip('/')}/{encoding.file}"
        data = _fetch(url)
        _check(data, encoding, url)
        files.write_all(path.parent, {path.name: data})
    return Tokenizer._from_loaded(formats.load_ranks(data, encoding.split, encoding.special_tokens))


def cache_folder() -> Path:
    """Where fetched encodings are kept: ``BYTEPAIR_CACHE``, or the system's place for what can be fetched again."""
    if named := os.environ.get("BYTEPAIR_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bytepair"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bytepair" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bytepair"


def _fetch(url: str) -> bytes:
    remedy = "check the network, or put the file into a folder and pass get_encoding(name, folder=...)"
    cli_remedy = "check the network, or put the file into a folder and pass --encodings FOLDER"
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
        raise ArtifactError(f"cannot fetch {url}: {error}", remedy=remedy, cli_remedy=cli_remedy) from error
    if len(data) > _LARGEST:
        raise ArtifactError(f"{url} is larger than {_LARGEST >> 20} MiB", remedy=remedy, cli_remedy=cli_remedy)
    return data


def _check(data: bytes, encoding: _Encoding, source: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != encoding.sha256:
        raise IntegrityError(
            f"the file is not the published {encoding.file}: SHA-256 {found[:16]}..., not {encoding.sha256[:16]}...",
            file=source,
            remedy="remove it and fetch it again",
        )


WANTED = (
    *(
        "tokenizer.bytepair",
        "tokenizer.json",
        "tekken.json",
        "tokenizer.model",
        "spiece.model",
        "sentencepiece.bpe.model",
    ),
    *("tiktoken.model", "*.tiktoken", "vocab.json", "merges.txt", "vocab.txt", "manifest.json"),
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("chat_template.jinja", "chat_template.json", "additional_chat_templates/*.jinja"),
    # The kind of model, by which the class of a tokenizer is known where nothing else names it.
    "config.json",
)
"""The files that `from_pretrained` asks for; of these a repository has a few."""

_CONFIG = "tokenizer_config.json"


class Origin(NamedTuple):
    """Where a tokenizer of a hub comes from.

    Attributes:
        name: The repository.
        revision: What was asked for: a branch, a tag or a commit.
        commit: The commit that it was.
        folder: The files, which stay as they are for this commit.
        files: The SHA-256 of each, by name.
    """

    name: str
    revision: str
    commit: str
    folder: Path
    files: dict[str, str]


def snapshot(
    name: str,
    *,
    revision: str = "main",
    local_files_only: bool = False,
    token: str | bool | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Origin:
    """The files of a repository's tokenizer, from the cache if they are there, else fetched into it.

    Args:
        name: The repository, such as ``"org/name"``.
        revision: A branch, a tag or a commit. What a branch was when it was fetched is what it is until then.
        local_files_only: Whether the network is never asked.
        token: For a repository that needs one; None for the token that ``huggingface_hub`` knows.
        cache: The folder of the cache; None for that of ``huggingface_hub``.

    Raises:
        ArtifactError: ``huggingface_hub`` is not installed; or the files are not there and cannot be fetched.
    """
    hub = _hub()
    options: dict[str, Any] = {"revision": revision, "token": token, "cache_dir": cache, "allow_patterns": list(WANTED)}
    failures = (OSError, ValueError, hub.errors.HfHubHTTPError)
    folder: Path | None = None
    try:
        folder = Path(hub.snapshot_download(name, local_files_only=True, **options))
    except failures as error:
        if local_files_only:
            raise _not_there(
                name, revision, error, "load it once with the network, or pass local_files_only=False"
            ) from error
    if folder is None or not (local_files_only or _is_whole(folder)):
        try:
            folder = Path(hub.snapshot_download(name, **options))
        except failures as error:
            if folder is None or not _holds_one(folder):
                remedy = "check the name, the network and the token, or download the files and name their folder"
                raise _not_there(name, revision, error, remedy) from error
    present = sorted(path for pattern in WANTED for path in folder.glob(pattern) if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): hashlib.sha256(files.read(path)).hexdigest() for path in present}
    return Origin(name, revision, folder.name, folder, hashes)


def from_pretrained(
    name: str,
    *,
    revision: str = "main",
    local_files_only: bool = False,
    token: str | bool | None = None,
    cache: str | os.PathLike[str] | None = None,
    **options: Any,
) -> tuple[Loaded, Origin]:
    """What `Tokenizer.from_pretrained` compiles; arguments and errors as there."""
    origin = snapshot(name, revision=revision, local_files_only=local_files_only, token=token, cache=cache)
    if not _holds_one(origin.folder):
        raise FormatError(
            f"{name} at {revision} holds no tokenizer that bytepair knows",
            file=str(origin.folder),
            remedy="look for a repository with a tokenizer.json",
        )
    return formats.load(origin.folder, **options), origin


def _hub() -> ModuleType:
    try:
        import huggingface_hub  # noqa: PLC0415 (only who loads from a hub has it)
        import huggingface_hub.errors  # noqa: PLC0415
    except ImportError as error:
        raise ArtifactError(
            "from_pretrained needs the package huggingface_hub", remedy="pip install 'bytepair[hub]'"
        ) from error
    return huggingface_hub


def _holds_one(folder: Path) -> bool:
    return bool(_names(folder) - {_CONFIG, "manifest.json", "merges.txt"})


def _is_whole(folder: Path) -> bool:
    # Who asked for one file has a snapshot of one file.
    return _CONFIG in _names(folder) and _holds_one(folder)


def _names(folder: Path) -> set[str]:
    beside = {"special_tokens_map.json", "added_tokens.json", "chat_template.json", "config.json"}
    found = {path.name for pattern in WANTED for path in folder.glob(pattern) if path.is_file()}
    return {name for name in found - beside if not name.endswith(".jinja")}


def _not_there(name: str, revision: str, error: Exception, remedy: str) -> ArtifactError:
    reason = next((line for line in str(error).splitlines() if line), type(error).__name__)
    return ArtifactError(f"cannot get {name} at {revision}: {reason}", remedy=remedy)
