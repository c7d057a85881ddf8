"""The page of `bytepair inspect --html`, and a tokenizer in a notebook."""

from __future__ import annotations

from pathlib import Path

import bytepair as bp
from bytepair.check.lint import lint
from bytepair.model.spec import AddedToken
from bytepair.view import linted, pipeline
from bytepair.view.page import page
from tests.browser.conftest import Tab


def tokenizer() -> bp.Tokenizer:
    """A tokenizer with faults."""
    tok = bp.train({"low": 5, "lower": 2}, vocab_size=259, split="o200k")
    rows = (
        AddedToken("<|bos|>", 259),
        AddedToken("the", 260, special=False),
        AddedToken("<|call|>", 261, special=False),
        AddedToken("<script>alert(1)</script>\u202e", 265),
    )
    return bp.Tokenizer(tok.spec.replace(added_tokens=rows, normalizers=("NFC",)))


def test_a_page(tab: Tab, tmp_path: Path) -> None:
    tok = tokenizer()
    facts = {"file": "model/tokenizer.json", "format": "tokenizer.json", "fingerprint": tok.fingerprint}
    facts |= {"tokens": str(len(tok)), "vocab_size": str(tok.vocab_size)}
    place = tmp_path / "inspected.html"
    place.write_text(linted.html("model", facts, lint(tok, embeddings=200), tok), "utf-8")
    tab.open(place)
    tab.check("inspect", picture=True, full=True)
    assert tab.asked == [place.as_uri()]


def test_a_card(tab: Tab, tmp_path: Path) -> None:
    place = tmp_path / "card.html"
    place.write_text(page("notebook", f"<h1>Notebook</h1>{pipeline.card(tokenizer())}"), "utf-8")
    tab.open(place)
    tab.check("tokenizer-card")
