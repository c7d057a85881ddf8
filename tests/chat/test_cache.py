"""The cache: every part of a key counts, entries are returned unchanged, and damaged files are never used."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytepair.chat.encoding.cache import EncodingCache
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True)
class Other:
    start: int
    end: int


PARTS: dict[str, Any] = {
    "tokenizer": "aa",
    "template": "bb",
    "policy": "reject",
    "add_special_tokens": False,
    "training": (("assistant",), True),
    "truncation": ("right", 512),
    "text": "Hello",
    "spans": (Span(0, 5),),
}


def key(**changed: Any) -> str:
    return EncodingCache.key(**{**PARTS, **changed})


KEY = key()
ARRAYS = {
    "input_ids": np.array([5, 6, 7]),
    "labels": np.array([-100, 6, 7]),
    "attention_mask": np.ones(3, np.int64),
    "offsets": np.array([[0, 2], [2, 3], [3, 5]]),
}

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None), max_size=4)
    | st.binary(max_size=4)
    | st.builds(Span, st.integers(0, 3), st.integers(0, 3))
    | st.builds(Other, st.integers(0, 3), st.integers(0, 3)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


def spelled(value: Any) -> str:
    """A value with the types of all its parts, and its keys in order."""
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({[spelled(part) for part in value]})"
    if isinstance(value, dict):
        return f"dict({sorted((spelled(name), spelled(part)) for name, part in value.items())})"
    return f"{type(value).__name__}:{value!r}"


@given(first=values, second=values, name=st.sampled_from(list(PARTS)))
def test_keys_are_equal_only_for_equal_parts_of_one_type(first: Any, second: Any, name: str) -> None:
    assert (key(**{name: first}) == key(**{name: second})) == (spelled(first) == spelled(second))


@given(value=values)
def test_parts_are_not_mixed_up(value: Any) -> None:
    found = {key(**{name: [value]}) for name in PARTS}
    assert len(found) == len(PARTS)
    assert key(text=value, spans=None) != key(text=None, spans=value) or value is None


def test_what_looks_alike_is_not_alike() -> None:
    alike = [
        1,
        True,
        1.0,
        "1",
        b"1",
        [1],
        (1,),
        {"1": 1},
        {1: "1"},
        np.array(1),
        np.array([1]),
        [[1]],
        None,
        "None",
        "",
    ]
    alike += [[], (), {}, ["a", "b"], ["ab"], [["a"], "b"], 0, -0.0, 0.0, False, Span(1, 2), Other(1, 2), (1, 2)]
    alike += [np.array([1], np.int32), np.array([[1]]), np.array([1.0]), [1, [2]], [[1], 2], [1, 2, []], "\ud800", "?"]
    assert len({key(text=value) for value in alike}) == len(alike)


def test_keys_are_the_same_in_every_process() -> None:
    assert len(KEY) == 64
    assert key(text={"a": 1, "b": 2}) == key(text={"b": 2, "a": 1})
    assert key(text=10**5000) != key(text=10**5000 + 1)
    assert key(text=np.arange(6).reshape(2, 3).T) == key(text=np.arange(6).reshape(2, 3).T.copy())


def test_every_part_is_required_and_others_raise() -> None:
    for name in PARTS:
        with pytest.raises(TypeError, match=name):
            EncodingCache.key(**{part: value for part, value in PARTS.items() if part != name})
    with pytest.raises(TypeError, match="seed"):
        key(seed=1)
    for value in (object(), {1, 2}, Span, np.array([object()]), 1j, range(3)):
        with pytest.raises(TypeError, match="spans cannot be hashed for a key"):
            key(spans=value)


def check(found: Any) -> None:
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].tolist() == array.tolist()
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        with pytest.raises(ValueError, match="read-only"):
            found[name][0] = 0


@pytest.mark.parametrize("examples", [0, 3])
def test_what_went_in_comes_out(tmp_path: Path, examples: int) -> None:
    cache = EncodingCache(tmp_path / "cache", examples=examples)
    assert cache.get(KEY) is None
    check(cache.put(KEY, ARRAYS))
    check(cache.get(KEY))
    assert (cache.hits, cache.misses, cache.damaged, len(cache)) == (1, 1, 0, examples and 1)
    other = EncodingCache(tmp_path / "cache")
    check(other.get_or_make(KEY, lambda: pytest.fail("it is there")))
    with np.load(tmp_path / "cache" / KEY[:2] / f"{KEY}.npz", allow_pickle=False) as loaded:
        assert loaded["offsets"].tolist() == ARRAYS["offsets"].tolist()


@given(
    st.dictionaries(
        st.sampled_from(["input_ids", "labels", "file", "args", "weights"]),
        st.tuples(
            st.sampled_from(["int64", "uint32", "float32", "bool", "int32"]),
            st.lists(st.integers(0, 3), min_size=0, max_size=3),
        ),
        max_size=4,
    )
)
def test_arrays_of_every_kind_come_back(described: Any) -> None:
    from bytepair.chat.encoding.cache import _parse, _write

    arrays = {name: np.ones(shape, dtype) for name, (dtype, shape) in described.items()}
    found = _parse(KEY, _write(KEY, arrays))
    assert found is not None
    assert {name: (array.dtype, array.shape, array.tolist()) for name, array in found.items()} == {
        name: (array.dtype, array.shape, array.tolist()) for name, array in arrays.items()
    }


def test_what_is_put_in_can_be_changed_afterwards() -> None:
    cache = EncodingCache()
    array = np.array([[1, 2], [3, 4]]).T
    cache.put(KEY, {"offsets": array})
    array[:] = 0
    found = cache.get(KEY)
    assert found is not None
    assert found["offsets"].tolist() == [[1, 3], [2, 4]]


def test_those_used_longest_ago_go_first() -> None:
    cache = EncodingCache(examples=2)
    first, second, third = (key(text=str(number)) for number in range(3))
    cache.put(first, ARRAYS)
    cache.put(second, ARRAYS)
    assert cache.get(first) is not None
    cache.put(third, ARRAYS)
    assert cache.get(second) is None
    assert cache.get(first) is not None
    assert len(cache) == 2


def test_a_damaged_file_is_a_miss_and_is_written_anew(tmp_path: Path) -> None:
    EncodingCache(tmp_path).put(KEY, ARRAYS)
    place = tmp_path / KEY[:2] / f"{KEY}.npz"
    whole = place.read_bytes()
    place.write_bytes(whole[:-1])
    cache = EncodingCache(tmp_path)
    check(cache.get_or_make(KEY, lambda: ARRAYS))
    assert (cache.hits, cache.misses, cache.damaged) == (0, 1, 1)
    assert place.read_bytes() == whole
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_no_flip_and_no_cut_is_ever_handed_out() -> None:
    from bytepair.chat.encoding.cache import _parse, _write

    whole = _write(KEY, {"input_ids": np.array([5, 6]), "labels": np.array([5, -100])})
    expected = {"input_ids": [5, 6], "labels": [5, -100]}
    for place in range(len(whole)):
        for bit in (1, 128):
            broken = bytearray(whole)
            broken[place] ^= bit
            found = _parse(KEY, bytes(broken))
            assert found is None or {name: array.tolist() for name, array in found.items()} == expected
        assert _parse(KEY, whole[:place]) is None


def test_a_file_of_another_key_is_a_miss(tmp_path: Path) -> None:
    other = key(text="Bye")
    cache = EncodingCache(tmp_path)
    cache.put(KEY, ARRAYS)
    (tmp_path / other[:2]).mkdir(exist_ok=True)
    (tmp_path / KEY[:2] / f"{KEY}.npz").rename(tmp_path / other[:2] / f"{other}.npz")
    assert cache.get(other) is None
    assert cache.damaged == 1


def test_pickles_are_never_read(tmp_path: Path) -> None:
    cache = EncodingCache(tmp_path)
    place = tmp_path / KEY[:2] / f"{KEY}.npz"
    place.parent.mkdir()
    np.savez(place, input_ids=np.array([{"a": 1}], dtype=object))
    assert cache.get(KEY) is None
    np.savez_compressed(place, input_ids=np.zeros(10_000, np.int64))
    assert cache.get(KEY) is None
    assert cache.damaged == 2


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"text": np.array(["a"])}, "text has the type"),
        ({"spans": np.array([None])}, "spans has the type object"),
        ({"-sha256": np.array([1])}, "identifier"),
        ({"../x": np.array([1])}, "identifier"),
    ],
)
def test_other_arrays_are_refused(arrays: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        EncodingCache().put(KEY, arrays)


@pytest.mark.parametrize("broken", ["", "../../etc/passwd", KEY.upper(), KEY + "0", None, 7])
def test_what_is_no_key_is_refused(tmp_path: Path, broken: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: EncodingCache(tmp_path).get(broken),
        lambda: EncodingCache(tmp_path).put(broken, ARRAYS),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is not a key"):
            call()


def test_other_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="examples=-1"):
        EncodingCache(examples=-1)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError):
        EncodingCache(tmp_path / "file").put(KEY, ARRAYS)


def test_what_cannot_be_made_is_not_kept() -> None:
    cache = EncodingCache()
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make(KEY, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    assert cache.get(KEY) is None


def test_pickled_it_takes_its_folder_along(tmp_path: Path) -> None:
    cache = EncodingCache(tmp_path, examples=7)
    cache.put(KEY, ARRAYS)
    copy = pickle.loads(pickle.dumps(cache))
    assert (copy.folder, copy.examples, len(copy)) == (tmp_path, 7, 0)
    check(copy.get(KEY))


def test_threads_get_what_belongs_to_their_key(tmp_path: Path) -> None:
    cache = EncodingCache(tmp_path, examples=5)
    keys = [key(text=str(number)) for number in range(20)]
    start = threading.Barrier(4)

    def make(number: int) -> dict[str, Any]:
        return {"input_ids": np.array([number])}

    def run(seed: int) -> int:
        start.wait()
        for step in range(60):
            number = (step * 7 + seed) % 20
            found = cache.get_or_make(keys[number], partial(make, number))
            assert found["input_ids"].tolist() == [number]
        return 60

    with ThreadPoolExecutor(4) as pool:
        total = sum(pool.map(run, range(4)))
    assert cache.hits + cache.misses == total
    assert len(cache) == 5
    assert cache.damaged == 0
