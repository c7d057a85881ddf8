"""The chat templates of the sweeps, each with its oracle and the features it supports."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.chat.template import Template
from fuzz import own_templates, turns, turns_of_built_ins, turns_of_deepseek, turns_of_parts, turns_of_tools
from fuzz.conversations import Takes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.turns import Chat, Written


@dataclass(frozen=True)
class Subject:
    """A template under test: its source, the oracle, its accepted inputs, its marks, and those that end a turn.

    ``other_ends`` are the marks that end the turns of some roles; ``ends`` those of all other roles.
    """

    name: str
    source: str
    oracle: Callable[[Chat], Written]
    takes: Takes
    variables: dict[str, str]
    marks: tuple[str, ...]
    ends: tuple[str, ...]
    other_ends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def ends_of(self, role: str) -> tuple[str, ...]:
        """The marks that end the turns of a role.

        Nothing if they also begin the next turn, so that only a call can declare them as ends.
        """
        found = self.other_ends.get(role, self.ends)
        return () if "<|user|>" in found else found


_TOOLS = ("system", "user", "assistant", "tool")
_THINKS = ("enable_thinking",)
_IM = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
_QWEN3 = (*_IM, "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
_CALLS = ("calls▁begin", "call▁begin", "call▁end", "calls▁end", "sep", "output▁begin", "output▁end", "outputs▁begin",
          "outputs▁end")  # fmt: skip
_DEEPSEEK = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
             *(f"<｜tool▁{name}｜>" for name in _CALLS))  # fmt: skip
_LLAMA3 = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|end_of_text|>")
_KIMI = ("<|im_end|>", "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>", "<|tool_call_begin|>",
         "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_begin|>",
         "<|tool_calls_section_end|>", "[EOS]", "<|media_pad|>")  # fmt: skip
_GLM = ("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<think>", "</think>",
        "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_response>",
        "</tool_response>", "/nothink")  # fmt: skip

_FILES: dict[str, tuple[str, Callable[[Chat], Written], Takes, tuple[str, ...], tuple[str, ...]]] = {
    "llama3": ("llama3/tokenizer_config.json", turns.llama3, Takes(any_role=True, none=True, parts=True),
               _LLAMA3, ("<|eot_id|>",)),
    "qwen2": ("qwen2/tokenizer_config.json", turns.qwen2, Takes(any_role=True), _IM, ("<|im_end|>",)),
    "phi4": ("phi-4/tokenizer_config.json", turns.phi4, Takes(any_role=True), (*_IM, "<|im_sep|>"), ("<|im_end|>",)),
    "qwen3": ("qwen3/tokenizer_config.json", turns_of_tools.qwen3,
              Takes(_TOOLS, arguments="both", thinking=True, parts=True, tools=True, none=True, variables=_THINKS),
              _QWEN3, ("<|im_end|>",)),
    "qwen3_coder": ("qwen3/tokenizer_config.coder.json", turns_of_tools.qwen3_coder,
                    Takes(_TOOLS, any_role=True, arguments="object", tools=True, none=True), _QWEN3, ("<|im_end|>",)),
    "glm45": ("glm45/chat_template.jinja", turns_of_parts.glm45,
              Takes(_TOOLS, arguments="object", thinking=True, parts=True, results=True, tools=True, variables=_THINKS),
              _GLM, ("<|user|>", "<|observation|>")),
    "kimi": ("kimi-k2/tokenizer_config.json", turns_of_parts.kimi,
             Takes(_TOOLS, any_role=True, arguments="both", parts=True, tools=True, none=True), _KIMI,
             ("<|im_end|>",)),
    "deepseek": ("deepseek/tokenizer_config.json", turns_of_deepseek.deepseek,
                 Takes(_TOOLS, arguments="string", none=True, thinking=True), (*_DEEPSEEK, "<think>", "</think>"),
                 ("<｜end▁of▁sentence｜>",)),
    "deepseek31": ("deepseek/v31_tokenizer_config.json", turns_of_deepseek.deepseek31,
                   Takes(_TOOLS, arguments="string", none=True, thinking=True, variables=("thinking",)),
                   (*_DEEPSEEK, "<think>", "</think>"), ("<｜end▁of▁sentence｜>",)),
}  # fmt: skip


_OWN = {
    "plain": Subject("plain", own_templates.PLAIN, own_templates.plain,
                     Takes(_TOOLS, any_role=True, arguments="both", parts=True, none=True, texts=("date",), tools=True),
                     {}, _IM, ()),
    "marked": Subject("marked", own_templates.MARKED, own_templates.marked,
                      Takes(_TOOLS, any_role=True, arguments="object"), {"bos_token": "<|begin|>"},
                      ("<|begin|>", *_QWEN3), ("<|im_end|>",)),
    "named": Subject("named", own_templates.NAMED, own_templates.named, Takes(any_role=True, parts=True), {},
                     ("<|user|>", "<|assistant|>", "<|system|>", "<|end|>"), ("<|end|>",)),
}  # fmt: skip


_OTHER_ENDS: dict[str, dict[str, tuple[str, ...]]] = {
    "built-in mistral": {"user": ("[/INST]",), "system": ("[/SYSTEM_PROMPT]",)},
    "built-in llama2": {"user": ("[/INST]",)},
    "deepseek": {"tool": ("<｜tool▁output▁end｜>",)},
    "glm45": {"user": ("/nothink",), "tool": ("</tool_response>",)},
    "deepseek31": {"tool": ("<｜tool▁output▁end｜>",)},
}
_ANY, _THREE, _STRICT = Takes(any_role=True), Takes(), Takes(strict=True)
_BUILT_IN: dict[str, tuple[Callable[[Chat], Written], Takes, tuple[str, ...], tuple[str, ...]]] = {
    "chatml": (turns_of_built_ins.chatml, _ANY, _IM, ("<|im_end|>",)),
    "llama3": (turns_of_built_ins.llama3, _ANY, _LLAMA3, ("<|eot_id|>",)),
    "phi4": (turns_of_built_ins.phi4, _THREE, (*_IM, "<|im_sep|>"), ("<|im_end|>",)),
    "zephyr": (turns_of_built_ins.zephyr, _THREE, ("<s>", "</s>", "<|user|>"), ("</s>",)),
    "mistral": (turns_of_built_ins.mistral, _THREE, ("<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]",
                "[/SYSTEM_PROMPT]"), ("</s>",)),
    "deepseek": (turns_of_built_ins.deepseek, _THREE, _DEEPSEEK, ("<｜end▁of▁sentence｜>",)),
    "gemma": (turns_of_built_ins.gemma, _STRICT, ("<bos>", "<start_of_turn>", "<end_of_turn>"), ("<end_of_turn>",)),
    "llama2": (turns_of_built_ins.llama2, _STRICT, ("<s>", "</s>", "[INST]", "[/INST]"), ("</s>",)),
}  # fmt: skip


@functools.cache
def _built_in() -> dict[str, Subject]:
    found = {}
    for name, (oracle, takes, marks, ends) in _BUILT_IN.items():
        if name not in Template.names():
            continue
        template = Template.named(name)
        subject = f"built-in {name}"
        whole = functools.partial(turns_of_built_ins.dropping_nothing, oracle)
        other = _OTHER_ENDS.get(subject, {})
        found[subject] = Subject(subject, template.source, whole, takes, dict(template.variables), marks, ends, other)
    return found


NAMES = (*_OWN, *(f"built-in {name}" for name in _BUILT_IN), *_FILES)


def subjects() -> dict[str, Subject]:
    """All templates: those of the sweeps, the built-in ones, and those of the data folder if it exists."""
    return {**_OWN, **_built_in(), **real_subjects()}


def data_folder() -> Path:
    """The folder of real vocabularies, if it exists."""
    return Path(os.environ.get("BYTEPAIR_DATA", Path(__file__).parent.parent.parent / "shared" / "data")) / "vocabs"


def _token(config: dict[str, Any], name: str) -> dict[str, str]:
    token = config.get(name)
    token = token["content"] if isinstance(token, dict) else token
    return {name: token} if isinstance(token, str) else {}


@functools.cache
def real_subjects() -> dict[str, Subject]:
    """The templates of the data folder by name; empty without the folder."""
    found = {}
    for name, (file, oracle, takes, marks, ends) in _FILES.items():
        path = data_folder() / file
        if not path.is_file():
            continue
        source, variables = path.read_text("utf-8"), {}
        if path.suffix == ".json":
            config = json.loads(source)
            source, variables = config["chat_template"], _token(config, "bos_token") | _token(config, "eos_token")
        found[name] = Subject(name, source, oracle, takes, variables, marks, ends, _OTHER_ENDS.get(name, {}))
    return found
