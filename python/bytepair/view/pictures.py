"""Pictures: a text as the tokens of one or more tokenizers, as the plain data that all views draw."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import _core
from bytepair.model.cache import cached
from bytepair.model.token_spelling import named_byte
from bytepair.resolver import TokenizerLike, load
from bytepair.study.explain import made_by, taken_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bytepair.call.options import Added, Special
    from bytepair.tokenizer import Tokenizer
    from bytepair.view.cuts import Interval


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """The facts about an id in a vocabulary.

    Attributes:
        token: Its bytes; the UTF-8 of tokens spelled in characters.
        rank: The priority of the merge that makes it; None if none does.
        special: Whether it is a special token.
        added: Whether it is an added token, special or not.
        score: The score of a Unigram token; None for one that is never found, and for other models.
        made: The left and right id that merge to it; None if no merge makes it: a byte, an added token, a token that is
            taken whole.
        whole: Whether no merges make it, so that it occurs only as a whole piece.
    """

    token: bytes
    rank: int | None
    special: bool
    added: bool
    score: float | None
    made: tuple[int, int] | None
    whole: bool

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain data for JSON, the token in hexadecimal."""
        return {
            "hex": self.token.hex(),
            "rank": self.rank,
            "special": self.special,
            "added": self.added,
            "score": self.score,
            "made": None if self.made is None else list(self.made),
            "whole": self.whole,
        }


@dataclass(frozen=True, slots=True)
class PictureTokens:
    """A text as the tokens of one tokenizer.

    Attributes:
        name: The name of the tokenizer.
        kind: ``"ranks"``, ``"merges"``, ``"WordPiece"``, ``"Unigram"`` or ``"WordLevel"``.
        fingerprint: The tokenizer's fingerprint.
        vocab_size: The highest id plus one.
        ids: The ids.
        starts: The start of each id in the text, in characters.
        ends: The end of each id. Several ids can be parts of one character; an id whose start is its end covers no
            character.
        pieces: For each id the number of its piece, or of its added token.
        differs: The intervals where its tokens are cut differently from those of the first tokenizer; for the first,
            from those of any other. Ascending and disjoint; None if there is only one tokenizer.
        vocabulary: The facts about each id in use, and about the ids that these are merged from.
    """

    name: str
    kind: str
    fingerprint: str
    vocab_size: int
    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    pieces: tuple[int, ...]
    differs: tuple[Interval, ...] | None
    vocabulary: Mapping[int, VocabularyEntry]

    def __len__(self) -> int:
        return len(self.ids)

    def as_dict(self) -> dict[str, Any]:
        """The tokens as plain data for JSON; ``differs`` only with several tokenizers."""
        differs = {} if self.differs is None else {"differs": [list(interval) for interval in self.differs]}
        return {
            "name": self.name,
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "vocab_size": self.vocab_size,
            "ids": list(self.ids),
            "starts": list(self.starts),
            "ends": list(self.ends),
            "pieces": list(self.pieces),
            **differs,
            "vocabulary": {str(id): entry.as_dict() for id, entry in self.vocabulary.items()},
        }


@dataclass(frozen=True, slots=True)
class Picture:
    """A text and its tokens in one or more tokenizers.

    Attributes:
        text: The text, with ``U+FFFD`` in place of bytes that are not UTF-8.
        sources: Its tokens, for each tokenizer.
        replaced: The characters where ``U+FFFD`` replaces bytes, and these bytes.
    """

    text: str
    sources: tuple[PictureTokens, ...]
    replaced: tuple[tuple[int, bytes], ...] = ()

    @property
    def size(self) -> int:
        """The number of bytes of the text as UTF-8, with replaced bytes counted as they were."""
        return len(self.text.encode()) + sum(len(data) - len("\ufffd".encode()) for _, data in self.replaced)

    def as_dict(self) -> dict[str, Any]:
        """The picture as plain data for JSON; ``replaced`` only if bytes were replaced."""
        replaced = {"replaced": [[place, data.hex()] for place, data in self.replaced]} if self.replaced else {}
        return {"text": self.text, **replaced, "tokenizers": [source.as_dict() for source in self.sources]}


