"""Fixtures for browser tests: a real browser, four looks (device and colour scheme), and the checks of every page.

`make test-browser` runs them. A plain `pytest` leaves them out: they take minutes, and need a browser.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT

SHOTS = ROOT / "build" / "screenshots"
"""The folder of the screenshots (PNG) that `Tab.check` takes of each page."""


_AXE = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
"""Omits passed checks, most of the result; and includes the check of target sizes, which is off by default."""


class Look(NamedTuple):
    """A way to look at a page."""

    device: str
    scheme: str
    width: int
    height: int

    @property
    def name(self) -> str:
        return f"{self.device}-{self.scheme}"


LOOKS = [
    Look(device, scheme, *size)
    for device, size in {"phone": (390, 844), "desktop": (1280, 900)}.items()
    for scheme in ("light", "dark")
]

PICTURED = "desktop-light", "phone-dark"

READS_ALL = os.environ.get("BYTEPAIR_BROWSER") == "all"
"""Whether axe-core checks pages in all looks, which takes twice as long."""

READ_IN = [look.name for look in LOOKS] if READS_ALL else PICTURED
"""The looks in which axe-core checks pages. Each device and each scheme is in one of the two, and colours are the same
at any width."""

KEPT = [look for look in LOOKS if look.name in PICTURED]
"""The looks whose screenshots are in the documentation."""


@dataclass
class Tab:
    """A page in the browser, its console messages and its requests.

    Attributes:
        page: Playwright's `Page`.
        look: The device and colour scheme.
        said: Errors and warnings of its console, and uncaught exceptions.
        asked: The URLs that it requested.
    """

    page: Any
    look: Look
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, place: Path | str) -> Any:
        """Opens a file or a URL, and returns the page."""
        self.page.goto(place.as_uri() if isinstance(place, Path) else place, wait_until="load")
        return self.page

    def check(self, name: str, *, picture: bool = False, full: bool = False, axe: dict[str, Any] | None = None) -> None:
        """Runs the checks of every page, and takes a screenshot.

        The console is empty, axe-core finds no fault in the looks of `READ_IN` (contrast, names, order, roles), and the
        page is not wider than the window.

        Args:
            name: The name of the screenshot.
            picture: Whether it is one of docs/pictures, which `make pictures` updates.
            full: Whether all of the page is in the screenshot, not only the part in the window.
            axe: Options of `axe.run`; the caller comments the reason.
        """
        from axe_playwright_python.sync_playwright import Axe

        assert self.said == []
        if self.look.name in READ_IN:
            found = Axe().run(self.page, options=_AXE | (axe or {})).response["violations"]
            faults = [
                f"{fault['id']}: {fault['help']}: {node['html'][:200]} {node['failureSummary']}"
                for fault in found
                for node in fault["nodes"][:3]
            ]
            assert faults == []
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"the page is {wide} pixels wider than the window"
        self.shoot(name, picture=picture, full=full)

    def shoot(self, name: str, *, picture: bool = False, full: bool = False) -> None:
        """Takes a screenshot of the page in its current state, as `check` does."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        shot = SHOTS / f"{name}-{self.look.name}.png"
        self.page.screenshot(path=shot, full_page=full)
        if picture and self.look in KEPT and (folder := os.environ.get("BYTEPAIR_PICTURES")):
            from PIL import Image

            (ROOT / folder).mkdir(parents=True, exist_ok=True)
            # A page has few colours, and a picture of few is a third as large.
            Image.open(shot).convert("RGB").quantize(128).save(ROOT / folder / shot.name, optimize=True)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser."""
    if "BYTEPAIR_BROWSER" not in os.environ:
        pytest.skip("pages are tested by `make test-browser`")
    from playwright.sync_api import sync_playwright

    program = os.environ.get("BYTEPAIR_CHROMIUM") or shutil.which("chromium")
    assert program, "there is no Chromium"
    with sync_playwright() as playwright:
        # Without its sandbox it runs as root too; all pages are the project's own.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium: Any, look: Look) -> Iterator[Tab]:
    """A tab of its own; any console message until it is closed fails the test."""
    context = chromium.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme=look.scheme,
        has_touch=look.device == "phone",
        is_mobile=look.device == "phone",
        device_scale_factor=1,
    )
    tab = Tab(context.new_page(), look)
    tab.page.on(
        "console", lambda message: tab.said.append(message.text) if message.type in ("error", "warning") else None
    )
    tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.page.on("request", lambda request: tab.asked.append(request.url))
    yield tab
    context.close()
    assert tab.said == []


@pytest.fixture(params=LOOKS, ids=lambda look: look.name)
def tab(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab in each way to look at a page."""
    yield from opened(chromium, request.param)


@pytest.fixture
def desktop(chromium: Any) -> Iterator[Tab]:
    """A light desktop tab, for tests that do not depend on the look."""
    yield from opened(chromium, LOOKS[2])
