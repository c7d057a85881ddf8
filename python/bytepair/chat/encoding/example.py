"""Messages -> ids and labels: one conversation as a model is trained on it.

Long because what a call may say, what it gives and the way between stand together; extending goes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.call.post_processing import post_processor
from bytepair.chat.encoding import labels as labelling
from bytepair.chat.encoding import reserved
from bytepair.chat.rendering.render import render
from bytepair.errors import LimitError, TemplateError
from bytepair.formats.native import fingerprint_of

if TYPE_CHECKING:
    import datetime
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from bytepair.chat.encoding.cache import EncodingCache
    from bytepair.chat.encoding.labels import Interval, TrainOn
    from bytepair.chat.encoding.reserved import Policy
    from bytepair.chat.limits import Limits
    from bytepair.chat.rendering.spans import Rendered, Span
    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer

    Ints = NDArray[np.int64]


_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model", "ipython", "observation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a conversation was encoded with, so that it can be extended: the arguments of `Tokenizer.encode_chat`."""

    template: Template | str
    tools: Any = None
    documents: Any = None
    variables: Mapping[str, Any] | None = None
    add_generation_prompt: bool = False
    train_on: TrainOn = "assistant"
    train_end: bool = True
    train_marks: bool = False
    policy: Policy = "reject"
    end_of_turn: str | Collection[str] | None = None
    add_special_tokens: bool = False
    max_length: int | None = None
    truncation: str | None = "right"
    now: datetime.datetime | None = None
    limits: Limits | None = None

    def check(self) -> None:
        """Refuses what an option may not be.

        Raises:
            ValueError: An option is unknown, or out of range.
        """
        if self.policy not in reserved.POLICIES:
            raise ValueError(f"policy={self.policy!r} is unknown; use {', '.join(map(repr, reserved.POLICIES))}")
        if self.truncation not in ("left", "right", None):
            raise ValueError(f'truncation={self.truncation!r} is unknown; use "left", "right", or None to refuse')
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length={self.max_length} leaves no room for a token")

    @property
    def others(self) -> dict[str, Any]:
        """What a template is given besides messages, by name."""
        from bytepair.chat.template import SPECIAL  # noqa: PLC0415 (only a call needs it)

        variables = {name: value for name, value in (self.variables or {}).items() if name not in SPECIAL}
        others = {"tools": self.tools, "documents": self.documents, "variables": variables}
        return {name: value for name, value in others.items() if value}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChatExample:
    """One conversation, encoded: what a model is trained on, and where each token is from.

    Attributes:
        input_ids: The ids; int64, shape (n,), as all arrays here but `offsets`.
        attention_mask: Ones.
        labels: The ids that are trained on, -100 elsewhere. They are not shifted: models do that themselves.
        offsets: Where each token stands in `text`, in characters; shape (n, 2).
        rendered: The text and its spans.
        intervals: The stretches of `text` that are trained on.
        straddling: The tokens that are trained on and reach into text that is not.
        dropped: How many tokens truncation cut off.
        differs_at: Of an extended example, the first token that encoding all anew would give otherwise; else None.
        messages: What was encoded.
        settings: How.
    """

    input_ids: Ints
    attention_mask: Ints
    labels: Ints
    offsets: Ints
    rendered: Rendered
    intervals: tuple[Interval, ...]
    straddling: tuple[int, ...]
    dropped: int = 0
    differs_at: int | None = None
    messages: Sequence[Any] = field(repr=False)
    settings: Settings = field(repr=False)

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def text(self) -> str:
        """The whole text, also of what truncation cut off."""
        return self.rendered.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where each part of `text` is from."""
        return self.rendered.spans

    @property
    def position_ids(self) -> Ints:
        """0, 1, 2 ..., as models count when nothing is padded."""
        return np.arange(len(self.input_ids), dtype=np.int64)

    def to_dict(self) -> dict[str, list[int]]:
        """``input_ids``, ``attention_mask`` and ``labels`` as lists, as the rows of a data set are."""
        return {name: getattr(self, name).tolist() for name in ("input_ids", "attention_mask", "labels")}


def encode_chat(
    tok: CompiledTokenizer, messages: Sequence[Any], settings: Settings, cache: EncodingCache | None = None
) -> ChatExample:
    """What `Tokenizer.encode_chat` does."""
    settings.check()
    # A caller may go on and append to the list; the example keeps what it was made of.
    messages = reserved.copied(list(messages))
    settings = replace(
        settings,
        tools=reserved.copied(settings.tools),
        documents=reserved.copied(settings.documents),
        variables=reserved.copied(settings.variables),
    )
    rendered = rendered_safely(tok, messages, settings)
    intervals = trained_intervals(messages, rendered, settings)
    make = partial(_arrays, tok, rendered, intervals, settings)
    arrays = make() if cache is None else cache.get_or_make(_key(tok, rendered, intervals, settings), make)
    example = ChatExample(
        input_ids=arrays["input_ids"],
        attention_mask=np.ones(len(arrays["input_ids"]), dtype=np.int64),
        labels=arrays["labels"],
        offsets=arrays["offsets"],
        rendered=rendered,
        intervals=tuple(intervals),
        straddling=tuple(arrays["straddling"].tolist()),
        dropped=int(arrays["dropped"]),
        messages=messages,
        settings=settings,
    )
    check_trained(example)
    return example


def rendered_safely(tok: CompiledTokenizer, messages: Sequence[Any], settings: Settings) -> Rendered:
    """The text of a conversation, once its policy has been kept.

    Raises:
        SpecialTokenError: Content holds a reserved literal, and the policy is to reject it.
        EncodeError: Content holds a lone surrogate.
    """
    reserved.refuse_surrogates(messages, settings.others)
    if settings.policy == "reject":
        reserved.refuse(tok, messages, settings.others)
    if settings.policy == "escape":
        escape = partial(reserved.escape, tok)
        variables = reserved.rewritten(settings.others.get("variables", {}), escape)
        settings = replace(
            settings,
            tools=reserved.rewritten(settings.tools, escape),
            documents=reserved.rewritten(settings.documents, escape),
            variables={**(settings.variables or {}), **variables},
        )
        messages = reserved.rewritten(messages, escape)
    rendered = _rendered(messages, settings)
    if settings.policy == "reject":
        reserved.refuse_across(tok, rendered, trusted(rendered))
    return rendered


def _rendered(messages: Sequence[Any], settings: Settings) -> Rendered:
    bounds: Any = {} if settings.limits is None else {"limits": settings.limits}
    return render(
        messages,
        settings.template,
        tools=settings.tools,
        documents=settings.documents,
        add_generation_prompt=settings.add_generation_prompt,
        variables=settings.variables,
        now=settings.now,
        **bounds,
    )


def trusted(rendered: Rendered) -> list[Interval]:
    """The stretches of the text that are the template's own.

    The names of roles that all chats have count as such: some templates put them into marks, as in ``<|user|>``.
    """
    text = rendered.text
    return labelling.joined(
        [
            (span.start, span.end)
            for span in rendered.spans
            if span.kind == "template" or (span.field == "role" and text[span.start : span.end] in _ROLES)
        ]
    )


def trained_intervals(messages: Sequence[Any], rendered: Rendered, settings: Settings) -> list[Interval]:
    """The stretches of the text that are trained on."""
    chosen = labelling.selected(messages, settings.train_on)
    prompt = _prompt(messages[: min(chosen)], settings) if settings.train_marks and chosen else None
    variables = {**rendered.template.variables, **(settings.variables or {})}
    end = labelling.end_pattern(settings.end_of_turn, variables.get("eos_token"))
    return labelling.trained(rendered, chosen, end, train_end=settings.train_end, prompt=prompt)


def _prompt(messages: Sequence[Any], settings: Settings) -> str:
    """What the template writes to have a model answer; empty if that cannot be told from these messages."""
    # What these messages may hold was looked at before.
    try:
        without = _rendered(messages, replace(settings, add_generation_prompt=False)).text
        behind = _rendered(messages, replace(settings, add_generation_prompt=True)).text
    except TemplateError:
        return ""
    return behind[len(without) :] if behind.startswith(without) else ""


def located(tok: CompiledTokenizer, rendered: Rendered, settings: Settings) -> tuple[Ints, Ints]:
    """The ids of a rendered text and their offsets; only the template's own text becomes added tokens, or all may."""
    text = rendered.text
    places = trusted(rendered) if settings.policy != "allow" else [(0, len(text))] if text else []
    ids, offsets = tok.located_trusted(text, places)
    return ids.astype(np.int64), offsets.reshape(-1, 2)


