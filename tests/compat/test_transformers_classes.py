"""The classes of transformers by name, their stages, and arguments of loading: compared with transformers."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.compat import transformers as face
from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast, classes
from bytepair.formats import probes
from tests.compat.test_transformers import folder_of, said, same_texts
from tests.compat.test_transformers_data import copied

if TYPE_CHECKING:
    from pathlib import Path

transformers = pytest.importorskip("transformers")

TEXTS = ["Ünïcode É tokens", "東京 x", "A low\u0301 hill [MASK]", "", "the LOWEST"]
SPACED = ["Hello", "<s>Hello</s>world", " a  b</s> c", "", "</s>", "é🦊\n</s>\nx", "▁a ▁</s>▁b", "  "]


def of_both(folder: Path, **settings: Any) -> tuple[Any, Any]:
    return AutoTokenizer.from_pretrained(folder, **settings), transformers.AutoTokenizer.from_pretrained(
        str(folder), **settings
    )


@pytest.fixture
def bert(sources: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cased and accented vocabulary, whose file lowercases."""
    whole = folder_of(sources, "wordpiece", tmp_path_factory)
    table = json.loads((whole / "tokenizer.json").read_text("utf-8"))
    vocab = table["model"]["vocab"]
    for token in [
        "É",
        "é",
        "e",
        "##é",
        "##e",
        "L",
        "l",
        "##o",
        "##w",
        "Ü",
        "ü",
        "u",
        "東",
        "##京",
        "京",
        "A",
        "a",
        "##ï",
        "##i",
    ]:
        vocab.setdefault(token, len(vocab))
    folder = tmp_path / "bert"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(table), "utf-8")
    config = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"do_lower_case": False},
        {"do_lower_case": False, "strip_accents": True},
        {"strip_accents": False},
        {"tokenize_chinese_chars": False},
        {"do_lower_case": True, "use_fast": False, "torch_dtype": "float16", "fix_mistral_regex": True},
    ],
)
def test_a_bert_normalizer_follows_the_arguments(bert: Path, settings: dict[str, Any], tmp_path: Path) -> None:
    ours, theirs = of_both(bert, **settings)
    assert type(ours).__name__ == type(theirs).__name__ == "BertTokenizer"
    same_texts(ours, theirs, TEXTS)
    ours.save_pretrained(tmp_path / "saved")
    again, other = of_both(tmp_path / "saved")
    same_texts(again, theirs, TEXTS)
    same_texts(other, theirs, TEXTS)
    if "do_lower_case" in settings:
        # A general class has the stages of the file, and the argument acts all the same.
        plain = PreTrainedTokenizerFast.from_pretrained(bert, **settings)
        assert type(plain) is PreTrainedTokenizerFast
        assert [plain(text).input_ids for text in TEXTS] == [theirs(text).input_ids for text in TEXTS]


