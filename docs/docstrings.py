"""Griffe's extension for `make docs`: what it would show otherwise than a docstring means it.

The section `Example:` is code, as `Examples:` is, which alone Griffe knows. A class whose `__new__` takes its arguments
is called with these.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class Docstrings(griffe.Extension):
    """Changes objects before their docstrings are read."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called for each object that was found."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
        if obj.is_class and "__new__" in obj.members:
            obj.members.setdefault("__init__", obj.members["__new__"])

    def on_module_members(self, *, mod: Any, **_: Any) -> None:
        """Called for each module with all its members: the decorator `_with_parameters_of(f)` gives those of `f`."""
        for function in [each for each in mod.members.values() if not each.is_alias and each.is_function]:
            for decorator in function.decorators:
                called = re.fullmatch(r"_with_parameters_of\((\w+)\)", str(decorator.value))
                if called:
                    function.parameters = mod.members[called[1]].parameters
