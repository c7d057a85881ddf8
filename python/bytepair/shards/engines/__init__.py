"""Engines: they only assign the tasks of a run to workers, so every engine produces the same bytes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from bytepair.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Told

ENGINES = {
    "local": "bytepair.shards.engines.local:Local",
    "slurm": "bytepair.shards.engines.slurm:Slurm",
    "ray": "bytepair.shards.engines.ray:Ray",
    "spark": "bytepair.shards.engines.spark:Spark",
}
"""The modules and classes of the engines, by name."""


@runtime_checkable
class Engine(Protocol):
    """Runs independent tasks.

    An engine may also have ``check()``, which raises if a requirement is missing; it is called before a run begins.
    """

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """Runs tasks, each by `bytepair.shards.tasks.run`; returns when all of them are committed.

        Args:
            folder: The folder of the run, which all workers can reach.
            tasks: The tasks.
            told: Receives their progress, at least when each is done.

        Raises:
            BytepairError: The first error of a task; no further tasks are started.
        """


def engine(named: str | Engine, workers: int | None = None) -> Engine:
    """Returns an engine by name, or an engine object unchanged.

    Args:
        named: The name, or the engine.
        workers: The number of tasks that run at a time; None for the engine's default.

    Raises:
        CorpusError: There is no engine of this name, a requirement is missing, or `workers` is set for an engine
            object.
        ValueError: `workers` is below 1.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} would do nothing; use 1 or more")
    if not isinstance(named, str):
        if workers is not None:
            raise CorpusError("workers= goes with the name of an engine", remedy="pass it to the engine itself")
        return _checked(named)
    if named not in ENGINES:
        raise CorpusError(f"there is no engine {named!r}", remedy=f"use one of {', '.join(ENGINES)}")
    module, _, name = ENGINES[named].partition(":")
    return _checked(getattr(import_module(module), name)(workers=workers))


def _checked(made: Any) -> Engine:
    if check := getattr(made, "check", None):
        check()
    return cast("Engine", made)
