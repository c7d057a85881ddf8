"""How far a run is: what its workers tell, added up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bytepair.corpus import ledger
from bytepair.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from bytepair.corpus.plans import Plan, Stage, TaskName
    from bytepair.corpus.tasks import Told
    from bytepair.progress import Report


class Watch:
    """Adds up what workers tell, as a context, and reports it."""

    def __init__(self, folder: Path, plan: Plan, report: Report | None) -> None:
        self._folder = folder
        self._plan = plan
        self._report = report

    def begin(self, stage: Stage, left: Sequence[TaskName]) -> None:
        """A stage begins, of which these tasks are left."""

    def told(self, state: Told) -> None:
        """A worker has something to tell."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
