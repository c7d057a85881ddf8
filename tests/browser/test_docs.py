"""The documentation, all of its pages, as a browser shows them from files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import LOOKS, Look, Tab
from tests.conftest import ROOT

IN_PICTURES = {"index": "docs-tour", "looking/view": "docs-looking"}
AXE_IN = {"desktop-light", "phone-dark"}
"""Looks in which axe-core reads every page. It takes most of the time, and what these do not have, the others have not."""


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


def wider(tab: Tab) -> int:
    return int(tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_every_page(tab: Tab, site: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    faults = []
    for path in pages(site):
        name = path.relative_to(site).with_suffix("").as_posix()
        tab.open(path)
        if wider(tab) > 0:
            faults.append(f"{name}: {wider(tab)} pixels wider than the window")
        if tab.look.name in AXE_IN:
            for fault in axe.run(tab.page).response["violations"]:
                nodes = [f"{node['target']} {node['failureSummary']}" for node in fault["nodes"][:2]]
                faults.append(f"{name}: {fault['id']} ({len(fault['nodes'])}): {nodes}")
        if name in IN_PICTURES:
            tab.shoot(IN_PICTURES[name], picture=True)
    assert faults == []
    assert [url for url in tab.asked if not url.startswith(site.as_uri())] == []


def test_search_finds_a_name_in_a_file(desktop: Tab, site: Path) -> None:
    page = desktop.open(site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type("count_until", delay=20)
    found = page.wait_for_selector(".md-search-result__link")
    assert "count" in found.inner_text().lower()
    assert all(url.startswith(site.as_uri()) for url in desktop.asked)


@pytest.mark.parametrize("look", [look for look in LOOKS if look.device == "phone"], ids=lambda look: look.name)
def test_a_wide_table_is_reached_by_keyboard(tab: Tab, site: Path, look: Look) -> None:
    if tab.look != look:
        pytest.skip("once for each look")
    page = tab.open(site / "performance.html")
    focusable = page.evaluate(
        "[...document.querySelectorAll('.md-typeset__scrollwrap')].every(box => box.matches('[tabindex], :has([tabindex])'))"
    )
    assert focusable
