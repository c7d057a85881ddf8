"""The page of a picture in a browser: its content, and access to all of it by keyboard."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.drawing.characters import show_line
from bytepair.view import interactive
from bytepair.view.pictures import Picture, picture
from tests.browser.conftest import Look, Tab
from tests.conftest import HOSTILE

TEXT = """A tokenizer cuts text into tokens. Each token has an id, and a place in the text.

def parse_args(self, args=None, namespace=None):
    \treturn self._parse(args)  # 2026 + 31337
日本語 и русский, العربية مرحبا, שלום עולם, हिन्दी 🦊 👍🏽
<script>document.title = "taken"</script><img src=x onerror=alert(1)>
e\u0301 Z\u0300\u0301\u0302\u0303\u0304\u0305algo \u200b\ufeff\u202elive\u202c<|user|>what is this?<|end|>
"""

SEEN = """Each token has an id, and a place in the text.

def parse(self, args=None, namespace=None):
    \treturn self._parse(args)  # 日本 🦊
<|user|>what is this?<|end|>
"""


@pytest.fixture(scope="module")
def small(sources: list[str]) -> bp.Tokenizer:
    return bp.train(iter(sources), 700, split="gpt2")


def opened(
    tab: Tab, folder: Path, tokenizers: dict[str, bp.Tokenizer], text: str | bytes, title: str = "Tokens"
) -> Any:
    file = folder / "view.html"
    interactive.save(picture(tokenizers, text), file, title=title)
    page = tab.open(file)
    assert tab.asked == [file.as_uri()]
    tab.asked.clear()
    return page


def here(page: Any) -> int:
    """The number of the token shown."""
    number = page.evaluate("document.querySelector('.list .here').token")
    assert isinstance(number, int)
    return number


def said(page: Any) -> str:
    """The text of the panel."""
    text = page.locator(".dock").inner_text()
    assert isinstance(text, str)
    return text


def test_looks(tab: Tab, tmp_path: Path, tok: bp.Tokenizer, small: bp.Tokenizer) -> None:
    page = opened(tab, tmp_path, {"code-2k": tok, "code-700": small}, SEEN, "Two tokenizers, one text")
    assert page.title() == "Two tokenizers, one text"
    page.locator(".t", has_text="namespace").first.click()
    tab.check("view", picture=True)
    for layer in ("Pieces", "Offsets", "Ids"):
        page.get_by_label(layer).check()
    tab.shoot("view-layers")
    page.get_by_role("button", name="Light or dark").click()
    tab.shoot("view-turned")
    unpin = page.get_by_role("button", name="Unpin")
    if tab.look.device == "phone":
        unpin.tap()
    else:
        unpin.click()
    assert ("Point at a token" in said(page)) is (tab.look.device == "phone")


def test_layers_and_help(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"one": tok}, TEXT[:80])
    for layer in ("Pieces", "Offsets", "Ids"):
        page.get_by_label(layer).check()
    page.get_by_text("Keys, when").click()
    page.get_by_role("button", name="Light or dark").click()
    desktop.check("view-all")


def test_scripts_of_the_world(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    opened(desktop, tmp_path, {"bytes": tok, "words": bp.train(iter([TEXT] * 3), 420, split="gpt2")}, TEXT)
    desktop.shoot("view-world", full=True)


def test_the_text_is_the_text(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, "x")
    texts: list[str | bytes] = [*HOSTILE, TEXT, "\ud7ff\r\n" * 2000, "👍🏽" * 2000, b"a\xffb\xe2\x82"]
    show_all(page, [picture({"mine": tok}, text) for text in texts])


def test_what_no_token_has_is_struck_through(desktop: Tab, tmp_path: Path) -> None:
    tok = bp.train_wordpiece(iter(["low lower lowest"] * 3), 24)
    text = " low  lower\n\u200b"
    page = opened(desktop, tmp_path, {"mine": tok}, text)
    assert page.locator(".list").evaluate("list => list.textContent") == text
    gaps = page.locator(".list .gap").evaluate_all("gaps => gaps.map(gap => gap.textContent)")
    assert gaps == [" ", "  ", "\n\u200b"]
    assert "without a token" in page.locator(".legend").inner_text()
    desktop.check("view-gaps")


@pytest.mark.data
def test_texts_of_the_data(desktop: Tab, tmp_path: Path, data: Path, small: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": small}, "x")
    gpt2 = bp.Tokenizer.from_file(data / "vocabs/gpt2/tokenizer.json")
    files = sorted((data / "corpora").glob("*.txt"))
    show_all(page, [picture({"gpt2": gpt2, "mine": small}, file.read_bytes()[200_000:202_500]) for file in files])
    desktop.shoot("view-data")


def show_all(page: Any, pictures: list[Picture]) -> None:
    """Shows one picture after the other; each shows its text, and all its tokens in order."""
    shown = page.evaluate(
        """pictures => { const root = document.getElementById('view');
            const view = bytepair.show(root, pictures[0]); return pictures.map(one => { view.update(one);
            const list = document.querySelector('.list');
            const before = one.tokenizers[0].ids.length ? list.textContent : one.text;
            const numbers = [...list.querySelectorAll('.t')].map(token => token.token);
            return [before, numbers.every((number, at) => number === at)]; }); }""",
        [one.as_dict() for one in pictures],
    )
    for one, (text, is_ordered) in zip(pictures, shown, strict=True):
        assert text == one.text
        assert is_ordered


def test_unseen_characters_are_those_of_python(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, "x")
    # Newer characters are unknown to one of the two.
    letters = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in {"Cn", "Cs"}]
    # The most by far are ideographs and for private use.
    known = [one for at, one in enumerate(letters) if at % 50 == 0 or unicodedata.category(one) not in {"Lo", "Co"}]
    texts = [f"a{character}" for character in known] + known[:3000] + ["a" + "\u0301" * 9, "\u0301 \u0301b\u0301"]
    lines = page.evaluate("texts => texts.map(text => bytepair.line(text))", texts)
    wrong = [
        (text, line)
        for text, line in zip(texts, lines, strict=True)
        if line.replace("·", " ") != show_line(text).replace("·", " ")
    ]
    assert wrong == []


def test_every_token_is_reached_by_keys(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, TEXT * 30)
    ids = tok.encode(TEXT * 30, special="allow")
    page.locator(".list").focus()
    keys = page.keyboard
    for key, number in {"ArrowRight": 0, "End": len(ids) - 1, "ArrowLeft": len(ids) - 2, "Home": 0}.items():
        keys.press(key)
        assert here(page) == number
    walk = [0]
    for key in ["ArrowDown", "ArrowDown", "PageDown", "PageDown"]:
        keys.press(key)
        walk.append(here(page))
    assert walk == sorted(set(walk))
    back = [walk[-1]]
    for key in ["PageUp", "PageUp", "ArrowUp", "ArrowUp"]:
        keys.press(key)
        back.append(here(page))
    assert back == sorted(set(back), reverse=True)
    # Lines are not all as high, so that a window up need not end in the very line from which one went down.
    assert back[-1] <= walk[2]
    keys.press("Home")
    assert here(page) == 0
    active = page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.token"
    )
    assert active == 0
    # The focused token is visible, above the panel.
    keys.press("End")
    page.wait_for_timeout(50)
    box, dock = page.locator(".list .here").bounding_box(), page.locator(".dock").bounding_box()
    assert box["y"] + box["height"] <= dock["y"] + 1


def test_tokens_come_first_for_who_skips_to_them(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, TEXT)
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="To the tokens")
    assert skip.bounding_box()["height"] >= 24
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert here(page) == 0


@pytest.mark.parametrize("is_forced", [False, True], ids=["colours", "forced colours"])
def test_a_tapped_token_is_above_the_panel(chromium: Any, tmp_path: Path, tok: bp.Tokenizer, is_forced: bool) -> None:
    file = tmp_path / "view.html"
    interactive.save(picture({"one": tok, "other": tok}, TEXT * 4), file)
    forced = "active" if is_forced else "none"
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, forced_colors=forced
    )
    tab = Tab(context.new_page(), Look("phone", forced, 390, 844))
    page = tab.open(file)
    tokens = page.locator(".list").first.locator(".t")
    places = tokens.evaluate_all("all => all.map(one => one.getBoundingClientRect().bottom)")
    lowest = max((place, number) for number, place in enumerate(places) if place < 780)[1]
    tokens.nth(lowest).tap()
    tab.shoot("view-tapped")
    lower = page.evaluate("document.querySelector('.list .here').getBoundingClientRect().bottom")
    assert lower <= page.locator(".dock").bounding_box()["y"]
    # Backgrounds are taken away, but not what spaces are seen by.
    seen = page.locator(".list .sp").first.evaluate("one => getComputedStyle(one).backgroundImage")
    assert "gradient" in seen
    page.get_by_role("button", name="Unpin").tap()
    assert "Point at a token" in said(page)
    context.close()


def test_a_token_is_held_until_it_is_let_go(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, TEXT)
    ids = tok.encode(TEXT, special="allow")
    tokens = page.locator(".list .t")
    tokens.nth(3).hover()
    assert str(ids[3]) in said(page)
    tokens.nth(5).click()
    tokens.nth(8).hover()
    assert str(ids[5]) in said(page)
    assert "Unpin" in said(page)
    page.keyboard.press("Escape")
    tokens.nth(9).hover()
    assert here(page) == 9
    page.locator(".list").focus()
    page.keyboard.press("Enter")
    tokens.nth(2).hover()
    assert here(page) == 9
    page.get_by_role("button", name="Unpin").click()
    assert page.evaluate("document.activeElement.className") == "list"
    tokens.nth(2).hover()
    assert here(page) == 2


def test_the_panel_says_what_a_token_is(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, "self.🦊<|end|>")
    tokens = page.locator(".list .t")
    tokens.nth(0).click()
    assert "73 65 6c 66 (4)" in said(page)
    assert "0 to 4" in said(page)
    svg = page.locator(".tree svg")
    assert svg.get_attribute("role") == "img"
    assert page.locator(".tree .leaf").count() == 4
    last = tokens.count() - 1
    tokens.nth(last).click()
    assert "special" in said(page)
    assert "special" in tokens.nth(last).get_attribute("class")
    # The bytes of a character that is several tokens, each at its own.
    marks = page.evaluate(
        "[...document.querySelectorAll('.list [data-s^=\"‹\"]')].map(mark => mark.dataset.s).join('')"
    )
    assert marks.replace("‹", "").replace("›", " ").split() == ["f0", "9f", "a6", "8a"]


def test_differences(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer, small: bp.Tokenizer) -> None:
    tokenizers = {"one": tok, "two": small}
    page = opened(desktop, tmp_path, tokenizers, TEXT)
    data = picture(tokenizers, TEXT).as_dict()["tokenizers"]
    lists = page.locator(".list")
    for number, tokenizer in enumerate(data):
        marked = lists.nth(number).locator(".differs").evaluate_all("tokens => tokens.map(token => token.token)")
        meant = [
            token
            for token, (start, end) in enumerate(zip(tokenizer["starts"], tokenizer["ends"], strict=True))
            if any(start < last and end > first for first, last in tokenizer["differs"])
        ]
        assert marked == meant
    places = data[0]["differs"]
    lists.nth(0).focus()
    status = page.locator(".status")
    for key, number in [("n", 1), ("n", 2), ("n", 3), ("p", 2), ("p", 1), ("p", len(places)), ("n", 1)]:
        page.keyboard.press(key)
        assert status.inner_text() == f"Difference {number} of {len(places)}"
        start, end = places[number - 1]
        token = here(page)
        assert data[0]["starts"][token] < end
        assert data[0]["ends"][token] > start
    page.get_by_role("button", name="Next").click()
    assert status.inner_text().startswith("Difference 2 of")
    # The same characters are marked on the other side.
    token = here(page)
    same = lists.nth(1).locator(".same").evaluate_all("tokens => tokens.map(token => token.token)")
    start, end = data[0]["starts"][token], data[0]["ends"][token]
    beside = zip(data[1]["starts"], data[1]["ends"], strict=True)
    assert same == [number for number, (first, last) in enumerate(beside) if first < end and last > start]


def test_finding(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    page = opened(desktop, tmp_path, {"mine": tok}, TEXT)
    ids = tok.encode(TEXT, special="allow")
    status = page.locator(".status")
    page.locator(".list").focus()
    page.keyboard.press("/")
    page.keyboard.type("TOKEN")
    page.keyboard.press("Enter")
    assert status.inner_text() == f"1 of {TEXT.lower().count('token')}"
    assert "token" in page.locator(".list .here").inner_text().lower() or page.locator(".list .same").count()
    page.keyboard.press("Shift+Enter")
    assert status.inner_text().startswith(f"{TEXT.lower().count('token')} of")
    box = page.get_by_label("Find a text or an id")
    box.fill(str(ids[20]))
    box.press("Enter")
    assert ids[here(page)] == ids[20]
    box.fill("not ] there (")
    box.press("Enter")
    assert status.inner_text() == "not·]·there·( not found"


def test_ids_are_copied(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    desktop.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened(desktop, tmp_path, {"mine": tok}, TEXT)
    ids = tok.encode(TEXT, special="allow")
    copied = "navigator.clipboard.readText()"
    page.get_by_role("button", name="Copy ids").click()
    page.get_by_text(f"{len(ids)} ids copied").wait_for()
    assert json.loads(page.evaluate(copied)) == ids
    page.locator(".list").focus()
    for key in ["Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"]:
        page.keyboard.press(key)
    page.keyboard.press("c")
    page.get_by_text("4 ids copied").wait_for()
    assert json.loads(page.evaluate(copied)) == ids[1:5]
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.list'))")
    page.locator(".list").press("c")
    page.get_by_text(f"{len(ids)} ids copied").wait_for()


def test_a_hundred_thousand_tokens(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer, sources: list[str]) -> None:
    text = "\n".join(sources)
    while len(ids := tok.encode(text)) < 100_000:
        text += text
    page = opened(desktop, tmp_path, {"mine": tok}, text)
    assert page.locator(".list").evaluate("list => list.textContent") == text
    # Only what is near the window is laid out; the rest is text, which the browser finds.
    assert page.locator(".t").count() < 10_000
    page.locator(".list").focus()
    page.keyboard.press("End")
    assert here(page) == len(ids) - 1
    assert page.locator(".list").evaluate("list => list.textContent") == text
    desktop.shoot("view-long")


def test_a_long_token_does_not_explode(desktop: Tab, tmp_path: Path) -> None:
    tok = bp.train({" " * 512: 9, "ab" * 300: 5}, vocab_size=274, split="none")
    page = opened(desktop, tmp_path, {"mine": tok}, " " * 512 + "ab" * 300)
    for token in range(min(3, page.locator(".t").count())):
        page.locator(".t").nth(token).click()
        assert page.locator(".tree rect").count() <= 20
    desktop.check("view-spaces")


def test_hostile_text_runs_nothing(desktop: Tab, tmp_path: Path, tok: bp.Tokenizer) -> None:
    text = "</script><script>window.taken=1</script><!--<script>" + TEXT + "</noscript><iframe src=//x.test></iframe>"
    page = opened(desktop, tmp_path, {"<b>mine</b>\u202e": tok}, text, "</title><script>window.taken=1</script>")
    assert page.evaluate("window.taken") is None
    assert page.locator("iframe, img, .list b").count() == 0
    assert page.locator(".list").evaluate("list => list.textContent") == text
    assert desktop.asked == []


def test_without_scripts_the_text_is_there(chromium: Any, tmp_path: Path, tok: bp.Tokenizer) -> None:
    file = tmp_path / "view.html"
    interactive.save(picture({"mine": tok}, TEXT), file)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    shown = page.locator("noscript").inner_text()
    context.close()
    assert "are disabled in" in shown
    assert "def parse_args(self, args=None, namespace=None):" in shown
    assert "U+202E" in shown
