"""Files of lines: what is not UTF-8 is refused, with the line."""

from __future__ import annotations

from bytepair.errors import FormatError


def lines(data: bytes, name: str) -> list[str]:
    r"""The lines of a file, without their ends; the last one is empty if the file ends with a line's end.

    Raises:
        FormatError: It is not UTF-8; ``line`` is the first one that is not.

    Example:
        >>> lines(b"low\n##er\n", "vocab.txt")
        ['low', '##er', '']
    """
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{name} is not UTF-8: {error.reason}", line=line, remedy="fetch it again") from error
