"""Counting up to a limit, and in intervals, against encoding the same text by itself."""

from __future__ import annotations

import mmap
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import made
from fuzz.counted import of_every_stage
from fuzz.texts import counting
from fuzz.variants import ADDED, SPECIALS, random_text, tokenizer, variant

import bytepair as bp

if TYPE_CHECKING:
    from pathlib import Path


def long_text(random: Random) -> str:
    """Texts one after another, with several places to cut, and runs in between that have none."""
    runs = [
        random.choice(["a", "1", " ", "\n", "日", "'", "A", ADDED, SPECIALS[0]]) * random.randint(1, 300)
        for _ in range(2)
    ]
    return "".join(random.sample([*runs, *(random_text(random) for _ in range(12))], 14))


@pytest.mark.parametrize("split", bp.SPLIT_PATTERNS)
def test_intervals_are_counted_as_they_are_encoded(split: str) -> None:
    tok = tokenizer(split)
    for seed in range(15):
        random = Random(f"{split} {seed}")
        text = long_text(random)
        options: dict[str, Any] = random.choice([{"special": "allow"}, {"special": "text", "added": "text"}])
        whole, data = tok.index(text, **options), text.encode()
        in_bytes = tok.index(data, **options)
        assert (len(whole), len(in_bytes)) == (len(text), len(data))
        for _ in range(30):
            start, end = sorted(random.choices(range(len(text) + 1), k=2))
            ids = tok.encode(text[start:end], **options)
            assert whole.count(start, end) == len(ids), (seed, start, end)
            assert whole.ids(start, end) == ids
            assert in_bytes.count(len(text[:start].encode()), len(text[:end].encode())) == len(ids)
        assert whole.count() == tok.count(text, **options)


