"""Rows move with their tokens, for all ids; new rows are initialized as specified."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import bytepair as bp


@pytest.fixture(scope="module")
def grown(tok: bp.Tokenizer, sources: list[str]) -> bp.Tokenizer:
    return bp.extend(tok, iter(sources), 2100)


def matrix_of(tok: bp.Tokenizer, dtype: Any = np.float32, dim: int = 8) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((tok.vocab_size, dim)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_new_rows_are_means_of_their_parts(tok: bp.Tokenizer, grown: bp.Tokenizer, dtype: Any) -> None:
    matrix = matrix_of(tok, dtype)
    before = matrix.copy()
    result = bp.resize_embeddings(matrix, tok, grown)
    assert (result.shape, result.dtype) == ((2100, 8), dtype)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(result[:2000], matrix)
    naive = tok.encoder("naive")
    for id in range(2000, 2100):
        parts = naive.encode_piece(grown.token_bytes(id))
        expected = matrix[parts].astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(result[id], expected.astype(dtype), rtol=1e-12)


def test_rows_follow_their_tokens_when_ids_move(tok: bp.Tokenizer) -> None:
    matrix = matrix_of(tok)
    small, ids = bp.prune(tok, 700)
    result = bp.resize_embeddings(matrix, tok, small)
    for id, place in enumerate(ids):
        if place >= 0:
            np.testing.assert_array_equal(result[place], matrix[id])
    # And back: what went is made of its parts, the rest is as it was.
    back = bp.resize_embeddings(result, small, tok)
    np.testing.assert_array_equal(back[ids >= 0], matrix[ids >= 0])


def test_other_fills(tok: bp.Tokenizer, grown: bp.Tokenizer) -> None:
    matrix = matrix_of(tok)
    assert not bp.resize_embeddings(matrix, tok, grown, fill="zeros")[2000:].any()
    mean = matrix.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(bp.resize_embeddings(matrix, tok, grown, fill="mean")[2000:], [mean] * 100, rtol=1e-6)
    lengths = bp.resize_embeddings(matrix, tok, grown, fill=lambda token: np.full(8, len(token)))
    assert lengths[2000:, 0].tolist() == [len(grown.token_bytes(id)) for id in range(2000, 2100)]
    counts = np.arange(2000)[:, None]
    assert bp.resize_embeddings(counts, tok, grown, fill="zeros")[:, 0].tolist() == [*range(2000), *[0] * 100]


def test_added_tokens_go_by_content(tok: bp.Tokenizer) -> None:
    matrix = matrix_of(tok)
    added = (bp.AddedToken("<|user|>", 2000), bp.AddedToken("def self", 2003), bp.AddedToken("<|end|>", 2005))
    other = bp.Tokenizer(tok.spec.replace(added_tokens=added))
    result = bp.resize_embeddings(matrix, tok, other)
    np.testing.assert_array_equal(result[[2000, 2005]], matrix[[tok.token_id("<|user|>"), tok.token_id("<|end|>")]])
    # Summed as float64 and rounded once to float32.
    mean = matrix[tok.encode("def self")].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(result[2003], mean, rtol=float(np.finfo(np.float32).eps))
    # Holes, one of them where a token was.
    assert not result[[1998, 1999, 2001, 2002, 2004]].any()


def test_padding(tok: bp.Tokenizer, grown: bp.Tokenizer) -> None:
    matrix = matrix_of(tok)
    padded = np.concatenate([matrix, np.full((48, 8), 7, np.float32)])
    with pytest.raises(bp.FormatError, match="48 more") as raised:
        bp.resize_embeddings(padded, tok, grown)
    assert "rows=2100" in raised.value.remedy
    result = bp.resize_embeddings(padded, tok, grown, rows=2176)
    assert result.shape == (2176, 8)
    np.testing.assert_array_equal(result[:2100], bp.resize_embeddings(matrix, tok, grown))
    assert not result[2100:].any()


def test_what_does_not_fit_is_refused(tok: bp.Tokenizer, grown: bp.Tokenizer) -> None:
    matrix = matrix_of(tok)
    for wrong, options, what in (
        (matrix[:, 0], {}, "1 dimensions"),
        (matrix[:1999], {}, "1999 rows"),
        (matrix, {"rows": 2099}, "fewer than the 2100"),
        (matrix.astype(np.int8), {}, "a mean of int8"),
        (matrix.astype(bool), {"fill": "mean"}, "a mean of bool"),
        (matrix, {"fill": lambda token: [len(token)]}, r"shape \(1,\)"),
    ):
        with pytest.raises(bp.FormatError, match=what):
            bp.resize_embeddings(wrong, tok, grown, **options)
    with pytest.raises(ValueError, match="fill='median' is unknown"):
        bp.resize_embeddings(matrix, tok, grown, fill="median")  # type: ignore[arg-type]


def test_no_second_matrix_is_made(tok: bp.Tokenizer, grown: bp.Tokenizer) -> None:
    matrix = matrix_of(tok, dim=2048)
    for fill in ("mean_of_parts", "zeros"):
        tracemalloc.start()
        result = bp.resize_embeddings(matrix, tok, grown, fill=fill)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < result.nbytes * 1.2
