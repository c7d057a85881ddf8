"""`bytepair.compat.transformers` compared with transformers, on tokenizers trained here.

The file is long because each documented call has its test.
"""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair.compat.transformers import AddedToken, AutoTokenizer, BatchEncoding, PreTrainedTokenizerFast
from bytepair.compat.transformers import batch as batches
from bytepair.formats import configs
from tests.conftest import HOSTILE
from tests.formats import models
from tests.test_calls import at_once

transformers = pytest.importorskip("transformers")

NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
KINDS = ["bytes", "pairs", "wordpiece", "unigram"]


def trained(sources: list[str], kind: str) -> tuple[bp.Tokenizer, dict[str, Any]]:
    """A tokenizer of a kind, and the names of its special tokens."""
    if kind == "wordpiece":
        tok = bp.train_wordpiece(iter(sources), 1500)
        return tok, {f"{role}_token": f"[{role.upper()}]" for role in ("unk", "sep", "pad", "cls", "mask")}
    if kind == "unigram":
        tok = bp.train_unigram(iter(sources), 1500)
        step = configs.template(None, "</s>", {"</s>": tok.token_id("</s>")})
        tok = bp.Tokenizer(tok.spec.replace(post_processor=step))
        return tok, {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    special = ["<s>", "</s>", "<pad>", "<mask>"]
    tok = bp.train(iter(sources), 1500, split="gpt2", special_tokens=special)
    ids = {name: tok.token_id(name) for name in special}
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    if kind == "pairs":
        roberta = (
            '{"type": "RobertaProcessing", "sep": ["</s>", %d], "cls": ["<s>", %d], "trim_offsets": true,'
            ' "add_prefix_space": false}'
        )
        return bp.Tokenizer(tok.spec.replace(post_processor=roberta % (ids["</s>"], ids["<s>"]))), names
    return tok, names


_SAVED: dict[str, Path] = {}


def folder_of(sources: list[str], kind: str, factory: pytest.TempPathFactory) -> Path:
    """The folder of a tokenizer of a kind, as the face saves it; made once."""
    if kind not in _SAVED:
        tok, names = trained(sources, kind)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, model_max_length=64, **names)
        _SAVED[kind] = factory.mktemp("saved") / kind
        tokenizer.save_pretrained(_SAVED[kind])
    return _SAVED[kind]


def theirs_of(folder: Path, **settings: Any) -> Any:
    return transformers.PreTrainedTokenizerFast.from_pretrained(str(folder), **settings)


def both(folder: Path, **settings: Any) -> tuple[PreTrainedTokenizerFast, Any]:
    return PreTrainedTokenizerFast.from_pretrained(folder, **settings), theirs_of(folder, **settings)


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, request.param, tmp_path_factory)


@pytest.fixture
def plain(sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, "bytes", tmp_path_factory)


TEXTS = [text for text in HOSTILE if len(text) < 400]
SPECIAL = ["<s> a</s>", "a [SEP] b", "<pad><mask>x [MASK]", "the </s> end"]


def some_text(chance: random.Random) -> str:
    words = ["return", "def", "self", "mañana", "日本語", "🦊", "x=1", "\n", "don't", *SPECIAL]
    return chance.choice([chance.choice(TEXTS), " ".join(chance.choices(words, k=chance.randrange(12)))])


def some_input(chance: random.Random, options: dict[str, Any]) -> tuple[Any, Any]:
    """A text and its pair, in one of the forms that a call takes."""
    count = chance.randrange(1, 4)
    make: Any = some_text
    if options.get("is_split_into_words"):

        def make(chance: random.Random) -> list[str]:
            return [some_text(chance) for _ in range(chance.randrange(1, 5))]

    match chance.randrange(4 if not options.get("is_split_into_words") else 3):
        case 0:
            return make(chance), None
        case 1:
            return [make(chance) for _ in range(count)], None
        case 2:
            return [make(chance) for _ in range(count)], [make(chance) for _ in range(count)]
        case _:
            return [(make(chance), make(chance)) for _ in range(count)], None


def some_options(chance: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"add_special_tokens": chance.random() < 0.7}
    padding = chance.choice([False, True, "longest", "max_length", "do_not_pad"])
    truncation = chance.choice([None, False, True, "longest_first", "only_first", "only_second"])
    options |= {"padding": padding, "truncation": truncation}
    if chance.random() < (0.8 if truncation else 0.3) or padding == "max_length":
        options["max_length"] = chance.randrange(6, 30)
    if padding not in (False, "do_not_pad"):
        options |= chance.choice([{}, {"padding_side": "left"}, {"padding_side": "right"}])
        if chance.random() < 0.3 and not truncation:
            options["pad_to_multiple_of"] = 8
    if truncation not in (None, False) and chance.random() < 0.3:
        options["return_overflowing_tokens"] = True
        # With less room tokenizers panics.
        options["stride"] = chance.randrange(3) if options.get("max_length", 64) > 20 else 0
    for name in ("token_type_ids", "attention_mask", "special_tokens_mask", "offsets_mapping", "length"):
        if chance.random() < 0.3:
            options[f"return_{name}"] = chance.random() < 0.8
    options["is_split_into_words"] = chance.random() < 0.25
    if chance.random() < 0.1:
        options["split_special_tokens"] = True
    if padding is True and chance.random() < 0.3:
        options["return_tensors"] = "np"
    return options


