"""Rank files that are known by their hash: the stages of a published encoding, the split pattern of a model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import encodings

if TYPE_CHECKING:
    from pathlib import Path


def test_a_published_rank_file_is_recognised(
    tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tok.save(tmp_path / "any-name.tiktoken", drop=("split", "special_tokens"))[0]
    data = path.read_bytes()
    special = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    for name in ("o200k_base", "o200k_harmony"):
        known = encodings.ENCODINGS[name]
        monkeypatch.setitem(encodings.ENCODINGS, name, known._replace(sha256=hashlib.sha256(data).hexdigest()))
    loaded = bp.load(path)
    assert loaded == bp.load(path, split="o200k", special_tokens=special)
    # An argument of the call counts.
    assert bp.load(path, special_tokens={"<|x|>": 300_000}).special_tokens == {"<|x|>": 300_000}
    assert bp.load(path, special_tokens={}).special_tokens == {}
    assert bp.load(path, split="gpt2") == bp.load(path, split="gpt2", special_tokens={})
    assert bp.lint(path).codes == bp.lint(loaded).codes
    # One line less is another file, and no pattern is guessed.
    path = tmp_path / "other.tiktoken"
    path.write_bytes(data[: data.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(bp.FormatError, match="this is none of the published ones") as caught:
        bp.load(path)
    for remedy in (caught.value.remedy, caught.value.cli_remedy):
        assert "cl100k, gpt2, llama3, none, o200k, qwen2" in str(remedy)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("gpt-2", ["It", "'", "S", " 1234"]),
        ("llama3", ["It", "'S", " ", "123", "4"]),
        ("qwen35", ["k\u0301a", " ", "1", "2"]),
        ("qwen2", ["k", "\u0301a", " ", "1", "2"]),
        ("kimi-k2", ["ab", "\u4e2d", "12"]),
        ("llama4", ["camel", "Case", " ", "1"]),
    ],
)
def test_a_rank_file_of_a_model_has_its_pattern(
    tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch, name: str, pieces: list[str]
) -> None:
    assert name in encodings._RANKS_OF_MODELS.values()
    path = tok.save(tmp_path / "any-name.tiktoken", drop=("split", "special_tokens"))[0]
    monkeypatch.setitem(encodings._RANKS_OF_MODELS, hashlib.sha256(path.read_bytes()).hexdigest(), name)
    with pytest.warns(bp.TokenizerWarning, match="does not hold the special tokens"):
        assert bp.load(path).pieces("".join(pieces)) == pieces
