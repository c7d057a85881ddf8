"""Sweep over rows for another vocabulary: those of the definition of each method, by plain loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from fuzz.case import case, counts_of, equal, quiet

if TYPE_CHECKING:
    from random import Random

METHODS = ("matching_pursuit", "similarity", "mean_of_parts")


def matrices(old: bp.Tokenizer, new: bp.Tokenizer, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Random rows of the old vocabulary, and of a guide for the new one."""
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
    """The old id of each new one whose token both have."""
    known = {old.token_bytes(id): id for id in range(old.vocab_size)}
    pairs = {id: known.get(new.token_bytes(id)) for id in range(new.vocab_size)}
    return {id: same for id, same in pairs.items() if same is not None}


def check(old: bp.Tokenizer, new: bp.Tokenizer, method: Any, seed: int) -> None:
    """Raise AssertionError if the rows are not those of the definition."""
    matrix, guide = matrices(old, new, seed)
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
            is_special = id in new.special_tokens.values()
            parts = old.encode(token, special="text") if is_special else old.encoder("naive").encode_piece(token)
            expected = matrix[parts].mean(axis=0)
        else:
            atoms = guide[anchors]
            if method == "similarity":
                cosines = atoms @ guide[id] / np.linalg.norm(atoms, axis=1) / np.linalg.norm(guide[id])
                weights = dict(enumerate(sparsemax_slowly(cosines)))
            else:
                weights = pursue_slowly(guide[id], atoms, 3)
            rows = (weight * matrix[same[anchors[at]]] for at, weight in weights.items())
            expected = sum(rows, np.zeros(matrix.shape[1]))
        equal(f"row {id}", bool(np.allclose(result[id], expected, rtol=1e-8, atol=1e-10)), True)


def sweep_transplant(random: Random) -> None:
    """The rows of two random vocabularies are those of the definition."""
    counts = [counts_of(random, "abc é") for _ in range(2)]
    sizes = [256 + random.randint(0, 12) for _ in range(2)]
    method, seed = random.choice(METHODS), random.randint(0, 1 << 30)
    with case(counts=counts, sizes=sizes, method=method, seed=seed), quiet():
        old, new = (bp.train(some, size, min_frequency=1) for some, size in zip(counts, sizes, strict=True))
        check(old, new, method, seed)
