"""What a run came to, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair.corpus import sealed
from bytepair.corpus.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bytepair.corpus.plans import Plan

NAME = "summary.json"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to.

    Attributes:
        tally: What the documents came to.
        plan: The hash of the plan.
    """

    tally: Tally
    plan: str

    @property
    def documents(self) -> int:
        """How many documents are in the shards."""
        return self.tally.whole.documents

    @property
    def tokens(self) -> int:
        """How many tokens are in the shards, with those that frame documents."""
        return self.tally.whole.tokens

    @classmethod
    def of(cls, plan: Plan, entries: Iterable[dict[str, Any]]) -> Summary:
        """The summary of a run, from the entries of its ledger."""
        tally = Tally()
        for entry in entries:
            if entry["stage"] == plan.stages[0].name:
                tally.add(Tally.from_json(entry["tally"]))
        return cls(tally, plan.digest)

    def write(self, folder: Path) -> list[str]:
        """Writes ``summary.json``; returns the names of what it wrote."""
        sealed.write(folder / NAME, {"plan": self.plan, **self.tally.to_json()})
        return [NAME]

    @classmethod
    def read(cls, folder: Path) -> Summary:
        table = sealed.read(folder / NAME)
        return cls(Tally.from_json(table), table["plan"])
