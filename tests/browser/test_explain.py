"""Explanations and timelines, in a browser."""

from __future__ import annotations

from pathlib import Path

import bytepair as bp
from bytepair.model.models import Unigram, WordPiece
from bytepair.model.spec import TokenizerSpec
from bytepair.study.explain import explain, timeline
from bytepair.view import explained
from bytepair.view import timeline as timelines
from tests.browser.conftest import Tab

WORDS = {
    " lower": 40,
    " low": 60,
    " newest": 50,
    " widest": 30,
    " unbelievable": 20,
    " believe": 45,
    " able": 50,
    " unable": 20,
    "the": 200,
    " the": 300,
    " there": 60,
    " cafés": 5,
    " tokenizer": 10,
    " tokens": 20,
}


def test_merges(tab: Tab, tmp_path: Path) -> None:
    tok = bp.train(WORDS, vocab_size=305, split="gpt2", special_tokens=["<|end|>"])
    lower = bp.Tokenizer(
        TokenizerSpec(
            tok.spec.model, split=tok.spec.split, added_tokens=tok.spec.added_tokens, normalizers=("Lowercase",)
        )
    )
    place = tmp_path / "explained.html"
    explained.save(explain(lower, "The lowest, unbelievable cafés <|end|> 🦊", special="allow"), place)
    page = tab.open(place)
    tab.check("explained", picture=True)
    tab.shoot("explained-all", full=True)
    assert tab.asked == [place.as_uri()]
    # Each piece leads to where it is explained, by keyboard as well.
    page.locator(".pieces a").nth(2).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#p3"


def test_other_models(tab: Tab, tmp_path: Path) -> None:
    pieces = ("[UNK]", "un", "##able", "##a", "##b", "b", "##believ", "believ", "##e")
    words = WordPiece(tuple(piece.encode() for piece in pieces), tuple(range(len(pieces))))
    tok = bp.Tokenizer(TokenizerSpec(words, normalizers=("Lowercase",), pre_tokenizers=("BertPreTokenizer",)))
    place = tmp_path / "matches.html"
    explained.save(explain(tok, "Unbelievable unable zebra"), place)
    tab.open(place)
    tab.check("explained-matches")
    tokens = ("<unk>", "▁un", "▁", "un", "able", "a", "b", "le", "ab", "▁unab")
    scores = (0.0, -3.0, -2.0, -4.5, -4.0, -5.0, -5.0, -5.5, -6.0, -7.5)
    unigram = Unigram(tuple(token.encode() for token in tokens), tuple(range(len(tokens))), scores, unk_id=0)
    metaspace = '{"type": "Metaspace", "prepend_scheme": "always", "replacement": "▁", "split": true}'
    tok = bp.Tokenizer(TokenizerSpec(unigram, pre_tokenizers=(metaspace,)))
    place = tmp_path / "ways.html"
    explained.save(explain(tok, "unable unab 🦊🦊"), place)
    tab.open(place)
    tab.check("explained-ways")


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202eabc\u200b\x00" + "a\u0301\u0302\u0303" * 40


def test_hostile_text(tab: Tab, tmp_path: Path) -> None:
    tok = bp.train(WORDS, vocab_size=305, split="gpt2", special_tokens=["<script>"])
    place = tmp_path / "hostile.html"
    explained.save(explain(tok, HOSTILE, special="allow"), place, title="</title><script>alert(2)</script>")
    tab.open(place)
    tab.check("explained-hostile")
    assert tab.asked == [place.as_uri()]


def test_long_texts(desktop: Tab, tmp_path: Path) -> None:
    tok = bp.train(WORDS, vocab_size=305, split="gpt2", special_tokens=["<script>"])
    one_piece = bp.Tokenizer(TokenizerSpec(tok.spec.model, normalizers=("NFC",)))
    for name, one, text in [("piece", one_piece, HOSTILE + "the low" * 10_000), ("text", tok, "the " * 20_000)]:
        place = tmp_path / f"{name}.html"
        explained.save(explain(one, text), place)
        assert place.stat().st_size < 500_000
        desktop.open(place)
        desktop.check(f"explained-long-{name}")


def test_timeline(tab: Tab, tmp_path: Path, sources: list[str]) -> None:
    place = tmp_path / "timeline.html"
    timelines.save(timeline(bp.train_with_statistics(iter(sources), vocab_size=700).merges, most=60), place)
    tab.open(place)
    tab.check("timeline", picture=True)
    timelines.save(timeline(bp.train(WORDS, vocab_size=300), most=9), place)
    tab.open(place)
    tab.check("timeline-of-a-tokenizer")
    assert set(tab.asked) == {place.as_uri()}
