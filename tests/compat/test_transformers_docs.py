"""The examples of the page for users of transformers run as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_docs import python_blocks, run_as_written

PAGE = ROOT / "docs" / "compat-transformers.md"


@pytest.mark.parametrize("row", range(3))
def test_the_page_runs_as_written(tmp_path: Path, row: int) -> None:
    blocks = python_blocks(PAGE)
    assert len(blocks) == 3
    for name in ("jinja2", "transformers"):
        if name in blocks[row] or (name == "jinja2" and "template" in blocks[row]):
            pytest.importorskip(name)
    run_as_written(blocks[row], tmp_path)
