"""Options that select measurements: each can be repeated, or take several names separated by commas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence


def add_choice(parser: ArgumentParser, option: str, known: Sequence[str], what: str) -> None:
    """Add an option that selects some of the known names."""
    parser.add_argument(option, action="append", metavar="NAME,NAME", help=f"{what}: {', '.join(known)}")


def chosen(parser: ArgumentParser, option: str, given: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the selected names in the order of the known ones; all of them if the option was not given.

    Args:
        parser: Ends the program with exit code 2 if a name is not known.
        option: The option.
        given: Its values.
        known: All names.

    Example:
        >>> from argparse import ArgumentParser
        >>> chosen(ArgumentParser(), "--only", ["warm,cold"], ["cold", "fresh", "warm"])
        ['cold', 'warm']
    """
    if given is None:
        return list(known)
    names = [name for group in given for name in group.split(",")]
    for name in names:
        if name not in known:
            parser.error(f"{option} {name}: there is no such name; there are {', '.join(known)}")
    return [name for name in known if name in names]
