"""The page of a picture as HTML: no text gets out of its place, and nothing of the picture is lost."""

from __future__ import annotations

import json
import random
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.errors import ArtifactError
from bytepair.view import interactive
from bytepair.view.page import asset
from bytepair.view.pictures import picture
from tests.conftest import HOSTILE, WHOLE

EVIL = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]></noscript></pre><img src=x onerror=alert(1)>",
    "&lt;&amp;\u2028\u2029\u202e\x00",
    "<style>*{}</style><base href=//x><meta http-equiv=refresh content=0>",
]

SKELETON = [
    "html",
    "head",
    "meta",
    "meta",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "h1",
    "div",
    "noscript",
    "p",
    "pre",
]
SKELETON += ["script"] * (2 + len(interactive.SCRIPTS))


class Page(HTMLParser):
    """The parts of a page, as a browser without scripts reads it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts[self.tags[-1]][-1] += data

    @property
    def data(self) -> Any:
        return json.loads(self.texts["script"][0])


def unpacked(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The tokenizers of a page, as `view.js` reads them."""
    tokenizers = []
    for tokenizer in data["tokenizers"]:
        starts = list(accumulate(tokenizer["starts"]))
        ends = [start + length for start, length in zip(starts, tokenizer["ends"], strict=True)]
        tokenizers.append(tokenizer | {"starts": starts, "ends": ends, "pieces": list(accumulate(tokenizer["pieces"]))})
    return tokenizers


def check(tokenizers: dict[str, bp.Tokenizer], text: str | bytes, title: str = "PictureTokens") -> str:
    """The page of a text, which passes the checks of all such pages."""
    seen = picture(tokenizers, text)
    html = interactive.html(seen, title=title)
    page = Page(html)
    assert page.tags == SKELETON
    assert {name for name, _ in page.attributes} <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "id",
        "class",
        "type",
    }
    data = page.data
    assert data["text"] == seen.text
    for found, meant in zip(unpacked(data), seen.as_dict()["tokenizers"], strict=True):
        vocabulary, whole = found.pop("vocabulary"), meant.pop("vocabulary")
        assert found == meant
        assert vocabulary.keys() == whole.keys()
        for id, facts in whole.items():
            assert {name: None for name in facts if facts[name] is None} | {
                name: False for name in facts if facts[name] is False
            } | vocabulary[id] == facts
    return html


@pytest.mark.parametrize("text", [*HOSTILE, *EVIL], ids=lambda text: ascii(text[:20]))
def test_hostile_text_stays_text(tok: bp.Tokenizer, text: str) -> None:
    check({"mine": tok}, text)


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_hostile_names_stay_names(tok: bp.Tokenizer, evil: str) -> None:
    page = Page(check({evil: tok, "other": tok}, "a", title=evil))
    assert [one["name"] for one in page.data["tokenizers"]] == [evil, "other"]
    assert "\u202e" not in page.texts["h1"][0] + page.texts["title"][0]


def test_random_texts(tok: bp.Tokenizer) -> None:
    draw = random.Random(9)
    for _ in range(100):
        parts = [*EVIL, *HOSTILE, "<|end|>", "def f(self):\n", chr(draw.randrange(0x20, 0x3000))]
        check({"one": tok, "two": tok}, "".join(draw.choices(parts, k=draw.randrange(6))))


def test_bytes_that_are_no_text(tok: bp.Tokenizer) -> None:
    data = Page(check({"mine": tok}, b"a\xffb\xe2\x82")).data
    assert data["text"].startswith("a\ufffdb\ufffd")
    assert data["replaced"][0] == [1, "ff"]


def test_only_its_own_scripts_run(tok: bp.Tokenizer) -> None:
    html = check({"mine": tok}, "".join(EVIL))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    digests = [sha256(asset(name).encode()).digest() for name in (*interactive.SCRIPTS, "view.js")]
    hashes = [f"'sha256-{b64encode(digest).decode()}'" for digest in digests]
    rules = [rule.strip() for rule in policy[1].split(";")]
    assert rules[0] == "default-src 'none'"
    assert " ".join(["script-src", *hashes]) in rules
    assert not any(rule.startswith(("connect-src", "img-src", "font-src", "object-src")) for rule in rules)


@pytest.mark.parametrize("name", [*interactive.SCRIPTS, "view.js", *interactive.STYLES, "base.css"])
def test_assets_load_nothing_and_parse_nothing(name: str) -> None:
    parses = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function"
    assert re.findall(parses + r"|fetch\(|XMLHttp|import\(|url\(|@import", asset(name)) == []
    assert "</script" not in asset(name)
    assert "<!--" not in asset(name)


def test_contrast() -> None:
    """Contrast with each ground: 4.5 to 1 for text, 3 to 1 for marks, as accessibility guidelines (WCAG) require."""
    colours = dict(re.findall(r"--(\w+): light-dark\((#\w+, #\w+)\)", asset("base.css")))
    assert {"ink", "paper", "faint", "g7"} <= colours.keys()
    grounds = [name for name in colours if name in {"paper", "raised"} or re.fullmatch(r"g\d", name)]
    for look in (0, 1):
        light = {name: luminance(pair.split(", ")[look]) for name, pair in colours.items()}
        for ground in grounds:
            for name, least in {"ink": 7.0, "faint": 4.5, "mark": 3.0, "accent": 3.0}.items():
                low, high = sorted((light[name], light[ground]))
                assert (high + 0.05) / (low + 0.05) >= least, (name, ground, look)


def luminance(colour: str) -> float:
    """The relative luminance of a colour in hexadecimal, by its definition in WCAG 2."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_size(tok: bp.Tokenizer, sources: list[str]) -> None:
    text = "\n".join(sources)
    empty = len(interactive.html(picture({"mine": tok}, "")).encode())
    whole = len(check({"mine": tok}, text).encode())
    assert (whole - empty - 2 * len(text.encode())) / len(tok.encode(text)) < 30


def test_a_page_is_saved_whole_or_not_at_all(tok: bp.Tokenizer, tmp_path: Path) -> None:
    file = tmp_path / "view.html"
    interactive.save(picture({"mine": tok}, "a"), file, title="1")
    assert file.read_text("utf-8") == interactive.html(picture({"mine": tok}, "a"), title="1")
    with pytest.raises(ArtifactError):
        interactive.save(picture({"mine": tok}, "a"), tmp_path / "none" / "view.html")
    assert [path.name for path in tmp_path.iterdir()] == ["view.html"]


@pytest.mark.data
def test_every_text_of_the_data(data: Path, tok: bp.Tokenizer) -> None:
    gpt2 = bp.Tokenizer.from_file(data / "vocabs/gpt2/tokenizer.json")
    texts = sorted((data / "corpora").glob("*.txt"))
    assert texts
    for text in texts:
        check({"gpt2": gpt2, "mine": tok}, text.read_bytes()[: None if WHOLE else 30_000])
