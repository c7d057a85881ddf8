"""Objects of the caller: what they raise reaches it, and what they override does not count; one call at a time."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair import lowlevel

HALF = "\ud800"


class _Raises:
    """An id whose conversion raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error

    def __str__(self) -> str:
        raise AssertionError("an id is not shown before it is known")


class _Seven:
    def __index__(self) -> int:
        return 7


class _Liar(str):
    """A text that overrides everything that calls could use."""

    __slots__ = ()

    def _lie(self, *_: Any) -> Any:
        raise AssertionError("the call asked the subclass")

    encode = __str__ = __add__ = __radd__ = __iter__ = __contains__ = __repr__ = __format__ = startswith = _lie  # type: ignore[assignment]

    def __len__(self) -> int:
        return 2**40

    def __getitem__(self, _: Any) -> str:
        return "another text"


class _LyingBytes(bytes):
    def __len__(self) -> int:
        return 2**40

    def __getitem__(self, _: Any) -> Any:
        return b"another text"


@pytest.fixture(scope="module")
def tok() -> bp.Tokenizer:
    return bp.train({"low": 5, "lower": 2}, vocab_size=260, split="gpt2", special_tokens=["<|e|>"])


def _takers(tok: bp.Tokenizer) -> dict[str, Callable[[Any], Any]]:
    """Calls that take an id."""
    return {
        "decode": lambda id: tok.decode([id]),
        "decode of a tuple": lambda id: tok.decode((97, id)),
        "decode of an iterator": lambda id: tok.decode(iter([id])),  # type: ignore[arg-type]
        "decode_batch": lambda id: tok.decode_batch([[97], [id]]),
        "decode_bytes": lambda id: tok.decode_bytes([id]),
        "token_bytes": tok.token_bytes,
        "decode_stream": lambda id: tok.decode_stream().push(id),
        "decode_stream of several": lambda id: tok.decode_stream().push([97, id]),
        "decode_stream_batch": lambda id: tok.decode_stream_batch(1).push([id]),
        "decode_stream_batch of several": lambda id: tok.decode_stream_batch(1).push([[97, id]]),
        "encode_buffer": lambda id: lowlevel.encode_buffer(
            tok, np.zeros(0, np.uint8), np.zeros(1, np.int64), prefix=[id]
        ),
    }


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), MemoryError(), OverflowError("mine"), SystemExit(3), bp.FormatError("mine")]
)
def test_what_an_id_raises_reaches_the_caller(tok: bp.Tokenizer, error: BaseException) -> None:
    for name, take in _takers(tok).items():
        with pytest.raises(type(error)) as caught:
            take(_Raises(error))
        assert caught.value is error, name


def test_an_id_can_be_whatever_has_an_index(tok: bp.Tokenizer) -> None:
    ids: list[Any] = [_Seven(), np.int64(7), np.uint8(7), 7]
    for id in ids:
        for take in _takers(tok).values():
            take(id)
        assert tok.decode([id, id]) == "\x07\x07"
        assert tok.decode_stream_batch(1).push([[id, -1, id]]) == ["\x07\x07"]


@pytest.mark.parametrize(
    "id",
    [-2, 2**32, 2**63, -(2**63) - 1, 10**30, 10**5000, np.int64(-2)],
    ids=lambda id: f"{id:.3e}"[:12] if abs(id) < 2**900 else "large",
)
def test_an_id_beyond_all_tokens_is_a_short_error(tok: bp.Tokenizer, id: Any) -> None:
    for take in _takers(tok).values():
        with pytest.raises(bp.InvalidIdError, match="no token has id") as caught:
            take(id)
        assert len(str(caught.value)) < 150


def test_what_a_length_raises_reaches_the_caller(tok: bp.Tokenizer) -> None:
    class Ids:
        def __len__(self) -> int:
            raise KeyboardInterrupt

        def __iter__(self) -> Iterator[int]:
            return iter([97])

    with pytest.raises(KeyboardInterrupt):
        tok.decode(Ids())  # type: ignore[arg-type]


