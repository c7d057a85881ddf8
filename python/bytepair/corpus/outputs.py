"""A shard in the format of the plan, and the table of its documents where the format has no place for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from bytepair.corpus.sinks import FORMATS
from bytepair.corpus.sinks.documents_table import DocumentsTable

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.corpus.plans import Plan, ShardOptions
    from bytepair.corpus.sinks import Encoded


class Output:
    """What one task writes for one split, as a context that closes its files whatever happens.

    Args:
        folder: Where the files go.
        stem: What their names begin with.
        plan: The plan, which has the format.
    """

    def __init__(self, folder: Path, stem: str, plan: Plan) -> None:
        options = cast("ShardOptions", plan.options)
        names = [input.name for input in plan.inputs]
        self._shard = FORMATS[options.format].open(folder, stem, np.dtype(options.dtype), names)
        self._table = DocumentsTable(folder / f"{stem}.documents.parquet", names) if options.documents else None
        self._parts = [part for part in (self._shard, self._table) if part is not None]

    def write(self, documents: Encoded) -> None:
        """Appends whole documents."""
        for part in self._parts:
            part.write(documents)

    def begin(self) -> None:
        """Begins a document that comes part by part."""
        for part in self._parts:
            part.begin()

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Goes on with it."""
        for part in self._parts:
            part.extend(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends it."""
        for part in self._parts:
            part.end(input, position, name)

    def drop(self) -> None:
        """Leaves it out, as if it had never begun."""
        for part in self._parts:
            part.drop()

    def close(self) -> None:
        """Completes the files."""
        for part in self._parts:
            part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            for part in self._parts:
                part.abort()
