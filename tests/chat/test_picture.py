"""Pictures of a chat: nothing of it is lost, run or hidden, and every mark is where it belongs."""

from __future__ import annotations

import io
import random
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair as bp
from bytepair.drawing.characters import show, show_line
from bytepair.errors import ArtifactError, InvalidIdError
from bytepair.view import chat
from bytepair.view.chat_tokens import ChatCell, ChatGap, cells
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bytepair.chat.encoding.example import ChatExample

    Ints = NDArray[np.int64]


@dataclass
class Span:
    start: int
    end: int
    kind: str
    message: int | None = None
    role: str | None = None
    field: str | None = None
    generated: bool = False


def example_of(text: str, spans: list[Span], ids: Ints, labels: Ints, offsets: Ints) -> ChatExample:
    """The parts of an example that a picture reads."""
    parts = {"text": text, "spans": spans, "input_ids": ids, "labels": labels, "offsets": offsets}
    return cast("ChatExample", SimpleNamespace(**parts))


BYTES = bp.train({"a": 1}, 256 + 3, special_tokens=["<|im_start|>", "<|im_end|>", "<|endoftext|>"])


def make_chat(tok: bp.Tokenizer, messages: list[tuple[str, str]], trained: str = "assistant") -> ChatExample:
    """A chat in ChatML, encoded as one text; each token that overlaps the content of one role is trained."""
    text, spans = "", []
    for number, (role, content) in enumerate(messages):
        for part, kind, name in (
            ("<|im_start|>", "template", None),
            (role, "content", "role"),
            ("\n", "template", None),
            (content, "content", "content"),
            ("<|im_end|>\n", "template", None),
        ):
            of = (number, role, name) if kind == "content" else (None, None, None)
            spans.append(Span(len(text), len(text) + len(part), kind, *of))
            text += part
    ids, offsets = tok.encode(text, special="allow"), tok.offsets(text, special="allow")
    places = np.array(offsets, np.int64).reshape(-1, 2)
    is_trained = np.zeros(len(ids), np.bool_)
    for span in spans:
        if span.field == "content" and span.role == trained:
            is_trained |= (places[:, 0] < span.end) & (places[:, 1] > span.start)
    array = np.array(ids, np.int64)
    return example_of(text, spans, array, np.where(is_trained, array, -100), places)


