"""Packing: nothing is lost, doubled or split; rows against a plain best fit; boundaries against transformers' rules."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytepair.chat.batches.attention import Placed, block_mask, cu_seqlens
from bytepair.chat.batches.columns import IGNORED
from bytepair.chat.batches.example_rows import ExampleRows
from bytepair.chat.batches.packing import flatten, pack
from bytepair.chat.batches.padding import pad
from bytepair.errors import LimitError
from tests.chat.test_batches import make_row, random_rows

if TYPE_CHECKING:
    from tests.chat.test_batches import Row


def plain_best_fit(lengths: list[int], length: int) -> list[list[int]]:
    """Best fit decreasing: each example, longest first, into the fullest row with room for it; looks at every row."""
    rows: list[list[int]] = []
    rooms: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        fitting = [row for row, room in enumerate(rooms) if room >= lengths[number]]
        if fitting:
            row = min(fitting, key=lambda row: (rooms[row], row))
        else:
            row = len(rows)
            rows.append([])
            rooms.append(length)
        rows[row].append(number)
        rooms[row] -= lengths[number]
    return sorted(sorted(row) for row in rows)


def check(packed: ExampleRows, rows: list[Row], length: int) -> None:
    """Checks the properties of every pack."""
    kept = [number for number in range(len(rows)) if number not in packed.dropped]
    assert sorted(placed.example for placed in packed.examples) == kept
    assert sorted(packed.examples, key=lambda placed: (placed.row, placed.start)) == list(packed.examples)
    expected = {
        "input_ids": np.full((len(packed), length), 3),
        "labels": np.full((len(packed), length), IGNORED),
        "attention_mask": np.zeros((len(packed), length), np.int64),
        "segment_ids": np.zeros((len(packed), length), np.int64),
        "position_ids": np.zeros((len(packed), length), np.int64),
    }
    boundaries = {0, len(packed) * length}
    for placed in packed.examples:
        row = rows[placed.example]
        size = min(len(row.input_ids), length)
        assert placed.end - placed.start == size
        at = (placed.row, slice(placed.start, placed.end))
        assert not expected["attention_mask"][at].any()
        expected["input_ids"][at] = row.input_ids[:size]
        expected["labels"][at] = [IGNORED, *row.labels[1:size].tolist()]
        expected["attention_mask"][at] = 1
        expected["segment_ids"][at] = 1 + sum(
            other.row == placed.row and other.start < placed.start for other in packed.examples
        )
        boundaries |= {placed.row * length + placed.start, placed.row * length + placed.end}
    for first, last in zip(sorted(boundaries), sorted(boundaries)[1:], strict=False):
        expected["position_ids"].reshape(-1)[first:last] = range(last - first)
    for name, array in expected.items():
        assert getattr(packed, name).tolist() == array.tolist(), name
        assert getattr(packed, name).dtype == np.int64
    assert packed.cu_seqlens.dtype == np.int32
    assert packed.cu_seqlens.tolist() == sorted(boundaries)
    assert packed.max_seqlen == max(np.diff(sorted(boundaries)).tolist(), default=0)
    starts_again, longest = cu_seqlens(packed.position_ids.astype(np.int32))
    assert (starts_again.tolist(), longest) == (packed.cu_seqlens.tolist(), packed.max_seqlen)
    assert starts_again.dtype == np.int32
    # Given only positions, transformers takes each 0 as the start of a sequence.
    starts = np.flatnonzero(packed.position_ids.reshape(-1) == 0)
    assert [*starts.tolist(), len(packed) * length] == packed.cu_seqlens.tolist()
    if len(packed):
        assert packed.fill == pytest.approx(packed.attention_mask.mean())


@given(
    lengths=st.lists(st.integers(1, 20), max_size=40),
    length=st.integers(1, 24),
    strategy=st.sampled_from(["best_fit", "in_order"]),
    too_long=st.sampled_from(["truncate", "drop"]),
    seed=st.integers(0, 99),
)
def test_every_example_lies_whole_in_one_row(
    lengths: list[int], length: int, strategy: Any, too_long: Any, seed: int
) -> None:
    rows = [random_rows(seed + number, 1, size, least=size)[0] for number, size in enumerate(lengths)]
    packed = pack(rows, length, pad_id=3, strategy=strategy, too_long=too_long)
    check(packed, rows, length)
    longer = tuple(number for number, size in enumerate(lengths) if size > length)
    assert (packed.dropped, packed.truncated) == ((longer, ()) if too_long == "drop" else ((), longer))
    lost = [item.example for item in packed.examples if (rows[item.example].labels[1:length] == IGNORED).all()]
    assert list(packed.untrained) == sorted(lost)


@given(lengths=st.lists(st.integers(1, 33), max_size=60), length=st.integers(33, 70))
def test_best_fit_is_the_plain_one(lengths: list[int], length: int) -> None:
    packed = pack([make_row([1] * size) for size in lengths], length, pad_id=3)
    rows: list[list[int]] = [[] for _ in range(len(packed))]
    for placed in packed.examples:
        rows[placed.row].append(placed.example)
    assert rows == plain_best_fit(lengths, length)


def test_best_fit_of_many() -> None:
    rows = random_rows(7, 3000, 400)
    packed = pack(rows, 1024, pad_id=3)
    check_fast = sorted(placed.example for placed in packed.examples)
    assert check_fast == list(range(3000))
    assert packed.fill > 0.99
    assert packed.fill > pack(rows, 1024, pad_id=3, strategy="in_order").fill


def test_in_order_keeps_the_order() -> None:
    rows = random_rows(8, 200, 30)
    packed = pack(rows, 40, pad_id=3, strategy="in_order")
    assert [placed.example for placed in packed.examples] == list(range(200))
    check(packed, rows, 40)


def test_an_example_that_does_not_fit_is_named() -> None:
    with pytest.raises(LimitError, match="has 6 tokens, and a row 5") as caught:
        pack([make_row([1]), make_row([1] * 6)], 5, pad_id=0)
    assert caught.value.row == 1
    assert 'too_long="truncate"' in caught.value.remedy


def test_what_has_no_token_is_named() -> None:
    for call in (lambda rows: pack(rows, 5, pad_id=0), flatten):
        with pytest.raises(LimitError, match="no token") as caught:
            call([make_row([1]), make_row([])])
        assert caught.value.row == 1


def test_what_is_padded_is_refused() -> None:
    row = make_row([5, 0])
    row.attention_mask = np.array([1, 0])
    for call in (lambda rows: pack(rows, 5, pad_id=0), flatten):
        with pytest.raises(ValueError, match="example 1 is padded"):
            call([make_row([1]), row])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"length": 0}, "length=0"),
        ({"length": None}, "length=None"),
        ({"pad_id": -3}, "pad_id=-3"),
        ({"strategy": "worst_fit"}, "strategy='worst_fit'"),
        ({"too_long": "split"}, "too_long='split'"),
        ({"return_tensors": None}, "return_tensors=None"),
    ],
)
def test_options_that_mean_nothing_raise(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pack([], **{"length": 5, "pad_id": 0, **options})


def test_nothing_makes_no_rows() -> None:
    for packed in (pack([], 8, pad_id=0), flatten([])):
        assert (len(packed), packed.cu_seqlens.tolist(), packed.max_seqlen, packed.fill) == (0, [0], 0, 1.0)
    assert pack([], 8, pad_id=0).input_ids.shape == (0, 8)


def test_more_cells_than_cu_seqlens_can_count_raise() -> None:
    with pytest.raises(LimitError, match="more cells than cu_seqlens"):
        pack([make_row([1])], 2**31, pad_id=0)


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_flat_is_the_joined_examples(lengths: list[int], seed: int) -> None:
    rows = [random_rows(seed + number, 1, size, least=size)[0] for number, size in enumerate(lengths)]
    flat = flatten(rows)
    check(flat, rows, sum(lengths))
    assert len(flat) == 1
    assert flat.fill == 1.0
    assert flat.input_ids[0].tolist() == [id for row in rows for id in row.input_ids.tolist()]
    assert flat.cu_seqlens.tolist() == np.cumsum([0, *lengths]).tolist()
    assert flat.max_seqlen == max(lengths)


@given(seed=st.integers(0, 50), order=st.randoms(use_true_random=False))
def test_selected_rows_are_a_pack_of_their_own(seed: int, order: Any) -> None:
    rows = random_rows(seed, 30, 12)
    packed = pack(rows, 12, pad_id=3)
    chosen = order.sample(range(len(packed)), order.randint(0, len(packed)))
    part = packed.select(chosen)
    for name in ("input_ids", "labels", "position_ids", "attention_mask", "segment_ids"):
        assert getattr(part, name).tolist() == getattr(packed, name)[chosen].tolist()
    assert part.examples == tuple(
        Placed(placed.example, number, placed.start, placed.end)
        for number, row in enumerate(chosen)
        for placed in packed.examples
        if placed.row == row
    )
    starts = np.flatnonzero(part.position_ids.reshape(-1) == 0)
    assert part.cu_seqlens.tolist() == ([*starts.tolist(), 12 * len(chosen)] if chosen else [0])
    assert part.max_seqlen == max(np.diff(part.cu_seqlens).tolist(), default=0)
    assert set(part.untrained) == {placed.example for placed in part.examples} & set(packed.untrained)


def test_rows_that_are_not_there_raise() -> None:
    packed = pack(random_rows(1, 9, 5), 8, pad_id=0)
    for rows in ([0, 0], [-1], [len(packed)]):
        with pytest.raises(ValueError, match="different numbers from 0"):
            packed.select(rows)


def test_flash_arguments_are_one_row() -> None:
    packed = pack(random_rows(2, 9, 5), 8, pad_id=0)
    arguments = packed.flash_arguments()
    assert list(arguments) == [
        "input_ids", "labels", "position_ids", "cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k",
    ]  # fmt: skip
    assert arguments["input_ids"].shape == (1, len(packed) * 8)
    assert arguments["input_ids"].reshape(-1, 8).tolist() == packed.input_ids.tolist()
    assert arguments["cu_seq_lens_k"] is packed.cu_seqlens
    assert arguments["max_length_q"] == packed.max_seqlen


def test_the_mask_says_what_the_segments_say() -> None:
    packed = pack(random_rows(3, 12, 6), 9, pad_id=0)
    mask = block_mask(packed.segment_ids)
    assert mask.shape == (len(packed), 1, 9, 9)
    assert mask.dtype == np.bool_
    for row in range(len(packed)):
        for query in range(9):
            for key in range(9):
                same = packed.segment_ids[row, query] == packed.segment_ids[row, key]
                assert mask[row, 0, query, key] == (same and key <= query)
    assert mask.any(axis=-1).all()
    added = block_mask(packed.segment_ids, additive=True)
    assert added.dtype == np.float32
    assert ((added == 0) == mask).all()
    assert (added[~mask] == np.finfo(np.float32).min).all()
    with pytest.raises(ValueError, match="shape"):
        block_mask(packed.segment_ids[0])


def test_packs_and_padded_rows_hold_the_same_tokens() -> None:
    rows = random_rows(4, 50, 20)
    padded = pad(rows, pad_id=0)
    packed = pack(rows, 32, pad_id=0)
    count = padded.attention_mask.sum()
    assert packed.attention_mask.sum() == count
    trained = sorted(padded.labels[:, 1:][padded.labels[:, 1:] != IGNORED].tolist())
    assert sorted(packed.labels[packed.labels != IGNORED].tolist()) == trained


def test_tensors_are_made_of_the_same_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor(list[Any]):
        """A stand-in for a tensor, which is indexed as an array is."""

        def __init__(self, array: Any) -> None:
            super().__init__(array.tolist())
            self.array = array
            self.shape = array.shape

        def __getitem__(self, index: Any) -> Any:
            return Tensor(self.array[index])

    torch = ModuleType("torch")
    torch.from_numpy = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    rows = random_rows(5, 20, 6)
    tensors = pack(rows, 9, pad_id=0, return_tensors="pt")
    arrays = pack(rows, 9, pad_id=0)
    for name in ("input_ids", "labels", "position_ids", "attention_mask", "segment_ids", "cu_seqlens"):
        assert isinstance(getattr(tensors, name), Tensor)
        assert list(getattr(tensors, name)) == getattr(arrays, name).tolist()
        assert list(getattr(tensors.select([1]), name)) == getattr(arrays.select([1]), name).tolist()


def test_rows_that_start_in_the_middle_raise() -> None:
    for positions in (np.array([[1, 2]]), np.array([0, 1])):
        with pytest.raises(ValueError, match="start of each row"):
            cu_seqlens(positions)


@pytest.mark.parametrize("seed", range(5))
def test_flat_rows_are_those_of_transformers(seed: int) -> None:
    transformers = pytest.importorskip("transformers")
    rows = random_rows(seed, 6, 9)
    collate = transformers.DataCollatorWithFlattening(return_tensors="np", return_flash_attn_kwargs=True)
    theirs = collate([{"input_ids": row.input_ids.tolist(), "labels": row.labels.tolist()} for row in rows])
    ours = flatten(rows).flash_arguments()
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        assert np.asarray(ours[name]).tolist() == np.asarray(value).tolist(), name
    assert ours["cu_seq_lens_q"].dtype == theirs["cu_seq_lens_q"].dtype
