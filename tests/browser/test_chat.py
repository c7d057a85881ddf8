"""The picture of a chat, in a browser."""

from __future__ import annotations

from pathlib import Path

import bytepair as bp
from bytepair.view import chat
from tests.browser.conftest import Tab


def test_a_chat(tab: Tab, tmp_path: Path) -> None:
    tok = bp.train({"Hello": 5}, vocab_size=262, special_tokens=["<|im_start|>", "<|im_end|>"])
    messages = [
        {"role": "user", "content": "Hi <script>alert(1)</script>\u202e"},
        {"role": "assistant", "content": "Hello!"},
    ]
    example = tok.encode_chat(messages, "chatml", train_on="assistant")
    page = tmp_path / "chat.html"
    chat.save(example, tok, page)
    tab.open(page)
    tab.check("chat", picture=True)
    assert tab.asked == [page.as_uri()]
