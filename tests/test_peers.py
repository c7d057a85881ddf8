"""The ids of the peers from the package index, with vocabularies that these tests train: no data, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tiktoken
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

import bytepair as bp
from bytepair.formats import hf_stages
from bytepair.model import semantics
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

# tiktoken's own spelling of these patterns, possessive quantifiers and all.
TIKTOKEN = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k": bp.SPLIT_PATTERNS["o200k"],
}


@pytest.mark.parametrize(
    "split", ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "none", r"[\p{L}\p{N}]+|[^\s\p{L}\p{N}]+|\s+"]
)
def test_tokenizers_reads_what_was_written(tmp_path: Path, sources: list[str], split: str) -> None:
    tok = bp.train(iter(sources), 1500, split=split, special_tokens=["<|end|>"])
    tok.save(tmp_path)
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert peer.get_vocab_size() == len(tok)
    for text in [*HOSTILE, *sources, "a<|end|>b"]:
        ids = tok.encode(text, special="allow")
        assert ids == peer.encode(text).ids
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False) == text


def test_special_tokens_keep_their_ids_in_tokenizers(tmp_path: Path) -> None:
    added = (bp.AddedToken("<b>", 300), bp.AddedToken("<c>", 301, special=False), bp.AddedToken("<a>", 900))
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.train({"low": 5}, 258).spec.byte_pair, added_tokens=added))
    tok.save(tmp_path)
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert peer.encode("low<a>x<b><c>").ids == tok.encode("low<a>x<b><c>", special="allow") == [257, 900, 120, 300, 301]


@pytest.mark.parametrize("special", [[], ["<|end|>", "<|user|>"]])
def test_training_gives_what_tokenizers_trains(tmp_path: Path, sources: list[str], special: list[str]) -> None:
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        min_frequency=2,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator(sources, trainer)
    peer.save(str(tmp_path / "peer.json"))
    theirs = bp.Tokenizer.from_file(tmp_path / "peer.json")
    ours = bp.train(iter(sources), 1500, split="gpt2", special_tokens=special, special_ids="first", byte_order="gpt2")
    assert ours.spec.byte_pair == theirs.spec.byte_pair
    assert ours.special_tokens == theirs.special_tokens
    for text in HOSTILE:
        assert ours.encode(text) == peer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("split", TIKTOKEN)
def test_tiktoken_gives_the_same_ids(sources: list[str], split: str) -> None:
    tok = bp.train(iter(sources), 1500, split=split, special_tokens=["<|end|>"])
    model = semantics.to_ranks(tok.spec.byte_pair)
    peer = tiktoken.Encoding(
        "test",
        pat_str=TIKTOKEN[split],
        mergeable_ranks=dict(zip(model.tokens, model.ids, strict=True)),
        special_tokens=tok.special_tokens,
    )
    own_spelling = bp.Tokenizer(bp.TokenizerSpec(model, split=(TIKTOKEN[split],), added_tokens=tok.spec.added_tokens))
    for text in [*HOSTILE, *sources, "a<|end|>b"]:
        ids = peer.encode(text, allowed_special="all")
        assert ids == tok.encode(text, special="allow") == own_spelling.encode(text, special="allow")
        assert peer.decode(ids) == tok.decode(ids)
        assert peer.encode_ordinary(text) == tok.encode(text, special="text")


def test_a_space_in_front_is_that_of_tokenizers(tmp_path: Path) -> None:
    spec = bp.train({"low": 5, " low": 5}, 259, split="gpt2").spec
    added = (bp.AddedToken("<x>", 300),)
    tok = bp.Tokenizer(bp.TokenizerSpec(spec.byte_pair, split=spec.split, added_tokens=added, prefix_space=True))
    tok.save(tmp_path)
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ["low", "\tlow", " low", "\u00a0low", "\nlow", "low<x>low", "low<x>\tlow<x> low", "", "<x>"]:
        assert tok.encode(text, special="allow") == peer.encode(text).ids, text


def test_flags_of_added_tokens_are_those_of_tokenizers(tmp_path: Path) -> None:
    model = bp.train({"low": 5, "cat": 3}, 260).spec.byte_pair
    texts = ["a <m> b", "<m><m>", " <m>  <m> ", "x<m>y <m>", "\n<m>\t", "é<m>é", "_<m>_", "<m", "a<m>1 <m>-", ""]
    for flags in range(16):
        single_word, lstrip, rstrip, normalized = (bool(flags >> place & 1) for place in range(4))
        token = bp.AddedToken("<m>", 300, True, single_word, lstrip, rstrip, normalized)
        tok = bp.Tokenizer(
            bp.TokenizerSpec(model, split=(hf_stages.GPT2,), added_tokens=(token,), normalizers=("NFC",))
        )
        tok.save(tmp_path / str(flags))
        peer = tokenizers.Tokenizer.from_file(str(tmp_path / str(flags) / "tokenizer.json"))
        for text in texts:
            assert tok.encode(text, special="allow") == peer.encode(text).ids, (token, text)
