"""Ids back to text, at once and as a stream."""

from __future__ import annotations

import subprocess
import sys
from enum import IntEnum
from itertools import product, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fuzz.long_calls import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


class Letter(IntEnum):
    B = 98


@given(st.lists(st.integers(0, 1999)))
@settings(max_examples=300)
def test_a_stream_says_what_decoding_at_once_says(tok: bp.Tokenizer, ids: list[int]) -> None:
    stream = tok.decode_stream()
    text = ""
    for id in ids:
        text += stream.push(id)
        assert len(stream.pending) < 4
    text += stream.finish()
    assert text == tok.decode(ids) == tok.decode_bytes(ids).decode(errors="replace")
    assert stream.finish() == ""


def test_a_stream_never_gives_half_a_character(tok: bp.Tokenizer) -> None:
    stream = tok.decode_stream()
    assert [stream.push(id) for id in "🦊".encode()] == ["", "", "", "🦊"]
    assert stream.push(0xC3) == ""
    assert stream.pending == b"\xc3"
    assert stream.finish() == "�"


def certain(data: bytes) -> str:
    """The text that all continuations of these bytes begin with: found by trying continuations."""
    tails = [bytes([second, *rest]) for second in (0x80, 0x90, 0xA0) for rest in ((), (0x80,), (0x80, 0x80))]
    texts = [(data + tail).decode(errors="replace") for tail in [b"a", *tails]]
    shared = takewhile(lambda column: len(set(column)) == 1, zip(*texts, strict=False))
    return "".join(column[0] for column in shared)


def test_each_push_gives_all_that_is_certain_and_no_more() -> None:
    """All short sequences of bytes and of tokens that make, begin or break characters."""
    tok = bp.train({"🦊": 9, "🌍": 9}, vocab_size=261, split="none")
    alphabet = [0x61, 0x80, 0xA0, 0xBF, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xFF, *range(256, 261)]
    assert {tok.token_bytes(id) for id in alphabet[-5:]} >= {b"\xf0\x9f", "🦊".encode()}
    sequences = [ids for length in (1, 2, 3) for ids in product(alphabet, repeat=length)]
    together = tok.decode_stream_batch(len(sequences))
    texts = [""] * len(sequences)
    for place in range(3):
        pushed = together.push([ids[place] if place < len(ids) else -1 for ids in sequences])
        texts = list(map(str.__add__, texts, pushed))
    for ids, text in zip(sequences, texts, strict=True):
        alone = tok.decode_stream()
        said = ""
        for count, id in enumerate(ids, 1):
            said += alone.push(id)
            data = tok.decode_bytes(ids[:count])
            assert said == certain(data)
            assert alone.pending == data[len(data) - len(alone.pending) :]
        assert text == said
    assert list(map(str.__add__, texts, together.finish())) == tok.decode_batch(sequences)


