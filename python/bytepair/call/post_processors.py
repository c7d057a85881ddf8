"""The kinds of post-processors. Each maps the parts of a row, initially its texts, to new parts.

They behave as in ``tokenizers``, also for overflowing parts, whose type ids a template does not change. Columns of an
`Encoding` are replaced, never modified, so copies can share them.
Source: ``processors/`` of ``tokenizers`` 0.22, read for its behaviour.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bytepair.call.encoding import Encoding
from bytepair.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

# The characters with the Unicode property White_Space, and the space of the byte alphabet: trimmed from offsets.
_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u0120"
)


class Processor(Protocol):
    """A post-processor, or one of a sequence."""

    def added(self, pair: bool) -> int:
        """The number of ids that it adds to a text, or to a pair."""

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        """Returns the new parts of a row, with the tokens of the post-processor if `add` is set."""


class ByteLevel(NamedTuple):
    """Trims white space from the ends of offsets."""

    trim_offsets: bool
    add_prefix_space: bool

    def added(self, pair: bool) -> int:  # noqa: ARG002 (it adds nothing to either)
        """As `Processor.added`."""
        return 0

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:  # noqa: ARG002 (it trims in any case)
        """As `Processor.run`."""
        if self.trim_offsets:
            _trim(encodings, self.add_prefix_space)
        for number, encoding in enumerate(encodings):
            claim(encoding, number)
        return encodings


class BertProcessing(NamedTuple):
    """Adds ``[CLS]`` before the first text and ``[SEP]`` after each; the second text has type 1."""

    sep: tuple[str, int]
    cls: tuple[str, int]

    def added(self, pair: bool) -> int:
        """As `Processor.added`."""
        return 3 if pair else 2

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        """As `Processor.run`."""
        if not add:
            return encodings
        done = []
        for number, encoding in enumerate(encodings):
            before, last = ([self.cls], 0) if number == 0 else ([], 1)
            whole = [
                _wrapped(each, before, [self.sep], [*[0] * len(before), *each.type_ids, last], min(number, 1))
                for each in (encoding, *encoding.overflowing)
            ]
            whole[0].overflowing = whole[1:]
            done.append(whole[0])
        return done


class RobertaProcessing(NamedTuple):
    """Adds ``<s>`` before the first text, ``</s>`` before the second and after each; every id has type 0."""

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool
    add_prefix_space: bool

    def added(self, pair: bool) -> int:
        """As `Processor.added`."""
        return 4 if pair else 2

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        """As `Processor.run`."""
        if self.trim_offsets:
            _trim(encodings, self.add_prefix_space)
        for encoding in encodings:
            encoding.type_ids = [0] * len(encoding)
        if not add:
            return encodings
        done = []
        for number, encoding in enumerate(encodings):
            before = self.cls if number == 0 else self.sep
            whole = [
                _wrapped(each, [before], [self.sep], [0] * (len(each) + 2), min(number, 1))
                for each in (encoding, *encoding.overflowing)
            ]
            whole[0].overflowing = whole[1:]
            done.append(whole[0])
        return done


class TemplatePiece(NamedTuple):
    """A piece of a template: a text by its number, or ids with their tokens."""

    sequence: int | None
    ids: list[int]
    tokens: list[str]
    type_id: int


class TemplateProcessing(NamedTuple):
    """Arranges texts and special tokens by a template, one for a single text and one for a pair."""

    single: list[TemplatePiece]
    pair: list[TemplatePiece]

    def added(self, pair: bool) -> int:
        """As `Processor.added`."""
        return sum(len(piece.ids) for piece in (self.pair if pair else self.single))

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        """As `Processor.run`."""
        if not 1 <= len(encodings) <= 2:
            raise FormatError(
                f"a TemplateProcessing follows a post-processor that makes {len(encodings)} parts; it takes one or two"
            )
        done = []
        for sequence, ids, tokens, type_id in self.pair if len(encodings) == 2 else self.single:
            if sequence is None:
                if add:
                    done.append(added_encoding(list(ids), list(tokens), type_id))
                continue
            encoding = encodings[sequence]
            encoding.type_ids = [type_id] * len(encoding)
            claim(encoding, sequence)
            done.append(copied(encoding))
        return done


def claim(encoding: Encoding, sequence: int) -> None:
    """Marks all tokens of an encoding as tokens of this text."""
    encoding._ranges[sequence] = (0, len(encoding))


def added_encoding(ids: list[int], tokens: list[str], type_id: int) -> Encoding:
    """Ids that a post-processor adds, as an encoding."""
    count = len(ids)
    return Encoding(ids, tokens, [(0, 0)] * count, [None] * count, [type_id] * count, [1] * count, [1] * count)


def copied(encoding: Encoding) -> Encoding:
    """A copy that shares its columns, which nothing changes in place."""
    return Encoding(
        encoding.ids,
        encoding.tokens,
        encoding.offsets,
        encoding.word_ids,
        encoding.type_ids,
        encoding.special_tokens_mask,
        encoding.attention_mask,
        [copied(other) for other in encoding.overflowing],
        dict(encoding._ranges),
    )


def _wrapped(
    encoding: Encoding,
    before: Sequence[tuple[str, int]],
    after: Sequence[tuple[str, int]],
    type_ids: list[int],
    sequence: int,
) -> Encoding:
    """An encoding between added tokens, without its overflowing parts."""
    front, back = len(before), len(after)
    return Encoding(
        [*(id for _, id in before), *encoding.ids, *(id for _, id in after)],
        [*(token for token, _ in before), *encoding.tokens, *(token for token, _ in after)],
        [*[(0, 0)] * front, *encoding.offsets, *[(0, 0)] * back],
        [*[None] * front, *encoding.word_ids, *[None] * back],
        type_ids,
        [*[1] * front, *[0] * len(encoding), *[1] * back],
        [1] * (len(encoding) + front + back),
        ranges={sequence: (front, front + len(encoding))},
    )


def _trim(encodings: list[Encoding], add_prefix_space: bool) -> None:
    for encoding in encodings:
        for each in (encoding, *encoding.overflowing):
            each.offsets = _trimmed(each.tokens, each.offsets, add_prefix_space)


@lru_cache(maxsize=8192)
def spaces(token: str) -> tuple[int, int]:
    """The numbers of white-space characters at the two ends of a token."""
    return len(token) - len(token.lstrip(_SPACES)), len(token) - len(token.rstrip(_SPACES))


def _trimmed(tokens: list[str], offsets: list[tuple[int, int]], add_prefix_space: bool) -> list[tuple[int, int]]:
    """Offsets without the white space at the ends of tokens."""
    done = list(offsets)
    for place, (leading, trailing) in enumerate(map(spaces, tokens)):
        if not leading and not trailing:
            continue
        start, end = offsets[place]
        # A single space at the front may be the prefix space, which is no character of the text.
        if leading and not (add_prefix_space and leading == 1 and (place == 0 or start == 0)):
            start = min(start + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, start)
        done[place] = (start, end)
    return done
