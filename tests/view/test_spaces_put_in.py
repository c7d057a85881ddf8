"""The space that a stage inserts before a word is shown as a token without characters; the word stays whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.view import terminal
from bytepair.view.pictures import picture


@pytest.fixture
def tok(tmp_path: Path) -> bp.Tokenizer:
    """A Unigram that cuts `▁low` into `▁` and `low`, and does not know `q`."""
    place = tmp_path / "tokenizer.json"
    vocab = [["<unk>", 0.0], ["\u2581", -2.0], ["low", -3.0], ["l", -6.0], ["o", -6.0], ["w", -6.0]]
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    spec: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": None,
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
    }
    place.write_text(json.dumps(spec), "utf-8")
    return bp.Tokenizer.from_file(place)


def test_the_word_stays_whole(tok: bp.Tokenizer) -> None:
    seen = picture({"t": tok}, "low q low")
    assert [tok.token_bytes(id).decode() for id in seen.sources[0].ids] == ["▁", "low", "▁", "<unk>", "▁", "low"]
    line = terminal.text(seen).splitlines()[2]
    assert line.startswith("‹“▁”›│low│×·│‹“▁”›│q")
    assert line.endswith("│×·│‹“▁”›│low│")


def test_one_that_the_text_has_is_itself(tok: bp.Tokenizer) -> None:
    seen = picture({"t": tok}, "\u2581low")
    shown = terminal.text(seen).splitlines()[2]
    assert shown.replace("‹“▁”›", "").replace("│", "") == "▁low"
