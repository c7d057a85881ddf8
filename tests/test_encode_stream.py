"""A text in parts has the ids and the errors of the whole, and little of it is kept in memory."""

from __future__ import annotations

import itertools
import lzma
import random
import threading
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("low", " lower", " ", "\n", "é", "日本", "\U0001f600", "e\u0301", "<|end|>", "<|", " 12", "it's", "Low", "  ")
REAL = {
    "gpt2/tokenizer.json": True,
    "roberta-base/tokenizer.json": True,
    "llama2/tokenizer.json": True,
    "llama3/tokenizer.json.xz": True,
    "qwen3/tokenizer.json.xz": True,
    "gpt-neox/tokenizer.json": True,
    "bert-base-uncased/tokenizer.daulet.json": True,
    "t5-small/tokenizer.json": True,
    "clip/tokenizer.json": False,
}
"""Tokenizers, and whether they can be cut anywhere."""


def joined(tok: bp.Tokenizer, parts: list[Any], **options: Any) -> list[int]:
    return [id for ids in tok.encode_parts(parts, **options) for id in ids.tolist()]


def variants() -> dict[str, bp.Tokenizer]:
    counts = {"low": 9, " lower": 8, " low": 7, "é": 3, "日本": 3, "it": 2, "'s": 2, " 12": 2}
    tok = bp.train(counts, vocab_size=272, special_tokens=["<|end|>"])
    spec, mark = tok.spec, bp.AddedToken("low\n", 300, special=False)
    texts = ["low lower it's 12", "日本 lower low é"]
    changes: dict[str, dict[str, Any]] = {
        "plain": {},
        "across": {"added_tokens": (*spec.added_tokens, mark, bp.AddedToken("r lo", 301, special=False))},
        "strips": {"added_tokens": (*spec.added_tokens, mark._replace(lstrip=True, rstrip=True))},
        "alone": {"added_tokens": (*spec.added_tokens, mark._replace(content="low", single_word=True))},
        "normalized": {"added_tokens": (*spec.added_tokens, mark._replace(normalized=True))},
        "composed": {"normalizers": ("NFC",), "added_tokens": (mark._replace(content="é l", normalized=True),)},
        "lowered": {"normalizers": ("NFKC", "Lowercase")},
        "spaced": {"prefix_space": True},
        "stripped": {"normalizers": ('{"type": "Strip", "strip_left": true, "strip_right": true}',)},
        "in a row": {"split": (r"\p{N}{1,3}", *spec.split)},
        "whole": {"split": ()},
        "looking back": {"split": (r"(?<=o)w|\w+|\s+|.",)},
    }
    made = {name: bp.Tokenizer(spec.replace(**change)) for name, change in changes.items()}
    return made | {"wordpiece": bp.train_wordpiece(iter(texts), 29), "unigram": bp.train_unigram(iter(texts), 20)}


VARIANTS = variants()


@pytest.mark.parametrize("name", VARIANTS)
def test_every_way_to_cut_a_short_text(name: str) -> None:
    tok, texts = VARIANTS[name], ["low\n low", "é<|end|> 12", " it's\U0001f600", "e\u0301 low\n r lower"]
    for text, special in itertools.product(texts, ("allow", "text")):
        options: dict[str, Any] = {"special": special}
        expected = tok.encode(text, **options)
        for whole in (text, text.encode()):
            for first, second in itertools.combinations_with_replacement(range(len(whole) + 1), 2):
                parts = [whole[:first], whole[first:second], whole[second:]]
                assert joined(tok, parts, **options) == expected, parts


