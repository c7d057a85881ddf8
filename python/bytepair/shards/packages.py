"""The packages whose writers decide what bytes a run leaves: in one folder all files are written by one version."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from bytepair.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.shards.plans import Plan


def versions(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The versions of packages that are installed, sorted; a missing one is reported by the writer that needs it.

    Args:
        names: As pip knows them.

    Example:
        >>> [name for name, _ in versions(["numpy", "pip-knows-no-such-thing"])]
        ['numpy']
    """
    found = ((name, _version(name)) for name in sorted(set(names)))
    return tuple((name, version) for name, version in found if version is not None)


def check(plan: Plan) -> None:
    """Check that this worker has the versions that the run was planned with.

    Raises:
        CorpusError: It has another one, or none.
    """
    for name, planned in plan.packages:
        version = _version(name)
        if version != planned:
            here = "not installed" if version is None else version
            raise CorpusError(
                f"the run was planned with {name} {planned}, which is {here} here",
                remedy=f"pip install '{name}=={planned}' on all workers: other versions may write other bytes",
            )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
