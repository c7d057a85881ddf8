"""The result of a verification: a list of checks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["pass", "fail", "not applicable"]


@dataclass(frozen=True, slots=True)
class Check:
    """A line of a `Checklist`.

    Attributes:
        name: The property that was checked.
        status: ``"pass"``, ``"fail"`` or ``"not applicable"``.
        detail: The finding; the reason, if the status is not ``"pass"``.
    """

    name: str
    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """The checks of `verify`, in order; `checklist[name]` is the one of that name.

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

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {"passed": self.passed, "checks": [asdict(check) for check in self.checks]}


def quoted(tokens: list[str], most: int = 5) -> str:
    """Some tokens on one line, with control characters escaped."""
    shown = [ascii(token) if not token.isprintable() else repr(token) for token in tokens[:most]]
    return ", ".join(shown) + (f" and {len(tokens) - most} more" if len(tokens) > most else "")
