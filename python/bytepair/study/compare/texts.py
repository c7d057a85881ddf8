"""Two tokenizers on the documents of a source: totals, first differences, and the passages that cost most."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.study.compare.divergence import cause, excerpts, shown_tokens
from bytepair.study.compare.passages import passages
from bytepair.study.compare.places import JoinedTexts
from bytepair.study.compare.result import STAGES, Divergence, Passage, SourceComparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair.sources.utf8 import Utf8Batch
    from bytepair.study.compare.passages import Passages
    from bytepair.study.compare.places import EncodedBatch, Locator
    from bytepair.study.compare.vocabularies import TokenKeys

_LOOKED_AT = 1000
"""Differing documents of a source in which the stage of the first difference is searched."""

_MOST_PASSAGES = 1 << 19
"""Passages that are counted at a time."""

_LONG = 200
"""Bytes of a passage that are kept; a longer one is identified by its hash."""


class SourceTally:
    """The counts of a source, batch by batch. With `same_before`, all differences are those of the model."""

    def __init__(
        self, name: str, a: Locator, b: Locator, keys: TokenKeys, *, same_before: bool, same_model: bool
    ) -> None:
        self.name, self.sides, self.keys = name, (a, b), keys
        self.same_before, self.same_model = same_before, same_model
        self.documents = self.text_bytes = self.same_ids = self.same_tokens = self.same_boundaries = 0
        self.uses = [np.zeros(len(of), np.int64) for of in (keys.a, keys.b)]
        self.firsts: dict[str, Divergence] = {}
        self.looked_at = 0
        self.passages: dict[bytes, list[int]] = {}
        self.is_exact = True

    def add(self, batch: Utf8Batch) -> None:
        """Count a batch."""
        lines = JoinedTexts(batch.texts)
        a, b = (side.encode(batch, lines) for side in self.sides)
        self.uses = [
            uses + np.bincount(one.ids, minlength=len(uses)) for uses, one in zip(self.uses, (a, b), strict=True)
        ]
        self.documents += len(batch.texts)
        self.text_bytes += int(lines.sizes.sum())
        other_boundaries = np.zeros(len(batch.texts), np.bool_)
        places: dict[int, tuple[int, int]] = {}
        for found in passages(lines, a, b):
            at = np.flatnonzero(found.differs)
            documents, first = np.unique(lines.document(found.ends[at]), return_index=True)
            other_boundaries[documents] = True
            for number, place in zip(documents.tolist(), at[first].tolist(), strict=True):
                if len(places) == _LOOKED_AT:
                    break
                places.setdefault(number, (int(found.starts[place]), int(found.ends[place])))
            self._remember(lines, found)
        # Different texts can have equal ids: where a normalizer drops characters, or where they are unknown.
        other_tokens = _unlike(a, b, self.keys.a[a.ids], self.keys.b[b.ids])
        other_ids = _unlike(a, b, a.ids, b.ids)
        ids_only = ~(other_boundaries | other_tokens)
        self.same_boundaries += int(np.count_nonzero(~other_boundaries))
        self.same_tokens += int(np.count_nonzero(~other_tokens))
        self.same_ids += int(np.count_nonzero(~other_ids))
        for number in np.flatnonzero(other_ids)[: _LOOKED_AT - self.looked_at].tolist():
            self.looked_at += 1
            base = int(lines.starts[number])
            if number in places:
                start, end = places[number]
            else:
                start, end = self._unlike_token(number, base, (a, b), ids_only=bool(ids_only[number]))
            # The byte after a document is not part of its text.
            place = start - base, min(end - base, len(batch.texts[number]))
            self._look(batch, number, (a, b), base, place, ids_only=bool(ids_only[number]))

    def result(self, examples: int) -> SourceComparison:
        """Return the result, with at most `examples` savings and losses."""
        order = sorted(self.passages.items(), key=lambda item: (-abs(item[1][1] - item[1][2]), item[0]))
        savings = [item for item in order if item[1][1] > item[1][2]][:examples]
        losses = [item for item in order if item[1][1] < item[1][2]][:examples]
        return SourceComparison(
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
        batch: Utf8Batch,
        number: int,
        encoded: tuple[EncodedBatch, EncodedBatch],
        base: int,
        place: tuple[int, int],
        *,
        ids_only: bool,
    ) -> None:
        """Keep the first difference of a document, if it is the first of its stage."""
        text, (start, end) = batch.texts[number], place
        stage = "ids" if ids_only else "model"
        seen_a: tuple[str, ...] = ()
        seen_b: tuple[str, ...] = ()
        if not ids_only and not self.same_before:
            stage, seen_a, seen_b = cause(*self.sides, text, start, end, same_model=self.same_model)
        if stage in self.firsts:
            return
        before, passage, after = excerpts(text, start, end)
        mine, theirs = (
            shown_tokens(side.tokenizer, one.within(number, base + start, base + end, is_last=end == len(text)))
            for side, one in zip(self.sides, encoded, strict=True)
        )
        self.firsts[stage] = Divergence(
            stage=stage,
            document=batch.first + number,
            file=batch.input.name,
            position=batch.positions[number],
            character=len(text[:start].decode()),
            before=before,
            text=passage,
            after=after,
            tokens_a=mine,
            tokens_b=theirs,
            seen_a=seen_a,
            seen_b=seen_b,
        )

    def _unlike_token(
        self, number: int, base: int, encoded: tuple[EncodedBatch, EncodedBatch], *, ids_only: bool
    ) -> tuple[int, int]:
        """The place of the first different token, in a document whose boundaries are equal."""
        a, b = encoded
        here, there = (slice(one.offsets[number], one.offsets[number + 1]) for one in encoded)
        mine, theirs = a.ids[here], b.ids[there]
        # An id is one token in equal models, whatever each normalizer makes of a space.
        by_id = ids_only or self.same_model
        unlike = mine != theirs if by_id else self.keys.a[mine] != self.keys.b[theirs]
        end = int(a.ends[here][np.argmax(unlike)])
        before = a.ends[here][a.ends[here] < end]
        return int(before[-1]) if len(before) else base, end

    def _remember(self, lines: JoinedTexts, found: Passages) -> None:
        """Add up the costs of passages with different numbers of tokens."""
        costs = found.tokens_a != found.tokens_b
        ends = found.ends[costs]
        # The byte after a document is not part of its text.
        ends = np.minimum(ends, lines.ends[lines.document(ends)] - 1)
        known, data = self.passages, lines.bytes
        rows = (column.tolist() for column in (found.starts[costs], ends, found.tokens_a[costs], found.tokens_b[costs]))
        for start, end, a, b in zip(*rows, strict=True):
            key = data[start:end] if end - start <= _LONG else _long_key(data[start:end])
            counts = known.get(key)
            if counts is None:
                known[key] = [1, a, b]
            else:
                counts[0] += 1
                counts[1] += a
                counts[2] += b
        if len(known) > _MOST_PASSAGES:
            self.is_exact = False
            order = sorted(known.items(), key=lambda item: -abs(item[1][1] - item[1][2]))
            self.passages = dict(order[: _MOST_PASSAGES // 2])


def shares(tallies: list[SourceTally], keys: TokenKeys) -> tuple[float, float] | None:
    """The shares of each tokenizer's tokens in all texts that are also tokens of the other."""
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


def _unlike(a: EncodedBatch, b: EncodedBatch, mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each document differs in a column of its tokens."""
    counts = a.counts
    unlike = np.asarray(counts != b.counts)
    if not unlike.all():
        here, there = np.repeat(~unlike, counts), np.repeat(~unlike, b.counts)
        owner = np.repeat(np.flatnonzero(~unlike), counts[~unlike])
        unlike[owner[mine[here] != theirs[there]]] = True
    return unlike


def _long_key(passage: bytes) -> bytes:
    """The beginning of a long passage, a byte that no UTF-8 text has, and the passage's hash."""
    return passage[:_LONG] + b"\xff" + blake2b(passage, digest_size=16).digest()


def _text(key: bytes) -> str:
    return key.decode() if len(key) <= _LONG else key[:_LONG].decode("utf-8", "ignore") + "…"
