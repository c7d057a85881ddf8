"""What a run came to, for people and for programs."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files as disk
from bytepair.shards import histogram, plans, sealed
from bytepair.shards.ledger import QUARANTINE
from bytepair.shards.tally import Amount, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytepair.shards.plans import Plan

NAME = "summary.json"
PAGE = "summary.txt"


@dataclass(frozen=True)
class ShardSummary:
    """What a run came to. Nothing in it is of a time or a machine: two runs of one plan have the same.

    Attributes:
        tally: What the documents came to: by split, by group, and by length.
        plan: The hash of the plan.
        tokenizer: The fingerprint of the tokenizer.
        options: How documents became shards: `ShardOptions` and `Reading` as plain data.
        inputs: How many inputs there are.
        input_bytes: Their size, as they are stored.
        files: How many files there are for each split, with their tables, and of documents in quarantine.
        file_bytes: The size of these.
    """

    tally: Tally
    plan: str
    tokenizer: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    inputs: int = 0
    input_bytes: int = 0
    files: dict[str, int] = field(default_factory=dict)
    file_bytes: dict[str, int] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """How many documents are in the shards."""
        return self.tally.whole.documents

    @property
    def tokens(self) -> int:
        """How many tokens are in the shards, with those that frame documents."""
        return self.tally.whole.tokens

    @property
    def text_bytes(self) -> int:
        """The bytes of the documents' texts."""
        return self.tally.whole.bytes

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text for each token; 0 if there are none."""
        return self.text_bytes / max(self.tokens, 1)

    @property
    def mean_length(self) -> float:
        """Tokens of a document, on average; 0 if there are none."""
        return self.tokens / max(self.documents, 1)

    @property
    def bad(self) -> int:
        """How many documents could not be used."""
        return self.tally.bad.total()

    def quantile(self, share: float) -> int:
        """About how many tokens the document has that so many others are not longer than; see `histogram.quantile`.

        Args:
            share: From 0 to 1; 0.5 gives the median.
        """
        return histogram.quantile(self.tally.lengths, share, self.tally.longest)

    @classmethod
    def of(cls, plan: Plan, entries: Iterable[dict[str, Any]]) -> ShardSummary:
        """The summary of a run, from the entries of its ledger.

        Args:
            plan: The plan.
            entries: Those of all tasks.
        """
        tally = Tally()
        found: Counter[str] = Counter()
        size: Counter[str] = Counter()
        for entry in entries:
            if entry["stage"] == plan.stages[0].name:
                tally.add(Tally.from_json(entry["tally"]))
            for row in entry["files"]:
                if not row["name"].startswith(f"{plans.WORK}/"):
                    kind = _kind(row["name"])
                    found[kind] += 1
                    size[kind] += row["size"]
        # What a plan is made of comes back from JSON as JSON has it.
        options = json.loads(json.dumps({**asdict(plan.options), **asdict(plan.reading)}))
        facts = dict(sorted(found.items())), dict(sorted(size.items()))
        return cls(tally, plan.digest, plan.tokenizer, options, len(plan.inputs), plan.size, *facts)

    def write(self, folder: Path) -> list[str]:
        """Writes ``summary.json``, which is sealed by its own hash, and ``summary.txt``, a page to read.

        Args:
            folder: The folder of the run.

        Returns:
            The names of what it wrote.

        Raises:
            ArtifactError: It cannot be written.
        """
        table = self.to_json()
        disk.write_all(folder, {PAGE: str(self).encode("utf-8", "surrogateescape")})
        sealed.write(folder / NAME, table, json.dumps(table, ensure_ascii=False, indent=1))
        return [PAGE, NAME]

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> ShardSummary:
        """The summary of a run that is complete.

        Args:
            folder: The folder of the run.

        Raises:
            ArtifactError: There is none, or it cannot be read.
            IntegrityError: It is damaged.
        """
        table = sealed.read(Path(folder, NAME))
        tally = Tally.from_json(table)
        return cls(tally, *(table[name] for name in _PLAIN))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data, with what follows from it."""
        follows = {
            "documents": self.documents,
            "tokens": self.tokens,
            "text_bytes": self.text_bytes,
            "bytes_per_token": self.bytes_per_token,
            "mean_length": self.mean_length,
            "median_length": self.quantile(0.5),
        }
        return {name: getattr(self, name) for name in _PLAIN} | follows | self.tally.to_json()

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draws how long documents are into a PNG; see `histogram.plot`.

        Args:
            path: The file, ``NAME.png``.

        Raises:
            ArtifactError: It is not named so, matplotlib is not there (`bytepair[plot]`), or it cannot be written.
        """
        title = f"{self.documents:,} documents, {self.tokens:,} tokens"
        marks = {"median": self.quantile(0.5), "mean": round(self.mean_length)} if self.documents else {}
        histogram.plot(Path(path), self.tally.lengths, title, marks)

    def __str__(self) -> str:
        return "\n".join([*self._page(), ""])

    def _page(self) -> Iterable[str]:
        yield f"{self.documents:,} documents, {self.tokens:,} tokens, {self.bytes_per_token:.3f} bytes per token"
        yield f"of {self.text_bytes:,} bytes of text, from {many(self.inputs, 'input')} of {self.input_bytes:,} bytes"
        if self.documents:
            head = ("", "documents", "tokens", "bytes of text", "bytes/token", "files", "bytes of files")
            rows = [
                (*_row(name, amount), f"{self.files.get(name, 0):,}", f"{self.file_bytes.get(name, 0):,}")
                for name, amount in sorted(self.tally.splits.items())
            ]
            yield ""
            yield from _columns([head, *rows])
        groups = self.tally.groups if any(self.tally.groups) else {}
        if groups:
            yield ""
            names = ("group", "documents", "tokens", "bytes of text", "bytes/token", "share of tokens")
            shares = [
                (*_row(name or "-", amount), f"{amount.tokens / max(self.tokens, 1):.2%}")
                for name, amount in sorted(groups.items())
            ]
            yield from _columns([names, *shares])
        yield ""
        yield from _columns([(name, f"{number:,}") for name, number in self._counts()])
        if self.documents:
            yield ""
            yield "documents by their length in tokens:"
            yield ""
            yield histogram.text(self.tally.lengths)
        yield ""
        yield "options:"
        yield ""
        yield from (f"{name:<11}  {json.dumps(value, ensure_ascii=False)}" for name, value in self.options.items())
        yield f"{'tokenizer':<11}  {self.tokenizer}"
        yield f"{'plan':<11}  {self.plan}"

    def _counts(self) -> Iterable[tuple[str, int]]:
        yield "tokens for what the vocabulary does not know", self.tally.unknown
        yield "empty documents, left out", self.tally.empty
        yield "bad documents, left out", self.bad
        yield from ((f"  {kind}", number) for kind, number in sorted(self.tally.bad.items()))
        if self.documents:
            yield "mean length in tokens", round(self.mean_length)
            yield "median length, about", self.quantile(0.5)
            yield "99 of 100 are not longer than, about", self.quantile(0.99)
            yield "longest", self.tally.longest


_PLAIN = ("plan", "tokenizer", "options", "inputs", "input_bytes", "files", "file_bytes")


def _kind(name: str) -> str:
    """The split of a file, or ``quarantine``: what its name, or that of its folder, begins with."""
    first = name.partition("/")[0]
    return first if first == QUARANTINE else first.partition("-")[0].partition(".")[0]


def _row(name: str, amount: Amount) -> tuple[str, ...]:
    ratio = f"{amount.bytes / max(amount.tokens, 1):.3f}"
    return name, f"{amount.documents:,}", f"{amount.tokens:,}", f"{amount.bytes:,}", ratio


def _columns(table: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """The first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        numbers = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join([f"{row[0]:<{widths[0]}}", *numbers]).rstrip()


def many(number: int, name: str) -> str:
    """So many of something.

    Example:
        >>> many(1, "file"), many(2_000, "file")
        ('1 file', '2,000 files')
    """
    return f"{number:,} {name}" + ("" if number == 1 else "s")
