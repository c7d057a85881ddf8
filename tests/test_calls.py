"""``tok(...)``: truncation, padding and columns as in ``tokenizers``, and the inputs that a call refuses.

Long because each option is compared with the peer alone and with the others.
"""

from __future__ import annotations

import json
import pickle
import random
import sys
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tokenizers

import bytepair as bp
from bytepair.call import model_inputs
from bytepair.call import truncation as cutting
from bytepair.call.encoding import BatchEncoding
from bytepair.compat.transformers import words
from bytepair.formats import sentencepiece, vocab_txt
from tests.conftest import HOSTILE, WHOLE, share
from tests.formats import models
from tests.test_post_processing import BERT, BERT_TEMPLATE, PROCESSORS, TEXTS, fields, plain, with_processor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["plain"]

CALLS = 500 if WHOLE else 60
"""Random calls for each post-processor."""

COLUMNS = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}
ALL: dict[str, Any] = {
    "return_token_type_ids": True,
    "return_special_tokens_mask": True,
    "return_length": True,
}


@pytest.fixture(scope="module")
def tok(plain: bp.Tokenizer) -> bp.Tokenizer:
    """With BERT's post-processor."""
    return bp.Tokenizer(plain.spec.replace(post_processor=json.dumps(BERT, ensure_ascii=False)))


def some_text(random: random.Random) -> str:
    parts = [
        "low",
        " the",
        "é",
        "🦊",
        " ",
        "  ",
        "\n",
        "def x():",
        "a" * 9,
        "<mask>",
        "[SEP]",
        "\u3000",
        "日本",
        "\x85",
    ]
    return "".join(random.choices(parts, k=random.choice([0, 1, 2, 5, 20])))


def some_options(random: random.Random, *, pair: bool, added: int) -> dict[str, Any]:
    """Options of a call, without those that have no effect."""
    options: dict[str, Any] = {"add_special_tokens": random.random() < 0.8}
    if random.random() < 0.7:
        strategies = [True, "longest_first", "only_first", *(["only_second"] if pair else [])]
        options |= {
            "truncation": random.choice(strategies),
            "max_length": added + random.choice([0, 1, 2, 3, 5, 8, 30]),
        }
        options["truncation_side"] = random.choice(["left", "right"])
        if random.random() < 0.5:
            options["return_overflowing_tokens"] = True
            options["stride"] = random.choice([0, 0, 1, 2])
    if random.random() < 0.7:
        options["padding"] = random.choice([True, "longest", *(["max_length"] if "max_length" in options else [])])
        options["padding_side"] = random.choice(["left", "right"])
        if random.random() < 0.3:
            options["pad_to_multiple_of"] = random.choice([1, 4, 7])
    return options


def set_up(peer: Any, options: dict[str, Any]) -> None:
    """Sets the same options on the peer."""
    peer.no_truncation()
    peer.no_padding()
    if "truncation" in options:
        strategy = options["truncation"]
        peer.enable_truncation(
            options["max_length"],
            stride=options.get("stride", 0),
            strategy="longest_first" if strategy is True else strategy,
            direction=options["truncation_side"],
        )
    if "padding" in options:
        peer.enable_padding(
            direction=options["padding_side"],
            pad_id=404,
            pad_token="[PAD]",
            length=options["max_length"] if options["padding"] == "max_length" else None,
            pad_to_multiple_of=options.get("pad_to_multiple_of"),
        )


def refuses(peer: Any, rows: list[Any], options: dict[str, Any]) -> bool:
    """Whether the peer fails too: it raises, or panics."""
    try:
        set_up(peer, options)
        for row in rows:
            peer.encode_batch([row], add_special_tokens=options["add_special_tokens"])
    except BaseException as error:
        return any(word in str(error) for word in ("stride", "too short", "not provided"))
    return False


