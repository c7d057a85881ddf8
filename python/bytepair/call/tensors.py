"""The kinds of arrays for ``return_tensors``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def converter(kind: str | None) -> Callable[[NDArray[Any]], Any] | None:
    """The function that converts an array to a kind of tensor; None for lists.

    Raises:
        ValueError: The kind is unknown.
        ImportError: torch is not installed.
    """
    if kind is None:
        return None
    if kind == "np":
        return lambda array: array
    if kind == "pt":
        try:
            import torch  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415 (optional)
        except ImportError as error:
            raise ImportError('return_tensors="pt" needs torch; install it, or use return_tensors="np"') from error
        return cast("Callable[[NDArray[Any]], Any]", torch.from_numpy)
    raise ValueError(f'return_tensors={kind!r} is unknown; use "np", "pt" or None')
