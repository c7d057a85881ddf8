r"""Encodes the documents of a corpus into shards for trainers, in a run you can kill and resume at any point.

The folder gets shards, a plan, a ledger of finished tasks with hashes, the tokenizer, and a summary.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.cli.arguments import (
    DEFAULT_MODEL,
    add_model,
    add_progress,
    checked,
    default_model,
    load,
    number,
    policy,
    progress,
)
from bytepair.cli.counting_arguments import groups
from bytepair.cli.shard_arguments import add_documents, add_shards, named_tasks
from bytepair.drawing.wording import plural
from bytepair.progress import RunProgress, reporter, short, short_bytes
from bytepair.shards import histogram, plans
from bytepair.shards.engines import ENGINES, watched
from bytepair.shards.engines.local import Local
from bytepair.shards.sharding import shard
from bytepair.shards.verify import verify_shards
from bytepair.training.memory import parse_bytes, peak_memory

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from bytepair.progress import Progress
    from bytepair.shards.summaries import ShardSummary

EXAMPLE = """\
examples:
  bytepair shard 'docs/*.md' README.md -m demo-output -o shards --validation 0.005 --shuffle
  bytepair shard 'docs/*.md' README.md -m demo-output -o shards --validation 0.005 --shuffle --resume
  bytepair shard --verify shards
  bytepair shard README.md -m demo-output --delimiter '\\n' --join --no-documents -o lines
  bytepair shard --group 'docs=docs/*.md' --group read=README.md -m demo-output --format megatron -o groups

from files of JSON lines, with an end token after each document:
    bytepair shard 'web/*.jsonl.zst' -m gpt2 --special text --eos '<|endoftext|>' --id-field url --bad quarantine -o web
