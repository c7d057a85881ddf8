"""The playground in a browser: typing, choosing, uploading and sharing; by mouse, finger and keyboard."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.formats import native
from bytepair.view import playground
from bytepair.view.playground import app, pictured
from bytepair.view.playground.demo import demo
from tests.browser.conftest import Tab

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202eabc\u200b\u0301\0</textarea>"


@pytest.fixture(scope="module")
def toks() -> dict[str, bp.Tokenizer]:
    trained = demo()
    return {"demo": trained, "small": bp.prune(trained, 600).tokenizer}


@pytest.fixture
def url(toks: dict[str, bp.Tokenizer], tmp_path: Path) -> str:
    """A playground, served by a thread until the tests end."""
    found: list[str] = []
    is_ready = threading.Event()

    def ready(url: str) -> None:
        found.append(url)
        is_ready.set()

    options = {"port": 0, "ready": ready, "encodings": tmp_path}
    threading.Thread(target=playground.serve, args=(toks,), kwargs=options, daemon=True).start()
    assert is_ready.wait(20)
    return found[0]


def settle(tab: Tab) -> None:
    """Waits until the page shows the result for the text and options entered."""
    tab.page.locator("#view:not([aria-busy])").wait_for(state="attached")


def refused(tab: Tab) -> None:
    """Only the server's refusal is in the console, where the browser itself reports it."""
    assert tab.said
    assert all(line.startswith("Failed to load resource") for line in tab.said)
    tab.said.clear()


def ids(tab: Tab, tokenizer: int = 0) -> list[int]:
    """The ids on the page."""
    settle(tab)
    found = tab.page.locator("#view .list").nth(tokenizer).locator(".t")
    return [int(id) for id in found.evaluate_all("all => all.map((one) => one.dataset.i)")]


def opened(tab: Tab, url: str) -> Any:
    page = tab.open(url)
    settle(tab)
    return page


def test_looks(tab: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    page = opened(tab, url)
    page.get_by_label("Price per million tokens").fill("$2.50")
    tab.shoot("playground-one")
    page.get_by_role("checkbox", name="small").check()
    page.get_by_label("Text", exact=True).fill("Tokens of two tokenizers:\n\tdef naïve(café): # 東京 👍🏽\n")
    settle(tab)
    assert ids(tab, 1) == toks["small"].encode("Tokens of two tokenizers:\n\tdef naïve(café): # 東京 👍🏽\n")
    page.evaluate("scrollTo(0, 0)")
    tab.check("playground", picture=True)
    page.locator("#view .list .t").nth(3).click()
    tab.shoot("playground-token")
    assert all(asked.startswith(url) for asked in tab.asked)


def test_tokens_are_beside_the_text_or_below_it(tab: Tab, url: str) -> None:
    """On a desktop beside it, on a phone in the upper part of the window; nothing overlaps in the details."""
    page = opened(tab, url)
    box = page.get_by_label("Text", exact=True).bounding_box()
    tokens = page.locator("#view .list").first.bounding_box()
    if tab.look.device == "desktop":
        assert tokens["x"] >= box["x"] + box["width"]
        assert tokens["y"] < box["y"] + box["height"]
    else:
        assert box["y"] + box["height"] <= tokens["y"] < tab.look.height * 0.55
        assert page.locator("#counts").bounding_box()["y"] > tokens["y"]
    longest = page.locator("#view .list .t").evaluate_all(
        "all => all.reduce((a, b) => (b.offsetWidth > a ? b.offsetWidth : a), 0)"
    )
    page.locator("#view .list .t").evaluate_all(
        "(all, width) => all.find((one) => one.offsetWidth === width).click()", longest
    )
    unpin = page.get_by_role("button", name="Unpin").bounding_box()
    for other in page.locator(".dock .spelled span, .dock dl div, .dock .tree").all():
        place = other.bounding_box()
        is_apart = (
            place["x"] + place["width"] <= unpin["x"]
            or unpin["x"] + unpin["width"] <= place["x"]
            or place["y"] + place["height"] <= unpin["y"]
            or unpin["y"] + unpin["height"] <= place["y"]
        )
        assert is_apart, other.inner_text()


def test_a_click_behind_a_tab_is_not_lost(desktop: Tab, url: str) -> None:
    """The link that appears with the focus moves nothing away from under the pointer."""
    page = opened(desktop, url)
    pieces = page.get_by_role("checkbox", name="Pieces")
    before = pieces.bounding_box()
    for _ in range(14):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "skip":
            break
    assert page.evaluate("document.activeElement.className") == "skip"
    assert pieces.bounding_box() == before
    page.mouse.click(before["x"] + 5, before["y"] + 5)
    assert pieces.is_checked()


def test_long_text_is_counted_before_its_tokens_are_drawn(
    desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]
) -> None:
    page = opened(desktop, url)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/api/picture", hold)
    text = "counted first, drawn afterwards\n" * 1000
    page.get_by_label("Text", exact=True).fill(text)
    page.locator("#counts td", has_text=f"{toks['demo'].count(text):,}").first.wait_for()
    while not held:
        page.wait_for_timeout(20)
    assert page.locator("#view[aria-busy]").count() == 1
    held.pop().continue_()
    settle(desktop)
    assert f"{toks['demo'].count(text):,} tokens" in page.locator("#view h2").first.inner_text()