def _names(tok: bp.Tokenizer) -> dict[str, Callable[[str], Any]]:
    """Calls that take a `str` that is not encoded."""
    return {
        "Control": bp.Control,
        "token_id": tok.token_id,
        "special of one": lambda name: tok.encode("low", special={name}),
        "special": lambda name: tok.encode("low", special=name),
        "added": lambda name: tok.encode("low", added=name),  # type: ignore[arg-type]
        "errors": lambda name: tok.encode("low", errors=name),  # type: ignore[arg-type]
        "errors of decode": lambda name: tok.decode([97], name),
        "errors of a batch": lambda name: tok.decode_batch([[97]], name),
        "side": lambda name: tok.fit("low", 1, name),  # type: ignore[arg-type]
        "encoder": tok.encoder,
        "split": lambda name: bp.train({"low": 5}, vocab_size=257, split=name),
        "text of a count": lambda name: bp.train({name: 5}, vocab_size=257),
    }


def test_a_lone_surrogate_in_a_name_is_an_error_with_its_place(tok: bp.Tokenizer) -> None:
    for name, take in _names(tok).items():
        with pytest.raises(
            bp.EncodeError, match=r"holds the lone surrogate '\\ud800' \(character 2, byte 3\)"
        ) as caught:
            take("é!" + HALF)
        assert (caught.value.character, caught.value.byte) == (2, 3), name


def test_a_text_of_a_subclass_is_its_text(tok: bp.Tokenizer) -> None:
    text = "lower é low"
    plain: list[Any] = [text, text + HALF]
    lying: list[Any] = [_Liar(text), _Liar(text + HALF)]
    for own, lie in zip(plain, lying, strict=True):
        assert tok.encode(own, errors="replace") == tok.encode(lie, errors="replace")
        assert tok.count(own, errors="replace") == tok.count(lie, errors="replace")
        index, of_liar = tok.index(own, errors="replace"), tok.index(lie, errors="replace")
        assert len(index) == len(of_liar)
        assert index.count(1, 7) == of_liar.count(1, 7)
        at_five = {"boundary": lambda _: [5], "errors": "replace"}
        assert tok.chunks(own, 3, **at_five) == tok.chunks(lie, 3, **at_five)  # type: ignore[arg-type]
        assert tok.fit(own, 2, errors="replace") == tok.fit(lie, 2, errors="replace")
        assert tok.chunks(own, 3, errors="replace") == tok.chunks(lie, 3, errors="replace")
        assert tok.encode_batch([own], errors="replace") == tok.encode_batch([lie], errors="replace")
        assert lowlevel.locate(tok, own, errors="replace") == lowlevel.locate(tok, lie, errors="replace")
        appender, liar = tok.appender(errors="replace"), tok.appender(errors="replace")
        appender.append(own)
        liar.append(lie)
        assert appender.text == liar.text
        assert appender.count() == liar.count()
        stream, of_liar_too = tok.encode_stream(errors="replace"), tok.encode_stream(errors="replace")
        pushed = [stream.push("lo" + HALF), stream.push(own), stream.finish()]
        of_lies = [of_liar_too.push(_Liar("lo" + HALF)), of_liar_too.push(lie), of_liar_too.finish()]
        assert [ids.tolist() for ids in pushed] == [ids.tolist() for ids in of_lies]
    with pytest.raises(bp.EncodeError) as caught:
        tok.encode(_Liar("é" + HALF))
    assert (caught.value.character, caught.value.byte) == (1, 2)
    assert bp.Control(_Liar("<|e|>")) == bp.Control("<|e|>")
    assert tok.token_id(_Liar("low")) == tok.token_id("low")
    data = text.encode() + b"\xff"
    assert tok.fit(_LyingBytes(data), 4, errors="replace") == tok.fit(data, 4, errors="replace")
    assert len(tok.index(_LyingBytes(text.encode()))) == len(text.encode())


