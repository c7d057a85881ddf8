"""Shards as ``.npy``: ids behind the header of NumPy's format, version 1.0."""

from __future__ import annotations

import struct

from bytepair.shards.sinks.flat import FlatShard

_MAGIC = b"\x93NUMPY\x01\x00"
_HEAD = 128  # room for the longest number of ids, and a multiple of 64 as the format asks for


class NpyShard(FlatShard):
    """Like `FlatShard`, in ``STEM.npy``: ``numpy.load(path, mmap_mode="r")`` gives the ids.

    Args:
        folder: See `Shard`.
        stem: See `Shard`.
        dtype: See `Shard`.
        inputs: See `Shard`.
        table: See `FlatShard`.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> shard = NpyShard(folder, "val-00000", np.dtype("<u4"), ["a.txt"], table=False)
        >>> shard.begin()
        >>> shard.extend(np.array([7, 100_000], np.uint32))
        >>> shard.end(0, 0, b"")
        >>> shard.close()
        >>> np.load(folder / "val-00000.npy").tolist()
        [7, 100000]
    """

    suffix = ".npy"
    head = _HEAD

    def close(self) -> None:
        """Writes the header, and completes the table; see `Shard.close`."""
        self._file.seek(0)
        self._file.write(_header(self.dtype.str, self.tokens))
        super().close()


def _header(descr: str, tokens: int) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({tokens},), }}"
    length = _HEAD - len(_MAGIC) - 2
    return _MAGIC + struct.pack("<H", length) + text.encode().ljust(length - 1) + b"\n"
