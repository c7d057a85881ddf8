"""Shards that are ids and nothing else: ``.bin`` as nanoGPT reads it. What ``.npy`` and Megatron's files build on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.shards.sinks.documents_table import SUFFIX, DocumentsTable
from bytepair.shards.sinks.shard import Encoded, Shard, narrowed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_COPIED = 1 << 20  # bytes at a time


class FlatShard(Shard):
    """The ids of all documents one after another, little-endian, in ``STEM.bin``; its documents in a table beside it.

    Nothing is kept of what was written, so that memory is that of a batch. A long document goes straight to the file,
    which is cut back if it is dropped.

    Args:
        folder: See `Shard`.
        stem: See `Shard`.
        dtype: See `Shard`.
        inputs: See `Shard`.
        table: Whether to write ``STEM.documents.parquet``, which needs ``pyarrow``; see `DocumentsTable`.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> shard = FlatShard(folder, "train-00000", np.dtype("<u2"), ["a.txt"], table=False)
        >>> shard.begin()
        >>> shard.extend(np.array([7, 8], np.uint32))
        >>> shard.end(0, 0, b"")
        >>> shard.close()
        >>> np.fromfile(folder / "train-00000.bin", np.uint16).tolist(), shard.tokens
        ([7, 8], 2)
    """

    suffix = ".bin"
    head = 0  # bytes before the ids

    def __init__(
        self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str], *, table: bool = True
    ) -> None:
        super().__init__(folder, stem, dtype, inputs)
        self._long = 0
        self._table = DocumentsTable(self.path(SUFFIX), inputs) if table else None
        try:
            self._file = self.path(self.suffix).open("wb")
            self._file.write(bytes(self.head))
        except BaseException:
            if self._table is not None:
                self._table.abort()
            raise

    def write(self, documents: Encoded) -> None:
        """Writes whole documents; see `Shard.write`."""
        self._file.write(narrowed(documents.ids, self.dtype).data)
        self._noted(documents)
        self.tokens += len(documents.ids)
        self.documents += len(documents)

    def begin(self) -> None:
        """Begins one long document."""
        self._long = 0

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Writes ids of the long document; see `Shard.extend`."""
        self._file.write(narrowed(ids, self.dtype).data)
        self._long += len(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends the long document; see `Shard.end`."""
        self._noted_long(input, position, name, self._long)
        self.tokens += self._long
        self.documents += 1
        self._long = 0

    def drop(self) -> None:
        """Cuts the long document off the file."""
        self._file.seek(self.head + self.tokens * self.dtype.itemsize)
        self._file.truncate()
        self._long = 0

    def append(self, part: Path) -> None:
        """Adds all that another shard of this format and dtype holds, in bounded memory.

        Args:
            part: The folder and stem of that shard.

        Raises:
            FormatError: Its file does not hold whole ids.
            OSError: It cannot be read, or this one cannot be written.
        """
        with part.with_name(part.name + self.suffix).open("rb") as file:
            file.seek(self.head)
            copied = 0
            while data := file.read(_COPIED):
                self._file.write(data)
                copied += len(data)
        tokens, over = divmod(copied, self.dtype.itemsize)
        if over:
            raise FormatError(
                f"the shard does not hold whole ids of {self.dtype.itemsize} bytes",
                file=str(part.with_name(part.name + self.suffix)),
                remedy="it is damaged, or of another tokenizer: make it again",
            )
        self.documents += self._appended(part, tokens)
        self.tokens += tokens

    def close(self) -> None:
        """Completes the file and the table; see `Shard.close`."""
        self._file.close()
        if self._table is not None:
            self._table.close()

    def abort(self) -> None:
        """Closes what is open; see `Shard.abort`."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._table is not None:
            self._table.abort()

    def _noted(self, documents: Encoded) -> None:
        if self._table is not None:
            self._table.write(documents)

    def _noted_long(self, input: int, position: int, name: bytes, tokens: int) -> None:
        if self._table is not None:
            self._table.end(input, position, name, tokens)

    def _appended(self, part: Path, tokens: int) -> int:  # noqa: ARG002 (formats with an index compare)
        """Adds what stands beside the ids of `part`; how many documents it has, 0 if nothing says so."""
        return self._table.append(part.with_name(part.name + SUFFIX)) if self._table is not None else 0


def join(  # noqa: PLR0917 (as a shard is opened)
    kind: type[FlatShard],
    parts: Sequence[Path],
    folder: Path,
    stem: str,
    dtype: np.dtype[Any],
    inputs: Sequence[str],
    *,
    table: bool = True,
) -> None:
    """Writes one shard of several, in their order: byte for byte what one shard of all their documents would be.

    Memory does not depend on the shards, but for 4 bytes a document of Megatron's files.

    Args:
        kind: What they are.
        parts: The folder and stem of each.
        folder: Where the files of the new one go.
        stem: What their names begin with.
        dtype: What ids are written as, in all of them.
        inputs: The names of the plan's inputs, by number.
        table: Whether they have a table of documents, and the new one is to have one.

    Raises:
        FormatError: A shard is not whole.
        OSError: One cannot be read, or the new one cannot be written; its files are of no use then.
    """
    shard = kind(folder, stem, dtype, inputs, table=table)
    try:
        for part in parts:
            shard.append(part)
        shard.close()
    except BaseException:
        shard.abort()
        raise
