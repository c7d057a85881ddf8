"""The corpora of the shard benchmarks: documents cut from real text, in three kinds of files, and their ids."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    import bytepair as bp

DELIMITER = EOS = "<|endoftext|>"
FILES = 4
ROW_GROUP = 32 << 20


@dataclass(frozen=True)
class Corpus:
    """Documents, in order.

    Attributes:
        name: A description.
        distinct: The distinct documents, as UTF-8.
        order: Their sequence; each occurs equally often, in a new order each time.
    """

    name: str
    distinct: Sequence[bytes]
    order: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The bytes of all documents."""
        sizes = np.array([len(document) for document in self.distinct], np.int64)
        return int(sizes[self.order].sum())

    def write(self, folder: Path) -> dict[str, list[Path]]:
        """Write the documents as plain text with a delimiter, as JSON lines and as Parquet, in a few files each."""
        written: dict[str, list[Path]] = {"text": [], "jsonl": [], "parquet": []}
        for part, numbers in enumerate(np.array_split(self.order, FILES)):
            documents = [self.distinct[number] for number in numbers]
            path = folder / f"{self.name}-{part}.txt"
            path.write_bytes(b"".join(document + DELIMITER.encode() for document in documents))
            written["text"].append(path)
            written["jsonl"].append(_jsonl(folder / f"{self.name}-{part}.jsonl", documents))
            written["parquet"].append(_parquet(folder / f"{self.name}-{part}.parquet", documents))
        return written

    def expected(self, tok: bp.Tokenizer) -> Ids:
        """The expected ids of each document, encoded alone, followed by the end-of-text token."""
        end = tok.token_id(EOS)
        rows = [np.array([*tok.encode(document.decode()), end], np.uint32) for document in self.distinct]
        lengths = np.array([len(row) for row in rows], np.int64)[self.order]
        return Ids(np.concatenate([rows[number] for number in self.order]), np.concatenate([[0], np.cumsum(lengths)]))


@dataclass(frozen=True)
class Ids:
    """Documents as ids: flat, and the start of each, with the end of the last."""

    flat: NDArray[np.uint32]
    offsets: NDArray[np.int64]


def _jsonl(path: Path, documents: Sequence[bytes]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps({"text": document.decode()}, ensure_ascii=False) + "\n")
    return path


def _parquet(path: Path, documents: Sequence[bytes]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for group in _groups(documents):
            writer.write_table(pa.table([pa.array(group, pa.binary()).cast(pa.string())], schema=schema))
    return path


def _groups(documents: Sequence[bytes]) -> list[list[bytes]]:
    groups: list[list[bytes]] = [[]]
    filled = 0
    for document in documents:
        if filled >= ROW_GROUP:
            groups.append([])
            filled = 0
        groups[-1].append(document)
        filled += len(document)
    return groups


def cut(text: bytes, size: int) -> list[bytes]:
    r"""Cut a text into documents of half to one and a half times a size, each after white space.

    Args:
        text: UTF-8; end-of-text tokens are removed.
        size: Bytes.

    Example:
        >>> cut(b"low lower lowest\nnew\n" * 3, 20)
        [b'low lower lowest\n', b'new\nlow lower lowest\n', b'new\nlow lower lowest\nnew\n']
    """
    text = text.replace(b"<|", b"< |")
    lengths = random.Random(size)
    documents = []
    start = 0
    while start < len(text):
        end = start + lengths.randint(size // 2, size + size // 2)
        # Text without white space is cut between characters all the same, but much later.
        found = [place for mark in (b" ", b"\n") if (place := text.find(mark, end, end + size)) >= 0]
        end = min(found) + 1 if found else end + size
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end += 1
        documents.append(text[start:end])
        start = end
    return documents


def corpus(name: str, text: bytes, document: int, size: int) -> Corpus:
    """A corpus of at least the given size, cut from a text that is repeated in a new order as often as necessary.

    Args:
        name: Its name.
        text: UTF-8.
        document: Approximate bytes per document.
        size: Bytes of the corpus.
    """
    distinct = cut(text, document)
    draws = np.random.default_rng(0)
    times = -(-size // sum(map(len, distinct)))
    order = np.concatenate([draws.permutation(len(distinct)) for _ in range(times)])
    ends = np.cumsum(np.array([len(document) for document in distinct], np.int64)[order])
    return Corpus(name, distinct, order[: int(np.searchsorted(ends, size)) + 1])
