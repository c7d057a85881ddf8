"""Turns: which part of a rendered text a message causes, and which part of that its author writes.

A text alone does not tell where a turn begins and ends, and a template may write a field of one message in the turn of
another. So the conversation is rendered again: without what follows a message, with the prompt for generation in place
of it, and with other content in place of its own. The texts are compared mark by mark. One rendering serves all
messages of the same shape whose text agrees with it.

The file is long because the beginning and the end of a turn are decided by the same comparisons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise, product, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.chat.rendering.spans import Rendered, Span

# Fields that head a turn: the model receives them and does not write them.
_HEADS = ("role", "name")
MODELS = ("assistant", "model")
"""The roles that a prompt for generation is for."""
_MARK = r"<[^<>\s]{1,80}>|\[[^\[\]\s]{1,80}\]"
_MARKS = re.compile(_MARK)
_ATOMS = re.compile(f"{_MARK}|.", re.DOTALL)
# The depth of ``tool_calls/0/function/arguments``: what is below it is one group, whatever the arguments are.
_ARGUMENTS = 4
_PROBE = "x"
_PROBES: tuple[Any, ...] = (_PROBE, [{"type": "text", "text": _PROBE}])


@dataclass(frozen=True, slots=True)
class Turn:
    """The part of a text that a message causes, in intervals of characters.

    Attributes:
        message: The index of the message.
        fields: Its fields without role and name, in order; a field that another turn repeats is in that turn.
        marks: The template's own text between them that the message's author writes.
        end: The mark that ends the turn; None if there is none.
        tail: The template's text after its last field if the conversation ended there; "" if it cannot be known.
    """

    message: int
    fields: tuple[tuple[int, int, str], ...]
    marks: tuple[tuple[int, int], ...]
    end: tuple[int, int] | None
    tail: str = ""

    def without(self, start: int, end: int) -> Turn:
        """The turn in the text without the characters of its last field."""

        def moved(place: int) -> int:
            return place if place <= start else place - (end - start)

        return replace(
            self,
            fields=tuple((moved(first), moved(last), field) for first, last, field in self.fields),
            marks=tuple((moved(first), moved(last)) for first, last in self.marks),
            end=self.end and (moved(self.end[0]), moved(self.end[1])),
        )


class _Group(NamedTuple):
    """Adjacent spans of one field: its name, and the first and last row."""

    field: str
    first: int
    last: int


class _Shape(NamedTuple):
    """A turn at the end of a conversation: its fields, and the template's text after each."""

    fields: tuple[str, ...]
    tails: tuple[str, ...]


