"""A ``.model`` in a folder that names a class of ``transformers``: what the class does to its ids, or a refusal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.compat.transformers import AutoTokenizer
from bytepair.formats import piece_classes
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["low lower", " low  ☃ er", "lo", "", "wer▁low é"]


def folder(place: Path, data: bytes, tokenizer_class: str | None, model_type: str | None = None) -> Path:
    (place / "sentencepiece.bpe.model").write_bytes(data)
    if tokenizer_class:
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer_class}))
    if model_type:
        (place / "config.json").write_text(json.dumps({"model_type": model_type}))
    return place


@pytest.mark.parametrize("name", ["XLMRobertaTokenizer", "XLMRobertaTokenizerFast", None])
def test_xlm_robertas_pieces_have_the_numbers_of_fairseq(tmp_path: Path, name: str | None) -> None:
    data = models.model(models.unigram_pieces(), 1)
    tok = bp.load(folder(tmp_path, data, name, "xlm-roberta"))
    plain = bp.load(tmp_path / "sentencepiece.bpe.model")
    assert plain.encode("low") != tok.encode("low")
    for text in TEXTS:
        # An unknown piece, 0, is 3; fairseq has <pad> before all others but <s>.
        assert tok.encode(text) == [id + 1 if id else 3 for id in plain.encode(text)]
        assert tok.decode(tok.encode(text)) == plain.decode(plain.encode(text))
        assert tok(text)["input_ids"] == [0, *tok.encode(text), 2]
    low = tok.encode("low")
    assert tok("low", "low")["input_ids"] == [0, *low, 2, 2, *low, 2]
    assert [tok.token_id(token) for token in ("<s>", "<pad>", "</s>", "<mask>")] == [0, 1, 2, len(plain) + 1]
    assert tok.encode("low <mask>", special="allow") == [*low, len(plain) + 1]
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec


def test_mluke_is_xlm_roberta_with_marks_of_entities(tmp_path: Path) -> None:
    data = models.model(models.unigram_pieces(), 1)
    other = bp.load(folder(tmp_path, data, "XLMRobertaTokenizer"))
    tok = bp.load(folder(tmp_path, data, "MLukeTokenizer"))
    size = other.vocab_size
    assert (tok.token_id("<mask>"), tok.token_id("<ent>"), tok.token_id("<ent2>")) == (size - 1, size, size + 1)
    for text in TEXTS:
        assert tok(text)["input_ids"] == other(text)["input_ids"]
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<x>": size, "<ent>": size + 1, "<ent2>": size + 2}))
    assert bp.load(tmp_path).token_id("<ent>") == size + 1


def test_t5_ends_each_text(tmp_path: Path) -> None:
    data = models.model(models.unigram_pieces(), 1)
    for model_type in ("t5", "mt5"):
        tok = bp.load(folder(tmp_path, data, None, model_type))
        low = tok.encode("low")
        assert low == bp.load(tmp_path / "sentencepiece.bpe.model").encode("low")
        assert tok("low")["input_ids"] == [*low, 2]
        assert tok("low", "lo")["input_ids"] == [*low, 2, *tok.encode("lo"), 2]
        assert len(tok) == len(bp.load(tmp_path / "sentencepiece.bpe.model")) + 100
        assert (tok.token_id("<extra_id_99>"), tok.token_id("<extra_id_0>")) == (len(tok) - 100, len(tok) - 1)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<s>", "extra_ids": 0}))
    assert bp.load(tmp_path)("low")["input_ids"] == [*low, 1]
    assert "<extra_id_0>" not in bp.load(tmp_path).reserved_tokens
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"extra_ids": "many"}))
    with pytest.raises(bp.FormatError, match="extra_ids is 'many'"):
        bp.load(tmp_path)


@pytest.mark.parametrize("legacy", [None, True, False])
def test_llama_puts_a_space_at_the_start_alone_without_legacy(tmp_path: Path, legacy: bool | None) -> None:
    # As Llama 2's: white space stays as it is.
    place = folder(tmp_path, models.model(models.pair_pieces(), 2, normalizer=((4, False),)), None)
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "LlamaTokenizer", "legacy": legacy}))
    tok = bp.load(place)
    low, bare = tok.encode("low"), [tok.token_id("low")]
    assert low == [tok.token_id("▁low")]
    assert tok("low</s>low", special="allow")["input_ids"] == [1, *low, 2, *(bare if legacy is False else low)]
    assert tok.decode(tok.encode("low lower")) == "low lower"


@pytest.mark.parametrize(("name", "kind"), [("LlamaTokenizer", 2), ("T5Tokenizer", 1)])
def test_a_folder_may_say_that_no_space_is_put_before_a_text(tmp_path: Path, name: str, kind: int) -> None:
    rules = ((4, False),) if kind == 2 else ()
    pieces = models.pair_pieces() if kind == 2 else models.unigram_pieces()
    place = folder(tmp_path, models.model(pieces, kind, normalizer=rules), None)
    for said in (None, True, False):
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, "add_prefix_space": said}))
        tok = bp.load(place)
        assert tok.encode("low") == [tok.token_id("low" if said is False else "▁low")]
        assert tok.decode(tok.encode("low lower")) == "low lower"


def test_without_legacy_t5_puts_a_space_at_the_start_alone(tmp_path: Path) -> None:
    place = folder(tmp_path, models.model(models.unigram_pieces(), 1), None)
    (place / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer", "legacy": false}')
    tok = bp.load(place)
    low, bare = tok.encode("low"), [tok.token_id("low")]
    assert tok.encode("  low  low ") == [*low, *low]
    assert tok.encode("low</s>low </s>  low", special="allow") == [*low, 2, *bare, 2, *low]
    assert tok.encode("</s>low", special="allow") == [2, *bare]
    assert tok.decode([*low, *low]) == "low low"
    with pytest.raises(bp.FormatError, match="cannot hold"):
        tok.save(tmp_path / "saved", "sentencepiece")
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").encode("low</s>low", special="allow") == [*low, 2, *bare]


def test_legacy_of_a_model_that_marks_spaces_otherwise_is_a_warning(tmp_path: Path) -> None:
    # Spaces stay as they are.
    place = folder(tmp_path, models.model(models.unigram_pieces(), 1, normalizer=((5, False),)), None)
    (place / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer", "legacy": false}')
    with pytest.warns(bp.TokenizerWarning, match="legacy is false in the folder"):
        tok = bp.load(place)
    low = tok.encode("low")
    assert tok.encode("low</s>low", special="allow") == [*low, 2, *low]
    (place / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer", "legacy": 1}')
    with pytest.raises(bp.FormatError, match="legacy"):
        bp.load(place)


def test_deberta_has_a_mask_and_a_template(tmp_path: Path) -> None:
    pieces = [
        ("[PAD]", 0.0, 3),
        ("[CLS]", 0.0, 3),
        ("[SEP]", 0.0, 3),
        ("[UNK]", 0.0, 2),
        ("▁low", -1.0, 1),
        ("▁", -2.0, 1),
    ]
    tok = bp.load(folder(tmp_path, models.model(pieces, 1), None, "deberta-v2"))
    assert tok("low")["input_ids"] == [1, 4, 2]
    both = tok("low", "low", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([1, 4, 2, 4, 2], [0, 0, 0, 1, 1])
    assert tok.token_id("[MASK]") == len(pieces)


def test_other_classes_have_their_own_numbers(tmp_path: Path) -> None:
    data = models.model(models.unigram_pieces(), 1)
    size = len(models.unigram_pieces())
    cases: dict[str, tuple[int, int, dict[str, int], list[int], list[int], int]] = {
        # By how much a piece is shifted, the unknown id, some tokens, what is before and behind a text, and the size.
        "Camembert": (4, 3, {"<pad>": 1, "</s>": 6, "<mask>": size + 4}, [5], [6], size + 5),
        "MBart": (1, 3, {"ar_AR": size + 1, "<mask>": size + 26}, [], [2, size + 4], size + 27),
        "MBart50": (1, 3, {"sl_SI": size + 52, "<mask>": size + 53}, [size + 4], [2], size + 54),
        "XGLM": (1, 3, {"<madeupword6>": size + 7}, [2], [], size + 8),
    }
    for name, (shift, unk, tokens, before, behind, most) in cases.items():
        tok = bp.load(folder(tmp_path, data, f"{name}Tokenizer"))
        plain = bp.load(tmp_path / "sentencepiece.bpe.model")
        for text in TEXTS:
            assert tok.encode(text) == [id + shift if id else unk for id in plain.encode(text)]
            assert tok(text)["input_ids"] == [*before, *tok.encode(text), *behind]
        assert {token: tok.token_id(token) for token in tokens} == tokens
        assert tok.vocab_size == most
        tok.save(tmp_path / "saved" / name, "native")
        assert bp.load(tmp_path / "saved" / name).spec == tok.spec


def test_the_language_of_a_folder_counts(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, models.model(models.pair_pieces(), 2), "MBart50Tokenizer"))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "MBart50Tokenizer", "src_lang": "ro_RO"}')
    other = bp.load(tmp_path)
    assert other("low")["input_ids"] == [tok.token_id("ro_RO"), *tok.encode("low"), 2]
    assert other.encode("lower") == [id + 1 for id in bp.load(tmp_path / "sentencepiece.bpe.model").encode("lower")]
    # The face of transformers has its tokens too.
    assert (AutoTokenizer.from_pretrained(tmp_path).pad_token, other.pad_token) == ("<pad>", "<pad>")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "MBart50Tokenizer", "src_lang": "ro"}')
    with pytest.raises(bp.FormatError, match=r"src_lang is 'ro' .*; use one of ar_AR, ") as caught:
        bp.load(tmp_path)
    assert (caught.value.file, caught.value.pointer) == (str(tmp_path / "tokenizer_config.json"), "/src_lang")


def test_pegasus_has_its_tokens_in_front(tmp_path: Path) -> None:
    pieces = [("<pad>", 0.0, 3), ("</s>", 0.0, 3), ("<unk>", 0.0, 2), ("▁low", -1.0, 1), ("▁", -2.0, 1), ("l", -3.0, 1)]
    tok = bp.load(folder(tmp_path, models.model(pieces, 1), None, "pegasus"))
    assert tok("low ☃ l")["input_ids"] == [106, 107, 105, 107, 108, 1]
    assert [tok.token_id(token) for token in ("<mask_1>", "<mask_2>", "<unk_2>", "<unk_102>")] == [2, 3, 4, 104]
    assert tok.vocab_size == 109
    for settings in ({"offset": 0}, {"mask_token_sent": None}, {"mask_token": {"content": "[MASK]"}}):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
        with pytest.raises(bp.FormatError, match=f"not supported: {next(iter(settings))} of PegasusTokenizer is"):
            bp.load(tmp_path)


def test_barthez_has_its_numbers_in_the_file(tmp_path: Path) -> None:
    begins = [("<s>", 0.0, 3), ("<pad>", 0.0, 3), ("</s>", 0.0, 3), ("<unk>", 0.0, 2)]
    pieces = [*begins, *models.unigram_pieces()[3:], ("<mask>", 0.0, 3)]
    tok = bp.load(folder(tmp_path, models.model(pieces, 1), "BarthezTokenizer"))
    low = bp.load(tmp_path / "sentencepiece.bpe.model").encode("low")
    assert tok("low", "low")["input_ids"] == [0, *low, 2, 2, *low, 2]
    assert tok.encode("low <mask>", special="allow") == [*low, len(pieces) - 1]
    assert dict(tok.spec.roles) == {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>"} | {
        "pad": "<pad>",
        "cls": "<s>",
        "mask": "<mask>",
    }
    with pytest.raises(bp.FormatError, match="does not begin with <s>, <pad>, </s>, <unk>, or has no <mask>"):
        bp.load(folder(tmp_path, models.model(pieces[:-1], 1), "BarthezTokenizer"))


def test_plbart_has_languages_of_programs(tmp_path: Path) -> None:
    size, place = len(models.unigram_pieces()), tmp_path / "tokenizer_config.json"
    for config, behind, mask in (
        ({}, [2], 4),
        ({"src_lang": "python"}, [2, size + 2], 4),
        ({"src_lang": "__java__"}, [2, size + 1], 4),
        ({"language_codes": "multi"}, [2, size + 3], 8),
        ({"language_codes": "multi", "src_lang": "go"}, [2, size + 7], 8),
    ):
        folder(tmp_path, models.model(models.unigram_pieces(), 1), None)
        place.write_text(json.dumps({"tokenizer_class": "PLBartTokenizer", **config}))
        tok = bp.load(tmp_path)
        assert tok("low")["input_ids"] == [*tok.encode("low"), *behind]
        assert tok.token_id("<mask>") == size + mask
    place.write_text('{"tokenizer_class": "PLBartTokenizer", "src_lang": "go"}')
    with pytest.raises(bp.FormatError, match=r"src_lang is '__go__' .*; use one of __java__, __python__, __en_XX__"):
        bp.load(tmp_path)


def test_nllb_has_the_languages_that_its_folder_lists(tmp_path: Path) -> None:
    size = len(models.unigram_pieces())
    folder(tmp_path, models.model(models.unigram_pieces(), 1), "NllbTokenizer")
    with pytest.raises(bp.FormatError, match="does not list the tokens of its languages"):
        bp.load(tmp_path)
    listed = {"eng_Latn": size + 1, "deu_Latn": size + 2, "<mask>": size + 3}
    (tmp_path / "added_tokens.json").write_text(json.dumps(listed))
    for config, before, behind in (
        ({}, [size + 1], [2]),
        ({"src_lang": "deu_Latn"}, [size + 2], [2]),
        ({"legacy_behaviour": True}, [], [2, size + 1]),
    ):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "NllbTokenizer", **config}))
        tok = bp.load(tmp_path)
        low = tok.encode("low")
        assert low == [id + 1 for id in bp.load(tmp_path / "sentencepiece.bpe.model").encode("low")]
        assert tok("low")["input_ids"] == [*before, *low, *behind]
        assert {token: tok.token_id(token) for token in listed} == listed
        assert tok.encode("low deu_Latn<mask>", special="allow") == [*low, size + 2, size + 3]
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "NllbTokenizer", "legacy_behaviour": "no"}')
    with pytest.raises(bp.FormatError, match="legacy_behaviour is 'no'") as caught:
        bp.load(tmp_path)
    assert (caught.value.file, caught.value.pointer) == (str(tmp_path / "tokenizer_config.json"), "/legacy_behaviour")


@pytest.mark.parametrize("form", ["added_tokens.json", "tokenizer_config.json"])
def test_added_tokens_are_found_before_sentencepiece(tmp_path: Path, form: str) -> None:
    folder(tmp_path, models.model(models.unigram_pieces(), 1), "T5Tokenizer")
    plain = bp.load(tmp_path)
    row = {"content": "<new>", **dict.fromkeys(("lstrip", "rstrip", "single_word", "special"), False)}
    config = {"added_tokens_decoder": {len(plain): {**row, "normalized": True}}}
    files = {"added_tokens.json": {"<new>": len(plain)}, "tokenizer_config.json": config}
    (tmp_path / form).write_text(json.dumps(files[form]))
    tok, face = bp.load(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    added = AutoTokenizer.from_pretrained(tmp_path / "sentencepiece.bpe.model")
    for text in ("low<new>er", "low <new> er", "<new>", " <new><new>lo"):
        expected = [id for part in text.split("<new>") for id in [*plain.encode(part), len(plain)]][:-1]
        assert tok.encode(text) == expected
        assert face(text, add_special_tokens=False)["input_ids"] == expected
    # Whoever adds one later has it found there as well.
    assert added.add_tokens(["<new>"]) == 1
    assert added.tokenize("low<new>lo") == ["▁low", "<new>", "▁lo"]


def test_seamless_has_its_numbers_and_the_languages_of_its_folder(tmp_path: Path) -> None:
    data, size = models.model(models.unigram_pieces(), 1), len(models.unigram_pieces())
    plain = bp.load(folder(tmp_path, data, "SeamlessM4TTokenizer") / "sentencepiece.bpe.model")
    with pytest.raises(bp.FormatError, match="the folder of SeamlessM4TTokenizer does not list the tokens"):
        bp.load(tmp_path)
    codes = {"__eng__": size + 1, "__cmn_Hant__": size + 2}
    (tmp_path / "added_tokens.json").write_text(json.dumps(codes))
    config = {"tokenizer_class": "SeamlessM4TTokenizer"}
    for source, language in ((None, "__eng__"), ("cmn_Hant", "__cmn_Hant__"), ("__eng__", "__eng__")):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "src_lang": source}))
        tok = bp.load(tmp_path)
        for text in TEXTS:
            assert tok.encode(text) == [id + 1 for id in plain.encode(text)]
            assert tok(text)["input_ids"] == [codes[language], *tok.encode(text), 3]
        assert tok("low", "low")["input_ids"] == [codes[language], *tok.encode("low"), *tok.encode("low"), 3]
        assert [tok.token_id(token) for token in ("<pad>", "<unk>", "<s>", "</s>")] == [0, 1, 2, 3]
        assert tok.encode("low__eng__lo", special="allow") == [*tok.encode("low"), size + 1, tok.token_id("lo")]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "src_lang": "de"}))
    with pytest.raises(bp.FormatError, match="src_lang is '__de__'"):
        bp.load(tmp_path)


def test_layoutxlm_reads_words_as_xlm_roberta_does(tmp_path: Path) -> None:
    data = models.model(models.unigram_pieces(), 1)
    specs = [bp.load(folder(tmp_path, data, f"{name}Tokenizer")).spec for name in ("LayoutXLM", "XLMRoberta")]
    assert specs[0] == specs[1]


@pytest.mark.parametrize("name", ["ErnieM", "XLMProphetNet", "BertJapanese", "Cpm"])
def test_a_class_that_does_more_is_refused(tmp_path: Path, name: str) -> None:
    data = models.model(models.unigram_pieces(), 1)
    with pytest.raises(bp.FormatError, match=f"{name}Tokenizer (numbers|changes)") as caught:
        bp.load(folder(tmp_path, data, f"{name}Tokenizer"))
    assert caught.value.file == str(tmp_path / "sentencepiece.bpe.model")
    assert bp.load(tmp_path / "sentencepiece.bpe.model").encode("low")


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    pairs = models.model(models.pair_pieces(["lo", "low"]))
    with pytest.raises(bp.FormatError, match=r"has no \[CLS\]"):
        bp.load(folder(tmp_path, pairs, "DebertaV2Tokenizer"))
    with pytest.raises(bp.FormatError, match="does not begin with <pad>, </s>, <unk>, as"):
        bp.load(folder(tmp_path, pairs, "PegasusTokenizer"))
    pieces = [("<unk>", 0.0, 2), ("▁low", -1.0, 1)]
    with pytest.raises(bp.FormatError, match="has no </s>, which is to be added"):
        bp.load(folder(tmp_path, models.model(pieces, 1), "T5Tokenizer"))


def test_other_classes_change_nothing(tmp_path: Path) -> None:
    data = models.model(models.pair_pieces(["lo", "low"]))
    plain = bp.load(folder(tmp_path, data, None) / "sentencepiece.bpe.model")
    for name in ("ReformerTokenizer", "BertGenerationTokenizer", "PreTrainedTokenizerFast", None):
        assert bp.load(folder(tmp_path, data, name)).spec.model == plain.spec.model
    assert piece_classes.as_class(plain.spec, tmp_path / "tokenizer.model", None, {}) is plain.spec


def test_an_unknown_class_is_a_warning(tmp_path: Path) -> None:
    data = models.model(models.pair_pieces(["lo", "low"]))
    with pytest.warns(bp.TokenizerWarning, match="the class 'ChatGLM' of the folder is not known"):
        assert bp.load(folder(tmp_path, data, "ChatGLMTokenizer")).encode("low")


def test_llama_puts_bos_in_front_unless_the_folder_does_not(tmp_path: Path) -> None:
    data = models.model(models.pair_pieces(["lo", "low"]))
    low = bp.load(folder(tmp_path, data, "LlamaTokenizer") / "sentencepiece.bpe.model").encode("low")
    for settings, expected in (
        ({}, [1, *low]),
        ({"add_bos_token": False}, low),
        ({"add_eos_token": True}, [1, *low, 2]),
        ({"bos_token": "</s>"}, [2, *low]),
    ):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "LlamaTokenizer", **settings}))
        assert bp.load(tmp_path)("low")["input_ids"] == expected
    (tmp_path / "tokenizer_config.json").unlink()
    assert bp.load(folder(tmp_path, data, None, "mistral"))("low")["input_ids"] == [1, *low]


@pytest.mark.parametrize("name", ["BigBird", "RemBert"])
def test_a_text_has_the_ends_of_bert(tmp_path: Path, name: str) -> None:
    pieces = [*models.unigram_pieces(), ("[CLS]", 0.0, 3), ("[SEP]", 0.0, 3)]
    assert dict(bp.load(folder(tmp_path, models.model(pieces, 1), f"{name}Tokenizer")).spec.roles)["sep"] == "[SEP]"
    tok = bp.load(folder(tmp_path, models.model(pieces, 1), f"{name}Tokenizer"))
    cls, sep = tok.token_id("[CLS]"), tok.token_id("[SEP]")
    assert tok("low")["input_ids"] == [cls, *tok.encode("low"), sep]
    pair = tok("lo", "er", return_token_type_ids=True)
    assert pair["token_type_ids"] == [0] * (len(tok.encode("lo")) + 2) + [1] * (len(tok.encode("er")) + 1)
