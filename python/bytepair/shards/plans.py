"""The plan of a run over a corpus: inputs, options, and tasks; kept as ``plan.json`` in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair import files
from bytepair.errors import ArtifactError, CorpusError, FormatError
from bytepair.shards import sealed
from bytepair.sources.inputs import Input
from bytepair.sources.source import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

NAME = "plan.json"
TOKENIZER = "tokenizer"
WORK = "work"
LEDGER = "ledger"
"""Names in the folder of a run beside its shards."""

TaskName: TypeAlias = "tuple[str, int]"
"""A stage and the number of a task in it."""

_VERSION = 1
_LEAST_TASK, _MOST_TASK, _USUAL_TASKS = 16 << 20, 256 << 20, 64


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of an input: from `start` to `end`, in the units of its reader.

    Attributes:
        input: The number of the input in the plan.
        start: Its start.
        end: Its end; None for the end of the input.
    """

    input: int
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Stage:
    """Independent tasks, which need all tasks of the previous stage.

    Attributes:
        name: The work of its tasks: ``encode``, ``shuffle``, ``join``, ``count``, ``reduce-1`` and so on.
        tasks: The arguments of each task: portions of inputs for the first stage; for others as that stage defines.
    """

    name: str
    tasks: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """The options of sharding. Each of them can change the bytes of the shards.

    Attributes:
        format: The name of a sink.
        dtype: The NumPy name of the dtype of ids.
        bos: Ids before each document.
        eos: Ids after each document.
        special: The policy for special tokens in documents: ``raise``, ``text``, ``allow``, or a sorted list of them.
        added: The policy for added tokens that are not special.
        errors: ``strict`` or ``replace``, for documents that are not UTF-8.
        bad: ``raise``, ``skip`` or ``quarantine``, for documents that cannot be used.
        shuffle: Whether documents are in random order rather than that of the inputs.
        seed: The seed of all random choices.
        validation: The share of documents that go to the validation split, as a decimal.
        documents: Whether a table locates each document.
        join: Whether each split is one file.
    """

    format: str
    dtype: str
    bos: tuple[int, ...]
    eos: tuple[int, ...]
    special: str | tuple[str, ...]
    added: str
    errors: str
    bad: str
    shuffle: bool
    seed: int
    validation: str
    documents: bool
    join: bool


@dataclass(frozen=True, slots=True)
class CountOptions:
    """The options of counting.

    Attributes:
        split: The split pattern.
        normalizers: As for `bytepair.Counts.of`.
        special_tokens: As for `bytepair.Counts.of`.
        errors: As for `bytepair.Counts.of`.
        memory: The memory limit of a task's table, in bytes; the rest goes to temporary files. None for no limit.
        digest: Whether inputs are read once more for the digest of the table.
    """

    split: str
    normalizers: tuple[str, ...]
    special_tokens: tuple[str, ...]
    errors: str
    memory: int | None
    digest: bool


