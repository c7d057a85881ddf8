"""Rank files and the files of GPT-2 as dictionaries from token to rank, as ``tiktoken.load`` has them.

What is fetched is kept where tiktoken keeps it, so that either finds what the other fetched.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, IntegrityError
from bytepair.formats import encodings
from bytepair.model.byte_alphabet import BYTES_IN_ALPHABET_ORDER, to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def cache_folder() -> Path | None:
    """Where fetched files are kept: ``TIKTOKEN_CACHE_DIR``, ``DATA_GYM_CACHE_DIR``, else a temporary folder.

    Returns:
        The folder, which need not exist; None if the variable is empty, which means that nothing is kept.
    """
    named = next((os.environ[name] for name in _CACHES if name in os.environ), None)
    if named is None:
        return Path(tempfile.gettempdir()) / "data-gym-cache"
    return Path(named) if named else None


def cached(blobpath: str) -> Path | None:
    """Where the file of an address is kept once it was fetched; None if nothing is kept."""
    folder = cache_folder()
    # A name, not a promise: what is found there is checked by SHA-256.
    return folder and folder / hashlib.sha1(blobpath.encode(), usedforsecurity=False).hexdigest()


def read_file(blobpath: str) -> bytes:
    """The bytes of a file, or of an HTTPS address.

    Raises:
        OSError: It cannot be read; ArtifactError if it cannot be fetched.
        ValueError: It is an address of another kind, such as ``az://``.
    """
    if "://" not in blobpath:
        return Path(blobpath).read_bytes()
    if not blobpath.startswith(("http://", "https://")):
        raise ValueError(f"{blobpath} is neither a file nor an HTTPS address; copy it to one and name that")
    return encodings.fetch(blobpath)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether these bytes have this SHA-256, in hexadecimal.

    Example:
        >>> check_hash(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        True
    """
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """The bytes of a file or an address, from the cache if they are there, else read and kept in it.

    Args:
        blobpath: A file, or an HTTPS address.
        expected_hash: The SHA-256 that it must have, in hexadecimal. What is cached with another one is replaced.

    Raises:
        OSError: It cannot be read or fetched, or not be kept in a cache that the environment names.
        ValueError: Its SHA-256 is another one.
    """
    kept = cached(blobpath) if "://" in blobpath else None
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
            # Nobody asked for the temporary folder.
            if any(name in os.environ for name in _CACHES):
                raise
    return data


class _OtherBytesError(IntegrityError, ValueError):
    """An IntegrityError for those who expect the ValueError of tiktoken."""


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    r"""The ranks of a rank file.

    Args:
        tiktoken_bpe_file: A file, or an HTTPS address, which is fetched once and then cached.
        expected_hash: The SHA-256 that it must have.

    Raises:
        FormatError: A line is not a token in base64, a space and a rank; ``line`` names it. It is a ValueError.
        OSError: The file cannot be read or fetched.
        ValueError: Its SHA-256 is another one.

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
                remedy="see that the file is a rank file and whole",
            ) from error
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Writes a rank file, by rank, whole or not at all.

    Args:
        bpe_ranks: The rank of each token.
        tiktoken_bpe_file: The file. An address is refused: what cannot be written is not taken.

    Raises:
        ArtifactError: It cannot be written.
        ValueError: It is an address.
    """
    if "://" in tiktoken_bpe_file:
        raise ValueError(f"{tiktoken_bpe_file} is an address; write a file and copy it there")
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
    """The ranks of a vocabulary in the two files of GPT-2: the bytes, then a token for each merge, in order.

    Args:
        vocab_bpe_file: The merges: a line for the version, then a pair a line.
        encoder_json_file: The ids of the tokens, which must be those ranks.
        vocab_bpe_hash: The SHA-256 that the first must have.
        encoder_json_hash: The SHA-256 that the second must have.
        clobber_one_byte_tokens: Whether tokens of one byte have the ids of the second file.

    Raises:
        AssertionError: The two files do not say the same.
        OSError: One cannot be read or fetched.
        ValueError: A SHA-256 is another one, or a file is not what it should be.
    """
    ranks = {bytes([byte]): rank for rank, byte in enumerate(BYTES_IN_ALPHABET_ORDER)}
    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    for number, line in enumerate(merges, 2):
        pair = line.split()
        if len(pair) != 2:
            raise FormatError("a merge is two tokens", file=vocab_bpe_file, line=number, remedy=f"there is {line!r}")
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
            f"the token {token!r} has a character that stands for no byte", file=file, remedy="see that it is GPT-2's"
        )
    return found
