"""The text to count and the options of counting, which train, counts, extend and prune share."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, cast, get_args

from bytepair.cli import arguments
from bytepair.cli.arguments import checked, number
from bytepair.cli.streams import stdin_texts
from bytepair.model.spec import NormalForm
from bytepair.model.split_patterns import SPLIT_PATTERNS
from bytepair.shards.engines import ENGINES
from bytepair.training.counts import Counts
from bytepair.training.learning import TIES
from bytepair.training.memory import parse_bytes
from bytepair.training.weights import parse_group, parse_weight

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ActionsContainer
    from collections.abc import Sequence
    from decimal import Decimal

    from bytepair.training.inputs import TrainingSource


def add_corpus(parser: ArgumentParser, purpose: str) -> None:
    """Adds the files and counts tables, and the keywords of `corpus_options`."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help=f"{purpose}: paths, globs or URLs of text, .jsonl, .parquet, .tar and others, or - alone for stdin",
    )
    group = parser.add_argument_group("corpus")
    group.add_argument(
        "--from-counts",
        metavar="TABLE",
        action="append",
        default=[],
        help="instead of text, a table of `bytepair counts`; several are added up",
    )
    arguments.add_field(group)
    arguments.add_delimiter(group)
    arguments.add_errors(group, default=None)
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=checked(parse_bytes),
        help="the memory limit of tables, such as 2GB; beyond it counting uses temporary files (default: none)",
    )
    arguments.add_threads(group)
    arguments.add_progress(group)


def add_engine(parser: ArgumentParser) -> None:
    """Adds the options of counting in a run of tasks, on this machine or on a cluster."""
    group = parser.add_argument_group("counting in tasks")
    group.add_argument(
        "--engine",
        choices=tuple(ENGINES),
        help="what counts, task by task (default: one process)",
    )
    group.add_argument(
        "--work", metavar="DIR", help="with --engine: the folder of the run, which keeps finished counts"
    )
    group.add_argument("--workers", metavar="N", type=number, help="with --engine: how many tasks run at a time")
    group.add_argument(
        "--task-size",
        metavar="SIZE",
        type=checked(parse_bytes),
        help="with --engine: the approximate size of a task's files, such as 256MB",
    )


def counted(options: Namespace, corpus: TrainingSource | None) -> TrainingSource | None:
    """The source, or its counts if an engine makes them; all stages of `add_stages` are in them then."""
    if options.engine is None:
        return corpus
    from bytepair.shards.count_corpus import count_corpus  # noqa: PLC0415  # most commands need none of it

    given = corpus_options(options)
    if given["memory"] is None:
        del given["memory"]
    del given["threads"]
    return count_corpus(
        cast("Any", corpus),
        options.work,
        split="o200k" if options.split is None else options.split,
        normalizers=options.normalizer,
        special_tokens=options.special_token,
        engine=options.engine,
        workers=options.workers,
        task_size=options.task_size,
        resume=options.resume,
        **given,
    )


def check_engine(options: Namespace) -> None:
    """Ends with a usage error if the options of `add_engine` do not fit."""
    if options.engine is None:
        for name in ("work", "workers", "task_size"):
            if getattr(options, name) is not None:
                options.usage_error(f"--{name.replace('_', '-')} goes with --engine, such as --engine local")
        return
    if options.work is None:
        options.usage_error("--engine goes with --work DIR, a folder that all workers can reach")
    if options.from_counts:
        options.usage_error("--engine counts text, and the table of --from-counts is counted already")
    if options.files == ["-"]:
        options.usage_error("--engine reads files, not stdin, which cannot be read again")


def add_stages(parser: ArgumentParser) -> None:
    """Adds the stages that make pieces of text, and the options for their counts."""
    group = parser.add_argument_group("pieces")
    group.add_argument(
        "--split",
        metavar="NAME|PATTERN",
        help=f"{', '.join(SPLIT_PATTERNS)}, or a regular expression (default: o200k)",
    )
    group.add_argument(
        "--normalizer",
        choices=get_args(NormalForm),
        action="append",
        default=[],
        help="applied to the text before it is split; several act in this order",
    )
    group.add_argument(
        "--special-token", metavar="TEXT", action="append", default=[], help="cut out of the text; once for each"
    )
    add_group(group, "counted")
    group.add_argument(
        "--weight",
        metavar="NAME=WEIGHT",
        action="append",
        type=checked(parse_weight),
        default=[],
        help="an exact factor for the counts of a group, such as en=0.7; once for each",
    )
    group.add_argument("--min-count", metavar="N", type=number, help="leave out pieces that occur less often")


