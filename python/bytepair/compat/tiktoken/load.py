"""The functions of ``tiktoken.load``: rank files and the files of GPT-2 as dictionaries from token to rank.

Fetched files are cached in tiktoken's folder, so that both libraries share them.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats.fetching import TIKTOKEN_CACHES, fetch, tiktoken_cached
from bytepair.model.byte_alphabet import BYTES_IN_ALPHABET_ORDER, to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_file(blobpath: str) -> bytes:
    """Read a file or an HTTPS URL.

    Raises:
        OSError: The file cannot be read; ArtifactError if the URL cannot be fetched.
        ValueError: The URL has another scheme, such as ``az://``.
    """
    if "://" not in blobpath:
        try:
            return files.read(Path(blobpath))
        except ArtifactError as error:
            # Code that expects tiktoken catches what `open` raises.
            raise error.__cause__ or error from None
    if not blobpath.startswith(("http://", "https://")):
        raise ValueError(f"{blobpath} is neither a file nor an HTTPS URL; copy it to a file")
    return fetch(blobpath)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether data have a given SHA-256, in hexadecimal.

    Example:
        >>> check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        True
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Read a file or a URL through the cache.

    Args:
        blobpath: A file, or an HTTPS URL.
        expected_hash: The expected SHA-256, in hexadecimal. A cached file with another hash is replaced.

    Raises:
        OSError: The file cannot be read or fetched, or not be written to a cache that the environment names.
        ValueError: The SHA-256 differs.
    """
    kept = tiktoken_cached(blobpath) if "://" in blobpath else None
    if kept is not None and kept.is_file():
        data = files.read(kept)
        if expected_hash is None or check_hash(data, expected_hash):
            return data
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        raise _OtherBytesError(
            f"the SHA-256 is not {expected_hash}", file=blobpath, remedy="fetch it again, or correct expected_hash"
        )
    if kept is not None:
        try:
            files.write_all(kept.parent, {kept.name: data})
        except ArtifactError:
            # The temporary folder is optional.
            if any(name in os.environ for name in TIKTOKEN_CACHES):
                raise
    return data


class _OtherBytesError(IntegrityError, ValueError):
    """An IntegrityError that is a ValueError, as in tiktoken."""


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    r"""Read the ranks of a rank file.

    Args:
        tiktoken_bpe_file: A file, or an HTTPS URL, which is fetched once and cached.
        expected_hash: The expected SHA-256.

    Raises:
        FormatError: A line is not a token in base64, a space and a rank; ``line`` is its number. It is a ValueError.
        OSError: The file cannot be read or fetched.
        ValueError: The SHA-256 differs.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dump_tiktoken_bpe({b"b": 1, b"a": 0}, f"{folder}/x.tiktoken")
        ...     load_tiktoken_bpe(f"{folder}/x.tiktoken")
        {b'a': 0, b'b': 1}
    """
    ranks = {}
    for number, line in enumerate(read_file_cached(tiktoken_bpe_file, expected_hash).splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[binascii.a2b_base64(token)] = int(rank)
        except ValueError as error:
            raise FormatError(
                f"the line {line[:80]!r} is not a token in base64, a space and a rank",
                file=tiktoken_bpe_file,
                line=number,
                remedy="check that the file is a complete rank file",
            ) from error
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a rank file atomically, in the order of ranks.

    Args:
        bpe_ranks: The rank of each token.
        tiktoken_bpe_file: The file, not a URL.

    Raises:
        ArtifactError: The file cannot be written.
        ValueError: The argument is a URL.
    """
    if "://" in tiktoken_bpe_file:
        raise ValueError(f"{tiktoken_bpe_file} is a URL; write a file and upload it")
    path = Path(tiktoken_bpe_file)
    lines = (
        b"%b %d\n" % (binascii.b2a_base64(token, newline=False), rank)
        for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1])
    )
    files.write_all(path.parent, {path.name: b"".join(lines)})


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Read the ranks of GPT-2's two files: first the bytes, then a token for each merge, in order.

    Args:
        vocab_bpe_file: The merges: a line with the version, then one pair on each line.
        encoder_json_file: The ids of the tokens, which must equal the ranks.
        vocab_bpe_hash: The expected SHA-256 of the first file.
        encoder_json_hash: The expected SHA-256 of the second file.
        clobber_one_byte_tokens: Whether tokens of one byte take the ids of the second file.

    Raises:
        AssertionError: The two files contradict each other.
        OSError: A file cannot be read or fetched.
        ValueError: A SHA-256 differs, or a file is malformed.
    """
    ranks = {bytes([byte]): rank for rank, byte in enumerate(BYTES_IN_ALPHABET_ORDER)}
    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    for number, line in enumerate(merges, 2):
        pair = line.split()
        if len(pair) != 2:
            raise FormatError("a merge is two tokens", file=vocab_bpe_file, line=number, remedy=f"the line is {line!r}")
        ranks[_unspell("".join(pair), vocab_bpe_file)] = 256 + number - 2
    table = json.loads(read_file_cached(encoder_json_file, encoder_json_hash))
    ids = {_unspell(token, encoder_json_file): id for token, id in table.items()}
    for special in (b"<|endoftext|>", b"<|startoftext|>"):
        ids.pop(special, None)
    if clobber_one_byte_tokens:
        ranks |= {token: id for token, id in ids.items() if len(token) == 1}
    if ranks != ids:
        other = next(token for token in [*ranks, *ids] if ranks.get(token) != ids.get(token))
        raise AssertionError(
            f"the token {other!r} has rank {ranks.get(other)} in {vocab_bpe_file}, and id {ids.get(other)} in "
            f"{encoder_json_file}: merges would not happen in the order of the ids"
        )
    return ranks


def _unspell(token: str, file: str) -> bytes:
    found = to_bytes(token)
    if found is None:
        raise FormatError(
            f"the token {token!r} has a character that represents no byte", file=file, remedy="use the files of GPT-2"
        )
    return found
