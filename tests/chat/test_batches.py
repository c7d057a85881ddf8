"""Padding against plain Python row by row, and against the rules of transformers."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytepair.chat.batches.columns import COLUMNS, IGNORED
from bytepair.chat.batches.packing import pack
from bytepair.chat.batches.padding import pad
from bytepair.errors import LimitError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Row:
    """The smallest object that serves as an example."""

    input_ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    attention_mask: NDArray[np.int64]


def make_row(ids: list[int], trained: list[bool] | None = None) -> Row:
    array = np.array(ids, np.int64)
    labels = array if trained is None else np.where(np.array(trained, np.bool_), array, IGNORED)
    return Row(array, labels, np.ones(len(ids), np.int64))


def test_rows_of_a_data_set_are_examples() -> None:
    rows = [make_row([5, 6, 7], [False, True, True]), make_row([8, 9])]
    lists = [{name: getattr(row, name).tolist() for name in COLUMNS} for row in rows]
    for one, other in (
        (pad(lists, pad_id=0), pad(rows, pad_id=0)),
        (pack(lists, 5, pad_id=0), pack(rows, 5, pad_id=0)),
    ):
        assert (one.input_ids == other.input_ids).all()
        assert (one.labels == other.labels).all()


def random_rows(seed: int, count: int, most: int, least: int = 1) -> list[Row]:
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        size = draw.randint(least, most)
        rows.append(make_row([draw.randrange(50) for _ in range(size)], [draw.random() < 0.5 for _ in range(size)]))
    return rows


@given(
    lengths=st.lists(st.integers(0, 9), max_size=6),
    side=st.sampled_from(["left", "right"]),
    more=st.none() | st.integers(0, 5),
    multiple=st.none() | st.integers(1, 8),
    seed=st.integers(0, 99),
)
def test_each_row_is_its_example_and_padding(
    lengths: list[int], side: Any, more: int | None, multiple: int | None, seed: int
) -> None:
    draw = random.Random(seed)
    rows = [make_row([draw.randrange(9) for _ in range(n)], [draw.random() < 0.5 for _ in range(n)]) for n in lengths]
    longest = max(lengths, default=0)
    length = None if more is None else max(longest + more, 1)
    batch = pad(rows, pad_id=2, side=side, length=length, to_multiple_of=multiple)
    width = longest if length is None else length
    while width % (multiple or 1):
        width += 1
    assert list(batch.model_inputs()) == ["input_ids", "attention_mask", "labels", "position_ids"]
    for name, filling in {"input_ids": 2, "attention_mask": 0, "labels": IGNORED, "position_ids": None}.items():
        found = getattr(batch, name)
        assert found.dtype == np.int64
        assert found.shape == (len(rows), width)
        assert batch.model_inputs()[name] is found
        for row, got in zip(rows, found.tolist(), strict=True):
            there = list(range(len(row.input_ids))) if name == "position_ids" else getattr(row, name).tolist()
            if name == "labels":
                there[:1] = [IGNORED] * bool(there)
            padding = [*range(width - len(there))] if filling is None else [filling] * (width - len(there))
            assert got == (padding + there if side == "left" else there + padding)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padded_rows_have_all_that_packed_rows_have(side: Any) -> None:
    rows = random_rows(3, 5, 6)
    padded = pad(rows, pad_id=0, side=side)
    width = padded.input_ids.shape[1]
    for number, (row, place) in enumerate(zip(rows, padded.examples, strict=True)):
        start = width - len(row.input_ids) if side == "left" else 0
        assert place == (number, number, start, start + len(row.input_ids))
    assert (padded.segment_ids == padded.attention_mask).all()
    ends = {0, padded.input_ids.size}
    ends |= {place.row * width + at for place in padded.examples for at in (place.start, place.end)}
    assert padded.cu_seqlens.tolist() == sorted(ends)
    assert padded.max_seqlen == max(np.diff(padded.cu_seqlens))
    # With one example a row that is as long as the row, padding and packing are the same.
    whole = [make_row([n, n + 1, n + 2]) for n in range(4)]
    one, other = pad(whole, pad_id=9), pack(whole, 3, pad_id=9, strategy="in_order")
    for name in (*COLUMNS, "position_ids", "segment_ids", "cu_seqlens"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.examples == other.examples


def test_rows_of_several_examples_have_no_model_inputs() -> None:
    with pytest.raises(ValueError, match="several examples"):
        pack([make_row([1]), make_row([2])], 2, pad_id=0).model_inputs()


def test_an_eos_that_is_also_the_pad_token_keeps_its_label() -> None:
    batch = pad([make_row([5, 2]), make_row([5, 6, 7, 2])], pad_id=2)
    assert batch.labels.tolist() == [[IGNORED, 2, IGNORED, IGNORED], [IGNORED, 6, 7, 2]]
    assert batch.attention_mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]


def test_an_example_that_is_padded_already_raises() -> None:
    row = make_row([0, 0, 5, 6])
    row.attention_mask = np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="example 0 is padded"):
        pad([row], pad_id=0, length=5)


def test_no_array_of_an_example_is_changed_or_shared() -> None:
    row = make_row([5, 6])
    pad([row], pad_id=0).input_ids[:] = 9
    assert row.input_ids.tolist() == [5, 6]


def test_what_is_too_long_is_named() -> None:
    with pytest.raises(LimitError, match="has 3 tokens, and a row 2") as caught:
        pad([make_row([1]), make_row([1, 2, 3])], pad_id=0, length=2, to_multiple_of=8)
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pad_id": -1}, "pad_id=-1"),
        ({"pad_id": True}, "pad_id=True"),
        ({"pad_id": None}, "pad_id=None"),
        ({"side": "top"}, "side='top'"),
        ({"length": 0}, "length=0"),
        ({"length": 2.0}, "length=2.0"),
        ({"to_multiple_of": 0}, "to_multiple_of=0"),
        ({"return_tensors": "tf"}, "return_tensors='tf'"),
        ({"return_tensors": None}, "return_tensors=None"),
    ],
)
def test_options_that_mean_nothing_raise(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pad([make_row([1])], **{"pad_id": 0, **options})


def test_arrays_that_are_no_example_raise() -> None:
    row = make_row([1, 2])
    row.labels = row.labels[:1]
    with pytest.raises(ValueError, match="example 1 has 2 input_ids, 2 attention_mask, 1 labels"):
        pad([make_row([1]), row], pad_id=0)
    row.labels = np.array([0.5, 1])
    with pytest.raises(ValueError, match="labels of example 0 is of type float64"):
        pad([row], pad_id=0)


def test_tensors_are_made_of_the_same_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")
    torch.from_numpy = lambda array: ("tensor", array)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    kind, ids = pad([make_row([1, 2]), make_row([3])], pad_id=0, return_tensors="pt").input_ids
    assert kind == "tensor"
    assert ids.tolist() == [[1, 2], [3, 0]]


def test_without_torch_tensors_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="needs torch"):
        pad([make_row([1])], pad_id=0, return_tensors="pt")