class Turns:
    """Finds the turns of one rendered conversation.

    Args:
        rendered: The text and its spans.
        messages: The messages that it was rendered from.
        render: Renders messages with the same options, with or without the prompt for generation.
        prompted: Whether the text ends with a prompt for generation.
        end: A pattern for the ends of turns that the caller names; None to find them.
        eos: A pattern for the template's own eos token, for templates that end turns only between two of them.
    """

    def __init__(
        self,
        rendered: Rendered,
        messages: Sequence[Any],
        render: Callable[[Sequence[Any], bool], Rendered],
        *,
        prompted: bool,
        end: re.Pattern[str] | None,
        eos: re.Pattern[str] | None,
    ) -> None:
        self._rendered = rendered
        self._messages = messages
        self._render = render
        self._prompted = prompted
        self._end = end
        self._eos = eos
        # Some templates take parts only.
        has_parts = all(isinstance(message.get("content"), list) for message in messages if message.get("content"))
        self._contents = _PROBES[::-1] if has_parts else _PROBES
        self._rows: dict[int | None, list[int]] = {}
        for row, span in enumerate(rendered.outline):
            self._rows.setdefault(span.message, []).append(row)
        self._shapes: dict[Any, _Shape | None] = {}
        self._settled: set[Any] = set()
        self._prompts: dict[Any, str | None] = {}
        self._prompted_of: dict[Any, int] = {}
        # The shapes whose prompt is that of another conversation, since the template refuses theirs.
        self._probed: set[Any] = set()
        self._marks: dict[Any, str | None] = {}

    def of(self, number: int, *, marks: bool = True) -> Turn | None:
        """The turn of a message; None if the text has nothing of it.

        Args:
            number: The index of the message.
            marks: Whether to find the text before and between its fields, too.

        Raises:
            TemplateError: Where the turn begins or ends cannot be known.
        """
        groups = _groups(self._rendered, self._rows.get(number, ()))
        self._check_written(number)
        if not self._messages[number].get("tool_calls") and not self._writes_content(number):
            turn = self._without_content(number, marks=marks)
            if turn or not groups:
                return turn
        shape = self._shape(number, groups)
        own = _matched(groups, shape) if shape else _before_others(self._rendered, groups, number)
        if not own:
            raise TemplateError(
                f"message {number} is in the text, but not where it would be at the end of the conversation",
                remedy="leave it out with train_on=, or use a template that writes each message in its own turn",
            )
        between, end = self._ended(number, shape, own)
        spans = self._rendered.outline
        at = spans[own[0][0].first].start
        before = [(self._start(number, own[0][0].first), at)] if marks else []
        fields = tuple(
            (spans[row].start, spans[row].end, spans[row].field or "")
            for group, _ in own
            for row in range(group.first, group.last + 1)
            if spans[row].message == number
        )
        written = [(start, stop) for start, stop in (*before, *between) if marks and start < stop]
        return Turn(number, fields, tuple(written), end, shape.tails[own[-1][1]] if shape else "")

    def _writes_content(self, number: int) -> bool:
        spans = self._rendered.outline
        return any(_is_written(spans[row]) and _top(spans[row]) == "content" for row in self._rows.get(number, ()))

    def _without_content(self, number: int, *, marks: bool) -> Turn | None:
        """The turn of a message of empty content: that of a letter, if the text is the same but for the letter."""
        for last, content in product((len(self._messages), number + 1), _PROBES):
            # A letter can change what follows: then the conversation up to the message has to do.
            is_whole = last == len(self._messages)
            prompt = self._prompted and is_whole
            messages = [*self._messages[:last]]
            before = self._rendered if is_whole else self._try(messages, prompt=False)
            messages[number] = {**messages[number], "content": content}
            rendered = self._try(messages, prompt=prompt)
            if rendered is None or before is None or not self._rendered.text.startswith(before.text.rstrip()):
                continue
            turns = Turns(rendered, messages, self._render, prompted=prompt, end=self._end, eos=self._eos)
            groups = _groups(rendered, turns._rows.get(number, ()))
            span = rendered.outline[groups[-1].last] if groups else None
            if (
                span
                and _top(span) == "content"
                and rendered.text[: span.start] + rendered.text[span.end :] == before.text
            ):
                turn = turns.of(number, marks=marks)
                return turn and (None if self._is_left_out(number, turn) else turn.without(span.start, span.end))
        return None

    def _is_left_out(self, number: int, turn: Turn) -> bool:
        """Whether a template leaves out a message without text, whose turn has none but a letter."""
        if turn.end or turn.tail or turn.marks or len(turn.fields) > 1:
            return False
        others = self._try([*self._messages[:number], *self._messages[number + 1 :]], prompt=self._prompted)
        return others is not None and others.text == self._rendered.text

    def _check_written(self, number: int) -> None:
        """Raise TemplateError if the template leaves out a call of a message, or all of it."""
        spans = self._rendered.outline
        paths = [(spans[row].field or "").split("/") for row in self._rows.get(number, ())]
        found = {path[0] for path in paths} - {*_HEADS}
        message = self._messages[number]
        missing = "tool_calls" if message.get("tool_calls") and "tool_calls" not in found else "content"
        if missing == "tool_calls" or (message.get("content") and not found):
            raise TemplateError(
                f"the template writes nothing of the {missing} of message {number}, which is to be trained",
                remedy="use a template that writes it, or leave the message out with train_on=",
            )
        # A list of calls that is written whole has no number.
        calls = {path[1] if path[1:] else None for path in paths if path[0] == "tool_calls"}
        left = [at for at in range(len(message.get("tool_calls") or ())) if str(at) not in calls]
        if left and calls and None not in calls:
            raise TemplateError(
                f"the template writes nothing of call {left[0]} of message {number}, which is to be trained",
                remedy="give each call a message of its own, use a template that writes all calls of a message, "
                "or leave the message out with train_on=",
            )

    # The end of a turn.

    def _shape(self, number: int, groups: Sequence[_Group]) -> _Shape | None:
        """The turn as the end of a conversation; None if the template refuses such a conversation."""
        key = (tuple(group.field for group in groups), *self._neighbours(number), frozenset(self._messages[number]))
        known = self._shapes.get(key)
        if known and (key in self._settled or self._agrees(known, groups)):
            return known
        found = self._shapes[key] = self._shape_of(number)
        if found == known:
            # Twice the same, though the text here differs from it: history is written in another way.
            self._settled.add(key)
        return found

    def _neighbours(self, number: int) -> tuple[Any, ...]:
        roles = [message.get("role") for message in self._messages[max(0, number - 1) : number + 2]]
        return (number == 0, *roles)

    def _agrees(self, shape: _Shape, groups: Sequence[_Group]) -> bool:
        own = _matched(groups, shape)
        if not own:
            return False
        group, at = own[-1]
        return _behind(self._rendered, group.last).startswith(shape.tails[at].rstrip())

    def _shape_of(self, number: int) -> _Shape | None:
        if number == len(self._messages) - 1 and not self._prompted:
            rendered: Rendered | None = self._rendered
        else:
            rendered = self._try(self._messages[: number + 1], prompt=False)
        if rendered is None:
            if self._end is None and self._is_model(number):
                raise TemplateError(
                    f"the template refuses the conversation up to message {number}, so the end of that turn is unknown",
                    remedy="pass end_of_turn=, or leave the message out with train_on=",
                )
            return None
        rows = [row for row, span in enumerate(rendered.outline) if span.message == number]
        groups = _groups(rendered, rows)
        tails = [_behind(rendered, group.last) for group in groups]
        # A system message that is moved to the front, or has tools behind it, does not end what it is in.
        own = (number, None) if self._is_model(number) else (number,)
        behind = rendered.outline[groups[-1].last + 1 :] if groups else ()
        others = (span for span in behind if span.kind == "content" and span.message not in own)
        if any(_is_written(span) or (span.message is not None and span.message < number) for span in others):
            tails[-1] = ""
        return _Shape(tuple(group.field for group in groups), tuple(tails))

    def _ended(
        self, number: int, shape: _Shape | None, own: Sequence[tuple[_Group, int]]
    ) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
        """The marks after the first field of a turn, and its end."""
        spans = self._rendered.outline
        marks = []
        for (group, at), (following, _) in pairwise(own):
            marks += _inside(self._rendered, group)
            left, right = spans[group.last].end, spans[following.first].start
            if _is_apart(self._rendered, group.last, following.first):
                tail = shape.tails[at] if shape else ""
                right = left + common(tail, _behind(self._rendered, group.last))
            marks.append((left, right))
        group, at = own[-1]
        marks += _inside(self._rendered, group)
        left = spans[group.last].end
        gap = _behind(self._rendered, group.last)
        if self._end is not None:
            found = self._end.search(self._before_next(number, gap))
            if not found:
                return marks, None
            return [*marks, (left, left + found.start())], (left + found.start(), left + found.end())
        said = self._rendered.text[spans[group.first].start : left]
        closing, mark = self._closing(number, said, shape.tails[at] if shape else "", gap)
        cut = left + len(closing) - len(mark)
        return [*marks, (left, cut)], (cut, cut + len(mark)) if mark else None

    def _before_next(self, number: int, gap: str) -> str:
        """The text behind a turn, up to the header of the next message if that is empty and nothing of it is there."""
        following = self._messages[number + 1 : number + 2]
        rows = self._rows.get(number + 1, ())
        has_place = any(_top(self._rendered.outline[row]) not in _HEADS for row in rows)
        if has_place or not following or following[0].get("content") or following[0].get("tool_calls"):
            return gap
        probe = self._try_probe(number + 1, following[0].get("role"))
        tail = None if probe is None else _tail_of(probe, number)
        return tail if tail is not None and gap.startswith(tail) else gap

    def _closing(self, number: int, said: str, tail: str, gap: str) -> tuple[str, str]:
        """The text that closes a turn, and the mark at its end.

        Args:
            number: The message.
            said: Its last field.
            tail: The text after the message at the end of a conversation.
            gap: The text after it here.
        """
        if not tail.strip():
            found = self._eos.search(gap) if self._eos else None
            between = found[0] if found else self._mark_between(number)
            at = gap.find(between) if between else -1
            return (gap[: at + len(between)], between) if at >= 0 else ("", "")
        closing = tail[: common(tail, gap)].rstrip()
        marks: list[str] = _MARKS.findall(closing)
        last = marks[-1] if marks and closing.endswith(marks[-1]) else ""
        content = _last_text(self._messages[number].get("content"))
        named = {name for name, value in self._messages[number].items() if value}
        # A template may write the reasoning in a content at another place.
        is_whole = content is None or content.strip() == said.strip()
        has_only_content = named <= {"role", "name", "content"} and is_whole and closing == tail.rstrip()
        if not closing or (has_only_content and (len(marks) == 1 if last else gap != tail)):
            return closing, last or closing
        mark = self._end_mark(number)
        if mark is None:
            return closing, last or closing
        at = closing.find(mark) if mark else -1
        if at >= 0:
            return closing[: at + len(mark)], mark
        # A turn of another kind ends with another mark, as that of a call in harmony.
        return closing, last if mark and closing == tail.rstrip() else ""

    def _end_mark(self, number: int) -> str | None:
        """The mark after an assistant's content, also if others follow; "" without one, None if it cannot be known."""
        role = self._messages[number].get("role")
        if role not in self._marks:
            last = self._try_probe(number, role)
            tail = None if last is None else _tail_of(last, number)
            more = self._try_probe(number, role, "user")
            following = None if more is None else _tail_of(more, number)
            shared = tail[: common(tail, following)] if tail and following else ""
            # The text behind a conversation can begin as the next turn does, which is not the end of this one.
            if tail and following and tail[len(shared) :].strip() and len(_MARKS.findall(shared)) > 1:
                following = self._before_header(following)
                if following is None:
                    raise TemplateError(
                        "the template writes more behind every conversation, so where the turn of "
                        f"message {number} ends cannot be known",
                        remedy="pass end_of_turn=, or leave the message out with train_on=",
                    )
            self._marks[role] = _last_mark(tail, following)
        return self._marks[role]

    def _mark_between(self, number: int) -> str:
        """The mark between an answer and a user's header, where none ends a conversation; "" without one."""
        role = self._messages[number].get("role")
        if not self._is_model(number):
            return ""
        if (role, "user") not in self._marks:
            more = self._try_probe(number, role, "user")
            ours, theirs = self._before_users((more and _tail_of(more, number)) or "")
            shared = _shared_end(ours, theirs)
            # The header has a mark: without one, what is shared can be a line end behind two different ones.
            is_header = any(map(_MARKS.fullmatch, ours[len(ours) - shared :]))
            marks = [atom for atom in ours[: len(ours) - shared] if is_header and _MARKS.fullmatch(atom)]
            self._marks[role, "user"] = marks[-1] if marks else ""
        return self._marks[role, "user"] or ""

    def _before_header(self, following: str) -> str | None:
        """The text between an answer and a message of a user without the header of that; None if it cannot be known.

        The header stands before the first message of a conversation, too. There a preamble can end as a turn does; but
        a mark that begins the text ends nothing.
        """
        ours, theirs = self._before_users(following)
        shared = _shared_end(ours, theirs)
        cut = len(ours) - shared
        if _MARKS.sub("", "".join(theirs[: len(theirs) - shared])).strip():
            leading = [*takewhile(lambda atom: _MARKS.fullmatch(atom) or not atom.strip(), theirs)]
            cut = next((at for at in range(cut, len(ours)) if ours[at].strip() and ours[at] in leading), 0)
        return "".join(ours[:cut]) if shared and cut else None

    def _before_users(self, following: str) -> tuple[list[str], list[str]]:
        """The text before a user's message that follows another one, and before one that comes first; in atoms."""
        first = self._try_probe(0, "user")
        spans = () if first is None else first.outline
        start = next((span.start for span in spans if span.message == 0 and _is_written(span)), None)
        if first is None or start is None:
            return [], []
        return _ATOMS.findall(following), _ATOMS.findall(first.text[:start])

    # The beginning of a turn.

    def _start(self, number: int, row: int) -> int:
        """Where the author of a message begins to write, before its first field."""
        spans, text = self._rendered.outline, self._rendered.text
        first = spans[row].start
        if not self._is_model(number):
            return first
        before = row
        heads = None
        while before > 0 and (not _is_written(spans[before - 1]) or spans[before - 1].message == number):
            before -= 1
            if (
                spans[before].message == number
                and _top(spans[before]) in _HEADS
                and spans[before].start < spans[before].end
            ):
                heads = max(heads or 0, spans[before].end)
        begin = spans[before - 1].end if before else 0
        gap = text[begin:first]
        if not gap:
            return first
        start = self._prompted_length(number, gap)
        if heads is not None and (start is None or begin + start < heads):
            # The rest of the header is what the prompt has behind the role, too.
            rest, given = text[heads:first], self._prompt(number)
            sizes = [size for size in range(len(rest) + 1) if given.endswith(rest[:size])] if given else [len(rest)]
            start = heads - begin + max(sizes)
        if start is None:
            if not gap.strip():
                return first
            raise TemplateError(
                f"where message {number} begins cannot be known: the prompt for generation is not in {gap[-60:]!r}",
                remedy="leave the message out with train_on=, or pass train_marks=False",
            )
        return begin + start

    def _prompt(self, number: int, *, without: bool = False) -> str | None:
        """The text after the last field before a message, with the prompt for generation or without it.

        None if the template refuses that conversation, and another of one message.
        """
        message = self._messages[number - 1] if number else {}
        names = frozenset(name for name, value in message.items() if value)
        # Behind a message without text, the text reaches back to the one before it.
        rows = (self._rendered.outline[row] for row in self._rows.get(number - 1, ()))
        has_text = any(_is_written(span) and _top(span) not in _HEADS for span in rows)
        shape = (number == 0, message.get("role"), names, None if has_text else number)
        if (shape, without) not in self._prompts:
            # Both texts are those of one conversation, since they are compared with each other.
            number = self._prompted_of.setdefault(shape, number)
            rendered = None if shape in self._probed else self._try(self._messages[:number], prompt=not without)
            if not without and (rendered is None or (number == 0 and not rendered.text)):
                self._probed.add(shape)
            if shape in self._probed:
                rendered = self._try_probe(0, "user", prompt=not without)
            self._prompts[shape, without] = None if rendered is None else _behind_all(rendered)
        return self._prompts[shape, without]

    def _prompted_length(self, number: int, gap: str) -> int | None:
        """The length of the part of a gap that the author of a message is given; None if it cannot be known."""
        prompt = self._prompt(number) or ""
        if gap and common(prompt, gap) == len(gap):
            return len(gap)
        without = self._prompt(number, without=True)
        own = prompt[0 if without is None else common(without, prompt) :]
        length = common(prompt, gap)
        if own.strip():
            if length > len(prompt) - len(own):
                return length
            found = _after_prefix(gap, own)
            if found is not None or not (without or "").strip() or not gap.startswith(without or ""):
                return found
            # History has all but the prompt, as between a result and the call behind it.
        # Without a prompt, a header is what every answer begins with.
        probe = self._try_probe(number, "assistant")
        if probe is None:
            return None
        rows = [row for row, span in enumerate(probe.outline) if span.message == number]
        groups = _groups(probe, rows)
        if not groups:
            return None
        at = groups[0].first
        last = at
        while last > 0 and (not _is_written(probe.outline[last - 1]) or probe.outline[last - 1].message == number):
            last -= 1
        begin = probe.outline[last - 1].end if last else 0
        return max(common(probe.text[begin : probe.outline[at].start], gap), length if gap.startswith(prompt) else 0)

    def _is_model(self, number: int) -> bool:
        return self._messages[number].get("role") in MODELS

    def _try_probe(self, number: int, *roles: Any, prompt: bool = False) -> Rendered | None:
        """The messages up to one, and a letter of each role behind them."""
        for content in self._contents:
            messages = [*self._messages[:number], *({"role": role, "content": content} for role in roles)]
            rendered = self._try(messages, prompt=prompt)
            if rendered is not None:
                return rendered
        return None

    def _try(self, messages: Sequence[Any], *, prompt: bool) -> Rendered | None:
        try:
            return self._render(messages, prompt)
        except TemplateError:
            return None


