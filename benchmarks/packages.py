"""Print the dependency group ``bench``, one requirement per line, to be installed one by one."""

from __future__ import annotations

import re

from benchmarks.peers import ROOT


def group(text: str, name: str) -> list[str]:
    r"""The requirements of a dependency group.

    Args:
        text: A pyproject.toml. Python 3.10 cannot parse TOML: the group is a list with a string a line.
        name: The group.

    Raises:
        ValueError: The group does not exist.

    Example:
        >>> group('[dependency-groups]\nbench = [\n    "one==1",  # why\n    "two",\n]', "bench")
        ['one==1', 'two']
    """
    found = re.search(rf"^{name} = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"there is no dependency group {name!r}")
    return re.findall(r'^\s*"([^"]+)"', found[1], re.MULTILINE)


if __name__ == "__main__":
    print("\n".join(group((ROOT / "pyproject.toml").read_text(), "bench")))