def columns(batch: Any) -> dict[str, Any]:
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column
        for name, column in batch.items()
        # Arrays are compared by their numbers alone: as lists.
    }


def test_calls_give_the_same(folder: Path) -> None:
    ours, theirs = both(folder)
    chance = random.Random(folder.name)
    compared = 0
    for _ in range(400):
        options = some_options(chance)
        if folder.name == "unigram":
            # There a special token that stays text is found again by the model of tokenizers, as one of its pieces.
            options.pop("split_special_tokens", None)
        text, pair = some_input(chance, options)
        side = chance.choice(["left", "right"])
        ours.truncation_side = theirs.truncation_side = side
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = theirs(text, pair, **options)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a panic of Rust is no Exception
            with pytest.raises((ValueError, TypeError)):
                ours(text, pair, **options)
            continue
        try:
            found = ours(text, pair, **options)
        except bp.LimitError:
            # In this case tokenizers cuts off more than there is.
            with at_once(), pytest.raises(bp.LimitError):
                ours(text, pair, **options)
            continue
        assert columns(found) == columns(expected), (text, pair, options)
        with at_once():
            quick = ours(text, pair, **options)
        assert columns(quick) == columns(expected), (text, pair, options)
        for row in range(len(expected.encodings)):
            assert quick.sequence_ids(row) == expected.sequence_ids(row), (text, pair, options)
            assert quick.word_ids(row) == expected.word_ids(row), (text, pair, options)
        for one, other in zip(found.encodings, expected.encodings, strict=True):
            for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask"):
                assert getattr(one, name) == getattr(other, name), (name, text, pair, options)
        compared += 1
    assert compared > 280


ATTRIBUTES = (
    *(f"{name}{ending}" for name in NAMES for ending in ("", "_id")),
    *(
        "extra_special_tokens",
        "extra_special_tokens_ids",
        "all_special_tokens",
        "all_special_ids",
        "special_tokens_map",
    ),
    *("model_max_length", "padding_side", "truncation_side", "model_input_names", "vocab_size", "is_fast"),
    *("clean_up_tokenization_spaces", "max_len_single_sentence", "max_len_sentences_pair", "pad_token_type_id"),
    *("split_special_tokens", "add_bos_token", "add_eos_token", "chat_template"),
)


def said(tokenizer: Any) -> dict[str, Any]:
    """The properties of a tokenizer."""
    found = {name: getattr(tokenizer, name) for name in ATTRIBUTES}
    found |= {"vocab": tokenizer.get_vocab(), "len": len(tokenizer), "added": tokenizer.get_added_vocab()}
    found["to_add"] = [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)]
    found["decoder"] = {
        id: (token.content, token.single_word, token.lstrip, token.rstrip, token.normalized, token.special)
        for id, token in tokenizer.added_tokens_decoder.items()
    }
    return found


def same_texts(ours: Any, theirs: Any, texts: list[str]) -> None:
    """Compares encodings of texts, and decodings of their ids."""
    for text in texts:
        found, expected = ours(text, return_offsets_mapping=True), theirs(text, return_offsets_mapping=True)
        assert dict(found) == dict(expected), text
        ids = found.input_ids
        assert ours.tokenize(text) == theirs.tokenize(text), text
        tokens = ours.convert_ids_to_tokens(ids)
        assert tokens == theirs.convert_ids_to_tokens(ids), text
        assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens), text
        assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens), text
        for skip in (True, False):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip), text


def test_a_tokenizer_says_the_same_of_itself(folder: Path) -> None:
    ours, theirs = both(folder)
    assert said(ours) == said(theirs)
    same_texts(ours, theirs, [*TEXTS, *SPECIAL])
    for tokens in ("nothing like it", ["nothing like it", "e"]):
        assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
    assert ours.convert_ids_to_tokens(10**6) is theirs.convert_ids_to_tokens(10**6) is None


def test_names_and_ids_can_be_set(folder: Path) -> None:
    ours, theirs = both(folder)
    some = ours.convert_ids_to_tokens(70)
    for tokenizer in (ours, theirs):
        for name in NAMES:
            setattr(tokenizer, f"{name}_id", None)
            assert getattr(tokenizer, name) is getattr(tokenizer, f"{name}_id") is None
            setattr(tokenizer, f"{name}_id", 70)
            assert (getattr(tokenizer, name), getattr(tokenizer, f"{name}_id")) == (some, 70)
        tokenizer.extra_special_tokens_ids = [70, 71]
        tokenizer.pad_token = "<none>"
    assert said(ours) == said(theirs)
    ours.additional_special_tokens = ["x"]
    assert ours.extra_special_tokens == ours.additional_special_tokens == ["x"]
    for wrong in (5, b"x"):
        with pytest.raises(ValueError, match="neither a str nor"):
            ours.eos_token = wrong
    with pytest.raises(AttributeError, match="no attribute 'other_token'"):
        _ = ours.other_token


