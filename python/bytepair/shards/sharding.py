"""A corpus -> shards of ids: plan a run, have its tasks done, and finish it.

Long because one call spells out all options of a run, so that editors and type checkers know them.
"""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from bytepair.errors import BytepairError, CorpusError, IntegrityError, InvalidIdError
from bytepair.progress import reporter
from bytepair.resolver import TokenizerLike, load
from bytepair.shards import ledger, locks, packages, plans, runs, tasks
from bytepair.shards.draws import threshold
from bytepair.shards.engines import engine as engine_of
from bytepair.shards.outputs import TRAIN, VALIDATION, Output
from bytepair.shards.plans import Plan, ShardOptions, Stage
from bytepair.shards.sinks import FORMATS
from bytepair.shards.summaries import ShardSummary
from bytepair.sources import inputs, readers
from bytepair.sources.source import Reading
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytepair.call.options import Special
    from bytepair.progress import Report
    from bytepair.shards.engines import Engine
    from bytepair.sources.source import Source
    from bytepair.tokenizer import Tokenizer

Frame: TypeAlias = "str | int | Sequence[str | int] | None"
"""Tokens around a document: a special token by its text, an id, or several of these."""

_LONGEST = "1GB"
_MOST_NAMED = 8


def shard(
    source: Source,
    tokenizer: TokenizerLike,
    output: str | os.PathLike[str],
    *,
    format: str = "bin",
    field: str | None = None,
    id_field: str | None = None,
    delimiter: str | None = None,
    bos: Frame = None,
    eos: Frame = None,
    special: Special = "raise",
    added: Literal["match", "text", "raise"] = "match",
    errors: Literal["strict", "replace"] = "strict",
    bad: Literal["raise", "skip", "quarantine"] = "raise",
    longest: str | int | None = _LONGEST,
    shuffle: bool = False,
    seed: int = 0,
    validation: float | str = 0,
    dtype: str | None = None,
    documents: bool | None = None,
    join: bool = False,
    task_size: str | int | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    resume: bool = False,
    progress: bool | str | Report = False,
) -> ShardSummary:
    r"""Encodes the documents of a corpus into shards that trainers read.

    The bytes of the shards are a function of the inputs, the tokenizer and these options: the same with any engine, any
    number of workers, and however often the run was killed and resumed.

    Args:
        source: See `bytepair.sources.source`; no iterables and no data sets in memory, since a run that was killed
            reads its source again.
        tokenizer: The tokenizer, or any name that `bytepair.load` takes.
        output: A folder on a file system that all workers share; made if need be.
        format: ``bin`` (ids alone, as nanoGPT reads them), ``npy``, ``megatron``, ``parquet``, ``arrow``, ``mds`` or
            ``litdata``.
        field: See `bytepair.sources.source.Reading`.
        id_field: See `bytepair.sources.source.Reading`.
        delimiter: See `bytepair.sources.source.Reading`.
        bos: The tokens before each document.
        eos: The tokens after each document.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.
        errors: For text that is not UTF-8: ``strict`` makes it a bad document, ``replace`` encodes U+FFFD.
        bad: Documents that cannot be used: ``raise``, ``skip`` and count them, or ``quarantine``: write them with their
            errors into ``quarantine/`` as well.
        longest: The most bytes of a document, such as ``"1GB"``; longer ones are bad. None for no limit.
        shuffle: Whether documents are shuffled, all over the corpus.
        seed: Of all draws: a whole number.
        validation: The share of documents that go into files named ``val`` instead of ``train``, drawn by their places.
        dtype: Of the ids, where the format leaves a choice; None for the smallest that holds the largest id.
        documents: Whether a table beside each shard says which document is where; None where the shard itself has no
            place for that.
        join: Whether each split becomes one file.
        task_size: About how many bytes of inputs a task reads, such as ``"256MB"``: of each task come a shard of each
            split. None for what the size of the corpus suggests.
        engine: The engine that runs the tasks: ``local``, ``slurm``, ``ray``, ``spark``, or an engine object.
        workers: How many tasks run at a time; None for the engine's default.
        resume: Whether to resume the run in `output`, if there is one.
        progress: True for a bar on stderr if that is a terminal, ``"json"`` for JSON lines on stderr, or a call.

    Returns:
        The totals; also in ``summary.json`` and ``summary.txt``.

    Raises:
        CorpusError: Sources, options or the plan of the run that is there do not fit.
        ArtifactError: A file cannot be read or written; finished tasks are kept.
        BytepairError: A document is bad, and `bad` is ``raise``.

    Complexity:
        Linear in the corpus. Memory is bounded for each worker, whatever the documents are, but for one document of a
        format that is read a document at a time, of at most `longest` bytes.

    Example:
        >>> import tempfile, bytepair as bp, numpy as np
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("low lower\\nlow\\n")
        >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
        >>> summary = bp.shard(folder / "a.txt", tok, folder / "out", delimiter="\\n", eos="<|end|>")
        >>> summary.documents, summary.tokens, np.fromfile(folder / "out/train-00000.bin", np.uint16).tolist()
        (2, 8, [257, 32, 257, 101, 114, 258, 257, 258])
    """
    tokenizer = load(tokenizer)
    doer = engine_of(engine, workers)
    folder = Path(output)
    reading = Reading(field, id_field, delimiter, None if longest is None else parse_bytes(longest))
    options = _options(
        tokenizer,
        format=format,
        bos=frame(tokenizer, bos),
        eos=frame(tokenizer, eos),
        special=special,
        added=added,
        errors=errors,
        bad=bad,
        shuffle=shuffle,
        seed=seed,
        validation=validation,
        dtype=dtype,
        documents=documents,
        join=join,
    )
    plan = plan_of(source, tokenizer, options, reading, task_size, output=folder)
    _check_format(plan)
    with locks.held(folder):
        is_new = runs.begin(folder, plan, tokenizer, resume=resume)
        # The folder of a resumed run has not been checked yet.
        with tasks.at_hand(folder, plan, tokenizer) if is_new else nullcontext():
            runs.carry_out(folder, plan, doer, reporter(progress))
        return finish(folder, plan)


