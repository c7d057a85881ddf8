"""Files beside a tokenizer in a folder: settings that decide ids are applied, the others can be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.formats import configs, loading
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, tok: bp.Tokenizer) -> Path:
    """A tokenizer.json as from a hub: without a manifest."""
    tok.save(tmp_path)
    (tmp_path / "manifest.json").unlink()
    return tmp_path


def beside(folder: Path, name: str, table: Any) -> None:
    (folder / name).write_text(json.dumps(table))


def test_added_tokens_that_the_file_lacks(folder: Path, tok: bp.Tokenizer) -> None:
    decoder = {
        "1998": {"content": "<|end|>", "special": True},
        "3000": {"content": "<x>", "lstrip": True, "special": False},
    }
    beside(
        folder, "tokenizer_config.json", {"added_tokens_decoder": decoder, "pad_token": "<x>", "eos_token": "<|end|>"}
    )
    beside(folder, "added_tokens.json", {"<y>": 3001, "<x>": 3000})
    again = bp.Tokenizer.from_file(folder)
    assert again.spec.added_tokens == (
        *tok.spec.added_tokens,
        bp.AddedToken("<x>", 3000, lstrip=True),
        bp.AddedToken("<y>", 3001, special=False, normalized=True),
    )
    assert again.encode("low  <x>", special="allow")[-1] == 3000
    # A path to the file loads the file alone.
    assert bp.Tokenizer.from_file(folder / "tokenizer.json") == tok


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        (
            "added_tokens.json",
            {"<|end|>": 5},
            r"'<\|end\|>' has the id 1998 in the tokenizer and 5 in added_tokens.json",
        ),
        ("added_tokens.json", {"<z>": 1998}, "the id 1998 is .* in the tokenizer and '<z>'"),
        ("added_tokens.json", {"<z>": 97}, "the id 97 is .* in the files beside it"),
        ("added_tokens.json", {"<a>": 4000, "<b>": 4000}, "the id 4000 is '<a>' and '<b>'"),
        ("added_tokens.json", {"<a>": -1}, "an id is"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"x": {"content": "y"}}}, "added_tokens_decoder/x"),
        ("tokenizer_config.json", {"added_tokens_decoder": []}, None),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"3": {"content": "y", "lstrip": 1}}},
            "added_tokens_decoder/3",
        ),
        ("tokenizer_config.json", {"add_prefix_space": True}, "add_prefix_space is False in the tokenizer and True"),
        ("tokenizer_config.json", {"bos_token": 3}, "bos_token is '3'"),
        ("tokenizer_config.json", {"padding_side": 3}, "padding_side is '3'"),
        ("tokenizer_config.json", {"chat_template": 3}, "chat_template is '3'"),
        ("special_tokens_map.json", {"additional_special_tokens": "x"}, "additional_special_tokens"),
    ],
)
def test_files_that_do_not_belong_together(folder: Path, name: str, table: Any, message: str | None) -> None:
    beside(folder, name, table)
    if message is None:
        loading.load(folder)
        return
    with pytest.raises(bp.FormatError, match=message):
        loading.load(folder)


def test_a_special_token_without_an_id_is_spoken_of(folder: Path, tok: bp.Tokenizer) -> None:
    beside(folder, "special_tokens_map.json", {"unk_token": {"content": "<nowhere>"}})
    with pytest.warns(bp.TokenizerWarning, match="'<nowhere>' of tokenizer_config.json has no id"):
        assert bp.Tokenizer.from_file(folder) == tok


def test_a_saved_folder_is_as_it_was_saved(tmp_path: Path, tok: bp.Tokenizer) -> None:
    tok.save(tmp_path)
    beside(tmp_path, "added_tokens.json", {"<y>": 3001})
    assert bp.Tokenizer.from_file(tmp_path) == tok


def test_a_model_of_sentencepiece_gets_its_template(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(models.model(models.pair_pieces()))
    config = {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": {"content": "</s>"}}
    beside(tmp_path, "tokenizer_config.json", config)
    template = json.loads(str(loading.load(tmp_path).post_processor))
    assert template["single"] == [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    assert template["special_tokens"] == {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}


def test_where_a_tokenizer_and_its_folder_differ_in_flags_the_folder_counts(folder: Path) -> None:
    tok = bp.load(folder)
    known = next(token for token in tok.spec.added_tokens if token.content == "<|end|>")
    assert not known.lstrip
    assert tok.encode("low <|end|>", special="allow") != tok.encode("low<|end|>", special="allow")
    row = {"content": "<|end|>", "special": True, "lstrip": True, "single_word": True, "normalized": True}
    beside(folder, "tokenizer_config.json", {"added_tokens_decoder": {str(known.id): row}})
    again = bp.load(folder)
    assert known._replace(lstrip=True, single_word=True) in again.spec.added_tokens
    assert again.encode("low <|end|>", special="allow") == tok.encode("low<|end|>", special="allow")
    # A table that only names the token changes nothing in a file that has flags.
    beside(folder, "tokenizer_config.json", {"eos_token": row})
    assert known in bp.load(folder).spec.added_tokens


def test_special_tokens_of_a_model_have_the_flags_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(models.model(models.pair_pieces(), 2, normalizer=((4, False),)))
    size = len(models.pair_pieces())
    beside(tmp_path, "added_tokens.json", {"[PAD]": size, "<x>": size + 1})
    named = {"pad_token": "[PAD]", "eos_token": {"content": "</s>", "lstrip": True, "rstrip": True}}
    beside(tmp_path, "special_tokens_map.json", named)
    tok = bp.load(tmp_path)
    # A special token is found as it is spelled, another one where the model has a space in front.
    assert tok.encode("low[PAD]low<x>", special="allow")[:3] == [*tok.encode("low"), size, *tok.encode("low")]
    assert [tok.token_id(token) for token in ("[PAD]", "<x>")] == [size, size + 1]
    assert tok.encode("<x>", special="allow") == [size + 1]
    assert tok.encode("low </s>  low", special="allow") == [*tok.encode("low"), 2, *tok.encode("low")]
    beside(tmp_path, "special_tokens_map.json", {"eos_token": {"content": "</s>", "lstrip": 1}})
    with pytest.raises(bp.FormatError, match="</s>"):
        bp.load(tmp_path)


def test_settings_are_plain_data(folder: Path) -> None:
    assert configs.read(folder) == configs.Settings()
    beside(folder, "special_tokens_map.json", {"bos_token": "<a>", "mask_token": "<m>"})
    config: dict[str, Any] = {
        "bos_token": {"content": "<|user|>"},
        "additional_special_tokens": ["<c>", {"content": "<d>"}],
    }
    config |= {"model_max_length": 1e30, "padding_side": "left", "clean_up_tokenization_spaces": False}
    templates = [{"name": "default", "template": "{{ x }}"}, {"name": "tool_use", "template": "{{ y }}"}]
    beside(folder, "tokenizer_config.json", {**config, "chat_template": templates, "tokenizer_class": "X"})
    settings = configs.read(folder)
    assert settings == configs.Settings(
        bos_token="<|user|>",
        mask_token="<m>",
        additional_special_tokens=("<c>", "<d>"),
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=(("default", "{{ x }}"), ("tool_use", "{{ y }}")),
        tokenizer_class="X",
    )
    assert settings.special_tokens == ("<|user|>", "<m>", "<c>", "<d>")
    (folder / "chat_template.jinja").write_text("{{ z }}")
    assert configs.read(folder).chat_template == (("default", "{{ z }}"),)
    more = folder / "additional_chat_templates"
    more.mkdir()
    (more / "rag.jinja").write_text("{{ r }}")
    assert configs.read(folder).chat_template == (("default", "{{ z }}"), ("rag", "{{ r }}"))
    (more / "bad.jinja").write_bytes(b"\xff")
    with pytest.raises(bp.FormatError, match=r"not UTF-8.*bad\.jinja"):
        configs.read(folder)