def picture(
    tokenizers: Mapping[str, TokenizerLike] | Sequence[tuple[str, TokenizerLike]],
    text: str | bytes,
    *,
    special: Special = "allow",
    added: Added = "match",
) -> Picture:
    r"""Encode a text with one or more tokenizers, for drawing.

    Args:
        tokenizers: The tokenizers by label, each a tokenizer or a name that `bytepair.load` takes.
        text: The text. Bytes that are not UTF-8 are replaced as by ``errors="replace"``.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.

    Returns:
        The picture. Its ids are those of ``encode``: no post-processor runs.

    Raises:
        SpecialTokenError: The text holds a token that the call does not allow, or there is no such special token.
        EncodeError: The text has a lone surrogate, or a character that a vocabulary lacks.
        ValueError: There is no tokenizer.

    Time is linear in the text and n log n in the bytes of different tokens, for each tokenizer.

    Example:
        >>> import bytepair as bp
        >>> small, large = (bp.train({"lower": 2}, vocab_size=size) for size in (257, 260))
        >>> seen = picture({"small": small, "large": large}, "lower €")
        >>> [len(source) for source in seen.sources], seen.sources[1].differs
        ([8, 5], ((0, 5),))
        >>> seen.sources[1].starts, seen.sources[1].ends
        ((0, 5, 6, 6, 6), (5, 6, 7, 7, 7))
        >>> picture({"small": small}, b"\xff").as_dict()["replaced"]
        [[0, 'ff']]
    """
    pairs = tokenizers.items() if isinstance(tokenizers, Mapping) else tokenizers
    named = [(label, load(tokenizer)) for label, tokenizer in pairs]
    if not named:
        raise ValueError("a picture needs at least one tokenizer")
    whole, replaced = (text, ()) if isinstance(text, str) else _decoded(text)
    found = [_located(tokenizer, whole, special, added) for _, tokenizer in named]
    vocabularies = [_vocabulary(tokenizer, located.ids) for (_, tokenizer), located in zip(named, found, strict=True)]
    differs = _differing(named, found, vocabularies) if len(named) > 1 else [None]
    sources = [
        PictureTokens(
            name=name,
            kind=tokenizer.spec.semantics,
            fingerprint=tokenizer.fingerprint,
            vocab_size=tokenizer.vocab_size,
            **located._asdict(),
            differs=intervals,
            vocabulary=vocabulary,
        )
        for (name, tokenizer), located, intervals, vocabulary in zip(named, found, differs, vocabularies, strict=True)
    ]
    return Picture(whole, tuple(sources), replaced)


class _Located(NamedTuple):
    """Ids and their places, as in `PictureTokens`."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    pieces: tuple[int, ...]


def _located(tokenizer: Tokenizer, text: str, special: Special, added: Added) -> _Located:
    ids, places, pieces, _ = _core.locate(tokenizer, text, special=special, added=added)
    starts, ends = (tuple(map(itemgetter(side), places)) for side in (0, 1))
    return _Located(tuple(ids), starts, ends, tuple(pieces))


def _differing(
    named: Sequence[tuple[str, Tokenizer]],
    found: Sequence[_Located],
    vocabularies: Sequence[Mapping[int, VocabularyEntry]],
) -> list[tuple[Interval, ...]]:
    # With numpy, which pictures of one tokenizer do not need.
    from bytepair.view.cuts import cuts, differing  # noqa: PLC0415

    def sizes(tokenizer: Tokenizer, vocabulary: Mapping[int, VocabularyEntry]) -> Callable[[int], int]:
        return lambda id: _size(tokenizer, vocabulary[id])

    return differing(
        [
            cuts(located.ids, located.starts, located.ends, sizes(tokenizer, vocabulary))
            for (_, tokenizer), located, vocabulary in zip(named, found, vocabularies, strict=True)
        ]
    )


_ESCAPED = re.compile("[\udc80-\udcff]+")


def _decoded(data: bytes) -> tuple[str, tuple[tuple[int, bytes], ...]]:
    """Bytes as text, and the bytes that were replaced, as `str.decode` replaces them."""
    try:
        return data.decode(), ()
    except UnicodeDecodeError:
        pass
    text = data.decode(errors="surrogateescape")
    parts, replaced, copied, length = [], [], 0, 0
    for run in _ESCAPED.finditer(text):
        parts.append(text[copied : run.start()])
        length += len(parts[-1])
        copied = run.end()
        wrong = run.group().encode(errors="surrogateescape")
        place = 0
        while place < len(wrong):
            # Four bytes determine how many of them one U+FFFD replaces.
            size = _size_of_wrong(wrong[place : place + 4])
            replaced.append((length, wrong[place : place + size]))
            parts.append("\ufffd")
            place, length = place + size, length + 1
    return "".join(parts) + text[copied:], tuple(replaced)


def _size_of_wrong(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end
    raise AssertionError("these bytes were found to be no UTF-8")


def _vocabulary(tokenizer: Tokenizer, ids: Iterable[int]) -> dict[int, VocabularyEntry]:
    made = made_by(tokenizer, set(ids))
    whole = taken_whole(tokenizer, [id for id, merge in made.items() if merge is None])
    special = {token.id: token.special for token in tokenizer.spec.added_tokens}
    # Cached, since a playground draws a picture with each letter that is typed.
    scores = cached(tokenizer, "scores", _scores)
    return {
        id: VocabularyEntry(
            token=tokenizer.token_bytes(id),
            rank=merge and merge.rank,
            special=special.get(id, False),
            added=id in special,
            score=scores.get(id),
            made=merge and merge[:2],
            whole=id in whole,
        )
        for id, merge in sorted(made.items())
    }


def _scores(tokenizer: Tokenizer) -> dict[int, float]:
    """Scores by id; none for a model without, nor for tokens that are never found."""
    columns = tokenizer.spec.packed.columns
    scored = zip(columns.ids(), columns.scores() or (), strict=True) if columns.has_scores else ()
    return {id: score for id, score in scored if math.isfinite(score)}


def _size(tokenizer: Tokenizer, entry: VocabularyEntry) -> int:
    """The number of bytes of the text of a token that is a part of a character."""
    falls_back = not tokenizer.spec.is_byte_level and named_byte(entry.token) is not None
    return 1 if falls_back else len(entry.token)
