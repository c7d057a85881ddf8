"""Engines, which place the tasks of a run on workers and nothing else, so that all make the same bytes."""

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
"""The engines by name, and where they are."""


@runtime_checkable
class Engine(Protocol):
    """Runs tasks that do not need one another.

    An engine may also have ``check()``, which raises if what it needs is not there; it is called before a run begins.
    """

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """Run tasks, each by `bytepair.shards.tasks.run`; return when all of them are committed.

        Args:
            folder: The folder of the run, which all workers can reach.
            tasks: The tasks.
            told: Gets their progress, at least when each is done.

        Raises:
            BytepairError: The first error of a task; no further tasks are begun.
        """


def engine(named: str | Engine, workers: int | None = None) -> Engine:
    """An engine by its name, or one that is made already.

    Args:
        named: The name, or the engine.
        workers: How many tasks run at a time; None for the engine's default.

    Raises:
        CorpusError: There is no engine of this name, what it needs is not there, or workers are given for one that is
            made already.
        ValueError: There are no workers.
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