@contextmanager
def at_once() -> Iterator[None]:
    """Makes offsets and overflowing parts with numpy, of few texts too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_inputs, "_LEAST", 0)
        patch.setattr(words, "_LEAST", 0)
        yield


def same_rows(found: BatchEncoding, rows: BatchEncoding) -> None:
    """Asserts that two calls gave the same columns, and that their rows have the same texts."""
    assert list(found) == list(rows)
    assert found == rows
    assert texts_and_words(found) == [(row.sequence_ids, row.word_ids) for row in rows.encodings]


def texts_and_words(batch: BatchEncoding) -> list[tuple[Any, Any]]:
    return [(batch.sequence_ids(row), batch.word_ids(row)) for row in range(len(batch.input_ids))]


def as_lists(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(column).tolist() for name, column in batch.items()}


@pytest.mark.parametrize("name", PROCESSORS)
def test_calls_give_what_tokenizers_gives(plain: bp.Tokenizer, tmp_path: Path, name: str) -> None:
    tok, peer = with_processor(plain, PROCESSORS[name], tmp_path)
    chance = random.Random(name)
    refused = 0
    for _ in range(CALLS // 6 if name == "template_twice" else CALLS):
        pair = chance.random() < 0.5
        options = some_options(chance, pair=pair, added=peer.num_special_tokens_to_add(pair))
        texts = [some_text(chance) for _ in range(chance.choice([1, 1, 2, 5]))]
        pairs = [some_text(chance) for _ in texts] if pair else None
        call = {**options, **ALL, "special": "allow"}
        rows = texts if pairs is None else [*zip(texts, pairs, strict=True)]
        try:
            batch = tok(texts, pairs, **call, return_offsets_mapping=True)
        except bp.LimitError:
            refused += 1
            assert refuses(peer, rows, options)
            for tensors in (None, "np"):
                with pytest.raises(bp.LimitError):
                    tok(texts, pairs, **call, return_tensors=tensors)
            with pytest.raises(bp.LimitError), at_once():
                tok(texts, pairs, **call, return_offsets_mapping=True)
            continue
        with at_once():
            same_rows(tok(texts, pairs, **call, return_offsets_mapping=True), batch)
        try:
            set_up(peer, options)
        except ValueError:
            # The peer reserves no room for tokens that it must not add.
            assert not options["add_special_tokens"]
            continue
        theirs = peer.encode_batch(rows, add_special_tokens=options["add_special_tokens"])
        overflow = options.get("return_overflowing_tokens", False)
        if overflow:
            firsts = [batch.encodings[batch.overflow_to_sample_mapping.index(row)] for row in range(len(texts))]
            assert [*map(fields, firsts)] == [*map(fields, theirs)]
            samples = [row for row, encoding in enumerate(theirs) for _ in range(1 + len(encoding.overflowing))]
            assert batch.overflow_to_sample_mapping == samples
            theirs = [each for encoding in theirs for each in (encoding, *encoding.overflowing)]
        else:
            expected = [fields(encoding) | {"overflowing": []} for encoding in theirs]
            assert [*map(fields, batch.encodings)] == expected
        for column, attribute in COLUMNS.items():
            assert batch[column] == [getattr(encoding, attribute) for encoding in theirs]
        assert batch.length == [len(encoding.ids) for encoding in theirs]
        # Without offsets other code makes the same columns; and so do arrays.
        del batch["offset_mapping"]
        assert tok(texts, pairs, **call) == batch
        if len({len(row) for row in batch.input_ids}) == 1:
            arrays = tok(texts, pairs, **call, return_tensors="np")
            assert list(arrays) == list(batch)
            assert all(column.dtype == np.int64 for column in arrays.values())
            assert as_lists(arrays) == batch
        else:
            with pytest.raises(ValueError, match="differ in length"):
                tok(texts, pairs, **call, return_tensors="np")
    assert refused < 50


@pytest.mark.parametrize("name", ["none", "roberta", "roberta_prefix", "sequence", "sequence_odd"])
@pytest.mark.parametrize("kind", ["bytes", "pieces", "words"])
def test_offsets_are_made_at_once_as_row_by_row(plain: bp.Tokenizer, name: str, kind: str) -> None:
    """Texts of several threads, that are not Unicode, with surfaces that are trimmed."""
    spec = plain.spec
    if kind != "bytes":
        of_pieces = kind == "pieces"
        pieces = models.model(models.unigram_pieces(), 1)
        read = sentencepiece.read(pieces) if of_pieces else vocab_txt.read(models.VOCAB_TXT)
        spec = read.replace(added_tokens=(*read.added_tokens, bp.AddedToken("<mask>", 402, lstrip=True)))
        spec = spec.replace(added_tokens=(*spec.added_tokens, bp.AddedToken("[CLS]x", 403)))
    processor = PROCESSORS[name]
    tok = bp.Tokenizer(spec.replace(post_processor=None if processor is None else json.dumps(processor)))
    texts: list[Any] = [
        *HOSTILE,
        *(text.encode() for text in HOSTILE),
        "a\ud800 <mask>",
        b" \xff <mask>\n",
        "  <mask>",
        "low lower",
    ]
    options: dict[str, Any] = {**ALL, "special": "allow", "errors": "replace", "return_offsets_mapping": True}
    truncated: dict[str, Any] = {
        "truncation": True,
        "max_length": 16,
        "padding": True,
        "pad_token": 0,
        "padding_side": "left",
    }
    overflowing = {**truncated, "return_overflowing_tokens": True, "stride": 2}
    for more in ({}, truncated, overflowing):
        for pairs in (None, texts[::-1]):
            rows = tok(texts, pairs, **options, **more)
            for threads in (1, 3):
                with at_once():
                    same_rows(tok(texts, pairs, **options, **more, threads=threads), rows)
            if more:
                with at_once():
                    arrays = tok(texts, pairs, **options, **more, return_tensors="np")
                assert as_lists(arrays) == as_lists(rows)
            with at_once():
                ids = tok(texts, pairs, **{**options, "return_offsets_mapping": False}, **more)
                assert texts_and_words(ids) == texts_and_words(rows)
    with pytest.raises(bp.EncodeError) as raised, at_once():
        tok(["a", "b\ud800"], return_offsets_mapping=True)
    assert raised.value.row == 1


def test_methods_answer_as_in_tokenizers(plain: bp.Tokenizer, tmp_path: Path) -> None:
    for name in ("none", "byte_level", "roberta", "template", "template_swapped"):
        tok, peer = with_processor(plain, PROCESSORS[name], tmp_path)
        text, other = "Hello <mask> wörld 🦊  x", "日本 low"
        for pair in (None, other):
            mine, theirs = tok.encoding(text, pair, special="allow"), peer.encode(text, pair)
            for place in range(30):
                for method in ("token_to_sequence", "token_to_word"):
                    assert getattr(mine, method)(place) == getattr(theirs, method)(place) or place == len(mine)
                assert mine.token_to_chars(place) == theirs.token_to_chars(place)
                for method in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
                    for sequence in (0, 1):
                        assert getattr(mine, method)(place, sequence) == getattr(theirs, method)(place, sequence)


def test_a_batch_answers_for_its_rows(tok: bp.Tokenizer) -> None:
    batch = tok(["low é", "x"])
    assert batch[1].ids == batch.input_ids[1] == batch["input_ids"][1]
    assert batch.tokens(1) == ["[CLS]", "x", "[SEP]"]
    assert batch.word_ids(1) == batch.sequence_ids(1) == [None, 0, None]
    assert batch.char_to_token(1, 0) == 1
    assert batch.token_to_chars(1, 1) == batch.word_to_chars(1, 0) == (0, 1)
    assert batch.word_to_tokens(1, 0) == (1, 2)
    assert batch.token_to_word(1, 1) == batch.char_to_word(1, 0) == batch.token_to_sequence(1, 1) == 0
    assert tok("x").char_to_token(0) == 1
    with pytest.raises(ValueError, match="pass the row"):
        batch.char_to_token(0)
    with pytest.raises(AttributeError, match="no column 'offset_mapping'"):
        _ = batch.offset_mapping
    with pytest.raises(KeyError):
        _ = batch["nope"]
    again = pickle.loads(pickle.dumps(batch))
    assert again == batch
    assert isinstance(again, BatchEncoding)
    with pytest.raises(ValueError, match="pickled"):
        _ = again.encodings


def test_one_text_has_no_rows(tok: bp.Tokenizer) -> None:
    one = tok("low", **ALL, return_offsets_mapping=True)
    many = tok(["low"], **ALL, return_offsets_mapping=True)
    for name in one:
        assert (one[name] if name == "length" else [one[name]]) == many[name]
    assert tok("low", return_tensors="np").input_ids.shape == (1, len(one.input_ids))
    assert tok("").input_ids == [402, 403]
    assert tok("", add_special_tokens=False).input_ids == []
    assert tok(b"low", "low").input_ids == tok("low", b"low").input_ids
    assert tok([]).input_ids == tok([], padding=True).input_ids == []
    assert tok([], return_tensors="np", padding=True, return_offsets_mapping=True).offset_mapping.shape == (0, 0, 2)
    blank = tok([""], add_special_tokens=False, return_tensors="np", return_offsets_mapping=True)
    assert (blank.input_ids.shape, blank.offset_mapping.shape) == ((1, 0), (1, 0, 2))
    pair = tok(["a", "b"], ["c", "d"], return_tensors="np", return_offsets_mapping=True)
    assert pair.offset_mapping.shape == (2, 5, 2)
    assert tok(iter(["a", "b"])).input_ids == tok(("a", "b")).input_ids == tok(["a", "b"]).input_ids


def test_texts_of_parts(tok: bp.Tokenizer) -> None:
    parts: list[str | bytes | bp.Control] = ["a ", bp.Control("<mask>"), b"\xc3\xa9"]
    batch = tok([parts, "b"], return_offsets_mapping=True)
    assert batch.input_ids == tok([parts, "b"]).input_ids
    assert batch.tokens(0)[1:3] == ["a", " <mask>"]
    assert batch.offset_mapping[0][:4] == [(0, 0), (0, 1), (1, 8), (8, 9)]
    both: list[str | bytes | bp.Control] = ["[SEP]", bp.Control("[SEP]")]
    with pytest.raises(bp.SpecialTokenError, match="offsets are ambiguous"):
        tok([both], special="text", return_offsets_mapping=True)
    assert tok([both], special="text").input_ids[0][-2:] == [403, 403]
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok([both], return_offsets_mapping=True)
    assert caught.value.character == 0
    with pytest.raises(TypeError, match="list of its own"):
        tok(parts)  # as a batch


@pytest.mark.parametrize("columns", [{}, {"return_tensors": "np", "padding": True}, {"return_offsets_mapping": True}])
def test_text_is_refused_as_in_other_calls(tok: bp.Tokenizer, columns: dict[str, Any]) -> None:
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok(["ok", "a[SEP]"], **columns)
    assert (caught.value.row, caught.value.character) == (1, 1)
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok(["ok", "a"], ["a", "[SEP]"], **columns)
    assert caught.value.row == 1
    with pytest.raises(bp.SpecialTokenError):
        tok("[SEP]", **columns)
    text = np.ravel(tok("a[SEP]", special="text", **columns).input_ids)
    assert list(text).count(403) == 1
    with pytest.raises(bp.EncodeError) as caught_text:
        tok(["ok", "\ud800"], **columns)
    assert caught_text.value.row == 1
    tok(["ok", "\ud800"], errors="replace", **columns)
    with pytest.raises(ValueError, match="added="):
        tok(["ok"], added="nope", **columns)  # type: ignore[arg-type]


IDLE: list[dict[str, Any]] = [
    {"max_length": 5},
    {"max_length": 5, "padding": True},
    {"stride": 1},
    {"truncation": True},
    {"padding": "max_length"},
    {"truncation": True, "max_length": 9, "stride": 1},
    {"truncation_side": "left"},
    {"padding_side": "left"},
    {"pad_to_multiple_of": 8},
    {"pad_token": "[PAD]"},
    {"truncation": "first", "max_length": 5},
    {"padding": "max"},
    {"padding": True, "padding_side": "up"},
    {"truncation": True, "max_length": 9, "truncation_side": "up"},
    {"truncation": True, "max_length": -1},
    {"padding": True, "pad_to_multiple_of": 0},
    {"return_tensors": "tf"},
    {"truncation": 1, "max_length": 5},
]


@pytest.mark.parametrize("options", IDLE)
def test_options_without_effect_raise(tok: bp.Tokenizer, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs max_length|no effect|is unknown|is less than"):
        tok("low", **options)


def test_what_a_call_cannot_do_raises(tok: bp.Tokenizer) -> None:
    with pytest.raises(TypeError):
        tok("low", is_split_into_words=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="both"):
        tok("low", ["low"])
    with pytest.raises(ValueError, match="2 texts and 1"):
        tok(["low", "x"], ["low"])
    with pytest.raises(ValueError, match="differ in length"):
        tok(["low", "x y z"], return_tensors="np")
    with pytest.raises(ValueError, match="differ in length"):
        tok(["low", "x y z"], padding="max_length", max_length=3, return_tensors="np")
    with pytest.raises(bp.LimitError, match="adds 2 ids"):
        tok("low", truncation=True, max_length=1)
    with pytest.raises(bp.LimitError, match="stride"):
        tok("low", truncation=True, max_length=4, stride=3, return_overflowing_tokens=True)
    with pytest.raises(bp.LimitError) as caught:
        tok(["a", "a b c d"], ["a b", "a b c d e f"], truncation="only_first", max_length=9)
    assert caught.value.row == 1
    with pytest.raises(bp.LimitError, match="only_second"):
        tok("a b c d", truncation="only_second", max_length=3)
    assert tok("a", truncation="only_second", max_length=3).input_ids == tok("a").input_ids
    with pytest.raises(bp.LimitError, match="too many"):
        tok("a " * 2000, "a " * 2000, truncation=True, max_length=5, return_overflowing_tokens=True)


def test_threads_change_nothing(tok: bp.Tokenizer, sources: list[str]) -> None:
    texts = [text[:3000] for text in sources] * 20
    for options in ({}, {"return_tensors": "np", "padding": True}, {"return_offsets_mapping": True}):
        one, two = (tok(texts, special="text", threads=threads, **options) for threads in (1, 2))
        assert as_lists(one) == as_lists(two) if "padding" in options else one == two
        with pytest.raises(ValueError, match="threads=0"):
            tok(texts, special="text", threads=0, **options)


def test_what_fills_rows(tok: bp.Tokenizer) -> None:
    assert tok(["a", "a b"], padding=True).input_ids[0][-1] == 404
    assert tok(["a", "a b"], padding=True, pad_token="</s>").input_ids[0][-1] == 401
    assert tok(["a", "a b"], padding=True, pad_token=7).input_ids[0][-1] == 7
    assert tok(["a", "a b"], padding=True, pad_token="</s>").tokens(0)[-1] == "</s>"
    none = bp.Tokenizer(tok.spec.replace(added_tokens=(), post_processor=None))
    with pytest.raises(bp.SpecialTokenError, match="pad_token="):
        none(["a"], padding=True)
    for wrong in ("nope", 100_000, -1):
        with pytest.raises(bp.InvalidIdError):
            tok(["a"], padding=True, pad_token=wrong)


def test_torch_is_imported_only_if_asked_for(tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="install it"):
        tok("a", return_tensors="pt")

    class Tensor(list[Any]):
        def to(self, device: str) -> str:
            return f"{self[0]} on {device}"

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_numpy=lambda array: Tensor(array.tolist())))
    batch = tok("a", return_tensors="pt")
    assert {name: type(column) for name, column in batch.items()} == {"input_ids": Tensor, "attention_mask": Tensor}
    assert batch.to("cpu")["input_ids"] == "[402, 97, 403] on cpu"
    with_offsets = tok("a", return_tensors="pt", return_offsets_mapping=True)
    assert with_offsets["offset_mapping"] == [[[0, 0], [0, 1], [0, 0]]]


@pytest.mark.parametrize(
    ("normalizers", "prefix_space"), [((), True), (("NFC",), False), (("NFKC", "Lowercase"), True), (("NFD",), False)]
)
def test_offsets_are_those_of_the_text_as_it_was_given(
    plain: bp.Tokenizer, tmp_path: Path, normalizers: tuple[str, ...], prefix_space: bool
) -> None:
    spec = plain.spec.replace(normalizers=normalizers, prefix_space=prefix_space)
    changing = bp.Tokenizer(spec)
    for name in ("byte_level", "byte_level_prefix", "roberta_prefix", "sequence", "sequence_odder"):
        tok, peer = with_processor(changing, PROCESSORS[name], tmp_path)
        for text in TEXTS:
            mine = tok.encoding(text, text, special="allow")
            assert fields(mine) == fields(peer.encode(text, text)), text
            offsets = tok.offsets(text, special="allow")
            assert all(0 <= start <= end <= len(text) for start, end in offsets)
            if "NFD" not in normalizers:
                assert offsets == sorted(offsets)
        peer.enable_truncation(12, stride=2)
        mine = tok.encoding(TEXTS[0] + TEXTS[-3] * 5, truncation=True, max_length=12, stride=2, special="allow")
        assert fields(mine) == fields(peer.encode(TEXTS[0] + TEXTS[-3] * 5))


def test_offsets_are_monotone_and_cover_what_their_tokens_are(plain: bp.Tokenizer, sources: list[str]) -> None:
    for text in [*HOSTILE, sources[0][:5000]]:
        offsets = plain.offsets(text)
        assert len(offsets) == plain.count(text)
        assert offsets == sorted(offsets)
        assert [end for _, end in offsets] == sorted(end for _, end in offsets)
        assert all(0 <= start < end <= len(text) for start, end in offsets)
        for (start, end), token in zip(offsets, plain.tokens(text), strict=True):
            assert token in text[start:end].encode()


def test_windows_cover_a_text() -> None:
    for length in range(2, 12):
        for keep in range(1, length):
            for stride in range(keep):
                for side in ("left", "right"):
                    rule = cutting.Truncation(keep, stride=stride, side=side)
                    windows = rule.windows(length, keep)
                    covered = {place for start, end in windows for place in range(start, end)}
                    assert covered == set(range(length))
                    for one, two in pairwise(windows):
                        shared = one[1] - two[0] if side == "right" else two[1] - one[0]
                        assert shared == stride


REAL = [
    "gpt2",
    "roberta-base",
    "llama3",
    "qwen2",
    "deepseek",
    "gpt-neox",
    "phi-2",
    "qwen3",
    "bert-base-uncased",
    "clip",
    "llama2",
    "t5-small",
    "gemma3",
]


@pytest.mark.parametrize("name", share(REAL))
def test_real_tokenizers(data: Path, tmp_path: Path, name: str) -> None:
    import lzma

    file = "tokenizer.daulet.json" if name == "bert-base-uncased" else "tokenizer.json"
    path = data / "vocabs" / name / file
    if not path.exists():
        packed, path = path.with_suffix(".json.xz"), tmp_path / "tokenizer.json"
        if not packed.exists():
            pytest.skip(f"no {packed}")
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    tok, peer = bp.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path))
    texts = [text for text in HOSTILE if text]
    corpora = data / "corpora"
    for corpus in ("en_1mb.txt", "multi_1mb.txt", "code_1mb.txt"):
        texts += (corpora / corpus).read_text("utf-8")[: 30_000 if WHOLE else 8_000].split("\n\n")
    texts += list(tok.special_tokens)[:3]
    texts += [f"a {token} b" for token in list(tok.special_tokens)[:3]]
    peer.enable_truncation(40, stride=5)
    peer.enable_padding(pad_id=1, pad_token="x")
    options: dict[str, Any] = {"truncation": True, "max_length": 40, "padding": True, "pad_token": 1}
    pairs = texts[::-1]
    for second in (None, pairs):
        theirs = peer.encode_batch(texts if second is None else [*zip(texts, pairs, strict=True)])
        batch = tok(texts, second, **options, special="allow", return_tensors="np")
        assert batch.input_ids.tolist() == [encoding.ids for encoding in theirs]
        assert batch.attention_mask.tolist() == [encoding.attention_mask for encoding in theirs]
        assert [row.offsets for row in batch.encodings] == [encoding.offsets for encoding in theirs]
        assert [row.word_ids for row in batch.encodings] == [encoding.word_ids for encoding in theirs]
        assert [row.type_ids for row in batch.encodings] == [encoding.type_ids for encoding in theirs]
    peer.no_padding()
    for text in texts:
        mine = tok.encoding(text, truncation=True, max_length=40, stride=5, special="allow")
        assert fields(mine) == fields(peer.encode(text))


def test_a_template_of_bos(tok: bp.Tokenizer) -> None:
    own = bp.Tokenizer(tok.spec.replace(post_processor=json.dumps(BERT_TEMPLATE)))
    assert own("a", "b", return_token_type_ids=True).token_type_ids == [0, 0, 0, 1, 1]
