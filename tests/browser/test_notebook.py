"""The notebook display of an encoding, on a light and a dark page."""

from __future__ import annotations

import json
from pathlib import Path

import bytepair as bp
from bytepair.view.page import page
from tests.browser.conftest import Tab


def test_encodings(tab: Tab, tmp_path: Path) -> None:
    plain = bp.train({"low": 5, "lower": 3, "newest": 4}, 268, split="gpt2", special_tokens=["<s>", "</s>", "<pad>"])
    first, last = ([token, plain.special_tokens[token]] for token in ("<s>", "</s>"))
    post_processor = json.dumps({"type": "BertProcessing", "sep": last, "cls": first})
    tok = bp.Tokenizer(plain.spec.replace(post_processor=post_processor))
    text = "lower newest 東京 🦊,\n\tthe lowest <script>alert(1)</script>\u202e\u200b e\u0301 אבג\n" + "x" * 200
    pair = tok(["low newest"], ["newest and low"], padding="max_length", max_length=40).encodings[0]
    # More tokens are left out by the same code, and would take axe-core ten seconds.
    html = tok.encoding(text)._repr_html_() + pair._repr_html_() + tok.encoding("low " * 30)._repr_html_()
    file = tmp_path / "notebook.html"
    file.write_text(page("Encodings", f"<h1>Encodings</h1>{html}"))
    tab.open(file)
    tab.check("notebook")
    tokens = tab.page.locator(".bytepair-encoding .t")
    assert tokens.first.get_attribute("title").startswith("token 1, id ")
    assert tab.asked == [file.as_uri()]
