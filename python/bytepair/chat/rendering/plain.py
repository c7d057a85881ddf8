"""Rich objects -> the plain values that they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def plain_value(value: Any) -> Any:
    """The plain value of a numpy scalar, a dataclass or a pydantic model; other values are returned as they are.

    Example:
        >>> import numpy as np
        >>> plain_value(np.int64(3)), plain_value("x")
        (3, 'x')
    """
    if value is None or isinstance(value, str | int | float | Mapping | list | tuple | bytes):
        return value
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ():
        return plain_value(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) and not isinstance(value, type) else value
