"""A tokenizer of each kind, with stages that change, delete or insert text."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import bytepair as bp
from bytepair.model.models import BytePair, Characters, Unigram, WordLevel, WordPiece
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

WORDS = ["low", "lower", "lowest", "new", "newer", "café", "東京", "def", "return", "end"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@cache
def models() -> dict[str, bp.Tokenizer]:
    counts = {word: 9 - place % 5 for place, word in enumerate(WORDS)}
    ranks = bp.train(counts, 280, split="gpt2", special_tokens=["<|end|>", "<|user|>"])
    merges = bp.train({"lo": 3, "low": 5, " the": 4, "é": 9}, 262, special_tokens=["<|end|>"])
    merged = ranks.spec.byte_pair
    return {
        "ranks": bp.Tokenizer(ranks.spec.replace(model=replace(merged, merges=None))),
        "merges": merges.with_added_tokens(["def", "é!"]),
        "characters": _characters(),
        "WordPiece": _word_piece(),
        "Unigram": _unigram(),
        "WordLevel": bp.Tokenizer(
            TokenizerSpec(
                WordLevel(tuple(word.encode() for word in ["<unk>", *WORDS]), tuple(range(len(WORDS) + 1))),
                pre_tokenizers=(spell_step({"type": "WhitespaceSplit"}),),
            )
        ),
    }


def _characters() -> bp.Tokenizer:
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *_LETTERS, "▁", "lo", "low", "▁low"]
    ids = {token: id for id, token in enumerate(tokens)}
    pairs = [("l", "o"), ("lo", "w"), ("▁", "low")]
    return bp.Tokenizer(
        TokenizerSpec(
            BytePair(
                tuple(token.encode() for token in tokens),
                tuple(range(len(tokens))),
                tuple((ids[left], ids[right]) for left, right in pairs),
                alphabet=Characters(unk_token="<unk>", byte_fallback=True),
            ),
            added_tokens=(AddedToken("<unk>", 0, special=True),),
            normalizers=(
                spell_step({"type": "Prepend", "prepend": "▁"}),
                spell_step({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
            ),
        )
    )


def _word_piece() -> bp.Tokenizer:
    tokens = ["[UNK]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS), "low", "##er", "!", "東"]
    return bp.Tokenizer(
        TokenizerSpec(
            WordPiece(tuple(token.encode() for token in tokens), tuple(range(len(tokens)))),
            added_tokens=(AddedToken("[UNK]", 0, special=True),),
            normalizers=(
                spell_step(
                    {
                        "type": "BertNormalizer",
                        "clean_text": True,
                        "handle_chinese_chars": True,
                        "strip_accents": None,
                        "lowercase": True,
                    }
                ),
            ),
            pre_tokenizers=(spell_step({"type": "BertPreTokenizer"}),),
        )
    )


def _unigram() -> bp.Tokenizer:
    tokens = ["<unk>", "▁", *_LETTERS, "low", "▁low", "er", "é"]
    return bp.Tokenizer(
        TokenizerSpec(
            Unigram(
                tuple(token.encode() for token in tokens),
                tuple(range(len(tokens))),
                tuple(-float(place + 1) for place in range(len(tokens))),
                unk_id=0,
            ),
            normalizers=(spell_step({"type": "NFKC"}),),
            pre_tokenizers=(
                spell_step({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}),
            ),
        )
    )
