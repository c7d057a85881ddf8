"""Checkpoints: the counts and merges that a training keeps while it runs, so that it can be resumed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from bytepair import files
from bytepair.errors import ArtifactError, FormatError, TrainingError
from bytepair.model import byte_alphabet
from bytepair.training.counts import MOST, Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTINGS = "settings.json"
COUNTS = "counts.parquet"
MERGES = "merges.jsonl"

Merge: TypeAlias = "tuple[int, int, int]"


class Checkpoint:
    """A folder with the settings, the counts and the merges of a training.

    Args:
        folder: The folder, made where it is missing.
        settings: The settings that the result depends on, beside the source.
        resume: Whether to go on from an existing checkpoint.

    Raises:
        TrainingError: There is a checkpoint and `resume` is not set, or it has other settings; the error names them.
        ArtifactError: The folder cannot be read or written.
    """

    def __init__(self, folder: str | os.PathLike[str], settings: Mapping[str, Any], *, resume: bool) -> None:
        self._folder = Path(folder)
        self.log = self._folder / MERGES
        place = self._folder / SETTINGS
        if not files.exists(place):
            files.write_all(
                self._folder,
                {SETTINGS: json.dumps(settings, ensure_ascii=False, indent=2).encode()},
                is_swept=True,
            )
            return
        if not resume:
            raise TrainingError(
                "the folder holds the checkpoint of another training",
                file=str(self._folder),
                remedy="pass resume=True to go on from it, or choose another folder",
                cli_remedy="pass --resume to go on from it, or choose another folder",
            )
        known = _json(files.read(place), place)
        wanted = json.loads(json.dumps(settings))
        for name in wanted:
            if not isinstance(known, dict) or known.get(name) != wanted[name]:
                was = known.get(name) if isinstance(known, dict) else None
                raise TrainingError(
                    f"the checkpoint has another setting of {name.replace('_', ' ')}: "
                    f"{_shown(was)}, not {_shown(wanted[name])}",
                    file=str(place),
                    remedy="resume with the settings of the checkpoint, or choose another folder",
                )

    def counts(self, memory: int | None) -> Counts | None:
        """The counts, if the checkpoint has them."""
        place = self._folder / COUNTS
        return Counts.read(place, memory=memory) if files.exists(place) else None

    def keep(self, counts: Counts) -> None:
        """Writes the counts."""
        counts.write(self._folder / COUNTS)

    def merges(self, first: int) -> list[Merge]:
        """The merges so far, as numbers of symbols; `MergeLog` continues after them.

        `first` is the id of the first symbol. A last line that is cut off is ignored.

        Raises:
            FormatError: `MergeLog` did not write a line like this.
        """
        if not files.exists(self.log):
            return []
        merges = []
        lines = files.read(self.log).split(b"\n")
        for number, line in enumerate(lines[:-1]):
            record = _json(line, self.log, line=number + 1)
            try:
                (left, right), count = record["pair"], record["count"]
                known = record["rank"] == number
            except (KeyError, TypeError, ValueError) as error:
                raise _damaged(self.log, number + 1) from error
            if not known or not all(type(value) is int for value in (left, right, count)):
                raise _damaged(self.log, number + 1)
            if not (0 <= left - first < 256 + number and 0 <= right - first < 256 + number and 0 < count <= MOST):
                raise _damaged(self.log, number + 1)
            merges.append((left - first, right - first, count))
        return merges


class MergeLog:
    """Writes merges as lines of JSON: rank, pair (ids), left and right (in the GPT-2 byte alphabet), and count.

    Args:
        path: The file, which is overwritten.
        symbols: The bytes of the symbols that merging starts from.
        first: The id of the first one.
        kept: The merges in the file to keep; the file is cut off after them.

    Raises:
        ArtifactError: The file cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], symbols: Sequence[bytes], first: int, *, kept: Sequence[Merge] = ()
    ) -> None:
        self._path = Path(path)
        self._names = [byte_alphabet.to_characters(symbol) for symbol in symbols]
        self._symbols = len(symbols)
        self._first = first
        try:
            self._file = self._path.open("r+b" if kept else "wb")
            for _ in kept:
                self._file.readline()
            # The number of merges written and their end, in one assignment: Ctrl-C can come between any two steps.
            self._done = len(kept), self._file.tell()
            self._file.truncate()
        except OSError as error:
            self._fail(error)
        self._add_names(kept)

    def take(self, merges: Sequence[Merge]) -> None:
        """Writes the merges that are not written yet and flushes them.

        After an interrupted call, the next one writes what is missing.
        """
        written, end = self._done
        del self._names[self._symbols + written :]
        lines = []
        fresh = merges[written:]
        self._add_names(fresh)
        for rank, (left, right, count) in enumerate(fresh, written):
            pair = [left + self._first, right + self._first]
            names = {"left": self._names[left], "right": self._names[right]}
            record = {"rank": rank, "pair": pair, **names, "count": count}
            lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        data = b"".join(lines)
        try:
            self._file.seek(end)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            self._fail(error)
        self._done = written + len(fresh), end + len(data)

    def _add_names(self, merges: Sequence[Merge]) -> None:
        for left, right, _ in merges:
            self._names.append(self._names[left] + self._names[right])

    def _fail(self, error: OSError) -> NoReturn:
        raise ArtifactError(
            f"cannot write the merges: {error.strerror}", file=str(self._path), remedy="choose another place"
        ) from error

    def close(self) -> None:
        """Closes the file."""
        with suppress(OSError):
            self._file.close()


def _shown(value: object) -> str:
    return "none" if value is None else repr(value)


def _json(data: bytes, place: Path, line: int | None = None) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(place, line) from error


def _damaged(place: Path, line: int | None) -> FormatError:
    return FormatError(
        "the checkpoint is damaged", file=str(place), line=line, remedy="remove the folder and train again"
    )
