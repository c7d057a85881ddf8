"""The result of a verification: a list of checks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self

    from bytepair.errors import BytepairError

Status: TypeAlias = Literal["pass", "fail", "not applicable"]


@dataclass(frozen=True, slots=True)
class Check:
    """A line of a `Checklist`.

    Attributes:
        name: The property that was checked.
        status: ``"pass"``, ``"fail"`` or ``"not applicable"``.
        detail: The finding; the reason, if the status is not ``"pass"``.
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
class Checklist:
    """The checks of `verify`, in order; `checklist[name]` is the check with that name.

    Attributes:
        checks: The checks.

    Example:
        >>> checklist = Checklist((Check("one", "pass"), Check("two", "fail", "it differs")))
        >>> print(checklist)
        pass  one
        FAIL  two: it differs
        1 of 2 failed
        >>> checklist.passed, checklist["two"].detail
        (False, 'it differs')
    """

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
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

    def for_cli(self) -> Checklist:
        """The same lines with the remedies of the command line."""
        shown = (
            replace(each, detail=each.detail if each.cli_detail is None else each.cli_detail) for each in self.checks
        )
        return Checklist(tuple(shown))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        checks = [{"name": each.name, "status": each.status, "detail": each.detail} for each in self.checks]
        return {"passed": self.passed, "checks": checks}


def quoted(tokens: list[str], most: int = 5) -> str:
    """Some tokens on one line, with control characters escaped."""
    shown = [ascii(token) if not token.isprintable() else repr(token) for token in tokens[:most]]
    return ", ".join(shown) + (f" and {len(tokens) - most} more" if len(tokens) > most else "")
