"""Shards as MosaicML's ``streaming`` reads them (MDS), written by its own ``MDSWriter``."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.shards.sinks import index
from bytepair.shards.sinks.shard import Encoded, GatheringShard, check_lengths, narrowed, needed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PACKAGE = "mosaicml-streaming"
_LONGEST_BYTES = 0xF000_0000  # of a document: places in a file are 32 bits


class MdsShard(GatheringShard):
    """A sample for each document: ``tokens`` (uint16 or uint32), ``id`` (empty if none), ``input`` and ``position``.

    The writer cuts what a shard holds into files of about 64 MB, ``STEM.00000.mds`` and so on, and holds one of them in
    memory, and a sample at a time is a call in Python. ``STEM.index.json`` is that shard's part of the index, which
    `finish` puts together. A document has at least one token.

    Args:
        folder: See `Shard`.
        stem: See `Shard`; with a folder of its own for each split, since an index is for all of a folder.
        dtype: See `Shard`; uint16 or uint32.
        inputs: See `Shard`.

    Raises:
        ArtifactError: ``mosaicml-streaming`` is not installed.
    """

    def __init__(self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str]) -> None:
        streaming = needed("streaming", "MDS", _PACKAGE)
        super().__init__(folder, stem, dtype, inputs)
        self._place = self.path(".writing")
        columns = {"tokens": f"ndarray:{dtype.name}", "id": "str", "input": "str", "position": "int64"}
        self._writer = streaming.MDSWriter(out=str(self._place), columns=columns, max_workers=1)

    def write(self, documents: Encoded) -> None:
        """Writes whole documents; see `Shard.write`."""
        check_lengths(documents, _LONGEST_BYTES // self.dtype.itemsize, "a file of MDS", least=1)
        ids = narrowed(documents.ids, self.dtype)
        offsets = documents.offsets.tolist()
        names = documents.names.to_list() if documents.names is not None else [b""] * len(documents)
        for number, (input, position) in enumerate(
            zip(documents.inputs.tolist(), documents.positions.tolist(), strict=True)
        ):
            sample = {
                "tokens": ids[offsets[number] : offsets[number + 1]],
                "id": _text(names[number]),
                "input": self.inputs[input],
                "position": np.int64(position),
            }
            self._writer.write(sample)
        self.tokens += len(ids)
        self.documents += len(documents)

    def close(self) -> None:
        """Completes the files, under names of this shard; see `Shard.close`."""
        self._writer.finish()
        part = json.loads((self._place / "index.json").read_bytes())
        for number, shard in enumerate(part["shards"]):
            path = self.path(f".{number:05}.mds")
            (self._place / shard["raw_data"]["basename"]).replace(path)
            shard["raw_data"]["basename"] = path.name
        self.path(index.PART).write_bytes(index.to_bytes(part))
        index.check_all_written(sum(shard["samples"] for shard in part["shards"]), self.documents, _PACKAGE)
        shutil.rmtree(self._place)

    def abort(self) -> None:
        """Ends the writer's threads; see `Shard.abort`."""
        with contextlib.suppress(Exception):  # whatever the writer says of what is given up
            self._writer.cancel_future_jobs()


def finish(folder: Path, names: Sequence[str]) -> list[str]:
    """Writes ``index.json`` into each folder that has shards; see `index.write_indices`."""

    def merge(parts: list[tuple[Path, dict[str, Any]]]) -> dict[str, Any]:
        return {"version": 2, "shards": [shard for _, part in parts for shard in part["shards"]]}

    return index.write_indices(folder, names, merge)


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"the id of a document is not UTF-8: {name[:40]!r}", remedy="choose another field for ids"
        ) from error