"""

_MODES = {"verify": ("output", "progress"), "task": ("output",)}
_OURS = {"run", "usage_error"}


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.shard`, and the two other modes of this command."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="paths, globs or URLs of text, .jsonl, .parquet, .arrow, .tar, also .gz and .zst; or a data set's folder",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the folder of the run, new or empty")
    add_model(parser, required=False)
    add_documents(parser)
    add_shards(parser)
    group = parser.add_argument_group("run")
    group.add_argument(
        "--task-size",
        metavar="SIZE",
        type=checked(parse_bytes),
        help="the approximate size of a task's inputs, such as 256MB",
    )
    group.add_argument("--engine", choices=tuple(ENGINES), default="local", help="what runs the tasks (default: local)")
    group.add_argument("--workers", metavar="N", type=number, help="how many tasks run at a time")
    group.add_argument(
        "--processes", action="store_true", help="with the local engine: workers are processes, not threads"
    )
    group.add_argument("--resume", action="store_true", help="go on with the run in OUT, if there is one")
    add_progress(group)
    group.add_argument("--histogram", metavar="F.svg", help="draw the histogram of document lengths")
    group = parser.add_argument_group("instead of a run")
    group.add_argument("--verify", metavar="OUT", help="check that the run in OUT is complete and unchanged")
    group.add_argument(
        "--task",
        metavar="STAGE/N",
        nargs="+",
        type=named_tasks,
        help="run tasks of the run in -o OUT, such as encode/17 or encode/10-19, as engines do",
    )


def run(options: Namespace) -> int:
    """Makes shards, verifies them, or runs tasks of a run."""
    given = _given(options)
    for mode, allowed in _MODES.items():
        if getattr(options, mode) is not None and (wrong := sorted(given.difference(allowed, {mode}))):
            what = "FILE" if wrong[0] == "files" else f"--{wrong[0].replace('_', '-')}"
            options.usage_error(f"--{mode} does not go with {what}")
    if options.verify is not None:
        if options.output:
            options.usage_error("--verify OUT names the folder; leave -o out")
        return _verify(options)
    if not options.output:
        options.usage_error("name the folder of the run: -o OUT")
    with _resumable(options):
        return _do_tasks(options) if options.task is not None else _shard(options)


def _shard(options: Namespace) -> int:
    source = _source(options)
    options.model = options.model or default_model()
    if options.model is None:
        options.usage_error(f"name the tokenizer: -m MODEL, or the variable {DEFAULT_MODEL}")
    if options.processes and options.engine != "local":
        options.usage_error(f"--processes is for the local engine; {options.engine} has processes of its own")
    if options.histogram:
        if Path(options.output).resolve() in Path(options.histogram).resolve().parents:
            options.usage_error("--histogram F.svg has to be outside OUT, which holds only the files of the plan")
        histogram.check_plot(Path(options.histogram))
    keywords: dict[str, Any] = {
        name: value
        for name in (
            *("format", "field", "id_field", "delimiter", "added", "errors", "bad", "seed", "validation", "dtype"),
            *("documents", "task_size"),
        )
        if (value := getattr(options, name)) is not None
    }
    if options.special is not None:
        keywords["special"] = policy(options.special)
    tokenizer = load(options, options.model)
    watcher = _Watcher(progress(options))
    start = time.perf_counter()
    summary = shard(
        source,
        tokenizer,
        options.output,
        bos=_frame(options.bos),
        eos=_frame(options.eos),
        longest=options.longest,
        shuffle=options.shuffle,
        join=options.join,
        engine=Local(options.workers, processes=True) if options.processes else options.engine,
        workers=None if options.processes else options.workers,
        resume=options.resume,
        progress=watcher,
        **keywords,
    )
    _say(options, summary, watcher, time.perf_counter() - start)
    if options.histogram:
        summary.plot(options.histogram)
    return 0


def _verify(options: Namespace) -> int:
    start = time.perf_counter()
    found = verify_shards(options.verify, progress=progress(options))
    seconds = time.perf_counter() - start
    facts = [
        plural(found.tasks, "task"),
        _files(found.files, found.bytes),
        plural(found.documents, "document"),
        plural(found.tokens, "token"),
    ]
    if options.progress == "json":
        print(json.dumps({"phase": "done", "seconds": seconds, **asdict(found)}), file=sys.stderr)
    else:
        print(f"{', '.join(facts)}, {seconds:.2f} s: {options.verify} is complete and unchanged", file=sys.stderr)
    return 0


def _do_tasks(options: Namespace) -> int:
    for stage, at in (task for named in options.task for task in named):
        entry = watched.run(options.output, stage, at)
        amounts = [plural(entry[f"{name}s"], name) for name in ("document", "token") if f"{name}s" in entry]
        written = _files(len(entry["files"]), sum(row["size"] for row in entry["files"]))
        print(f"{stage}/{at}: {', '.join([*amounts, written])}", file=sys.stderr)
    return 0


def _say(options: Namespace, summary: ShardSummary, watcher: _Watcher, seconds: float) -> None:
    read, tokens, spent = watcher.here()
    # The memory of other machines is not known here.
    memory = (peak_memory(children=options.processes) or None) if options.engine == "local" else None
    if options.progress == "json":
        facts: dict[str, Any] = {"phase": "done", "seconds": seconds, "peak_memory": memory}
        print(json.dumps(facts | {"summary": summary.to_json()}), file=sys.stderr)
        return
    rates = [f"{short_bytes(read / spent)}/s", f"{short(tokens / spent)} tokens/s"] if read and spent else []
    shown = [f"peak memory {short_bytes(memory)}"] if memory else []
    written = _files(sum(summary.files.values()), sum(summary.file_bytes.values()))
    print(
        f"{plural(summary.documents, 'document')} ({summary.tally.empty:,} empty, {summary.bad:,} bad), "
        f"{plural(summary.tokens, 'token')}, {summary.bytes_per_token:.2f} bytes per token",
        file=sys.stderr,
    )
    print(", ".join([f"{seconds:.2f} s", *rates, *shown, written]) + f": {options.output}", file=sys.stderr)


class _Watcher:
    """Passes on the progress of a run, and remembers the part of this call."""

    def __init__(self, shown: bool | str) -> None:
        self._report = reporter(shown)
        self._first: RunProgress | None = None
        self._last: RunProgress | None = None

    def __call__(self, state: Progress) -> None:
        # Inputs are read in the first stage.
        if isinstance(state, RunProgress) and state.unit == "bytes":
            self._first = self._first or state
            self._last = state
        if self._report:
            self._report(state)

    def here(self) -> tuple[int, int, float]:
        """The bytes that were read, the tokens that they became, and the seconds."""
        if not self._first or not self._last:
            return 0, 0, 0.0
        return self._last.done - self._last.before, self._last.tokens - self._first.tokens, self._last.seconds


def _source(options: Namespace) -> Any:
    if "-" in options.files:
        options.usage_error("stdin cannot be read again for --resume; name files")
    if options.files and options.group:
        options.usage_error("FILE and --group do not go together")
    if not options.files and not options.group:
        options.usage_error("there is no text; name a FILE, or a --group NAME=FILE")
    return groups(options) or options.files


def _given(options: Namespace) -> set[str]:
    """The names of the arguments on the command line."""
    usual = {"longest": parse_bytes("1GB"), "engine": "local", "progress": "bar"}
    unsaid = {name for name, value in vars(options).items() if value is None or value is False or value == []}
    return {name for name in vars(options).keys() - unsaid if getattr(options, name) != usual.get(name)} - _OURS


@contextmanager
def _resumable(options: Namespace) -> Iterator[None]:
    """Reports what is kept when Ctrl-C ends a run."""
    try:
        yield
    except KeyboardInterrupt as error:
        kept = Path(options.output, plans.NAME).exists()
        hint = "finished tasks are kept: --resume goes on with them" if kept else "nothing was begun"
        raise KeyboardInterrupt(f"interrupted; {hint}") from error


def _frame(texts: list[str] | None) -> list[str | int] | None:
    return [int(text) if text.isdecimal() else text for text in texts] if texts else None


def _files(number: int, size: int) -> str:
    return f"{plural(number, 'file')} of {short_bytes(size)}"