def test_tokens_can_be_added(folder: Path) -> None:
    ours, theirs = both(folder)
    steps: list[tuple[str, Any]] = [
        ("add_tokens", ""),
        ("add_tokens", "testoken"),
        ("add_tokens", ["testoken1", "new word", "testoken"]),
        ("add_tokens", ["return"]),
        ("add_special_tokens", {}),
        ("add_special_tokens", {"bos_token": "[BOS]", "eos_token": "[EOS]"}),
        ("add_special_tokens", {"additional_special_tokens": ["<testtoken2>"]}),
        ("add_special_tokens", {"extra_special_tokens": ["<testtoken3>", "<testtoken4>"]}),
    ]
    text = "a testoken [BOS]new word  <testtoken3>testoken1 return[EOS] <testtoken2>"
    for method, argument in steps:
        assert getattr(ours, method)(argument) == getattr(theirs, method)(argument), (method, argument)
        assert said(ours) == said(theirs), (method, argument)
        same_texts(ours, theirs, [text])
    flags = {"lstrip": True, "rstrip": True, "single_word": False}
    assert ours.add_tokens([AddedToken("wide", **flags)]) == 1
    theirs.add_tokens([transformers.AddedToken("wide", **flags)])
    # Tokens of tokenizers are taken as well.
    assert ours.add_tokens([transformers.AddedToken("wide", **flags)], special_tokens=False) == 0
    same_texts(ours, theirs, ["so  wide  a", "wider"])
    assert ours.add_tokens(["wide"], special_tokens=True) == theirs.add_tokens(["wide"], special_tokens=True) == 1
    assert said(ours) == said(theirs)
    for wrong in ({"other": "x"}, {"additional_special_tokens": "x"}, {"eos_token": 5}):
        for tokenizer in (ours, theirs):
            with pytest.raises(ValueError):  # noqa: PT011 (each says it in its own words)
                tokenizer.add_special_tokens(wrong)
    assert ours.add_special_tokens({"extra_special_tokens": ["<five>"]}, replace_extra_special_tokens=False) == 1
    assert ours.extra_special_tokens == ["<testtoken3>", "<testtoken4>", "<five>"]


def test_special_tokens_are_named_all_or_none(plain: Path) -> None:
    tokenizer, same = (PreTrainedTokenizerFast.from_pretrained(plain) for _ in range(2))
    with pytest.raises(ValueError, match="other_name is not the name"):
        tokenizer.add_special_tokens({"eos_token": "<x>", "extra_special_tokens": ["<y>"], "other_name": "<z>"})
    # In the alphabet of bytes this is the byte E9.
    with pytest.raises(bp.FormatError, match=r"é.*spells token 233 in the vocabulary.*leave it out"):
        tokenizer.add_special_tokens({"eos_token": "é", "extra_special_tokens": ["<y>"]})
    assert said(tokenizer) == said(same)


@pytest.mark.parametrize(
    "settings",
    [
        {"eos_token": AddedToken("[NEW_EOS]", lstrip=True, special=True)},
        {"pad_token": "[PAD]", "model_max_length": 20, "padding_side": "left", "truncation_side": "left"},
        {"image_token": "<image>", "extra_special_tokens": ["<a>", "<b>"]},
        {"extra_special_tokens": {"video_token": "<video>"}},
        {"bos_token": "<BOS>", "add_bos_token": True},
        {"eos_token": "<EOS>", "add_eos_token": True, "clean_up_tokenization_spaces": True},
        {"split_special_tokens": True, "model_input_names": ["input_ids", "token_type_ids"]},
    ],
)
def test_settings_of_loading_act_and_are_saved(folder: Path, settings: dict[str, Any], tmp_path: Path) -> None:
    if folder.name == "unigram":
        settings = {key: value for key, value in settings.items() if key != "split_special_tokens"}
    for_them = {
        key: transformers.AddedToken(**value.__getstate__()) if isinstance(value, AddedToken) else value
        for key, value in settings.items()
    }
    ours = PreTrainedTokenizerFast.from_pretrained(folder, **settings)
    theirs = theirs_of(folder, **for_them)
    text = "the <BOS> <image>a<video> b [NEW_EOS]</s> . <a>"
    assert said(ours) == said(theirs)
    same_texts(ours, theirs, [text])
    ours.save_pretrained(tmp_path / "ours")
    theirs.save_pretrained(tmp_path / "theirs")
    # Each library loads what either has saved.
    for place in ("ours", "theirs"):
        again, other = both(tmp_path / place)
        expected = theirs_of(tmp_path / "theirs")
        assert said(again) == said(other) == said(expected), place
        same_texts(again, expected, [text])
        same_texts(other, expected, [text])
    if "image_token" in settings:
        assert again.image_token_id == theirs.image_token_id is not None