@given(st.lists(st.lists(st.integers(0, 1999), max_size=12), max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_rows_that_advance_in_any_steps_say_what_decoding_at_once_says(
    tok: bp.Tokenizer, sequences: list[list[int]], random: Random
) -> None:
    """Steps of nothing, one id or several, for all rows or for some, as lists or as an array."""
    for skip in (False, True):
        streams = tok.decode_stream_batch(len(sequences), skip_special_tokens=skip)
        assert len(streams) == len(sequences)
        texts = [""] * len(sequences)
        done = [0] * len(sequences)
        while any(at < len(ids) for at, ids in zip(done, sequences, strict=True)):
            rows = [row for row in range(len(sequences)) if random.random() < 0.7]
            step: list[Any] = []
            for row in rows:
                taken = sequences[row][done[row] : done[row] + random.choice([0, 1, 1, 3])]
                done[row] += len(taken)
                step.append(taken[0] if len(taken) == 1 and random.random() < 0.8 else taken or None)
            before = dict(zip(rows, streams.push(step, rows), strict=True))
            texts = [text + before.get(row, "") for row, text in enumerate(texts)]
            assert all(len(half) < 4 for half in streams.pending)
        texts = list(map(str.__add__, texts, streams.finish()))
        assert texts == tok.decode_batch(sequences, skip_special_tokens=skip)
        assert streams.pending == [b""] * len(sequences)


@given(st.lists(st.integers(0, 1999)), st.integers(0, 9))
@settings(max_examples=100)
def test_several_ids_at_once_are_those_ids_one_by_one(tok: bp.Tokenizer, ids: list[int], size: int) -> None:
    alone, together = tok.decode_stream(), tok.decode_stream()
    one_by_one = "".join(map(alone.push, ids))
    steps = [ids[at : at + size + 1] for at in range(0, len(ids), size + 1)]
    assert "".join(map(together.push, steps)) == one_by_one
    assert together.pending == alone.pending
    assert together.push([]) == ""


def test_every_kind_of_ids_is_taken(tok: bp.Tokenizer) -> None:
    flat = [97, -1, 0xC3]
    for kind in (list, tuple, iter, np.array, lambda ids: np.array(ids, np.int32), lambda ids: list(np.array(ids))):
        assert tok.decode_stream_batch(3).push(kind(flat)) == ["a", "", ""]
    padded = np.array([[97, 98], [99, -1], [-1, -1]])
    assert tok.decode_stream_batch(3).push(padded) == tok.decode_stream_batch(3).push(list(padded)) == ["ab", "c", ""]
    assert tok.decode_stream_batch(3).push([np.uint32(97), np.array([98, 99]), (100,)], rows=np.array([2, 0, 2])) == [
        "a",
        "bc",
        "d",
    ]
    for one in (97, np.int64(97), [97], np.array([97])):
        assert tok.decode_stream().push(one) == "a"


def test_rows_come_and_go(tok: bp.Tokenizer) -> None:
    streams = tok.decode_stream_batch(3)
    streams.push([0xC3] * 3)
    assert streams.pending == [b"\xc3"] * 3
    assert streams.finish(1) == "�"
    streams.reset(2)
    assert streams.pending == [b"\xc3", b"", b""]
    assert streams.push([0xA9, 97, 98]) == ["é", "a", "b"]
    streams.push([0xC3] * 3)
    streams.reset()
    assert streams.finish() == [""] * 3
    assert tok.decode_stream_batch(0).push([]) == tok.decode_stream_batch(0).finish() == []


@pytest.mark.parametrize("bad", [2000, -2, 2**32, 2**70, [97, 2000]])
def test_an_id_that_no_token_has_changes_no_stream(tok: bp.Tokenizer, bad: Any) -> None:
    streams = tok.decode_stream_batch(3)
    streams.push([0xC3] * 3)
    with pytest.raises(bp.InvalidIdError, match="no token has id") as caught:
        streams.push([0xA9, bad, 97])
    assert caught.value.row == 1
    with pytest.raises(bp.InvalidIdError) as caught:
        streams.push([0xA9, bad], rows=[0, 2])
    assert caught.value.row == 2
    assert streams.pending == [b"\xc3"] * 3
    alone = tok.decode_stream()
    alone.push(0xC3)
    with pytest.raises(bp.InvalidIdError):
        alone.push(bad)
    assert alone.pending == b"\xc3"


def test_what_does_not_fit_the_rows_changes_no_stream(tok: bp.Tokenizer) -> None:
    streams = tok.decode_stream_batch(2)
    for ids, rows in [([0xC3], None), ([0xC3] * 3, None), ([0xC3], [0, 1])]:
        with pytest.raises(ValueError, match="entries of ids"):
            streams.push(ids, rows)
    for row in (2, -1, 2**70):
        for call in (streams.finish, streams.reset, lambda row: streams.push([0xC3, 0xC3], rows=[0, row])):
            with pytest.raises(IndexError, match=f"row {row} of 2"):
                call(row)
    wrong: list[Any] = [["a", 97], [97, 1.5], [97, [None]], [97, [[97]]], np.array([1.5, 2.5]), 97, None]
    for ids in wrong:
        with pytest.raises(TypeError):
            streams.push(ids)
    with pytest.raises(TypeError):
        streams.finish("a")  # type: ignore[call-overload]
    with pytest.raises(OverflowError):
        tok.decode_stream_batch(-1)
    assert streams.pending == [b"", b""]


def test_what_is_not_utf8(tok: bp.Tokenizer) -> None:
    assert tok.decode([0xFF, 97]) == "�a"
    assert tok.decode([0xFF, 97], "ignore") == "a"
    assert tok.decode_bytes([0xFF, 97]) == b"\xffa"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([0xFF], errors="strict")


@pytest.mark.parametrize("bad", [2000, -1, 2**32, 2**70])
def test_ids_that_no_token_has(tok: bp.Tokenizer, bad: int) -> None:
    for call in (tok.decode, tok.decode_bytes, lambda ids: tok.decode_batch([ids])):
        with pytest.raises(bp.InvalidIdError, match=f"no token has id {bad}") as caught:
            call([97, bad])
        assert caught.value.row == 1
    for single in (tok.token_bytes, tok.decode_stream().push):
        with pytest.raises(bp.InvalidIdError):
            single(bad)
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, ValueError)
    if 0 <= bad < 2**32:
        with pytest.raises(bp.InvalidIdError):
            tok.decode(np.array([bad], dtype=np.uint32))


@pytest.mark.parametrize("many", [3, 1000])
def test_every_kind_of_ids_gives_the_same_text(tok: bp.Tokenizer, sources: list[str], many: int) -> None:
    special = tok.special_tokens["<|end|>"]
    ids = [*tok.encode(sources[0])[:many], special, *tok.encode(sources[1])[:many]]
    array = np.array(ids, dtype=np.uint32)
    expected = tok.decode_bytes(ids)
    assert expected == b"".join(map(tok.token_bytes, ids))
    kinds: list[Any] = [tuple(ids), array, array.astype(np.int64), array.astype(np.uint16), np.repeat(array, 2)[::2]]
    kinds += [
        list(array),
        range(many),
        dict.fromkeys(ids),
        memoryview(array.tobytes()).cast("I"),
        [*ids[:-1], np.int32(ids[-1])],
    ]
    for kind in kinds:
        assert tok.decode_bytes(kind) == b"".join(tok.token_bytes(int(id)) for id in kind)
        text = tok.decode(kind, skip_special_tokens=True)
        assert text == b"".join(tok.token_bytes(int(id)) for id in kind if id != special).decode(errors="replace")
    assert tok.decode([True]) == "\x01"
    assert tok.decode_batch([ids, array, []]) == [expected.decode(errors="replace")] * 2 + [""]


@pytest.mark.parametrize("model", ["t5", "wordpiece", "word level"])
def test_every_kind_of_ids_gives_the_same_text_by_a_decoder(model: str) -> None:
    tok = tokenizers()[model]
    ids = tok.encode("slower lowest " * 300)
    array = np.array(ids, np.uint32)
    kinds: list[Any] = [tuple(ids), array, array.astype(np.int64), array.astype(np.uint16), np.repeat(array, 2)[::2]]
    for kind in [*kinds, list(array), iter(ids), array[:, None].ravel()]:
        assert tok.decode(kind) == tok.decode(ids)
    for kind in kinds:
        assert tok.decode_stream().push(kind) == tok.decode_stream().push(ids)
    for bad in (-1, 2**32, 10**6):
        for kind in ([*ids, bad], (*ids, bad), np.array([*ids, bad])):
            with pytest.raises(bp.InvalidIdError, match=f"no token has id {bad}") as caught:
                tok.decode(kind)
            assert caught.value.row == len(ids)


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
def test_the_first_id_at_fault_is_named(tok: bp.Tokenizer, kind: Callable[[list[int]], Any]) -> None:
    ids = [97] * 1000
    ids[700] = 5000
    ids[900] = -7
    with pytest.raises(bp.InvalidIdError, match="no token has id 5000") as caught:
        tok.decode(kind(ids))
    assert caught.value.row == 700


@pytest.mark.parametrize("kind", [list, tuple])
def test_ints_of_every_class_and_number_are_ids(tok: bp.Tokenizer, kind: Callable[[list[int]], Any]) -> None:
    class Own(int):
        def __index__(self) -> int:
            raise AssertionError("an int is its own value")

    ids = [Own(97), True, Letter.B]
    for count in (0, 1, 39, 40, 41, 255, 256, 257, 512, 600):
        assert tok.decode(kind((ids * count)[:count])) == ("a\x01b" * count)[:count]
        for bad in (5000, -7, 2**32 - 1, 2**63, -(2**70)):
            with pytest.raises(bp.InvalidIdError, match=f"no token has id {bad}") as caught:
                tok.decode(kind([*(ids * count)[:count], bad, 97]))
            assert caught.value.row == count


def test_a_length_is_only_a_claim(tok: bp.Tokenizer) -> None:
    for endless in (range(2**62), range(10**11)):
        with pytest.raises(bp.InvalidIdError, match="no token has id 2000"):
            tok.decode(endless)


def test_without_numpy_there_is_an_import_error() -> None:
    """In a process of its own, since imports persist."""
    code = """
import sys
sys.modules["numpy"] = None
import bytepair as bp
tok = bp.train({"low": 5}, vocab_size=258)
for _ in range(2):
    try:
        tok.encode_array("low")
    except ImportError:
        print(tok.decode([97]), tok.decode_batch([[97], (98,)]))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == "a ['a', 'b']\n" * 2


def test_what_is_no_id_is_a_type_error(tok: bp.Tokenizer) -> None:
    for ids in (["a"], [1.5], "ab", 7, None):
        with pytest.raises(TypeError):
            tok.decode(ids)  # type: ignore[arg-type]


def test_tokens_and_ids(tok: bp.Tokenizer) -> None:
    assert [tok.token_id(tok.token_bytes(id)) for id in range(2000)] == list(range(2000))
    assert tok.token_bytes(1998) == b"<|end|>"
    with pytest.raises(bp.InvalidIdError, match="is not a token"):
        tok.token_id("no such token")
