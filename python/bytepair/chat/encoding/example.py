"""Messages -> ids and labels: one conversation as a training example.

The file is long because the options of a call, its result and the steps between them belong together; `extending` uses
the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytepair import _core
from bytepair.call.post_processing import post_processor
from bytepair.chat.batches.columns import IGNORED
from bytepair.chat.encoding import labels as labelling
from bytepair.chat.encoding import reserved
from bytepair.chat.encoding.turns import Turns
from bytepair.chat.rendering.render import render, template_of
from bytepair.drawing.display import draw
from bytepair.errors import LimitError, TemplateError
from bytepair.formats.native import fingerprint_of

if TYPE_CHECKING:
    import datetime
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from bytepair.chat.encoding.cache import EncodingCache
    from bytepair.chat.encoding.labels import Interval, Trained, TrainOn
    from bytepair.chat.encoding.reserved import Policy
    from bytepair.chat.limits import Limits
    from bytepair.chat.rendering.spans import Rendered, Span
    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer

    Ints = NDArray[np.int64]
    Places = NDArray[np.int32] | NDArray[np.int64]


_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model", "ipython", "observation")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The arguments of `Tokenizer.encode_chat`, kept so that an example can be extended."""

    template: Template | str
    tools: Any = None
    documents: Any = None
    variables: Mapping[str, Any] | None = None
    add_generation_prompt: bool = False
    continue_final_message: bool | str = False
    train_on: TrainOn = "assistant"
    train_end: bool = True
    train_marks: bool = True
    policy: Policy = "reject"
    reserve: str | Collection[str] = ()
    end_of_turn: str | Collection[str] | None = None
    add_special_tokens: bool = False
    max_length: int | None = None
    truncation: str | None = "right"
    now: datetime.datetime | None = None
    limits: Limits | None = None

    def check(self) -> None:
        """Raise ValueError for an option that is unknown or out of range."""
        if self.policy not in reserved.POLICIES:
            raise ValueError(f"policy={self.policy!r} is unknown; use {', '.join(map(repr, reserved.POLICIES))}")
        if self.truncation not in ("left", "right", None):
            raise ValueError(
                f'truncation={self.truncation!r} is unknown; use "left", "right", or None to raise an error'
            )
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length={self.max_length} is less than 1")

    @property
    def others(self) -> dict[str, Any]:
        """The template's inputs besides messages, by name."""
        from bytepair.chat.template import SPECIAL  # noqa: PLC0415 (only a call needs it)

        variables = {name: value for name, value in (self.variables or {}).items() if name not in SPECIAL}
        others = {"tools": self.tools, "documents": self.documents, "variables": variables}
        return {name: value for name, value in others.items() if value}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChatExample:
    """One encoded conversation: ids, labels, and the origin of each token.

    Attributes:
        input_ids: The ids; int64, shape (n,), like all arrays here except `offsets`.
        labels: The ids of trained tokens, -100 elsewhere. They are not shifted: models shift them.
        offsets: The start and end of each token in `text`, in characters; shape (n, 2), int32, or int64 for a text of
            more than 2 GiB.
        rendered: The text and its spans.
        intervals: The trained spans of `text`: start and end in characters.
        trained: The parts of these spans, each with the reason why it is trained.
        reserved: The tokens that content must not become, by name.
        straddling: The indices of labelled tokens that are only partly inside the trained span.
        dropped: The number of tokens that truncation removed.
        differs_at: In an extended example, the index of the first token that differs from encoding all messages at
            once; None if none differs.
        messages: The messages.
        options: The options it was encoded with.
    """

    input_ids: Ints
    labels: Ints
    offsets: Places
    rendered: Rendered
    intervals: tuple[Interval, ...]
    trained: tuple[Trained, ...]
    reserved: Mapping[str, int] = field(repr=False)
    straddling: tuple[int, ...]
    dropped: int = 0
    differs_at: int | None = None
    messages: Sequence[Any] = field(repr=False)
    options: ChatOptions = field(repr=False)

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def text(self) -> str:
        """The whole text, including the part that truncation removed."""
        return self.rendered.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans of `text`, each of one origin."""
        return self.rendered.spans

    @property
    def attention_mask(self) -> Ints:
        """Ones, since an example has no padding; made when asked for."""
        return np.ones(len(self.input_ids), dtype=np.int64)

    @property
    def position_ids(self) -> Ints:
        """0, 1, 2, ...: the positions of an example without padding."""
        return np.arange(len(self.input_ids), dtype=np.int64)

    def reasons(self) -> str:
        """Draw the trained parts of the text and the reason for each, in lines.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"hi": 5}, vocab_size=259, special_tokens=["<|im_start|>", "<|im_end|>"])
            >>> print(tok.encode_chat([{"role": "assistant", "content": "hi"}], "chatml").reasons())
                               (22 characters not trained)
            assistant 0  block hi
            assistant 0  end   <|im_end|>
                               (1 character not trained)
        """
        return draw(self, "chat.reasons")

    def to_dict(self) -> dict[str, list[int]]:
        """Return ``input_ids``, ``attention_mask`` and ``labels`` as lists, for the row of a data set."""
        return {name: getattr(self, name).tolist() for name in ("input_ids", "attention_mask", "labels")}


def encode_chat(
    tok: CompiledTokenizer, messages: Sequence[Any], options: ChatOptions, cache: EncodingCache | None = None
) -> ChatExample:
    """Encode a conversation; see `Tokenizer.encode_chat`."""
    options.check()
    # The example keeps its own copy: the caller may append to the list.
    messages = reserved.copied(list(messages))
    options = replace(
        options,
        tools=reserved.copied(options.tools),
        documents=reserved.copied(options.documents),
        variables=reserved.copied(options.variables),
    )
    safe = rendered_safely(tok, messages, options)
    rendered, parts = safe.rendered, safe.parts
    intervals = labelling.joined((part.start, part.end) for part in parts)
    make = partial(_arrays, tok, safe, intervals, options)
    arrays = make() if cache is None else cache.get_or_make(_key(tok, safe, intervals, options), make)
    example = ChatExample(
        input_ids=arrays["input_ids"],
        labels=arrays["labels"],
        offsets=arrays["offsets"],
        rendered=rendered,
        intervals=tuple(intervals),
        trained=tuple(parts),
        reserved=safe.reserved,
        straddling=tuple(arrays["straddling"].tolist()),
        dropped=int(arrays["dropped"]),
        messages=messages,
        options=options,
    )
    check_trained(example)
    return example


class SafeText(NamedTuple):
    """A rendered text, the parts that are trained, those in which added tokens match, and the reserved tokens."""

    rendered: Rendered
    parts: list[Trained]
    places: list[Interval]
    reserved: dict[str, int]


def rendered_safely(tok: CompiledTokenizer, messages: Sequence[Any], options: ChatOptions) -> SafeText:
    """Render a conversation by its policy for reserved literals, and find what is trained.

    Lone surrogates are always refused.
    """
    reserved.refuse_surrogates(messages, options.others)
    names = reserved.reserved_by(tok, template_of(options.template), options.reserve)
    if options.policy == "reject":
        reserved.refuse(tok, messages, options.others, names.values())
    if options.policy == "escape":
        escape = partial(reserved.escape, tok)
        variables = reserved.rewritten(options.others.get("variables", {}), escape)
        options = replace(
            options,
            tools=reserved.rewritten(options.tools, escape),
            documents=reserved.rewritten(options.documents, escape),
            variables={**(options.variables or {}), **variables},
        )
        messages = reserved.rewritten(messages, escape)
    rendered = _rendered(messages, options)
    places = trusted(rendered)
    more = reserved.written(tok, rendered, places, names)
    names |= more
    ids = frozenset(names.values())
    if options.policy == "reject":
        if more:
            reserved.refuse(tok, messages, options.others, ids)
        reserved.refuse_across(tok, rendered, places, ids)
    if options.policy == "allow":
        places = [(0, len(rendered.text))] if rendered.text else []
    else:
        places = reserved.matching(tok, rendered, places, ids)
    return SafeText(rendered, _trained(messages, rendered, options), places, names)


def _rendered(messages: Sequence[Any], options: ChatOptions) -> Rendered:
    bounds: Any = {} if options.limits is None else {"limits": options.limits}
    return render(
        messages,
        options.template,
        tools=options.tools,
        documents=options.documents,
        add_generation_prompt=options.add_generation_prompt,
        continue_final_message=options.continue_final_message,
        variables=options.variables,
        now=options.now,
        **bounds,
    )


def trusted(rendered: Rendered) -> list[Interval]:
    """The parts of the text that are the template's own.

    The names of common roles are included: some templates build markers from them, as in ``<|user|>``.
    """
    text = rendered.text
    return labelling.joined(
        [
            (span.start, span.end)
            for span in rendered.outline
            if span.kind == "template" or (span.field == "role" and text[span.start : span.end] in _ROLES)
        ]
    )


def _trained(messages: Sequence[Any], rendered: Rendered, options: ChatOptions) -> list[Trained]:
    """The trained parts of the text."""
    chosen = labelling.selected(messages, options.train_on)
    if options.continue_final_message:
        # A message to be continued is a prompt.
        chosen -= {len(messages) - 1}
    if not chosen:
        return []
    turns = turns_of(messages, rendered, options)
    return labelling.trained(rendered, chosen, turns, train_end=options.train_end, train_marks=options.train_marks)


def turns_of(messages: Sequence[Any], rendered: Rendered, options: ChatOptions) -> Turns:
    """The turns of a rendered conversation, found when they are asked for."""
    variables = {**rendered.template.variables, **(options.variables or {})}

    def render_again(messages: Sequence[Any], prompt: bool) -> Rendered:
        return _rendered(messages, replace(options, add_generation_prompt=prompt, continue_final_message=False))

    return Turns(
        rendered,
        messages,
        render_again,
        prompted=options.add_generation_prompt,
        end=labelling.pattern_of(options.end_of_turn),
        eos=labelling.pattern_of(variables.get("eos_token")),
    )


def located(tok: CompiledTokenizer, text: str, places: Sequence[Interval]) -> tuple[Ints, Places]:
    """Encode a text with offsets. Added tokens match inside of `places` alone."""
    ids, offsets = _core.locate_trusted(tok, text, list(places))
    return ids, offsets.reshape(-1, 2)


def label(offsets: Places, ids: Ints, intervals: Sequence[Interval]) -> tuple[Ints, Ints]:
    """The labels, and the indices of labelled tokens only partly inside a trained span."""
    overlap, beyond = labelling.overlapping(offsets, intervals)
    return np.where(overlap, ids, IGNORED), np.flatnonzero(beyond)


def _arrays(
    tok: CompiledTokenizer, safe: SafeText, intervals: Sequence[Interval], options: ChatOptions
) -> dict[str, NDArray[Any]]:
    ids, offsets = located(tok, safe.rendered.text, safe.places)
    before, behind = _around(tok, ids, options)
    room = len(ids)
    if options.max_length is not None:
        room = options.max_length - len(before) - len(behind)
        if room < 1 or (len(ids) > room and options.truncation is None):
            raise LimitError(
                f"{len(ids) + len(before) + len(behind)} tokens are more than max_length={options.max_length}",
                remedy='use a larger max_length, or truncation="right" or "left"',
            )
    keep = slice(max(0, len(ids) - room), None) if options.truncation == "left" else slice(room)
    kept, places = ids[keep], offsets[keep]
    labels, straddling = label(places, kept, intervals)
    dropped = np.array(len(ids) - len(kept))
    if not before and not behind:
        if dropped:
            # A part of an array keeps all of it.
            kept, places = kept.copy(), places.copy()
        return {"input_ids": kept, "labels": labels, "offsets": places, "straddling": straddling, "dropped": dropped}
    nothing = np.full(len(before) + len(behind), IGNORED, dtype=np.int64)
    end = len(safe.rendered.text)
    at = np.array([(0, 0)] * len(before) + [(end, end)] * len(behind), dtype=places.dtype).reshape(-1, 2)
    split = len(before)
    return {
        "input_ids": np.concatenate([np.array(before, dtype=np.int64), kept, np.array(behind, dtype=np.int64)]),
        "labels": np.concatenate([nothing[:split], labels, nothing[split:]]),
        "offsets": np.concatenate([at[:split], places, at[split:]]),
        "straddling": straddling + split,
        "dropped": dropped,
    }


def _around(tok: CompiledTokenizer, ids: Ints, options: ChatOptions) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that the post-processor adds before and after, if requested."""
    if not options.add_special_tokens:
        return (), ()
    parts = post_processor(tok).layout(pair=False, add=True)
    text = next(row for row, part in enumerate(parts) if part.sequence == 0)
    before = tuple(id for part in parts[:text] for id in part.ids)
    behind = tuple(id for part in parts[text + 1 :] for id in part.ids)
    if (before and tuple(ids[: len(before)]) == before) or (behind and tuple(ids[-len(behind) :]) == behind):
        raise TemplateError(
            "the template already writes the special tokens that the post-processor adds",
            remedy="leave add_special_tokens=False",
        )
    return before, behind