@pytest.mark.parametrize("name", ["add_bos_token", "add_eos_token", "from_slow", "fix_mistral_regex"])
def test_a_folder_that_adds_bos_is_loaded_without_it(plain: Path, tmp_path: Path, name: str) -> None:
    saved, _ = both(plain)
    saved.add_bos_token = True
    saved.save_pretrained(tmp_path)
    settings: dict[str, Any] = {name: False}
    ours, theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path, **settings), theirs_of(tmp_path, **settings)
    assert ours("a b").input_ids == theirs("a b").input_ids
    assert (len(ours("a b").input_ids) < len(saved("a b").input_ids)) == name.startswith("add")


def test_bos_and_eos_can_be_switched(plain: Path) -> None:
    ours, theirs = both(plain)
    for name, value in [("add_bos_token", True), ("add_eos_token", True), ("add_bos_token", False)]:
        setattr(ours, name, value)
        setattr(theirs, name, value)
        for pair in (None, "b"):
            assert dict(ours("a", pair, return_token_type_ids=True)) == dict(
                theirs("a", pair, return_token_type_ids=True)
            )
    ours.eos_token = None
    ours.add_eos_token = True
    assert ours.add_eos_token is False


def test_rows_are_padded_afterwards(folder: Path) -> None:
    ours, theirs = both(folder)
    texts = ["a b c", "a longer text than that", ""]
    rows = [dict(ours(text, return_special_tokens_mask=True)) for text in texts]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    some: list[dict[str, Any]] = [
        {},
        {"padding": "max_length", "max_length": 20},
        {"pad_to_multiple_of": 8},
        {"padding_side": "left"},
        {"return_tensors": "np"},
        {"return_attention_mask": False},
    ]
    for options in some:
        for given in (rows, table, rows[0], {"input_ids": table["input_ids"]}):
            if (given is rows[0] and "return_tensors" in options) or (
                # There a mask is not padded then, though ids are.
                given is not rows[0] and len(given) > 1 and "return_attention_mask" in options
            ):
                continue
            found, expected = (tokenizer.pad(copy.deepcopy(given), **options) for tokenizer in (ours, theirs))
            assert columns(found) == columns(expected), options
    array = np.array([[1, 2, 3]])
    found = ours.pad({"input_ids": array}, padding="max_length", max_length=5)
    assert isinstance(found.input_ids, np.ndarray)
    assert (
        found.input_ids.tolist()
        == theirs.pad({"input_ids": array}, padding="max_length", max_length=5)["input_ids"].tolist()
    )
    for wrong, match in [
        ({"attention_mask": [[1]]}, "rows with input_ids"),
        ({"input_ids": [[1], [2]], "attention_mask": [[1]]}, "has 1 rows"),
        ([{"input_ids": [1]}, {"ids": [1]}], "row 1 has the columns"),
    ]:
        with pytest.raises(ValueError, match=match):
            ours.pad(wrong)
    with pytest.raises(ValueError, match="no effect with padding=False"):
        ours.pad(rows, padding=False, max_length=5)
    ours.pad_token = None
    with pytest.raises(ValueError, match="no pad_token"):
        ours.pad(rows)


def test_decoding(folder: Path) -> None:
    ours, theirs = both(folder)
    rows = ours(["do n't stop , now .", "a </s> b"])["input_ids"]
    for given in (rows, rows[0], rows[0][0], tuple(rows[0]), np.array(rows[0]), np.array(rows[0][:4])[None]):
        for options in ({}, {"skip_special_tokens": True}):
            assert ours.decode(given, **options) == theirs.decode(given, **options)
            assert ours.batch_decode(rows, **options) == theirs.batch_decode(rows, **options)
    ours.clean_up_tokenization_spaces = theirs.clean_up_tokenization_spaces = True
    assert ours.decode(rows[0]) == theirs.decode(rows[0])
    if folder.name in ("bytes", "pairs"):
        with pytest.warns(bp.TokenizerWarning, match="BPE"):
            ours.decode(rows[0], clean_up_tokenization_spaces=True)
    else:
        assert ours.decode(rows[0], clean_up_tokenization_spaces=True) == theirs.decode(
            rows[0], clean_up_tokenization_spaces=True
        )
    with pytest.raises(bp.InvalidIdError):
        ours.decode([10**6])


def test_targets_become_labels(folder: Path) -> None:
    ours, theirs = both(folder)
    options: dict[str, Any] = {
        "text_target": ["c d e f g", "h"],
        "padding": True,
        "max_target_length": 5,
        "truncation": True,
    }
    assert dict(ours(["a", "b"], **options)) == dict(theirs(["a", "b"], **options))
    assert dict(ours(text_target="a b")) == dict(theirs(text_target="a b"))
    assert dict(ours("a b", text_pair="c", tokenizer_kwargs={"add_special_tokens": False})) == dict(
        theirs("a b", text_pair="c", tokenizer_kwargs={"add_special_tokens": False})
    )
    some: list[dict[str, Any]] = [{}, {"text": "a", "max_target_length": 5}]
    for wrong in some:
        with pytest.raises(ValueError, match="text_target"):
            ours(**wrong)


