"""Shards as Megatron-LM reads them: ``.bin`` with the ids, ``.idx`` with where each document is.

The index is, little-endian: the magic, the version 1 (u64), a code for the type of ids (u8), the number of sequences
(u64), the number of document indices (u64); then the tokens of each sequence (i32), the byte where each begins in
``.bin`` (i64), and the sequence with which each document begins, and the end of all (i64). A document is one sequence
here.
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.shards.sinks.flat import FlatShard
from bytepair.shards.sinks.shard import Encoded, check_length, check_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAGIC = b"MMIDIDX\0\0"
_HEAD = struct.Struct("<9sQBQQ")
_CODES = {"int32": 4, "uint16": 8}
_LONGEST = 0x7FFF_FFFF
_INDEX = "the index of Megatron's files"
_AT_ONCE = 1 << 16


def smallest_dtype(largest: int) -> np.dtype[Any]:
    """The dtype of ids up to `largest` in Megatron: uint16 for vocabularies below 65,500, else int32.

    Example:
        >>> smallest_dtype(65_498).name, smallest_dtype(65_499).name
        ('uint16', 'int32')
    """
    return np.dtype("<u2" if largest + 1 < 65_500 else "<i4")


class MegatronShard(FlatShard):
    """Like `FlatShard`, with ``STEM.idx`` beside ``STEM.bin``: ``IndexedDataset("folder/STEM")`` of Megatron reads it.

    Of each document 4 bytes are kept in memory until the index is written, which happens in `close`.

    Args:
        folder: See `Shard`.
        stem: See `Shard`.
        dtype: uint16 or int32; see `smallest_dtype`.
        inputs: See `Shard`.
        table: See `FlatShard`.
    """

    def __init__(
        self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str], *, table: bool = True
    ) -> None:
        if dtype.name not in _CODES:
            raise FormatError(
                f"Megatron's files cannot hold ids as {dtype.name}", remedy="use smallest_dtype of the largest id"
            )
        super().__init__(folder, stem, dtype, inputs, table=table)
        self._lengths = array("i")

    def close(self) -> None:
        """Writes the index, and completes the files; see `Shard.close`."""
        super().close()
        lengths = np.frombuffer(self._lengths, np.int32) if self._lengths else np.empty(0, np.int32)
        count = len(lengths)
        with self.path(".idx").open("wb") as file:
            file.write(_HEAD.pack(_MAGIC, 1, _CODES[self.dtype.name], count, count + 1))
            file.write(lengths.astype("<i4", copy=False).data)
            begin = 0
            for start in range(0, count, _AT_ONCE):
                sizes = lengths[start : start + _AT_ONCE].astype("<i8") * self.dtype.itemsize
                ends = np.cumsum(sizes) + begin
                file.write((ends - sizes).data)
                begin = int(ends[-1])
            for start in range(0, count + 1, _AT_ONCE):
                file.write(np.arange(start, min(start + _AT_ONCE, count + 1), dtype="<i8").data)

    def _noted(self, documents: Encoded) -> None:
        super()._noted(documents)
        check_lengths(documents, _LONGEST, _INDEX)
        self._lengths.frombytes(documents.lengths.astype(np.int32).tobytes())

    def _noted_long(self, input: int, position: int, name: bytes, tokens: int) -> None:
        check_length(tokens, _LONGEST, _INDEX)
        super()._noted_long(input, position, name, tokens)
        self._lengths.append(tokens)

    def _appended(self, part: Path, tokens: int) -> int:
        super()._appended(part, tokens)
        path = part.with_name(part.name + ".idx")
        with path.open("rb") as file:
            head = file.read(_HEAD.size).ljust(_HEAD.size, b"\0")
            magic, version, code, count, documents = _HEAD.unpack(head)
            whole = path.stat().st_size == _HEAD.size + 12 * count + 8 * documents and documents == count + 1
            known = whole and (magic, version, code) == (_MAGIC, 1, _CODES[self.dtype.name])
            lengths = np.frombuffer(file.read(4 * count), "<i4") if known else np.empty(0, "<i4")
        if not known or int(lengths.sum(dtype=np.int64)) != tokens:
            raise FormatError(
                "the index is not that of the ids beside it, or they are of another type",
                file=str(path),
                remedy="the shard is damaged, or of another tokenizer: make it again",
            )
        self._lengths.frombytes(lengths.astype(np.int32).tobytes())
        return int(count)