@dataclass(frozen=True)
class Plan:
    """The plan of a run. The same plan produces the same bytes with any workers, machines and order of tasks.

    Attributes:
        options: `ShardOptions` or `CountOptions`.
        reading: The reading options.
        tokenizer: The fingerprint of the tokenizer; empty for counts.
        inputs: The inputs.
        stages: The stages, in order.
        packages: The packages whose writers affect the bytes of files, and their versions, sorted.
    """

    options: ShardOptions | CountOptions
    reading: Reading
    tokenizer: str
    inputs: tuple[Input, ...]
    stages: tuple[Stage, ...]
    packages: tuple[tuple[str, str], ...] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the plan, which the ledger records."""
        return sealed.digest(_table(self))

    @property
    def size(self) -> int:
        """The bytes of all inputs, as stored."""
        return sum(input.size for input in self.inputs)

    def stage(self, name: str) -> Stage:
        """The stage of this name.

        Raises:
            CorpusError: There is none.
        """
        for stage in self.stages:
            if stage.name == name:
                return stage
        names = ", ".join(stage.name for stage in self.stages)
        raise CorpusError(f"the plan has no stage {name!r}", remedy=f"its stages are {names}")

    def tasks(self) -> Iterator[TaskName]:
        """All tasks, stage after stage."""
        return ((stage.name, number) for stage in self.stages for number in range(len(stage.tasks)))

    def padded(self, number: int) -> str:
        """The number of a task, zero-padded to at least five digits so that names sort."""
        most = max(len(stage.tasks) for stage in self.stages)
        return f"{number:0{max(5, len(str(most - 1)))}}"

    def stem(self, name: str, number: int) -> str:
        """The prefix of file names of a task.

        Args:
            name: A split, or a stage.
            number: The number of the task.
        """
        return f"{name}-{self.padded(number)}"


def task_size(inputs: Sequence[Input]) -> int:
    """The default bytes of inputs per task: a function of the size of all inputs."""
    return min(max(sum(input.size for input in inputs) // _USUAL_TASKS, _LEAST_TASK), _MOST_TASK)


def gather(
    inputs: Sequence[Input], portions: Iterable[Sequence[tuple[int, int | None]]], size: int
) -> tuple[tuple[Portion, ...], ...]:
    """Puts the portions of inputs, in order, into tasks of about `size` bytes.

    Args:
        inputs: All inputs.
        portions: The portions of each input.
        size: A task ends when it has this many bytes.
    """
    tasks: list[tuple[Portion, ...]] = []
    task: list[Portion] = []
    filled = 0.0
    for number, (input, cuts) in enumerate(zip(inputs, portions, strict=True)):
        for start, end in cuts:
            share = input.size / len(cuts)
            # A portion that fits by half still joins: a tiny task is not worth its files.
            if task and filled + share / 2 > size:
                tasks.append(tuple(task))
                task, filled = [], 0.0
            task.append(Portion(number, start, end))
            filled += share
    if task:
        tasks.append(tuple(task))
    return tuple(tasks)


def write(folder: Path, plan: Plan) -> None:
    """Writes ``plan.json``, one input or task per line.

    Raises:
        ArtifactError: It cannot be written.
    """
    table = _table(plan)

    def lines(rows: Iterable[Any]) -> str:
        return "[\n" + ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows) + "\n]"

    stages = ",\n".join(
        f' {{"name": "{stage["name"]}", "tasks": {lines(stage["tasks"])}}}' for stage in table["stages"]
    )
    parts = {
        name: lines(value) if name == "inputs" else f"[\n{stages}\n]" if name == "stages" else json.dumps(value)
        for name, value in table.items()
    }
    text = "{" + ",\n".join(f'"{name}": {value}' for name, value in parts.items()) + "\n}"
    sealed.write(folder / NAME, table, text)


def read(folder: Path) -> Plan:
    """The plan of a folder.

    Raises:
        ArtifactError: There is none, or it cannot be read.
        FormatError: It is of another version.
        IntegrityError: It is damaged.
    """
    place = folder / NAME
    if not files.exists(place):
        raise ArtifactError(
            "there is no run in this folder", file=str(folder), remedy="check the path; a run has a plan.json in it"
        )
    table, digest = sealed.read_with_digest(place)
    if table.get("version") != _VERSION:
        raise FormatError(
            "the plan is of another version of bytepair", file=str(place), remedy="go on with the version that made it"
        )
    kind = {"shards": ShardOptions, "counts": CountOptions}[table["kind"]]
    plain = table["options"]
    plan = Plan(
        kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}),
        Reading(**table["reading"]),
        table["tokenizer"],
        tuple(Input(**input) for input in table["inputs"]),
        tuple(
            Stage(
                stage["name"],
                tuple(tuple(Portion(*item) if number == 0 else item for item in task) for task in stage["tasks"]),
            )
            for number, stage in enumerate(table["stages"])
        ),
        tuple(table["packages"].items()),
    )
    # Stored as the cached property: computing it again takes seconds for a plan of many tasks.
    plan.__dict__["digest"] = digest
    return plan


def _table(plan: Plan) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "kind": "shards" if isinstance(plan.options, ShardOptions) else "counts",
        "tokenizer": plan.tokenizer,
        "packages": dict(plan.packages),
        "options": asdict(plan.options),
        "reading": asdict(plan.reading),
        "inputs": [asdict(input) for input in plan.inputs],
        "stages": [
            {
                "name": stage.name,
                "tasks": [
                    [[item.input, item.start, item.end] if isinstance(item, Portion) else item for item in task]
                    for task in stage.tasks
                ],
            }
            for stage in plan.stages
        ],
    }
