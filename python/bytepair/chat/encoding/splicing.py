"""The ids to serve after a sampled turn: those that were served and sampled, and the next messages behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.chat.encoding import reserved
from bytepair.chat.encoding.example import ChatOptions, located, rendered_safely, turns_of
from bytepair.chat.encoding.turns import common
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    import datetime
    from collections.abc import Collection, Mapping, Sequence

    from bytepair.call.options import Ids
    from bytepair.chat.encoding.example import Ints
    from bytepair.chat.encoding.reserved import Policy
    from bytepair.chat.encoding.turns import Turn
    from bytepair.chat.limits import Limits
    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer


@dataclass(frozen=True, slots=True)
class Drift:
    """The first place where ids differ from those of the whole conversation, encoded at once.

    Attributes:
        token: The index of the first different token.
        cause: ``"template"`` if the texts differ, as where a template drops earlier reasoning; ``"special token"`` if
            one side has a special token where the other has text; ``"tokenizer"`` if the text is cut into other tokens.
        served: The text of the ids from there on, 40 characters at most.
        rendered: The same of the conversation.
    """

    token: int
    cause: str
    served: str
    rendered: str


@dataclass(frozen=True, slots=True, eq=False)
class Splice:
    """The result of `splice`.

    Attributes:
        ids: The ids to serve; int64, shape (n,).
        kept: The number of ids that were served and sampled; they are the first ones.
        closed: Whether the end of the sampled turn was added, since the model had not written it.
        drift: The first difference from encoding the whole conversation at once; None without one.
    """

    ids: Ints
    kept: int
    closed: bool
    drift: Drift | None


def splice(
    tok: CompiledTokenizer,
    served: Ids,
    sampled: Ids,
    messages: Sequence[Any],
    following: Sequence[Any],
    *,
    template: Template | str,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    policy: Policy = "reject",
    reserve: str | Collection[str] = (),
    now: datetime.datetime | None = None,
    limits: Limits | None = None,
) -> Splice:
    """Append the next messages and the prompt for generation to ids that were served and sampled.

    The ids stay as they are, also where the template would write the earlier turns in another way now.

    Args:
        tok: The tokenizer.
        served: The ids that the model was served.
        sampled: The ids that it sampled after them.
        messages: The conversation so far; the last message is what was sampled.
        following: The next messages: results of tools, or of the user.
        template: As for `Tokenizer.encode_chat`, like the arguments below.
        tools: As above.
        documents: As above.
        variables: As above.
        policy: As above.
        reserve: As above.
        now: As above.
        limits: As above.

    Raises:
        TemplateError: The last message is not an answer that the template writes, or its end in a longer conversation
            is another one than the model's, so that nothing can follow it.
        ValueError: There is no message on one side.
        SpecialTokenError: As `Tokenizer.encode_chat`.

    Time is linear in the whole text.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"hi": 5}, vocab_size=259, special_tokens=["<|im_start|>", "<|im_end|>"])
        >>> user, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi"}
        >>> prompt = tok.encode_chat([user], "chatml", train_on=None, add_generation_prompt=True).input_ids
        >>> sampled = tok.encode(["h", "i", bp.Control("<|im_end|>")])
        >>> made = bp.chat.splice(tok, prompt, sampled, [user, answer], [user], template="chatml")
        >>> made.kept == len(prompt) + len(sampled), made.drift
        (True, None)
    """
    if not messages or not following:
        raise ValueError("a splice needs a sampled message and a message that follows it")
    settings = ChatOptions(
        template=template,
        tools=tools,
        documents=documents,
        variables=variables,
        add_generation_prompt=True,
        train_on=None,
        policy=policy,
        reserve=reserve,
        now=now,
        limits=limits,
    )
    settings.check()
    everything = reserved.copied([*messages, *following])
    safe = rendered_safely(tok, everything, settings)
    text = safe.rendered.text
    number = len(messages) - 1
    turn = turns_of(everything, safe.rendered, settings).of(number, marks=False)
    if turn is None:
        raise TemplateError(
            f"the template writes nothing of message {number}, which was sampled",
            remedy="pass the message that the model wrote, as the last of messages",
        )
    start, closed = _after(tok.decode(np.asarray(sampled).tolist()), text, turn)
    if turn.end is None and turn.tail.strip() and start == turn.fields[-1][1]:
        raise TemplateError(
            f"in a longer conversation, the template does not end message {number} as the model has to",
            remedy="encode the whole conversation with encode_chat, and serve that",
        )
    behind = [(max(0, left - start), right - start) for left, right in safe.places if right > start]
    fixed = np.concatenate([np.asarray(served, dtype=np.int64), np.asarray(sampled, dtype=np.int64)])
    ids = np.concatenate([fixed, located(tok, text[start:], behind)[0]])
    whole = located(tok, text, safe.places)[0]
    return Splice(ids, len(fixed), closed, _drift(tok, ids, whole))


def _after(said: str, text: str, turn: Turn) -> tuple[int, bool]:
    """Where the text goes on after a sampled turn, and whether the turn has to be closed before."""
    last = turn.fields[-1][1]
    if turn.end is not None:
        start, end = turn.end
        return (end, False) if said.endswith(text[start:end]) else (_overlap(said, text, last), True)
    # Without an end of its own, a turn ends where the model writes the mark of the next one.
    return _overlap(said, text, last), False


def _overlap(said: str, text: str, last: int) -> int:
    """Where a text goes on that ends with a beginning of `text` after `last`."""
    for size in range(min(len(said), len(text) - last), 0, -1):
        beginning = text[last : last + size]
        if said.endswith(beginning) and common(beginning, text[last:]) == size:
            return last + size
    return last


def _drift(tok: CompiledTokenizer, ids: Ints, whole: Ints) -> Drift | None:
    shorter = min(len(ids), len(whole))
    differ = np.flatnonzero(ids[:shorter] != whole[:shorter])
    if not len(differ) and len(ids) == len(whole):
        return None
    at = int(differ[0]) if len(differ) else shorter
    served, rendered = tok.decode(ids[at:].tolist()), tok.decode(whole[at:].tolist())
    special = set(tok.special_tokens.values())
    if served != rendered:
        cause = "template"
    elif {*ids[at : at + 1].tolist(), *whole[at : at + 1].tolist()} & special:
        cause = "special token"
    else:
        cause = "tokenizer"
    return Drift(at, cause, served[:40], rendered[:40])
