"""A shard in the format of the plan, and the table of its documents where the format has no place for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bytepair.shards.sinks import FORMATS

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.shards.plans import Plan, ShardOptions
    from bytepair.shards.sinks import Encoded


TRAIN, VALIDATION = "train", "val"
"""The splits."""


class Output:
    """The output of one task for one split, as a context that closes its files also after errors.

    Args:
        folder: Where the files go.
        split: The split.
        number: The number of the task.
        plan: The plan, which has the format.
    """

    def __init__(self, folder: Path, split: str, number: int, plan: Plan) -> None:
        options = cast("ShardOptions", plan.options)
        format = FORMATS[options.format]
        self._shard = format.open(
            folder, format.stem.format(split=split, number=plan.padded(number)), *shape(plan), **table(plan)
        )

    def write(self, documents: Encoded) -> None:
        """Appends whole documents."""
        self._shard.write(documents)

    def begin(self) -> None:
        """Begins a document that comes part by part."""
        self._shard.begin()

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Goes on with it."""
        self._shard.extend(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends it."""
        self._shard.end(input, position, name)

    def drop(self) -> None:
        """Leaves it out, as if it had never begun."""
        self._shard.drop()

    def close(self) -> None:
        """Completes the files."""
        self._shard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._shard.abort()


def shape(plan: Plan) -> tuple[np.dtype[Any], list[str]]:
    """The dtype of ids and the names of inputs, for every shard."""
    return np.dtype(cast("ShardOptions", plan.options).dtype).newbyteorder("<"), [input.name for input in plan.inputs]


def table(plan: Plan) -> dict[str, bool]:
    """Whether a shard has a table of documents, where the format leaves a choice."""
    options = cast("ShardOptions", plan.options)
    return {"table": options.documents} if FORMATS[options.format].table else {}