def _objects(tok: bp.Tokenizer) -> dict[str, tuple[Any, Callable[[Any], Any], list[Callable[[Any], Any]]]]:
    """Objects that a call changes while it asks the caller's code, and the calls that must not come then."""
    return {
        "DecodeStream": (
            tok.decode_stream(),
            lambda ids: ids,
            [lambda it: it.push(97), operator.methodcaller("finish"), operator.attrgetter("pending")],
        ),
        "DecodeStreamBatch": (
            tok.decode_stream_batch(1),
            lambda ids: [ids],
            [
                lambda it: it.push([97]),
                operator.methodcaller("finish"),
                operator.methodcaller("reset"),
                operator.attrgetter("pending"),
                len,
            ],
        ),
    }


@pytest.mark.parametrize("name", ["DecodeStream", "DecodeStreamBatch"])
@pytest.mark.parametrize("in_a_thread", [False, True])
def test_an_iterator_that_comes_back_gets_a_busy_error(tok: bp.Tokenizer, name: str, in_a_thread: bool) -> None:
    it, of, calls = _objects(tok)[name]
    errors: list[bp.BusyError] = []

    def ids() -> Iterator[int]:
        def come_back() -> None:
            for call in calls:
                with pytest.raises(bp.BusyError, match=f"another call is using this {name}; ") as caught:
                    call(it)
                errors.append(caught.value)

        yield tok.token_id("low")
        if in_a_thread:
            thread = threading.Thread(target=come_back)
            thread.start()
            thread.join()
        else:
            come_back()

    assert it.push(of(ids())) in ("low", ["low"])
    assert len(errors) == len(calls)
    assert isinstance(errors[0], RuntimeError)
    assert it.push(of([97])) in ("a", ["a"])


def test_growing_texts_and_streams_of_two_threads_end_in_busy_errors(tok: bp.Tokenizer) -> None:
    """Each call of either thread is done or a BusyError; none waits for ever, and what is left is what was done."""
    text = "lower low " * 2_000
    appender, prepender, stream = tok.appender(), tok.prepender(), tok.encode_stream()
    done: dict[str, int] = dict.fromkeys(("append", "prepend", "push"), 0)
    faults: list[BaseException] = []
    busy = 0
    both = threading.Barrier(2)

    def work() -> None:
        nonlocal busy
        both.wait()
        for _ in range(150):
            for name, call in (
                ("append", lambda: [appender.append(text) is None, appender.count()]),  # type: ignore[func-returns-value]
                ("prepend", lambda: [prepender.prepend(text) is None, prepender.count()]),  # type: ignore[func-returns-value]
                ("push", lambda: [stream.push(text)]),
            ):
                try:
                    done[name] += bool(call())
                except bp.BusyError:  # noqa: PERF203
                    busy += 1
                except BaseException as error:
                    faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert not faults
    assert busy > 0
    for growing in (appender, prepender):
        assert growing.count() == tok.count(growing.text)
        assert len(growing.text) % len(text) == 0
    assert len(appender.text) // len(text) >= done["append"]


def test_a_counter_is_not_asked_by_its_own_iterator() -> None:
    from bytepair._core import PieceCounter

    counter = PieceCounter("[a-z]+", [])
    options = {"group": 0, "errors": "strict", "threads": 1, "tell": None}

    def chunks() -> Iterator[bytes]:
        yield b"low low"
        counter.add("lower", 2)

    with pytest.raises(bp.BusyError, match="another call is using this PieceCounter"):
        counter.count_chunks(chunks(), options)


def test_a_generator_can_call_the_tokenizer(tok: bp.Tokenizer) -> None:
    def texts() -> Iterator[str]:
        for text in ("low", "lower"):
            assert tok.encode_batch(["low", text])[0] == tok.encode("low")
            yield text

    assert tok.encode_batch(texts()) == [tok.encode("low"), tok.encode("lower")]
    assert tok.decode(id for text in texts() for id in tok.encode(text)) == "lowlower"  # type: ignore[arg-type]
