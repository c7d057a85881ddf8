"""Shards as LitData reads them for pretraining (``TokensLoader``), written by its own ``BinaryWriter``."""

from __future__ import annotations

import json
import shutil
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.shards.sinks import index
from bytepair.shards.sinks.documents_table import SUFFIX, DocumentsTable
from bytepair.shards.sinks.shard import Encoded, GatheringShard, check_lengths, narrowed, needed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PACKAGE = "litdata"
_CHUNK_BYTES = 1 << 26
_LONGEST_BYTES = 0xF000_0000  # of a document: places in a chunk are 32 bits


def smallest_dtype(largest: int) -> np.dtype[Any]:
    """The dtype of ids up to `largest`: uint16 or int32, which LitData has as tensors.

    Example:
        >>> smallest_dtype(50_256).name, smallest_dtype(65_536).name
        ('uint16', 'int32')
    """
    return np.dtype("<u2" if largest <= 0xFFFF else "<i4")


class LitdataShard(GatheringShard):
    """Chunks of about 64 MB, of whole documents one after another; which document is where stands in a table beside.

    The chunks are ``STEM-0.bin`` and so on; `DocumentsTable` is the table. The writer holds a chunk in memory, and a
    document at a time is a call in Python. ``STEM.index.json`` is this shard's part of the index, which `finish` puts
    together; a shard without documents has none. A document has at least one token.

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
        check_lengths(documents, _LONGEST_BYTES // self.dtype.itemsize, "a chunk of LitData", least=1)
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
        written = 0
        for path in self._place.glob("*" + index.PART):
            part = json.loads(path.read_bytes())
            for number, chunk in enumerate(part["chunks"]):
                place = self.path(f"-{number}.bin")
                (self._place / chunk["filename"]).replace(place)
                chunk["filename"] = place.name
                written += chunk["chunk_size"]
            self.path(index.PART).write_bytes(index.to_bytes(part))
        index.check_all_written(written, self.documents, _PACKAGE)
        shutil.rmtree(self._place)
        if self._table is not None:
            self._table.close()

    def abort(self) -> None:
        """Closes the table; the writer holds nothing open. See `Shard.abort`."""
        if self._table is not None:
            self._table.abort()


def finish(folder: Path, names: Sequence[str]) -> list[str]:
    """Writes ``index.json`` into each folder that has chunks; see `index.write_indices`.

    Raises:
        FormatError: Shards do not belong together: they are of different types, or of different versions of LitData.
    """

    def merge(parts: list[tuple[Path, dict[str, Any]]]) -> dict[str, Any]:
        first, config = parts[0][0], parts[0][1]["config"]
        for path, part in parts:
            if part["config"] != config:
                raise FormatError(
                    f"the chunks are of another kind than those of {first.name}",
                    file=str(path),
                    remedy="write all shards with one tokenizer and one version of litdata",
                )
        return {**parts[0][1], "chunks": [chunk for _, part in parts for chunk in part["chunks"]]}

    return index.write_indices(folder, names, merge)
