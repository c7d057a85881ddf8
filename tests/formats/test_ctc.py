"""Vocabularies of models of speech: letters are tokens, and what is heard is decoded without repetitions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers

import bytepair as bp

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|", "L", "O", "W", "E", "<hm>"]


def folder(place: Path, vocabulary: Any = TOKENS, **config: Any) -> Path:
    table = {token: id for id, token in enumerate(vocabulary)} if isinstance(vocabulary, list) else vocabulary
    (place / "vocab.json").write_text(json.dumps(table))
    (place / "config.json").write_text('{"model_type": "wav2vec2"}')
    (place / "tokenizer_config.json").write_text(json.dumps(config))
    return place


def test_each_letter_is_a_token(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path))
    assert tok("LOW LOWE")["input_ids"] == [5, 6, 7, 4, 5, 6, 7, 8]
    assert tok.encode("L|low\n") == [5, 4, 3, 3, 3, 3]
    assert tok("L", "O")["input_ids"] == [5, 6]
    # Tokens of several letters take the white space beside them.
    assert tok.encode("L <hm> O", special="allow") == [5, 9, 6]
    assert tok.encode("L </s> O", special="allow") == [5, 2, 6]
    assert tok.encode("L </s> O", special="text") == [5, 4, 3, 3, 3, 3, 4, 6]
    assert (len(tok), tok.pad_token_id, tok.unk_token_id) == (10, 0, 3)
    assert tok.count("LOW LOWE") == 8


def test_decoding_leaves_one_of_equal_tokens(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path))
    heard = [4, 5, 5, 0, 5, 6, 0, 0, 7, 4, 4, 8, 4]
    assert tok.decode(heard) == "LLOW E"
    assert bp.load(folder(tmp_path, replace_word_delimiter_char="_")).decode([5, 4, 6]) == "L_O"
    tok.save(tmp_path / "saved")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    assert other.decode(heard, skip_special_tokens=False) == "LLOW E"
    assert other.encode("LOW <hm>x").ids == tok.encode("LOW <hm>x") == [5, 6, 7, 9, 3]


def test_missing_tokens_come_behind_all_others(tmp_path: Path) -> None:
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "tokenizer_class": "Wav2Vec2CTCTokenizer"}
    vocabulary = ["a", "b", "|", "[UNK]", "[PAD]"]
    tok = bp.load(folder(tmp_path, vocabulary, **names))
    assert (tok.token_id("<s>"), tok.token_id("</s>"), tok.pad_token_id, len(tok)) == (5, 6, 4, 7)
    assert tok.encode("ab c") == [0, 1, 2, 3]
    (tmp_path / "added_tokens.json").write_text('{"<s>": 6, "</s>": 5}')
    assert bp.load(tmp_path).token_id("<s>") == 6
    assert len(bp.load(folder(tmp_path, vocabulary, **names, bos_token=None, eos_token=None))) == 7


def test_a_folder_chooses_one_of_many_languages(tmp_path: Path) -> None:
    first = {token: id for id, token in enumerate(TOKENS)}
    tables = {"eng": first, "fra": {**first, "É": 10}}
    assert bp.load(folder(tmp_path, tables, target_lang="fra")).encode("É") == [10]
    assert bp.load(folder(tmp_path, tables, target_lang="eng")).encode("É") == [3]
    languages: tuple[Any, ...] = (None, "deu", [])
    for chosen in languages:
        with pytest.raises(bp.FormatError, match=r"set target_lang in tokenizer_config\.json to one of eng, fra"):
            bp.load(folder(tmp_path, tables, target_lang=chosen))


def test_a_fault_in_one_of_many_languages_is_located(tmp_path: Path) -> None:
    with pytest.raises(bp.FormatError, match="the id of 'a/b' is x") as caught:
        bp.load(folder(tmp_path, {"fra": {"<unk>": 0, "a/b": "x"}}, target_lang="fra"))
    assert caught.value.pointer == "/fra/a~1b"


def test_what_is_not_done_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bp.FormatError, match="with do_lower_case, which makes the letters of a text capitals"):
        bp.load(folder(tmp_path, do_lower_case=True))
    with pytest.raises(bp.FormatError, match="the vocabulary has no <unk>"):
        bp.load(folder(tmp_path, ["<pad>", "a"]))
    with pytest.raises(bp.FormatError, match="the id of 'a' is x") as caught:
        bp.load(folder(tmp_path, {"<unk>": 0, "a": "x"}))
    assert (caught.value.file, caught.value.pointer) == (str(tmp_path / "vocab.json"), "/a")
