"""Memory: parsing sizes such as ``2GB``, and the peak of this process."""

from __future__ import annotations

_SIZE = r"([0-9]{1,18}(?:\.[0-9]{1,18})?) ?(?:([kmgt])(i?))?b?"
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_bytes(size: str | int) -> int:
    """The bytes of a size: ``KB``, ``MB``, ``GB`` and ``TB`` are powers of 1000, ``KiB`` and so on of 1024.

    Upper or lower case, with or without the ``B``, with or without one space; parts of a byte are dropped.

    Raises:
        ValueError: It is not a size, or less than a byte.

    Example:
        >>> parse_bytes("2GB"), parse_bytes("1.5 GiB"), parse_bytes("500M"), parse_bytes(4096)
        (2000000000, 1610612736, 500000000, 4096)
    """
    # Most trainings have no limit.
    import re
    from fractions import Fraction

    value = 0
    if isinstance(size, int) and not isinstance(size, bool):
        value = size
    elif isinstance(size, str) and (found := re.fullmatch(_SIZE, size.strip(), re.IGNORECASE | re.ASCII)):
        number, letter, binary = found.groups()
        value = int(Fraction(number) * (1024 if binary else 1000) ** _POWERS[(letter or "").lower()])
    if value < 1:
        raise ValueError(f"{size!r} is not a size of memory, such as '2GB', '1.5 GiB', '500M' or a number of bytes")
    return value


def peak_memory(*, children: bool = False) -> int | None:
    """Peak memory of this process, in bytes; None if the system does not report it.

    Args:
        children: Whether to report the largest child process that has ended instead.
    """
    import re
    import sys
    from pathlib import Path

    status = Path("/proc/self/status")
    # On Linux `getrusage` includes the memory of the process that started this one.
    if not children and status.is_file():
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text("utf-8"), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    try:
        import resource  # Windows has none
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
