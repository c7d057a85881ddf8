"""The typed errors: each says what was wrong, where, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer

PLACES = ("file", "pointer", "line", "row", "character", "byte")


class BytepairError(Exception):
    """The root of every error that bytepair raises on purpose.

    Args:
        what: What was wrong, in one clause.
        remedy: What to do about it, where possible as code that can be pasted.
        where: Any of ``file`` (path), ``pointer`` (JSON pointer), ``line`` (of a text file, from 1), ``row`` (index
            in a batch), ``character`` and ``byte`` (position in the input). Each becomes an attribute, None if unknown.

    Example:
        >>> error = BytepairError("no token has id 9", row=2, remedy="use ids below 9")
        >>> print(error)
        no token has id 9 (row 2); use ids below 9
        >>> error.row, error.byte
        (2, None)
    """

    def __init__(self, what: str, *, remedy: str = "", **where: Any) -> None:
        unknown = where.keys() - set(PLACES)
        if unknown:
            raise TypeError(f"unknown place {sorted(unknown)[0]!r}: an error speaks of {', '.join(PLACES)}")
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.file = where.get("file")
        self.pointer = where.get("pointer")
        self.line = where.get("line")
        self.row = where.get("row")
        self.character = where.get("character")
        self.byte = where.get("byte")

    def __str__(self) -> str:
        places = [(name, getattr(self, name)) for name in PLACES]
        known = ", ".join(f"{name} {value}" for name, value in places if value is not None)
        return self.what + (f" ({known})" if known else "") + (f"; {self.remedy}" if self.remedy else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.what, self.remedy, {name: getattr(self, name) for name in PLACES})


def _rebuild(kind: type[BytepairError], what: str, remedy: str, where: dict[str, Any]) -> BytepairError:
    return kind(what, remedy=remedy, **where)


class EncodeError(BytepairError, ValueError):
    """The text cannot be encoded: a lone surrogate, bytes that are not UTF-8, or a byte without a token."""


class SpecialTokenError(BytepairError, ValueError):
    """Text holds a special or added token that the call does not allow, or a name that is none."""


class InvalidIdError(BytepairError, ValueError, KeyError):
    """An id (or token) that the tokenizer does not have."""


class FormatError(BytepairError, ValueError):
    """A file that is not what it should be, or a tokenizer that a format cannot hold."""


class PatternError(BytepairError, ValueError):
    """A split pattern that does not compile, or one that ran out of its step budget."""


class TrainingError(BytepairError, ValueError):
    """Settings or counts from which no vocabulary can be trained."""


class TemplateError(BytepairError, ValueError):
    """A chat template, or messages for one, that cannot be rendered or traced, or would take too much to render."""


class LimitError(BytepairError, ValueError):
    """A limit on tokens that cannot be kept: a single character has more, or an overlap leaves no room."""


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C while merges were learned; what was learned until then is whole.

    Args:
        merges: How many merges there are.
        build: Makes the tokenizer of these merges.

    Attributes:
        merges: How many merges there are.
    """

    def __init__(self, merges: int, build: Callable[[], Tokenizer]) -> None:
        super().__init__(f"training was interrupted after {merges} merges")
        self.merges = merges
        self._build = build

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the merges so far: what training to that many would have given."""
        return self._build()


class ArtifactError(BytepairError, OSError):
    """A file or folder that cannot be read, fetched or written."""

    # OSError.__str__ and __new__ treat arguments as errno and text; BytepairError's come first.


class CorpusError(BytepairError, ValueError):
    """A run over a corpus that cannot be: its sources, its options, or a plan that it no longer fits."""


class SourceError(CorpusError, TrainingError):
    """A source that cannot be read as it is named: no such file, kind, column or field, or a package is missing."""


class IntegrityError(BytepairError):
    """Bytes whose hash is not the one that was promised."""


class TokenizerWarning(UserWarning):
    """Something worked, but not as far as was asked: for example fewer tokens than ``vocab_size``."""
