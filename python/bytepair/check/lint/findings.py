"""Findings of a lint, and helpers that build them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair.drawing.characters import show_line
from bytepair.drawing.display import draw
from bytepair.drawing.wording import plural
from bytepair.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Severity: TypeAlias = Literal["error", "warning", "note"]
"""``"error"``: it does not load, or returns wrong ids or text. ``"warning"``: probably a mistake.
``"note"``: harmless, but good to know."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a tokenizer or its files.

    Attributes:
        code: Its kind, such as ``"unreachable-token"``.
        severity: ``"error"``, ``"warning"`` or ``"note"``.
        what: The fault, in one clause.
        meaning: Its effect on users of the tokenizer.
        remedy: The way to correct it.
        file: The file with the fault; empty if the tokenizer was not loaded from one, or several files are concerned.
        pointer: The place in the file: a JSON pointer.
        count: The number of faulty items.
        examples: Some of them, as text that is safe to print.
        ids: The ids of the examples, if they are tokens.
        cli_remedy: The remedy in the options of the command line, where `remedy` names a call or a keyword.
    """

    code: str
    severity: Severity
    what: str
    meaning: str
    remedy: str
    file: str = ""
    pointer: str = ""
    count: int = 1
    examples: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    cli_remedy: str | None = None

    @property
    def where(self) -> str:
        """File and pointer, if known.

        Example:
            >>> Finding("x", "note", "", "", "", "a.json", "/model").where
            'a.json /model'
        """
        return " ".join(filter(None, (self.file, self.pointer)))

    @property
    def shown_examples(self) -> str:
        """The examples in one line and the number of the others; empty if there are none."""
        more = self.count - len(self.examples)
        listed = ", ".join(self.examples)
        return listed + (f" and {more:,} more" if self.examples and more > 0 else "")

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        plain = {**asdict(self), "examples": list(self.examples), "ids": list(self.ids)}
        del plain["cli_remedy"]
        return plain

    def for_cli(self) -> Finding:
        """The same finding with the remedy of the command line."""
        return self if self.cli_remedy is None else replace(self, remedy=self.cli_remedy)


@dataclass(frozen=True, slots=True)
class Lint:
    """The findings of `lint`.

    Attributes:
        findings: Errors first, then warnings, then notes.

    Example:
        >>> found = Lint((Finding("id-holes", "note", "2 ids have no token", "rows without use", "leave it"),))
        >>> found.errors, [finding.code for finding in found], found["id-holes"].count
        ((), ['id-holes'], 1)
        >>> print(found)
        note     id-holes: 2 ids have no token
                 means: rows without use
                 do: leave it
        0 errors, 0 warnings, 1 note
    """

    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        by_severity = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        object.__setattr__(self, "findings", tuple(by_severity))

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def codes(self) -> tuple[str, ...]:
        """The kinds of the findings, each once."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, code: str) -> Finding:
        """The first finding of a kind; KeyError if there is none."""
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    @property
    def summary(self) -> str:
        """The number of findings of each severity."""
        counts = Counter(finding.severity for finding in self.findings)
        return ", ".join(plural(counts[name], name) for name in SEVERITIES)

    def __str__(self) -> str:
        return draw(self, "linted.text")

    def for_cli(self) -> Lint:
        """The same findings with the remedies of the command line."""
        return Lint(tuple(finding.for_cli() for finding in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        counts = Counter(finding.severity for finding in self.findings)
        return {
            "counts": {name: counts[name] for name in SEVERITIES},
            "findings": [finding.as_dict() for finding in self.findings],
        }


def quoted(text: str | bytes, most: int = 40) -> str:
    r"""A token as an example, with everything escaped that a terminal or a browser would interpret.

    Example:
        >>> quoted("low"), quoted(b"\xff\n"), quoted("a\u202e")
        ("'low'", "b'\\xff\\n'", "'aU+202E'")
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            shown = repr(text)
            return shown if len(shown) <= most else shown[:most] + "…"
        if text.isascii() and not text.isprintable():
            shown = repr(text.encode())
            return shown if len(shown) <= most else shown[:most] + "…"
    return f"'{show_line(text, most)}'"


def tokens(rows: Iterable[tuple[int, str | bytes]]) -> dict[str, Any]:
    """`count`, `examples` and `ids` of a finding about tokens.

    Args:
        rows: Ids and their descriptions; they are sorted by id.

    Example:
        >>> tokens([(7, b"low"), (3, "x")])
        {'count': 2, 'examples': ("3 'x'", "7 'low'"), 'ids': (3, 7)}
    """
    listed = sorted(rows, key=lambda row: row[0])
    first = listed[:MOST_EXAMPLES]
    return {
        "count": len(listed),
        "examples": tuple(f"{id} {quoted(token)}" for id, token in first),
        "ids": tuple(id for id, _ in first),
    }


def some(texts: Iterable[str]) -> dict[str, Any]:
    """`count` and `examples` of a finding that is not about tokens."""
    listed = list(texts)
    return {"count": len(listed), "examples": tuple(listed[:MOST_EXAMPLES])}


def of_error(error: Exception) -> dict[str, Any]:
    """`what`, `remedy`, `cli_remedy`, `file` and `pointer` of a finding about a file that cannot be read."""
    known = error if isinstance(error, FormatError) else None
    places = [
        f"{name} {getattr(error, name)}"
        for name in ("line", "row", "character", "byte")
        if getattr(error, name, None) is not None
    ]
    what = getattr(error, "what", str(error))
    return {
        "what": what + (f" ({', '.join(places)})" if places else ""),
        "remedy": getattr(error, "remedy", "") or "fetch it again",
        "cli_remedy": getattr(error, "cli_remedy", None),
        "file": str(getattr(error, "file", None) or ""),
        "pointer": str((known and known.pointer) or getattr(error, "pointer", None) or ""),
    }
