"""Tasks on a cluster with Slurm: a job array for each stage, each job with some tasks."""

from __future__ import annotations

import math
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.errors import CorpusError
from bytepair.shards.engines import watched
from bytepair.shards.ledger import unwritten
from bytepair.shards.plans import WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Told

_ATTEMPTS = 3
_MISSING = "run this on a machine with Slurm's commands, or use another engine"


class Slurm:
    """Runs tasks on Slurm. The folder of the run, and Python with bytepair, are at the same paths on all nodes.

    Each stage has a script, ``work/slurm-STAGE.sh``, and beside it a list of the tasks of each job in the array, such
    as ``encode/10-19``. Jobs that end before their tasks are done (killed, or their node was lost) are submitted again,
    twice at most. The output of jobs is in ``work/slurm/``. All of this is removed when the run is complete.

    Args:
        workers: The number of jobs that run at a time; None for the limit of Slurm.
        options: For ``sbatch``, such as ``("--partition=cpu", "--mem=4G", "--time=1:00:00")``. A job needs one core.
        poll: Seconds between looks at the ledger.
        jobs: The most jobs in an array: Slurm's ``MaxArraySize`` less one. More tasks share jobs.

    Example:
        >>> engine = Slurm(workers=100, options=["--partition=cpu", "--mem=4G"])
    """

    def __init__(
        self, workers: int | None = None, *, options: Sequence[str] = (), poll: float = 2.0, jobs: int = 1000
    ) -> None:
        if jobs < 1:
            raise ValueError(f"jobs={jobs} would do nothing; use 1 or more")
        if isinstance(options, str):
            raise TypeError(f"options={options!r} is one str; use a list of options, such as {shlex.split(options)}")
        self._workers = workers
        self._options = tuple(options)
        self._poll = poll
        self._jobs = jobs

    def check(self) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: ``sbatch`` is not installed.
        """
        if shutil.which("sbatch") is None:
            raise CorpusError("there is no sbatch on this machine", remedy=_MISSING)

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: ``sbatch`` is not installed, or refuses; or jobs ended before their tasks were done.
        """
        place = Path(folder).absolute()

        def submit(left: Sequence[TaskName]) -> _Array:
            return _Array(place, self._script(place, left), self._options)

        watched.have_done(str(place), tasks, told, submit, worker="slurm", poll=self._poll, attempts=_ATTEMPTS)

    def _script(self, folder: Path, tasks: Sequence[TaskName]) -> Path:
        """Writes the script for these tasks of a stage, and the list that it reads."""
        stage = tasks[0][0]
        each = math.ceil(len(tasks) / self._jobs)
        lines = [
            " ".join(_ranges(stage, [number for _, number in tasks[first : first + each]]))
            for first in range(0, len(tasks), each)
        ]
        limit = "" if self._workers is None else f"%{self._workers}"
        command = f"exec {shlex.quote(sys.executable)} -m bytepair shard -o {shlex.quote(str(folder))} --task $tasks"
        script = folder / WORK / f"slurm-{stage}.sh"
        listed = script.with_suffix(".tasks")
        text = f"""\
#!/bin/bash
#SBATCH --job-name=bytepair-{stage}
#SBATCH --array=0-{len(lines) - 1}{limit}
#SBATCH --ntasks=1
#SBATCH --output=slurm/%x-%a.out
tasks=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {shlex.quote(str(listed))})
{command}
"""
        try:
            (folder / WORK / "slurm").mkdir(parents=True, exist_ok=True)
            listed.write_text("".join(f"{line}\n" for line in lines))
            script.write_text(text)
        except OSError as error:
            raise unwritten(folder, error) from error
        return script


class _Array:
    """A submitted job array; see `watched.Job`."""

    def __init__(self, folder: Path, script: Path, options: Sequence[str]) -> None:
        self._log = folder / WORK / "slurm"
        self._said = ""
        arguments = ["sbatch", "--parsable", "--wait", f"--chdir={folder / WORK}", *options, str(script)]
        try:
            # Jobs inherit the environment of sbatch.
            self._sbatch = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise CorpusError(f"sbatch cannot be started: {error.strerror}", remedy=_MISSING) from error
        assert self._sbatch.stdout is not None
        # Its first line is the number of the job; then it waits.
        self._job = self._sbatch.stdout.readline().strip().partition(";")[0]
        if not self._job:
            _, said = self._sbatch.communicate()
            raise CorpusError(
                f"sbatch refuses the jobs: {' '.join(said.split()) or 'without a message'}",
                file=str(script),
                remedy="check the options for sbatch",
            )

    def ended(self, seconds: float) -> bool:
        """See `watched.Job`."""
        try:
            self._sbatch.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def cancel(self) -> None:
        """See `watched.Job`."""
        is_running = self._sbatch.poll() is None
        self._sbatch.kill()
        _, self._said = self._sbatch.communicate()
        if is_running:
            # Without scancel the jobs run to their end; tasks that they commit are valid.
            with suppress(OSError):
                subprocess.run(["scancel", self._job], check=False, capture_output=True)

    def why(self) -> str:
        """See `watched.Job`."""
        logs = (log.read_text("utf-8", "replace").strip().splitlines() for log in sorted(self._log.glob("*.out")))
        said = next((lines[-1] for lines in logs if lines), " ".join(self._said.split()) or "nothing")
        return f"job {self._job} reported {said!r}; see {self._log}"


def _ranges(stage: str, numbers: Sequence[int]) -> list[str]:
    """Tasks as the command line names them.

    Example:
        >>> _ranges("encode", [3, 4, 5, 7])
        ['encode/3-5', 'encode/7']
    """
    edges = [0, *(at for at, (one, other) in enumerate(pairwise(numbers), 1) if other != one + 1), len(numbers)]
    runs = [(numbers[first], numbers[last - 1]) for first, last in pairwise(edges)]
    return [f"{stage}/{first}" if first == last else f"{stage}/{first}-{last}" for first, last in runs]