def label(offsets: Ints, ids: Ints, intervals: Sequence[Interval]) -> tuple[Ints, Ints]:
    """The labels of tokens, and the rows of those that are trained on and reach into text that is not."""
    overlap, beyond = labelling.overlapping(offsets, intervals)
    return np.where(overlap, ids, labelling.IGNORED), np.flatnonzero(beyond)


def _arrays(
    tok: CompiledTokenizer, rendered: Rendered, intervals: Sequence[Interval], settings: Settings
) -> dict[str, Ints]:
    ids, offsets = located(tok, rendered, settings)
    before, behind = _around(tok, ids, settings)
    room = len(ids)
    if settings.max_length is not None:
        room = settings.max_length - len(before) - len(behind)
        if room < 1 or (len(ids) > room and settings.truncation is None):
            raise LimitError(
                f"{len(ids) + len(before) + len(behind)} tokens are more than max_length={settings.max_length}",
                remedy='use a larger max_length, or truncation="right" or "left"',
            )
    keep = slice(max(0, len(ids) - room), None) if settings.truncation == "left" else slice(room)
    kept, places = ids[keep], offsets[keep]
    labels, straddling = label(places, kept, intervals)
    nothing = np.full(len(before) + len(behind), labelling.IGNORED, dtype=np.int64)
    end = len(rendered.text)
    at = np.array([(0, 0)] * len(before) + [(end, end)] * len(behind), dtype=np.int64).reshape(-1, 2)
    split = len(before)
    return {
        "input_ids": np.concatenate([np.array(before, dtype=np.int64), kept, np.array(behind, dtype=np.int64)]),
        "labels": np.concatenate([nothing[:split], labels, nothing[split:]]),
        "offsets": np.concatenate([at[:split], places, at[split:]]),
        "straddling": straddling + split,
        "dropped": np.array(len(ids) - len(kept)),
    }


