"""Rows for another vocabulary: shared tokens keep theirs, others are sums as the definitions of the methods say."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from fuzz.transplant import METHODS, check, matrices, shared, sweep_transplant

import bytepair as bp

WORDS = {"lower": 5, "lowest": 3, "newest": 4, "widest": 2}


@pytest.fixture(scope="module")
def both() -> tuple[bp.Tokenizer, bp.Tokenizer]:
    old = bp.train({"lower": 5, "new": 4}, 262, special_tokens=["<s>", "<pad>"])
    new = bp.train(WORDS, 271, special_tokens=["<s>", "<end>"], special_ids="first")
    return old, new


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_those_of_the_definition(both: tuple[bp.Tokenizer, bp.Tokenizer], method: str) -> None:
    check(*both, method, 1)
    for number in range(5):
        sweep_transplant(Random(f"{method}/{number}"))


def test_a_guide_in_which_the_matrix_can_be_read_off_gives_the_true_rows(
    both: tuple[bp.Tokenizer, bp.Tokenizer],
) -> None:
    old, new = both
    truth = np.random.default_rng(2).standard_normal((new.vocab_size, 4))
    matrix = np.zeros((old.vocab_size, 4))
    for id, same in shared(old, new).items():
        matrix[same] = truth[id]
    # The guide is the same space, turned.
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0]
    result = bp.transplant(matrix, old, new, truth @ turn, method="matching_pursuit", parts=8)
    np.testing.assert_allclose(result, truth, atol=1e-8)


def test_tokens_of_other_models_are_matched_by_their_bytes() -> None:
    text = "the lowest low newest new "
    old = bp.train_wordpiece(iter([text * 9]), 29)
    new = bp.train(WORDS, 262)
    matrix, guide = matrices(old, new)
    result = bp.transplant(matrix, old, new, guide)
    found = bp.align_vocabularies(new, old)
    alike = np.flatnonzero(np.diff(found.offsets) == 1)
    assert len(alike) > 5
    for id in alike.tolist():
        np.testing.assert_array_equal(result[id], matrix[found[id][0]])


def test_pairs_of_added_tokens_and_types(both: tuple[bp.Tokenizer, bp.Tokenizer]) -> None:
    old, new = both
    matrix, guide = matrices(old, new)
    end, pad = new.special_tokens["<end>"], old.special_tokens["<pad>"]
    result = bp.transplant(matrix.astype(np.float16), old, new, guide, pairs={"<end>": "<pad>"})
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result[end], matrix[pad].astype(np.float16))
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(matrix).to(torch.bfloat16)
    result = bp.transplant(tensor, old, new, torch.from_numpy(guide))
    assert (result.dtype, tuple(result.shape)) == (torch.bfloat16, (new.vocab_size, 6))
    assert torch.equal(result[97 + 2], tensor[97])


def test_what_cannot_be_transplanted_is_refused(both: tuple[bp.Tokenizer, bp.Tokenizer]) -> None:
    old, new = both
    matrix, guide = matrices(old, new)
    for arguments, says in (
        ((matrix, old, new), "needs a guide"),
        ((matrix[:9], old, new, guide), "the matrix has 9 rows"),
        ((matrix, old, new, guide[:9]), "the guide has 9 rows"),
        ((matrix[0], old, new, guide), "1 dimensions"),
        ((matrix.astype(int), old, new, guide), "int64"),
        ((matrix, old, new, guide * 0), "share no token that the guide"),
    ):
        with pytest.raises(bp.FormatError, match=says):
            bp.transplant(*arguments)
    with pytest.raises(ValueError, match="method='x' is unknown"):
        bp.transplant(matrix, old, new, guide, method="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="parts=0"):
        bp.transplant(matrix, old, new, guide, parts=0)
