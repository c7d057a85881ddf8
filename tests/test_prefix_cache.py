"""`PrefixCache`: the ids of `encode`, whatever was cached; in bounded memory, shared by threads."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from fuzz import drawn

import bytepair as bp

BLOCK = 4096


@pytest.fixture(scope="module")
def tok() -> bp.Tokenizer:
    return bp.train({"low": 5, " low": 4, "lower": 2}, vocab_size=262, split="gpt2", special_tokens=["<|end|>"])


def test_a_growing_conversation_is_found_up_to_its_last_blocks(tok: bp.Tokenizer) -> None:
    cache, text = bp.PrefixCache(tok), ""
    for turn in range(40):
        text += f"user: low lower {turn} " * 20
        assert cache.encode(text).tolist() == tok.encode(text)
    figures = cache.figures()
    assert figures["texts"] == 40
    assert figures["hits"] > 20
    # All but the first block, and what each text adds to it.
    assert figures["found"] > figures["bytes"] * 0.6
    assert figures["blocks"] == len(text) // BLOCK


def test_texts_that_begin_alike_share_memory(tok: bp.Tokenizer) -> None:
    cache, system = bp.PrefixCache(tok), "low lower " * 5000
    cache.encode(system)
    before = cache.figures()["memory"]
    for user in range(20):
        cache.encode(f"{system} user {user}")
    assert cache.figures()["memory"] <= before + 20 * 3 * BLOCK
    assert cache.figures()["hits"] == 20


def test_memory_is_bounded_and_ids_stay_right(tok: bp.Tokenizer) -> None:
    cache = bp.PrefixCache(tok, bytes=1 << 17)
    texts = [f"{number} low lower " * 3000 for number in range(12)]
    for text in texts * 2:
        assert np.array_equal(cache.encode(text), tok.encode_array(text))
        assert cache.figures()["memory"] <= 1 << 17
    assert cache.figures()["evicted"] > 0
    # The latest text is still there in part, or its first blocks are.
    hits = cache.figures()["hits"]
    cache.encode(texts[-1])
    assert cache.figures()["hits"] == hits + 1


def test_text_without_cuts_is_encoded_as_a_whole() -> None:
    tok = bp.train({"aaaa": 5}, vocab_size=258)
    cache, text = bp.PrefixCache(tok), "a" * 10_001
    for _ in range(2):
        assert cache.encode(text).tolist() == tok.encode(text)
        assert cache.count(text) == tok.count(text)
    assert cache.figures()["found"] == 0


def test_special_tokens_are_those_of_the_policy(tok: bp.Tokenizer) -> None:
    text = "low<|end|> lower" * 2000
    for special in ("allow", "text"):
        cache = bp.PrefixCache(tok, special=special)
        for end in (len(text), len(text) - 5, 9000, len(text)):
            assert cache.encode(text[:end]).tolist() == tok.encode(text[:end], special=special)
    cache = bp.PrefixCache(tok)
    with pytest.raises(bp.SpecialTokenError) as got:
        cache.encode(text)
    with pytest.raises(bp.SpecialTokenError) as expected:
        tok.encode(text)
    assert (str(got.value), got.value.byte) == (str(expected.value), expected.value.byte)


def test_errors_are_those_of_encode_and_leave_the_cache_whole(tok: bp.Tokenizer) -> None:
    cache, text = bp.PrefixCache(tok), "löw lower " * 2000
    cache.encode(text)
    wrongs: list[str | bytes] = [text.encode() + b"\xff", b"l\xff" + text.encode(), text + "\ud800", "\ud800" + text]
    for wrong in wrongs:
        with pytest.raises(bp.EncodeError) as got:
            cache.encode(wrong)
        with pytest.raises(bp.EncodeError) as expected:
            tok.encode(wrong)
        places = [(error.value.byte, error.value.character) for error in (got, expected)]
        assert (str(got.value), places[0]) == (str(expected.value), places[1])
    with pytest.raises(TypeError):
        cache.encode(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="too small"):
        bp.PrefixCache(tok, bytes=10)
    assert cache.encode(text + "x").tolist() == tok.encode(text + "x")
    cache.clear()
    assert cache.figures()["blocks"] == cache.figures()["memory"] == 0
    assert cache.encode(text).tolist() == tok.encode(text)


def test_blocks_that_differ_where_the_hash_does_not_look(tok: bp.Tokenizer) -> None:
    cache = bp.PrefixCache(tok)
    for number in range(50):
        text = "low " * 100 + f"{number:4}" + "low " * 2000
        assert cache.encode(text).tolist() == tok.encode(text)
    # Eight first blocks, and the second one of each text, which waits for its turn to go.
    assert cache.figures()["blocks"] <= 8 + 50


def test_threads_share_a_cache(tok: bp.Tokenizer) -> None:
    cache = bp.PrefixCache(tok, bytes=1 << 18)
    base = ["low lower " * 3000, "lower low\n" * 4000]
    expected = {
        (base_at, end): tok.encode(base[base_at][:end]) for base_at in (0, 1) for end in range(8000, 30_000, 2500)
    }
    wrong: list[object] = []

    def work(seed: int) -> None:
        chosen = random.Random(seed)
        for _ in range(30):
            (which, end), ids = chosen.choice(list(expected.items()))
            if cache.encode(base[which][:end]).tolist() != ids:
                wrong.append((which, end))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert cache.figures()["hits"] > 50


@pytest.mark.parametrize("words", ["low lower ", "lów ", "lów 日本 ", "lów 日本 😀 "])
def test_bytes_and_str_of_one_text_share_blocks(tok: bp.Tokenizer, words: str) -> None:
    cache, text = bp.PrefixCache(tok), words * 4000
    # Blocks end in different parts of a character. A block that is not there ends what is found.
    for shift in range(5):
        for end in (len(text) // 2, len(text)):
            one = "l" * shift + text[:end]
            for given in (one, one.encode(), one + words, (one + words).encode()):
                assert cache.encode(given).tolist() == tok.encode(given)
                assert cache.count(given) == len(tok.encode(given))
    figures = cache.figures()
    assert figures["blocks"] == sum((shift + len((text + words).encode())) // BLOCK for shift in range(5))
    assert figures["found"] > figures["bytes"] * 0.7


def test_drawn_tokenizers_are_of_every_kind() -> None:
    kinds = {type(drawn.tokenizer(random.Random(number))[0].spec.model).__name__ for number in range(60)}
    assert {"BytePair", "Unigram", "WordPiece"} <= kinds