@dataclass
class Token:
    """A token of a page."""

    classes: list[str]
    title: list[str]
    text: str = ""
    symbols: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """Parses a page: its tokens, labels and rows, and all tags and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.tokens: list[Token] = []
        self.labels: list[str] = []
        self.rows: list[list[str]] = []
        self.gaps: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        values = {name: value or "" for name, value in attrs}
        kind = tag
        if tag == "span" and "title" in values:
            kind = "token"
            self.tokens.append(Token(values["class"].split(), values["title"].split("\n")))
        elif tag == "span" and values.get("class") == "u" and "text" in self.open:
            kind = "gap"
            self.gaps.append("")
        elif tag == "b":
            self.labels.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        elif values.get("class") == "text":
            kind = "text"
        if tag not in {"meta", "br"}:
            self.open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        kind = self.open.pop()
        assert kind == tag or (kind, tag) in {("token", "span"), ("gap", "span"), ("text", "div")}

    def handle_data(self, data: str) -> None:
        if "token" in self.open:
            self.tokens[-1].text += data
            if self.open[-1] == "i":
                self.tokens[-1].symbols.append(data)
        elif "gap" in self.open:
            self.gaps[-1] += data
        elif self.open and self.open[-1] == "b":
            self.labels[-1] += data
        elif (self.open and self.open[-1] in {"td", "th"}) or self.open[-2:-1] in (["td"], ["th"]):
            self.rows[-1][-1] += data


ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "h1",
    "p",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
}
ALLOWED |= {"tr", "th", "td", "details", "summary", "ol", "li", "div", "span", "b", "i", "br"}

HOSTILE_TEXTS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</span></div></body></html>",
    "</style><style>*{display:none}",
    "<!-- --><![CDATA[ ]]> &lt;b&gt; &#60;script&#62; &amp;amp;",
    "javascript:alert(1)",
    "\u202eevil\u202c \u2066x\u2069 שלום مرحبا",
    "a\u200bb\u200c\u200d\ufeff\u00ad\u2060\u180e\u3164\u00a0\u3000",
    "e" + "\u0301" * 500 + "z",
    "\u0301 first",
    "\x00\x07\x1b[31mred\x1b[0m\x7f\x85",
    "👩\u200d👩\u200d👧 ❤\ufe0f 🇩🇪",
    *HOSTILE,
]


def check(example: ChatExample, tok: bp.Tokenizer) -> Page:
    """Checks the properties of every picture."""
    page = chat.html(example, tok, title="<i>\u202e")
    read = Page(page)
    assert set(read.tags) <= ALLOWED
    assert read.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "title", "dir", "scope"}
    assert not re.search("url\\(|@import|https?:", page[: page.index("<body>")])
    page.encode()
    for character in set(page) - {"\n", " "}:
        assert character.isprintable(), ascii(character)
    found = [cell for cell in cells(example, tok) if isinstance(cell, ChatCell)]
    assert len(read.tokens) == len(found) == len(example.input_ids)
    for cell, token, id, label in zip(found, read.tokens, example.input_ids, example.labels, strict=True):
        assert ("y" in token.classes) == (label != -100)
        assert ("s" in token.classes) == bool(cell.straddles)
        assert token.title[0].startswith(f"id {id}, token ")
        assert token.title[-1] == ("trained" if label != -100 else "not trained")
        if cell.shown:
            assert token.text == "".join(part.text for part in show(cell.shown))
            assert token.symbols == [part.text for part in show(cell.shown) if part.stands_for]
    head, *rows, last = read.rows
    assert head == ["from", "tokens", "trained"]
    assert [sum(int(row[place]) for row in rows) for place in (1, 2)] == [int(last[1]), int(last[2])]
    assert last == ["all", str(len(found)), str(int((example.labels != -100).sum()))]
    return read


@pytest.mark.parametrize("content", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_hostile_text_stays_text(content: str, tok: bp.Tokenizer) -> None:
    for which in (BYTES, tok):
        example = make_chat(which, [("user", content), (content or "x", "Hi"), ("assistant", content)])
        check(example, which)
        lines = chat.text(example, which, stream=io.StringIO())
        assert all(character.isprintable() for character in lines.replace("\n", ""))


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "me"]), st.text(max_size=8)), max_size=4),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_every_character_is_shown_once(messages: list[tuple[str, str]], left: int, right: int) -> None:
    example = make_chat(BYTES, messages)
    size = len(example.input_ids)
    cut = slice(min(left, size), max(size - right, min(left, size)))
    for name in ("input_ids", "labels", "offsets"):
        setattr(example, name, getattr(example, name)[cut])
    parts = list(cells(example, BYTES))
    assert "".join(part.text if isinstance(part, ChatGap) else part.shown for part in parts) == example.text
    read = check(example, BYTES)
    assert [gap for gap in read.gaps if gap] == [
        show_line(part.text, 200) for part in parts if isinstance(part, ChatGap)
    ]


def test_what_is_shown_of_a_chat(tok: bp.Tokenizer) -> None:
    tok = bp.train({"hello": 9, " there": 5}, 266, special_tokens=["<|im_start|>", "<|im_end|>"])
    example = make_chat(tok, [("user", "hello\n there"), ("assistant", "hello €")])
    read = check(example, tok)
    assert read.labels == ["user, message 0", "assistant, message 1"]
    texts = [token.text for token in read.tokens]
    assert texts[-7:] == ["hello", "·", "€", "‹82›", "‹ac›", "<|im_end|>", "↵"]
    assert read.tokens[-5].title == [
        f"id {example.input_ids[-5]}, token bytes e2",
        f"characters {example.text.index('€')} to {example.text.index('€') + 1}",
        "assistant, message 1, content",
        "trained",
    ]
    assert {row[0]: row[1:] for row in read.rows}["(template)"][1] == "0"
    lines = chat.text(example, tok, stream=io.StringIO()).splitlines()
    assert lines[0] == f"{len(texts)} tokens, 5 trained (*), 0 straddling (~)"
    assert "(template)    <|im_start|>" in lines
    assert "assistant 1 * hello│·│€│‹82›│‹ac›" in lines


def test_tokens_of_two_things_are_marked_and_listed() -> None:
    tok = bp.train({"abab": 9}, 258)
    spans = [Span(0, 1, "template"), Span(1, 4, "content", 0, "user", "content"), Span(4, 8, "template")]
    spans += [Span(8, 8, "content", 1, "assistant", "content")]
    ids, offsets = tok.encode("abababab"), tok.offsets("abababab")
    example = example_of("abababab", spans, np.array(ids), np.array(ids), np.array(offsets))
    read = check(example, tok)
    assert len(ids) == 2
    assert "s" in read.tokens[0].classes
    assert read.tokens[0].title[3] == "straddles (template) and user, message 0, content"
    assert read.tokens[0].title[2] == "user, message 0, content"
    assert "s" not in read.tokens[1].classes
    assert "Straddling tokens: 1" in chat.html(example, tok)
    assert "~abab" in chat.text(example, tok, stream=io.StringIO())


def test_what_comes_from_nowhere_is_named() -> None:
    example = make_chat(BYTES, [("user", "a")])
    end = BYTES.token_id("<|endoftext|>")
    vars(example)["input_ids"] = np.append(example.input_ids, end)
    vars(example)["labels"] = np.append(example.labels, end)
    vars(example)["offsets"] = np.append(example.offsets, [[len(example.text)] * 2], axis=0)
    read = check(example, BYTES)
    assert read.tokens[-1].text == "‹“<|endoftext|>”›"
    assert read.tokens[-1].title[1:] == ["from no character", "(added)", "trained"]
    assert ["(added)", "1", "1"] in read.rows


def test_a_role_named_as_the_template_is_not_the_template() -> None:
    example = make_chat(BYTES, [("template", "ab"), ("added", "c")])
    rows = {row[0]: row[1] for row in check(example, BYTES).rows}
    assert rows["template"] == str(len("templateab"))
    assert rows["added"] == str(len("addedc"))
    assert rows["(template)"] == "8"


def test_what_was_given_beside_messages_is_named() -> None:
    spans = [Span(0, 2, "content", None, None, "tools/0/function/name"), Span(2, 3, "content", None, None, None)]
    ids = np.frombuffer(b"aab", np.uint8).astype(np.int64)
    tok = bp.train({"low": 5}, 257)
    example = example_of("aab", spans, ids, np.full(3, -100), np.array([[0, 1], [1, 2], [2, 3]]))
    read = check(example, tok)
    assert [row[0] for row in read.rows] == ["from", "(tools)", "(variables)", "all"]
    assert read.labels == ["tools"]
    assert read.tokens[0].title[2] == "(tools), tools/0/function/name"


def test_what_stands_before_tokens_says_whose_they_are() -> None:
    paths = ["role", "content", "tool_calls/0/function/name", "tool_calls/0/function/arguments/city", "content", "name"]
    spans = [Span(place, place + 1, "content", 3, "<me>", path) for place, path in enumerate(paths)]
    spans += [
        Span(6, 7, "template"),
        Span(7, 8, "content", 3, "<me>", "name"),
        Span(8, 9, "content", 4, "<me>", "name"),
    ]
    ids = np.full(9, 97)
    example = example_of("a" * 9, spans, ids, ids, np.array([[place, place + 1] for place in range(9)]))
    tok = bp.train({"low": 5}, 257)
    assert check(example, tok).labels == [
        "<me>, message 3",
        "<me>, message 3, tool_calls",
        "<me>, message 3",
        "<me>, message 3, name",
        "<me>, message 4, name",
    ]


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    example = make_chat(BYTES, [("user", "\x1b[2Jx"), ("assistant", "y")])
    plain = chat.text(example, BYTES, stream=io.StringIO())
    assert "\x1b" not in plain
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = chat.text(example, BYTES, stream=Terminal())
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    assert "\x1b[32;1;4my\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert chat.text(example, BYTES, stream=Terminal()) == plain


def test_lines_are_as_wide_as_they_may_be() -> None:
    example = make_chat(BYTES, [("user", "word " * 100)])
    lines = chat.text(example, BYTES, stream=io.StringIO(), width=40).splitlines()
    assert max(map(len, lines)) <= 40 + len("(template)   ")
    shown = "".join(line[len("(template)   ") :].replace("│", "") for line in lines[1:] if line.startswith("user 0"))
    assert shown == "user" + "word·" * 100


def test_a_hundred_thousand_tokens() -> None:
    draw = random.Random(5)
    text = "".join(draw.choice("ab \n<&\u200b\u0301") for _ in range(95_000))
    example = make_chat(BYTES, [("user", text)])
    assert len(example.input_ids) > 100_000
    page = chat.html(example, BYTES)
    assert len(page) < 300 * len(example.input_ids)
    assert page.count('<div class="b">') > 50
    assert page.count(' title="') == len(example.input_ids)


def test_a_long_cut_is_counted_and_not_shown() -> None:
    example = make_chat(BYTES, [("user", "x" * 5000)])
    for name in ("input_ids", "labels", "offsets"):
        setattr(example, name, getattr(example, name)[-5:])
    page = chat.html(example, BYTES)
    assert "more characters)" in page
    assert len(page) < 10_000


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    example = make_chat(BYTES, [("user", "ü")])
    chat.save(example, BYTES, tmp_path / "chat.html", title="ü")
    assert (tmp_path / "chat.html").read_text("utf-8") == chat.html(example, BYTES, title="ü")
    with pytest.raises(ArtifactError):
        chat.save(example, BYTES, tmp_path / "none" / "chat.html")
    assert [path.name for path in tmp_path.iterdir()] == ["chat.html"]


def test_what_does_not_belong_together_raises() -> None:
    example = make_chat(BYTES, [("user", "ab")])
    vars(example)["labels"] = example.labels[:-1]
    with pytest.raises(ValueError, match="labels"):
        chat.html(example, BYTES)
    example = make_chat(BYTES, [("user", "ab")])
    example.offsets[-1] = [3, 99]
    with pytest.raises(ValueError, match="token 9 has the offsets 3 to 99"):
        chat.text(example, BYTES)
    example = make_chat(BYTES, [("user", "ab")])
    example.input_ids[0] = 5000
    with pytest.raises(InvalidIdError):
        chat.html(example, BYTES)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a", " a"),
        ("  a", "··a"),
        ("a ", "a·"),
        (" ", "·"),
        ("a b", "a·b"),
        ("\u0301", "◌\u0301"),
        ("a\u0301\u0302", "a\u0301\u0302"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "U+0301U+0301"),
        ("\ud800", "U+D800"),
        ("\U000e0041", "U+E0041"),
        ("\u2028\u00a0", "U+2028U+00A0"),
        ("\r\n\t\x00\x7f", "U+000D↵→U+0000U+007F"),
        ("\uffff\ue000", "U+FFFFU+E000"),
        ("हिन्दी ไทย", "हिन्दी·ไทย"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert "".join(part.text for part in show(text)) == shown


@given(st.text(st.characters(codec=None)))
def test_what_is_shown_can_be_seen_and_stands_for_all(text: Any) -> None:
    parts = list(show(text))
    assert "".join(part.stands_for or part.text for part in parts) == text
    assert all(part.text.isprintable() for part in parts)
