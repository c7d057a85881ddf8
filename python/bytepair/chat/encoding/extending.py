"""Extending an example by a turn while its ids stay unchanged."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.chat.encoding import reserved
from bytepair.chat.encoding.example import (
    ChatExample,
    check_trained,
    label,
    located,
    rendered_safely,
)
from bytepair.chat.encoding.labels import joined
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.call.options import Ids
    from bytepair.chat.encoding.example import Ints, Places
    from bytepair.model.compiled import CompiledTokenizer


def extend(
    tok: CompiledTokenizer,
    example: ChatExample,
    messages: Sequence[Any],
    *,
    ids: Ids | None = None,
    add_generation_prompt: bool = False,
) -> ChatExample:
    """Append messages to an example; its ids stay the first ids of the result.

    The ids that a model sampled need not be those that their text encodes to; they are kept as they are.

    Args:
        tok: The tokenizer that the example was encoded with.
        example: The example, not truncated.
        messages: The messages to append.
        ids: The ids that a model sampled after an example that ends with the generation prompt. The first new message
            begins with them; they include the end of the turn if the model reached it.
        add_generation_prompt: Whether the new text ends with a generation prompt.

    Returns:
        An example of all messages. Its `differs_at` is the index of the first token that differs from encoding all
        messages at once; None if none differs.

    Raises:
        TemplateError: The template changes the earlier text when messages follow, as some do with reasoning; or `ids`
            do not match the rendered text; ``character`` is the index of the difference.
        ValueError: The example was truncated, or has ids that are not in its text.
        SpecialTokenError: As `Tokenizer.encode_chat`.

    Time is linear in the whole text.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"hi": 5}, vocab_size=259, special_tokens=["<|im_start|>", "<|im_end|>"])
        >>> turn = [{"role": "user", "content": "hi"}]
        >>> prompt = tok.encode_chat(turn, "chatml", train_on=None, add_generation_prompt=True)
        >>> wrote = tok.encode(["h", "i", bp.Control("<|im_end|>")])
        >>> longer = bp.chat.extend(tok, prompt, [{"role": "assistant", "content": "hi"}], ids=wrote)
        >>> longer.input_ids[: len(prompt)].tolist() == prompt.input_ids.tolist(), longer.differs_at
        (True, None)
    """
    options = replace(example.options, add_generation_prompt=add_generation_prompt, continue_final_message=False)
    if example.dropped or options.add_special_tokens or options.max_length is not None:
        raise ValueError("an example can be extended if it was encoded without max_length and add_special_tokens")
    wrote: Ints = np.asarray(() if ids is None else ids, dtype=np.int64)
    fixed = np.concatenate([example.input_ids, wrote])
    places, text = _continued(tok, example, wrote)
    everything = [*example.messages, *reserved.copied(list(messages))]
    safe = rendered_safely(tok, everything, options)
    rendered, parts = safe.rendered, safe.parts
    if not rendered.text.startswith(text):
        raise _changed(example, text, rendered.text)

    all_ids, all_places = located(tok, rendered.text, safe.places)
    # The new text is encoded in context if a token boundary falls at the end of the fixed text.
    first = int(np.searchsorted(all_places[:, 0], len(text)))
    if first and all_places[:first, 1].max() > len(text):
        behind = [(max(0, start - len(text)), end - len(text)) for start, end in safe.places if end > len(text)]
        new_ids, new_places = located(tok, rendered.text[len(text) :], behind)
        new_places = new_places + len(text)
    else:
        new_ids, new_places = all_ids[first:], all_places[first:]
    input_ids, offsets = np.concatenate([fixed, new_ids]), np.concatenate([places, new_places])
    intervals = joined((part.start, part.end) for part in parts)
    labels, straddling = label(offsets, input_ids, intervals)
    extended = ChatExample(
        input_ids=input_ids,
        labels=labels,
        offsets=offsets,
        rendered=rendered,
        intervals=tuple(intervals),
        trained=tuple(parts),
        reserved=safe.reserved,
        straddling=tuple(straddling.tolist()),
        differs_at=_first_difference(input_ids, all_ids),
        messages=everything,
        options=options,
    )
    check_trained(extended)
    return extended


def _continued(tok: CompiledTokenizer, example: ChatExample, wrote: Ints) -> tuple[Places, str]:
    """The offsets of an example's tokens and of the sampled tokens, and the text of both."""
    if not len(wrote):
        return example.offsets, example.text
    tokens = [tok.token_bytes(id) for id in wrote.tolist()]
    data = b"".join(tokens)
    decoded = tok.decode(wrote.tolist())
    if data.decode("utf-8", "replace") == decoded:
        # The number of characters that begin before each byte.
        begins = np.frombuffer(data, dtype=np.uint8) & 0xC0 != 0x80
        begun = np.concatenate([[0], np.cumsum(begins)])
        ends = np.array([0, *accumulate(map(len, tokens))])
        # A token that starts inside a character covers it too.
        starts = begun[ends[:-1]] - ~np.append(begins, True)[ends[:-1]]
        places = np.stack([starts, begun[ends[1:]]], axis=1)
    else:
        stream = tok.decode_stream()
        lengths = [0, *accumulate(len(stream.push(id)) for id in wrote.tolist())]
        lengths[-1] = len(decoded)
        places = np.stack([lengths[:-1], lengths[1:]], axis=1)
    return np.concatenate([example.offsets, places.astype(np.int64) + len(example.text)]), example.text + decoded


def _first_difference(ids: Ints, others: Ints) -> int | None:
    shorter = min(len(ids), len(others))
    differ = np.flatnonzero(ids[:shorter] != others[:shorter])
    return int(differ[0]) if len(differ) else None if len(ids) == len(others) else shorter


def _changed(example: ChatExample, text: str, rendered: str) -> TemplateError:
    pairs = enumerate(zip(text, rendered, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(text), len(rendered)))
    if at >= len(example.text):
        return TemplateError(
            f"the ids do not match the rendered text: {text[at : at + 20]!r} instead of {rendered[at : at + 20]!r}",
            remedy="pass a message whose content is the text of the ids",
            character=at,
        )
    return TemplateError(
        f"the template changes the earlier text when messages follow: {rendered[at : at + 20]!r} "
        f"instead of {text[at : at + 20]!r}",
        remedy="encode the whole conversation with encode_chat",
        character=at,
    )
