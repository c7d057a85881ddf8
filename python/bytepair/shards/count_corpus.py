"""A corpus -> one table of counts, on any engine: plan a run, have its tasks done, and read its table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bytepair.errors import BytepairError
from bytepair.model.split_patterns import split_pattern
from bytepair.progress import reporter
from bytepair.shards import ledger, locks, packages, plans, runs
from bytepair.shards.counting_tasks import TABLE, counter, reductions
from bytepair.shards.engines import engine as engine_of
from bytepair.shards.plans import CountOptions, Plan, Stage
from bytepair.sources import inputs, readers
from bytepair.sources.compressed import arrow
from bytepair.sources.source import Reading
from bytepair.training.counting import groups_of
from bytepair.training.counts import Counts
from bytepair.training.learning import check_choice
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from bytepair.progress import Report
    from bytepair.shards.engines import Engine
    from bytepair.sources.source import Source

_MEMORY = "1GB"


def count_corpus(
    source: Source,
    output: str | os.PathLike[str],
    *,
    split: str = "o200k",
    normalizers: Sequence[str] = (),
    special_tokens: Sequence[str] = (),
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    memory: str | int | None = _MEMORY,
    digest: bool = True,
    task_size: str | int | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    resume: bool = False,
    progress: bool | str | Report = False,
) -> Counts:
    """Counts the pieces of a corpus, task by task, and adds up the tables of the tasks as a tree, eight at a time.

    The table is the one of `bytepair.Counts.of`, first positions included: so a tokenizer trained from it is the same,
    whatever the ties. A document that cannot be used raises, as it does there.

    Args:
        source: See `bytepair.sources.source`; no iterables and no data sets in memory, since a run that was killed
            reads its source again.
        output: A folder on a file system that all workers share; made if need be. The table is ``counts.parquet``
            there.
        split: As for `bytepair.train`.
        normalizers: As for `bytepair.train`.
        special_tokens: Cut out of the documents, and never counted.
        field: See `bytepair.sources.source.Reading`.
        delimiter: See `bytepair.sources.source.Reading`. A file without one is read by one task in windows, however
            long it is.
        errors: As for `bytepair.train`.
        memory: The memory limit of a worker's table, such as ``"1GB"``; the rest goes to temporary files. None
            for no limit. The counts are the same with any limit.
        digest: Whether inputs are read once more for the digest of the table.
        task_size: About how many bytes of inputs a task reads; None for what the size of the corpus suggests.
        engine: The engine that runs the tasks; see `bytepair.shard`.
        workers: How many tasks run at a time; None for the engine's default.
        resume: Whether to resume the run in `output`, if there is one.
        progress: As for `bytepair.train`.

    Returns:
        The table.

    Raises:
        CorpusError: Sources, options or the plan of the run that is there do not fit.
        TrainingError, EncodeError, PatternError: As `bytepair.Counts.of`.
        ArtifactError: A file cannot be read or written; finished tasks are kept.

    Complexity:
        Linear in the corpus. A table is read and written once for each level of the tree, of which there are
        log8(tasks).

    Example:
        >>> import tempfile, bytepair as bp
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("low lower"), (folder / "b.txt").write_text("low")
        >>> counts = count_corpus(folder / "*.txt", folder / "counts", split="gpt2")
        >>> [(row.piece, row.count, row.first_position) for row in counts]
        [(b'low', 2, 0), (b' lower', 1, 3)]
        >>> len(bp.train(counts, vocab_size=258))
        258
    """
    doer = engine_of(engine, workers)
    arrow(TABLE)  # A missing package is reported before anything is counted.
    folder = Path(output)
    limit = None if memory is None else parse_bytes(memory)
    options = CountOptions(split_pattern(split), tuple(normalizers), tuple(special_tokens), errors, limit, digest)
    check_choice("errors", errors, ("strict", "replace"))
    counter(options)  # Wrong patterns and normalizers are reported before anything is counted.
    plan = _plan(source, options, Reading(field=field, delimiter=delimiter), task_size)
    with locks.held(folder):
        runs.begin(folder, plan, None, resume=resume)
        runs.carry_out(folder, plan, doer, reporter(progress))
        try:
            with locks.alone(folder / plans.WORK):
                ledger.finish(folder, plan, [])
                shutil.rmtree(folder / plans.WORK, ignore_errors=True)
        except OSError as error:
            if isinstance(error, BytepairError):
                raise
            raise ledger.unwritten(folder, error) from error
    return Counts.read(folder / TABLE, memory=limit)


def _plan(source: Source, options: CountOptions, reading: Reading, size: str | int | None) -> Plan:
    found = inputs.find_files(source, "count_corpus")
    readers.check(found, reading)
    first = runs.first_stage("count", found, reading, size)
    tree = [Stage(f"reduce-{level}", tuple(tasks)) for level, tasks in enumerate(reductions(len(first.tasks)), 1)]
    groups_of(found)  # Too many are refused before anything is written.
    return Plan(options, reading, "", found, (first, *tree), packages.versions(["pyarrow"]))
