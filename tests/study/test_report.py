"""Reports: every number is recomputed in plain Python, for every kind of corpus."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair import _core
from bytepair.study.report import reading, words
from bytepair.study.report.measures import entropy, ranks, renyi_efficiency, texts_of
from tests.conftest import HOSTILE

ALPHABETS = [
    "abcdefgh    \n.,'!_0123",
    "äöüßéè  \n-",
    "漢字仮名交じり文。、\u3000",
    "ภาษาไทย ",
    "абвг де\n",
    "👍🏽👨‍👩‍👧 \u200d\ufe0f",
    "שלום עולם\u05b0",
    "\r\n\t\x00\u2028",
]


def some_texts(seed: int, most: int = 12) -> list[str]:
    draw = random.Random(seed)
    texts = ["".join(draw.choices(draw.choice(ALPHABETS), k=draw.randint(0, 80))) for _ in range(draw.randint(1, most))]
    return [*texts, "".join(draw.sample(HOSTILE, 2))]


def plain_words(text: str) -> int:
    ends = [*_core.places(text, "word"), len(text)]
    stretches = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return sum(any(letter.isalnum() for letter in stretch) for stretch in stretches)


@pytest.mark.parametrize("seed", range(12))
def test_all_numbers_are_those_of_plain_python(tok: bp.Tokenizer, seed: int) -> None:
    corpora = {name: some_texts(seed * 10 + number) for number, name in enumerate(["en", "zh", "code"])}
    found = bp.report({"mine": tok}, {name: iter(texts) for name, texts in corpora.items()}, context=1000, rare=3)
    whole: Counter[int] = Counter()
    rates = {}
    for size, (name, texts) in zip(found.corpora, corpora.items(), strict=True):
        uses = Counter(id for text in texts for id in tok.encode(text, special="text"))
        whole += uses
        cost = found.cost("mine", name)
        characters, length = sum(map(len, texts)), sum(len(text.encode()) for text in texts)
        tokens, many = uses.total(), sum(map(plain_words, texts))
        assert (size.documents, size.characters, size.bytes, size.words) == (len(texts), characters, length, many)
        assert cost.tokens == tokens
        assert cost.bytes_per_token == pytest.approx(length / tokens)
        assert cost.tokens_per_byte == pytest.approx(tokens / length)
        assert cost.tokens_per_character == pytest.approx(tokens / characters)
        assert cost.tokens_per_word == (pytest.approx(tokens / many) if many else None)
        rates[name] = tokens / length, tokens / characters
        assert cost.premium_per_byte == pytest.approx(rates[name][0] / rates["en"][0])
        assert cost.premium_per_character == pytest.approx(rates[name][1] / rates["en"][1])
        assert cost.parity is None
        assert cost.context_characters == 1000 * characters // tokens
        assert cost.context_words == 1000 * many // tokens
        ids = set(range(tok.vocab_size)) - set(tok.special_tokens.values())
        assert (cost.used, cost.never_used) == (len(uses), len(ids) - len(uses))
        assert cost.rarely_used == sum(count < 3 for count in uses.values())
        bits = -sum(count / tokens * log2(count / tokens) for count in uses.values())
        assert cost.entropy == pytest.approx(bits)
        assert cost.bits_per_byte == pytest.approx(bits * tokens / length)
        falling = sorted(uses.values(), reverse=True)
        assert all(falling[rank - 1] == count for rank, count in cost.ranks)
        assert (cost.ranks[0][0], cost.ranks[-1][0]) == (1, len(falling))
        by_length: Counter[int] = Counter()
        for id, count in uses.items():
            by_length[len(tok.token_bytes(id))] += count
        assert dict(cost.lengths) == by_length
        parts = sum(
            count for id, count in uses.items() if len(tok.token_bytes(id)) == 1 and tok.token_bytes(id)[0] > 127
        )
        assert (cost.unknown, cost.byte_tokens) == (0, parts)
        assert [(used.uses, used.token) for used in cost.most_used] == [
            (uses[used.id], tok.token_bytes(used.id)) for used in cost.most_used
        ]
        assert [used.uses for used in cost.most_used] == falling[:20]
    (use,) = found.vocabularies
    assert (use.used, use.never_used) == (len(whole), len(ids) - len(whole))
    assert use.rarely_used == sum(count < 3 for count in whole.values())
    assert use.tokens == sum(many for _, many in use.lengths) == len(ids)
    assert all(used.id not in whole and len(used.token) > 1 for used in use.never_used_examples)
    assert all(whole[used.id] == used.uses < 3 for used in use.rarely_used_examples)
    assert (use.fingerprint, use.kind, use.vocab_size) == (tok.fingerprint, tok.spec.semantics, tok.vocab_size)


def test_the_same_corpus_twice_costs_the_same(tok: bp.Tokenizer, sources: list[str]) -> None:
    found = bp.report({"a": tok, "b": tok}, {"one": iter(sources), "two": iter(sources)}, parallel=True)
    assert {(cost.parity, cost.premium_per_byte, cost.premium_per_character) for cost in found.costs} == {(1, 1, 1)}
    assert len({cost.tokens for cost in found.costs}) == 1


def test_parity_is_of_the_same_content(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "en").write_text("low\n\nlowest of all\n")
    (tmp_path / "de").write_text("niedrig\n\nam niedrigsten von allen\n")
    found = bp.report({"mine": tok}, {name: str(tmp_path / name) for name in ("en", "de")}, parallel=True)
    en, de = found.costs
    assert [size.documents for size in found.corpora] == [3, 3]
    assert de.parity == de.tokens / en.tokens
    lines = ["niedrig", "", "am niedrigsten von allen"]
    assert de.tokens == sum(tok.count_batch(lines))
    with pytest.raises(bp.CorpusError, match="'en' has 3 documents and 'fr' has 1"):
        bp.report({"mine": tok}, {"en": str(tmp_path / "en"), "fr": iter(["bas"])}, parallel=True)


def test_nothing_is_divided_by_nothing(tok: bp.Tokenizer) -> None:
    found = bp.report({"mine": tok}, {"none": iter([]), "empty": iter(["", ""]), "signs": iter(["..."])})
    none, empty, signs = found.costs
    for cost in (none, empty):
        assert (cost.tokens, cost.used, cost.ranks, cost.lengths, cost.most_used) == (0, 0, (), (), ())
        assert (cost.bytes_per_token, cost.tokens_per_word, cost.entropy, cost.renyi_efficiency) == (None,) * 4
        assert (cost.premium_per_byte, cost.context_characters) == (None, None)
    assert [size.documents for size in found.corpora] == [0, 2, 1]
    assert (signs.tokens_per_word, signs.context_words, signs.premium_per_byte) == (None, 0, None)
    json.dumps(found.as_dict(), allow_nan=False)
    assert "–" in str(found)
    assert "There is nothing to draw." in bp.report({"mine": tok}, {"none": iter([])}).html()
    assert found.html()


def test_the_report_is_plain_data(tok: bp.Tokenizer) -> None:
    plain = bp.report({"mine": tok}, {"en": iter(["low é"])}, examples=1).as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["costs"][0]["tokens"] == tok.count("low é")
    assert bytes.fromhex(plain["costs"][0]["most_used"][0]["hex"]) in tok.tokens("low é")
    assert [len(plain["vocabularies"][0][kind]) for kind in ("never_used_examples", "rarely_used_examples")] == [1, 1]


def numbers(found: bp.CorpusReport) -> dict[str, Any]:
    plain = found.as_dict()
    for size in plain["corpora"]:
        del size["documents"]
    return plain


def test_files_of_all_kinds_hold_the_same_corpus(tok: bp.Tokenizer, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    texts = some_texts(99)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as file:
        file.write((tmp_path / "a.jsonl").read_bytes())
    pyarrow.parquet.write_table(pa.table({"body": texts}), tmp_path / "a.parquet")
    wanted = bp.report({"mine": tok}, {"x": iter(texts)})
    for name in ("a.jsonl", "a.jsonl.gz", "a.parquet"):
        assert bp.report({"mine": tok}, {"x": str(tmp_path / name)}, field="body") == wanted, name
    assert bp.report({"mine": tok}, {"x": {"a": iter(texts[:3]), "b": iter(texts[3:])}}) == wanted
    assert bp.report({"mine": tok}, {"x": iter(text.encode() for text in texts)}) == wanted


@pytest.mark.parametrize("size", [64, 1000, 100_000])
def test_long_files_are_read_in_parts(
    tok: bp.Tokenizer, sources: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    text = "".join(sources[:2])[:30_000] + "".join(some_texts(3)) + "x" * 3000 + " end" * 100
    (tmp_path / "a.txt").write_bytes(text.encode())
    other = bp.train({"other": 3}, vocab_size=258)
    wanted = bp.report({"mine": tok, "other": other}, {"x": iter([text])})
    monkeypatch.setattr(reading, "_BATCH_BYTES", size)
    told: list[bp.Progress] = []
    found = bp.report({"mine": tok, "other": other}, {"x": str(tmp_path / "a.txt")}, progress=told.append)
    assert found == wanted
    assert told[-1].ended
    assert told[-1].done == told[-1].total == len(text.encode())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(tok: bp.Tokenizer, sources: list[str], threads: int) -> None:
    wanted = bp.report({"mine": tok}, {"x": iter(sources[:3])})
    assert bp.report({"mine": tok}, {"x": iter(sources[:3])}, threads=threads) == wanted


@pytest.mark.parametrize("seed", range(30))
def test_words_are_the_same_in_any_slices_and_parts(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    text = "".join(some_texts(seed, 40))
    monkeypatch.setattr(words, "_SLICE", draw.randint(1, 30))
    wanted = words.count(text)
    assert wanted.words == plain_words(text)
    assert "".join(words.slices(text)) == text
    found = words.Words(0, 0)
    for part in words.slices(text):
        found += words.count(part)
    assert found == wanted
    running = words.Running(lambda parts: map(words.count, parts))
    for _ in range(2):
        cuts = sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 20)))
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            running.push(text[start:end])
        assert running.finish() == wanted


def test_words_of_ascii_are_those_of_the_core() -> None:
    letters = [chr(code) for code in range(128) if not chr(code).isalnum()] + ["a", "Z", "0", "9"]
    # Every character between two others, and all short strings of characters that can be in a word.
    texts = [one + two + three for one in "aZ09_. " for two in letters for three in "aZ09_. "]
    for size in range(1, 5):
        texts += map("".join, product("a0_.':,", repeat=size))
    for texts_of_one in (texts, [text + "é" for text in texts]):
        wrong = [text for text in texts_of_one if words.count(text).words != plain_words(text)]
        assert wrong == []


def test_a_stretch_without_an_end_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST_KEPT", 100)
    running = words.Running(lambda parts: map(words.count, parts))
    for _ in range(50):
        running.push("acgt" * 10)
        assert running._size <= 140
    assert 1 <= running.finish().words <= 50


def test_spaceless_scripts_are_named(tok: bp.Tokenizer) -> None:
    found = bp.report({"mine": tok}, {"en": iter(["plain"]), "zh": iter(["漢字、abc"]), "th": iter(["ไทย"])})
    assert [size.spaceless for size in found.corpora] == [0, 2, 3]
    assert [size.is_spaceless for size in found.corpora] == [False, True, True]
    assert "zh: few spaces between words" in str(found)
    assert "zh and th: few spaces" in found.html()


def broken(tmp_path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    (tmp_path / "a.txt").write_bytes(b"abc\xffdef")
    (tmp_path / "lines.txt").write_bytes(b"abc\nd\xe4ef\n")
    yield str(tmp_path / "a.txt"), {"file": str(tmp_path / "a.txt"), "byte": 3, "row": None}
    yield str(tmp_path / "lines.txt"), {"file": str(tmp_path / "lines.txt"), "byte": 5, "row": None}
    yield iter(["abc", b"a\xff"]), {"file": None, "byte": 1, "row": 1}
    yield iter(["abc", "ab\ud800"]), {"file": None, "character": 2, "row": 1}


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("size", [2, 1 << 20])
def test_what_is_not_utf8_is_named(
    tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: int, size: int
) -> None:
    monkeypatch.setattr(reading, "_BATCH_BYTES", size)
    source, places = list(broken(tmp_path))[case]
    with pytest.raises(bp.EncodeError, match="replace") as raised:
        bp.report({"mine": tok}, {"x": source}, parallel=case == 1)
    assert {name: getattr(raised.value, name) for name in places} == places
    source, _ = list(broken(tmp_path))[case]
    found = bp.report({"mine": tok}, {"x": source}, parallel=case == 1, errors="replace")
    assert found.corpora[0].bytes == {0: 9, 1: 9, 2: 7, 3: 8}[case]


@pytest.mark.parametrize("size", [2, 1 << 20])
def test_special_tokens_are_text_unless_the_call_says_otherwise(
    tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(reading, "_BATCH_BYTES", size)
    (tmp_path / "a.txt").write_bytes(b"abc <|end|> def")
    source = str(tmp_path / "a.txt")
    assert bp.report({"mine": tok}, {"x": source}).costs[0].tokens == tok.count("abc <|end|> def", special="text")
    allowed = bp.report({"mine": tok}, {"x": source}, special="allow").costs[0]
    assert allowed.tokens == tok.count("abc <|end|> def", special="allow")
    assert b"<|end|>" in [used.token for used in allowed.most_used]
    with pytest.raises(bp.SpecialTokenError) as raised:
        bp.report({"mine": tok}, {"x": source}, special="raise")
    assert (raised.value.file, raised.value.byte, raised.value.row) == (source, 4, None)


@pytest.mark.parametrize(
    ("corpora", "options", "error", "said"),
    [
        ({}, {}, bp.CorpusError, "no corpora"),
        ([["a"]], {}, TypeError, "corpora must be a mapping"),
        ({"": iter(["a"])}, {}, TypeError, "'' cannot name"),
        ({"x": {"low": 5}}, {}, bp.CorpusError, "pieces to counts"),
        ({"x": "no/such/file"}, {}, bp.SourceError, "no file matches"),
        ({"x": b"abc"}, {}, TypeError, r"one bytes object, .* pass a list of texts"),
        ({"x": iter([1])}, {}, TypeError, "text 0 of the source is int"),
        ({"x": iter(["a"])}, {"field": "body"}, bp.SourceError, "the field 'body' has no effect"),
        ({"x": iter(["a"])}, {"context": 0}, ValueError, "context=0"),
        ({"x": iter(["a"])}, {"rare": 0}, ValueError, "rare=0"),
        ({"x": iter(["a"])}, {"threads": 0}, ValueError, "threads=0"),
        ({"x": iter(["a"])}, {"examples": -1}, ValueError, "examples=-1"),
        ({"x": iter(["a"])}, {"errors": "ignore"}, ValueError, "errors='ignore'"),
        ({"x": iter(["a"])}, {"added": "maybe"}, ValueError, "added='maybe'"),
        ({"x": iter(["a"])}, {"special": "maybe"}, ValueError, "maybe"),
    ],
)
def test_what_cannot_be_is_refused(
    tok: bp.Tokenizer, corpora: Any, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        bp.report({"mine": tok}, corpora, **options)


def test_a_tokenizer_is_needed() -> None:
    with pytest.raises(bp.CorpusError, match="no tokenizers"):
        bp.report({}, {"x": iter(["a"])})


def test_a_cost_is_found_by_its_names(tok: bp.Tokenizer) -> None:
    found = bp.report({"mine": tok}, {"en": iter(["a"])})
    assert found.cost("mine", "en") is found.costs[0]
    with pytest.raises(KeyError, match="'mine' with 'de'"):
        found.cost("mine", "de")


def test_measures_at_their_ends() -> None:
    import numpy as np

    assert entropy(np.array([5, 0])) == 0
    assert renyi_efficiency(np.array([1] * 8), 8) == pytest.approx(1)
    assert renyi_efficiency(np.array([1]), 1) is None
    assert ranks(np.arange(1, 10_001))[-1] == (10_000, 1)
    assert 40 <= len(ranks(np.arange(1, 10_001))) <= 50


@pytest.mark.parametrize(
    ("vocabulary", "kind"),
    [
        ("gpt2/tokenizer.json", "merges"),
        ("llama2/tokenizer.json", "merges"),
        ("bert-base-uncased/vocab.txt", "WordPiece"),
        ("t5-small/tokenizer.json", "Unigram"),
        ("clip/tokenizer.json", "merges"),
    ],
)
def test_real_vocabularies(data: Path, vocabulary: str, kind: str) -> None:
    tok = bp.Tokenizer.from_file(data / "vocabs" / vocabulary)
    text = (data / "corpora/multi_1mb.txt").read_bytes()[:100_000].decode("utf-8", "ignore")
    found = bp.report({"it": tok}, {"multi": iter([text]), "odd": iter(["𓀀 plain ∰ text"])}, special="text")
    multi, odd = found.costs
    uses = Counter(tok.encode(text, special="text"))
    assert multi.tokens == uses.total() == sum(many for _, many in multi.lengths)
    assert found.vocabularies[0].kind == kind
    assert found.vocabularies[0].used + found.vocabularies[0].never_used == found.vocabularies[0].tokens
    has_unknown = kind in ("WordPiece", "Unigram")
    assert (odd.unknown > 0, odd.byte_tokens > 0) == (has_unknown, not has_unknown)
    # Tokens cover the text if nothing is rewritten.
    if vocabulary.startswith("gpt2"):
        assert sum(length * many for length, many in multi.lengths) == len(text.encode())


@pytest.mark.parametrize(
    ("vocabulary", "token", "text"),
    [
        ("gpt2/tokenizer.json", b" low", b" low"),
        ("llama2/tokenizer.json", "▁low".encode(), b" low"),
        ("llama2/tokenizer.json", b"<0x0A>", b"\n"),
        ("bert-base-uncased/vocab.txt", b"##ing", b"ing"),
        ("bert-base-uncased/vocab.txt", "▁".encode(), "▁".encode()),
        ("t5-small/tokenizer.json", "▁".encode(), b" "),
        ("t5-small/tokenizer.json", b"<0x0A>", b"<0x0A>"),
        ("clip/tokenizer.json", b"low</w>", b"low"),
        ("clip/tokenizer.json", "Ã¤".encode(), "ä".encode()),
    ],
)
def test_what_tokens_stand_for(data: Path, vocabulary: str, token: bytes, text: bytes) -> None:
    assert texts_of([token], bp.Tokenizer.from_file(data / "vocabs" / vocabulary).spec) == [text]
