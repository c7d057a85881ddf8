"""Chats to tensors: messages -> text whose every part is known by its source -> ids, labels, batches.

Templates are written in Jinja, so this needs ``jinja2`` (``bytepair[chat]``); padding and packing do not.

Example:
    >>> import bytepair as bp
    >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    >>> rendered = bp.chat.render(chat, "chatml")
    >>> [rendered.text[span.start : span.end] for span in rendered.spans if span.field == "content"]
    ['Hi', 'Hello']
    >>> tok = bp.train({"Hello": 5}, vocab_size=262, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> example = tok.encode_chat(chat, "chatml")
    >>> tok.decode(example.labels[example.labels >= 0].tolist())
    'Hello<|im_end|>'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bytepair.chat.attention import Placed, block_mask, cu_seqlens
    from bytepair.chat.cache import EncodingCache
    from bytepair.chat.example import ChatExample
    from bytepair.chat.example_rows import ExampleRows
    from bytepair.chat.extending import extend
    from bytepair.chat.limits import Limits
    from bytepair.chat.packing import flatten, pack
    from bytepair.chat.padding import pad
    from bytepair.chat.rendering import render
    from bytepair.chat.reserved import escape, unescape
    from bytepair.chat.spans import Rendered, Span
    from bytepair.chat.template import Template

# Who only pads needs no Jinja, and who renders no arrays.
_LATER = {
    "ChatExample": "example",
    "EncodingCache": "cache",
    "ExampleRows": "example_rows",
    "Limits": "limits",
    "Placed": "attention",
    "Rendered": "spans",
    "Span": "spans",
    "Template": "template",
    "block_mask": "attention",
    "cu_seqlens": "attention",
    "escape": "reserved",
    "extend": "extending",
    "flatten": "packing",
    "pack": "packing",
    "pad": "padding",
    "render": "rendering",
    "unescape": "reserved",
}

__all__ = [
    "ChatExample",
    "EncodingCache",
    "ExampleRows",
    "Limits",
    "Placed",
    "Rendered",
    "Span",
    "Template",
    "block_mask",
    "cu_seqlens",
    "escape",
    "extend",
    "flatten",
    "pack",
    "pad",
    "render",
    "unescape",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 (only who calls it waits for it)

    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