def _last_text(content: Any) -> str | None:
    """A content, or the text of its last part; None if that is no text."""
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        content = content[-1].get("text")
    return content if isinstance(content, str) else None


def _top(span: Span) -> str:
    return (span.field or "").split("/", 1)[0]


def _ends_empty(one: Span, other: Span) -> bool:
    """Whether the second span is an empty content behind the reasoning, or another part of one content."""
    return _top(other) == "content" and one.field != other.field and _top(one) != "tool_calls"


def _is_written(span: Span) -> bool:
    """Whether it is content, and not empty."""
    return span.kind == "content" and span.start < span.end


def _groups(rendered: Rendered, rows: Sequence[int]) -> list[_Group]:
    """The fields of a message in a text, without role and name. An empty one counts alone, or as the last part."""
    spans = rendered.outline
    fields = [row for row in rows if _top(spans[row]) not in _HEADS]
    rows = [row for row in fields if _is_written(spans[row])] or fields[-1:]
    # What a template writes around an empty part, or content, is before the end of the turn, too.
    if rows and rows[-1] != fields[-1] and _ends_empty(spans[rows[-1]], spans[fields[-1]]):
        rows.append(fields[-1])
    found: list[_Group] = []
    for row in rows:
        path = (spans[row].field or "").split("/")
        name = "/".join(path[:_ARGUMENTS])
        is_deep = len(path) > _ARGUMENTS or (path[0] == "tool_calls" and len(path) == _ARGUMENTS)
        joins = is_deep and path[-1] not in _HEADS and found and found[-1].field == name
        if joins and not _is_apart(rendered, found[-1].last, row):
            found[-1] = found[-1]._replace(last=row)
            continue
        found.append(_Group(name, row, row))
    return found


