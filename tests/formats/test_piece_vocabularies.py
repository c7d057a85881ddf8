"""Models of sentencepiece with a vocabulary beside them: the ids by the definition, folders, and refused ones."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.compat.transformers import AutoTokenizer
from bytepair.model.models import Unigram
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

# "ow" and "w" are pieces without an id; "z", "é" and "zz" are tokens of the other language alone.
LOST = {"ow", "w", "▁lower"}
TOKENS = [
    "</s>",
    "<unk>",
    "z",
    *(piece for piece, _, kind in models.unigram_pieces() if kind == 1 and piece not in LOST),
]
VOCABULARY = {token: id for id, token in enumerate([*TOKENS, "é", ">>fra<<", "zz", "<pad>"])}
UNK = VOCABULARY["<unk>"]


def marian(folder: Path, vocabulary: object = VOCABULARY, **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "source.spm").write_bytes(models.model(models.unigram_pieces(), 1))
    (folder / "target.spm").write_bytes(models.model(models.unigram_pieces()[:-1], 1))
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def by_definition(plain: bp.Tokenizer, text: str) -> list[int]:
    """The ids of the pieces of sentencepiece by what they spell; a run of unknown characters is one piece."""
    normal = "".join(f"▁{word}" for word in text.split())
    return [VOCABULARY.get(normal[begin:end], UNK) for begin, end in spans(plain, normal)]


def spans(plain: bp.Tokenizer, normal: str) -> list[tuple[int, int]]:
    model = plain.spec.model
    assert isinstance(model, Unigram)
    # The model alone: the text is one piece as it is.
    alone = bp.Tokenizer(bp.TokenizerSpec(model))
    return alone.offsets(normal)


def test_marians_pieces_have_the_ids_of_the_vocabulary(tmp_path: Path) -> None:
    tok = bp.load(marian(tmp_path))
    chance = random.Random(26)
    assert bp.load(tmp_path / "source.spm") == tok
    (tmp_path / "plain.model").write_bytes((tmp_path / "source.spm").read_bytes())
    plain = bp.load(tmp_path / "plain.model")
    texts = ["".join(chance.choices("lowera b zé☃", k=chance.randint(0, 20))) for _ in range(400)]
    found = [tok.encode(text) for text in texts]
    assert found == [by_definition(plain, text) for text in texts]
    assert {VOCABULARY["é"], VOCABULARY["zz"], UNK} <= {id for ids in found for id in ids}
    assert [tok.count(text) for text in texts] == [len(ids) for ids in found]
    assert tok("low", "l")["input_ids"] == [*tok.encode("low"), *tok.encode("l"), 0]
    assert (tok.eos_token_id, tok.pad_token_id, tok.unk_token_id) == (0, len(VOCABULARY) - 1, UNK)
    assert tok.encode(">>fra<< low") == [VOCABULARY[">>fra<<"], *tok.encode("low")]
    assert tok.decode([VOCABULARY["zz"], VOCABULARY["▁low"]]) == "zz low"
    assert dict(tok.vocab) == VOCABULARY
    # Only "▁▁" is found wanting: the model has it, and its normalizer makes one space of two.
    assert [finding.ids for finding in bp.lint(tok).findings] == [(VOCABULARY["▁▁"],)]
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec
    for format_name in ("tokenizer.json", "sentencepiece"):
        with pytest.raises(bp.FormatError, match="cannot hold"):
            tok.save(tmp_path / "other", format_name)


def test_the_target_has_a_vocabulary_of_its_own_if_it_is_there(tmp_path: Path) -> None:
    target = marian(tmp_path) / "target.spm"
    assert bp.load(target).encode("lol") == bp.load(tmp_path).encode("lol")
    # "w" is a piece of the source without an id, and unknown in the target, together with what is beside it.
    assert bp.load(tmp_path).encode("aw☃")[-2:] == [UNK, UNK]
    assert bp.load(target).encode("aw☃")[-2:] == [VOCABULARY["▁a"], UNK]
    swapped = dict(zip(VOCABULARY, [0, 1, *reversed(range(2, len(VOCABULARY)))], strict=True))
    (tmp_path / "target_vocab.json").write_text(json.dumps(swapped))
    assert bp.load(target).encode("lol") == [swapped["▁lo"], swapped["l"]]
    assert bp.load(tmp_path).encode("lol") == [VOCABULARY["▁lo"], VOCABULARY["l"]]


def test_a_folder_may_name_its_tokens_otherwise(tmp_path: Path) -> None:
    vocabulary = {"</e>" if token == "</s>" else token: id for token, id in VOCABULARY.items()}
    tok = bp.load(marian(tmp_path, vocabulary, eos_token="</e>", tokenizer_class="MarianTokenizer"))
    assert tok("low")["input_ids"] == [*tok.encode("low"), 0]
    with pytest.raises(bp.FormatError, match=r"'</s>' is not in vocab\.json"):
        bp.load(marian(tmp_path / "other", vocabulary))


def test_m2m100_has_languages_behind_its_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.bpe.model").write_bytes(models.model(models.unigram_pieces(), 1))
    vocabulary = {token: id for id, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *TOKENS[3:]])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "config.json").write_text('{"model_type": "m2m_100"}')
    tok = bp.load(tmp_path)
    size = len(vocabulary)
    assert tok.encode("low w") == [vocabulary["▁low"], vocabulary["▁"], 3]
    assert (tok.token_id("__af__"), tok.token_id("__zu__"), tok.vocab_size) == (size, size + 99, size + 100)
    assert tok("low")["input_ids"] == [tok.token_id("__en__"), vocabulary["▁low"], 2]
    config = {"language_codes": "wmt21", "src_lang": "ha"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert bp.load(tmp_path)("low")["input_ids"] == [size + 1, vocabulary["▁low"], 2]
    for name, value in (("language_codes", "wmt22"), ("src_lang", "fr")):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, name: value}))
        with pytest.raises(bp.FormatError, match=f"{name} is '{value}'.*; use one of "):
            bp.load(tmp_path)
    (tmp_path / "vocab.json").unlink()
    with pytest.raises(bp.FormatError, match=r"vocab\.json is missing"):
        bp.load(tmp_path)


def test_speech_to_text_has_the_ids_of_its_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.bpe.model").write_bytes(models.model(models.unigram_pieces(), 1))
    vocabulary = {token: id for id, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *TOKENS[3:]])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    config = {"tokenizer_class": "Speech2TextTokenizer", "lang_codes": None, "do_upper_case": False}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = bp.load(tmp_path)
    assert tok("low w")["input_ids"] == [vocabulary["▁low"], vocabulary["▁"], 3, 2]
    assert (tok.bos_token_id, tok.pad_token_id, tok.eos_token_id, tok.unk_token_id) == (0, 1, 2, 3)
    for name, value in (("lang_codes", "mustc"), ("do_upper_case", True)):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, name: value}))
        with pytest.raises(bp.FormatError, match="with lang_codes, or with do_upper_case"):
            bp.load(tmp_path)


def test_bartpho_has_its_pieces_in_a_list(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.bpe.model").write_bytes(models.model(models.unigram_pieces(), 1))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BartphoTokenizer"}')
    listed = tmp_path / "dict.txt"
    listed.write_text("".join(f"{token} 9\n" for token in TOKENS[3:]))
    tok = bp.load(tmp_path)
    ids = {token: id + 4 for id, token in enumerate(TOKENS[3:])}
    assert tok("low w")["input_ids"] == [0, ids["▁low"], ids["▁"], 3, 2]
    mask = len(ids) + 4
    assert (tok.token_id("<mask>"), tok.vocab_size) == (mask, mask + 1)
    assert tok("low <mask>", "low", special="allow")["input_ids"] == [0, ids["▁low"], mask, 2, 2, ids["▁low"], 2]
    for line, says in (("\n", "the line has no token"), (f"{TOKENS[3]} 1\n", "is there already")):
        listed.write_text("".join(f"{token} 9\n" for token in TOKENS[3:]) + line)
        with pytest.raises(bp.FormatError, match=says) as caught:
            bp.load(tmp_path)
        assert (caught.value.file, caught.value.line) == (str(listed), len(ids) + 1)
    listed.unlink()
    with pytest.raises(bp.ArtifactError, match=r"dict\.txt"):
        bp.load(tmp_path)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"lo": 0}, "'</s>' and 'lo' have the same id, 0"),
        ({"lo": -1}, "the id of 'lo' is -1"),
        ({"lo": "1"}, "the id of 'lo' is 1"),
    ],
)
def test_broken_vocabularies_are_refused(tmp_path: Path, changed: dict[str, object], says: str) -> None:
    with pytest.raises(bp.FormatError, match=says) as caught:
        bp.load(marian(tmp_path, {**VOCABULARY, **changed}))
    assert (caught.value.file, caught.value.pointer) == (str(tmp_path / "vocab.json"), "/lo")


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    (marian(tmp_path) / "source.spm").write_bytes(models.model(models.pair_pieces()))
    with pytest.raises(bp.FormatError, match="no Unigram"):
        bp.load(tmp_path)


def test_a_vocabulary_alone_is_still_one_without_merges(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps(VOCABULARY))
    with pytest.raises(bp.ArtifactError, match=r"merges\.txt"):
        bp.load(tmp_path)


def test_the_face_of_transformers_pads_with_the_token_of_the_class(tmp_path: Path) -> None:
    marian(tmp_path, tokenizer_class="MarianTokenizer")
    face = AutoTokenizer.from_pretrained(tmp_path)
    rows = face(["low", "low low"], padding=True)["input_ids"]
    pad = VOCABULARY["<pad>"]
    assert rows[0] == [VOCABULARY["▁low"], 0, pad]
    assert (face.pad_token, face.eos_token, face.unk_token) == ("<pad>", "</s>", "<unk>")
