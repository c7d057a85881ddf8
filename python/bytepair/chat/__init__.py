"""Chats to tensors: messages -> text with spans -> ids and labels -> batches.

In the order of that way: `template` (a chat template as data) and `limits`; `rendering` (messages to text, whose spans
record the origin of every character), which runs the template in a `sandbox` on `traced` values; `encoding` (ids,
labels, reserved tokens, the cache of encodings); `batches` (padding and packing).

Templates are written in Jinja, so rendering needs ``jinja2`` (``bytepair[chat]``); padding and packing do not.

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
    from bytepair.chat.batches.attention import Placed, block_mask, cu_seqlens
    from bytepair.chat.batches.example_rows import ExampleRows
    from bytepair.chat.batches.packing import flatten, pack
    from bytepair.chat.batches.padding import pad
    from bytepair.chat.checking import TemplateFinding, TemplateReport, check
    from bytepair.chat.encoding.cache import EncodingCache
    from bytepair.chat.encoding.example import ChatExample
    from bytepair.chat.encoding.extending import extend
    from bytepair.chat.encoding.mapping import ChatRows
    from bytepair.chat.encoding.reserved import escape, unescape
    from bytepair.chat.encoding.splicing import Drift, Splice, splice
    from bytepair.chat.limits import Limits
    from bytepair.chat.rendering.render import render
    from bytepair.chat.rendering.spans import Rendered, Span
    from bytepair.chat.template import Template

# Imported on first use: padding needs no Jinja, and rendering no arrays.
_LATER = {
    "ChatExample": "encoding.example",
    "EncodingCache": "encoding.cache",
    "ExampleRows": "batches.example_rows",
    "ChatRows": "encoding.mapping",
    "Drift": "encoding.splicing",
    "Limits": "limits",
    "Placed": "batches.attention",
    "Rendered": "rendering.spans",
    "Span": "rendering.spans",
    "Splice": "encoding.splicing",
    "Template": "template",
    "TemplateFinding": "checking",
    "TemplateReport": "checking",
    "block_mask": "batches.attention",
    "check": "checking",
    "cu_seqlens": "batches.attention",
    "escape": "encoding.reserved",
    "extend": "encoding.extending",
    "flatten": "batches.packing",
    "pack": "batches.packing",
    "pad": "batches.padding",
    "render": "rendering.render",
    "splice": "encoding.splicing",
    "unescape": "encoding.reserved",
}

__all__ = [
    "ChatExample",
    "ChatRows",
    "Drift",
    "EncodingCache",
    "ExampleRows",
    "Limits",
    "Placed",
    "Rendered",
    "Span",
    "Splice",
    "Template",
    "TemplateFinding",
    "TemplateReport",
    "block_mask",
    "check",
    "cu_seqlens",
    "escape",
    "extend",
    "flatten",
    "pack",
    "pad",
    "render",
    "splice",
    "unescape",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 (imported on first use)

    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
