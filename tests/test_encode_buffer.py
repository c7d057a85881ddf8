"""Texts of a buffer: each has the ids of the text alone, or a fault of its own."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair import lowlevel
from bytepair._core import find_all

OFFSETS = np.array([0, 3, 10, 14], np.int64)
DATA = np.frombuffer(b"low<|end|>slow", np.uint8)


@pytest.fixture(scope="module")
def end() -> bp.Tokenizer:
    return bp.train({"low": 5, "é": 2}, vocab_size=260, special_tokens=["<|end|>"])


def rows(ids: Any, starts: Any) -> list[list[int]]:
    return [ids[start:end].tolist() for start, end in pairwise(starts)]


def test_rows_are_those_of_encode_in_a_frame(end: bp.Tokenizer) -> None:
    last = end.token_id("<|end|>")
    ids, starts, faults = lowlevel.encode_buffer(
        end, DATA, OFFSETS, special="allow", prefix=(last, 10), suffix=np.array([last])
    )
    assert rows(ids, starts) == [
        [last, 10, *end.encode(text, special="allow"), last] for text in ("low", "<|end|>", "slow")
    ]
    assert [ids.dtype, starts.dtype] == [np.dtype(np.uint32), np.dtype(np.int64)]
    assert (starts[0], faults) == (0, [])
    assert all(array.flags.writeable for array in (ids, starts))


def test_a_gap_stands_behind_each_text(end: bp.Tokenizer) -> None:
    generator = random.Random(11)
    for _ in range(200):
        between = generator.choice([b"\n", b"--", b"\xff\xfe|"])
        texts = [
            generator.choice([b"low", b"", b"slow low", b"<|end|>", b"l\xffw"]) for _ in range(generator.randrange(6))
        ]
        before = generator.randrange(3)
        data = np.frombuffer(b"x" * before + b"".join(text + between for text in texts) + b"y", np.uint8)
        offsets = np.cumsum([before, *(len(text + between) for text in texts)])
        alone = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
        given = lowlevel.encode_buffer(end, data, offsets, prefix=[1], gap=len(between))
        wanted = lowlevel.encode_buffer(end, *alone, prefix=[1])
        assert rows(*given[:2]) == rows(*wanted[:2])
        assert [(row, str(error)) for row, error in given[2]] == [(row, str(error)) for row, error in wanted[2]]
    with pytest.raises(ValueError, match="no room for a gap of 4 bytes"):
        lowlevel.encode_buffer(end, DATA, OFFSETS, gap=4)


def test_all_places_of_some_bytes_are_found() -> None:
    generator = random.Random(12)
    for _ in range(500):
        data = bytes(generator.choices(b"ab", k=generator.randrange(200)))
        wanted = bytes(generator.choices(b"ab", k=generator.randrange(1, 5)))
        slow = [at for at in range(len(data)) if data.startswith(wanted, at)]
        assert find_all(np.frombuffer(data, np.uint8), wanted).tolist() == slow
    with pytest.raises(ValueError, match="wanted is empty"):
        find_all(DATA, b"")


def test_a_fault_has_no_ids_and_its_own_place(end: bp.Tokenizer) -> None:
    texts = [b"low", "é<|end|>".encode(), b"", b"\xc3\xa9\xff", b"low"]
    offsets = np.cumsum([0, *map(len, texts)])
    data = np.frombuffer(b"".join(texts), np.uint8)
    ids, starts, faults = lowlevel.encode_buffer(end, data, offsets, prefix=[1], suffix=[2])
    low = [1, *end.encode("low"), 2]
    assert rows(ids, starts) == [low, [], [1, 2], [], low]
    assert [(row, type(error), error.row, error.byte, error.character) for row, error in faults] == [
        (1, bp.SpecialTokenError, 1, 2, 1),
        (3, bp.EncodeError, 3, 2, 1),
    ]
    replaced = lowlevel.encode_buffer(end, data, offsets, special="text", errors="replace")
    assert rows(*replaced[:2])[3] == end.encode("é\ufffd")
    assert not replaced[2]


def test_a_byte_without_a_token_is_a_fault() -> None:
    spec = bp.TokenizerSpec(bp.BytePair((b"a", b"b"), (0, 1), partial_alphabet=True))
    tok = bp.Tokenizer(spec)
    ids, starts, faults = lowlevel.encode_buffer(tok, np.frombuffer(b"abcab", np.uint8), np.array([0, 2, 3, 5]))
    assert rows(ids, starts) == [[0, 1], [], [0, 1]]
    assert [(row, error.byte) for row, error in faults] == [(1, 0)]


def test_large_buffers_are_as_batches(tok: bp.Tokenizer, sources: list[str]) -> None:
    text = "".join(sources)[:400_000].encode()
    random.seed(5)
    places = sorted(random.sample(range(len(text)), 3000))
    offsets = np.array(places, np.int64)
    texts = [text[start:end] for start, end in pairwise(places)]
    ids, starts, faults = lowlevel.encode_buffer(
        tok, np.frombuffer(text, np.uint8), offsets, special="text", errors="replace"
    )
    expected = lowlevel.encode_batch_flat(tok, texts, special="text", errors="replace")
    assert np.array_equal(ids, expected[0])
    assert np.array_equal(starts, expected[1])
    assert not faults


def test_no_texts_and_empty_ones(end: bp.Tokenizer) -> None:
    none = lowlevel.encode_buffer(end, DATA, np.array([4]))
    assert (none[0].tolist(), none[1].tolist(), none[2]) == ([], [0], [])
    empty = lowlevel.encode_buffer(end, DATA[:0], np.array([0, 0, 0]), suffix=[7])
    assert (empty[0].tolist(), empty[1].tolist()) == ([7, 7], [0, 1, 2])


@pytest.mark.parametrize(
    "offsets", [[], [-1, 3], [0, 15], [3, 2], [0, 14, 3], [2**62, 2**62 + 1], [-(2**63), 3], [0, -(2**63)]]
)
def test_offsets_that_leave_the_data_are_refused(end: bp.Tokenizer, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets"):
        lowlevel.encode_buffer(end, DATA, np.array(offsets, np.int64))


def test_wrong_arguments_are_refused(end: bp.Tokenizer) -> None:
    with pytest.raises(bp.InvalidIdError, match="9999") as caught:
        lowlevel.encode_buffer(end, DATA, OFFSETS, prefix=[1, 9999])
    assert caught.value.row == 1
    with pytest.raises(bp.InvalidIdError):
        lowlevel.encode_buffer(end, DATA, OFFSETS, suffix=[-1])
    with pytest.raises(TypeError):
        lowlevel.encode_buffer(end, DATA.astype(np.int8), OFFSETS)
    with pytest.raises(TypeError):
        lowlevel.encode_buffer(end, DATA, OFFSETS.astype(np.int32))
    with pytest.raises(TypeError):
        lowlevel.encode_buffer(end, DATA[::2], np.array([0, 7]))
    with pytest.raises(ValueError, match="special="):
        lowlevel.encode_buffer(end, DATA, OFFSETS, special="alow")
    with pytest.raises(ValueError, match="errors="):
        lowlevel.encode_buffer(end, DATA, OFFSETS, errors="ignore")  # type: ignore[arg-type]
