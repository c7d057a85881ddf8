"""Reports as text and as pages: names and tokens stay text, columns are aligned."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pytest

import bytepair as bp
from bytepair.study.report.glossary import definitions
from tests.conftest import HOSTILE


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.text = ""
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data


def columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def test_columns_end_together(tok: bp.Tokenizer) -> None:
    found = bp.report({"日本": tok}, {"英語": iter(["low lower"]), "long name": iter(["x" * 5000])})
    blocks = [block.splitlines() for block in str(found).split("\n\n")]
    for table in (blocks[0], blocks[1][1:]):
        assert len({columns(line) for line in table if not line.endswith("word")}) == 1


@pytest.mark.parametrize(
    "name", [text for text in HOSTILE if text] + ['"><script>alert(1)</script>', "\u202ecba", "a\udc80"]
)
def test_whatever_it_is_called(tok: bp.Tokenizer, name: str) -> None:
    found = bp.report(
        {name: tok}, {name: iter([*HOSTILE, "</script>\u202e"]), f"{name}2": iter(HOSTILE)}, parallel=False
    )
    reader = _Reader()
    reader.feed(found.html())
    assert not reader.tags & {"script", "img", "a", "link", "iframe"}
    assert not {one for one in reader.names if one.startswith("on") or one in ("style", "href", "src")}
    assert not set(reader.text) & set("\u202e\x00\u200b\u2028\udc80")
    assert not set(str(found)) & set("\u202e\x00\u200b\u2028\udc80\r\t")


def test_each_number_is_defined(tok: bp.Tokenizer) -> None:
    found = bp.report({"mine": tok}, {"en": iter(["a"]), "de": iter(["b"])}, parallel=True, context=7, rare=5)
    page = found.html()
    for name, said in definitions(found).items():
        assert f"<dt>{name}</dt>" in page
        assert said
    for word in ("Parity", "Premium per byte", "Rényi", "7 tokens", "fewer than 5 times"):
        assert word in page
    alone = bp.report({"mine": tok}, {"en": iter(["a"])}).html()
    assert "Premium" not in alone
    assert "Parity" not in alone
