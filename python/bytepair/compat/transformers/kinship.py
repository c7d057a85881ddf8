"""``isinstance`` with the base classes of ``transformers``, without importing it."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

_BASE = ("transformers.tokenization_utils_base", "PreTrainedTokenizerBase")
FAST = (
    ("transformers.tokenization_utils_tokenizers", "TokenizersBackend"),
    ("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast"),
    _BASE,
)
"""The modules and names of the base class of tokenizers with offsets, in ``transformers`` 5 and 4."""
SLOW = (
    ("transformers.tokenization_python", "PythonBackend"),
    ("transformers.tokenization_utils", "PreTrainedTokenizer"),
    _BASE,
)
"""Those of the base class of the others."""


class Kin:
    """An object that says it is a tokenizer of ``transformers`` too, once a program has imported it.

    Code of other libraries asks ``isinstance(tokenizer, PreTrainedTokenizerBase)``. Python looks at ``type(tokenizer)``
    first, then at ``tokenizer.__class__``: that is a class made for this answer, a subclass of both, whose calls make
    objects of the real one. Nothing is inherited by the object itself.
    """

    _bases = FAST

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        for module, name in self._bases:
            base = getattr(sys.modules.get(module), name, None)
            if isinstance(base, type):
                kind: Any = type(self)
                return _of_both(kind, base)
        return type(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle compares the class that it writes with `__class__`.
        return _restored, (type(self), self.__dict__)


def _restored(kind: type[Any], state: dict[str, Any]) -> Any:
    made = object.__new__(kind)
    made.__dict__.update(state)
    return made


@cache
def _of_both(kind: type[Any], base: type[Any]) -> type:
    def make(cls: type, *args: Any, **options: Any) -> Any:  # noqa: ARG001 (the class is the other one)
        return kind(*args, **options)

    inner = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__, "__new__": make}
    return type(kind.__name__, (kind, base), inner)
