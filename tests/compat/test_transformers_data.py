"""`bytepair.compat.transformers` and `patch` compared with transformers, on published tokenizers."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast, patch, unpatch
from bytepair.formats import probes
from tests.compat.test_transformers import columns, said, same_texts, theirs_of
from tests.conftest import WHOLE

transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.data

NAMES = ["gpt2", "roberta-base", "bert-base-uncased", "llama2", "llama3", "t5-small", "clip"]
if WHOLE:
    NAMES += ["qwen3", "qwen2", "deepseek", "gpt-neox", "phi-2"]
TEXTS = [*probes.TEXTS[10:50:2], *probes.TEXTS[-4:], "do n't stop , she 's here . <|endoftext|></s> a"]
OTHERS = {"bert-base-uncased": "tokenizer.daulet.json"}


def copied(data: Path, name: str, place: Path) -> Path:
    """The files of a tokenizer, unpacked."""
    source = data / "vocabs" / name
    if not source.is_dir():
        pytest.skip(f"there is no {source}")
    file = source / OTHERS.get(name, "tokenizer.json")
    packed = source / "tokenizer.json.xz"
    place.mkdir()
    whole = file.read_bytes() if file.is_file() else lzma.decompress(packed.read_bytes())
    (place / "tokenizer.json").write_bytes(whole)
    config = source / "tokenizer_config.json"
    if config.is_file():
        (place / config.name).write_bytes(config.read_bytes())
    return place


@pytest.fixture(scope="module", params=NAMES)
def pair(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = copied(data, request.param, tmp_path_factory.mktemp("real") / request.param)
    return folder, theirs_of(folder)


def test_it_is_loaded_as_there(pair: tuple[Path, Any], tmp_path: Path) -> None:
    folder, theirs = pair
    ours = PreTrainedTokenizerFast.from_pretrained(folder)
    assert said(ours) == said(theirs)
    same_texts(ours, theirs, TEXTS)
    token = {"pad_token": ours.all_special_tokens[0]} if ours.all_special_tokens else {"pad_token": "<pad>"}
    for tokenizer in (ours, theirs):
        tokenizer.add_special_tokens(token)
    rows = TEXTS[:12]
    some: list[dict[str, Any]] = [
        {"padding": True, "truncation": True, "max_length": 12, "return_tensors": "np"},
        {"padding": "max_length", "truncation": "longest_first", "max_length": 30, "padding_side": "left"},
        {"truncation": True, "max_length": 16, "stride": 3, "return_overflowing_tokens": True},
        {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_token_type_ids": True},
        {"add_special_tokens": False, "return_length": True},
    ]
    for options in some:
        assert columns(ours(rows, **options)) == columns(theirs(rows, **options)), options
        assert columns(ours(rows, rows[::-1], **options)) == columns(theirs(rows, rows[::-1], **options)), options
    words = [text.split() for text in rows if text.split()]
    found, expected = (tokenizer(words, is_split_into_words=True) for tokenizer in (ours, theirs))
    assert columns(found) == columns(expected)
    assert [found.word_ids(row) for row in range(len(words))] == [expected.word_ids(row) for row in range(len(words))]
    if folder.name == "gpt2" or not (folder / "tokenizer_config.json").is_file():
        ours.save_pretrained(tmp_path / "saved")
        again, other = PreTrainedTokenizerFast.from_pretrained(tmp_path / "saved"), theirs_of(tmp_path / "saved")
        assert said(again) == said(other) == said(theirs)
        same_texts(again, other, TEXTS[-3:])


def test_its_template_is_rendered_as_there(pair: tuple[Path, Any]) -> None:
    folder, theirs = pair
    if theirs.chat_template is None:
        return
    ours = AutoTokenizer.from_pretrained(folder)
    chat = [
        {"role": "user", "content": "How? <s>"},
        {"role": "assistant", "content": "So. 🦊"},
        {"role": "user", "content": "mañana"},
    ]
    for chats in (chat, [chat, chat[:1]]):
        for prompt in (True, False):
            for tokenize in (True, False):
                options: dict[str, Any] = {"add_generation_prompt": prompt, "tokenize": tokenize, "return_dict": False}
                assert ours.apply_chat_template(chats, **options) == theirs.apply_chat_template(chats, **options)


def test_it_is_patched(pair: tuple[Path, Any]) -> None:
    _, theirs = pair
    before = said(theirs)
    options: dict[str, Any] = {"return_offsets_mapping": True, "truncation": True, "max_length": 20}
    expected = [dict(theirs(text, **options)) for text in TEXTS]
    engine = theirs._tokenizer
    with patch(theirs):
        assert theirs._tokenizer is not engine
        assert said(theirs) == before
        assert [dict(theirs(text, **options)) for text in TEXTS] == expected
    unpatch(theirs)
    assert theirs._tokenizer is engine
    assert said(theirs) == before


def test_a_class_gives_names_as_there(data: Path, tmp_path: Path) -> None:
    for name, kind in (
        ("gpt2", "gpt2"),
        ("roberta-base", "roberta"),
        ("bert-base-uncased", "bert"),
        ("t5-small", "t5"),
    ):
        folder = copied(data, name, tmp_path / name)
        (folder / "config.json").write_text(json.dumps({"model_type": kind}))
        theirs, ours = transformers.AutoTokenizer.from_pretrained(str(folder)), AutoTokenizer.from_pretrained(folder)
        named = {role: token for role, token in theirs.special_tokens_map.items() if token in ours.get_added_vocab()}
        assert ours.special_tokens_map == named
        assert (ours.model_input_names, ours.padding_side) == (theirs.model_input_names, theirs.padding_side)
        assert ours("a b").input_ids == theirs("a b").input_ids
