"""Notebook output: all tokens of an encoding up to a limit, shown as text, and nothing that runs."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from bytepair.call.encoding import Encoding
from bytepair.drawing.characters import show
from bytepair.view import notebook
from tests.conftest import HOSTILE
from tests.view.models import models
from tests.view.test_pictures import BYTES, texts


class Page(HTMLParser):
    """The tokens of a piece of HTML: their classes, their text, and their titles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tokens: list[tuple[str, str, list[str]]] = []
        self.said = ""
        self.tags: set[str] = set()
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        assert given.keys() <= {"class", "title", "dir"}
        if tag == "span":
            self._inside = True
            self.tokens.append((given["class"] or "", "", (given.get("title") or "").split("\n")))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "span"

    def handle_data(self, data: str) -> None:
        if self._inside:
            kind, shown, title = self.tokens[-1]
            self.tokens[-1] = kind, shown + data, title
        elif not data.startswith("\n."):
            self.said += data.strip("\n")


def of(encoding: Encoding) -> Page:
    page = Page(encoding._repr_html_())
    assert page.tags <= {"style", "div", "p", "b", "span", "i", "br", "code"}
    return page


@pytest.mark.parametrize("name", BYTES)
def test_tokens_of_bytes_are_read_as_the_text_that_they_are(name: str) -> None:
    for text in texts():
        found = models()[name].encoding(text, special="allow")
        if len(found) > notebook.MOST:
            continue
        cells = list(notebook._cells(found))
        assert "".join(cell.shown for cell in cells) == text
        assert [cell.number for cell in cells] == list(range(len(found)))
        assert len(of(found).tokens) == len(found)


@pytest.mark.parametrize("name", models())
def test_titles_say_what_a_token_is(name: str) -> None:
    tok = models()[name]
    for text in texts():
        found = tok.encoding(text, special="allow")
        for number, (_, shown, title) in enumerate(of(found).tokens):
            assert title[0] == f"token {number}, id {found.ids[number]}"
            assert f"offsets {found.offsets[number][0]} to {found.offsets[number][1]}" in title
            assert shown


@pytest.mark.parametrize("name", ["characters", "WordPiece", "Unigram", "WordLevel"])
def test_tokens_of_characters_are_shown_as_they_are_spelled(name: str) -> None:
    for text in [*HOSTILE, "Ça café Ãé", "é", "ñ a"]:
        found = models()[name].encoding(text, special="allow")
        for (_, shown, _), token in zip(of(found).tokens, found.tokens, strict=False):
            if not token.isascii():
                assert shown == "".join(part.text for part in show(token))


def test_a_row_that_is_cut_within_a_character_is_read_as_bytes() -> None:
    tok = models()["ranks"]
    found = tok.encoding(" low 🦊", truncation=True, max_length=5)
    assert [cell.after or cell.before for cell in notebook._cells(found)][-2:] == [b"\xf0", b"\x9f"]
    (rest,) = found.overflowing
    # Nothing in it says that it is bytes.
    assert [shown for _, shown, _ in of(rest).tokens] == rest.tokens
    for text in ("é low", "low é low"):
        assert "".join(cell.shown for cell in notebook._cells(tok.encoding(text))) == text
    assert "1 further row" in of(found).said
    of_bytes = tok.encoding("é low".encode())
    assert "".join(cell.shown for cell in notebook._cells(of_bytes)) == "é low"


def test_what_was_added_what_fills_and_which_text_is_marked() -> None:
    found = Encoding(
        ids=[1, 5, 2, 6, 2, 0, 0, 0],
        tokens=["[CLS]", "a", "[SEP]", "<b>", "[SEP]", "[PAD]", "[PAD]", "[PAD]"],
        offsets=[(0, 0), (0, 1), (0, 0), (0, 3), *[(0, 0)] * 4],
        word_ids=[None, 0, None, 0, *[None] * 4],
        type_ids=[0, 0, 0, 1, 1, 0, 0, 0],
        special_tokens_mask=[1, 0, 1, 0, 1, 1, 1, 1],
        attention_mask=[1, 1, 1, 1, 1, 0, 0, 0],
        ranges={0: (1, 2), 1: (3, 4)},
    )
    page = of(found)
    assert [(kind.split()[0], shown) for kind, shown, _ in page.tokens] == [
        ("added", "[CLS]"),
        ("text", "text 1"),
        ("t", "a"),
        ("added", "[SEP]"),
        ("text", "text 2"),
        ("t", "<b>"),
        ("added", "[SEP]"),
        ("padding", "[PAD] × 3"),
    ]
    assert page.said == "8 tokens, 3 of them added, 3 of them padding"
    assert page.tokens[0][2][-1] == "added"
    assert page.tokens[5][2][-1] == "text 2"


def test_long_ones_are_cut_off_and_say_so() -> None:
    tok = models()["ranks"]
    page = of(tok.encoding("low " * 700))
    assert len(page.tokens) == notebook.MOST
    assert page.said.endswith("and 400 more tokens")
    # A character that ends behind the last token is whole.
    cells = list(notebook._cells(tok.encoding("a" * 998 + "🦊🦊")))
    assert cells[-2].shown == "🦊"
    assert of(tok.encoding("")).said == "0 tokens"


def test_nothing_in_a_token_becomes_a_tag_or_hides() -> None:
    tok = models()["ranks"].with_added_tokens(["<script>alert(1)</script>", '"><img onerror=x>', "\u202e\x00"])
    for name in ("<script>alert(1)</script>", '"><img onerror=x>', "\u202e\x00"):
        page = of(tok.encoding(name))
        assert [shown for _, shown, _ in page.tokens] == ["".join(part.text for part in show(name))]


def test_repr_stays_one_line() -> None:
    assert repr(models()["ranks"].encoding("low")) == "<Encoding: 1 tokens, 0 overflowing>"
