"""Folders of ``vocab.json`` and ``merges.txt``, or of ``vocab.txt``, that name a class: what it adds, or a refusal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.model.byte_alphabet import to_characters

if TYPE_CHECKING:
    from pathlib import Path

ALPHABET = sorted(to_characters(bytes(range(256))))
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", *ALPHABET, "lo", "low", "\u0120low", "<mask>"]
GPT2 = [*ALPHABET, "lo", "low", "\u0120low", "<|endoftext|>"]
MERGES = "#version: 0.2\nl o\nlo w\n\u0120 low\n"
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "x"]


def pair(place: Path, tokens: list[str], name: str | None, merges: str = MERGES, **config: Any) -> Path:
    place.mkdir(exist_ok=True)
    (place / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}))
    (place / "merges.txt").write_text(merges)
    named = {"tokenizer_class": f"{name}Tokenizer"} if name else {}
    (place / "tokenizer_config.json").write_text(json.dumps({**named, **config}))
    return place


@pytest.mark.parametrize("name", ["Roberta", "Bart", "Longformer", "LED", "Luke", "Mvp"])
def test_a_text_has_the_ends_of_roberta(tmp_path: Path, name: str) -> None:
    tok = bp.load(pair(tmp_path, ROBERTA, name))
    low, space = tok.token_id("low"), tok.token_id(" low")
    assert tok("low low")["input_ids"] == [0, low, space, 2]
    assert tok("low", "lo")["input_ids"] == [0, low, 2, 2, tok.token_id("lo"), 2]
    # The mask takes the space before it, and tokens leave that space out.
    assert tok.encode("low <mask> low", special="allow") == [low, len(ROBERTA) - 1, space]
    assert tok("low low", return_offsets_mapping=True)["offset_mapping"] == [(0, 0), (0, 3), (4, 7), (0, 0)]
    assert (tok.bos_token_id, tok.pad_token_id, tok.eos_token_id, tok.unk_token_id) == (0, 1, 2, 3)
    mask = {"content": "<mask>", "lstrip": False}
    assert len(bp.load(pair(tmp_path, ROBERTA, name, mask_token=mask)).encode("low <mask>", special="allow")) == 3
    row = {"content": "<mask>", "lstrip": False, "special": True}
    listed = bp.load(pair(tmp_path, ROBERTA, name, added_tokens_decoder={str(len(ROBERTA) - 1): row}))
    assert len(listed.encode("low <mask>", special="allow")) == 3
    tok.save(tmp_path / "saved")
    assert bp.load(tmp_path / "saved")("low low")["input_ids"] == [0, low, space, 2]


def test_models_of_pages_read_words_as_roberta_does(tmp_path: Path) -> None:
    # Without a word of the folder, LayoutLMv3 alone puts a space before a text.
    for name, between, spaces in (("LayoutLMv3", [2, 2], [None, True]), ("MarkupLM", [2], [True])):
        for space in (None, True, False):
            tok = bp.load(pair(tmp_path, ROBERTA, name, add_prefix_space=space))
            low = [tok.token_id(" low" if space in spaces else "low")]
            assert tok("low")["input_ids"] == [0, *low, 2]
            both = tok("low", "low", return_token_type_ids=True)
            assert both["input_ids"] == [0, *low, *between, *low, 2]
            assert set(both["token_type_ids"]) == {0}
            assert tok("low", return_offsets_mapping=True)["offset_mapping"] == [(0, 0), (0, 3), (0, 0)]
            assert tok.encode("low <mask>", special="allow") == [*low, len(ROBERTA) - 1]
    tok.save(tmp_path / "saved")
    assert bp.load(tmp_path / "saved")("low", "low")["input_ids"] == both["input_ids"]


def test_the_folder_says_whether_a_space_is_put_in_front(tmp_path: Path) -> None:
    bp.load(pair(tmp_path, ROBERTA, "Roberta")).save(tmp_path / "saved")
    (tmp_path / "saved" / "manifest.json").unlink()
    config = tmp_path / "saved" / "tokenizer_config.json"
    # A space of the text stays where the one in front would be.
    for space, start in ((True, 0), (False, 1)):
        config.write_text(json.dumps({"tokenizer_class": "RobertaTokenizerFast", "add_prefix_space": space}))
        tok = bp.load(tmp_path / "saved")
        assert tok.encode("low") == [tok.token_id(" low" if space else "low")]
        assert tok(" low", return_offsets_mapping=True)["offset_mapping"] == [(0, 0), (start, 4), (0, 0)]
    config.write_text('{"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": true}')
    with pytest.raises(bp.FormatError, match="add_prefix_space is False in the tokenizer and True"):
        bp.load(tmp_path / "saved")


def test_the_kind_of_model_names_the_class(tmp_path: Path) -> None:
    (pair(tmp_path, ROBERTA, None) / "config.json").write_text('{"model_type": "roberta"}')
    tok = bp.load(tmp_path)
    low = tok.token_id("low")
    assert tok("low")["input_ids"] == [0, low, 2]
    # Tokens of a call or of a folder count, and the file by its own name has no others.
    assert bp.load(tmp_path, special_tokens={"<s>": 0})("low")["input_ids"] == [low]
    assert bp.load(tmp_path / "vocab.json")("low")["input_ids"] == [low]
    # A list of added tokens does not belong into this file.
    (tmp_path / "special_tokens_map.json").write_text(
        '{"cls_token": "<pad>", "sep_token": {"content": "<unk>"}, "added_tokens_decoder": [1]}'
    )
    assert bp.load(tmp_path)("low")["input_ids"] == [1, low, 3]
    (tmp_path / "config.json").write_text('{"model_type": "roberta", "tokenizer_class": "GPT2Tokenizer"}')
    assert bp.load(tmp_path)("low")["input_ids"] == [low]


def test_other_classes_add_other_tokens(tmp_path: Path) -> None:
    tok = bp.load(pair(tmp_path, ROBERTA, "Blenderbot"))
    low, lo = tok.token_id("low"), tok.token_id("lo")
    assert (tok("low")["input_ids"], tok("low", "lo")["input_ids"]) == ([low, 2], [low, lo])
    tok = bp.load(pair(tmp_path, [*ROBERTA, "[CLS]", "[SEP]", "[MASK]"], "Deberta"))
    cls = len(ROBERTA)
    both = tok("low", "lo", return_token_type_ids=True)
    assert both["input_ids"] == [cls, low, cls + 1, lo, cls + 1]
    assert both["token_type_ids"] == [0, 0, 0, 1, 1]
    tok = bp.load(pair(tmp_path, GPT2, "GPT2"))
    end = len(GPT2) - 1
    assert tok.encode("low<|endoftext|>", special="allow") == [tok.token_id("low"), end]
    assert (tok("low")["input_ids"], tok.eos_token_id) == ([tok.token_id("low")], end)
    tok = bp.load(pair(tmp_path, [*GPT2, "<pad>"], "GPT2", pad_token="<pad>"))
    assert (tok.pad_token, tok.eos_token) == ("<pad>", "<|endoftext|>")
    tok = bp.load(pair(tmp_path, GPT2, "GPT2", add_bos_token=True))
    assert tok("low")["input_ids"] == [end, tok.token_id("low")]


def test_whisper_has_a_prompt(tmp_path: Path) -> None:
    pair(tmp_path, GPT2, "Whisper")
    with pytest.raises(bp.FormatError, match=r"has no <\|startoftranscript\|>, which is to be added"):
        bp.load(tmp_path)
    more = {"<|startoftranscript|>": 300, "<|notimestamps|>": 301}
    (tmp_path / "added_tokens.json").write_text(json.dumps(more))
    tok = bp.load(tmp_path)
    assert tok("low")["input_ids"] == [300, 301, tok.token_id("low"), len(GPT2) - 1]


def test_luke_has_marks_of_entities(tmp_path: Path) -> None:
    tok = bp.load(pair(tmp_path, ROBERTA, "Luke"))
    size = len(ROBERTA)
    assert (tok.token_id("<ent>"), tok.token_id("<ent2>"), tok.vocab_size) == (size, size + 1, size + 2)
    assert tok.encode("low<ent>low", special="allow") == [tok.token_id("low"), size, tok.token_id("low")]
    row = {str(size): {"content": "<x>", "special": True}}
    assert bp.load(pair(tmp_path, ROBERTA, "Luke", added_tokens_decoder=row)).token_id("<ent>") == size + 1
    # A folder may list them with other ids.
    rows = {str(size + at): {"content": token, "special": True} for at, token in enumerate(("<x>", "<ent>", "<ent2>"))}
    assert bp.load(pair(tmp_path, ROBERTA, "Luke", added_tokens_decoder=rows)).token_id("<ent>") == size + 1


def test_a_missing_token_is_named(tmp_path: Path) -> None:
    with pytest.raises(bp.FormatError, match="the vocabulary has no <s>, which is to be added to each text"):
        bp.load(pair(tmp_path, GPT2, "Roberta"))


@pytest.mark.parametrize("name", ["XLM", "Flaubert", "BioGpt", "FSMT"])
def test_a_class_that_does_more_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(bp.FormatError, match=f"{name}Tokenizer finds words with another library first.*AutoTokenizer"):
        bp.load(pair(tmp_path, GPT2, name))


def test_an_unknown_class_is_a_warning(tmp_path: Path) -> None:
    with pytest.warns(bp.TokenizerWarning, match="the class 'Mine' of the folder is not known"):
        assert bp.load(pair(tmp_path, GPT2, "Mine")).encode("low")
    (tmp_path / "vocab.txt").write_text("\n".join(BERT))
    for file in ("vocab.json", "merges.txt"):
        (tmp_path / file).unlink()
    with pytest.warns(bp.TokenizerWarning, match="the class 'Mine' of the folder is not known"):
        assert bp.load(tmp_path)("lower")["input_ids"] == [2, 5, 6, 3]


WORDS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"aeilorstw", *(f"{letter}</w>" for letter in "aeilorstw")]
WORDS += ["lo", "low</w>"]
OF_WORDS = "#version: 0.2\nl o\nlo w</w>\n"


def test_words_end_with_a_part_of_their_last_token(tmp_path: Path) -> None:
    low, t = WORDS.index("low</w>"), WORDS.index("t</w>")
    tok = bp.load(pair(tmp_path, WORDS, "Herbert", OF_WORDS))
    assert tok("low t")["input_ids"] == [0, low, t, 2]
    assert tok("low", "t")["input_ids"] == [0, low, 2, t, 2]
    assert tok.encode("LOW") == [3, 3, 3]
    assert tok.decode(tok.encode("low t")) == "low t"
    tok = bp.load(pair(tmp_path, WORDS, "OpenAIGPT", OF_WORDS))
    assert tok("LOW t")["input_ids"] == [low, t]
    with pytest.raises(
        bp.FormatError, match=r"nothing says how words are found .*HerbertTokenizer, OpenAIGPTTokenizer"
    ):
        bp.load(pair(tmp_path, WORDS, "GPT2", OF_WORDS))
    for option in ({"split": "gpt2"}, {"special_tokens": {"<s>": 0}}):
        with pytest.raises(
            bp.FormatError, match=r"have the stages of their class.*; leave split and special_tokens out"
        ):
            bp.load(tmp_path, **option)
    with pytest.raises(bp.FormatError, match="XLMTokenizer finds words with another library"):
        bp.load(pair(tmp_path, WORDS, "XLM", OF_WORDS))
    with pytest.raises(bp.FormatError, match="the vocabulary has no <s>"):
        bp.load(pair(tmp_path, WORDS[1:], "Herbert", OF_WORDS))


def test_the_settings_of_a_folder_change_the_normalizer_of_bert(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*BERT, "LOW", "caf\u00e9", "cafe"]) + "\n")
    bp.load(tmp_path / "vocab.txt").save(tmp_path / "saved", "tokenizer.json")
    (tmp_path / "saved" / "manifest.json").unlink()
    cased = bp.load(tmp_path / "saved")
    assert cased.encode("LOW caf\u00e9") == [8, 9]

    def load(**config: Any) -> bp.Tokenizer:
        (tmp_path / "saved" / "tokenizer_config.json").write_text(json.dumps(config))
        return bp.load(tmp_path / "saved")

    assert load(tokenizer_class="BertTokenizer", do_lower_case=True).encode("LOW caf\u00e9") == [5, 10]
    assert load(tokenizer_class="BertTokenizer", strip_accents=True).encode("LOW caf\u00e9") == [8, 10]
    assert load(tokenizer_class="BertTokenizer", strip_accents=None) == cased
    # The general class does what the file says.
    for general in ({}, {"tokenizer_class": "PreTrainedTokenizerFast"}):
        assert load(**general, do_lower_case=True).encode("LOW") == [8]
    (tmp_path / "saved" / "config.json").write_text('{"model_type": "distilbert"}')
    assert load(do_lower_case=True).encode("LOW") == [5]
    assert bp.load(tmp_path / "saved" / "tokenizer.json").encode("LOW") == [8]
    with pytest.raises(bp.FormatError, match="do_lower_case is 'yes', not true or false"):
        load(do_lower_case="yes")


def test_vocab_txt_of_other_classes(tmp_path: Path) -> None:
    def load(name: str, tokens: list[str], **config: Any) -> bp.Tokenizer:
        (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n")
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer", **config}))
        return bp.load(tmp_path)

    tok = load("MPNet", ["<s>", "<pad>", "</s>", "<unk>", *BERT, "<mask>"])
    assert tok("LOWER")["input_ids"] == [0, 9, 10, 2]
    both = tok("low", "x", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([0, 9, 2, 2, 11, 2], [0, 0, 0, 0, 1, 1])
    assert tok.encode("low <mask>?", special="allow") == [9, 12, 5]
    tok = load("Funnel", ["<unk>", "<cls>", "<sep>", "<pad>", "<mask>", "low", "##er"])
    both = tok("lower", "low", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([1, 5, 6, 2, 5, 2], [2, 0, 0, 0, 1, 1])
    both = load("RoCBert", BERT)("lower", "low", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([2, 5, 6, 3, 5, 3], [0, 0, 0, 0, 1, 1])
    splinter = [*BERT, "[QUESTION]", "."]
    tok = load("Splinter", splinter)
    assert tok("low")["input_ids"] == [2, 5, 3]
    both = tok("low", "x", return_token_type_ids=True)
    assert (both["input_ids"], both["token_type_ids"]) == ([2, 5, 8, 9, 3, 7, 3], [0, 0, 0, 0, 0, 1, 1])
    assert tok.encode("low [QUESTION].", special="allow") == [5, 8, 9]
    with pytest.raises(bp.FormatError, match=r"has no \., which is to be added"):
        load("Splinter", splinter[:-1])
    with pytest.raises(bp.FormatError, match="with its padding on the left"):
        load("Splinter", splinter, padding_side="left")
    with pytest.raises(bp.FormatError, match="BertJapaneseTokenizer finds words with another library first"):
        load("BertJapanese", BERT)
    for name in ("RoFormer", "Tapas"):
        with pytest.raises(bp.FormatError, match=f"{name}Tokenizer finds words in another way"):
            load(name, BERT)
