"""The summary of a run, for people and for programs."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files as disk
from bytepair.drawing.layout import aligned
from bytepair.drawing.wording import plural
from bytepair.shards import histogram, plans, sealed
from bytepair.shards.ledger import QUARANTINE
from bytepair.shards.tally import Amount, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.shards.plans import Plan

NAME = "summary.json"
PAGE = "summary.txt"


@dataclass(frozen=True)
class ShardSummary:
    """The totals of a run. They depend on no time and no machine: two runs of one plan have equal summaries.

    Attributes:
        tally: The totals of the documents by split, by group and by length.
        plan: The hash of the plan.
        tokenizer: The fingerprint of the tokenizer.
        options: `ShardOptions` and `Reading` as plain data.
        inputs: The number of inputs.
        input_bytes: Their stored size.
        files: The number of files of each split, tables included, and of documents in quarantine.
        file_bytes: The size of these files.
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
        """The number of documents in the shards."""
        return self.tally.whole.documents

    @property
    def tokens(self) -> int:
        """The number of tokens in the shards, BOS and EOS tokens included."""
        return self.tally.whole.tokens

    @property
    def text_bytes(self) -> int:
        """The bytes of the documents' texts."""
        return self.tally.whole.bytes

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text per token; 0 if there are none."""
        return self.text_bytes / max(self.tokens, 1)

    @property
    def mean_length(self) -> float:
        """The mean number of tokens per document; 0 if there are none."""
        return self.tokens / max(self.documents, 1)

    @property
    def bad(self) -> int:
        """The number of documents that could not be used."""
        return self.tally.bad.total()

    def quantile(self, share: float) -> int:
        """The approximate length, in tokens, that a share of the documents does not exceed; see `histogram.quantile`.

        Args:
            share: From 0 to 1; 0.5 is the median.
        """
        return histogram.quantile(self.tally.lengths, share, self.tally.longest)

    @classmethod
    def of(cls, plan: Plan, entries: Iterable[dict[str, Any]]) -> ShardSummary:
        """The summary of a run, from the entries of its ledger.

        Args:
            plan: The plan.
            entries: The entries of all tasks.
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
        # JSON has lists for tuples, and a summary that is read equals the one that was written.
        options = json.loads(json.dumps({**asdict(plan.options), **asdict(plan.reading)}))
        facts = dict(sorted(found.items())), dict(sorted(size.items()))
        return cls(tally, plan.digest, plan.tokenizer, options, len(plan.inputs), plan.size, *facts)

    def write(self, folder: Path) -> list[str]:
        """Write ``summary.json``, sealed by its own hash, and ``summary.txt``, for people.

        Args:
            folder: The folder of the run.

        Returns:
            The names of the files.

        Raises:
            ArtifactError: It cannot be written.
        """
        table = self.to_json()
        disk.write_all(folder, {PAGE: str(self).encode("utf-8", "surrogateescape")})
        sealed.write(folder / NAME, table, json.dumps(table, ensure_ascii=False, indent=1))
        return [PAGE, NAME]

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> ShardSummary:
        """Read the summary of a complete run.

        Args:
            folder: The folder of the run.

        Raises:
            ArtifactError: There is no summary, or it cannot be read.
            IntegrityError: It is damaged.
        """
        table = sealed.read(Path(folder, NAME))
        tally = Tally.from_json(table)
        return cls(tally, *(table[name] for name in _PLAIN))

    def to_json(self) -> dict[str, Any]:
        """The summary as plain data, derived numbers included."""
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
        """Write the histogram of document lengths as an SVG file; see `histogram.plot`.

        Args:
            path: The file, ``NAME.svg``.

        Raises:
            ArtifactError: The name does not end with ``.svg``, or the file cannot be written.
        """
        title = f"{self.documents:,} documents, {self.tokens:,} tokens"
        marks = {"median": self.quantile(0.5), "mean": round(self.mean_length)} if self.documents else {}
        histogram.plot(Path(path), self.tally.lengths, title, marks)

    def __str__(self) -> str:
        return "\n".join([*self._page(), ""])

    def _page(self) -> Iterable[str]:
        yield f"{self.documents:,} documents, {self.tokens:,} tokens, {self.bytes_per_token:.3f} bytes per token"
        yield f"of {self.text_bytes:,} bytes of text, from {plural(self.inputs, 'input')} of {self.input_bytes:,} bytes"
        if self.documents:
            head = ("", "documents", "tokens", "bytes of text", "bytes/token", "files", "bytes of files")
            rows = [
                (*_row(name, amount), f"{self.files.get(name, 0):,}", f"{self.file_bytes.get(name, 0):,}")
                for name, amount in sorted(self.tally.splits.items())
            ]
            yield ""
            yield from aligned([head, *rows])
        groups = self.tally.groups if any(self.tally.groups) else {}
        if groups:
            yield ""
            names = ("group", "documents", "tokens", "bytes of text", "bytes/token", "share of tokens")
            shares = [
                (*_row(name or "-", amount), f"{amount.tokens / max(self.tokens, 1):.2%}")
                for name, amount in sorted(groups.items())
            ]
            yield from aligned([names, *shares])
        yield ""
        yield from aligned([(name, f"{number:,}") for name, number in self._counts()])
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
        yield "unknown tokens", self.tally.unknown
        yield "empty documents, left out", self.tally.empty
        yield "bad documents, left out", self.bad
        yield from ((f"  {kind}", number) for kind, number in sorted(self.tally.bad.items()))
        if self.documents:
            yield "mean length in tokens", round(self.mean_length)
            yield "median length, about", self.quantile(0.5)
            yield "99th percentile of the length, about", self.quantile(0.99)
            yield "longest", self.tally.longest


_PLAIN = ("plan", "tokenizer", "options", "inputs", "input_bytes", "files", "file_bytes")


def _kind(name: str) -> str:
    """The split of a file, or ``quarantine``: the prefix of its name, or of its folder's."""
    first = name.partition("/")[0]
    return first if first == QUARANTINE else first.partition("-")[0].partition(".")[0]


def _row(name: str, amount: Amount) -> tuple[str, ...]:
    ratio = f"{amount.bytes / max(amount.tokens, 1):.3f}"
    return name, f"{amount.documents:,}", f"{amount.tokens:,}", f"{amount.bytes:,}", ratio