def _inside(rendered: Rendered, group: _Group) -> list[tuple[int, int]]:
    """The template's text between the spans of a group."""
    spans = rendered.outline
    return [
        (spans[row].start, spans[row].end) for row in range(group.first, group.last) if spans[row].kind == "template"
    ]


def _is_apart(rendered: Rendered, left: int, right: int) -> bool:
    """Whether there is content of others between two spans of a message."""
    spans = rendered.outline
    number = spans[left].message
    return any(_is_written(span) and span.message != number for span in spans[left + 1 : right])


def _matched(groups: Sequence[_Group], shape: _Shape) -> list[tuple[_Group, int]]:
    """The groups that are in the turn itself, each with its place in the shape; others repeat them elsewhere."""
    own = []
    at = 0
    for group in groups:
        if group.field in shape.fields[at:]:
            at = shape.fields.index(group.field, at) + 1
            own.append((group, at - 1))
    if own:
        # History can leave out what a field begins with, such as the reasoning in a content.
        group, at = own[-1]
        while shape.fields[at + 1 : at + 2] == (group.field,):
            at += 1
        own[-1] = (group, at)
        # A content of line ends can be stripped at the end of a conversation, and written before the calls in history.
        first = groups.index(own[0][0])
        own = [(group, own[0][1]) for group in groups[:first] if group.field.split("/")[0] == "content"] + own
    return own


