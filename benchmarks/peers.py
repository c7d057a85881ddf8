"""The libraries that bytepair is compared with, each behind the same few calls.

To add one, write a loader (import the library inside, fill in what it has of `Peer`) and add it to `LOADERS` under the
name of its module.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Mapping


class UnavailableError(Exception):
    """Why a peer takes no part: it is not installed, or has no file that it could load."""


@dataclass(frozen=True)
class Vocabulary:
    """One vocabulary in the files that peers read.

    Attributes:
        split: The split pattern.
        special_tokens: The special tokens and their ids.
        ranks: A ``.tiktoken`` file; None if the vocabulary cannot be one.
        json: A ``tokenizer.json``; None if the vocabulary cannot be one.
    """

    split: str
    special_tokens: Mapping[str, int]
    ranks: Path | None
    json: Path | None


@dataclass(frozen=True)
class Peer:
    """What a library can do, each call with its fastest public way; a call that it does not have is None."""

    encode: Callable[[str], Any]
    encode_array: Callable[[str], Any] | None = None
    count: Callable[[str], int] | None = None
    encode_batch: Callable[[list[str]], Any] | None = None
    encode_batch_array: Callable[[list[str]], Any] | None = None
    decode: Callable[[Sequence[int]], str] | None = None


Loader: TypeAlias = Callable[[Vocabulary], Peer]


def write(tok: bp.Tokenizer, folder: Path) -> Vocabulary:
    """Saves a tokenizer in every file that can hold it."""

    def saved(path: Path, **options: Any) -> Path | None:
        try:
            return tok.save(path, **options)[0]
        except bp.FormatError:
            return None

    split = tok.spec.split[0] if tok.spec.split else ""
    ranks = saved(folder / "ranks", format="tiktoken", drop=("split", "special_tokens", "added_tokens"))
    return Vocabulary(split, tok.special_tokens, ranks, saved(folder / "json", format="tokenizer.json"))


def _file(path: Path | None) -> Path:
    if path is None:
        raise UnavailableError("it has no file of a kind that can hold this vocabulary")
    return path


def _bytepair(vocabulary: Vocabulary) -> Peer:
    if vocabulary.ranks is None:
        tok = bp.Tokenizer.from_file(_file(vocabulary.json))
    else:
        split, special_tokens = vocabulary.split, vocabulary.special_tokens
        tok = bp.Tokenizer.from_tiktoken(vocabulary.ranks, split=split, special_tokens=special_tokens)
    return Peer(
        encode=lambda text: tok.encode(text, special="text"),
        encode_array=lambda text: tok.encode_array(text, special="text"),
        count=lambda text: tok.count(text, special="text"),
        encode_batch=lambda texts: tok.encode_batch(texts, special="text"),
        encode_batch_array=lambda texts: tok.encode_batch_array(texts, special="text", threads=1).ids,
        decode=tok.decode,
    )


def _tiktoken(vocabulary: Vocabulary) -> Peer:
    import numpy as np
    import tiktoken

    # As tiktoken.load does it, but for its copy of the file in a cache folder.
    lines = (line.split() for line in _file(vocabulary.ranks).read_bytes().splitlines())
    encoding = tiktoken.Encoding(
        name="peer",
        pat_str=vocabulary.split or r"[\s\S]+",
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens=dict(vocabulary.special_tokens),
    )

    def encode_array(text: str) -> Any:
        return encoding.encode_to_numpy(text, disallowed_special=())

    return Peer(
        encode=encoding.encode_ordinary,
        encode_array=encode_array,
        count=lambda text: len(encoding.encode_ordinary(text)),
        encode_batch=encoding.encode_ordinary_batch,
        encode_batch_array=lambda texts: np.concatenate([encode_array(text) for text in texts]),
        decode=encoding.decode,
    )


def _tokenizers(vocabulary: Vocabulary) -> Peer:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(_file(vocabulary.json)))

    def encode(text: str) -> list[int]:
        ids: list[int] = tok.encode(text, add_special_tokens=False).ids
        return ids

    return Peer(
        encode=encode,
        count=lambda text: len(tok.encode(text, add_special_tokens=False)),
        encode_batch=lambda texts: [row.ids for row in tok.encode_batch_fast(texts, add_special_tokens=False)],
        decode=lambda ids: tok.decode(ids, skip_special_tokens=False),
    )


LOADERS: dict[str, Loader] = {"bytepair": _bytepair, "tiktoken": _tiktoken, "tokenizers": _tokenizers}


def load(name: str, vocabulary: Vocabulary) -> Peer:
    """Loads a vocabulary into a library.

    Raises:
        UnavailableError: The library is not installed, or cannot hold the vocabulary.
    """
    try:
        return LOADERS[name](vocabulary)
    except ImportError as error:
        raise UnavailableError(f"it is not installed ({error})") from error


def load_all(vocabulary: Vocabulary, tell: Callable[[str], None]) -> dict[str, Peer]:
    """Loads a vocabulary into every library that can hold it; `tell` gets a line for each that cannot."""

    def attempt(name: str) -> Peer | None:
        try:
            return load(name, vocabulary)
        except UnavailableError as error:
            tell(f"{name} takes no part: {error}")
            return None

    return {name: peer for name in LOADERS if (peer := attempt(name))}
