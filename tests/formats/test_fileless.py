"""ByT5, Perceiver, CANINE: tokens are bytes or characters, and a folder has nothing but a configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers

import bytepair as bp
from bytepair.compat.transformers import AutoTokenizer
from bytepair.formats import hub
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "low é\n"


def folder(place: Path, name: str, **config: Any) -> Path:
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer", **config}))
    return place


def test_byt5_has_its_bytes_behind_three_tokens(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, "ByT5"))
    assert tok.encode("Aé") == [byte + 3 for byte in "Aé".encode()]
    assert tok("A")["input_ids"] == [68, 1]
    assert tok("A", "B")["input_ids"] == [68, 1, 69, 1]
    tokens = {"<pad>": 0, "</s>": 1, "<unk>": 2, "<extra_id_0>": 259, "<extra_id_124>": 383}
    assert {token: tok.token_id(token) for token in tokens} == tokens
    assert (len(tok), tok.vocab_size, tok.pad_token_id, tok.eos_token_id) == (384, 384, 0, 1)
    # The first three tokens take the white space beside them, and sentinels do not.
    assert tok.encode("A </s> B", special="allow") == [68, 1, 69]
    assert tok.encode("A <extra_id_1> B", special="allow") == [68, 35, 260, 35, 69]
    assert tok.decode(tok.encode(TEXT)) == TEXT
    assert tok.count(TEXT) == len(TEXT.encode())


def test_perceiver_has_its_bytes_behind_six(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, "Perceiver"))
    assert tok("A")["input_ids"] == [4, 71, 5]
    assert tok("A", "B")["input_ids"] == [4, 71, 5, 72, 5]
    tokens = ("[PAD]", "[BOS]", "[EOS]", "[MASK]", "[CLS]", "[SEP]")
    assert [tok.token_id(token) for token in tokens] == list(range(6))
    assert tok.encode("A [MASK] B", special="allow") == [71, 38, 3, 38, 72]


def test_the_ids_of_canine_are_code_points(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, "Canine"))
    text = TEXT + "\U0010ffff\ufffd 🦊"
    assert tok.encode(text) == [ord(character) for character in text]
    assert (tok.decode(tok.encode(text)), tok.count(text)) == (text, len(text))
    assert tok("A")["input_ids"] == [0xE000, 65, 0xE001]
    both = tok("A", "B", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([0xE000, 65, 0xE001, 66, 0xE001], [0, 0, 0, 1, 1])
    # The mask takes the white space before it. A special token that is text is unknown.
    assert tok.encode("a \ue003b\0", special="allow") == [97, 0xE003, 98, 0]
    assert tok.encode("a \ue003b\0", special="text") == [97, 32, 0xFFFD, 98, 0xFFFD]
    with pytest.raises(bp.SpecialTokenError):
        tok.encode("a\0")
    assert (tok.offsets("aé"), tok.vocab_size) == ([(0, 1), (1, 2)], 0x110000)
    assert [(part.start, part.end) for part in tok.chunks("abcde", 2)] == [(0, 2), (2, 4), (4, 5)]
    assert tok.pad_token_id == 0
    tok.save(tmp_path / "canine.bpt")
    assert bp.load(tmp_path / "canine.bpt") == tok
    named = {"content": "\ue002", "lstrip": False}
    assert bp.load(folder(tmp_path, "Canine", cls_token=named))("A")["input_ids"] == [0xE002, 65, 0xE001]
    with pytest.raises(bp.FormatError, match=r"cls_token is '\[CLS\]', and the tokens are characters"):
        bp.load(folder(tmp_path, "Canine", cls_token="[CLS]"))


def test_canine_is_read_as_by_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    texts = [*(text for text in HOSTILE if len(text) < 200), "\0a\ue000 b", "a\ue001\ue003"]
    place = str(folder(tmp_path, "Canine"))
    ours, theirs = AutoTokenizer.from_pretrained(place), transformers.AutoTokenizer.from_pretrained(place)
    assert type(theirs).__name__ == "CanineTokenizer"
    for text in texts:
        ids = theirs(text).input_ids
        assert ours(text).input_ids == ids, text
        assert ours(text, "b\ue002").input_ids == theirs(text, "b\ue002").input_ids
        for skip in (False, True):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip), text


def test_a_folder_chooses_the_sentinels(tmp_path: Path) -> None:
    assert len(bp.load(folder(tmp_path, "ByT5", extra_ids=2))) == 261
    tok = bp.load(
        folder(tmp_path, "ByT5", extra_ids=0, additional_special_tokens=["<a>"], pad_token={"content": "<p>"})
    )
    assert (tok.token_id("<a>"), tok.token_id("<p>"), len(tok)) == (259, 0, 260)
    row = {"content": "<x>", **dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False), "special": True}
    listed = bp.load(folder(tmp_path, "ByT5", added_tokens_decoder={"300": row}))
    assert (listed.token_id("<x>"), "<extra_id_0>" in listed.special_tokens) == (300, False)
    with pytest.raises(bp.FormatError, match="additional_special_tokens is '5'"):
        bp.load(folder(tmp_path, "ByT5", additional_special_tokens=5))
    with pytest.raises(bp.FormatError, match="extra_ids is 'many'"):
        bp.load(folder(tmp_path, "ByT5", extra_ids="many"))


def test_the_configuration_of_the_model_may_name_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "t5", "tokenizer_class": "ByT5Tokenizer"}')
    assert bp.load(tmp_path)("A")["input_ids"] == [68, 1]
    folder(tmp_path, "ByT5", extra_ids=1)
    assert len(bp.load(tmp_path)) == len(bp.load(tmp_path / "tokenizer_config.json")) == 260
    assert AutoTokenizer.from_pretrained(tmp_path)("A")["input_ids"] == [68, 1]
    origin = hub.Origin("org/name", "main", "0" * 40, tmp_path, {})
    assert hub.read(origin).model.ids[0] == 3
    folder(tmp_path, "T5")
    (tmp_path / "config.json").unlink()
    with pytest.raises(bp.FormatError, match=r"the folder holds no tokenizer [(]"):
        bp.load(tmp_path)


def test_the_class_of_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(bp.FormatError, match="holds no tokenizer, and its class, VitsTokenizer, is not supported"):
        bp.load(folder(tmp_path, "Vits"))
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(bp.ArtifactError, match=r"no merges\.txt beside the vocabulary, and its class, VitsTokenizer"):
        bp.load(tmp_path)
    with pytest.raises(bp.ArtifactError, match=r"no merges\.txt beside the vocabulary .*fetch it too"):
        bp.load(folder(tmp_path, "GPT2"))


@pytest.mark.parametrize("name", ["ByT5", "Perceiver"])
def test_it_can_be_saved(tmp_path: Path, name: str) -> None:
    tok = bp.load(folder(tmp_path, name))
    tok.save(tmp_path / "saved")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    special = f"{TEXT} <pad> [MASK] b"
    expected = tok(special, special="allow")["input_ids"]
    assert bp.load(tmp_path / "saved")(special, special="allow")["input_ids"] == other.encode(special).ids == expected
    assert other.decode(tok.encode(TEXT)) == TEXT
