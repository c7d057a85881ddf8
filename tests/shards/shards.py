"""Random documents as ids, and shards of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from bytepair.shards.sinks import FORMATS, Encoded, Shard
from bytepair.sources.flat_rows import FlatTexts

INPUTS = ["a/one.jsonl", "zwei – ü.parquet", "a/three.txt"]


class Document(NamedTuple):
    ids: list[int]
    input: int
    position: int
    name: bytes


def random_documents(random: Random, count: int, largest: int, *, named: bool = True) -> list[Document]:
    return [
        Document(
            [random.choice([0, largest, random.randint(0, largest)]) for _ in range(random.choice([1, 2, 9, 40]))],
            random.randrange(len(INPUTS)),
            random.choice([0, 1 << 40, number]),
            random.choice([b"", b"x", f"№ {number}".encode()]) if named else b"",
        )
        for number in range(count)
    ]


def encoded(documents: list[Document], *, names: bool = True) -> Encoded:
    """A batch of documents; its names lie amid other bytes."""
    lengths = [len(document.ids) for document in documents]
    offsets = np.array([len(b"before"), *(len(document.name) for document in documents)]).cumsum()
    data = b"before" + b"".join(document.name for document in documents) + b"behind"
    return Encoded(
        np.array([id for document in documents for id in document.ids], np.uint32),
        np.array([0, *lengths], np.int64).cumsum(),
        np.array([document.input for document in documents], np.int32),
        np.array([document.position for document in documents], np.int64),
        FlatTexts(np.frombuffer(data, np.uint8), offsets) if names else None,
    )


def fill(shard: Shard, documents: list[Document], random: Random, *, long: bool = True) -> None:
    """Writes documents in batches of any size, some in parts, and others in between that are dropped."""
    left = documents
    while left:
        if long and random.random() < 0.3:
            shard.begin()
            for part in parts_of(random.choice(documents).ids, random):
                shard.extend(part)
            shard.drop()
        if long and random.random() < 0.3:
            document, *left = left
            shard.begin()
            for part in parts_of(document.ids, random):
                shard.extend(part)
            shard.end(document.input, document.position, document.name)
        else:
            count = random.choice([0, 1, 2, 5, len(left)])
            batch, left = left[:count], left[count:]
            shard.write(encoded(batch, names=any(document.name for document in batch)))


def parts_of(ids: list[int], random: Random) -> list[np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    cuts = sorted([0, *random.choices(range(len(ids) + 1), k=2), len(ids)])
    return [np.array(ids[start:end], np.uint32) for start, end in pairwise(cuts)]


def write_shard(  # noqa: PLR0917  # all that a shard is made of
    format: str, folder: Path, stem: str, documents: list[Document], largest: int, random: Random, *, long: bool = True
) -> Shard:
    folder.mkdir(exist_ok=True)
    shard = FORMATS[format].open(folder, stem, FORMATS[format].dtype(largest), INPUTS)
    fill(shard, documents, random, long=long)
    shard.close()
    assert shard.documents == len(documents)
    assert shard.tokens == sum(len(document.ids) for document in documents)
    return shard


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flat(documents: list[Document]) -> list[int]:
    return [id for document in documents for id in document.ids]