def test_batches_answer_as_there(folder: Path) -> None:
    ours, theirs = both(folder)
    texts, pairs = ["the first one", "a second mañana"], ["and its pair", "🦊 of it"]
    found, expected = (tokenizer(texts, pairs, padding=True) for tokenizer in (ours, theirs))
    assert isinstance(found, BatchEncoding)
    assert (found.n_sequences, found.is_fast, found.data) == (expected.n_sequences, expected.is_fast, expected.data)
    assert [row.ids for row in found[:1]] == [row.ids for row in expected[:1]]
    assert BatchEncoding({"input_ids": [[1], [2]]})[1:] == {"input_ids": [[2]]}
    for row in range(2):
        assert found.tokens(row) == expected.tokens(row)
        assert found.word_ids(row) == expected.word_ids(row)
        assert found.sequence_ids(row) == expected.sequence_ids(row)
        for token in range(len(found.input_ids[row])):
            assert found.token_to_chars(row, token) == expected.token_to_chars(row, token)
            assert found.token_to_word(row, token) == expected.token_to_word(row, token)
            assert found.token_to_sequence(row, token) == expected.token_to_sequence(row, token)
        for side in (0, 1):
            for char in range(18):
                for method in ("char_to_token", "char_to_word"):
                    asked = [getattr(batch, method)(row, char, sequence_index=side) for batch in (found, expected)]
                    assert asked[0] == asked[1]
            for word in range(3):
                span = found.word_to_tokens(row, word, sequence_index=side)
                assert span == expected.word_to_tokens(row, word, sequence_index=side)
                if span is not None:
                    assert (span.start, span.end) == tuple(span)
                    place = found.word_to_chars(row, word, sequence_index=side)
                    assert place == expected.word_to_chars(row, word, sequence_index=side)
    arrays = ours(["a b", "c d"], padding=True).convert_to_tensors("np")
    assert isinstance(arrays.input_ids, np.ndarray)
    assert arrays.to("cpu") is not arrays
    with pytest.raises(ValueError, match="differ in length"):
        ours(["a", "b c d e f"]).convert_to_tensors("np")
    one = ours("a b").convert_to_tensors("np", prepend_batch_axis=True)
    assert one.input_ids.ndim == 2
    assert dict(pickle.loads(pickle.dumps(found))) == dict(found)
    assert batches.CharSpan(1, 2).end == 2


def test_copies_are_equal_and_apart(folder: Path) -> None:
    ours, _ = both(folder)
    before = said(ours)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert said(other) == before
        same_texts(other, ours, SPECIAL)
        other.add_special_tokens({"pad_token": "<other>"})
        other.model_input_names.append("x")
        assert said(ours) == before
    assert bool(ours)
    assert "vocab_size" in repr(ours)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        ((5,), {}, ValueError, "text is a str"),
        (([5],), {}, ValueError, "text is a str"),
        ((["a"], "b"), {}, TypeError, "text_pair is one text"),
        ((["a"], ["b", "c"]), {}, ValueError, "1 texts and 2 second"),
        (([("a", "b", "c")],), {}, ValueError, "not a pair"),
        ((["a", ("a", "b")],), {}, ValueError, "texts or pairs"),
        (("a b",), {"is_split_into_words": True}, ValueError, "a list of words"),
        (("a",), {"padding": "most"}, ValueError, "padding='most' is unknown"),
        (("a",), {"padding": "max_length"}, ValueError, "needs max_length"),
        (("a",), {"truncation": "some"}, ValueError, "truncation='some' is unknown"),
        (("a",), {"padding": True, "padding_side": "top"}, ValueError, "padding_side='top'"),
        (("a",), {"padding_side": "left"}, ValueError, "padding_side has no effect"),
        (("a",), {"pad_to_multiple_of": 8}, ValueError, "pad_to_multiple_of has no effect"),
        (("a",), {"return_tensors": "tf"}, ValueError, "return_tensors='tf'"),
        (
            ("a",),
            {"padding": True, "truncation": True, "max_length": 9, "pad_to_multiple_of": 8},
            ValueError,
            "multiple",
        ),
        (("a",), {"other": 1}, TypeError, "other"),
    ],
)
def test_what_a_call_cannot_do_is_said(
    plain: Path, arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], match: str
) -> None:
    ours = PreTrainedTokenizerFast.from_pretrained(plain, model_max_length=None)
    with pytest.raises(error, match=match):
        ours(*arguments, **options)


