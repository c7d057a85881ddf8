"""The merges of a byte-pair model: which pairs merge, in which order, and which merges make a token.

This is the definition in plain Python: the lowest-ranked pair merges first; ties go left to right. A heap over a linked
list keeps it n log n on every input.

A token is in the ids of some piece if and only if merging its bytes alone makes it. In that piece no merge crossed an
end of the token, else its result would reach beyond it. Each merge inside was the lowest and leftmost of the whole
piece when it happened, so also of these symbols, and merges elsewhere left them as they were: they merged as they would
alone. The other direction is that piece itself. By the same argument a merge happens in some piece if and only if it is
the last one when its result is merged alone. Tokens of models that take whole pieces are another matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from bytepair.errors import FormatError
from bytepair.model.token_spelling import joined, name_of_byte

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.model.models import BytePair, Characters


_GONE = -1
"""Marks a symbol that was merged into the one before it."""


class TokenMerge(NamedTuple):
    """The merge that makes a token.

    Attributes:
        left: The id on its left.
        right: The id on its right.
        rank: Its priority, the lowest first: the id of the token under ``ranks``, else its place in the list.
    """

    left: int
    right: int
    rank: int


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge in a piece.

    Attributes:
        at: The number of the symbol that the left token begins with, of the symbols that merging started from.
        left: The id on its left.
        right: The id on its right.
        result: The id of the token that they become.
        rank: As `TokenMerge.rank`.
    """

    at: int
    left: int
    right: int
    result: int
    rank: int


