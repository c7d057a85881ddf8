"""`ChatRows`: conversations of a data set -> ids and labels, as a function for ``datasets.map`` and data loaders."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.chat.batches.columns import IGNORED
from bytepair.chat.encoding.example import ChatOptions, encode_chat
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer


_COLUMNS = ("tools", "documents")


class ChatRows:
    """A function that encodes a row with ``messages``; worker processes can receive it.

    Args:
        tokenizer: The tokenizer.
        template: As for `Tokenizer.encode_chat`.
        assistant_masks: Whether rows also have ``assistant_masks``: 1 for each trained token.
        options: The other arguments of `Tokenizer.encode_chat` except ``cache``, the same for all rows.

    Raises:
        TypeError: An option is unknown, or a column of the rows.
        ValueError: As `Tokenizer.encode_chat`.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"hi": 5}, vocab_size=259, special_tokens=["<|im_start|>", "<|im_end|>"])
        >>> rows = ChatRows(tok, "chatml")
        >>> row = rows({"messages": [{"role": "assistant", "content": "hi"}]})
        >>> tok.decode([id for id in row["labels"] if id >= 0])
        'hi<|im_end|>'
    """

    def __init__(
        self, tokenizer: CompiledTokenizer, template: Template | str, *, assistant_masks: bool = False, **options: Any
    ) -> None:
        for name in _COLUMNS:
            if name in options:
                raise TypeError(f"{name} is a column of the rows")
        self.tokenizer = tokenizer
        self.assistant_masks = assistant_masks
        self.options = ChatOptions(template=template, **options)
        self.options.check()

    def __call__(self, row: Mapping[str, Any]) -> dict[str, list[int]]:
        """Encode a row.

        Args:
            row: ``messages``, and optionally ``tools`` and ``documents``; these two may be JSON, since a column of
                Arrow has one type.

        Returns:
            ``input_ids``, ``attention_mask`` and ``labels``.

        Raises:
            TemplateError: As `Tokenizer.encode_chat`; or there are no messages, or the tools are not JSON.
            SpecialTokenError: As `Tokenizer.encode_chat`.
        """
        if "messages" not in row:
            raise TemplateError(
                f"the row has no messages; its columns are {', '.join(map(str, row)) or 'none'}",
                remedy="rename the column of the conversations to messages",
            )
        tables = {name: _parsed(name, row.get(name)) for name in _COLUMNS}
        example = encode_chat(self.tokenizer, row["messages"], replace(self.options, **tables))
        made = example.to_dict()
        if self.assistant_masks:
            made["assistant_masks"] = (np.asarray(example.labels) != IGNORED).astype(np.int64).tolist()
        return made


def _parsed(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise TemplateError(f"the column {name} is a text that is not JSON: {error}", remedy="store JSON") from error
