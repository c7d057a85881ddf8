"""Malicious files and texts: errors with a place, bounded memory, and no panic."""

from __future__ import annotations

import base64
import json
import multiprocessing
import pickle
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import kinds, saved

import bytepair as bp
from bytepair._core import decode_tokens, normalize, pre_tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEGABYTE = 1_000_000


def step(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def replace(content: str, **pattern: str) -> dict[str, Any]:
    return step("Replace", pattern=pattern, content=content)


def split(regex: str) -> dict[str, Any]:
    return step("Split", pattern={"Regex": regex}, behavior="Isolated", invert=False)


def file(**stages: Any) -> bytes:
    """A model of characters with some stages."""
    return json.dumps(kinds.file(kinds.bpe(byte_fallback=True), **stages)).encode()


def model(made: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(kinds.file({**made, **changes})).encode()


def of(stage: str, *steps: dict[str, Any]) -> bytes:
    inner = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    return file(**{stage: {"type": "Sequence", inner[stage]: list(steps)}})


def nested(stage: bytes, inner: bytes, depth: int) -> bytes:
    opened = b'{"type":"Sequence","' + inner + b'":[' if inner else b"["
    closed = b"]}" if inner else b"]"
    return (
        b'{"model":' + json.dumps(kinds.bpe()).encode() + b',"' + stage + b'":' + opened * depth + closed * depth + b"}"
    )


def scores(written: bytes) -> bytes:
    return model(kinds.unigram()).replace(b"-2.5", written)


def template(ids: int, pieces: int) -> bytes:
    special = {"[CLS]": {"id": "[CLS]", "ids": [6] * ids, "tokens": ["[CLS]"] * ids}}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * pieces
    return file(post_processor={**kinds.TEMPLATE, "special_tokens": special, "single": single})


REFUSED: dict[str, tuple[bytes, str]] = {
    "arrays": (nested(b"x", b"", 100_000), "not JSON"),
    "nested normalizers": (nested(b"normalizer", b"normalizers", 100_000), "not JSON"),
    "less nested normalizers": (nested(b"normalizer", b"normalizers", 100), "more than 16 deep"),
    "nested decoders": (nested(b"decoder", b"decoders", 100), "more than 16 deep"),
    "nested post-processors": (nested(b"post_processor", b"processors", 100), "in one another"),
    "many steps": (of("normalizer", *[step("NFC")] * 10_000), "at most 32"),
    "a key twice": (file(added_tokens=[kinds.added("<x>", 50)]).replace(b'"id"', b'"id":1,"id"', 1), "occurs twice"),
    "an id of 5000 digits": (b'{"model":{"type":"WordLevel","vocab":{"a":' + b"9" * 5000 + b"}}}", "not JSON"),
    "an id of 4000 digits": (b'{"model":{"type":"WordLevel","vocab":{"a":' + b"9" * 4000 + b"}}}", "the id of"),
    "an id that is too large": (model(kinds.word_level(), vocab={"<unk>": 2**32 - 1}), "the id of"),
    "a merge of a megabyte": (model(kinds.bpe(), merges=["x" * MEGABYTE + " y"]), "not in the vocabulary"),
    "a merge that is none": (model(kinds.bpe(), merges=["x" * MEGABYTE]), "is not a merge"),
    "an unknown token of a megabyte": (model(kinds.bpe(), unk_token="x" * MEGABYTE), "which is not a token"),
    "a model of a megabyte": (model(step("x" * MEGABYTE)), "not supported"),
    "a step of a megabyte": (of("normalizer", step("x" * MEGABYTE)), "not supported"),
    "a field of a megabyte": (of("normalizer", step("NFC", **{"x" * MEGABYTE: 1})), "not supported"),
    "an added token of a megabyte": (file(added_tokens=[kinds.added("x" * MEGABYTE, 50)]), "at most 1024"),
    "an added token that vanishes": (
        file(added_tokens=[kinds.added("\u0301", 50, normalized=True)], normalizer=step("StripAccents")),
        "has 0 bytes once it is normalized",
    ),
    "an added token that grows": (
        file(
            added_tokens=[kinds.added("l" * 40, 50, normalized=True)],
            normalizer=replace("x" * 100, String="l"),
        ),
        "bytes once it is normalized",
    ),
    "an added token that grows without end": (
        file(
            added_tokens=[kinds.added("l", 50, normalized=True)],
            normalizer={"type": "Sequence", "normalizers": [replace("ll", String="l")] * 32},
        ),
        "more than 4128 bytes",
    ),
    "a replacement of a megabyte": (of("normalizer", replace("x" * MEGABYTE, String="l")), "more than 1024"),
    "a decoder's replacement": (of("decoder", replace("x" * 1025, String="l")), "more than 1024"),
    "a prefix of a megabyte": (of("normalizer", step("Prepend", prepend="x" * MEGABYTE)), "more than 1024"),
    "a table's replacement": (
        of("normalizer", step("Precompiled", precompiled_charsmap=kinds.charsmap(b"a" * 1025))),
        "more than 1024",
    ),
    "no length": (of("pre_tokenizer", step("FixedLength", length=0)), "no characters"),
    "a strip beyond 64 bits": (of("decoder", step("Strip", content="l", start=1 << 64, stop=0)), "not supported"),
    "a word beyond 64 bits": (model(kinds.word_piece(), max_input_chars_per_word=1 << 64), "max_input_chars_per_word"),
    "an unknown id beyond 64 bits": (model(kinds.unigram(), unk_id=1 << 64), "unk_id"),
    "a score that is none": (scores(b"NaN"), "the score"),
    "a score that is infinite": (scores(b"-1e400"), "the score"),
    "a score of 400 digits": (scores(b"9" * 400), "the score"),
    "half a character": (model(kinds.word_level()).replace(b'"low"', b'"\xed\xa0\x80"'), "not JSON"),
    "half a character, escaped": (model(kinds.word_level()).replace(b'"low"', b'"\\ud800"'), "lone surrogate"),
    "UTF-16": (model(kinds.word_level()).decode().encode("utf-16"), "not a tokenizer"),
    "a pattern of a megabyte": (of("pre_tokenizer", split("a" * MEGABYTE)), "at most 131072"),
    "a pattern of many words": (
        of("normalizer", replace("", Regex="|".join(map(str, range(50_000))))),
        "at most 131072",
    ),
    "a pattern that is too deep": (of("pre_tokenizer", split("(" * 5000 + ")" * 5000)), "does not compile"),
    "a pattern that repeats": (of("pre_tokenizer", split("(((a{100}){100}){100}){100}")), "does not compile"),
    "a pattern that looks ahead far": (of("normalizer", replace("", Regex="(?=((a{1000}){1000}){1000})a")), "compile"),
    "a template of many ids": (template(100_000, 1), "use at most"),
    "a template of many pieces": (template(1000, 1000), "use at most"),
    "something else": (b'{"model": [1]}', "not a tokenizer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_and_where(tmp_path: Path, name: str) -> None:
    data, message = REFUSED[name]
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    kind = bp.errors.PatternError if name.startswith("a pattern") else bp.FormatError
    with pytest.raises(kind, match=message) as caught:
        bp.Tokenizer.from_file(path, partial_alphabet=True)
    assert caught.value.file == str(path)
    # The length of the file's path depends on the machine.
    assert len(str(caught.value).replace(str(path), "")) < 1000


GROWN: dict[str, bytes] = {
    "doubling": of("normalizer", *[replace("ll", String="l")] * 32),
    "a kilobyte for each": of("normalizer", replace("x" * 1024, String="l")),
    "a kilobyte between all": of("normalizer", replace("x" * 1024, String="")),
    "a kilobyte at each place": of("normalizer", replace("x" * 1024, Regex="(?=l)")),
    "two bytes for one": of("normalizer", replace("é", String="l"), *[step("ByteLevel")] * 30),
    "a table": of(
        "normalizer",
        replace("A", String="l"),
        step("Precompiled", precompiled_charsmap=kinds.charsmap(b"a" * 1000 + b"\0")),
    ),
    "bytes of pieces": of(
        "pre_tokenizer",
        *[step("ByteLevel", add_prefix_space=True, trim_offsets=False, use_regex=False)] * 32,
    ),
}


@pytest.mark.parametrize("name", GROWN)
def test_steps_make_no_more_than_32_times_a_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(GROWN[name])
    tok = bp.Tokenizer.from_file(path)
    text = "日l" * 20_000
    for call in (tok.encode, tok.count, tok.offsets):
        with pytest.raises(bp.EncodeError, match="of this text"):
            call(text)
    # A short text has some room, for any output.
    assert tok.encode("") == []


def test_the_bound_on_what_steps_make_is_the_same_alone_and_with_offsets() -> None:
    for content in (1, 31, 33, 100):
        for count in (1, 130, 5000):
            one, text = [json.dumps(replace("x" * content, String="l"))], "l" * count
            if content * count <= 32 * count + 4096:
                assert normalize(one, text) == normalize(one, text, offsets=True)[0] == "x" * (content * count)
                continue
            for offsets in (False, True):
                with pytest.raises(bp.EncodeError, match=f"more than {32 * count + 4096} bytes"):
                    normalize(one, text, offsets=offsets)


def test_decoders_make_no_more_than_32_times_their_tokens() -> None:
    ctc = json.dumps(step("CTC", pad_token="_", word_delimiter_token="", cleanup=True))
    tokens = ["l", "o"] * 10_000
    for steps in (
        [json.dumps(replace("ll", String="l"))] * 32,
        [json.dumps(step("BPEDecoder", suffix=""))] * 32,
        [ctc] * 32,
        [json.dumps(replace("x" * 1024, String="l"))],
    ):
        with pytest.raises(bp.EncodeError, match="of this text"):
            decode_tokens(steps, tokens)
    far = [json.dumps(step("Strip", content="l", start=1 << 63, stop=(1 << 64) - 1))]
    assert decode_tokens(far, ["lol"]) == "o"


# The peak memory of a process, in kilobytes; it starts afresh with each program.
CHILD = """
import sys, warnings
import bytepair as bp, bytepair.formats.hf_json, bytepair.model.spec
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
warnings.simplefilter("ignore")
before = peak()
try:
    tok = bp.Tokenizer.from_file(sys.argv[1], partial_alphabet=True)
except (bp.FormatError, bp.errors.PatternError):
    pass
print(1024 * (peak() - before))
"""


def large() -> Iterator[tuple[str, bytes, int]]:
    """Files, and the allowed memory for loading as a multiple of their size."""
    yield "a token of a megabyte", model(kinds.bpe(), vocab={**kinds.bpe()["vocab"], "x" * MEGABYTE: 9}), 8
    words = {f"##w{number * 7919 % 1_000_003}": 100 + number for number in range(100_000)}
    # JSON makes an object of each token and each id.
    yield "many tokens", model(kinds.word_piece(), vocab={**kinds.word_piece()["vocab"], **words}), 24
    yield "an id that is far", model(kinds.word_level(), vocab={"<unk>": 0, "a": 2**32 - 2}), 8
    rows = [kinds.added(chr(0x10000 + number), 50 + number) for number in range(20_000)]
    yield "many added tokens", file(added_tokens=rows), 16
    yield "arrays", nested(b"x", b"", 1_000_000), 8
    small = base64.b64decode(kinds.charsmap())
    units = struct.pack("<I", 3 * MEGABYTE) + small[4:-2] + bytes(3 * MEGABYTE - len(small) + 6) + small[-2:]
    table = step("Precompiled", precompiled_charsmap=base64.b64encode(units).decode())
    yield "a table of three megabytes", of("normalizer", table), 8
    yield "a replacement of a megabyte", REFUSED["a replacement of a megabyte"][0], 8
    yield "a pattern of many words", REFUSED["a pattern of many words"][0], 8
    yield "a pattern that repeats", REFUSED["a pattern that repeats"][0], 8
    yield "a template of many pieces", template(1000, 1000), 8


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_loading_costs_memory_in_proportion_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for name, data, times in large():
        path.write_bytes(data)
        done = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True)
        assert int(done.stdout) < times * len(data) + 24 * MEGABYTE, name


RUNS = (
    "l",
    "\u0301",
    "e\u0323\u0301",
    " ",
    "▁",
    "日",
    "👩\u200d💻",
    "\u200d",
    "\r\n",
    "1",
    ".",
    "ﷺ",
    "low ",
    "\0",
    "\u0600",
)


@pytest.mark.parametrize("kind", kinds.FILES)
def test_endless_runs_work_in_every_kind(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(kinds.FILES[kind])
    tok = bp.Tokenizer.from_file(path, partial_alphabet=True)
    for run in RUNS:
        saved.use(tok, run * (20_000 // len(run.encode())))


@pytest.mark.parametrize("run", RUNS)
def test_endless_runs_work_in_every_step(run: str) -> None:
    text = run * (20_000 // len(run.encode()))
    for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel", json.dumps(kinds.BERT)):
        assert normalize([name], text) == normalize([name], text, offsets=True)[0]
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts", json.dumps(kinds.METASPACE)):
        places = [place for _, offsets in pre_tokenize([name], text) for place in offsets]
        assert places == sorted(places)


def batch_of(tok: bp.Tokenizer, texts: list[str], threads: int) -> list[list[int]]:
    return tok.encode_batch(texts, threads=threads, special="text", added="text")


@pytest.mark.parametrize("kind", kinds.FILES)
def test_threads_forks_and_pickles_give_the_same_ids(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(kinds.FILES[kind])
    tok = bp.Tokenizer.from_file(path, partial_alphabet=True)
    letters = "lo" if kind == "bytes" else saved.HOSTILE
    texts = [letters[number % 5 :] * (number % 7) for number in range(200)] + [letters * 500, ""]
    expected = [tok.encode(text, special="text", added="text") for text in texts]
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok
    for threads in (1, 2, 7):
        assert batch_of(tok, texts, threads) == expected
        assert batch_of(again, texts, threads) == expected
    if "fork" in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.starmap(batch_of, [(tok, texts, threads) for threads in (1, 2, 7)]) == [expected] * 3
