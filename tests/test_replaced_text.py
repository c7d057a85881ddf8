"""``errors="replace"`` in every call with places: places refer to the given text, and counts to its parts."""

from __future__ import annotations

import random
from typing import Any

import pytest

import bytepair as bp
from bytepair import lowlevel

PIECES = ["low", " lower", "é", "😀", "\n\n", "One. Two.", " ", "a"]
BROKEN_BYTES = [b"\xff", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xc3", b"\xed\xa0\x80"]
SURROGATES = ["\ud800", "\udc00", "\ud83d\ude00", "\ud83d"]


def replaced(text: Any) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # type: ignore[no-any-return]


def draw(choose: random.Random) -> Any:
    if choose.random() < 0.5:
        return b"".join(choose.choice([*map(str.encode, PIECES), *BROKEN_BYTES]) for _ in range(choose.randrange(12)))
    return "".join(choose.choice([*PIECES, *SURROGATES]) for _ in range(choose.randrange(12)))


def cuts(text: Any) -> list[int]:
    """The places at which a text may be cut without changing its characters."""
    whole = replaced(text)
    return [at for at in range(len(text) + 1) if replaced(text[:at]) + replaced(text[at:]) == whole]


@pytest.fixture(scope="module", params=["gpt2", "none"])
def tok(request: pytest.FixtureRequest) -> bp.Tokenizer:
    return bp.train(iter(["low lower One. Two. éé 😀"] * 3), vocab_size=270, split=request.param)


@pytest.mark.parametrize("seed", range(40))
def test_places_are_those_of_the_given_text(tok: bp.Tokenizer, seed: int) -> None:
    choose = random.Random(seed)
    text = draw(choose)
    whole, places = replaced(text), cuts(text)
    options: dict[str, Any] = {"errors": "replace"}
    assert len(places) == len(whole) + 1

    ids, offsets, _, _ = lowlevel.locate(tok, text, **options)
    plain = lowlevel.locate(tok, whole)
    assert ids == plain[0] == tok.encode(whole)
    assert offsets == [(places[start], places[end]) for start, end in plain[1]]
    assert tok.offsets(text, **options) == offsets

    limit = choose.randrange(1, 9)
    counts = {at: tok.count(text[:at], **options) for at in places}
    assert tok.fit(text, limit, **options) == text[: max(at for at in places if counts[at] <= limit)]
    counts = {at: tok.count(text[at:], **options) for at in places}
    assert tok.fit(text, limit, "right", **options) == text[min(at for at in places if counts[at] <= limit) :]
    assert tok.fit_batch([text, text], limit, **options) == [tok.fit(text, limit, **options)] * 2

    limit, overlap = choose.randrange(5, 12), choose.randrange(3)
    chunks = tok.chunks(text, limit, overlap=overlap, **options)
    assert chunks == [
        (places[start], places[end], count) for start, end, count in tok.chunks(whole, limit, overlap=overlap)
    ]
    assert all(tok.count(text[start:end], **options) == count for start, end, count in chunks)
    assert tok.chunks_batch([text], limit, overlap=overlap, **options) == [chunks]
    own = tok.chunks(text, limit, boundary=lambda _: places[1:-1:3], **options)
    assert own == [
        (places[start], places[end], count)
        for start, end, count in tok.chunks(whole, limit, boundary=lambda _: range(1, len(whole), 3))
    ]
    ends = sorted(choose.randrange(len(text) + 1) for _ in range(choose.randrange(6)))
    parts = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    streamed = list(tok.chunk_parts(parts, limit, overlap=overlap, **options))
    assert [chunk for chunk, _ in streamed] == chunks
    assert [part for _, part in streamed] == [replaced(text[start:end]) for start, end, _ in chunks]

    index = tok.index(text, **options)
    assert len(index) == len(text)
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            if start in places and end in places:
                assert index.count(start, end) == tok.count(text[start:end], **options)
                assert index.ids(start, end) == tok.encode(text[start:end], **options)
            else:
                with pytest.raises(bp.EncodeError, match="inside a character"):
                    index.count(start, end)

    appender, prepender = tok.appender(**options), tok.prepender(**options)
    for part in parts:
        appender.append(part)
    if isinstance(text, bytes):
        assert appender.text + replaced(appender.pending) == whole
        appender.append("é")
        assert appender.text == whole + "é"
    else:
        assert appender.text == "".join(map(replaced, parts))
    assert appender.ids() == tok.encode(appender.text)
    assert appender.count() == tok.count(appender.text)
    assert appender.fits(text, 50) == (tok.count(appender.text + whole) <= 50)
    for part in reversed(parts):
        prepender.prepend(part)
    assert prepender.text == "".join(map(replaced, parts))
    assert prepender.count() == tok.count(prepender.text)


def test_long_streams_keep_places(tok: bp.Tokenizer) -> None:
    choose = random.Random(7)
    for text in (b"low \xff\xe2\x82 One. Two. " * 4000, "low \ud83d\ude00 \ud800 One. Two. " * 4000):
        chunks = tok.chunks(text, 60, errors="replace")
        parts, at = [], 0
        while at < len(text):
            size = choose.randrange(1, 900)
            parts.append(text[at : at + size])
            at += size
        assert [chunk for chunk, _ in tok.chunk_parts(parts, 60, errors="replace")] == chunks  # type: ignore[arg-type]


def test_strict_is_the_default_and_buffers_are_strict(tok: bp.Tokenizer) -> None:
    calls: list[Any] = [
        lambda text: tok.fit(text, 3),
        lambda text: tok.fit_batch([text], 3),
        lambda text: tok.chunks(text, 9),
        lambda text: tok.chunks_batch([text], 9),
        lambda text: list(tok.chunk_parts([text], 9)),
        tok.index,
        tok.appender().append,
        tok.prepender().prepend,
    ]
    for call in calls:
        for text in (b"low\xff", "low\ud800"):
            with pytest.raises(bp.EncodeError):
                call(text)
    with pytest.raises(ValueError, match="not supported for a buffer"):
        tok.index(bytearray(b"low\xff"), errors="replace")
    for name in ("appender", "prepender"):
        with pytest.raises(ValueError, match="errors"):
            getattr(tok, name)(errors="ignore")
