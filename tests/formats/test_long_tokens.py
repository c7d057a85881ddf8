"""Tokens of any length: time linear in the file and in the text. Sizes are such that squares of them take minutes."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import manifest
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

LONG = 2_000_000

pytestmark = pytest.mark.filterwarnings("ignore::bytepair.errors.TokenizerWarning")


def ranks(*tokens: str) -> bytes:
    rows = [bytes([byte]) for byte in range(256)] + [token.encode() for token in tokens]
    return b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(rows))


@pytest.mark.parametrize("kind", [1, 5], ids=["normal", "unused"])
def test_a_long_piece_of_a_model_of_scores(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "m.model"
    long = "lo" * (LONG // 2)
    path.write_bytes(models.model([*models.pair_pieces(["lo", "low"]), (long, -9.0, kind)]))
    tok = bp.load(path)
    assert tok.encode("lolow")[-2:] == [tok.token_id("lo"), tok.token_id("low")]
    tok.save(tmp_path / "again", "native")
    assert bp.load(tmp_path / "again") == tok


@pytest.mark.parametrize("long", ["lo" * (LONG // 2), "l" + "o" * LONG], ids=["pairs", "run"])
def test_a_long_token_of_a_rank_file(tmp_path: Path, long: str) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(ranks("lo", "low", long))
    tok = bp.load(path, split="none")
    assert tok.encode("lolow") == [256, 257]
    assert tok.encode(long) == [258]
    # No merge of two tokens makes it, and the message is short.
    with pytest.raises(bp.FormatError, match=r"no merge of two tokens makes \"lo+[lo]*\"\.\.\. \(2,000,00") as caught:
        tok.save(tmp_path / "json", "tokenizer.json")
    assert len(str(caught.value)) < 500
    tok.save(tmp_path / "again.tiktoken", drop=("split",))
    assert bp.load(tmp_path / "again.tiktoken", split="none") == tok


def test_a_long_token_that_merges_make(tmp_path: Path) -> None:
    doubled = ["l" * 2**power for power in range(1, 21)]
    (tmp_path / "x.tiktoken").write_bytes(ranks(*doubled))
    tok = bp.load(tmp_path / "x.tiktoken", split="none")
    tok.save(tmp_path / "json", "tokenizer.json")
    again = bp.load(tmp_path / "json")
    assert again.encode("l" * (2**20 + 3)) == tok.encode("l" * (2**20 + 3)) == [275, 256, 108]


@pytest.mark.parametrize("long", ["x" * 200_000, "xy" * 100_000], ids=["run", "pairs"])
def test_a_long_piece_of_a_unigram_costs_nothing_where_it_does_not_occur(tmp_path: Path, long: str) -> None:
    pieces = [*models.unigram_pieces(), ("x", -2.0, 1), ("y", -2.5, 1), (long, -9.0, 1)]
    (tmp_path / "m.model").write_bytes(models.model(pieces, 1))
    tok = bp.load(tmp_path / "m.model")
    # Each place but few begins what could be the long piece.
    text = (long[:-1] + "y") * 10
    x, y = tok.token_id("x"), tok.token_id("y")
    expected = [{"x": x, "y": y}[letter] for letter in text]
    if long.endswith("y"):
        # It occurs, but for the last letter.
        expected = [tok.token_id(long)] * 10
    ids = tok.encode(text)
    assert ids[-len(expected) :] == expected
    assert tok.count(text) == len(ids) == len(tok.sample(text, 1, 50.0, seed=3)[0])
    assert tok.decode(ids) == text
    appender = tok.appender()
    for start in range(0, len(text), 10_000):
        appender.append(text[start : start + 10_000])
        known = text[: start + 10_000]
        if start % 400_000 == 0:
            assert appender.count() == tok.count(known)
    assert appender.count() == len(ids)
    assert tok.encoding(text[:250_000]).ids == tok.encode(text[:250_000])


def test_many_added_tokens_are_written_as_json_writes_them(tmp_path: Path) -> None:
    tokens = [f"<|{number}|>" for number in range(3000)] + [
        '"quoted"',
        "\u2028é\\",
        'x"special_tokens": {y',
        "\x01\x02",
    ]
    tok = bp.train({"low": 5}, vocab_size=258).with_added_tokens(tokens, special=True)
    tok = tok.with_added_tokens([bp.AddedToken('"added_tokens": [', tok.vocab_size, lstrip=True)])
    tok.save(tmp_path)
    for name, indent in (("tokenizer.json", 1), (manifest.NAME, 2)):
        text = (tmp_path / name).read_text("utf-8")
        assert text.rstrip("\n") == json.dumps(json.loads(text), ensure_ascii=False, indent=indent)
    assert json.loads((tmp_path / manifest.NAME).read_bytes())["special_tokens"] == tok.special_tokens
    assert bp.load(tmp_path) == tok
    with pytest.raises(bp.FormatError, match="'lo' is a token of the vocabulary, with the id 256"):
        tok.with_added_tokens(["new", "lo"])
