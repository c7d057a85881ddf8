"""Typed errors: what was wrong, where, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re

PLACES = ("file", "pointer", "line", "row", "character", "byte")


_MOST_SHOWN = 900
"""Messages up to this many characters are shown as they are: the longest published split pattern fits."""

_LONG_QUOTE = r'"(?:[^"\\]|\\.){200,}+"|\'(?:[^\'\\]|\\.){200,}+\''
_BEGINNING = r"(?:[^\\]|\\.){1,100}"


def brief(text: str) -> str:
    """A message of bounded length: of long quotations in it the beginning and the length, of the rest both ends.

    Example:
        >>> brief("the token 'abc' is empty")
        "the token 'abc' is empty"
        >>> print(brief(f"the token {'ab' * 80_000!r} has two ids")[100:])
        bababababa'... (160,000 characters) has two ids
    """
    if len(text) <= _MOST_SHOWN:
        return text
    # Few messages are long.
    import re  # noqa: PLC0415

    def beginning(quoted: re.Match[str]) -> str:
        found = quoted.group()
        # An escape is not cut.
        shown = re.match(_BEGINNING, found, re.DOTALL)
        return f"{shown.group() if shown else ''}{found[0]}... ({len(found) - 2:,} characters)"

    text = re.sub(_LONG_QUOTE, beginning, text, flags=re.DOTALL)
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:600]} ... ({len(text) - 800:,} characters) ... {text[-200:]}"


class BytepairError(Exception):
    """Base class of all errors that bytepair raises on purpose.

    Args:
        what: What was wrong, in one clause.
        remedy: What to do about it, where possible as code that can be pasted.
        cli_remedy: The remedy in the options of the command line, where `remedy` names a call or a keyword.
        where: Any of ``file`` (path), ``pointer`` (JSON pointer), ``line`` (of a text file, from 1), ``row`` (index
            in a batch), ``character`` and ``byte`` (position in the input). Each becomes an attribute, None if unknown.

    Example:
        >>> error = BytepairError("no token has id 9", row=2, remedy="use ids below 9")
        >>> print(error)
        no token has id 9 (row 2); use ids below 9
        >>> error.row, error.byte
        (2, None)
    """

    def __init__(self, what: str, *, remedy: str = "", cli_remedy: str | None = None, **where: Any) -> None:
        unknown = where.keys() - set(PLACES)
        if unknown:
            raise TypeError(f"{sorted(unknown)[0]!r} is not a place of an error; places are {', '.join(PLACES)}")
        what = brief(what)
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.cli_remedy = cli_remedy
        self.file = where.get("file")
        self.pointer = where.get("pointer")
        self.line = where.get("line")
        self.row = where.get("row")
        self.character = where.get("character")
        self.byte = where.get("byte")

    def __str__(self) -> str:
        return self._with(self.remedy)

    def for_cli(self) -> str:
        """The message with the remedy of the command line.

        Example:
            >>> error = BytepairError("no column 'text'", remedy='pass field="NAME"', cli_remedy="use --field NAME")
            >>> print(error.for_cli())
            no column 'text'; use --field NAME
        """
        return self._with(self.remedy if self.cli_remedy is None else self.cli_remedy)

    def _with(self, remedy: str) -> str:
        known = ", ".join(f"{name} {brief(str(value))}" for name, value in self._where().items() if value is not None)
        return self.what + (f" ({known})" if known else "") + (f"; {remedy}" if remedy else "")

    def _where(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PLACES}

    def parts(self) -> dict[str, Any]:
        """The arguments that make the same error again, as JSON can hold them."""
        return {"what": self.what, "remedy": self.remedy, "cli_remedy": self.cli_remedy, **self._where()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.parts())


def _rebuild(kind: type[BytepairError], parts: dict[str, Any]) -> BytepairError:
    return kind(**parts)


class EncodeError(BytepairError, ValueError):
    """A text that cannot be encoded: a lone surrogate, bytes that are not UTF-8, or a byte without a token."""


class SpecialTokenError(BytepairError, ValueError):
    """A special or added token in a text whose call does not allow it, or a name that no such token has."""


class InvalidIdError(BytepairError, ValueError, KeyError):
    """An id (or token) that the tokenizer does not have."""


class FormatError(BytepairError, ValueError):
    """A file that breaks its format, or a tokenizer that a format cannot hold."""


class AlphabetError(FormatError):
    """A byte-level vocabulary in which some bytes of UTF-8 have no token; ``partial_alphabet=True`` loads it."""


class PatternError(BytepairError, ValueError):
    """A split pattern that does not compile, or that ran out of its step budget."""


class TrainingError(BytepairError, ValueError):
    """Settings or counts from which no vocabulary can be trained."""


class TemplateError(BytepairError, ValueError):
    """A chat template, or its messages, that cannot be rendered or traced, or would take too much to render."""


class LimitError(BytepairError, ValueError):
    """A token limit that cannot be kept: a single character has more tokens, or the overlap leaves no room."""


class BusyError(BytepairError, RuntimeError):
    """A stream, growing text or counter that another call is using, in another thread or around this one.

    Each is for one call at a time. Give each thread its own, or hold a lock around the calls. A signal handler, or the
    iterator that a call reads, cannot use what that call uses. Nothing has changed: the call can be made again later.
    """


class ArtifactError(BytepairError, OSError):
    """A file or folder that cannot be read, fetched or written."""

    # OSError.__str__ and __new__ treat arguments as errno and text; BytepairError's come first.


class CorpusError(BytepairError, ValueError):
    """A run over a corpus with sources or options that it cannot have, or a plan that no longer fits them."""


class SourceError(CorpusError, TrainingError):
    """A source that cannot be read as it is named: no such file, kind, column or field, or a package is missing."""


class IntegrityError(BytepairError):
    """Bytes whose hash differs from the recorded one."""


class TokenizerWarning(UserWarning):
    """A call that succeeded with less than it was asked for: for example fewer tokens than ``vocab_size``."""

    def __init__(self, message: str = "") -> None:
        super().__init__(brief(message))