def test_what_loading_and_saving_cannot_do_is_said(plain: Path, tmp_path: Path) -> None:
    for settings, error, match in (
        ({"from_slow": True}, TypeError, "from_slow=True"),
        (
            {"do_lower_case": True},
            TypeError,
            "do_lower_case=True is not supported: this tokenizer has no BertNormalizer",
        ),
        ({"legacy": True}, TypeError, "legacy=True is not supported: only a LlamaTokenizer"),
        ({"tokenizer_class_": 1}, TypeError, "tokenizer_class_"),
        ({"force_download": True}, TypeError, "force_download"),
        ({"proxies": {}}, TypeError, "proxies"),
        ({"some_setting": 1}, TypeError, "some_setting"),
        ({"padding_side": "top"}, ValueError, "padding_side='top'"),
        ({"truncation_side": "top"}, ValueError, "truncation_side='top'"),
        ({"eos_token": 5}, ValueError, "eos_token"),
    ):
        for loader in (PreTrainedTokenizerFast, AutoTokenizer):
            with pytest.raises(error, match=match):
                loader.from_pretrained(plain, **settings)
    ours = PreTrainedTokenizerFast.from_pretrained(plain, use_fast=True, trust_remote_code=True)
    for option in ({"push_to_hub": True}, {"legacy_format": True}, {"filename_prefix": "x"}):
        with pytest.raises(NotImplementedError, match=next(iter(option))):
            ours.save_pretrained(tmp_path / "saved", **option)
    for name in ("nothing/like/it", str(tmp_path / "none"), "./none"):
        with pytest.raises(bp.ArtifactError):
            AutoTokenizer.from_pretrained(name)
    with pytest.raises(OSError, match="from_pretrained"):
        AutoTokenizer()
    with pytest.raises(TypeError, match="pass tokenizer_object"):
        PreTrainedTokenizerFast()
    with pytest.raises(AttributeError, match="is a method"):
        PreTrainedTokenizerFast(tokenizer_object=ours.engine, add_special_tokens=True)
    with pytest.raises(TypeError, match="other"):
        PreTrainedTokenizerFast(tokenizer_object=ours.engine, other=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(bp.ArtifactError, match="this is a file"):
        ours.save_pretrained(tmp_path / "file")


def test_a_tokenizer_of_tokenizers_is_taken(folder: Path) -> None:
    theirs = theirs_of(folder)
    ours = PreTrainedTokenizerFast(tokenizer_object=theirs.backend_tokenizer, **theirs.special_tokens_map)
    assert ours.get_vocab() == theirs.get_vocab()
    same_texts(ours, theirs, SPECIAL)
    of_file = PreTrainedTokenizerFast(tokenizer_file=folder / "tokenizer.json")
    assert of_file.get_vocab() == ours.get_vocab()
    same_texts(of_file, ours, TEXTS)


def test_a_class_gives_names_where_files_say_none(
    sources: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import json

    whole = folder_of(sources, "wordpiece", tmp_path_factory)
    place = tmp_path / "bert"
    place.mkdir()
    (place / "tokenizer.json").write_bytes((whole / "tokenizer.json").read_bytes())
    alone = AutoTokenizer.from_pretrained(place)
    assert (alone.cls_token, alone.model_input_names) == ("[CLS]", ["input_ids", "token_type_ids", "attention_mask"])
    assert PreTrainedTokenizerFast.from_pretrained(place).cls_token is None
    (place / "config.json").write_text('{"model_type": "bert"}')
    assert AutoTokenizer.from_pretrained(place).special_tokens_map == alone.special_tokens_map
    config = {"tokenizer_class": "BertTokenizerFast", "cls_token": None, "padding_side": "left", "do_lower_case": True}
    (place / "tokenizer_config.json").write_text(json.dumps(config))
    named = AutoTokenizer.from_pretrained(place)
    assert (named.cls_token, named.sep_token, named.padding_side) == (None, "[SEP]", "left")
    named.save_pretrained(tmp_path / "again")
    saved = json.loads((tmp_path / "again" / "tokenizer_config.json").read_text())
    assert (saved["tokenizer_class"], saved["do_lower_case"]) == ("BertTokenizerFast", True)


def test_other_formats_load(sources: list[str], tmp_path: Path) -> None:
    tok, names = trained(sources, "bytes")
    tok.save(tmp_path / "native", "native")
    loaded = AutoTokenizer.from_pretrained(tmp_path / "native", **names)
    assert loaded("a</s>").input_ids == tok.encode("a</s>", special="allow")
    bert, _ = trained(sources, "wordpiece")
    bert.save(tmp_path / "bert", "vocab.txt")
    of_words = AutoTokenizer.from_pretrained(tmp_path / "bert")
    assert of_words("a b").input_ids == bert("a b").input_ids
    single = AutoTokenizer.from_pretrained(tmp_path / "native" / "tokenizer.bytepair")
    assert single.engine == loaded.engine


def test_a_space_in_front_where_it_is_wanted(plain: Path, sources: list[str], tmp_path_factory: Any) -> None:
    spaced = PreTrainedTokenizerFast.from_pretrained(plain, add_prefix_space=True)
    assert spaced("return").input_ids == spaced(" return").input_ids
    bert = folder_of(sources, "wordpiece", tmp_path_factory)
    with pytest.raises(bp.FormatError, match="add_prefix_space"):
        PreTrainedTokenizerFast.from_pretrained(bert, add_prefix_space=True)


def test_transformers_is_not_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, bytepair as bp\n"
        "from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast\n"
        "PreTrainedTokenizerFast(tokenizer_object=bp.train({'low': 5}, 258))('low', padding=False)\n"
        "assert not {'transformers', 'tokenizers', 'torch', 'jinja2', 'huggingface_hub'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_new_one_is_trained_as_there(folder: Path, sources: list[str]) -> None:
    ours, theirs = both(folder)
    texts = [[sources[0][:9000], sources[0][9000:20000]]]
    name = ours.special_tokens_map.get("pad_token", "")
    some: list[dict[str, Any]] = [
        {},
        {"new_special_tokens": ["<new>", AddedToken("<two>", lstrip=True, special=True)]},
        {"special_tokens_map": {name: "<renamed>"}},
    ]
    for options in some:
        for_them = {
            key: [
                transformers.AddedToken(**each.__getstate__()) if isinstance(each, AddedToken) else each
                for each in value
            ]
            if isinstance(value, list)
            else value
            for key, value in options.items()
        }
        found = said(ours.train_new_from_iterator(iter(texts), 500, **options))
        expected = said(theirs.train_new_from_iterator(iter(texts), 500, **for_them))
        if folder.name in ("wordpiece", "unigram") or "special_tokens_map" in options:
            # tokenizers itself trains another one each time; and the old name of a token is added there once more.
            for one in (found, expected):
                for key in ("vocab", "vocab_size", "len", "added", "decoder", "all_special_ids"):
                    one.pop(key)
        assert found == expected, options
    trained = ours.train_new_from_iterator(texts, 500)
    assert trained.decode(trained("return self", add_special_tokens=False).input_ids).strip() == "return self"
    assert ours.vocab_size != trained.vocab_size


def test_a_collator_takes_it(folder: Path) -> None:
    ours, theirs = both(folder)
    rows = [dict(ours(text)) for text in ("a b c d", "e")]
    for options in ({}, {"pad_to_multiple_of": 8}):
        found, expected = (
            transformers.DataCollatorWithPadding(tokenizer, return_tensors="np", **options)(copy.deepcopy(rows))
            for tokenizer in (ours, theirs)
        )
        assert columns(found) == columns(expected)
    labelled = [{**row, "labels": row["input_ids"]} for row in rows]
    others: list[tuple[str, Any, dict[str, Any]]] = [
        ("DataCollatorForLanguageModeling", rows, {"mlm": False}),
        ("DataCollatorForSeq2Seq", labelled, {}),
    ]
    for name, given, more in others:
        found, expected = (
            getattr(transformers, name)(tokenizer, return_tensors="np", **more)(copy.deepcopy(given))
            for tokenizer in (ours, theirs)
        )
        assert columns(found) == columns(expected)


def test_a_repository_is_loaded_from_the_cache(plain: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    from tests.formats.test_pretrained import COMMIT, cached

    ours = PreTrainedTokenizerFast.from_pretrained(plain)
    ours.chat_template = "{{ messages[0].content }}"
    ours.save_pretrained(tmp_path / "saved")
    names = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
    cached(tmp_path / "cache", {name: (tmp_path / "saved" / name).read_bytes() for name in names})
    loaded = AutoTokenizer.from_pretrained("org/name", cache_dir=tmp_path / "cache", local_files_only=True)
    assert said(loaded) == said(ours)
    assert loaded.name_or_path == "org/name"
    again = PreTrainedTokenizerFast.from_pretrained("org/name", cache_dir=tmp_path / "cache", revision=COMMIT)
    assert said(again) == said(ours)
    # Without another source, the model type determines the class of the tokenizer.
    more = {"config.json": b'{"model_type": "roberta"}', "tokenizer.json": (plain / "tokenizer.json").read_bytes()}
    cached(tmp_path / "more", {**more, "tokenizer_config.json": b"{}"})
    kind = AutoTokenizer.from_pretrained("org/name", cache_dir=tmp_path / "more", local_files_only=True)
    assert (kind.cls_token, kind.bos_token, type(kind).__name__) == ("<s>", "<s>", "RobertaTokenizer")
    for options in ({"subfolder": "x"}, {"gguf_file": "x"}):
        with pytest.raises(bp.ArtifactError, match="is not supported for a repository"):
            AutoTokenizer.from_pretrained("org/name", **options)  # type: ignore[arg-type]
    nested = tmp_path / "whole" / "part"
    nested.parent.mkdir()
    ours.save_pretrained(nested)
    assert said(AutoTokenizer.from_pretrained(nested.parent, subfolder="part")) == said(ours)


def test_a_gguf_file_names_its_tokens_and_has_its_template(tmp_path: Path) -> None:
    pieces = [*models.pair_pieces(["lo"]), ("<pad>", 0.0, 3)]
    tokens, scores, types = (list(column) for column in zip(*pieces, strict=True))
    table: dict[str, Any] = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens}
    table["tokenizer.ggml.scores"] = scores
    table |= {"tokenizer.ggml.token_type": types, "tokenizer.ggml.padding_token_id": len(tokens) - 1}
    table |= {"tokenizer.ggml.unknown_token_id": 0}
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    (tmp_path / "m.gguf").write_bytes(models.gguf({**table, "tokenizer.chat_template": template}))
    face = AutoTokenizer.from_pretrained(tmp_path, gguf_file="m.gguf")
    assert (face.bos_token, face.eos_token, face.unk_token, face.pad_token) == ("<s>", "</s>", "<unk>", "<pad>")
    chat = [{"role": "user", "content": "lo"}]
    assert face.apply_chat_template(chat, tokenize=False) == "<s>lo</s>"
    assert face("lo")["input_ids"] == [1, *face.encode("lo", add_special_tokens=False)]
    (tmp_path / "m.gguf").write_bytes(models.gguf({**table, "tokenizer.chat_template.rag": "r"}))
    assert AutoTokenizer.from_pretrained(tmp_path, gguf_file="m.gguf").chat_template == {"rag": "r"}


def test_older_files_are_heeded(plain: Path, tmp_path: Path) -> None:
    import json

    place = tmp_path / "older"
    place.mkdir()
    (place / "tokenizer.json").write_bytes((plain / "tokenizer.json").read_bytes())
    special = {"eos_token": {"content": "</s>", "lstrip": True}, "additional_special_tokens": ["<extra>", "<s>"]}
    (place / "special_tokens_map.json").write_text(json.dumps(special))
    (place / "added_tokens.json").write_text(json.dumps({"</s>": 1497, "late": 1500}))
    ours, theirs = both(place)
    same_texts(ours, theirs, ["a </s><extra>late b"])
    assert (ours.eos_token, ours.extra_special_tokens) == (theirs.eos_token, theirs.extra_special_tokens)
    assert ours.get_vocab() == theirs.get_vocab()
    listed = {"1500": {"content": "<a>", "special": True}, "1501": {"content": "b c", "normalized": True}}
    (place / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": listed, "eos_token": "<a>"}))
    ours, theirs = both(place)
    assert said(ours) == said(theirs)
    same_texts(ours, theirs, ["a </s><a>b c"])
    strange = {"tokenizer_object": 1, "_listed": 2, "_base": 3, "pad": 4, "tokenizer_file": "/none"}
    (place / "tokenizer_config.json").write_text(json.dumps(strange))
    assert AutoTokenizer.from_pretrained(place).convert_tokens_to_ids("late") == 1500
    for broken in ({"added_tokens_decoder": {"x": "y"}}, {"added_tokens_decoder": {"1": 5}}, {"model_max_length": "x"}):
        (place / "tokenizer_config.json").write_text(json.dumps(broken))
        with pytest.raises(bp.FormatError):
            AutoTokenizer.from_pretrained(place)


def test_the_table_of_padding_and_truncation(folder: Path) -> None:
    """Each line of the page on padding and truncation, for single texts and pairs."""
    ours, theirs = both(folder, model_max_length=24)
    long = "def parse(self): return self.value " * 5
    batches: list[tuple[Any, Any]] = [
        (["a b", long, "x"], None),
        (["a b", long, "x"], ["return", "def x(): pass", long]),
        ("a b", "return value"),
    ]
    paddings: list[dict[str, Any]] = [
        {},
        {"padding": True},
        {"padding": "longest"},
        {"padding": "max_length"},
        {"padding": "max_length", "max_length": 16},
        {"padding": True, "pad_to_multiple_of": 8},
        {"padding": False},
    ]
    truncations: list[dict[str, Any]] = [
        {},
        {"truncation": False},
        {"truncation": "do_not_truncate"},
        {"truncation": True},
        {"truncation": True, "max_length": 16},
        {"truncation": "longest_first"},
        {"truncation": "only_first", "max_length": 16},
        {"truncation": "only_second", "max_length": 16},
    ]
    compared = 0
    for text, pair in batches:
        for padding in paddings:
            for truncation in truncations:
                options = {**padding, **truncation}
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        expected = theirs(text, pair, **options)
                except Exception:  # a strategy that cannot cut enough
                    with pytest.raises((bp.LimitError, ValueError)):
                        ours(text, pair, **options)
                    continue
                try:
                    found = ours(text, pair, **options)
                except ValueError as error:
                    # tokenizers leaves a text that it cannot cut enough as it is, or cuts it to nothing.
                    if not isinstance(error, bp.LimitError) and "max_length has no effect" not in str(error):
                        raise
                    continue
                assert columns(found) == columns(expected), options
                compared += 1
    assert compared > 120


def test_tensors_of_torch_are_named_where_there_is_none(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    ours = PreTrainedTokenizerFast.from_pretrained(plain)
    for call in (ours, lambda text, **options: ours.pad(ours([text]), **options)):
        with pytest.raises(ImportError, match="needs torch"):
            call("a", return_tensors="pt")
