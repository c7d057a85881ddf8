"""What a verification says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

    from bytepair.errors import BytepairError
    from bytepair.tokenizer import Tokenizer

Status: TypeAlias = Literal["pass", "fail", "not applicable"]


@dataclass(frozen=True, slots=True)
class Check:
    """A line of a `Report`.

    Attributes:
        name: What was looked at.
        status: ``"pass"``, ``"fail"`` or ``"not applicable"``.
        detail: What was found; why, if the status is another one than ``"pass"``.
        cli_detail: The detail with the remedy of the command line, where that differs.
    """

    name: str
    status: Status
    detail: str = ""
    cli_detail: str | None = None

    @classmethod
    def of_error(cls, name: str, error: BytepairError) -> Self:
        """The line that failed by an error."""
        return cls(name, "fail", str(error), error.for_cli())


@dataclass(frozen=True, slots=True)
class Report:
    """What `verify` found, in order; `report[name]` is the line of that name.

    Attributes:
        checks: The lines.

    Example:
        >>> report = Report((Check("one", "pass"), Check("two", "fail", "it is not so")))
        >>> print(report)
        pass  one
        FAIL  two: it is not so
        1 of 2 failed
        >>> report.passed, report["two"].detail
        (False, 'it is not so')
    """

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no line failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The lines that failed."""
        return tuple(check for check in self.checks if check.status == "fail")

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def __str__(self) -> str:
        shown = {"pass": "pass", "fail": "FAIL", "not applicable": "n/a "}
        lines = [
            f"{shown[check.status]}  {check.name}" + (f": {check.detail}" if check.detail else "")
            for check in self.checks
        ]
        counts = Counter(check.status for check in self.checks)
        passed = f"{counts['pass']} passed, {counts['not applicable']} not applicable"
        return "\n".join([*lines, f"{counts['fail']} of {len(lines)} failed" if counts["fail"] else passed])

    def for_cli(self) -> Report:
        """The same lines with the remedies of the command line."""
        return Report(
            tuple(
                check if check.cli_detail is None else replace(check, detail=check.cli_detail) for check in self.checks
            )
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        shown = ("name", "status", "detail")
        return {
            "passed": self.passed,
            "checks": [{name: getattr(check, name) for name in shown} for check in self.checks],
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified.

    Attributes:
        tokenizer: The tokenizer.
        folder: Where it was loaded from; None if it was not.
        manifest: The manifest of that folder; None if there is none.
    """

    tokenizer: Tokenizer
    folder: Path | None = None
    manifest: dict[str, Any] | None = None


def quoted(tokens: list[str], most: int = 5) -> str:
    """Some tokens as a line shows them: no control character is for the terminal to obey."""
    shown = [ascii(token) if not token.isprintable() else repr(token) for token in tokens[:most]]
    return ", ".join(shown) + (f" and {len(tokens) - most} more" if len(tokens) > most else "")
