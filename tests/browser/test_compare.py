"""The page of a comparison in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import bytepair as bp
from bytepair.view import compared
from tests.browser.conftest import Tab
from tests.conftest import HOSTILE

PROSE = """\
The lighthouse keeper counted seventeen ships before breakfast, and wrote their names into his ledger.
He did not know that the eighteenth was already waiting behind the rocks: a newspaper from 1987 said so.
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, sources: list[str]) -> Path:
    """Two tokenizers of one corpus, and three sources."""
    small = bp.train(iter(sources), 1000, split="gpt2", special_tokens=["<|end|>"])
    large = bp.train(iter([*sources, PROSE * 9]), 3000, split="o200k", special_tokens=["<|end|>", "<|user|>"])
    texts = {
        "prose": iter([PROSE]),
        "code": iter(sources),
        "東京 <b>": iter(["東京タワーは333メートルです。", *HOSTILE]),
    }
    found = bp.compare(small, large, texts, names=("small", "large"), examples=8)
    place = tmp_path_factory.mktemp("compare") / "compare.html"
    place.write_text(compared.html(found), "utf-8")
    return place


def test_the_page_is_good_to_look_at(page: Path, tab: Tab) -> None:
    tab.open(page)
    tab.check("compare", picture=True)
    tab.shoot("compare-whole", full=True)
    assert [url for url in tab.asked if not url.startswith("file:")] == []


def test_tables_are_scrolled_by_keyboard(page: Path, tab: Tab) -> None:
    opened = tab.open(page)
    regions = opened.locator(".scroll").all()
    assert regions
    for _ in regions:
        opened.keyboard.press("Tab")
        assert opened.evaluate("document.activeElement.getAttribute('role')") == "region"


def test_hostile_names_and_texts_stay_text(desktop: Tab, tmp_path: Path) -> None:
    tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
    other = bp.train({"low": 5}, vocab_size=258, split="o200k", special_tokens=["<script>alert(1)</script>"])
    hostile = (
        "</bdi></main><script>document.title='taken'</script>\u202elow<img src=x onerror=alert(1)>\u200b"
        + "e\u0301" * 50
    )
    found = bp.compare(
        tok, other, {hostile: iter([hostile * 3, "\x00\x1b[31m low\u0300", *HOSTILE])}, names=(hostile, "b")
    )
    place = tmp_path / "page.html"
    place.write_text(compared.html(found), "utf-8")
    opened = desktop.open(place)
    assert opened.title() != "taken"
    assert opened.locator("script, img").count() == 0
    desktop.check("compare-hostile", full=True)
