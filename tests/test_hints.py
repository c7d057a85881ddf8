"""Hints to install packages work as printed: they name packages, as the extras of pyproject.toml require them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bytepair
from tests.conftest import ROOT

tomllib = pytest.importorskip("tomllib")
SOURCE = Path(bytepair.__file__).parent


def test_hints_name_the_requirements_of_the_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    required = {requirement for extra in extras.values() for requirement in extra}
    hinted = set()
    for path in SOURCE.rglob("*.py"):
        for line in re.findall(r"pip install ((?:'[^'{]+' ?|[a-z]\w+ ?)+)", path.read_text("utf-8")):
            hinted |= {quoted or plain for quoted, plain in re.findall(r"'([^']+)'|(\w+)", line)}
    assert {"jinja2>=3.1,<3.2", "regex", "pyarrow>=18"} <= hinted
    assert hinted <= required


def test_no_hint_needs_the_package_index_to_have_bytepair() -> None:
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"pip install ['\"]?bytepair", path.read_text("utf-8")), path
