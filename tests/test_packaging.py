"""The files around the package agree with it, and what publishes it runs no code that can change under its name."""

from __future__ import annotations

import re

import bytepair as bp
from tests.conftest import ROOT


def test_the_citation_names_this_version() -> None:
    version = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert version
    assert version[1] == bp.__version__


def test_actions_are_pinned_by_hash_with_their_version() -> None:
    used = []
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        used += re.findall(r"uses: (.*)", workflow.read_text("utf-8"))
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
