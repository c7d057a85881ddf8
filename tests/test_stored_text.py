"""Text as Python stores it, in one, two or four bytes a character: the ids are those of its UTF-8; no copy stays."""

from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair as bp
from bytepair import lowlevel

KINDS = {"ASCII": "\x7f", "Latin-1": "\xff", "BMP": "\uffff", "astral": "\U0010ffff"}
"""The last character of each form; the ones around where UTF-8 becomes longer are in `EDGES`."""

EDGES = "\0\x7f\x80\xff\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"


def texts(last: str) -> st.SearchStrategy[str]:
    characters = st.characters(max_codepoint=ord(last), exclude_categories=["Cs"])
    edges = st.sampled_from([edge for edge in EDGES if edge <= last])
    return st.text(st.one_of(characters, edges, st.sampled_from(" low")), max_size=80)


@pytest.mark.parametrize("kind", KINDS)
@given(draws=st.data())
def test_each_call_takes_a_str_as_its_utf8(tok: bp.Tokenizer, kind: str, draws: st.DataObject) -> None:
    text = draws.draw(texts(KINDS[kind]))
    utf8 = text.encode()
    ids = tok.encode(utf8)
    assert tok.encode(text) == tok.encode_array(text).tolist() == tok.encode([text]) == ids
    assert tok.count(text) == tok.count_until(text, len(ids)) == len(ids)
    assert tok.encode_batch([text, text], threads=2) == [ids, ids]
    assert tok.count_batch([text]) == [len(ids)]
    assert tok.decode(ids) == text
    stream = tok.encode_stream()
    parts = [stream.push(text[:9]), stream.push(text[9:]), stream.finish()]
    assert [id for part in parts for id in part.tolist()] == ids
    places = {at: len(text[:at].encode()) for at in range(len(text) + 1)}
    assert [(places[start], places[end]) for start, end in tok.offsets(text)] == tok.offsets(utf8)
    assert tok.fit(text, 3).encode() == tok.fit(utf8, 3)
    assert lowlevel.locate(tok, text)[0] == ids


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
@pytest.mark.parametrize("before", ["", "low", "é" * 40, "世界" * 20, "é世😀" * 20, "low é " * 12_000])
@pytest.mark.parametrize("behind", ["", "low", "😀"])
def test_a_lone_surrogate_is_placed(tok: bp.Tokenizer, code: int, before: str, behind: str) -> None:
    surrogate = chr(code)
    text = before + surrogate + behind
    calls: list[Any] = [tok.encode, tok.encode_array, tok.count, tok.offsets, lambda text: tok.encode_batch(["", text])]
    for call in calls:
        with pytest.raises(bp.EncodeError, match="holds the lone surrogate") as caught:
            call(text)
        assert (caught.value.byte, caught.value.character) == (len(before.encode()), len(before))
        assert repr(surrogate) in str(caught.value)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert tok.encode(text, errors="replace") == tok.encode(whole)


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("mark", ["é", "世", "😀"])
def test_long_text_is_encoded_in_blocks_as_its_utf8(tok: bp.Tokenizer, threads: int | None, mark: str) -> None:
    text = f"low lower {mark}{mark} def value(self): return {mark}\n\n" * 100_000
    utf8 = text.encode()
    ids = tok.encode_array(utf8, threads=1)
    assert (tok.encode_array(text, threads=threads) == ids).all()
    assert tok.count(text, threads=threads) == len(ids)
    wrong = f"{text}<|end|>{mark}"
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok.count(wrong, threads=threads, special="raise")
    assert (caught.value.byte, caught.value.character) == (len(utf8), len(text))
    assert tok.count(wrong, threads=threads, special="allow") == len(ids) + 1 + tok.count(mark)


@pytest.mark.parametrize("split", ["none", r"(?<=b)c|\w+|\W+"])
def test_long_text_with_few_cuts_is_encoded_as_its_utf8(split: str) -> None:
    tok = bp.train({"low": 5, "er": 2}, vocab_size=258, split=split)
    text = "low世er界b" * 700_000
    assert (tok.encode_array(text) == tok.encode_array(text.encode())).all()
    assert tok.count("a" * 3_000_000 + "世") == tok.count(("a" * 3_000_000 + "世").encode())


# Memory that calls take beyond the text and their results, in kilobytes.
CHILD = """
import sys
import bytepair as bp
def status(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))
tok = bp.train({" low": 5, " lower": 4, " slow": 3}, vocab_size=264, split="gpt2")
unit = " low lower slow" * 100 + "\\U0001f600"
call = getattr(tok, sys.argv[1])
call(unit * 5000, threads=1)
text = unit * int(sys.argv[2])
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
result = call(text, threads=1)
print(status("VmHWM") - before - getattr(result, "nbytes", 0) // 1024, status("VmRSS") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("call", ["count", "encode_array"])
def test_the_peak_of_a_call_is_its_result_and_a_constant(call: str) -> None:
    # 60 million bytes of UTF-8, and four times that as Python stores it.
    command = [sys.executable, "-c", CHILD, call, "40000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    beyond, _ = map(int, done.stdout.split())
    assert beyond < 24 * 1024, f"{beyond} kB beyond the result"


@pytest.mark.parametrize("name", ["t5-small/tokenizer.json", "llama2/tokenizer.model", "gpt-neox/tokenizer.json"])
def test_real_text_is_encoded_in_blocks_as_its_utf8(data: Path, name: str) -> None:
    path = data / "vocabs" / name
    with lzma.open(data / "corpora" / "multi_20mb.txt.xz", "rt", encoding="utf-8", newline="") as file:
        text = file.read(2_200_000)
    tok = bp.load(path)
    ids = tok.encode_array(text.encode(), special="text", threads=1)
    assert (tok.encode_array(text, special="text", threads=1) == ids).all()
    assert tok.count(text, special="text") == len(ids)