def _key(tok: CompiledTokenizer, safe: SafeText, intervals: Sequence[Interval], options: ChatOptions) -> str:
    from bytepair.chat.encoding.cache import EncodingCache  # noqa: PLC0415 (only a call with a cache needs it)

    return EncodingCache.key(
        tokenizer=fingerprint_of(tok),
        template=safe.rendered.template.hash,
        policy=options.policy,
        add_special_tokens=options.add_special_tokens,
        training=tuple(intervals),
        truncation=None if options.max_length is None else (options.truncation, options.max_length),
        text=safe.rendered.text,
        spans=tuple(safe.places),
    )


def check_trained(example: ChatExample) -> None:
    """Refuse an example without a label: no selected message has text, or truncation removed all labels."""
    options = example.options
    if options.train_on is None or (example.labels != IGNORED).any():
        return
    if example.intervals and example.dropped:
        raise LimitError(
            f"truncation to max_length={options.max_length} removes every labelled token",
            remedy=f'use a larger max_length, or truncation="{"left" if options.truncation == "right" else "right"}"',
        )
    roles = ", ".join(dict.fromkeys(repr(message.get("role")) for message in example.messages))
    raise TemplateError(
        f"no token is trained on: train_on={options.train_on!r} selects no message with text",
        remedy=f"pass a role of the messages ({roles}), or train_on=None for ids without labels",
    )