@pytest.mark.parametrize("config", [{"do_lower_case": False}, {"strip_accents": False}, {}])
def test_a_class_heeds_its_config(bert: Path, config: dict[str, Any]) -> None:
    (bert / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizerFast", **config}))
    ours, theirs = of_both(bert)
    same_texts(ours, theirs, TEXTS)


def test_a_setting_of_a_file_that_cannot_act_is_refused(bert: Path) -> None:
    config = {"tokenizer_class": "BertTokenizer", "never_split": ["a"], "do_basic_tokenize": True}
    (bert / "tokenizer_config.json").write_text(json.dumps(config))
    AutoTokenizer.from_pretrained(bert, do_basic_tokenize=True)
    with pytest.raises(TypeError, match="do_basic_tokenize=False is not supported"):
        AutoTokenizer.from_pretrained(bert, do_basic_tokenize=False)
    engine = AutoTokenizer.from_pretrained(bert).engine
    with pytest.raises(TypeError, match="from_slow=True"):
        PreTrainedTokenizerFast(tokenizer_object=engine, from_slow=True)
    cased = PreTrainedTokenizerFast(tokenizer_object=engine, do_lower_case=False)
    assert (cased.tokenize("A"), AutoTokenizer.from_pretrained(bert).tokenize("A")) == (["A"], ["a"])


def test_classes_can_be_imported(bert: Path, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    from bytepair.compat.transformers import BertTokenizer, BertTokenizerFast, GPT2TokenizerFast, LlamaTokenizerFast

    assert BertTokenizer is BertTokenizerFast
    for stem in (*classes.OFFERED, *classes.ALIASES):
        for name in (f"{stem}Tokenizer", f"{stem}TokenizerFast"):
            assert getattr(face, name).__name__ == getattr(transformers, name).__name__, name
    with pytest.raises(ImportError):
        from bytepair.compat.transformers import NothingTokenizerFast  # noqa: F401 (does not exist)
    ours = BertTokenizerFast.from_pretrained(bert, do_lower_case=False)
    same_texts(ours, transformers.BertTokenizerFast.from_pretrained(str(bert), do_lower_case=False), TEXTS)
    assert type(ours) is type(AutoTokenizer.from_pretrained(bert)) is BertTokenizer
    plain = folder_of(sources, "pairs", tmp_path_factory)
    assert GPT2TokenizerFast.from_pretrained(plain).padding_side == "right"
    for kind in (LlamaTokenizerFast, BertTokenizerFast):
        with pytest.raises(bp.FormatError, match="is for another kind of model; use AutoTokenizer"):
            kind.from_pretrained(plain)


def test_isinstance_holds_with_their_bases(bert: Path) -> None:
    from transformers import PreTrainedTokenizerBase

    ours = AutoTokenizer.from_pretrained(bert)
    for base in (
        PreTrainedTokenizerBase,
        transformers.PreTrainedTokenizerFast,
        PreTrainedTokenizerFast,
        face.BertTokenizer,
    ):
        assert isinstance(ours, base)
    for other in (transformers.BertTokenizer, transformers.PreTrainedTokenizer, face.GPT2Tokenizer, str):
        assert not isinstance(ours, other)
    assert ours.__class__.__name__ == "BertTokenizer"
    assert type(ours.__class__.from_pretrained(bert)) is type(ours)
    assert type(ours.__class__(tokenizer_object=ours.engine)) is type(ours)
    assert not hasattr(ours, "backend_tokenizer")
    for again in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert type(again) is type(ours)
        assert said(again) == said(ours)
        assert again("A low").input_ids == ours("A low").input_ids


def test_without_transformers_it_is_its_own_class() -> None:
    code = (
        "import sys, pickle, bytepair as bp\n"
        "from bytepair.compat.transformers import PreTrainedTokenizerFast, BertTokenizerFast\n"
        "tok = PreTrainedTokenizerFast(tokenizer_object=bp.train({'low': 5}, 258))\n"
        "assert tok.__class__ is PreTrainedTokenizerFast and type(pickle.loads(pickle.dumps(tok))) is type(tok)\n"
        "assert 'transformers' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.data
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"legacy": True},
        {"legacy": False, "add_bos_token": False},
        {"add_prefix_space": False},
        {"add_prefix_space": True, "legacy": True, "add_eos_token": True},
    ],
)
def test_text_after_a_special_token_of_llama(data: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    folder = copied(data, "llama2", tmp_path / "llama2")
    ours, theirs = of_both(folder, **settings)
    assert type(ours).__name__ == type(theirs).__name__ == "LlamaTokenizer"
    same_texts(ours, theirs, SPACED)
    # Models with tokenizers of a general class have the stages of the file.
    (folder / "config.json").write_text(json.dumps({"model_type": "granite"}))
    if not settings:
        ours, theirs = of_both(folder)
        assert (type(ours), ours.padding_side) == (PreTrainedTokenizerFast, theirs.padding_side)
        same_texts(ours, theirs, SPACED)


@pytest.mark.parametrize("space", [False, True])
def test_offsets_of_roberta_with_a_space_in_front(
    sources: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, space: bool
) -> None:
    folder = tmp_path / "roberta"
    shutil.copytree(folder_of(sources, "pairs", tmp_path_factory), folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RobertaTokenizer"}))
    ours, theirs = of_both(folder, add_prefix_space=space)
    assert type(ours).__name__ == type(theirs).__name__ == "RobertaTokenizer"
    for text in SPACED:
        one, other = (tokenizer(text, return_offsets_mapping=True) for tokenizer in (ours, theirs))
        assert (one.input_ids, one.offset_mapping) == (other.input_ids, [*map(tuple, other.offset_mapping)]), text


@pytest.mark.parametrize("settings", [{}, {"extra_ids": 2}, {"extra_special_tokens": ["<a>"]}])
def test_sentinels_of_t5_are_special(
    sources: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]
) -> None:
    plain = PreTrainedTokenizerFast.from_pretrained(folder_of(sources, "unigram", tmp_path_factory))
    plain.add_special_tokens({"extra_special_tokens": [f"<extra_id_{number}>" for number in range(100)]})
    plain.save_pretrained(tmp_path)
    config = {"tokenizer_class": "T5Tokenizer", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | settings))
    ours, theirs = of_both(tmp_path)
    assert ours.all_special_tokens == theirs.all_special_tokens
    assert said(ours) == said(theirs)


@pytest.mark.data
@pytest.mark.parametrize("name", ["clip", "gemma3", "phi-2"])
def test_classes_decode_as_there(data: Path, tmp_path: Path, name: str) -> None:
    folder = copied(data, name, tmp_path / name)
    kind = {"gemma3": "gemma3", "phi-2": "phi"}.get(name)
    if kind is not None:
        (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    ours, theirs = of_both(folder)
    same_texts(ours, theirs, ["<mask> a</s> b", *probes.TEXTS[10:50:4]])


@pytest.mark.data
@pytest.mark.parametrize(("version", "changes"), [("4.50.0", True), ("5.0.1", False), (None, True)])
def test_the_pattern_of_old_mistral_models(data: Path, tmp_path: Path, version: str | None, changes: bool) -> None:
    folder = copied(data, "llama3", tmp_path / "llama3")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    (folder / "config.json").write_text(json.dumps({"model_type": "mistral", "transformers_version": version}))
    texts = ["HelloWorld don't 1234 a/b\n/x", *probes.TEXTS[10:50:4]]
    before = AutoTokenizer.from_pretrained(folder)
    ours, theirs = (
        kind.from_pretrained(str(folder), fix_mistral_regex=True)
        for kind in (AutoTokenizer, transformers.AutoTokenizer)
    )
    same_texts(ours, theirs, texts)
    assert (before(texts[0]).input_ids != ours(texts[0]).input_ids) == changes
