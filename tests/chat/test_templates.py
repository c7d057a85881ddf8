"""Templates: their sources, their data, and the texts of the built-in ones."""

# ruff: noqa: E501 (templates are long lines)
from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import bytepair.chat.template as module
from bytepair.chat.rendering.render import render
from bytepair.chat.sandbox import program
from bytepair.chat.template import Template
from bytepair.errors import ArtifactError, FormatError, TemplateError
from tests.chat.conversations import proper
from tests.formats import models

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "More"},
]
BUILT_IN = {
    "chatml": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
    "<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n",
    "deepseek": "<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi<｜Assistant｜>Hello<｜end▁of▁sentence｜><｜User｜>More<｜Assistant｜>",
    "gemma": "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n"
    "<start_of_turn>user\nMore<end_of_turn>\n<start_of_turn>model\n",
    "llama2": "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] More [/INST]",
    "llama3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nMore<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "mistral": "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Hi[/INST]Hello</s>[INST]More[/INST]",
    "phi4": "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Hi<|im_end|>"
    "<|im_start|>assistant<|im_sep|>Hello<|im_end|><|im_start|>user<|im_sep|>More<|im_end|><|im_start|>assistant<|im_sep|>",
    "zephyr": "<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello</s>\n<|user|>\nMore</s>\n<|assistant|>\n",
}
ENDS = {
    "chatml": "<|im_end|>",
    "phi4": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "gemma": "<end_of_turn>",
    "llama2": " </s>",
}


