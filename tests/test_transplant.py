"""Rows for another vocabulary: shared tokens keep theirs, others are sums as the definitions of the methods say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bytepair as bp

WORDS = {"lower": 5, "lowest": 3, "newest": 4, "widest": 2}


@pytest.fixture(scope="module")
def both() -> tuple[bp.Tokenizer, bp.Tokenizer]:
    old = bp.train({"lower": 5, "new": 4}, 262, special_tokens=["<s>", "<pad>"])
    new = bp.train(WORDS, 271, special_tokens=["<s>", "<end>"], special_ids="first")
    return old, new


def matrices(old: bp.Tokenizer, new: bp.Tokenizer, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.standard_normal((old.vocab_size, 6)), random.standard_normal((new.vocab_size, 9))


def pursue_slowly(target: np.ndarray, atoms: np.ndarray, parts: int) -> dict[int, float]:
    """Orthogonal matching pursuit, one step after another."""
    chosen: list[int] = []
    weights = np.zeros(0)
    left = target
    for _ in range(parts):
        nearness = [abs(atom @ left) / np.linalg.norm(atom) for atom in atoms]
        chosen.append(max((at for at in range(len(atoms)) if at not in chosen), key=lambda at: nearness[at]))
        weights = np.linalg.lstsq(atoms[chosen].T, target, rcond=None)[0]
        left = target - weights @ atoms[chosen]
    return dict(zip(chosen, weights.tolist(), strict=True))


def sparsemax_slowly(scores: np.ndarray) -> np.ndarray:
    """The threshold that leaves a sum of 1, by bisection."""
    low, high = scores.min() - 1, scores.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(scores - middle, 0).sum() > 1 else (low, middle)
    kept: np.ndarray = np.maximum(scores - low, 0)
    return kept


def shared(old: bp.Tokenizer, new: bp.Tokenizer) -> dict[int, int]:
    known = {old.token_bytes(id): id for id in range(old.vocab_size)}
    pairs = {id: known.get(new.token_bytes(id)) for id in range(new.vocab_size)}
    return {id: same for id, same in pairs.items() if same is not None}


@pytest.mark.parametrize("method", ["matching_pursuit", "similarity", "mean_of_parts"])
def test_rows_are_those_of_the_definition(both: tuple[bp.Tokenizer, bp.Tokenizer], method: Any) -> None:
    old, new = both
    matrix, guide = matrices(old, new)
    before = matrix.copy()
    result = bp.transplant(matrix, old, new, guide, method=method, parts=3)
    np.testing.assert_array_equal(matrix, before)
    assert result.shape == (new.vocab_size, 6)
    same = shared(old, new)
    anchors = sorted(same)
    for id in range(new.vocab_size):
        if id in same:
            expected = matrix[same[id]]
        elif method == "mean_of_parts":
            token = new.token_bytes(id)
            parts = old.encode(token, special="text") if token == b"<end>" else old.encoder("naive").encode_piece(token)
            expected = matrix[parts].mean(axis=0)
        else:
            atoms = guide[anchors]
            if method == "similarity":
                cosines = atoms @ guide[id] / np.linalg.norm(atoms, axis=1) / np.linalg.norm(guide[id])
                weights = dict(enumerate(sparsemax_slowly(cosines)))
            else:
                weights = pursue_slowly(guide[id], atoms, 3)
            expected = sum(
                (weight * matrix[same[anchors[at]]] for at, weight in weights.items()), np.zeros(matrix.shape[1])
            )
        np.testing.assert_allclose(result[id], expected, rtol=1e-8, atol=1e-10)


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
