"""Explanations as text and pages: whole, bounded, and safe whatever the text."""

from __future__ import annotations

import io
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.drawing.layout import columns
from bytepair.model.models import BytePair, Unigram, WordLevel, WordPiece
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.study.explain import ExplainedPiece, MergeStep, explain
from bytepair.study.explain.trees import merging_of
from bytepair.view import explained
from bytepair.view.explained.ladder import rows
from bytepair.view.explained.tree import tree
from bytepair.view.spelling import spell
from tests.conftest import HOSTILE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(found: Any, **options: Any) -> str:
    return explained.text(found, stream=io.StringIO(), **options)


MODELS = {
    "ranks": TokenizerSpec(BytePair((b"a", b"b", b"c", b"ab", b"bcab"), (0, 1, 2, 3, 4), partial_alphabet=True)),
    "WordPiece": TokenizerSpec(
        WordPiece((b"[UNK]", b"a", b"ab", b"##c"), (0, 1, 2, 3)), pre_tokenizers=("BertPreTokenizer",)
    ),
    "Unigram": TokenizerSpec(Unigram((b"<unk>", b"a", b"ab", b"b"), (0, 1, 2, 3), (0.0, -1.0, -1.5, -1.0), unk_id=0)),
    "WordLevel": TokenizerSpec(WordLevel((b"ab", b"<unk>"), (0, 1)), pre_tokenizers=("Whitespace",)),
}


def test_the_ladder_is_what_merging_does(tok: bp.Tokenizer) -> None:
    merging = merging_of(tok)
    assert merging
    draw = random.Random(2)
    for _ in range(60):
        text = "".join(draw.choices(["the ", "print", "self", "a", "b", "\n", "é"], k=draw.randrange(1, 20)))
        symbols = merging.symbols(text)
        steps, ids = merging.merge(symbols)
        piece = ExplainedPiece(0, 0, text, "merged", tuple(ids), tuple(symbols), tuple(steps))
        window = draw.randrange(1, 12)
        whole = list(rows(piece, 10**6, 10**6))
        assert [row.symbols for row in whole][-1] == ids
        for full, part in zip(whole, rows(piece, 10**6, window), strict=True):
            assert len(part.symbols) <= window
            assert full.symbols[part.before : part.before + len(part.symbols)] == part.symbols
            assert part.before + len(part.symbols) + part.behind == len(full.symbols)
            if full.step is not None:
                assert part.symbols[part.fresh] == full.symbols[full.fresh] == full.step.result


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("text", ["ab", "", "abc ab abc"])
def test_every_model_has_text_and_a_page(name: str, text: str) -> None:
    tok = bp.Tokenizer(MODELS[name])
    if name == "ranks":
        text = text.replace(" ", "")
    found = explain(tok, text)
    words = said(found)
    for id in found.ids:
        assert str(id) in words
    page = explained.html(found)
    HTMLParser().feed(page)
    assert page.count("<details") == page.count("</details>") == len({piece.text for piece in found.pieces})


def test_text_of_hostile_texts_is_lines_that_can_be_seen(tok: bp.Tokenizer) -> None:
    other = bp.Tokenizer(TokenizerSpec(tok.spec.model, normalizers=("NFC",), added_tokens=(AddedToken("<x>", 9999),)))
    for text in [*HOSTILE, "<x>\u202e<x>", "\u0301" * 500]:
        for one in (tok, other):
            words = said(explain(one, text, special="allow"), width=60)
            assert all(character == "\n" or character.isprintable() for character in words)
            assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", words)
            page = explained.html(explain(one, text, special="allow"))
            assert "\u202e" not in page
            assert "\x00" not in page


def test_lines_keep_to_the_width() -> None:
    tok = bp.train({"unbelievable" * 4: 5}, vocab_size=262)
    for width in (40, 60, 100):
        for line in said(explain(tok, "unbelievable" * 3), width=width).splitlines()[2:]:
            assert columns(line) <= width or line.startswith("   ids")


def test_what_is_left_out_is_said() -> None:
    tok = bp.train({"low": 5}, vocab_size=258)
    words = said(explain(tok, "low" * 1000))
    assert "1,960 more merges are left out here; --format json has all" in words
    assert "936 more" in words
    assert len(words) < 20_000
    split = bp.train({"low": 5}, vocab_size=258, split="gpt2")
    text = " ".join(f"x{number}" for number in range(500))
    assert "more pieces are left out here; --format json has all" in said(explain(split, text))
    page = explained.html(explain(split, text))
    assert "more pieces are left out of this page" in page
    assert "1,960 more merges are left out of this page" in explained.html(explain(tok, "low" * 1000))


def test_pieces_that_come_again_are_explained_once() -> None:
    tok = bp.train({" low": 5}, vocab_size=258, split="gpt2")
    words = said(explain(tok, " low low low"))
    assert words.count("rank 0") == 1
    assert "3  “ low”  8–12  merged, as 1" in words


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    found = explain(bp.train({"low": 5}, vocab_size=258), "low")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = explained.text(found, stream=Terminal())
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == said(found)
    monkeypatch.setenv("NO_COLOR", "1")
    assert explained.text(found, stream=Terminal()) == said(found)


def test_pages_escape_everything(tmp_path: Path) -> None:
    tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<script>alert(1)</script>"])
    text = "<script>alert(1)</script></title><img src=x onerror=alert(1)> \" ' &amp;"
    place = tmp_path / "page.html"
    explained.save(explain(tok, text, special="allow"), place, title=text)
    page = place.read_text("utf-8")
    tags = re.findall(r"<\s*(script|img)", page)
    assert tags == []
    assert "</title>" in page
    assert page.count("</title>") == 1 + page.count("<svg")


def test_trees_join_what_merges(tok: bp.Tokenizer) -> None:
    piece = explain(tok, "print").pieces[0]
    drawn = tree(piece, explain(tok, "print").tokens)
    assert drawn.count("<path") == len(piece.steps)
    assert drawn.count("<rect") == len(piece.symbols) + len(piece.steps)
    for step in piece.steps:
        assert isinstance(step, MergeStep)
        assert f">{step.rank}</text>" in drawn


def test_spelling() -> None:
    assert spell("a\n\u200b\u00a0".encode()) == "a↵U+200BU+00A0"
    assert spell(b"") == "‹›"
    assert spell(b"a" * 100) == "a" * 24 + "…"
    assert spell(b"\xff" * 100) == "‹" + " ".join(["ff"] * 24) + "…›"
