"""PhoBERT, BERTweet, CTRL and small Blenderbot: tokens end with ``@@`` where a word goes on; others are unknown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.study.explain import explain

if TYPE_CHECKING:
    from pathlib import Path

CODES = "l o 9\nlo w</w> 7\nlo w 5\ne r</w> 4\nlow er</w> 3\n\n"
# "lo@@" and "er" are made on the way, and are no tokens; "e@@" is never there.
VOCABULARY = "low 7\nlow@@ 5\nlower 3\nl@@ 2\no 2\n"
"""Ids from 4 on; <mask> is 9."""


def folder(place: Path, name: str = "PhobertTokenizer", codes: str = CODES, vocabulary: str = VOCABULARY) -> Path:
    (place / "bpe.codes").write_text(codes)
    (place / "vocab.txt").write_text(vocabulary)
    (place / "config.json").write_text(json.dumps({"model_type": "roberta", "tokenizer_class": name}))
    return place


@pytest.mark.parametrize("name", ["PhobertTokenizer", "BertweetTokenizer"])
def test_tokens_are_looked_up_once_all_is_merged(tmp_path: Path, name: str) -> None:
    tok = bp.load(folder(tmp_path, name))
    texts = ["low", "lower", "low lo", "lowl", "lx", "er", " low\t lower  "]
    # No merge makes "lo" at the end of a word. "er" is what a merge makes, and unknown.
    assert [tok.encode(text) for text in texts] == [[4], [6], [4, 7, 8], [5, 3], [7, 3], [3], [4, 6]]
    assert tok("low", "lower")["input_ids"] == [0, 4, 2, 2, 6, 2]
    assert [tok.token_id(token) for token in ("<s>", "<pad>", "</s>", "<unk>", "low@@", "<mask>")] == [0, 1, 2, 3, 5, 9]
    assert (len(tok), tok.vocab_size) == (10, 10)
    assert tok.encode("low<mask>", special="allow") == [4, 9]
    for text in texts:
        assert tok.count(text) == len(tok.encode(text))


def test_a_line_end_belongs_to_the_word_before_it(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path))
    # The o is not the last character of "lo" and a line end.
    assert [tok.encode(text) for text in ("low\n", "low\n\nlow", "low \n low")] == [[5, 3], [5, 3, 4], [4, 4]]


def test_decoding_joins_words(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path))
    ids = [5, 4, 6, 7, 8, 3, 4]
    assert tok.decode(ids) == "lowlow lower lo <unk> low"
    stream = tok.decode_stream()
    assert "".join(stream.push([id]) for id in ids) + stream.finish() == tok.decode(ids)
    assert tok.decode([4, 5]) == "low low"


def test_ctrl_has_its_tokens_in_json(tmp_path: Path) -> None:
    tokens = ["<unk>", *(line.split()[0] for line in VOCABULARY.splitlines()), "\n"]
    (tmp_path / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}))
    merges = [line.rpartition(" ")[0] for line in CODES.splitlines() if line]
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CTRLTokenizer"}))
    tok = bp.load(tmp_path)
    assert [tok.encode(text) for text in ("low lower", "low\n", "lx")] == [[1, 3], [2, 6], [4, 0]]
    assert tok("low")["input_ids"] == [1]
    (tmp_path / "vocab.json").write_text(json.dumps({"<unk>": 0, "l@@": 1 << 33}))
    with pytest.raises(bp.FormatError, match=r"the id of 'l@@' is 8589934592 .*vocab\.json, pointer /l@@"):
        bp.load(tmp_path)
    (tmp_path / "vocab.json").write_text(json.dumps({"low": 0, "l@@": 1}))
    with pytest.raises(bp.FormatError, match="the vocabulary has no <unk>"):
        bp.load(tmp_path)


def small_blenderbot(place: Path) -> bp.Tokenizer:
    tokens = ["__null__", "__start__", "__end__", "__unk__", *(line.split()[0] for line in VOCABULARY.splitlines())]
    tokens += ["'", ".", ".@@", "σ", "ς", "σ@@", "__newln__"]
    newline = [f"{left} {right}" for left, right in zip(("_", "__", "__newln_"), ("_", "newln_", "_</w>"), strict=True)]
    merges = [line.rpartition(" ")[0] for line in CODES.splitlines() if line]
    merges += ["n e", "ne w", "new l", "newl n", "newln _", *newline]
    (place / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}))
    (place / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    (place / "config.json").write_text('{"model_type": "blenderbot-small"}')
    return bp.load(place)


def test_small_blenderbot_cuts_words_at_marks_and_spells_line_ends(tmp_path: Path) -> None:
    tok = small_blenderbot(tmp_path)
    low, lower, quote, stop, newline = (tok.token_id(token) for token in ("low", "lower", "'", ".", "__newln__"))
    expected = {
        "Low LOWER": [low, lower],
        "low'low": [low, quote, low],
        "low. .low": [low, stop, tok.token_id(".@@"), low],
        # A line end counts right behind a word alone, and not behind an apostrophe.
        "low\nlow": [low, newline, low],
        "low.\n\nlow": [low, stop, newline, low],
        "low \n low": [low, low],
        "low'\nlow": [low, quote, low],
    }
    assert {text: tok.encode(text) for text in expected} == expected
    assert tok("low", "low")["input_ids"] == [low, low]
    assert tok.encode("__start__ low__end__", special="allow") == [1, low, 2]
    assert tok.decode([low, newline, lower]) == "low __newln__ lower"
    assert (tok.bos_token_id, tok.eos_token_id, tok.unk_token_id, tok.pad_token_id) == (1, 2, 3, 0)


def test_a_capital_sigma_is_made_small_as_python_does(tmp_path: Path) -> None:
    tok = small_blenderbot(tmp_path)
    words = ("ΣΣ", "Σ", "ΣΣΣ", "Σ:Σ", "ΣΣ:Σ", "ΣΣ'Σ", "ΣΣ.Σ", "ΣΣ-Σ", "ΣΣ\u00ad", "Σ\u00adΣ", "1Σ")
    for word in words:
        # The quotes and stops begin words of their own.
        parts = word.replace("'", " ' ").replace(".", " .").split()
        assert tok.encode(word) == tok.encode(" ".join(part.lower() for part in parts)), word


def test_only_the_native_format_holds_it(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path))
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec
    for name in ("tokenizer.json", "sentencepiece", "codes", "vocab.txt", "vocab+merges"):
        with pytest.raises(bp.FormatError):
            tok.save(tmp_path / "other", name)
    with pytest.raises(bp.FormatError, match="explaining a model whose merges make texts that are no tokens"):
        explain(tok, "low")
    with pytest.raises(bp.TrainingError, match="no tokens cannot be pruned"):
        bp.prune(tok, 8)


@pytest.mark.parametrize(
    ("codes", "vocabulary", "message"),
    [
        (CODES + "l o\n", VOCABULARY, "'l o' is not a merge of two tokens"),
        ("l</w> o 3\n", VOCABULARY, "is not a merge of two tokens"),
        (CODES, "low 7\nlow 5\n", "the token 'low' is there already .*line 2"),
        (CODES, "low\n", "'low' is not a token and its count"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, codes: str, vocabulary: str, message: str) -> None:
    with pytest.raises(bp.FormatError, match=message):
        bp.load(folder(tmp_path, codes=codes, vocabulary=vocabulary))


def test_tweets_are_not_changed_first(tmp_path: Path) -> None:
    place = folder(tmp_path, "BertweetTokenizer")
    (place / "tokenizer_config.json").write_text(json.dumps({"normalization": True}))
    with pytest.raises(bp.FormatError, match="BertweetTokenizer with normalization"):
        bp.load(place)
    (place / "tokenizer_config.json").write_text(json.dumps({"normalization": False}))
    assert bp.load(place).encode("low") == [4]


def test_a_folder_names_the_class_of_its_vocabulary(tmp_path: Path) -> None:
    place = folder(tmp_path)
    (place / "config.json").unlink()
    with pytest.raises(bp.FormatError, match="BertweetTokenizer or PhobertTokenizer"):
        bp.load(place)
