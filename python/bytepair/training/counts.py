"""Texts -> counts of pieces: a table to write, add up, weight, and train from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._core import PieceCounter, PieceCounts, unicode_version
from bytepair.errors import FormatError, TrainingError
from bytepair.model.split_patterns import split_name, split_pattern
from bytepair.progress import reporter
from bytepair.sources.digest import SourceDigest
from bytepair.sources.source import Reading
from bytepair.training.counting import check_groups, count_source
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from typing import Literal

    from bytepair.progress import Report
    from bytepair.training.counting import Countable
    from bytepair.training.weights import Weight

MOST = 2**64 - 1
"""The highest count."""


class Counted(NamedTuple):
    """A row of a counts table.

    Attributes:
        piece: Its bytes.
        count: The number of occurrences, in units of 1 / `Counts.denominator`.
        group: The group of sources; empty if there are no groups.
        first_position: Its first occurrence: bytes from the start of the first source, plus one per text.
    """

    piece: bytes
    count: int  # type: ignore[assignment]  # it hides tuple.count, which no row needs
    group: str
    first_position: int


@dataclass(frozen=True, slots=True)
class Stages:
    r"""The stages between texts and their pieces: only tables that share them can be added.

    Attributes:
        split: The split pattern.
        normalizers: The steps that changed the text before.
        special_tokens: The tokens cut out of it.
        unicode: The version of Unicode that defines character classes such as ``\p{L}``.
    """

    split: str
    normalizers: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unicode: str = field(default_factory=unicode_version)

    def check_same(self, other: Stages) -> None:
        """Raise TrainingError if another table has different stages."""
        for name in ("split", "normalizers", "special_tokens", "unicode"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "special_tokens":
                mine, theirs = sorted(mine), sorted(theirs)
            if mine != theirs:
                shown = [
                    split_name(value) or repr(value) if name == "split" else repr(value) for value in (mine, theirs)
                ]
                raise TrainingError(
                    f"the counts were made with different {name}: {shown[0]} and {shown[1]}",
                    remedy="count both sources with the same options",
                )


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Pieces and their numbers of occurrences, by group of sources.

    Counts add up: a corpus can be counted in parts, on several machines and threads, and the sum is the table of the
    whole. Counts are exact, and nothing is left out by default. Made by `Counts.of` and `Counts.read`.

    Attributes:
        stages: The stages between the texts and their pieces.
        groups: The names of the groups; one empty name if there are none.
        denominator: Counts are in units of one over this; 1 unless weights made it more.
        digest: The digest of all sources: see `bytepair.sources.digest.SourceDigest`. None if a part is unknown.
        end: The position after the last source.

    Example:
        >>> counts = Counts.of(iter(["low lower", "low"]), split="gpt2")
        >>> [(row.piece, row.count) for row in counts.top(2)]
        [(b'low', 2), (b' lower', 1)]
        >>> len(counts + counts), (counts + counts).pieces
        (2, 6)
    """

    stages: Stages
    groups: tuple[str, ...]
    denominator: int
    digest: SourceDigest | None
    end: int
    core: PieceCounts = field(repr=False)
    memory: int | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        source: Countable,
        *,
        split: str = "o200k",
        normalizers: Sequence[str] = (),
        special_tokens: Sequence[str] = (),
        field: str | None = None,
        delimiter: str | None = None,
        errors: Literal["strict", "replace"] = "strict",
        threads: int | None = None,
        memory: str | int | None = None,
        start: int = 0,
        digest: bool = True,
        progress: bool | str | Report = False,
    ) -> Counts:
        """Counts the pieces of texts.

        Args:
            source: See `bytepair.sources.source`; or a mapping of pieces to counts, which is not split. Groups are
                counted apart.
            split: As for `bytepair.train`.
            normalizers: Steps applied to the texts in this order, as for `train`.
            special_tokens: Cut out of the texts, and never counted.
            field: See `bytepair.sources.source.Reading`.
            delimiter: See `bytepair.sources.source.Reading`.
            errors: As for `bytepair.train`.
            threads: The most threads; None for all cores. The counts are the same with any number.
            memory: The memory limit of all tables, such as ``"2GB"``; the rest goes to temporary files.
                None for no limit. The counts are the same with any limit.
            start: The position of the source's first byte among all sources, if earlier ones are counted
                elsewhere; only ``first_seen`` and ``first_position`` depend on it.
            digest: Whether `digest` is taken. Compressed files, Parquet, Arrow and what is behind a URL are read once
                more for it.
            progress: As for `bytepair.train`.

        Raises:
            TrainingError, EncodeError, ArtifactError, PatternError: As `bytepair.train`.
        """
        if start < 0:
            raise ValueError(f"start={start} is before all sources; use 0 or more")
        stages = Stages(split_pattern(split), tuple(normalizers), tuple(special_tokens))
        limit = None if memory is None else parse_bytes(memory)
        counter = PieceCounter(stages.split, list(special_tokens), normalizers=list(normalizers), memory=limit)
        counter.start_at(min(start, MOST))
        total = SourceDigest() if digest else None
        report = reporter(progress)
        reading = Reading(field=field, delimiter=delimiter)
        groups = count_source(counter, source, reading, errors=errors, threads=threads, digest=total, report=report)
        end = counter.end
        return cls(stages, groups, 1, total, end, counter.finish(threads=threads), limit)

    def __len__(self) -> int:
        """The number of rows: the distinct pieces, if there are no groups."""
        return len(self.core)

    @property
    def spilled(self) -> tuple[int, int]:
        """The number of sorted runs written to disk for lack of memory, and their bytes."""
        return self.core.spilled

    @property
    def pieces(self) -> int:
        """All occurrences together, in units of 1 / `denominator`. Reads the table once."""
        return sum(pieces for _, _, pieces, _ in self.core.totals())

    @property
    def text_bytes(self) -> int:
        """The bytes of all occurrences together, in units of 1 / `denominator`. Reads the table once."""
        return sum(size for _, _, _, size in self.core.totals())

    def __iter__(self) -> Iterator[Counted]:
        """All rows, in order of first occurrence; they are held in memory."""
        return (Counted(piece, count, self.groups[group], first) for piece, group, count, first in self.core.rows())

    def top(self, most: int) -> list[Counted]:
        """The rows with the highest counts, sorted by count; ties go in order of pieces and groups.

        Complexity:
            n log(most) for n rows, and memory for `most` of them.
        """
        if most < 0:
            raise ValueError(f"top({most}) is not a number of rows; use 0 or more")
        rows = self.core.top(most)
        return [Counted(piece, count, self.groups[group], first) for piece, group, count, first in rows]

    def __add__(self, other: Counts) -> Counts:
        """The counts of both sources together; the smaller first position wins.

        Raises:
            TrainingError: The tables were made with another split, normalizer, special tokens or version of Unicode, or
                counts overflow 64 bits.
        """
        if not isinstance(other, Counts):
            return NotImplemented
        self.stages.check_same(other.stages)
        groups = (*self.groups, *(group for group in other.groups if group not in self.groups))
        denominator = lcm(self.denominator, other.denominator)
        digest = self.digest + other.digest if self.digest and other.digest else None
        check_groups(groups)
        numbers = {group: number for number, group in enumerate(groups)}
        counter = self._counter()
        for table in (self, other):
            factor = denominator // table.denominator
            if factor > MOST:
                raise TrainingError(
                    f"the denominators {self.denominator} and {other.denominator} share no denominator below 2^64",
                    remedy="use weights with fewer digits",
                )
            into = [numbers[group] for group in table.groups]
            counter.add_counts(table.core, groups=into, multipliers=[factor] * len(table.groups))
        return replace(
            self._finish(counter), groups=groups, denominator=denominator, digest=digest, end=max(self.end, other.end)
        )

    def weighted(self, weights: Mapping[str, Weight]) -> Counts:
        """The counts of each group times its weight, exact over one common denominator.

        Args:
            weights: By group; see `bytepair.training.weights.multipliers`. Groups that are not named keep their counts.

        Raises:
            TrainingError: There is no such group; a weight is not a number above 0; counts overflow 64 bits.

        Example:
            >>> counts = Counts.of({"en": iter(["a b"]), "fr": iter(["a a"])}, split="gpt2").weighted({"en": "0.5"})
            >>> [(row.piece, row.group, row.count) for row in counts], counts.denominator
            ([(b'a', 'en', 1), (b' b', 'en', 1), (b'a', 'fr', 2), (b' a', 'fr', 2)], 2)
        """
        if unknown := [group for group in weights if group not in self.groups]:
            raise TrainingError(
                f"there is no group {unknown[0]!r} to weight",
                remedy=f"the groups are {', '.join(map(repr, self.groups))}",
            )
        from bytepair.training.weights import multipliers  # it imports decimals and fractions

        factors, denominator = multipliers({**dict.fromkeys(self.groups, 1), **weights})
        numbers = [factors[group] for group in self.groups]
        denominator *= self.denominator
        shared = gcd(denominator, *numbers)
        return replace(self._changed([number // shared for number in numbers]), denominator=denominator // shared)

    def scale(self, weight: Weight) -> Counts:
        """All counts times a weight, exactly; as `weighted` with one weight for all groups."""
        return self.weighted(dict.fromkeys(self.groups, weight))

    def filter(self, min_count: int) -> Counts:
        """The rows with at least this count, each group by itself. Training may learn other merges from them.

        Args:
            min_count: In occurrences, whatever the denominator.
        """
        return self._changed([1] * len(self.groups), least=min_count * self.denominator)

    def group(self, name: str) -> Counts:
        """The rows of one group alone.

        Raises:
            TrainingError: There is no such group.
        """
        if name not in self.groups:
            raise TrainingError(
                f"there is no group {name!r}", remedy=f"the groups are {', '.join(map(repr, self.groups))}"
            )
        kept = self._changed([int(group == name) for group in self.groups], renumbered=[0] * len(self.groups))
        return replace(kept, groups=(name,), digest=None)

    def _changed(self, factors: list[int], *, renumbered: list[int] | None = None, least: int = 1) -> Counts:
        counter = self._counter()
        numbers = renumbered or list(range(len(self.groups)))
        # No count reaches a minimum above the highest one: no row is left.
        factors = factors if least <= MOST else [0] * len(factors)
        counter.add_counts(self.core, groups=numbers, multipliers=factors, least=min(max(least, 1), MOST))
        return self._finish(counter)

    def _counter(self) -> PieceCounter:
        return PieceCounter("", [], memory=self.memory)

    def _finish(self, counter: PieceCounter) -> Counts:
        return replace(self, core=counter.finish())

    def write(self, path: str | Path) -> None:
        """Writes the table as Parquet: the same bytes for the same counts, by one version of pyarrow.

        Columns are ``piece`` (binary), ``count`` (uint64), ``group`` (string) and ``first_position`` (uint64), sorted
        by piece and group; the rest of the table is in the metadata, under ``bytepair``.

        Raises:
            TrainingError: ``pyarrow`` is not installed.
            ArtifactError: The file cannot be written. Nothing half-written is left behind.
        """
        from bytepair.training import tables  # needs pyarrow

        tables.write(Path(path), self.core, self.groups, self._facts())

    @classmethod
    def read(cls, path: str | Path, *, memory: str | int | None = None) -> Counts:
        """Reads a table that `write` made.

        Args:
            path: The file.
            memory: As for `of`.

        Raises:
            FormatError: It is not a counts table.
            ArtifactError: It cannot be read.
            TrainingError: ``pyarrow`` is not installed.
        """
        from bytepair.training import tables  # needs pyarrow

        limit = None if memory is None else parse_bytes(memory)
        counter = PieceCounter("", [], memory=limit)
        facts = tables.read(Path(path), counter)
        try:
            return cls._of_facts(facts, counter, limit)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"the metadata of the table are damaged: {error!r}", file=str(path), remedy="count the source again"
            ) from error

    def _facts(self) -> bytes:
        facts = {
            "version": 1,
            "split": self.stages.split,
            "normalizers": self.stages.normalizers,
            "special_tokens": self.stages.special_tokens,
            "unicode": self.stages.unicode,
            "groups": self.groups,
            "denominator": self.denominator,
            "sources": self.digest.hex() if self.digest else None,
            "end": self.end,
            "rows": len(self),
        }
        import json  # only tables that are written need it

        return json.dumps(facts, ensure_ascii=False, sort_keys=True).encode()

    @classmethod
    def _of_facts(cls, facts: dict[str, Any], counter: PieceCounter, memory: int | None) -> Counts:
        lists = [facts[name] for name in ("normalizers", "special_tokens", "groups")]
        texts = [facts["split"], facts["unicode"], *(text for texts in lists for text in texts)]
        denominator, end = facts["denominator"], facts["end"]
        if not all(type(texts) is list for texts in lists) or not all(type(text) is str for text in texts):
            raise ValueError("a name is not text")
        if type(denominator) is not int or type(end) is not int or denominator < 1 or end < 0:
            raise ValueError("a number is out of its range")
        normalizers, special_tokens, groups = map(tuple, lists)
        stages = Stages(facts["split"], normalizers, special_tokens, facts["unicode"])
        digest = None if facts["sources"] is None else SourceDigest.from_hex(facts["sources"])
        return cls(stages, groups, denominator, digest, end, counter.finish(), memory)