def _before_others(rendered: Rendered, groups: Sequence[_Group], number: int) -> list[tuple[_Group, int]]:
    """The groups before the first field of a later message."""
    later = (
        row
        for row, span in enumerate(rendered.outline)
        if span.message is not None and span.message > number and _is_written(span) and _top(span) not in _HEADS
    )
    first = next(later, len(rendered.outline))
    return [(group, at) for at, group in enumerate(groups) if group.last < first]


def _behind(rendered: Rendered, row: int) -> str:
    """The text after a span, up to the next field of its message or to the content of another one, even if empty."""
    spans = rendered.outline
    number = spans[row].message
    last = row + 1
    while last < len(spans):
        span = spans[last]
        if _is_written(span) and not (span.message == number and _top(span) in _HEADS):
            break
        if span.kind == "content" and span.message not in (number, None):
            break
        last += 1
    return rendered.text[spans[row].end : spans[last].start if last < len(spans) else len(rendered.text)]


def _behind_all(rendered: Rendered) -> str:
    """The text after the last content."""
    return rendered.text[max((span.end for span in rendered.outline if _is_written(span)), default=0) :]


def _tail_of(rendered: Rendered, number: int) -> str | None:
    """The text after the content of a message."""
    rows = [row for row, span in enumerate(rendered.outline) if span.message == number and _top(span) not in _HEADS]
    return _behind(rendered, rows[-1]) if rows else None


