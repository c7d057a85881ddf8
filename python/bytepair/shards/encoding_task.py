"""Documents -> ids -> shards: the first stage of a run that makes shards."""

from __future__ import annotations

import base64
import json
import shutil
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from bytepair import _core
from bytepair.errors import BytepairError, LimitError
from bytepair.model.meanings import unknown_of
from bytepair.shards import ledger
from bytepair.shards.draws import Draw, threshold
from bytepair.shards.outputs import TRAIN, VALIDATION, Output
from bytepair.shards.plans import ShardOptions
from bytepair.shards.sinks import Encoded
from bytepair.shards.spooling import Spool
from bytepair.shards.tally import Tally
from bytepair.sources import flat_rows, inputs, readers
from bytepair.sources.documents import Documents, Fault, LongDocument
from bytepair.sources.inputs import blame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from bytepair.shards.plans import Portion, TaskName
    from bytepair.shards.tasks import Work
    from bytepair.sources.inputs import Input
    from bytepair.tokenizer import Tokenizer

_BATCH_BYTES = 4 << 20


def encode(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Encodes the documents of some portions of inputs.

    Args:
        work: The run.
        task: The task.
        folder: Where its shards go; or what the stage after it needs, if documents are shuffled.
        tell: Gets the bytes read, and the documents and tokens so far.

    Returns:
        The facts of its entry in the ledger.

    Raises:
        BytepairError: A document is bad, and the plan says ``raise``.
        ArtifactError: An input cannot be read, or has changed.
        OSError: A file cannot be written.
    """
    with ExitStack() as stack:
        encoding = _Encoding(work, task, folder, stack)
        passed = 0
        for portion in work.plan.stage(task[0]).tasks[task[1]]:
            passed = encoding.portion(portion, passed, tell)
        encoding.close()
        whole = encoding.tally.whole
        splits = {
            split: {"documents": amount.documents, "tokens": amount.tokens}
            for split, amount in sorted(encoding.tally.splits.items())
        }
        facts = {"read": passed, "documents": whole.documents, "tokens": whole.tokens, "splits": splits}
        return facts | {"tally": encoding.tally.to_json()}


class _Encoding:
    """A task under way."""

    def __init__(self, work: Work, task: TaskName, folder: Path, stack: ExitStack) -> None:
        self.tally = Tally()
        self._plan = work.plan
        self._options = cast("ShardOptions", work.plan.options)
        self._tokenizer = cast("Tokenizer", work.tokenizer)
        self._task = task
        self._folder = folder
        self._stack = stack
        self._outputs: dict[str, Output | Spool] = {}
        self._below = threshold(self._options.validation)
        options = self._options
        special = options.special if isinstance(options.special, str) else set(options.special)
        self._policy: dict[str, Any] = {"special": special, "added": options.added, "errors": options.errors}
        self._unknown = unknown_of(self._tokenizer.spec)
        # Unknown tokens in frames are not counted.
        self._framed = [*options.bos, *options.eos].count(-1 if self._unknown is None else self._unknown)

    @cached_property
    def _names(self) -> list[str]:
        return [input.name for input in self._plan.inputs]

    @cached_property
    def _draw(self) -> Draw:
        return Draw(self._options.seed, "validation", self._names)

    @cached_property
    def _quarantine(self) -> BinaryIO:
        place = self._folder / ledger.QUARANTINE / f"{self._plan.stem(*self._task)}.jsonl"
        place.parent.mkdir()
        return self._stack.enter_context(place.open("wb"))

    def portion(self, portion: Portion, before: int, tell: Callable[[int, int, int], None]) -> int:
        """Encodes the documents of a portion; returns what was read by then."""
        plan, errors = self._plan, self._options.errors
        input = plan.inputs[portion.input]
        inputs.check(input)
        passed = before
        for found in readers.read(input, portion.start, portion.end, plan.reading, _BATCH_BYTES, errors=errors):
            if isinstance(found, LongDocument):

                def tell_more(passed_here: Callable[[], int] = found.passed) -> None:
                    tell(before + passed_here(), *self._so_far())

                self._long(portion.input, input, found, tell_more)
                passed = before + found.passed()
            else:
                self._batch(portion.input, input, found)
                passed = before + found.passed
            tell(passed, *self._so_far())
        # A file that changed while it was read is neither the old nor the new one.
        inputs.check(input)
        return passed

    def close(self) -> None:
        """Completes the files; of a split whose only document was bad, and too long to be held, none is left."""
        for split, output in self._outputs.items():
            output.close()
            if split not in self.tally.splits:
                for path in list(self._folder.glob(f"{split}*")):
                    if path.is_dir():
                        shutil.rmtree(path)
                    else:
                        path.unlink()

    def _so_far(self) -> tuple[int, int]:
        whole = self.tally.whole
        return whole.documents, whole.tokens

    def _output(self, split: str) -> Output | Spool:
        if split not in self._outputs:
            made = self._folder, split, self._task[1], self._plan
            output: Output | Spool = Spool(*made) if self._options.shuffle else Output(*made)
            self._outputs[split] = output
            # Closed also when an error is raised.
            self._stack.push(output)
        return self._outputs[split]

    def _batch(self, number: int, input: Input, found: Documents) -> None:
        ids, offsets, refused = _core.encode_buffer(
            self._tokenizer,
            found.texts.data,
            found.texts.offsets,
            prefix=self._options.bos,
            suffix=self._options.eos,
            gap=found.texts.gap,
            **self._policy,
        )
        sizes = found.texts.lengths
        keep = sizes > 0
        faults = list(found.faults)
        for row, error in refused:
            keep[row] = False
            error.row = None
            faults.append(Fault(int(found.positions[row]), error, found.texts[row]))
        self.tally.empty += int((sizes == 0).sum())
        for fault in sorted(faults, key=lambda fault: fault.position):
            self._bad(input, fault)
        encoded = Encoded(ids, offsets, np.full(len(sizes), number, np.int32), found.positions, found.ids)
        if self._unknown is not None:
            framed = self._framed * (len(sizes) - len(refused))
            self.tally.unknown += int(np.count_nonzero(ids == self._unknown)) - framed
        splits = [(TRAIN, keep)]
        if self._below:
            validation = self._is_validation(encoded.inputs, encoded.positions)
            splits = [(TRAIN, keep & ~validation), (VALIDATION, keep & validation)]
        for split, rows in splits:
            if rows.any():
                chosen = _where(encoded, rows)
                self._output(split).write(chosen)
                self.tally.count(split, input.group, np.diff(chosen.offsets), int(sizes[rows].sum()))

    def _is_validation(self, numbers: NDArray[np.int32], positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        # 2^64 itself, for a share of one, is more than any draw and than 64 bits.
        if self._below >= 1 << 64:
            return np.ones(len(positions), np.bool_)
        return self._draw(numbers, positions) < np.uint64(self._below)

    def _long(self, number: int, input: Input, found: LongDocument, tell: Callable[[], None]) -> None:
        """Encodes a document part by part, so that no more of it is in memory than its longest piece needs."""
        place = np.array([number], np.int32), np.array([found.position], np.int64)
        split = VALIDATION if self._below and self._is_validation(*place)[0] else TRAIN
        output = self._output(split)
        stream = self._tokenizer.encode_stream(**self._policy)
        tokens = size = unknown = 0
        output.begin()

        def take(ids: NDArray[np.uint32]) -> None:
            nonlocal tokens, unknown
            output.extend(ids)
            tokens += len(ids)
            unknown += 0 if self._unknown is None else int(np.count_nonzero(ids == self._unknown))

        try:
            take(np.array(self._options.bos, np.uint32))
            for part in found.parts:
                size += len(part)
                take(stream.push(part))
                tell()
            take(stream.finish())
            take(np.array(self._options.eos, np.uint32))
        except BytepairError as error:
            output.drop()
            if isinstance(error, OSError):  # It is the file that cannot be read.
                raise
            try:
                for _ in found.parts:
                    pass
            except LimitError as longer:  # the error that a document read whole would have
                error = longer
            self._bad(input, Fault(found.position, error))
            return
        output.end(number, found.position, found.id or b"")
        self.tally.unknown += unknown - self._framed
        self.tally.count(split, input.group, np.array([tokens]), size)

    def _bad(self, input: Input, fault: Fault) -> None:
        error = fault.error
        if error.file is None:
            # Characters are counted in texts, but a run says where bytes are.
            error.character = None
            blame(error, input, fault.position)
        else:
            # Its reader has placed it, in the file of this machine.
            error.file = input.name
        if self._options.bad == "raise":
            raise error
        self.tally.bad[type(error).__name__] += 1
        if self._options.bad == "quarantine":
            row: dict[str, Any] = {"input": input.name, "position": fault.position, "error": str(error)}
            if fault.data is not None:
                try:
                    row["text"] = fault.data.decode()
                except UnicodeDecodeError:
                    row["base64"] = base64.b64encode(fault.data).decode()
            line = json.dumps(row, ensure_ascii=False)
            # Invalid UTF-8 occurs only in strings, where Python's escape is also JSON's.
            self._quarantine.write(line.encode("utf-8", "backslashreplace") + b"\n")


def _where(encoded: Encoded, rows: NDArray[np.bool_]) -> Encoded:
    """Some of the documents."""
    ids, offsets = flat_rows.where(encoded.ids, encoded.offsets, rows)
    if ids is encoded.ids:
        return encoded
    names = encoded.names and encoded.names.where(rows)
    return Encoded(ids, offsets, encoded.inputs[rows], encoded.positions[rows], names)