class Merging:
    """The merges of a byte-pair model, as plain tables.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> merging = Merging(BytePair((b"a", b"b", b"ab"), (0, 1, 2), partial_alphabet=True))
        >>> merging.symbols("aab"), merging.merge([0, 0, 1])
        ([0, 0, 1], ([MergeStep(at=1, left=0, right=1, result=2, rank=2)], [0, 2]))
    """

    def __init__(self, model: BytePair) -> None:
        self._alphabet = model.alphabet
        self._tokens = dict(zip(model.ids, model.tokens, strict=True))
        self._ids = {token: id for id, token in self._tokens.items()}
        if model.alphabet is not None and model.alphabet.unlisted:
            what = "not supported: explaining a model whose merges make texts that are no tokens"
            raise FormatError(what, remedy="encode with it instead")
        self._takes_whole = model.merges is None or model.ignore_merges
        self._join = joined(model)
        self._pairs: dict[tuple[int, int], tuple[int, int]] | None = None
        if model.merges is not None:
            # A pair listed twice has its later rank, as in tokenizers.
            self._pairs = {pair: (rank, self.joined(*pair)) for rank, pair in enumerate(model.merges)}
        self._made: dict[int, TokenMerge | None] = {}

    def pair(self, left: int, right: int) -> tuple[int, int] | None:
        """The rank of an adjacent pair, and the id that it becomes; None if it does not merge."""
        if self._pairs is not None:
            return self._pairs.get((left, right))
        id = self._ids.get(self._tokens[left] + self._tokens[right])
        return None if id is None else (id, id)

    def joined(self, left: int, right: int) -> int:
        """The id that a listed pair becomes, at whatever rank."""
        return self._ids[self._join(self._tokens[left], self._tokens[right])]

    def whole(self, piece: str) -> int | None:
        """The id of a piece that is taken whole, before any merge is tried."""
        return self._ids.get(piece.encode()) if self._takes_whole else None

    def symbols(self, piece: str) -> list[int]:
        """The ids that merging a piece starts from; none if one of its bytes is not a token.

        A character that is not a token becomes its bytes, the unknown token or nothing, as the model says.
        """
        return self._bytes(piece.encode()) if self._alphabet is None else self._characters(self._alphabet, piece)

    def lost(self, piece: str) -> int:
        """The number of dropped characters of a piece: those with neither token, bytes nor unknown token."""
        if self._alphabet is None or self._alphabet.unk_token is not None:
            return 0
        return sum(found == [] for found in self._each(self._alphabet, piece, inner=False, ends=True))

    def merge(self, symbols: list[int]) -> tuple[list[MergeStep], list[int]]:
        """All merges of some symbols in order, and the ids that are left; n log n."""
        ids = [*symbols]
        end = len(ids)
        before = list(range(-1, end - 1))
        after = list(range(1, end + 1))

        def entry(at: int) -> tuple[int, int, int] | None:
            """The heap entry of the pair that begins at a place: rank, place, and the id that it becomes."""
            if at < 0 or after[at] >= end or ids[at] == _GONE:
                return None
            found = self.pair(ids[at], ids[after[at]])
            return None if found is None else (found[0], at, found[1])

        heap = [found for at in range(end) if (found := entry(at)) is not None]
        heapify(heap)
        steps = []
        while heap:
            top = heappop(heap)
            rank, at, result = top
            # An entry stays in the heap when its pair goes away, and is found stale here.
            if entry(at) != top:
                continue
            gone = after[at]
            steps.append(MergeStep(at, ids[at], ids[gone], result, rank))
            ids[at], ids[gone] = result, _GONE
            after[at] = after[gone]
            if after[at] < end:
                before[after[at]] = at
            for fresh in (entry(before[at]), entry(at)):
                if fresh is not None:
                    heappush(heap, fresh)
        return steps, [id for id in ids if id != _GONE]

    def made(self, id: int) -> TokenMerge | None:
        """The merge that makes a token; None if none does. See `made_by`."""
        if id not in self._made:
            found: dict[int, TokenMerge | None] = {id: None}
            for symbols in self._spellings(id):
                steps, left = self.merge(symbols)
                if left == [id] and steps:
                    # A token within the span of another is made as it is alone, so all of these are known now.
                    found |= {step.result: TokenMerge(step.left, step.right, step.rank) for step in steps}
                    break
            # In one step: another thread must not read None in between.
            self._made.update(found)
        return self._made[id]

    def is_made(self, id: int) -> bool:
        """Whether merging leads to a token, or starts from it."""
        return self.made(id) is not None or [id] in self._spellings(id)

    def is_whole(self, id: int) -> bool:
        """Whether a token can only be a piece that is taken whole."""
        return self._takes_whole and id in self._tokens and not self.is_made(id)

    def _spellings(self, id: int) -> Iterator[list[int]]:
        """The symbols that the bytes of a token can be, the likeliest first."""
        token = self._tokens.get(id)
        if token is None:
            return
        if self._alphabet is None:
            yield self._bytes(token)
            return
        text = token.decode()
        behind = self._alphabet.separator
        if behind:
            if text.endswith(behind):
                yield self._characters(self._alphabet, text.removesuffix(behind), ends=False)
            yield self._characters(self._alphabet, text)
            return
        prefix = self._alphabet.continuing_subword_prefix or ""
        suffix = self._alphabet.end_of_word_suffix or ""
        # In the middle of a word, at its end, and at its beginning.
        for inner in (True, False):
            for ends in (True, False):
                if (inner and not prefix) or (ends and not suffix):
                    continue
                bare = text.removeprefix(prefix) if inner else text
                bare = bare.removesuffix(suffix) if ends else bare
                if len(bare) + len(prefix) * inner + len(suffix) * ends == len(text):
                    yield self._characters(self._alphabet, bare, inner=inner, ends=ends)
        # Byte-fallback tokens and unknown tokens can merge as well, if a list has such pairs.
        parts = {name_of_byte(byte) for byte in range(256)} if self._alphabet.byte_fallback else set()
        if self._alphabet.unk_token:
            parts.add(self._alphabet.unk_token)
        if any(part in text for part in parts):
            yield self._atoms(text, parts)

    def _atoms(self, text: str, parts: set[str]) -> list[int]:
        """The symbols of a token spelled with such parts, each of which is one symbol; empty if one is unknown."""
        lengths = sorted({len(part) for part in parts}, reverse=True)
        symbols, at = [], 0
        while at < len(text):
            part = next((text[at : at + n] for n in lengths if text[at : at + n] in parts), text[at])
            id = self._ids.get(part.encode())
            if id is None:
                return []
            symbols.append(id)
            at += len(part)
        return symbols

    def _bytes(self, token: bytes) -> list[int]:
        known = [id for byte in token if (id := self._ids.get(bytes([byte]))) is not None]
        return known if len(known) == len(token) else []

    def _characters(self, how: Characters, text: str, *, inner: bool = False, ends: bool = True) -> list[int]:
        """The symbols of a piece, or of a part of one: `inner` if text precedes it, `ends` if none follows."""
        unk = [] if how.unk_token is None else [self._ids[how.unk_token.encode()]]
        symbols: list[int] = []
        # An unknown token waits for the next character that is a token.
        waiting: list[int] = []
        for found in self._each(how, text, inner=inner, ends=ends):
            if isinstance(found, int):
                symbols += [*waiting, found]
                waiting = []
            elif found:
                symbols += found
            else:
                symbols += [] if how.fuse_unk else waiting
                waiting = unk
        return symbols + waiting

    def _each(self, how: Characters, text: str, *, inner: bool, ends: bool) -> Iterator[int | list[int]]:
        """For each character its token, else its bytes, else nothing."""
        prefix, suffix, behind = how.continuing_subword_prefix or "", how.end_of_word_suffix or "", how.separator or ""
        for place, character in enumerate(text):
            before = prefix if inner or place else ""
            spelled = before + character + (suffix if ends and place == len(text) - 1 else behind)
            id = self._ids.get(spelled.encode())
            yield id if id is not None else self._fallen(spelled) if how.byte_fallback else []

    def _fallen(self, spelled: str) -> list[int]:
        """The byte-fallback tokens of a character; none unless each byte has one."""
        fallen = [self._ids.get(name_of_byte(byte).encode()) for byte in spelled.encode()]
        known = [id for id in fallen if id is not None]
        return known if len(known) == len(fallen) else []
