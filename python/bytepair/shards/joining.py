"""Shards of a split -> one: the last stage of a run that wants one file for each split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bytepair.shards import ledger, outputs, plans
from bytepair.shards.sinks import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bytepair.shards.plans import ShardOptions, TaskName
    from bytepair.shards.tasks import Work


def join(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Writes all shards of a split into one, in the order of the tasks that wrote them.

    A split to which no document went is a shard without documents.

    Args:
        work: The run.
        task: The task; what it works on is the name of a split.
        folder: Where the one shard goes.
        tell: Gets the bytes read, and the documents and tokens so far.

    Returns:
        The facts of its entry in the ledger.

    Raises:
        CorpusError: The stage before is not done.
        FormatError: What it left is not whole.
        OSError: A file cannot be read or written.

    Complexity:
        Linear in the bytes of the shards. Memory does not depend on them; see `bytepair.shards.sinks.flat.join`.
    """
    plan = work.plan
    split = plan.stage("join").tasks[task[1]][0]
    before = plan.stages[-2].name
    kind = FORMATS[cast("ShardOptions", plan.options).format]
    shards = []
    for entry in ledger.all_done(work.folder, plan, before):
        stem = kind.stem.format(split=split, number=plan.padded(entry["number"]))
        sizes = [row["size"] for row in entry["files"] if row["name"].startswith(f"{plans.WORK}/{before}/{stem}.")]
        # A task has no shard of a split to which none of its documents went.
        if sizes:
            shards.append((work.folder / plans.WORK / before / stem, sum(sizes), entry["splits"][split]))
    read = documents = tokens = 0

    def parts() -> Iterator[Path]:
        nonlocal read, documents, tokens
        for path, size, amount in shards:
            yield path
            read += size
            documents += amount["documents"]
            tokens += amount["tokens"]
            tell(read, documents, tokens)

    # Where the format names files otherwise, joining is not for it.
    cast("Callable[..., None]", kind.join)(parts(), folder, split, *outputs.shape(plan), **outputs.table(plan))
    splits = {split: {"documents": documents, "tokens": tokens}}
    return {"read": read, "documents": documents, "tokens": tokens, "splits": splits}
