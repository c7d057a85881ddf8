"""Tasks on a cluster with Ray, and encoding for Ray Data."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.errors import BytepairError, CorpusError
from bytepair.shards import tasks as one
from bytepair.shards.engines.arrow_ids import ArrowEncoder
from bytepair.shards.tasks import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.call.options import Added, Special
    from bytepair.shards.engines.arrow_ids import Frame
    from bytepair.shards.plans import TaskName
    from bytepair.tokenizer import Tokenizer

_RETRIES = 3


class Ray:
    """Runs tasks on Ray. The folder of the run is at the same path on all nodes, and bytepair is installed there.

    A task whose worker or node dies is retried, three times at most. If Ray is not initialized in this process, it is
    started with these arguments, and runs until the process ends or calls ``ray.shutdown()``.

    Args:
        workers: The number of tasks that run at a time; None for the number of cores in the cluster.
        address: The address of the cluster, as for ``ray.init``; None for one on this machine.
        init: Further arguments of ``ray.init``, such as ``num_cpus``.

    Example:
        >>> engine = Ray(address="auto")
    """

    def __init__(self, workers: int | None = None, *, address: str | None = None, **init: Any) -> None:
        self._workers = workers
        self._init = {"address": address, **init}

    def check(self) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: Ray is not installed.
        """
        _ray()

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: Ray is not installed, or a worker died repeatedly.
        """
        ray = _ray()
        if not ray.is_initialized():
            ray.init(**{"include_dashboard": False, "log_to_driver": False, **self._init})
        folder = str(Path(folder).absolute())
        do = ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
        # A few more than there are cores, so that none idles; tasks not started take no resources.
        most = self._workers or 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        left = iter(tasks)
        running: dict[Any, TaskName] = {}
        try:
            while True:
                while len(running) < most and (task := next(left, None)) is not None:
                    running[do.remote(folder, task)] = task
                if not running:
                    return
                # A timeout, so that Ctrl-C is handled.
                done, _ = ray.wait(list(running), timeout=0.5)
                for reference in done:
                    told(_result(ray, reference, running.pop(reference), folder))
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


class Encode:
    """Encodes a column of a data set of Ray Data, batch by batch: a class for ``map_batches``.

    Each actor loads the tokenizer once. A text that cannot be encoded raises; ``row`` is its row in the batch.

    Args:
        tokenizer: Its path, or the tokenizer itself.
        field: The column that holds the text.
        output: The column for the ids, as lists of int32; a column of that name is replaced.
        bos: Special tokens before each text, by their texts or ids.
        eos: Special tokens after each text.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.
        errors: As for `Tokenizer.encode`.

    Example:
        >>> import bytepair as bp, pyarrow as pa
        >>> encode = Encode(bp.train({"low": 5}, vocab_size=258), field="text")
        >>> encode(pa.table({"text": ["low", "lower"]})).column("input_ids").to_pylist()
        [[257], [257, 101, 114]]

        With Ray: ``ds.map_batches(Encode, fn_constructor_kwargs={"tokenizer": "my-tokenizer"},
        batch_format="pyarrow", concurrency=2)``.
    """

    def __init__(
        self,
        tokenizer: str | os.PathLike[str] | Tokenizer,
        field: str = "text",
        *,
        output: str = "input_ids",
        bos: Frame = None,
        eos: Frame = None,
        special: Special = "raise",
        added: Added = "match",
        errors: str = "strict",
    ) -> None:
        self._encoder = ArrowEncoder(
            tokenizer, field, output, bos=bos, eos=eos, special=special, added=added, errors=errors
        )

    def __call__(self, batch: Any) -> Any:
        """The batch, a table of pyarrow, with the column of ids.

        Raises:
            CorpusError: The batch is something else, or has no such column.
            EncodeError, SpecialTokenError: A text cannot be encoded.
        """
        return self._encoder.table(batch)


def _do(folder: str, task: TaskName) -> Told:
    """The work of a Ray worker; it reports once, at the end."""
    entry = one.run(folder, *task)
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return Told(worker, task, entry["read"], entry.get("documents", 0), entry.get("tokens", 0), ended=True)


def _result(ray: Any, reference: Any, task: TaskName, folder: str) -> Told:
    try:
        told: Told = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BytepairError):
            raise error.cause from error
        raise
    except ray.exceptions.RayError as error:
        raise CorpusError(
            f"the worker of task {task[0]}/{task[1]} died again and again: {type(error).__name__}",
            file=folder,
            remedy="it may have needed too much memory: use fewer workers, and go on with resume=True",
            cli_remedy="it may have needed too much memory: use fewer --workers, and go on with --resume",
        ) from error
    return told


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise CorpusError(
            "the engine needs the package ray", remedy="pip install 'ray[data]>=2.40' 'pyarrow>=18' 'fsspec>=2024.2'"
        ) from error
    return ray