@pytest.mark.parametrize("split", bp.SPLIT_PATTERNS)
def test_counting_until_a_limit_is_counting_or_none(split: str) -> None:
    tok = tokenizer(split)
    for seed in range(25):
        random = Random(f"{split} {seed}")
        text = long_text(random)
        count = tok.count(text, special="allow")
        for limit in {0, 1, count // 2, count - 1, count, count + 1, 10 * count}:
            expected = count if count <= limit else None
            assert tok.count_until(text, limit, special="allow") == expected, (seed, limit)
            assert tok.count_until(text.encode(), limit, special="allow") == expected


def test_stages_that_look_further_are_counted_as_well() -> None:
    spec = tokenizer("gpt2").spec
    strips = spec.added_tokens[0]._replace(rstrip=True)
    for changed in (
        spec.replace(normalizers=("NFC",)),
        spec.replace(prefix_space=True),
        spec.replace(split=(r"(?:(?=a)a|\w)+|\s|.",)),
        spec.replace(added_tokens=(strips, *spec.added_tokens[1:])),
        spec.replace(split=()),
    ):
        tok, random = bp.Tokenizer(changed), Random(5)
        text = long_text(random) + "e\u0301 <|end|>  a"
        index = tok.index(text, special="allow")
        for _ in range(40):
            start, end = sorted(random.choices(range(len(text) + 1), k=2))
            count = tok.count(text[start:end], special="allow")
            assert index.count(start, end) == count
            assert tok.count_until(text[start:end], count, special="allow") == count
            assert count == 0 or tok.count_until(text[start:end], count - 1, special="allow") is None


@pytest.mark.parametrize("model", made.MODELS)
def test_every_model_and_stage_is_counted_as_it_is_encoded(model: str) -> None:
    for seed in range(5):
        for counted in of_every_stage(model, seed):
            counting(Random(f"{counted.said} {seed}"), counted)


@pytest.mark.parametrize("model", made.MODELS)
def test_a_long_text_is_counted_in_intervals_by_every_model(model: str) -> None:
    for tok, said, _ in of_every_stage(model, 3):
        random = Random(said)
        text = "".join(long_text(random) for _ in range(4))
        try:
            index = tok.index(text, special="allow")
        except bp.EncodeError:
            assert model == "Unigram that raises"
            continue
        for _ in range(30):
            start, end = sorted(random.choices(range(len(text) + 1), k=2))
            count = tok.count(text[start:end], special="allow")
            assert index.count(start, end) == count, (said, text[start:end])
            assert tok.count_until(text[start:end], count, special="allow") == count
            assert tok.count_until(text[start:end], max(count - 1, 0), special="allow") == (None if count else 0)


def test_places_are_those_of_a_slice() -> None:
    tok, text = tokenizer("gpt2"), "añb 日本 " * 60
    index = tok.index(text)
    for start, end in [(None, None), (-7, None), (3, -2), (5, 2), (400, 500), (-999, 999), (0, 0)]:
        assert index.count(start, end) == tok.count(text[start:end]), (start, end)
    with pytest.raises(bp.EncodeError, match="inside a character"):
        tok.index(text.encode()).count(2, 9)
    assert index.nbytes < len(text)


def test_what_is_read_is_checked_and_what_is_not_is_not() -> None:
    tok = tokenizer("gpt2")
    with pytest.raises(bp.SpecialTokenError):
        tok.index("a <|end|>")
    with pytest.raises(bp.SpecialTokenError):
        tok.count_until("a <|end|>", 9, special="raise")
    assert tok.count_until("some words " * 10_000 + "<|end|>", 9, special="raise") is None
    with pytest.raises(bp.EncodeError):
        tok.index(b"\xff")
    with pytest.raises(bp.EncodeError):
        tok.count_until("\ud800", 1)
    with pytest.raises(OverflowError):
        tok.count_until("a", -1)
    assert tok.count_until("", 0) == 0
    assert tok.index("").count() == 0


@pytest.mark.parametrize("kind", ["plain", "taken whole", "several ways", "overlapping"])
def test_intervals_without_a_split_pattern(kind: str) -> None:
    tok, random = variant("none", kind), Random(f"intervals {kind}")
    for _ in range(12):
        text = long_text(random)
        index, data = tok.index(text, special="allow"), text.encode()
        for _ in range(60):
            start, end = sorted(random.choices(range(len(text) + 1), k=2))
            assert index.count(start, end) == tok.count(text[start:end], special="allow"), (text, start, end)
        assert tok.index(data, special="allow").count() == index.count() == tok.count(text, special="allow")


@pytest.mark.parametrize("split", ["o200k", "none"])
def test_a_mapped_file_is_counted_like_its_bytes(split: str, tmp_path: Path) -> None:
    tok, random = variant(split, "overlapping"), Random(4)
    path = tmp_path / "text"
    # More than one window, with characters, runs and tokens across their ends.
    parts = [long_text(random) for _ in range(5)] + ["日" * 5000, "a" * 40_000, ADDED * 9000]
    text = "".join(random.choices(parts, k=150))
    path.write_text(text, encoding="utf-8", newline="")
    data = text.encode()
    assert len(data) > 1 << 20
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        index, other = tok.index(mapped, special="allow"), tok.index(data, special="allow")
        assert len(index) == len(data)
        places = [at for at in random.sample(range(len(data)), 150) if data[at] & 0xC0 != 0x80]
        for start, end in pairwise(places):
            if start < end:
                expected = (
                    tok.count(data[start:end], special="allow") if end - start < 20_000 else other.count(start, end)
                )
                assert index.count(start, end) == expected
        assert index.count() == tok.count(data, special="allow")
        assert index.ids(places[0], places[0] + 1 if data[places[0]] < 128 else None)
        del index
    broken = "é".encode() * 600_000 + b"\xff"
    with pytest.raises(bp.EncodeError) as error:
        tok.index(memoryview(broken))
    assert error.value.byte == len(broken) - 1
    with pytest.raises(TypeError, match=r"a buffer of bytes such as mmap\.mmap"):
        tok.index(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
def test_white_space_that_an_added_token_takes_in_has_no_ids_of_its_own(side: str) -> None:
    plain = tokenizer("gpt2")
    tok = bp.Tokenizer(plain.spec.replace(added_tokens=(bp.AddedToken("<m>", 10_000, special=False, **{side: True}),)))
    for text in (" " * 2000 + "<m>", "<m>" + " " * 2000, "a" + " " * 2000 + "<m>b"):
        tokens = tok.count(text)
        assert tok.count_until(text, tokens) == tokens
        assert tok.count_until(text, tokens - 1) is None
