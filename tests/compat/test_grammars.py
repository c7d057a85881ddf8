"""Libraries for grammars take the tokens, and their masks agree with the trie; one that is not there is skipped."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bytepair as bp

EOS = "<|endoftext|>"
TEXTS = ["low lower lowest", "a é 日本 😀\n\n  b", '{"key": 12, "other": "low"}']


@pytest.fixture(scope="module")
def grammar_tok() -> bp.Tokenizer:
    return bp.train(iter(TEXTS * 3), vocab_size=290, special_tokens=[EOS], split="gpt2")


def test_llguidance_has_the_same_tokens_and_ids(grammar_tok: bp.Tokenizer) -> None:
    pytest.importorskip("llguidance")
    from bytepair.compat.llguidance import ll_tokenizer

    tok = grammar_tok
    made = ll_tokenizer(tok, eos=EOS)
    assert (made.vocab_size, made.eos_token) == (tok.vocab_size, tok.token_id(EOS))
    for text in TEXTS:
        ids = tok.encode(text)
        assert made.tokenize_str(text) == ids
        assert made.decode_bytes(ids) == text.encode()
    assert made.is_special_token(tok.token_id(EOS))
    # Text that spells a special token stays text.
    assert made.tokenize_str(EOS) == tok.encode(EOS, special="text")


def test_masks_of_llguidance_are_subtrees_of_the_trie(grammar_tok: bp.Tokenizer) -> None:
    llguidance = pytest.importorskip("llguidance")
    from bytepair.compat.llguidance import ll_tokenizer

    tok, trie = grammar_tok, grammar_tok.trie()
    matcher = llguidance.LLMatcher(ll_tokenizer(tok, eos=EOS), llguidance.LLMatcher.grammar_from_regex("(low|q).*"))
    mask = np.frombuffer(matcher.compute_bitmask(), np.uint32)
    allowed = set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())
    prefixes = {id for end in range(1, 3) for id in trie.at(b"low"[:end]).tolist()}
    under = [*trie.under(b"low").tolist(), *trie.under(b"q").tolist()]
    longer = {id for id in under if b"\n" not in tok.token_bytes(id)}
    assert allowed == prefixes | longer
    # Masks of the same layout are combined word by word.
    both = mask[: len(tok.next_mask([]))] & tok.next_mask([])
    assert both.any()
    assert set(np.flatnonzero(np.unpackbits(both.view(np.uint8), bitorder="little")).tolist()) <= allowed


def test_outlines_has_the_same_tokens(grammar_tok: bp.Tokenizer) -> None:
    outlines_core = pytest.importorskip("outlines_core")
    from bytepair.compat.outlines import vocabulary

    tok = grammar_tok
    made = vocabulary(tok, eos=EOS)
    assert made.get_eos_token_id() == tok.token_id(EOS)
    for token in {tok.token_bytes(id) for id in range(tok.vocab_size) if id != tok.token_id(EOS)}:
        assert made.get(token) == tok.trie().at(token).tolist()
    guide = outlines_core.Guide(outlines_core.Index("low(er)?", made))
    assert sorted(guide.get_tokens()) == sorted(
        id for id in range(tok.vocab_size) if b"lower".startswith(tok.token_bytes(id)) and id != tok.token_id(EOS)
    )


def test_xgrammar_has_the_same_tokens(grammar_tok: bp.Tokenizer) -> None:
    xgrammar = pytest.importorskip("xgrammar")
    from bytepair.compat.xgrammar import tokenizer_info

    tok = grammar_tok
    made = tokenizer_info(tok, stop=[EOS])
    assert (made.vocab_size, made.stop_token_ids) == (tok.vocab_size, [tok.token_id(EOS)])
    assert [made.decoded_vocab[id] for id in range(256, 289)] == [tok.token_bytes(id) for id in range(256, 289)]
    compiled = xgrammar.GrammarCompiler(made).compile_json_schema(json.dumps({"type": "object"}))
    matcher = xgrammar.GrammarMatcher(compiled)
    mask = xgrammar.allocate_token_bitmask(1, tok.vocab_size)
    matcher.fill_next_token_bitmask(mask)
    # Its words have the layout of `next_mask`.
    words = mask.numpy().view(np.uint32)[0]
    assert words.shape == tok.next_mask([]).shape
    assert words[ord("{") // 32] >> ord("{") % 32 & 1
