"""What two tokenizers make of the documents of a source: sums, the first differences, and the passages that cost."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from bytepair.comparing.divergence import cause, excerpts, shown_tokens
from bytepair.comparing.places import Lines
from bytepair.comparing.result import STAGES, Divergence, Passage, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair.comparing.documents import Batch
    from bytepair.comparing.places import Encoded, Locator
    from bytepair.comparing.vocabularies import Keys

_LOOKED_AT = 1000
"""Documents of a source that differ and in which the stage is looked for."""

_MOST_PASSAGES = 1 << 19
"""Passages that are kept in mind."""

_LONG = 200
"""Bytes of a passage that are kept; a longer one is told from others by its hash."""


class Tally:
    """What is counted of a source, batch by batch.

    Args:
        name: What the source is called.
        a: The first tokenizer.
        b: The second.
        keys: What their tokens stand for.
        same_before: Whether all stages before the model are the same, so that differences are the model's.
    """

    def __init__(self, name: str, a: Locator, b: Locator, keys: Keys, *, same_before: bool) -> None:
        self.name, self.sides, self.keys, self.same_before = name, (a, b), keys, same_before
        self.documents = self.text_bytes = self.same_ids = self.same_tokens = self.same_boundaries = 0
        self.uses = [np.zeros(len(of), np.int64) for of in (keys.a, keys.b)]
        self.firsts: dict[str, Divergence] = {}
        self.looked_at = 0
        self.passages: dict[bytes, list[int]] = {}
        self.is_exact = True

    def add(self, batch: Batch) -> None:
        """Counts a batch."""
        lines = Lines(batch.texts)
        a, b = (side.encode(batch, lines) for side in self.sides)
        self.uses = [
            uses + np.bincount(one.ids, minlength=len(uses)) for uses, one in zip(self.uses, (a, b), strict=True)
        ]
        self.documents += len(batch.texts)
        self.text_bytes += int(lines.sizes.sum())
        starts, ends, mine, theirs, differs = _passages(lines, a, b)
        other_boundaries = np.zeros(len(batch.texts), np.bool_)
        other_boundaries[lines.document(ends[differs])] = True
        other_tokens = other_boundaries | _unlike(a, b, self.keys.a[a.ids], self.keys.b[b.ids])
        other_ids = other_tokens | _unlike(a, b, a.ids, b.ids)
        self.same_boundaries += int(np.count_nonzero(~other_boundaries))
        self.same_tokens += int(np.count_nonzero(~other_tokens))
        self.same_ids += int(np.count_nonzero(~other_ids))
        self._look(batch, lines, (a, b), (starts, ends, differs), (other_boundaries, other_tokens, other_ids))
        costs = mine != theirs
        # The byte behind a document is none of its text.
        ends = np.minimum(ends[costs], lines.ends[lines.document(ends[costs])] - 1)
        self._remember(lines.bytes, starts[costs], ends, mine[costs], theirs[costs])

    def result(self, examples: int) -> Source:
        """What it came to, with so many savings and losses."""
        order = sorted(self.passages.items(), key=lambda item: (-abs(item[1][1] - item[1][2]), item[0]))
        savings = [item for item in order if item[1][1] > item[1][2]][:examples]
        losses = [item for item in order if item[1][1] < item[1][2]][:examples]
        return Source(
            name=self.name,
            documents=self.documents,
            text_bytes=self.text_bytes,
            tokens_a=int(self.uses[0].sum()),
            tokens_b=int(self.uses[1].sum()),
            same_ids=self.same_ids,
            same_tokens=self.same_tokens,
            same_boundaries=self.same_boundaries,
            firsts=tuple(self.firsts[stage] for stage in STAGES if stage in self.firsts),
            looked_at=self.looked_at,
            savings=tuple(Passage(_text(key), *counts) for key, counts in savings),
            losses=tuple(Passage(_text(key), *counts) for key, counts in losses),
            is_exact=self.is_exact,
        )

    def _look(
        self,
        batch: Batch,
        lines: Lines,
        encoded: tuple[Encoded, Encoded],
        passages: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
        other: tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]],
    ) -> None:
        """Looks for the stages of the first documents that differ."""
        starts, ends, differs = passages
        wanted = np.flatnonzero(other[2])[: _LOOKED_AT - self.looked_at].tolist()
        self.looked_at += len(wanted)
        places = ends[differs]
        for number in wanted:
            size, base = int(lines.sizes[number]), int(lines.starts[number])
            if other[0][number]:
                at = int(np.flatnonzero(differs)[np.searchsorted(places, base, "right")])
                start, end = int(starts[at]) - base, int(ends[at]) - base
            else:
                start, end = self._unlike_token(number, base, encoded, ids_only=not other[1][number])
            start, end = max(start, 0), min(end, size)
            text = batch.texts[number]
            stage: tuple[str, tuple[str, ...], tuple[str, ...]] = ("model", (), ())
            if not other[1][number]:
                stage = ("ids", (), ())
            elif not self.same_before:
                stage = cause(*self.sides, text, start, end)
            if stage[0] in self.firsts:
                continue
            before, passage, after = excerpts(text, start, end)
            self.firsts[stage[0]] = Divergence(
                stage[0],
                batch.first + number,
                batch.file,
                batch.positions[number],
                len(text[:start].decode()),
                before,
                passage,
                after,
                *(
                    shown_tokens(side.tokenizer, _within(one, number, base + start, base + end, base + size))
                    for side, one in zip(self.sides, encoded, strict=True)
                ),
                *stage[1:],
            )

    def _unlike_token(
        self, number: int, base: int, encoded: tuple[Encoded, Encoded], *, ids_only: bool
    ) -> tuple[int, int]:
        """Where the first token is that is another, of a document whose boundaries are the same."""
        a, b = encoded
        here, there = (slice(one.offsets[number], one.offsets[number + 1]) for one in encoded)
        mine, theirs = a.ids[here], b.ids[there]
        unlike = mine != theirs if ids_only else self.keys.a[mine] != self.keys.b[theirs]
        end = int(a.ends[here][np.argmax(unlike)])
        before = a.ends[here][a.ends[here] < end]
        return (int(before[-1]) if len(before) else base) - base, end - base

    def _remember(
        self,
        data: bytes,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        mine: NDArray[np.int64],
        theirs: NDArray[np.int64],
    ) -> None:
        passages = self.passages
        for start, end, a, b in zip(starts.tolist(), ends.tolist(), mine.tolist(), theirs.tolist(), strict=True):
            key = data[start:end] if end - start <= _LONG else _long_key(data[start:end])
            counts = passages.get(key)
            if counts is None:
                passages[key] = [1, a, b]
            else:
                counts[0] += 1
                counts[1] += a
                counts[2] += b
        if len(passages) > _MOST_PASSAGES:
            self.is_exact = False
            order = sorted(passages.items(), key=lambda item: -abs(item[1][1] - item[1][2]))
            self.passages = dict(order[: _MOST_PASSAGES // 2])


def shares(tallies: list[Tally], keys: Keys) -> tuple[float, float] | None:
    """Of the tokens that each makes of all texts, the share that the other has as well."""
    found = []
    for of, uses, there in (
        (keys.a, [tally.uses[0] for tally in tallies], keys.in_b),
        (keys.b, [tally.uses[1] for tally in tallies], keys.in_a),
    ):
        total = np.sum(uses, axis=0) if uses else np.zeros(0, np.int64)
        if not total.sum():
            return None
        found.append(float(total[there[of]].sum() / total.sum()))
    return found[0], found[1]


def _passages(
    lines: Lines, a: Encoded, b: Encoded
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The passages of a batch: starts, ends, how many tokens of each end there, whether boundaries differ."""
    marks = [np.zeros(len(lines.data) + 1, np.bool_) for _ in range(2)]
    for mark, one in zip(marks, (a, b), strict=True):
        mark[one.ends] = True
    common = marks[0] & marks[1]
    common[lines.ends] = True
    ends = np.flatnonzero(common)
    unlike = np.flatnonzero(marks[0] ^ marks[1])
    until = [np.searchsorted(places, ends, "right") for places in (a.ends, b.ends, unlike)]
    mine, theirs, other = (np.diff(one, prepend=0) for one in until)
    # The byte behind a document, where both end, is one of these places.
    differs = (mine != theirs) | (other > 0)
    return np.concatenate(([0], ends[:-1])), ends, mine, theirs, differs


def _unlike(a: Encoded, b: Encoded, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """In which documents a column of the tokens differs."""
    counts = a.counts
    alike = counts == b.counts
    unlike = ~alike
    here, there = np.repeat(alike, counts), np.repeat(alike, b.counts)
    owner = np.repeat(np.flatnonzero(alike), counts[alike])
    unlike[owner[mine[here] != theirs[there]]] = True
    return unlike


def _within(one: Encoded, number: int, start: int, end: int, last: int) -> list[int]:
    """The ids of a document that end in a passage."""
    ends = one.ends[one.offsets[number] : one.offsets[number + 1]]
    # What ends on the byte behind the text belongs to its last passage.
    low, high = np.searchsorted(ends, (start, end if end < last else last + 1), "right")
    ids: list[int] = one.ids[one.offsets[number] + low : one.offsets[number] + high].tolist()
    return ids


def _long_key(passage: bytes) -> bytes:
    """How a long passage begins, and its hash behind a byte that is in no text."""
    return passage[:_LONG] + b"\xff" + blake2b(passage, digest_size=16).digest()


def _text(key: bytes) -> str:
    return key.decode() if len(key) <= _LONG else key[:_LONG].decode("utf-8", "ignore") + "…"
