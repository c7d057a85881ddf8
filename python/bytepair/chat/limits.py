"""How much a template may take: limits as plain data, and the budget of one rendering that holds them.

A step is bounded before it is made, and steps are counted; so nothing has to be interrupted from outside.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from bytepair.errors import TemplateError

# Between two looks at the clock.
_STRIDE = 64
# What each given character adds to the memory that may be made: copies that ordinary templates make.
_COPIES = 16
ELEMENT = 64
"""What an element of a container counts, in characters."""
RUN = 16
"""What a run of a text counts beside its characters, which may be none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a template may take, and how large what it is given may be.

    Attributes:
        seconds: Processor time of the thread, once for compiling and once for rendering.
        output: Characters of the rendered text.
        memory: Characters that may be made on the way, beyond 16 for each that is given; an element of a list
            counts 64.
        depth: How deep macros, loops and values may be nested.
        template: Characters of the template's source.
        messages: Characters of all that is given: messages, tools, documents and variables.

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
    """What is left of the limits in one rendering."""

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
        """Take one step that makes `amount` characters; called before they are made.

        Raises:
            TemplateError: A limit is passed.
        """
        self.left -= amount
        self._ticks -= 1 + (amount >> 8)
        if self._ticks < 0 or self.left < 0:
            self._look()

    def work(self, amount: int) -> None:
        """Take a step that looks at `amount` characters and makes nothing."""
        self._ticks -= 1 + (amount >> 8)
        if self._ticks < 0:
            self._look()

    def lookup(self, value: Any, name: Any, is_attribute: bool) -> Any:
        """What a format means by ``value.name`` or ``value[name]``; a runtime looks it up as templates do."""
        raise NotImplementedError

    def _look(self) -> None:
        if self.left < 0:
            self.left = 0
            raise exceeded(f"the template makes more than {self.most} characters on the way", "memory")
        self._ticks = _STRIDE
        if time.thread_time() > self._deadline:
            raise exceeded(f"the template takes longer than {self.limits.seconds} seconds", "seconds")

    def hold(self, weight: int) -> int:
        """The weight of a container, which bounds whatever walks it later.

        Raises:
            TemplateError: It is more than may be made.
        """
        if weight > self.most:
            raise exceeded(f"a value stands for more than {self.most} characters", "memory")
        return weight

    def write(self, amount: int) -> None:
        """Take `amount` characters of output."""
        self.output -= amount
        if self.output < 0:
            raise exceeded(f"the text grows beyond {self.limits.output} characters", "output")

    def enter(self) -> None:
        """Go one level down; whoever does comes up again by ``depth -= 1``."""
        self.depth += 1
        if self.depth > self.limits.depth:
            raise exceeded(f"the template is nested deeper than {self.limits.depth} levels", "depth")


def exceeded(what: str, name: str) -> TemplateError:
    """The error of a limit that is passed."""
    return TemplateError(what, remedy=f"raise Limits.{name} if it is meant so")
