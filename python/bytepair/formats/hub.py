"""Tokenizers of Hugging Face's hub, through ``huggingface_hub``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats import RWKV, loading
from bytepair.formats.announcing import announce

if TYPE_CHECKING:
    import os
    from types import ModuleType

    from bytepair.model.spec import TokenizerSpec

WANTED = (
    *("tokenizer.bytepair", "tokenizer.json", "tekken.json"),
    *("tokenizer.model", "spiece.model", "spm.model", "sentencepiece.bpe.model", "*.spm", "target_vocab.json"),
    *("tiktoken.model", "*.tiktoken", "vocab.json", "merges.txt", "vocab.txt", "manifest.json"),
    RWKV,
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("chat_template.jinja", "chat_template.json", "additional_chat_templates/*.jinja"),
    # It names the kind of model, from which compat.transformers finds the class of a tokenizer.
    "config.json",
)
"""The files that are fetched; a repository has some of them."""

_CONFIG = "tokenizer_config.json"


class Origin(NamedTuple):
    """The origin of a tokenizer of a hub.

    Attributes:
        name: The repository.
        revision: The requested branch, tag or commit.
        commit: The commit that it resolved to.
        folder: The files of this commit, which do not change.
        files: The SHA-256 of each, by name.
    """

    name: str
    revision: str
    commit: str
    folder: Path
    files: dict[str, str]

    def record(self) -> dict[str, Any]:
        """The same for a manifest, without the paths of this machine."""
        return {name: value for name, value in self._asdict().items() if name != "folder"}


def snapshot(
    name: str,
    *,
    revision: str = "main",
    local_files_only: bool = False,
    token: str | bool | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Origin:
    """The files of a repository's tokenizer, from the cache, else fetched into it.

    Args:
        name: The repository, such as ``"org/name"``.
        revision: A branch, a tag or a commit. A branch stays at the commit that was fetched.
        local_files_only: Whether to do without the network; ``HF_HUB_OFFLINE`` does the same.
        token: For a repository that needs one; None for the token stored by ``huggingface_hub``.
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
        if not hub.constants.HF_HUB_OFFLINE:
            announce(f"fetching the tokenizer of {name} at {revision} from {hub.constants.ENDPOINT} into its cache")
        try:
            folder = Path(hub.snapshot_download(name, **options))
        except failures as error:
            if folder is None or not _holds_one(folder):
                remedy = "check the name, the network and the token, or load a folder"
                raise _not_there(name, revision, error, remedy) from error
    present = sorted(path for pattern in WANTED for path in folder.glob(pattern) if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): files.sha256(files.read(path)).hex() for path in present}
    return Origin(name, revision, folder.name, folder, hashes)


def read(origin: Origin, **options: Any) -> TokenizerSpec:
    """Reads the tokenizer of a repository; options and errors as `loading.load`.

    Raises:
        FormatError: Also if there is no tokenizer among the files.
    """
    if not _holds_one(origin.folder):
        raise FormatError(
            f"{origin.name} at {origin.revision} holds no tokenizer in a format that bytepair knows",
            file=str(origin.folder),
            remedy="look for a repository with a tokenizer.json",
        )
    return loading.load(origin.folder, **options)


def _hub() -> ModuleType:
    try:
        import huggingface_hub  # noqa: PLC0415 (an extra)
        import huggingface_hub.constants  # noqa: PLC0415 (an extra)
        import huggingface_hub.errors  # noqa: PLC0415
    except ImportError as error:
        raise ArtifactError(
            "loading from the hub needs the package huggingface_hub", remedy="pip install 'huggingface_hub>=0.26'"
        ) from error
    return huggingface_hub


def _holds_one(folder: Path) -> bool:
    if _names(folder) - {_CONFIG, "manifest.json", "merges.txt"}:
        return True
    from bytepair.formats import fileless  # noqa: PLC0415 (few tokenizers need it)

    return fileless.place_in(folder) is not None


def _is_whole(folder: Path) -> bool:
    # A snapshot holds only the files already fetched.
    return _CONFIG in _names(folder) and _holds_one(folder)


def _names(folder: Path) -> set[str]:
    beside = {"special_tokens_map.json", "added_tokens.json", "chat_template.json", "config.json"}
    found = {path.name for pattern in WANTED for path in folder.glob(pattern) if path.is_file()}
    return {name for name in found - beside if not name.endswith(".jinja")}


def _not_there(name: str, revision: str, error: Exception, remedy: str) -> ArtifactError:
    reason = next((line for line in str(error).splitlines() if line), type(error).__name__)
    return ArtifactError(f"cannot get {name} at {revision}: {reason}", remedy=remedy)
