"""Numbers drawn for documents: the same for the same seed, input and position, in any worker and order."""

from __future__ import annotations

import hashlib
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Draw:
    """Draws 64 bits for each document: SplitMix64 at its position, from a state derived from its input.

    So a number does not depend on the other documents, nor on how inputs are cut: a document keeps its split when the
    corpus grows by further inputs.

    Args:
        seed: The seed of all draws of a run.
        purpose: The purpose of the draw; each has draws of its own.
        inputs: The names of the inputs.

    Source:
        Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.

    Example:
        >>> import numpy as np
        >>> draw = Draw(7, "validation", ["a.txt", "b.txt"])
        >>> draw(np.array([0, 1, 1]), np.array([5, 5, 6])).tolist()
        [36100921861930387, 1833428333799153908, 11478288137725429840]
    """

    def __init__(self, seed: int, purpose: str, inputs: Sequence[str]) -> None:
        key = hashlib.sha256(f"{purpose}\0{seed}".encode()).digest()
        states = (hashlib.blake2b(_utf8(name), digest_size=8, key=key).digest() for name in inputs)
        self._states = np.frombuffer(b"".join(states), "<u8")

    def __call__(self, inputs: NDArray[np.integer], positions: NDArray[np.integer]) -> NDArray[np.uint64]:
        """The numbers of documents.

        Args:
            inputs: The number of each one's input, shape ``(documents,)``.
            positions: Where each one is in its input, shape ``(documents,)``.
        """
        bits = self._states[inputs] + (positions.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))  # type: ignore[no-any-return]  # NumPy's stubs forget it


def threshold(share: str) -> int:
    """The number below which a draw of 64 bits lies with this probability, a decimal.

    Raises:
        ValueError: It is no decimal from 0 to 1.

    Example:
        >>> threshold("0.5") == 2**63, threshold("0")
        (True, 0)
        >>> threshold("nan")
        Traceback (most recent call last):
        ValueError: validation='nan' is not a share from 0 to 1, such as 0.005
    """
    try:
        value = Decimal(share)
        is_share = 0 <= value <= 1
    except InvalidOperation:  # no number, or NaN
        is_share = False
    if not is_share or len(value.as_tuple().digits) > 20:
        raise ValueError(f"validation={share!r} is not a share from 0 to 1, such as 0.005")
    # Exact, whatever the context of the caller is: 20 digits times 20.
    return int(Context(prec=40).multiply(value, Decimal(2**64)))


def _utf8(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