def test_every_built_in_template_is_there() -> None:
    folder = Path(module.__file__).parent / "templates"
    assert list(Template.names()) == sorted(BUILT_IN) == sorted(path.stem for path in folder.glob("*.jinja"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_templates_write_their_formats(name: str) -> None:
    rendered = render(CHAT, name, add_generation_prompt=True)
    assert rendered.text == BUILT_IN[name]
    written = "".join(rendered.text[span.start : span.end] for span in rendered.spans if span.generated)
    end = ENDS.get(name) or Template.named(name).variables["eos_token"]
    assert written == "Hello" + end
    assert rendered.has_generation


@pytest.mark.data
@pytest.mark.parametrize(("name", "folder"), [("llama3", "llama3"), ("phi4", "phi-4"), ("deepseek", "deepseek")])
def test_built_in_templates_write_what_published_ones_do(name: str, folder: str, data: Path) -> None:
    rng = random.Random(name)
    published = Template.read(data / "vocabs" / folder)
    for _ in range(100):
        given = proper(rng)
        for unknown in ("tools", "documents"):
            given.pop(unknown, None)
        for message in given["messages"]:
            # The published template cuts off reasoning at this marker.
            message["content"] = message["content"].replace("</think>", "")
        assert render(template=name, **given).text == render(template=published, **given).text


def folder_with(path: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        (path / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("name", Template.names())
def test_built_in_templates_drop_nothing(name: str) -> None:
    """Parts that a format has no place for are refused, not omitted."""
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    call = {"type": "function", "function": {"name": "f", "arguments": {}}}
    assert render(chat, name, tools=[], documents=[]).text == render(chat, name).text
    for more in ({"tools": [{"name": "f"}]}, {"documents": [{"title": "t", "text": "x"}]}):
        with pytest.raises(TemplateError, match="no place for tools and documents"):
            render(chat, name, **more)  # type: ignore[arg-type]
    for extra in ({"tool_calls": [call]}, {"reasoning_content": "r"}, {"thinking": "r"}, {"reasoning": "r"}):
        with pytest.raises(TemplateError, match="no place for tool calls and reasoning"):
            render([chat[0], {**chat[1], **extra}], name)
    assert render([chat[0], {**chat[1], "tool_calls": [], "reasoning_content": None}], name).text


@pytest.mark.parametrize("name", ["gemma", "llama2"])
def test_a_system_message_is_not_lost(name: str) -> None:
    """The text is put in a user message, so there must be one."""
    system = {"role": "system", "content": "s"}
    for chat in ([system], [system, {"role": "assistant", "content": "a"}]):
        with pytest.raises(TemplateError, match=r"which is missing|must take turns"):
            render(chat, name)


def test_a_folder_has_template_and_tokens(tmp_path: Path) -> None:
    config = {"chat_template": "{{ bos_token }}x", "bos_token": {"content": "<s>"}, "eos_token": "</s>"}
    template = Template.read(folder_with(tmp_path, {"tokenizer_config.json": config}))
    assert (template.source, dict(template.variables)) == (
        "{{ bos_token }}x",
        {"bos_token": "<s>", "eos_token": "</s>"},
    )
    assert template == Template.read(tmp_path / "tokenizer_config.json")
    assert (
        Template.read(folder_with(tmp_path, {"chat_template.jinja": "{{ eos_token }}y"})).source == "{{ eos_token }}y"
    )
    beside = Template.read(tmp_path / "chat_template.jinja")
    assert dict(beside.variables) == {"bos_token": "<s>", "eos_token": "</s>"}
    alone = Template.read(
        folder_with(tmp_path, {"chat_template.json": {"chat_template": "z {{ 1 }}"}}) / "chat_template.json"
    )
    assert (alone.source, alone.variables["bos_token"]) == ("z {{ 1 }}", "<s>")


def test_named_templates(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "a {{ 1 }}"}, {"name": "tool_use", "template": "b {{ 1 }}"}]
    folder_with(tmp_path, {"tokenizer_config.json": {"chat_template": named}})
    for path in (tmp_path, tmp_path / "tokenizer_config.json"):
        assert Template.read(path).source == "a {{ 1 }}"
        assert Template.read(path, "tool_use").source == "b {{ 1 }}"
        with pytest.raises(TemplateError, match="'default', 'tool_use'"):
            Template.read(path, "rag")
    folder_with(tmp_path, {"tokenizer_config.json": {"chat_template": "a {{ 1 }}", "bos_token": "<s>"}})
    more = tmp_path / "additional_chat_templates"
    more.mkdir()
    (more / "rag.jinja").write_text("r {{ bos_token }}")
    for template in (Template.read(tmp_path, "rag"), Template.read(more / "rag.jinja")):
        assert (template.source, dict(template.variables)) == ("r {{ bos_token }}", {"bos_token": "<s>"})
    assert Template.read(tmp_path).source == "a {{ 1 }}"


def test_a_gguf_file_has_templates_and_tokens(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    tokens = ["<unk>", "<s>", "</s>", "a"]
    table: dict[str, Any] = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens}
    table |= {"tokenizer.ggml.token_type": [2, 3, 3, 1], "tokenizer.chat_template": "{{ bos_token }}d"}
    path.write_bytes(models.gguf({**table, "tokenizer.chat_template.rag": "r {{ 1 }}"}))
    template = Template.read(path)
    # These are the tokens that llama.cpp takes for granted.
    assert (template.source, dict(template.variables)) == (
        "{{ bos_token }}d",
        {"bos_token": "<s>", "eos_token": "</s>"},
    )
    assert (Template.read(path, "rag").source, Template.read(path, "rag").name) == ("r {{ 1 }}", "rag")
    with pytest.raises(TemplateError, match="'default', 'rag'"):
        Template.read(path, "x")
    path.write_bytes(models.gguf({**table, "tokenizer.chat_template": 3}))
    with pytest.raises(FormatError, match=r"the chat template is '3'.*pointer tokenizer\.chat_template"):
        Template.read(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError, match="the file ends before"):
        Template.read(path)


@pytest.mark.parametrize("broken", [3, [3], [{"name": "x"}], {"x": 3}, [{"name": "x", "template": None}]])
def test_broken_templates_of_files(tmp_path: Path, broken: Any) -> None:
    folder_with(tmp_path, {"tokenizer_config.json": {"chat_template": broken}})
    for path in (tmp_path, tmp_path / "tokenizer_config.json"):
        with pytest.raises(FormatError):
            Template.read(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="no chat template"):
        Template.read(tmp_path)
    with pytest.raises(ArtifactError):
        Template.read(tmp_path / "x.jinja")
    (tmp_path / "x.jinja").write_bytes(b"\xff")
    with pytest.raises(FormatError, match="UTF-8"):
        Template.read(tmp_path / "x.jinja")


def test_the_hash_is_that_of_source_and_variables() -> None:
    template = Template("a {{ 1 }}", variables={"bos_token": "<s>", "eos_token": "</s>"})
    assert template.hash == Template("a {{ 1 }}", variables={"eos_token": "</s>", "bos_token": "<s>"}, name="x").hash
    others = [
        Template("a {{ 2 }}", variables=template.variables),
        Template("a {{ 1 }}"),
        Template("a {{ 1 }}", variables={"bos_token": "<s>"}),
    ]
    assert len({template.hash, *(other.hash for other in others)}) == 4
    assert template != others[0]
    assert template == Template("a {{ 1 }}", variables=dict(template.variables))
    assert template != "a {{ 1 }}"


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="source"):
        Template(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="variable"):
        Template("", variables={3: "x"})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a Template, the name of one, or its source"):
        render([], 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'messages' is an argument"):
        render([], "{{ 1 }}", variables={"messages": []})
    with pytest.raises(TypeError, match="'own' is object"):
        render([], Template("{{ 1 }}", variables={"own": object()}))


def test_compiled_templates_are_kept_but_not_all_of_them() -> None:
    template = Template("{{ 'kept' }}")
    render([], template)
    first = next(reversed(program._cache.values()))
    render([], Template("{{ 'kept' }}", variables={"x": "y"}))
    assert next(reversed(program._cache.values())) is first
    for index in range(100):
        render([], f"{{{{ {index} }}}}")
    assert len(program._cache) == program._CACHED
    assert render([], template).text == "kept"
