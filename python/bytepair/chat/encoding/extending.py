"""One more turn for an example, without encoding anew what is fixed: tokens in, tokens out."""

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
    trained_intervals,
)
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bytepair.call.ragged import Ids
    from bytepair.chat.encoding.example import Ints
    from bytepair.model.compiled import CompiledTokenizer


def extend(
    tok: CompiledTokenizer,
    example: ChatExample,
    messages: Sequence[Any],
    *,
    ids: Ids | None = None,
    add_generation_prompt: bool = False,
) -> ChatExample:
    """An example with more messages behind it, whose first ids are those of the example.

    A model that wrote a turn wrote certain ids, which its text need not encode to again: these stay as they are.

    Args:
        tok: The tokenizer that the example was encoded with.
        example: What there is, not truncated.
        messages: The messages to append.
        ids: What a model wrote in answer to an example that ends with its generation prompt: the ids that the first of
            the messages begins with, its end of turn among them if the model got there.
        add_generation_prompt: Whether the new text ends with what has a model answer.

    Returns:
        An example of all messages. Its `differs_at` is the first token that encoding all of it anew would give
        otherwise, or None if that gives the same.

    Raises:
        TemplateError: The template renders what is fixed otherwise once messages follow, as some do with thinking; or
            `ids` are not what it renders; ``character`` says where.
        ValueError: The example was truncated, or has ids that are not of its text.
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
    settings = replace(example.settings, add_generation_prompt=add_generation_prompt)
    if example.dropped or settings.add_special_tokens or settings.max_length is not None:
        raise ValueError("an example can be extended if it was encoded without max_length and add_special_tokens")
    wrote: Ints = np.asarray(() if ids is None else ids, dtype=np.int64)
    fixed = np.concatenate([example.input_ids, wrote])
    places, text = _continued(tok, example, wrote)
    everything = [*example.messages, *reserved.copied(list(messages))]
    rendered = rendered_safely(tok, everything, settings)
    if not rendered.text.startswith(text):
        raise _changed(example, text, rendered.text)

    all_ids, all_places = located(tok, rendered, settings)
    # What comes behind is encoded in its context, if a token begins where what is fixed ends.
    first = int(np.searchsorted(all_places[:, 0], len(text)))
    if first and all_places[:first, 1].max() > len(text):
        tail = replace(rendered, text=rendered.text[len(text) :], spans=_behind(rendered.spans, len(text)))
        new_ids, new_places = located(tok, tail, settings)
        new_places = new_places + len(text)
    else:
        new_ids, new_places = all_ids[first:], all_places[first:]
    input_ids, offsets = np.concatenate([fixed, new_ids]), np.concatenate([places, new_places])
    intervals = trained_intervals(everything, rendered, settings)
    labels, straddling = label(offsets, input_ids, intervals)
    extended = ChatExample(
        input_ids=input_ids,
        attention_mask=np.ones_like(input_ids),
        labels=labels,
        offsets=offsets,
        rendered=rendered,
        intervals=tuple(intervals),
        straddling=tuple(straddling.tolist()),
        differs_at=_first_difference(input_ids, all_ids),
        messages=everything,
        settings=settings,
    )
    check_trained(extended)
    return extended


def _continued(tok: CompiledTokenizer, example: ChatExample, wrote: Ints) -> tuple[Ints, str]:
    """The offsets of an example's tokens and of those that a model wrote, and the text of both."""
    if not len(wrote):
        return example.offsets, example.text
    tokens = [tok.token_bytes(id) for id in wrote.tolist()]
    data = b"".join(tokens)
    said = tok.decode(wrote.tolist())
    if data.decode("utf-8", "replace") == said:
        # The characters that begin before each byte, and those that end there.
        begun = np.concatenate([[0], np.cumsum(np.frombuffer(data, dtype=np.uint8) & 0xC0 != 0x80)])
        ends = np.array([0, *accumulate(map(len, tokens))])
        starts = begun[ends[:-1]] - _inside(data, ends[:-1])
        places = np.stack([starts, begun[ends[1:]]], axis=1)
    else:
        stream = tok.stream()
        lengths = [0, *accumulate(len(stream.push(id)) for id in wrote.tolist())]
        lengths[-1] = len(said)
        places = np.stack([lengths[:-1], lengths[1:]], axis=1)
    return np.concatenate([example.offsets, places.astype(np.int64) + len(example.text)]), example.text + said


def _inside(data: bytes, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 for each place that lies inside a character."""
    inside = np.append(np.frombuffer(data, dtype=np.uint8) & 0xC0 == 0x80, False)
    return inside[places].astype(np.int64)


def _behind(spans: Sequence[Any], start: int) -> tuple[Any, ...]:
    """The spans of what comes behind a place, counted from there."""
    return tuple(
        replace(span, start=max(0, span.start - start), end=span.end - start) for span in spans if span.end > start
    )


def _first_difference(ids: Ints, others: Ints) -> int | None:
    shorter = min(len(ids), len(others))
    differ = np.flatnonzero(ids[:shorter] != others[:shorter])
    return int(differ[0]) if len(differ) else None if len(ids) == len(others) else shorter


def _changed(example: ChatExample, text: str, rendered: str) -> TemplateError:
    pairs = enumerate(zip(text, rendered, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(text), len(rendered)))
    if at >= len(example.text):
        return TemplateError(
            f"the ids are not what the template renders: {text[at : at + 20]!r} instead of {rendered[at : at + 20]!r}",
            remedy="give the message the content that the ids decode to",
            character=at,
        )
    return TemplateError(
        f"the template renders what is fixed otherwise once messages follow: {rendered[at : at + 20]!r} "
        f"instead of {text[at : at + 20]!r}",
        remedy="encode the whole conversation anew with encode_chat",
        character=at,
    )