def test_hostile_text_and_files_are_only_text(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    page = opened(desktop, url)
    page.get_by_label("Text", exact=True).fill(HOSTILE)
    settle(desktop)
    page.locator("#file").set_input_files({"name": "<b>\u202emine", "mimeType": "", "buffer": b"nothing"})
    page.locator("#fault:not(:empty)").wait_for()
    refused(desktop)
    assert "<b>U+202Emine" in page.locator("#fault").inner_text()
    file = {"name": "<b>\u202emine", "mimeType": "", "buffer": native.write(toks["small"].spec)}
    page.locator("#file").set_input_files(file)
    page.get_by_role("checkbox", name="<b>U+202Emine").wait_for()
    assert ids(desktop, 1) == toks["small"].encode(page.locator("#text").input_value())
    page.locator("#file").set_input_files({**file, "buffer": b"nothing"})
    page.locator("#fault:not(:empty)").wait_for()
    refused(desktop)
    desktop.check("playground-hostile", full=True)


def test_typed_text_is_seen(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    page = opened(desktop, url)
    box = page.get_by_label("Text", exact=True)
    box.fill("")
    assert ids(desktop) == []
    text = "Hello, naïve 東京!  def f(x):"
    box.press_sequentially(text, delay=5)
    assert ids(desktop) == toks["demo"].encode(text)
    row = page.locator("#counts tbody tr").first
    tokens = len(toks["demo"].encode(text))
    assert row.locator("td").first.inner_text() == str(tokens)
    assert page.locator("#totals").inner_text() == f"{len(text)} characters · {len(text.encode())} bytes · 1 line"
    for text in (HOSTILE.replace("\0", ""), "<|endoftext|> a", "\ud83d\ude80 𝔘𝔫𝔦", "a" * 3000, " \n\n\t "):
        box.fill(text)
        assert ids(desktop) == toks["demo"].encode(page.locator("#text").input_value(), special="allow")
    page.get_by_label("Recognize special tokens in the text").uncheck()
    box.fill("<|endoftext|>")
    assert ids(desktop) == toks["demo"].encode("<|endoftext|>", special="text")


def test_half_a_character_is_told(desktop: Tab, url: str) -> None:
    page = opened(desktop, url)
    page.evaluate("document.getElementById('text').value = 'ab\\ud800'")
    page.evaluate("document.getElementById('text').dispatchEvent(new Event('input'))")
    page.locator("#fault:not(:empty)").wait_for()
    assert "character 2" in page.locator("#fault").inner_text()
    assert page.locator("#view").is_hidden()
    refused(desktop)
    page.get_by_label("Text", exact=True).fill("ab")
    settle(desktop)
    assert page.locator("#fault").inner_text() == ""
    assert page.locator("#view").is_visible()


def test_costs_and_shares_are_counted_and_kept(desktop: Tab, url: str) -> None:
    page = opened(desktop, url)
    page.get_by_label("Text", exact=True).fill("<|endoftext|>" * 4)
    price, window = page.get_by_label("Price per million tokens"), page.get_by_label("Context window, in tokens")
    price.fill("2,50 €")
    window.fill("8")
    settle(desktop)
    row = page.locator("#counts tbody tr").first
    assert row.locator("td").all_inner_texts() == ["4", "13.00", "13.00", "0.0000100 €", "50.0%"]
    window.fill("3")
    assert row.locator("td").last.inner_text() == "133%, too much"
    price.fill("much")
    assert "write a price" in page.locator("#fault").inner_text()
    assert price.get_attribute("aria-invalid") == "true"
    price.fill("$3")
    assert page.locator("#fault").inner_text() == ""
    page.reload()
    settle(desktop)
    assert (price.input_value(), window.input_value()) == ("$3", "3")


def test_newer_answers_win(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    """However late an answer arrives, the page shows the result for the last text."""
    page = opened(desktop, url)
    waits = [1500, 0, 300, 0]

    def late(route: Any) -> None:
        wait = waits.pop(0) if waits else 0
        if wait:
            page.wait_for_timeout(wait)
        route.continue_()

    page.route("**/api/picture", late)
    box = page.get_by_label("Text", exact=True)
    for number in range(8):
        box.fill(f"text number {number}")
        page.wait_for_timeout(60)
    assert ids(desktop) == toks["demo"].encode("text number 7")
    page.unroute_all()


def test_files_are_uploaded(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer], tmp_path: Path) -> None:
    page = opened(desktop, url)
    small = toks["small"]
    small.save(tmp_path / "json")
    small.save(tmp_path / "ranks", "tiktoken", drop=("split", "special_tokens"))
    page.get_by_label("Text", exact=True).fill("uploaded <|endoftext|>")
    page.locator("#file").set_input_files(tmp_path / "json" / "tokenizer.json")
    page.get_by_role("checkbox", name="tokenizer.json uploaded").wait_for()
    assert page.locator("#status").inner_text() == "tokenizer.json added."
    assert ids(desktop, 1) == small.encode("uploaded <|endoftext|>", special="allow")

    page.locator("#file").set_input_files(tmp_path / "ranks" / "tokenizer.tiktoken")
    page.locator("#lacks").wait_for()
    assert page.evaluate("document.activeElement.id") == "split"
    refused(desktop)
    page.locator("#split").select_option("cl100k")
    page.get_by_label("Special tokens, one per line").fill("<|endoftext|>")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#fault:not(:empty)").wait_for()
    assert "write one per line" in page.locator("#fault").inner_text()
    refused(desktop)
    desktop.check("playground-lacks")
    [end] = small.special_tokens.values()
    page.get_by_label("Special tokens, one per line").fill(f"<|endoftext|>={end}\n")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("checkbox", name="tokenizer.tiktoken uploaded").wait_for()
    assert page.locator("#lacks").is_hidden()
    assert ids(desktop, 2) == small.encode("uploaded <|endoftext|>", special="allow")

    page.locator("#file").set_input_files({"name": "broken.json", "mimeType": "", "buffer": b'{"model": {'})
    page.locator("#fault:not(:empty)").wait_for()
    assert "broken.json, line 1" in page.locator("#fault").inner_text()
    refused(desktop)


def test_limits_are_told_before_anything_is_sent(desktop: Tab, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictured, "MOST_TOKENS", 50)
    monkeypatch.setattr(app, "MOST_TOKENS", 50)
    page = opened(desktop, url)
    page.get_by_label("Text", exact=True).fill("a b " * 100)
    settle(desktop)
    assert page.locator("#too-many").inner_text().startswith("More than 50 tokens are counted but not shown")
    assert page.locator("#view").is_hidden()
    assert page.locator("#counts tbody tr td").first.inner_text() != ""
    asked = len(desktop.asked)
    page.evaluate("document.getElementById('text').value = 'é'.repeat(500001)")
    page.evaluate("document.getElementById('text').dispatchEvent(new Event('input'))")
    page.locator("#fault:not(:empty)").wait_for()
    assert "1,000,002 bytes, more than 1,000,000" in page.locator("#fault").inner_text()
    page.evaluate("window.big = new File([new Uint8Array(51 << 20)], 'big.json')")
    page.evaluate(
        "() => { const held = new DataTransfer(); held.items.add(window.big);"
        " dispatchEvent(new DragEvent('drop', { dataTransfer: held, cancelable: true })); }"
    )
    page.locator("#fault", has_text="50 MiB").wait_for()
    assert len(desktop.asked) == asked


def test_links_bring_it_back(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer], tmp_path: Path) -> None:
    page = opened(desktop, url)
    text = "shared: 東京\n\t<script>\u202e👍🏽"
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("checkbox", name="small").check()
    page.get_by_role("checkbox", name="demo").uncheck()
    page.get_by_label("Recognize special tokens in the text").uncheck()
    settle(desktop)
    page.get_by_role("button", name="Copy link").click()
    page.locator("#status:not(:empty)").wait_for()
    link = page.url
    assert link.startswith(f"{url}#v1.")
    page.reload()
    settle(desktop)
    assert page.locator("#text").input_value() == text
    assert page.locator("#offers :checked").evaluate_all("all => all.map((one) => one.value)") == ["small"]
    assert not page.get_by_label("Recognize special tokens in the text").is_checked()
    assert ids(desktop) == toks["small"].encode(text, special="text")
    assert page.locator("#fault").inner_text() == ""

    toks["demo"].save(tmp_path)
    page.locator("#file").set_input_files(tmp_path / "tokenizer.json")
    page.locator("#status", has_text="added").wait_for()
    page.get_by_role("button", name="Copy link").click()
    page.locator("#status", has_text="cannot be shared").wait_for()

    broken = {
        "#nonsense": "it is not a link of this version",
        f"#{link.partition('#')[2][:-9]}": "damaged",
        "#v1.AAAA": "damaged",
        "#v1." + "A" * 70000: "too long",
    }
    for fragment, why in broken.items():
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        page.locator("#fault", has_text=why).wait_for()
    write = "state => bytepair.sharing.write(state).then((fragment) => { location.hash = fragment; })"
    other = {"text": "x", "tokenizers": [["demo", "0" * 12], ["gone", ""]], "special": "allow"}
    page.evaluate(write, other)
    page.locator("#fault", has_text="not available: gone").wait_for()
    settle(desktop)
    assert page.locator("#text").input_value() == "x"
    page.evaluate(write, {**other, "tokenizers": [["demo", "0" * 12]]})
    page.locator("#fault", has_text="its tokens may differ").wait_for()
    bomb = "() => bytepair.sharing.write({ text: 'a'.repeat(3e7), tokenizers: [], special: 'allow' })"
    page.evaluate(f"({bomb})().then((fragment) => {{ location.hash = fragment; }})")
    page.locator("#fault", has_text="damaged").wait_for()
    assert "too long for a link" in page.evaluate(
        "bytepair.sharing.write({ text: Array.from({ length: 80000 }, () =>"
        " String.fromCharCode(33 + Math.random() * 90)).join(''), tokenizers: [], special: 'allow' })"
        ".catch((error) => error.message)"
    )


def test_the_keyboard_is_enough(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    page = opened(desktop, url)
    focused = "document.activeElement.id || document.activeElement.value || document.activeElement.textContent"
    walked = []
    for _ in range(8):
        page.keyboard.press("Tab")
        walked.append(page.evaluate(focused))
        if walked[-1] == "small":
            for is_chosen in (False, True):
                page.keyboard.press("Space")
                settle(desktop)
                # The rebuilt controls keep the focus.
                assert page.evaluate(focused) == "small"
                assert page.evaluate("document.activeElement.checked") == is_chosen
        if walked[-1] == "text":
            page.keyboard.press("Control+A")
            page.keyboard.type("by keyboard")
    assert walked == ["demo", "small", "file", "text", "special", "share", "price", "window"]
    assert ids(desktop, 1) == toks["small"].encode("by keyboard")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "listbox":
            break
    page.keyboard.press("ArrowRight")
    assert page.locator("#view .dock .what").is_visible()


def test_a_server_that_is_gone_is_told(desktop: Tab, url: str) -> None:
    page = opened(desktop, url)
    page.route("**/api/picture", lambda route: route.abort())
    page.get_by_label("Text", exact=True).fill("gone")
    page.locator("#fault:not(:empty)").wait_for()
    assert "is bytepair serve still running?" in page.locator("#fault").inner_text()
    page.unroute_all()
    refused(desktop)
    page.get_by_label("Text", exact=True).fill("back")
    settle(desktop)
    assert page.locator("#fault").inner_text() == ""


def test_a_hundred_thousand_tokens_stay_usable(desktop: Tab, url: str, toks: dict[str, bp.Tokenizer]) -> None:
    page = opened(desktop, url)
    text = "usable text of words, 東京 and café\n" * 8000
    count = toks["demo"].count(text)
    assert count > 100_000
    page.evaluate(
        "text => { const box = document.getElementById('text'); box.value = text;"
        " box.dispatchEvent(new Event('input')); }",
        text,
    )
    settle(desktop)
    assert page.locator("#counts tbody tr td").first.inner_text() == f"{count:,}"
    page.locator("#text").focus()
    page.keyboard.type("!")
    settle(desktop)
    assert page.locator("#counts tbody tr td").first.inner_text() != f"{count:,}"
