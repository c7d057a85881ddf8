"""Shards as LitData reads them for pretraining (``TokensLoader``), written by its own ``BinaryWriter``."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import files
from bytepair.corpus.sinks.documents_table import SUFFIX, DocumentsTable
from bytepair.corpus.sinks.mds import INDEX, by_folder, index_bytes
from bytepair.corpus.sinks.shard import Encoded, GatheringShard, narrowed, needed
from bytepair.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE = "litdata"
_CHUNK_BYTES = 1 << 26
_LONGEST_BYTES = 0xF000_0000  # of a document: places in a chunk are 32 bits


def smallest_dtype(largest: int) -> np.dtype[Any]:
    """What ids up to `largest` are written as: uint16 or int32, which LitData has as tensors.

    Example:
        >>> smallest_dtype(50_256).name, smallest_dtype(65_536).name
        ('uint16', 'int32')
    """
    return np.dtype("<u2" if largest <= 0xFFFF else "<i4")


class LitdataShard(GatheringShard):
    """Chunks of about 64 MB, of whole documents one after another; which document is where stands in a table beside.

    The chunks are ``STEM-0.bin`` and so on; `DocumentsTable` is the table. The writer holds a chunk in memory, and a
    document at a time is a call in Python. ``STEM.index.json`` is this shard's part of the index, which `finish` puts
    together; a shard without documents has none.

    Args:
        folder: See `Shard`.
        stem: See `Shard`; with a folder of its own for each split, and a name that begins with ``chunk-``, as
            LitData's own.
        dtype: uint16 or int32; see `smallest_dtype`.
        inputs: See `Shard`.
        table: Whether to write the table, which needs ``pyarrow``.

    Raises:
        ArtifactError: ``litdata`` is not installed.
    """

    def __init__(
        self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str], *, table: bool = True
    ) -> None:
        writer = needed("litdata.streaming.writer", "LitData's chunks", _PACKAGE)
        loader = needed("litdata.streaming.item_loader", "LitData's chunks", _PACKAGE)
        self._torch = needed("torch", "LitData's chunks", _PACKAGE)
        super().__init__(folder, stem, dtype, inputs)
        self._place = self.path(".writing")
        self._writer = writer.BinaryWriter(
            str(self._place), chunk_bytes=_CHUNK_BYTES, item_loader=loader.TokensLoader()
        )
        self._table = DocumentsTable(self.path(SUFFIX), inputs) if table else None

    def write(self, documents: Encoded) -> None:
        """Writes whole documents; see `Shard.write`."""
        longest = int(documents.lengths.max()) if len(documents) else 0
        if longest * self.dtype.itemsize > _LONGEST_BYTES:
            raise FormatError(
                f"a document has {longest} tokens; a chunk of LitData holds {_LONGEST_BYTES // self.dtype.itemsize}",
                remedy="cut the document by a delimiter, or choose the format bin or npy",
            )
        # A copy, which is the tensors' own to write to.
        ids = self._torch.from_numpy(np.array(narrowed(documents.ids, self.dtype)))
        offsets = documents.offsets.tolist()
        with warnings.catch_warnings():
            # A chunk of one document can be larger than 64 MB.
            warnings.filterwarnings("ignore", "An item was larger than the target chunk size")
            for number in range(len(documents)):
                self._writer.add_item(self.documents + number, ids[offsets[number] : offsets[number + 1]])
        if self._table is not None:
            self._table.write(documents)
        self.tokens += len(ids)
        self.documents += len(documents)

    def close(self) -> None:
        """Completes the chunks, under names of this shard; see `Shard.close`."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "An item was larger than the target chunk size")
            self._writer.done()
        for part in self._place.glob("*.index.json"):
            index = json.loads(part.read_bytes())
            for number, chunk in enumerate(index["chunks"]):
                path = self.path(f"-{number}.bin")
                (self._place / chunk["filename"]).replace(path)
                chunk["filename"] = path.name
            self.path(INDEX).write_bytes(index_bytes(index))
        shutil.rmtree(self._place)
        if self._table is not None:
            self._table.close()

    def abort(self) -> None:
        """Closes the table; the writer holds nothing open. See `Shard.abort`."""
        if self._table is not None:
            self._table.abort()


def finish(folder: Path, names: Sequence[str]) -> list[str]:
    """Writes ``index.json`` into each folder that has chunks: the parts of it, in the order of their names.

    Args:
        folder: Where all files are.
        names: The files, relative to it.

    Returns:
        The files that were written, relative to the folder.

    Raises:
        FormatError: Shards do not belong together: they are of different types, or of different versions of LitData.
    """
    written = []
    for parent, parts in by_folder(names).items():
        merged: dict[str, Any] = {}
        for part in parts:
            index = json.loads(files.read(folder / part))
            merged = merged or {**index, "chunks": []}
            if index["config"] != merged["config"]:
                raise FormatError(
                    f"the chunks are of another kind than those of {parts[0]}",
                    file=str(folder / part),
                    remedy="write all shards with one tokenizer and one version of litdata",
                )
            merged["chunks"] += index["chunks"]
        files.write_all(folder / parent, {"index.json": index_bytes(merged)})
        written.append(str(PurePosixPath(parent) / "index.json"))
    return written
