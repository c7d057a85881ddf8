"""Chats by the interface of ``transformers``: messages -> text by a template -> ids."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers import functions
from bytepair.compat.transformers.state import State
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.chat.rendering.spans import Rendered


class Chats(State):
    """The methods of a tokenizer for chats."""

    def get_chat_template(self, chat_template: str | None = None, tools: list[Any] | None = None) -> str:
        """Return the template for a chat.

        Args:
            chat_template: A name, or Jinja source; None for the tokenizer's own.
            tools: If there are tools and several templates, the template ``tool_use`` is used.

        Raises:
            ValueError: There is no template, or there are several and none is called ``default``.
        """
        own = self.chat_template
        if isinstance(own, dict):
            if chat_template is not None:
                return own.get(chat_template, chat_template)
            if tools is not None and "tool_use" in own:
                return own["tool_use"]
            if "default" not in own:
                raise ValueError(
                    f"there are several chat templates and no default; pass chat_template=, one of {sorted(own)}"
                )
            return own["default"]
        if chat_template is not None:
            return chat_template
        if own is None:
            raise ValueError(
                "the tokenizer has no chat template; set tokenizer.chat_template, or pass chat_template=, Jinja source "
                "or the name of a built-in template of bytepair.chat"
            )
        return own

    def apply_chat_template(
        self,
        conversation: Any,
        tools: list[Any] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        *,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        sanitize_control_tokens: bool = False,
        padding: Any = False,
        truncation: Any = False,
        max_length: int | None = None,
        return_tensors: Any = None,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: dict[str, Any] | None = None,
        **variables: Any,
    ) -> Any:
        """Render one chat or a list of chats as text or ids by the tokenizer's template.

        As in ``transformers``, content that spells a special token is encoded as that token. `Tokenizer.encode_chat`
        refuses such content, and makes labels.

        Args:
            conversation: Messages: dicts with ``role`` and ``content``; or a list of chats.
            tools: Tools as JSON schemas, or functions with type hints and a Google-style docstring.
            documents: Documents, for templates that use them.
            chat_template: As for `get_chat_template`.
            add_generation_prompt: Whether to append the start of an answer.
            continue_final_message: Whether the text ends inside the last message, for a model to continue; or the name
                of the field to continue.
            tokenize: Whether to return ids rather than text.
            sanitize_control_tokens: False; use `Tokenizer.encode_chat`, which refuses special tokens in content.
            padding: As for a call.
            truncation: As for a call.
            max_length: As for a call.
            return_tensors: As for a call.
            return_dict: Whether to return all columns rather than the ids alone.
            return_assistant_tokens_mask: Adds ``assistant_masks``: 1 for each token that overlaps text between
                ``{% generation %}`` and ``{% endgeneration %}``.
            tokenizer_kwargs: Other arguments of a call.
            variables: Other variables of the template.

        Raises:
            TemplateError: The template cannot be rendered; or the mask is requested and the template has no generation
                blocks.
            ValueError: There is no template or no message, or options contradict each other.
            NotImplementedError: An argument is not supported.
        """
        from bytepair.chat.rendering.render import render  # noqa: PLC0415 (only chats need it)

        if sanitize_control_tokens:
            raise NotImplementedError("sanitize_control_tokens=True is not supported; use Tokenizer.encode_chat")
        if return_assistant_tokens_mask and not (tokenize and return_dict):
            raise ValueError("return_assistant_tokens_mask=True needs tokenize=True and return_dict=True")
        if continue_final_message and (add_generation_prompt or return_assistant_tokens_mask):
            other = "add_generation_prompt" if add_generation_prompt else "return_assistant_tokens_mask"
            raise ValueError(f"continue_final_message and {other} cannot be combined")
        if not isinstance(conversation, (list, tuple)) and not hasattr(conversation, "messages"):
            raise TypeError(f"a conversation is a list of messages, not {type(conversation).__name__}")
        is_batch = isinstance(conversation, (list, tuple)) and _is_batch(conversation)
        source = self.get_chat_template(chat_template, tools)
        schemas = None if tools is None else [_schema(number, tool) for number, tool in enumerate(tools)]
        known = {**self.special_tokens_map, **variables}
        rendered: list[Rendered] = []
        texts = []
        for chat in conversation if is_batch else [conversation]:
            one = render(
                getattr(chat, "messages", chat),
                source,
                tools=schemas,
                documents=documents,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                variables=known,
            )
            rendered.append(one)
            texts.append(one.text)
        if not tokenize:
            return texts if is_batch else texts[0]
        options = {
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "return_tensors": return_tensors,
        }
        options |= {"add_special_tokens": False} | (tokenizer_kwargs or {})
        made = self(texts if is_batch else texts[0], **options)
        if not return_dict:
            return made["input_ids"]
        if return_assistant_tokens_mask:
            _add_masks(made, rendered, is_one=not is_batch and options["return_tensors"] is None, options=options)
        return made


def _schema(number: int, tool: Any) -> Any:
    if isinstance(tool, dict):
        return tool
    if inspect.isfunction(tool) or inspect.ismethod(tool):
        return functions.schema(tool)
    raise ValueError(f"tool {number} is a {type(tool).__name__}; use a JSON schema, a dict, or a function")


def _is_batch(conversation: Any) -> bool:
    if not conversation:
        raise ValueError("a conversation needs a message")
    return isinstance(conversation[0], (list, tuple)) or hasattr(conversation[0], "messages")


def _add_masks(made: Any, rendered: list[Rendered], *, is_one: bool, options: dict[str, Any]) -> None:
    if not all(one.has_generation for one in rendered):
        raise TemplateError(
            "the chat template has no {% generation %} blocks to make a mask from",
            remedy="use Tokenizer.encode_chat, which uses the messages",
        )
    masks = []
    for row, encoding in enumerate(made.encodings):
        sample = made["overflow_to_sample_mapping"][row] if options.get("return_overflowing_tokens") else row
        spans = [(span.start, span.end) for span in rendered[int(sample)].spans if span.generated]
        masks.append(mask_of(encoding.offsets, spans))
    made["assistant_masks"] = masks[0] if is_one else masks
    made.convert_to_tensors(options["return_tensors"])


def mask_of(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[int]:
    """1 for each token that overlaps a span, else 0; the spans are in order and disjoint. Time is n log m for m spans.

    Example:
        >>> mask_of([(0, 2), (2, 4), (4, 5)], [(0, 1), (3, 4)])
        [1, 1, 0]
    """
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    # The first span that ends behind the start of a token is the one that begins first of all that do.
    firsts = (bisect_right(ends, start) for start, _ in offsets)
    return [int(at < len(starts) and starts[at] < end) for at, (_, end) in zip(firsts, offsets, strict=True)]
