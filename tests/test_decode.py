"""Ids back to text, at once and as a stream."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.lists(st.integers(0, 1999)))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_a_stream_says_what_decoding_at_once_says(tok: bp.Tokenizer, ids: list[int]) -> None:
    stream = tok.stream()
    text = ""
    for id in ids:
        text += stream.push(id)
        assert len(stream.pending) < 4
    text += stream.flush()
    assert text == tok.decode(ids) == tok.decode_bytes(ids).decode(errors="replace")
    assert stream.flush() == ""


def test_a_stream_never_gives_half_a_character(tok: bp.Tokenizer) -> None:
    stream = tok.stream()
    assert [stream.push(id) for id in "🦊".encode()] == ["", "", "", "🦊"]
    assert stream.push(0xC3) == ""
    assert stream.pending == b"\xc3"
    assert stream.flush() == "�"


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
    for single in (tok.token_bytes, tok.stream().push):
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


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
def test_the_first_id_at_fault_is_named(tok: bp.Tokenizer, kind: Callable[[list[int]], Any]) -> None:
    ids = [97] * 1000
    ids[700] = 5000
    ids[900] = -7
    with pytest.raises(bp.InvalidIdError, match="no token has id 5000") as caught:
        tok.decode(kind(ids))
    assert caught.value.row == 700


def test_a_length_is_only_a_claim(tok: bp.Tokenizer) -> None:
    for endless in (range(2**62), range(10**11)):
        with pytest.raises(bp.InvalidIdError, match="no token has id 2000"):
            tok.decode(endless)


def test_without_numpy_there_is_an_import_error() -> None:
    """In a process of its own: what was imported stays."""
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