def _last_mark(tail: str | None, following: str | None) -> str | None:
    """The mark that ends a turn, by the text after it at the end of a conversation and before a user's message."""
    if tail is None:
        return None
    shared = "" if following is None else tail[: common(tail, following)].rstrip()
    marks: list[str] = _MARKS.findall(shared or tail)
    # What follows the mark in both is the end of the conversation; without a common mark, the first one ends the turn.
    return marks[-1 if shared else 0] if marks else (shared or tail).rstrip()


def common(one: str, other: str) -> int:
    """The length of the common beginning of two texts in whole marks.

    Example:
        >>> common("<|a|>x<think>", "<|a|>x<tool>")
        6
    """
    length = 0
    for left, right in zip(_ATOMS.finditer(one), _ATOMS.finditer(other), strict=False):
        if left[0] != right[0]:
            break
        length = left.end()
    return length


def _shared_end(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How many atoms two texts have in common at their ends."""
    pairs = zip(reversed(ours), reversed(theirs), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _after_prefix(gap: str, prompt: str) -> int | None:
    """The end of the longest beginning of a prompt, of one mark at least, that a text has; None without one."""
    ends = [atom.end() for atom in _ATOMS.finditer(prompt)]
    for end in reversed(ends):
        if not prompt[:end].strip():
            break
        at = gap.rfind(prompt[:end])
        if at >= 0 and (_MARKS.search(prompt[:end]) or end == len(prompt)):
            return at + end
    return None