@pytest.mark.parametrize("name", VARIANTS)
def test_random_cuts_of_long_texts(name: str) -> None:
    tok, draw = VARIANTS[name], random.Random(name)
    for _ in range(20):
        text = "".join(draw.choices(WORDS, k=draw.choice([10, 3000, 8000])))
        whole: Any = draw.choice([text, text.encode()])
        places = [0, *sorted(draw.choices(range(len(whole)), k=draw.choice([1, 30, 300]))), len(whole)]
        parts = [whole[start:end] for start, end in itertools.pairwise(places)]
        assert joined(tok, parts, special="allow") == tok.encode(text, special="allow")


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_tokenizers(name: str, data: Path, tmp_path: Path) -> None:
    path = data / "vocabs" / name
    if not path.is_file():
        pytest.skip(f"no {path}")
    if path.suffix == ".xz":
        path = tmp_path / "tokenizer.json"
        path.write_bytes(lzma.decompress((data / "vocabs" / name).read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        tok = bp.Tokenizer.from_file(path)
    draw = random.Random(name)
    for corpus in ("en_1mb.txt", "multi_1mb.txt", "code_1mb.txt"):
        text = (data / "corpora" / corpus).read_text("utf-8")[:150_000].encode()
        stream, ids, held, waiting, at = tok.encode_stream(special="text"), list[int](), 0, 0, 0
        while at < len(text):
            part = text[at : at + draw.randint(1, 9000)]
            at += len(part)
            more = stream.push(part).tolist()
            waiting = 0 if more else waiting + len(part)
            held = max(held, waiting)
            ids += more
        ids += stream.finish().tolist()
        assert ids == tok.encode(text, special="text")
        if REAL[name]:
            assert held < 40_000, corpus


def test_ids_come_while_text_does(tok: bp.Tokenizer) -> None:
    stream = tok.encode_stream()
    for _ in range(50):
        assert len(stream.push("def f(x): return x\n" * 1000)) > 4000
    assert len(stream.finish()) < 20
    # If nothing can be cut, all ids come at the end.
    backtracking = bp.Tokenizer(tok.spec.replace(split=(r"(?:(?=l)l|\w)+|\s|.",)))
    whole = backtracking.encode_stream()
    assert not any(len(whole.push(b"low " * 5000)) for _ in range(10))
    assert len(whole.finish()) == len(backtracking.encode("low " * 50_000))


def test_a_stream_is_as_new_when_it_is_finished(tok: bp.Tokenizer) -> None:
    stream = tok.encode_stream()
    assert stream.finish().tolist() == []
    for part in ("low", b"l\xc3\xa9", "low"):
        stream.push(part)
        text = part if isinstance(part, str) else part.decode()
        assert stream.finish().tolist() == tok.encode(text)


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        (["é low ", "é low<|e", "nd|> low"], {}),
        (["low" * 4000, " é", " low<|end|>"], {"special": set()}),
        ([b"\xc3\xa9" * 3000, b" low\xc3", b"\xff"], {}),
        ([b"low \xf0\x9f", b"\x98"], {}),
        (["é" * 5000, " low\ud800", "x"], {}),
    ],
)
def test_errors_are_those_of_the_whole(tok: bp.Tokenizer, parts: list[Any], options: dict[str, Any]) -> None:
    whole = parts[0][:0].join(parts)
    with pytest.raises(bp.BytepairError) as expected:
        tok.encode(whole, **options)
    with pytest.raises(type(expected.value)) as found:
        joined(tok, parts, **options)
    got, wanted = found.value, expected.value
    assert (got.what, got.byte, got.character, got.remedy) == (
        wanted.what,
        wanted.byte,
        wanted.character,
        wanted.remedy,
    )


def test_what_is_no_text_is_replaced_as_in_the_whole(tok: bp.Tokenizer) -> None:
    for whole in (b"a\xf0\x9f\x98b\xe4\xb8\xe4\xb8\xad\xff\xc3", "a\ud83d\ude00b\ude00\ud83dc\ud83d\ud83d"):
        expected = tok.encode(whole, errors="replace")
        for at in range(len(whole) + 1):
            assert joined(tok, [whole[:at], whole[at:]], errors="replace") == expected
        assert joined(tok, [whole[at : at + 1] for at in range(len(whole))], errors="replace") == expected


def test_after_an_error_a_stream_takes_no_more(tok: bp.Tokenizer) -> None:
    stream = tok.encode_stream()
    with pytest.raises(bp.EncodeError):
        stream.push(b"low\xff ")
    with pytest.raises(ValueError, match="begin another"):
        stream.push(b"low")
    with pytest.raises(ValueError, match="begin another"):
        stream.finish()


def test_wrong_arguments_are_refused(tok: bp.Tokenizer) -> None:
    stream = tok.encode_stream()
    stream.push("low")
    with pytest.raises(TypeError, match="all str or all bytes"):
        stream.push(b"low")
    with pytest.raises(TypeError, match="not int"):
        stream.push(1)  # type: ignore[arg-type]  # it is refused
    assert stream.finish().tolist() == tok.encode("low")
    with pytest.raises(ValueError, match="errors="):
        tok.encode_stream(errors="ignore")  # type: ignore[arg-type]
    with pytest.raises(bp.SpecialTokenError):
        tok.encode_stream(special={"<none>"})


def test_one_piece_that_never_ends(tok: bp.Tokenizer) -> None:
    parts = ["a" * 1000] * 300
    assert joined(tok, parts) == tok.encode("a" * 300_000)


def test_streams_side_by_side(tok: bp.Tokenizer, sources: list[str]) -> None:
    expected, found = [tok.encode(text) for text in sources], dict[int, list[int]]()

    def work(number: int) -> None:
        text = sources[number]
        found[number] = joined(tok, [text[at : at + 5000] for at in range(0, len(text), 5000)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(sources))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(len(sources))] == expected