def _check_format(plan: Plan) -> None:
    """Begin a shard elsewhere, so that a missing package is reported before the folder is made."""
    with TemporaryDirectory() as place, Output(Path(place), TRAIN, 0, plan) as output:
        output.close()


def finish(folder: Path, plan: Plan) -> ShardSummary:
    """Writes what formats need on top of their shards, and the summary, which says that the run is complete.

    Raises:
        ArtifactError: A file cannot be written.
    """
    options = cast("ShardOptions", plan.options)
    last = plan.stages[-1].name
    names: list[str] = []

    def noting_names(entries: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        for entry in entries:
            if entry["stage"] == last:
                names.extend(row["name"] for row in entry["files"])
            yield entry

    # Twice, since all entries are too many to be held.
    check_stage_totals(folder, plan, ledger.entries(folder, plan))
    summary = ShardSummary.of(plan, noting_names(ledger.entries(folder, plan)))
    try:
        with locks.alone(folder / plans.WORK):
            complete = FORMATS[options.format].finish
            written = complete(folder, names) if complete else []
            ledger.finish(folder, plan, [*written, *summary.write(folder)])
            shutil.rmtree(folder / plans.WORK, ignore_errors=True)
    except OSError as error:
        if isinstance(error, BytepairError):
            raise
        raise ledger.unwritten(folder, error) from error
    return summary


def check_stage_totals(folder: Path, plan: Plan, entries: Iterable[dict[str, Any]]) -> None:
    """Check that each stage wrote as many documents and tokens as the first, split by split.

    Raises:
        IntegrityError: One did not.
    """
    sums: dict[str, dict[str, list[int]]] = {stage.name: {} for stage in plan.stages}
    for entry in entries:
        for split, amount in entry["splits"].items():
            whole = sums[entry["stage"]].setdefault(split, [0, 0])
            whole[0] += amount["documents"]
            whole[1] += amount["tokens"]
    first = plan.stages[0].name
    for stage, found in sums.items():
        for split in (TRAIN, VALIDATION):
            before, now = sums[first].get(split, [0, 0]), found.get(split, [0, 0])
            if before != now:
                raise IntegrityError(
                    f"the stage {stage!r} wrote {now[0]} documents and {now[1]} tokens to {split!r}, of "
                    f"{before[0]} and {before[1]}",
                    file=str(folder / plans.LEDGER),
                    remedy="write into a new folder",
                )


def plan_of(
    source: Source,
    tokenizer: Tokenizer,
    options: ShardOptions,
    reading: Reading,
    size: str | int | None = None,
    *,
    output: Path | None = None,
) -> Plan:
    """The plan of a run that makes shards.

    Args:
        source: As for `shard`.
        tokenizer: The tokenizer, or any name that `bytepair.load` takes.
        options: How documents become shards.
        reading: What a document is.
        size: As `task_size` of `shard`.
        output: The folder of the run. Its files belong to the run and are no inputs, even if a pattern matches them.

    Raises:
        CorpusError, ArtifactError: As `shard`.
    """
    found = inputs.find_files(source, "shard")
    if output is not None:
        # It may not be there yet, and be named through links. A run begins in an empty folder only.
        own = os.path.join(os.path.realpath(output), "")  # noqa: PTH118  # with the separator at its end
        found = tuple(one for one in found if not os.path.realpath(one.address).startswith(own))
    readers.check(found, reading)
    encode = runs.first_stage("encode", found, reading, size)
    stages = [encode]
    if options.shuffle:
        stages.append(Stage("shuffle", tuple((bucket,) for bucket in range(len(encode.tasks)))))
    if options.join:
        splits = (TRAIN, VALIDATION) if threshold(options.validation) else (TRAIN,)
        stages.append(Stage("join", tuple((split,) for split in splits)))
    writers = {*FORMATS[options.format].writers, *(["pyarrow"] if options.documents else [])}
    return Plan(options, reading, tokenizer.fingerprint, found, tuple(stages), packages.versions(writers))


def _options(
    tokenizer: Tokenizer,
    *,
    format: str,
    special: Special,
    seed: int,
    validation: float | str,
    dtype: str | None,
    documents: bool | None,
    join: bool,
    **others: Any,
) -> ShardOptions:
    if format not in FORMATS:
        raise CorpusError(f"there is no format {format!r} of shards", remedy=f"use one of {', '.join(FORMATS)}")
    kind = FORMATS[format]
    for name, choices in (
        ("bad", ("raise", "skip", "quarantine")),
        ("errors", ("strict", "replace")),
        ("added", ("match", "text", "raise")),
    ):
        if others[name] not in choices:
            raise ValueError(f"{name}={others[name]!r} is unknown; use one of {', '.join(choices)}")
    if join and kind.join is None:
        able = ", ".join(name for name, other in FORMATS.items() if other.join)
        raise CorpusError(
            f"shards of the format {format!r} cannot be joined",
            remedy=f"leave join out, or use the format {able}",
            cli_remedy=f"leave --join out, or use --format {able}",
        )
    if documents and not kind.table:
        raise CorpusError(
            f"a shard of the format {format!r} records the places of its documents itself",
            remedy="leave documents out",
            cli_remedy="leave --documents out",
        )
    if type(seed) is not int:  # nor bool
        raise TypeError(f"seed={seed!r} is not a whole number")
    share = format_share(validation)
    largest = max(tokenizer.vocab_size - 1, *others["bos"], *others["eos"], 0)
    return ShardOptions(
        format=format,
        dtype=_dtype(kind.dtype(largest), dtype, largest, kind.dtypes),
        special=special if isinstance(special, str) else tuple(sorted(special)),
        seed=seed,
        validation=share,
        documents=kind.table if documents is None else documents,
        join=join,
        **others,
    )


def format_share(share: float | str) -> str:
    """A share as the decimal that was written.

    Raises:
        ValueError: It is no decimal from 0 to 1.

    Example:
        >>> format_share(0.005), format_share("0.10"), format_share(0)
        ('0.005', '0.10', '0')
    """
    text = str(share)
    threshold(text)
    return text


def _dtype(smallest: np.dtype[Any], asked: str | None, largest: int, known: Sequence[str]) -> str:
    if asked is None:
        return smallest.name
    if asked not in known:
        raise CorpusError(
            f"this format cannot hold ids as {asked!r}",
            remedy=f"use one of {', '.join(known)}, or leave it out",
        )
    if np.iinfo(asked).max < largest:
        raise CorpusError(
            f"{asked!r} does not hold the largest id, {largest}", remedy=f"use {smallest.name}, or leave it out"
        )
    return asked


def frame(tokenizer: Tokenizer, tokens: Frame) -> tuple[int, ...]:
    """The ids of tokens around a document.

    Raises:
        InvalidIdError: The tokenizer has no such token.
        TypeError: It is neither a text nor an id, nor a list of these.
    """
    if tokens is None:
        return ()
    items = list(tokens) if isinstance(tokens, (list, tuple)) else [tokens]
    ids = []
    for item in items:
        if not isinstance(item, (str, int, np.integer)) or isinstance(item, bool):
            raise TypeError(f"{item!r} is not a token: use its text or its id")
        try:
            id = tokenizer.token_id(item) if isinstance(item, str) else int(item)
        except InvalidIdError as error:
            if known := list(tokenizer.special_tokens):
                shown = known[:_MOST_NAMED] + ["..."] * (len(known) > _MOST_NAMED)
                error.remedy, error.cli_remedy = f"special tokens are {', '.join(shown)}", None
            raise
        tokenizer.token_bytes(id)  # It raises where there is none.
        ids.append(id)
    return tuple(ids)
