"""Classes whose words MeCab or Moses finds, against transformers: ids, pairs, decoding, files, and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.compat import transformers as face
from bytepair.compat.transformers import AutoTokenizer, word_finders
from bytepair.formats import found_words
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

JAPANESE = "これは日本語の文です。東京都に住んでいます。ｶﾞラス１２３、Hello world! "
EUROPEAN = "The U.S. don't sell l'été at 3.5 % — “Mr. Smith's” e-mail: a/b. "
ALL = [JAPANESE, EUROPEAN, *(text for text in HOSTILE if len(text) < 200)]
MARKS = [
    "[MASK]",
    "<s>",
    "</s>",
    "<special1>",
    "［CLS］",
    "\n",
    "\u3000",
    "\x1c",
    " ",
    "``",
    "''",
    "。",
    "Σ",
    "İ",
    "</w>",
    "1",
]

MOSES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "BioGpt": ({}, ["<s>", "<pad>", "</s>", "<unk>"]),
    "XLM": ({}, ["<s>", "</s>", "<pad>", "<unk>", "<special0>", "<special1>"]),
    "XLM cased": ({"do_lowercase_and_remove_accent": False}, ["<s>", "</s>", "<pad>", "<unk>"]),
    "FSMT": ({"langs": ["ru", "de"], "model_max_length": 99}, ["<s>", "<pad>", "</s>", "<unk>"]),
    "Flaubert": ({}, ["<s>", "</s>", "<pad>", "<unk>"]),
    "Flaubert lower": ({"do_lowercase": True}, ["<s>", "</s>", "<pad>", "<unk>", "<special0>"]),
}
MECAB: dict[str, dict[str, Any]] = {
    "words": {"mecab_kwargs": {"mecab_dic": "ipadic"}},
    "lower": {"mecab_kwargs": {"mecab_dic": "ipadic", "normalize_text": False}, "do_lower_case": True},
    "characters": {"mecab_kwargs": {"mecab_dic": "ipadic"}, "subword_tokenizer_type": "character"},
}


def japanese(folder: Path, **config: Any) -> Path:
    """A folder of BertJapanese whose vocabulary has most characters of `ALL`, and some words."""
    characters = sorted({mark for text in (*ALL, JAPANESE.lower()) for mark in text if mark.split()})[::2]
    words = ["これ", "です", "東京", "hello", "Hello", "world", "##ッ", *(f"##{mark}" for mark in characters[::3])]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys((*characters, *words))]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    table = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab", **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(table))
    return folder


def european(folder: Path, name: str, special: list[str], **config: Any) -> Path:
    """A folder of a class of Moses with random merges, of whose texts some are no tokens."""
    chance = random.Random(name)
    marks = sorted({mark for text in ALL for mark in text if mark.split()})
    parts = [*marks, *(f"{mark}</w>" for mark in marks)]
    merges = []
    for _ in range(400):
        left, right = chance.choice([part for part in parts if not part.endswith("</w>")]), chance.choice(parts)
        if chance.random() < 0.8:
            left, right = chance.choice("theaisnSU.'"), chance.choice([*"theaisn.", "e</w>", "t</w>", "s</w>"])
        merges.append(f"{left} {right}")
        parts.append(left + right)
    kept = [part for part in dict.fromkeys(parts) if chance.random() < 0.9]
    folder.mkdir(exist_ok=True)
    vocabulary = {token: id for id, token in enumerate([*special, *kept])}
    (folder / ("vocab-src.json" if name == "FSMT" else "vocab.json")).write_text(json.dumps(vocabulary))
    if name == "FSMT":
        target = {token: id for id, token in enumerate([*special, *reversed(kept[5:])])}
        (folder / "vocab-tgt.json").write_text(json.dumps(target))
    (folder / "merges.txt").write_text("".join(f"{pair} {place}\n" for place, pair in enumerate(merges)), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer", **config}))
    return folder


def texts(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    parts = [*MARKS, *JAPANESE.split("。"), *EUROPEAN.split()]
    made = ["".join(chance.choices(parts, k=chance.randrange(1, 8))) for _ in range(count)]
    return [*ALL, *made, " ".join(made)]


def same(folder: Path, seed: int) -> None:
    """Both libraries have the same answers on the folder."""
    transformers = pytest.importorskip("transformers")
    ours, theirs = AutoTokenizer.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(str(folder))
    assert type(ours).__name__ == type(theirs).__name__
    assert (len(ours), ours.vocab_size, ours.get_vocab()) == (len(theirs), theirs.vocab_size, theirs.get_vocab())
    assert set(ours.all_special_ids) == set(theirs.all_special_ids)
    assert list(ours("a")) == list(theirs("a"))
    other = ""
    for text in texts(seed, 40):
        ids = theirs(text).input_ids
        assert ours(text).input_ids == ids, text
        # Which text of a pair loses the odd token differs from the classes with offsets.
        cut: dict[str, Any] = {"truncation": True, "max_length": 9, "padding": "max_length"}
        assert dict(ours(text, **cut)) == dict(theirs(text, **cut)), text
        both = [dict(tok(text, other, return_token_type_ids=True)) for tok in (ours, theirs)]
        assert both[0] == both[1], (text, other)
        assert ours(text, split_special_tokens=True).input_ids == theirs(text, split_special_tokens=True).input_ids, (
            text
        )
        for skip in (False, True):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip), text
        words = text.split()[:5] or ["x"]
        assert ours(words, is_split_into_words=True).input_ids == theirs(words, is_split_into_words=True).input_ids
        other = text
    padded = [tok(texts(seed, 5), padding=True, return_tensors="np").input_ids for tok in (ours, theirs)]
    assert (padded[0] == padded[1]).all()


@pytest.fixture
def mecab() -> None:
    for package in ("fugashi", "ipadic"):
        pytest.importorskip(package)


@pytest.fixture
def moses() -> None:
    pytest.importorskip("sacremoses")


@pytest.mark.usefixtures("mecab")
@pytest.mark.parametrize("kind", MECAB)
def test_japanese_is_read_as_by_transformers(tmp_path: Path, kind: str) -> None:
    same(japanese(tmp_path / "folder", **MECAB[kind]), 1)


@pytest.mark.usefixtures("moses")
@pytest.mark.parametrize("kind", MOSES)
def test_classes_of_moses_are_read_as_by_transformers(tmp_path: Path, kind: str) -> None:
    config, special = MOSES[kind]
    same(european(tmp_path / "folder", kind.split(maxsplit=1)[0], special, **config), 2)


@pytest.mark.usefixtures("mecab", "moses")
@pytest.mark.parametrize("kind", ["words", "characters", "BioGpt", "FSMT", "XLM"])
def test_a_saved_folder_is_the_same_in_both(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "folder"
    if kind in MECAB:
        first = AutoTokenizer.from_pretrained(japanese(folder, **MECAB[kind]))
    else:
        config, special = MOSES[kind]
        first = AutoTokenizer.from_pretrained(european(folder, kind, special, **config))
    assert first.add_tokens(["<new>", "東京 x"]) == 2
    # Files of an earlier save are removed.
    saved = tmp_path / "saved"
    bp.train({"low": 5}, vocab_size=258).save(saved)
    first.save_pretrained(saved)
    assert not (saved / "tokenizer.json").exists()
    again = AutoTokenizer.from_pretrained(saved)
    for text in (*texts(3, 20), "a<new>b 東京 x"):
        assert again(text) == first(text), text
    same(saved, 4)
    with pytest.raises(bp.FormatError, match="finds words with another library first"):
        bp.load(saved)


@pytest.mark.usefixtures("mecab")
def test_copies_and_settings(tmp_path: Path) -> None:
    folder = japanese(tmp_path / "folder", **MECAB["words"])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = JAPANESE + "HELLO"
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert (other(text), type(other)) == (tokenizer(text), type(tokenizer))
    lower = AutoTokenizer.from_pretrained(folder, do_lower_case=True)
    assert lower.tokenize("HELLO") == ["hello"] != tokenizer.tokenize("HELLO")
    by_name = face.BertJapaneseTokenizer.from_pretrained(folder)
    assert by_name(text) == tokenizer(text)
    # The class is named by the call alone.
    (folder / "tokenizer_config.json").write_text(json.dumps({"word_tokenizer_type": "mecab", **MECAB["words"]}))
    assert face.BertJapaneseTokenizer.from_pretrained(folder)(text) == tokenizer(text)
    assert not tokenizer.is_fast
    assert not tokenizer(text).is_fast
    with pytest.raises(NotImplementedError, match="words of BertJapaneseTokenizer are not parts of the text"):
        tokenizer(text, return_offsets_mapping=True)
    with pytest.raises(ValueError, match="there are no encodings"):
        tokenizer(text).tokens()
    with pytest.raises(NotImplementedError, match="cannot be trained"):
        tokenizer.train_new_from_iterator([text], 300)
    with pytest.raises(bp.InvalidIdError):
        tokenizer.decode([99999])
    with pytest.raises(bp.EncodeError) as caught:
        tokenizer("東京\ud800")
    assert caught.value.character == 2
    with pytest.raises(TypeError, match="sudachi_kwargs"):
        AutoTokenizer.from_pretrained(folder, sudachi_kwargs={"x": 1})
    with pytest.raises(TypeError, match="a BertJapaneseTokenizer is loaded with from_pretrained"):
        face.BertJapaneseTokenizer(tokenizer_object=tokenizer.engine)


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"word_tokenizer_type": "basic"}, "word_tokenizer_type='basic' is not supported"),
        ({"word_tokenizer_type": "sudachi"}, "word_tokenizer_type='sudachi' is not supported"),
        ({"never_split": ["x"]}, r"never_split=\['x'\] is not supported"),
        ({"do_word_tokenize": False}, "do_word_tokenize=False is not supported"),
        ({"jumanpp_kwargs": {"x": 1}}, "jumanpp_kwargs={'x': 1} is not supported"),
        ({"mecab_kwargs": {"mecab_dic": None}}, "mecab_kwargs={'mecab_dic': None} is not supported"),
        ({"mecab_kwargs": ["ipadic"]}, r"mecab_kwargs=\['ipadic'\] is not supported"),
        ({"mecab_kwargs": {"other": 1}}, "mecab_kwargs={'other': 1} is not supported"),
        ({"mecab_kwargs": {"mecab_dic": "antigravity"}}, "mecab_dic is one of ipadic, unidic, unidic_lite"),
        ({"mecab_kwargs": {"mecab_option": "-d x"}}, "mecab_kwargs={'mecab_option': '-d x'} is not supported"),
    ],
)
def test_settings_that_are_not_supported(tmp_path: Path, config: dict[str, Any], what: str) -> None:
    with pytest.raises(TypeError, match=what):
        AutoTokenizer.from_pretrained(japanese(tmp_path / "folder", **config))


def test_languages_of_a_translator(tmp_path: Path) -> None:
    config, special = MOSES["FSMT"]
    folder = european(tmp_path / "folder", "FSMT", special, **config)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.convert_ids_to_tokens(2) == "</s>"
    assert tokenizer.convert_ids_to_tokens([2, 99999], skip_special_tokens=True) == ["<unk>"]
    with pytest.raises(TypeError, match=r"langs=\['en'\] is not supported: it is a list of two languages"):
        AutoTokenizer.from_pretrained(european(folder, "FSMT", special, langs=["en"]))
    (folder / "vocab-tgt.json").unlink()
    with pytest.raises(bp.ArtifactError, match=r"there is no vocab-tgt\.json"):
        AutoTokenizer.from_pretrained(folder)
    with pytest.raises(bp.FormatError, match="FSMTTokenizer finds words with another library first"):
        bp.load(folder)


def test_broken_files(tmp_path: Path) -> None:
    folder = japanese(tmp_path / "folder", subword_tokenizer_type="sentencepiece")
    with pytest.raises(bp.FormatError, match="with subword_tokenizer_type 'sentencepiece'"):
        AutoTokenizer.from_pretrained(folder)
    (folder / "vocab.txt").write_text("a\nb\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertJapaneseTokenizer"}')
    with pytest.raises(bp.FormatError, match=r"the vocabulary has no \[UNK\]"):
        AutoTokenizer.from_pretrained(folder)
    with pytest.raises(bp.ArtifactError, match=r"a BertJapaneseTokenizer is no single file.*pass its folder"):
        face.BertJapaneseTokenizer.from_pretrained(folder / "vocab.txt")
    folder = european(tmp_path / "xlm", "XLM", ["<unk>"])
    with pytest.raises(bp.FormatError, match="the vocabulary has no <s>, which is to be added"):
        AutoTokenizer.from_pretrained(folder)
    (folder / "merges.txt").write_text("#version: 0.2\na b\n\nab\n")
    with pytest.raises(bp.FormatError, match="'ab' is not a merge of two tokens") as caught:
        AutoTokenizer.from_pretrained(folder)
    assert caught.value.line == 4
    (folder / "merges.txt").unlink()
    with pytest.raises(bp.ArtifactError, match=r"there is no merges\.txt"):
        AutoTokenizer.from_pretrained(folder)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    tokenizer = AutoTokenizer.from_pretrained(japanese(tmp_path / "folder"))
    word_finders._tagger.cache_clear()
    monkeypatch.setattr(word_finders, "import_module", absent)
    with pytest.raises(bp.ArtifactError, match="needs the package fugashi; pip install fugashi"):
        tokenizer("東京")


def test_a_line_of_merges_that_does_not_end_is_left_out() -> None:
    assert found_words._pairs(b"#version: 0.2\na b\na c 7\na b\nb c") == [("a", "c"), ("a", "b")]
