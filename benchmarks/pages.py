"""Benchmark tables in the documents: each is between two comments, the first with its command."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
END = "<!-- end of the table -->"


def put(page: str, module: str, table: str) -> None:
    """Replace the table that ``python -m module --write`` wrote into a page; raise if there is no place for it."""
    path, start = DOCS / page, f"<!-- table: python -m {module} --write -->"
    before, found, rest = path.read_text("utf-8").partition(start)
    if not found:
        raise ValueError(f"{page} has no line {start}")
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{start}\n\n{table}\n\n{END}{after}", "utf-8")