def _around(tok: CompiledTokenizer, ids: Ints, settings: Settings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the post-processor adds before and behind, if it is asked to."""
    if not settings.add_special_tokens:
        return (), ()
    parts = post_processor(tok).layout(pair=False, add=True)
    text = next(row for row, part in enumerate(parts) if part.sequence == 0)
    before = tuple(id for part in parts[:text] for id in part.ids)
    behind = tuple(id for part in parts[text + 1 :] for id in part.ids)
    if (before and tuple(ids[: len(before)]) == before) or (behind and tuple(ids[-len(behind) :]) == behind):
        raise TemplateError(
            "the template writes the special tokens that the post-processor adds, which would stand there twice",
            remedy="leave add_special_tokens=False",
        )
    return before, behind


def _key(tok: CompiledTokenizer, rendered: Rendered, intervals: Sequence[Interval], settings: Settings) -> str:
    from bytepair.chat.encoding.cache import EncodingCache  # noqa: PLC0415 (only those who have a cache need it)

    return EncodingCache.key(
        tokenizer=fingerprint_of(tok),
        template=rendered.template.hash,
        policy=settings.policy,
        add_special_tokens=settings.add_special_tokens,
        training=tuple(intervals),
        truncation=None if settings.max_length is None else (settings.truncation, settings.max_length),
        text=rendered.text,
        spans=tuple(trusted(rendered)),
    )


def check_trained(example: ChatExample) -> None:
    """Refuses an example that teaches nothing.

    Raises:
        TemplateError: No message that is to be trained on has any text.
        LimitError: Truncation cut off all that is.
    """
    settings = example.settings
    if settings.train_on is None or (example.labels != labelling.IGNORED).any():
        return
    if example.intervals and example.dropped:
        raise LimitError(
            f"truncation to max_length={settings.max_length} leaves no token that is trained on",
            remedy=f'use a larger max_length, or truncation="{"left" if settings.truncation == "right" else "right"}"',
        )
    roles = ", ".join(dict.fromkeys(repr(message.get("role")) for message in example.messages))
    raise TemplateError(
        f"no token is trained on: train_on={settings.train_on!r} picks no message with text",
        remedy=f"pass a role that is there ({roles}), or train_on=None for ids alone",
    )