def add_group(group: _ActionsContainer, purpose: str) -> None:
    """Adds the files of named each with its name."""
    group.add_argument(
        "--group",
        metavar="NAME=FILE",
        action="append",
        type=checked(parse_group),
        default=[],
        help=f"instead of FILE, a path or glob that is {purpose} separately as the group NAME; once for each",
    )


def groups(options: Namespace) -> dict[str, list[str]]:
    """The files of each group of ``--group``; none for a command without it."""
    return by_group(getattr(options, "group", []))


def by_group(given: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """The files of each group, in the order of the first ones."""
    return {name: [path for group, path in given if group == name] for name, _ in given}


def add_merging(parser: _ActionsContainer) -> None:
    """Adds the keywords for learning merges."""
    parser.add_argument(
        "--ties", choices=TIES, default="lowest_ids", help="which of equally frequent pairs merges first"
    )
    parser.add_argument(
        "--min-frequency",
        metavar="N",
        type=number,
        default=2,
        help="pairs that occur less often are not merged (default: 2)",
    )
    parser.add_argument("--max-token-length", metavar="N", type=number, help="the longest token to make, in bytes")
    parser.add_argument("--max-words", metavar="N", type=number, help="the most words of a token to make")


def source(options: Namespace, *behind: str, required: bool = True) -> TrainingSource | None:
    """The source that the arguments name; None if there is none and none is `required`.

    `behind` names more options that are for text, not for counts tables.
    """
    grouped = groups(options)
    if "-" in options.files and len(options.files) > 1:
        options.usage_error("- (stdin) goes alone, not with files")
    if sum(map(bool, (options.files, grouped, options.from_counts))) > 1:
        options.usage_error("FILE, --group and --from-counts do not go together")
    if options.from_counts:
        for name in ("field", "delimiter", "errors", *behind):
            if getattr(options, name):
                options.usage_error(f"--{name.replace('_', '-')} is for text, not for a counts table")
        return reduce(add, (Counts.read(table, memory=options.memory) for table in options.from_counts))
    if grouped:
        return dict(grouped)
    if required and not options.files:
        options.usage_error("there is no text; name a FILE, a --group NAME=FILE, or a table --from-counts")
    return stdin_texts(options.delimiter) if options.files == ["-"] else options.files or None


def weights(options: Namespace, corpus: TrainingSource | None) -> dict[str, Decimal]:
    """The weights of which have to be those of the source."""
    found = dict(options.weight)
    groups: Sequence[str] = corpus.groups if isinstance(corpus, Counts) else [name for name, _ in options.group]
    known = [name for name in dict.fromkeys(groups) if name]
    if len(found) < len(options.weight):
        options.usage_error("--weight names a group twice")
    for name in found:
        if name not in known:
            options.usage_error(
                f"there is no group {name!r} to weight; "
                + (f"the groups are {', '.join(known)}" if known else "make groups with --group NAME=FILE")
            )
    return found


def corpus_options(options: Namespace) -> dict[str, Any]:
    """The keywords that `bytepair.train_with_statistics`, `extend`, `prune` and `Counts.of` share."""
    return {
        "field": options.field,
        # stdin has been cut already.
        "delimiter": None if options.files == ["-"] else options.delimiter,
        "errors": options.errors or "strict",
        "threads": options.threads,
        "memory": options.memory,
        "progress": arguments.progress(options),
    }


def spilled(runs: tuple[int, int]) -> list[str]:
    """The line for `Counts.spilled`; none if nothing was."""
    many, size = runs
    return [f"{many:,} sorted runs of {size / 1e6:,.1f} MB on disk"] if many else []
