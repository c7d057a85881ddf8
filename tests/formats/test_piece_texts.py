"""A ``.model`` whose class changes a text first: the text is changed here by hand, and given to the ``.model``."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

ENDS = ["[CLS]", "[SEP]", "<sep>", "<cls>", "[MASK]", "<mask>", "<pad>"]
PIECES = [*models.unigram_pieces(), *((piece, -6.0, 1) for piece in '"1,é\u0301É'), *((end, 0.0, 3) for end in ENDS)]
TEXTS = ["low ``lower'' low", "lówér  éÉ ☃", "LOW a\u0301b", "''", "", " `lo`", "１ ﬁ"]


def folder(place: Path, data: bytes, name: str, **config: Any) -> Path:
    (place / "spiece.model").write_bytes(data)
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer", **config}))
    return place


def changed(text: str, *, lowercase: bool, keep_accents: bool) -> str:
    text = text.replace("``", '"').replace("''", '"')
    if not keep_accents:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    return text.lower() if lowercase else text


@pytest.mark.parametrize(
    ("name", "lowercase", "keep_accents"), [("Albert", True, False), ("FNet", False, True), ("XLNet", False, False)]
)
def test_the_pieces_are_those_of_the_changed_text(
    tmp_path: Path, name: str, lowercase: bool, keep_accents: bool
) -> None:
    data = models.model(PIECES, 1)
    for config in ({}, {"do_lower_case": not lowercase}, {"keep_accents": not keep_accents}):
        tok = bp.load(folder(tmp_path, data, name, **config))
        plain = bp.load(tmp_path / "spiece.model")
        flags = {"lowercase": config.get("do_lower_case", lowercase)}
        flags["keep_accents"] = config.get("keep_accents", keep_accents)
        for text in TEXTS:
            assert tok.encode(text) == plain.encode(changed(text, **flags)), (config, text)
            assert tok.count(text) == len(tok.encode(text))
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec
    with pytest.raises(bp.FormatError, match="normalizer of sentencepiece"):
        tok.save(tmp_path / "json", "tokenizer.json")


def test_tokens_stand_around_a_text(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, models.model(PIECES, 1), "Albert"))
    low, cls, sep = tok.encode("low"), tok.token_id("[CLS]"), tok.token_id("[SEP]")
    both = tok("low", "low", return_token_type_ids=True)
    assert both["input_ids"] == [cls, *low, sep, *low, sep]
    assert both["token_type_ids"] == [0, *[0] * len(low), 0, *[1] * len(low), 1]
    # The mask takes the space before it.
    assert tok.encode("low [MASK]", special="allow") == [*low, tok.token_id("[MASK]")]
    tok = bp.load(folder(tmp_path, models.model(PIECES, 1), "XLNet"))
    both = tok("low", "low", return_token_type_ids=True)
    ends = [tok.token_id("<sep>"), tok.token_id("<cls>")]
    assert both["input_ids"] == [*low, ends[0], *low, *ends]
    assert both["token_type_ids"] == [*[0] * len(low), 0, *[1] * len(low), 1, 2]


def test_a_digit_and_a_comma_are_a_piece_only_where_nothing_else_fits(tmp_path: Path) -> None:
    data = models.model([*PIECES, ("1,", -1.0, 1), ("9,", -1.0, 1), ("a,", -1.0, 1)], 1)
    tok = bp.load(folder(tmp_path, data, "Albert"))
    plain = bp.load(tmp_path / "spiece.model")
    assert b" ".join(plain.tokens("1, 9, a,")).decode() == "▁ 1, ▁ 9, ▁ a,"
    assert b" ".join(tok.tokens("1, 9, a,")).decode() == "▁ 1 , ▁ 9, ▁ a,"


def test_gpt_sw3_removes_what_does_not_print(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, models.model([*PIECES, ("<|endoftext|>", 0.0, 3)], 1), "GPTSw3"))
    plain = bp.load(tmp_path / "spiece.model")
    assert tok.encode("lo\u200b\x07\xadw\u3000e\u0301\ufffcr\xa0\x84") == plain.encode("low é r")
    assert tok.encode("a\tb\nc") == plain.encode("a\tb\nc")
    assert dict(tok.spec.roles)["eos"] == "<|endoftext|>"


def test_siglip_removes_punctuation(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, models.model(PIECES, 1), "Siglip"))
    plain = bp.load(tmp_path / "spiece.model")
    for text, changed_by_hand in (
        ('"LOW," said lo-w... ', "low said low"),
        ("- low \x1c\u3000 (er)", "low er"),
        ("low▁lower!", "low lower"),
        ("`{|}~", ""),
    ):
        ids = plain.encode(changed_by_hand)
        assert tok.encode(text) == ids
        assert tok(text)["input_ids"] == [*ids, 2]
    assert tok("low", "er")["input_ids"] == [*plain.encode("low"), 2, *plain.encode("er"), 2]
    assert tok.encode("low </s> er", special="allow") == [*plain.encode("low"), 2, *plain.encode("er")]
    cased = bp.load(folder(tmp_path, models.model(PIECES, 1), "Siglip", do_lower_case=False))
    assert cased.encode("LOW!") == plain.encode("LOW") != tok.encode("LOW!")


def test_a_wrong_setting_or_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bp.FormatError, match="do_lower_case is 'no'") as caught:
        bp.load(folder(tmp_path, models.model(PIECES, 1), "Albert", do_lower_case="no"))
    assert (caught.value.file, caught.value.pointer) == (str(tmp_path / "tokenizer_config.json"), "/do_lower_case")
    with pytest.raises(bp.FormatError, match=r"the \.model is no Unigram, as those of XLNetTokenizer"):
        bp.load(folder(tmp_path, models.model(models.pair_pieces()), "XLNet"))
    with pytest.raises(bp.FormatError, match=r"has no \[CLS\], which is to be added"):
        bp.load(folder(tmp_path, models.model(models.unigram_pieces(), 1), "FNet"))
