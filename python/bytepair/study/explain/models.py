"""The steps from a piece to its ids, by the definition of each kind of model."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bytepair.model.models import BytePair, Unigram, WordLevel, WordPiece
from bytepair.model.token_spelling import name_of_byte, named_byte
from bytepair.study.explain.explanation import LongestMatch, ScoredToken, Segmentation
from bytepair.study.explain.merging import Merging
from bytepair.study.explain.trees import merging_of

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

_UNKNOWN_COSTS = 10.0
"""The score of an unknown character is the worst token's minus this."""
_UNKNOWN_FROM_END = -1000.0
"""The score of one in a model that goes from the end."""
_PARTS = 10_000
"""The parts of a score that are counted there."""


class Explainer(Protocol):
    """A model that explains the ids of a piece."""

    def explain(self, piece: str) -> dict[str, Any]:
        """The fields of `ExplainedPiece` from `kind` on."""


def explainer_of(tokenizer: Tokenizer) -> Explainer:
    """The explainer of a tokenizer's model."""
    match tokenizer.spec.model:
        case WordPiece() as model:
            return ByLongestMatch(model)
        case Unigram() as model:
            return ByBestPath(model)
        case WordLevel() as model:
            return ByWord(model)
        case BytePair() as model:
            return ByMerging(merging_of(tokenizer) or Merging(model))


class ByMerging:
    """BPE: pairs merge, the lowest first."""

    def __init__(self, merging: Merging) -> None:
        self._merging = merging

    def explain(self, piece: str) -> dict[str, Any]:
        """As `Explainer.explain`; n log n."""
        symbols = self._merging.symbols(piece)
        steps, ids = self._merging.merge(symbols)
        whole = self._merging.whole(piece)
        if whole is not None and ids != [whole]:
            note = "it is a token, and taken whole" + (f"; merging would end in {len(ids)} tokens" if ids else "")
            return {"kind": "whole", "ids": (whole,), "note": note}
        lost = self._merging.lost(piece)
        note = f"{lost} characters without a token are dropped" if lost else ""
        return {"kind": "merged", "ids": tuple(ids), "symbols": tuple(symbols), "steps": tuple(steps), "note": note}


class ByLongestMatch:
    """WordPiece: the longest token that matches, repeatedly.

    Example:
        >>> explainer = ByLongestMatch(WordPiece((b"[UNK]", b"un", b"##able"), (0, 1, 2)))
        >>> explainer.explain("unable")["steps"]
        (LongestMatch(at=0, end=2, tried=4, result=1), LongestMatch(at=2, end=6, tried=0, result=2))
    """

    def __init__(self, model: WordPiece) -> None:
        self._ids = _texts(model)
        self._prefix = model.continuing_subword_prefix
        self._most = model.max_input_chars_per_word
        self._unk = model.unk_token
        inner = [len(token) - len(self._prefix) for token in self._ids if token.startswith(self._prefix)]
        # The longest token at the beginning of a piece, and further on.
        self._longest = max(map(len, self._ids), default=0), max(inner, default=0)

    def explain(self, piece: str) -> dict[str, Any]:
        """As `Explainer.explain`; linear in the piece times its longest token."""
        if len(piece) > self._most:
            return self._unknown(f"it is longer than {self._most} characters", [])
        at = 0
        steps: list[LongestMatch] = []
        while at < len(piece):
            match = self._longest_at(piece, at)
            steps.append(match)
            if match.result is None:
                return self._unknown(f"no token matches at character {at}, so the whole piece is unknown", steps)
            at = match.end
        ids = tuple(step.result for step in steps)
        return {"kind": "longest match", "ids": ids, "steps": tuple(steps)}

    def _longest_at(self, piece: str, at: int) -> LongestMatch:
        first = min(len(piece) - at, self._longest[bool(at)])
        for length in range(first, 0, -1):
            id = self._ids.get((self._prefix if at else "") + piece[at : at + length])
            if id is not None:
                return LongestMatch(at, at + length, first - length, id)
        return LongestMatch(at, at, first, None)

    def _unknown(self, note: str, steps: list[LongestMatch]) -> dict[str, Any]:
        return {"kind": "unknown", "ids": (self._ids[self._unk],), "steps": tuple(steps), "note": note}


class ByWord:
    """WordLevel: a piece is a token, or unknown."""

    def __init__(self, model: WordLevel) -> None:
        self._ids = _texts(model)
        self._unk = model.unk_token

    def explain(self, piece: str) -> dict[str, Any]:
        """As `Explainer.explain`."""
        if piece in self._ids:
            return {"kind": "word", "ids": (self._ids[piece],)}
        return {"kind": "unknown", "ids": (self._ids[self._unk],), "note": "it is not a token"}


class _Best(NamedTuple):
    """One of the best segmentations up to a place, or from it on: its sum, its token there, and which one is next."""

    sum: float
    token: ScoredToken
    before: int


