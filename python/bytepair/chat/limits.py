"""Resource limits of a template, and the budget that enforces them during one rendering.

Each step is checked against the budget before it runs, so no step has to be interrupted from outside.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from bytepair.errors import TemplateError

# Steps between two checks of the clock.
_STRIDE = 64
# Characters of memory allowed for each input character: ordinary templates copy their inputs several times.
_COPIES = 16
ELEMENT = 64
"""The cost of an element of a container, in characters."""
RUN = 16
"""The cost of a run of a text besides its characters, in characters; a run may be empty."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a chat template and of its inputs.

    Attributes:
        seconds: Maximum processor time of the thread, for compiling and for rendering each.
        output: Maximum length of the rendered text, in characters.
        memory: Maximum number of characters made while rendering, beyond 16 for each input character; an element of
            a list counts as 64.
        depth: Maximum nesting of macros, loops and values.
        template: Maximum length of the template's source, in characters.
        messages: Maximum length of all inputs in characters: messages, tools, documents and variables.

    Example:
        >>> from bytepair.chat.rendering.render import render
        >>> from bytepair.errors import TemplateError
        >>> try:
        ...     render([], "{% for i in range(9999) %}{{ i }}{% endfor %}", limits=Limits(output=1000))
        ... except TemplateError as error:
        ...     print(error.what)
        the text grows beyond 1000 characters
    """

    seconds: float = 1.0
    output: int = 1 << 24
    memory: int = 1 << 25
    depth: int = 64
    template: int = 1 << 17
    messages: int = 1 << 24


class Budget:
    """The remainder of the limits in one rendering."""

    __slots__ = ("_deadline", "_ticks", "depth", "left", "limits", "most", "output")

    def __init__(self, limits: Limits, given: int = 0) -> None:
        self.limits = limits
        self.most = limits.memory + _COPIES * given
        self.left = self.most
        self.output = limits.output
        self.depth = 0
        self._ticks = _STRIDE
        self._deadline = time.thread_time() + limits.seconds

    def spend(self, amount: int = 0) -> None:
        """Charge one step that makes `amount` characters before it runs, or raise TemplateError."""
        self.left -= amount
        self._ticks -= 1 + (amount >> 8)
        if self._ticks < 0 or self.left < 0:
            self._look()

    def work(self, amount: int) -> None:
        """Charge a step that reads `amount` characters and makes none."""
        self._ticks -= 1 + (amount >> 8)
        if self._ticks < 0:
            self._look()

    def lookup(self, value: Any, name: Any, is_attribute: bool) -> Any:
        """Look up ``value.name`` or ``value[name]`` for a format string, by the rules of templates."""
        raise NotImplementedError

    def _look(self) -> None:
        if self.left < 0:
            self.left = 0
            raise exceeded(f"the template makes more than {self.most} characters while it renders", "memory")
        self._ticks = _STRIDE
        if time.thread_time() > self._deadline:
            raise exceeded(f"the template takes longer than {self.limits.seconds} seconds", "seconds")

    def hold(self, weight: int) -> int:
        """Check and return the weight of a container, which bounds the cost of reading it."""
        if weight > self.most:
            raise exceeded(f"a value holds more than {self.most} characters", "memory")
        return weight

    def write(self, amount: int) -> None:
        """Charge `amount` characters of output."""
        self.output -= amount
        if self.output < 0:
            raise exceeded(f"the text grows beyond {self.limits.output} characters", "output")

    def enter(self) -> None:
        """Enter a level of nesting; the caller leaves it by ``depth -= 1``."""
        self.depth += 1
        if self.depth > self.limits.depth:
            raise exceeded(f"the template is nested deeper than {self.limits.depth} levels", "depth")


def exceeded(what: str, name: str) -> TemplateError:
    """The error for an exceeded limit."""
    return TemplateError(what, remedy=f"raise Limits.{name} if this is intended")
