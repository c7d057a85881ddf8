"""All pages of the documentation in a browser, opened from files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import READ_IN, READS_ALL, Tab
from tests.conftest import ROOT

IN_PICTURES = {"index": "docs-tour", "visualize/view": "docs-looking"}

READ_WHOLE = {"api/counting", "api/errors"}
"""The pages on which axe-core also checks reference entries: one template makes thousands of them."""


SETTLED = """() => [...document.querySelectorAll(".highlight code, .md-typeset__scrollwrap")].every(
    box => box.scrollWidth <= box.clientWidth || box.hasAttribute("tabindex"))"""
"""Whether the scripts of a page are done: every scrollable part can be reached by keyboard."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built as `make docs` does it."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def pages(site: Path) -> list[Path]:
    # A server alone shows 404.html, whose addresses begin at its root.
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


def test_every_page(tab: Tab, site: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    faults = []
    for number, path in enumerate(pages(site)):
        # One theme makes all pages: axe-core reads each in one look, in turn.
        reads = READS_ALL or tab.look.name == READ_IN[number % 2]
        name = path.relative_to(site).with_suffix("").as_posix()
        if tab.look.name not in READ_IN and name not in IN_PICTURES:
            continue  # A page is as wide in the other scheme, and has the same pictures.
        page = tab.open(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            faults.append(f"{name}: {wide} pixels wider than the window")
        broken = page.evaluate(
            "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
        )
        faults += [f"{name}: no picture {source}" for source in broken]
        if reads:
            context = None if name in READ_WHOLE else {"exclude": [[".doc-object"]]}
            page.wait_for_function(SETTLED)
            # It would ask for style sheets again, which a file may not.
            found = axe.run(page, context, {"preload": False, "resultTypes": ["violations"]}).response["violations"]
            for fault in found:
                nodes = [f"{node['target']} {node['failureSummary']}" for node in fault["nodes"][:2]]
                faults.append(f"{name}: {fault['id']} ({len(fault['nodes'])}): {nodes}")
        if name in IN_PICTURES:
            tab.shoot(IN_PICTURES[name])
    assert faults == []
    assert [url for url in tab.asked if not url.startswith((site.as_uri(), "data:"))] == []


def test_search_works_in_files(desktop: Tab, site: Path) -> None:
    page = desktop.open(site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type("count_until", delay=20)
    found = page.wait_for_selector(".md-search-result__item")
    assert "count_until" in found.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/api/tokenizers.html*")
    assert [url for url in desktop.asked if not url.startswith((site.as_uri(), "data:"))] == []


@pytest.mark.parametrize(
    ("words", "guide"),
    [
        ("chunk retrieval", "guides/chunk.html"),
        ("stream server", "guides/stream.html"),
        ("vocabulary size", "guides/vocabulary-size.html"),
        ("budget", "guides/budget.html"),
        ("migrate", "guides/migrate.html"),
    ],
)
def test_tasks_are_found_by_their_words(desktop: Tab, site: Path, words: str, guide: str) -> None:
    page = desktop.open(site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type(words, delay=20)
    page.wait_for_selector(".md-search-result__item")
    links = page.locator(".md-search-result__link").evaluate_all("all => all.map((one) => one.href)")
    assert any(guide in link for link in links[:5]), links[:5]