class ByBestPath:
    """Unigram: the tokens whose scores have the largest sum.

    Example:
        >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), (0, 1, 2, 3), (0.0, -1.0, -2.0, -2.5), unk_id=0)
        >>> found = ByBestPath(model).explain("ab")["segmentations"]
        >>> [(one.score, [token.id for token in one.tokens]) for one in found]
        [(-2.5, [3]), (-3.0, [1, 2])]
    """

    def __init__(self, model: Unigram) -> None:
        self._ids = _texts(model)
        scores = dict(zip(self._ids, model.scores, strict=True)) | dict(model.unlisted)
        self._unlisted = frozenset(text for text, _ in model.unlisted)
        self._scores = {text: score for text, score in scores.items() if math.isfinite(score)}
        self._sorted = sorted(self._scores)
        self._unk = model.unk_id
        lowest = min(self._scores.values(), default=0.0)
        self._unk_score = lowest - _UNKNOWN_COSTS if model.unk_score is None else model.unk_score
        self._byte_fallback = model.byte_fallback
        self._from_end = model.from_end
        if model.from_end:
            # No text spells the unknown token or that of a byte.
            apart = {text for text in self._scores if self._ids[text] == self._unk or self._is_byte(text)}
            scores = {text: score for text, score in self._scores.items() if text not in apart}
            self._scores = {text: _parts(score) / _PARTS for text, score in scores.items()}
            self._sorted = sorted(self._scores)
            self._unk_score = _UNKNOWN_FROM_END

    def _is_byte(self, text: str) -> bool:
        return self._byte_fallback and named_byte(text.encode()) is not None

    def explain(self, piece: str) -> dict[str, Any]:
        """As `Explainer.explain`; time is one dictionary search per prefix of a token at each place."""
        ways = self._ways_from_end(piece) if self._from_end else self._ways(piece)
        ids, note = self._put_out(piece, ways[0].tokens) if ways else ([], "")
        return {"kind": "best path", "ids": tuple(ids), "segmentations": tuple(ways), "note": note}

    def _ways(self, piece: str) -> list[Segmentation]:
        # The two best segmentations up to each place. Among equal ones the first stays the best.
        best: list[list[_Best]] = [[] for _ in range(len(piece) + 1)]
        for at in range(len(piece)):
            arrived = best[at] or [_Best(0.0, _START, 0)]
            for token in self._tokens_at(piece, at):
                for number, way in enumerate(arrived):
                    _take(best[token.end], _Best(way.sum + token.score, token, number))
        return [self._way(best, len(piece), number) for number in range(len(best[-1]))] if piece else []

    def _ways_from_end(self, piece: str) -> list[Segmentation]:
        # The two best segmentations from each place on, in parts of a score. Among equal ones the one with the longest
        # first token stays the best.
        best: list[list[_Best]] = [[] for _ in piece] + [[_Best(0, _START, 0)]]
        for at in reversed(range(len(piece))):
            for token in sorted(self._tokens_at(piece, at), key=lambda token: -token.end):
                for number, way in enumerate(best[token.end]):
                    _take(best[at], _Best(way.sum + _parts(token.score), token, number))
        ways = []
        for first in best[0] if piece else ():
            tokens, way = [first.token], first
            while tokens[-1].end < len(piece):
                way = best[tokens[-1].end][way.before]
                tokens.append(way.token)
            ways.append(Segmentation(tuple(tokens), first.sum / _PARTS))
        return ways

    def _tokens_at(self, piece: str, at: int) -> list[ScoredToken]:
        """The tokens that begin at a place, the shortest first; the unknown token for a character without one."""
        found = []
        for end in range(at + 1, len(piece) + 1):
            text = piece[at:end]
            place = bisect_left(self._sorted, text)
            if place == len(self._sorted) or not self._sorted[place].startswith(text):
                break
            if self._sorted[place] == text:
                id = self._ids.get(text, self._unk or 0)
                found.append(ScoredToken(at, end, id, self._scores[text], is_unknown=False))
        if self._unk is not None and not (found and found[0].end == at + 1):
            found.append(ScoredToken(at, at + 1, self._unk, self._unk_score, is_unknown=True))
        return found

    def _is_unknown(self, piece: str, token: ScoredToken) -> bool:
        """Whether a token is one with unknown ones beside it."""
        return token.id == self._unk and piece[token.at : token.end] not in self._unlisted

    def _way(self, best: list[list[_Best]], end: int, number: int) -> Segmentation:
        score = best[end][number].sum
        tokens = []
        while end > 0:
            _, token, number = best[end][number]
            tokens.append(token)
            end = token.at
        return Segmentation(tuple(reversed(tokens)), score)

    def _put_out(self, piece: str, tokens: tuple[ScoredToken, ...]) -> tuple[list[int], str]:
        """The ids of the best segmentation, in which consecutive unknown tokens are one, or their bytes."""
        ids: list[int] = []
        notes: set[str] = set()
        place = 0
        while place < len(tokens):
            first = tokens[place]
            place += 1
            if not self._is_unknown(piece, first):
                ids.append(first.id)
                continue
            end = first.end
            while place < len(tokens) and self._is_unknown(piece, tokens[place]):
                end = tokens[place].end
                place += 1
            text = piece[first.at : end]
            fallen = [self._ids.get(name_of_byte(byte)) for byte in text.encode()] if self._byte_fallback else [None]
            known = [id for id in fallen if id is not None]
            if text in self._ids and not self._from_end:
                ids.append(self._ids[text])
            elif len(known) == len(fallen):
                ids += known
                notes.add("characters without a token become their bytes")
            else:
                ids.append(first.id)
                notes.add("consecutive characters without a token become one unknown token")
        return ids, "; ".join(sorted(notes))


def _parts(score: float) -> int:
    """A score in whole parts, half of one away from zero."""
    size = abs(score) * _PARTS
    parts = math.floor(size)
    parts += size - parts >= 0.5
    return parts if score > 0 else -parts


_START = ScoredToken(0, 0, 0, 0.0, is_unknown=False)


def _take(ways: list[_Best], way: _Best) -> None:
    """Keep the two best; among equal ones those that came first."""
    place = next((place for place, known in enumerate(ways) if way.sum > known.sum), len(ways))
    ways.insert(place, way)
    del ways[2:]


def _texts(model: WordPiece | Unigram | WordLevel) -> dict[str, int]:
    return {token.decode(): id for token, id in zip(model.tokens, model.ids, strict=True)}
