"""One chat as a picture: its tokens, coloured by role, and which of them are trained.

No meaning depends on colour alone: the source of tokens is written before them, and marks show which are trained and
which straddle.
"""

from __future__ import annotations

import sys
from collections import Counter
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from bytepair.drawing.characters import escaped, marked, show, show_line
from bytepair.drawing.layout import is_coloured
from bytepair.drawing.wording import plural
from bytepair.view.chat_tokens import ChatCell, ChatGap, cells, instead, name
from bytepair.view.page import page, write_page
from bytepair.view.spelling import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from bytepair.chat.encoding.example import ChatExample
    from bytepair.tokenizer import Tokenizer

_COLOURS = {"system": 1, "user": 2, "assistant": 3, "tool": 4}
"""The colours of roles that many chats have; others take the rest in turn."""

_REST = (5, 6, 7)

_ANSI = {0: "2", 1: "35", 2: "34", 3: "32", 4: "33", 5: "31", 6: "36", 7: "93"}

_MOST_OF_GAP = 200
"""The most characters without a token that are shown."""

_MOST_LISTED = 50
"""The most straddling tokens that are listed; all are marked."""

_KEY = """<p><span class="t y">trained</span> tokens are underlined;
<span class="t s">straddling</span> tokens, which cover two sources at once, have a dashed frame.
<span class="t"><i>·</i></span> is a space,
<span class="t"><i>‹e2 82›</i></span> the bytes of a token that is a part of a character,
<span class="u">this</span> text without a token. Point at a token, or tap it, for details.</p>
"""

_LINE_END = "<br></span>"

_BLOCK = 500
"""Tokens of a block, which a browser lays out when it comes into view."""


def html(example: ChatExample, tokenizer: Tokenizer, *, title: str = "A chat as tokens") -> str:
    """A self-contained page of one example: no script, nothing loaded, light or dark by the reader's setting.

    Args:
        example: A `ChatExample`.
        tokenizer: The tokenizer that it was encoded with.
        title: The title.

    Returns:
        HTML: 100 to 200 bytes per token.

    Raises:
        ValueError: The arrays of the example do not match.
        InvalidIdError: The tokenizer has no such id.

    Example:
        >>> import bytepair as bp, numpy as np
        >>> from types import SimpleNamespace as Some
        >>> span = Some(start=0, end=2, kind="content", message=0, role="user", field="content")
        >>> ids = np.array([72, 105])
        >>> example = Some(text="Hi", spans=[span], input_ids=ids, labels=ids, offsets=np.array([[0, 1], [1, 2]]))
        >>> "2 tokens, 2 trained" in html(example, bp.train({"low": 5}, vocab_size=258))
        True
    """
    parts = list(cells(example, tokenizer))
    tokens = [part for part in parts if isinstance(part, ChatCell)]
    colours = _colours(tokens)
    body = [f"<h1>{escaped(title, 200)}</h1>\n<p>{_summary(tokens)}.</p>\n", _legend(tokens, colours)]
    straddling = [cell for cell in tokens if cell.straddles]
    if straddling:
        body.append(_straddling(straddling))
    # White space between these would be shown.
    body.append('<div class="text" dir="ltr">')
    body += _blocks(parts, colours)
    body.append("</div>\n")
    return page(title, "".join(body), styles=["chat.css"])


def save(example: ChatExample, tokenizer: Tokenizer, path: str | Path, *, title: str = "A chat as tokens") -> None:
    """Write the page of an example as `write_page` does; the other arguments are those of `html`."""
    write_page(html(example, tokenizer, title=title), path)


def text(example: ChatExample, tokenizer: Tokenizer, *, stream: TextIO | None = None, width: int = 100) -> str:
    """An example for a terminal: a line for each part, ``*`` for trained parts and ``~`` before straddling tokens.

    Tokens are divided by ``│``. There are colours only if the stream is a terminal and the environment has no
    ``NO_COLOR``.

    Args:
        example: A `ChatExample`.
        tokenizer: The tokenizer that it was encoded with.
        stream: The stream that it will be written to; None for ``sys.stdout``.
        width: The most characters of tokens in a line; a longer token has a line of its own.

    Returns:
        Lines without control characters of the chat.

    Raises:
        ValueError: As `html`.

    Example:
        >>> import bytepair as bp, io, numpy as np
        >>> from types import SimpleNamespace as Some
        >>> span = Some(start=0, end=2, kind="content", message=0, role="user", field="content")
        >>> ids = np.array([72, 105])
        >>> example = Some(text="Hi", spans=[span], input_ids=ids, labels=ids, offsets=np.array([[0, 1], [1, 2]]))
        >>> print(text(example, bp.train({"low": 5}, vocab_size=258), stream=io.StringIO()))
        2 tokens, 2 trained (*), 0 straddling (~)
        user 0 * H│i
    """
    stream = sys.stdout if stream is None else stream
    has_colours = is_coloured(stream)
    parts = list(cells(example, tokenizer))
    tokens = [part for part in parts if isinstance(part, ChatCell)]
    colours = _colours(tokens)
    runs: list[tuple[str, str, list[str], bool]] = []
    used = 0
    for part in parts:
        who, style, shown = _in_terminal(part, colours)
        ends = bool(runs) and runs[-1][3]
        if not runs or ends or runs[-1][:2] != (who, style) or used + len(shown) > width:
            runs.append((who, style, [], False))
            used = 0
        runs[-1][2].append(shown)
        used += len(shown) + 1
        if isinstance(part, ChatCell) and part.shown.endswith("\n"):
            runs[-1] = (*runs[-1][:3], True)
    margin = max((len(who) for who, *_ in runs), default=0)
    lines = [_summary(tokens, " (*)", " (~)")]
    for who, style, shown_tokens, _ in runs:
        line = "│".join(shown_tokens)
        lines.append(f"{who:{margin}} " + (f"\x1b[{style}m{line}\x1b[0m" if has_colours else line))
    return "\n".join(lines)


def reasons(example: ChatExample, *, width: int = 60) -> str:
    """The trained parts of an example and the reason for each, in lines; the rest is counted.

    A line is a call, another field, or text of the template.

    Args:
        example: A `ChatExample`.
        width: The most characters of a part that are shown.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"a": 1}, vocab_size=256)
        >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
        >>> template = "{% for m in messages %}{{ m.role }}: {{ m.content }}</s>{% endfor %}"
        >>> print(reasons(tok.encode_chat(chat, template)))
                             (23 characters not trained)
        assistant 1  content Hello
        assistant 1  end     </s>
    """
    rows: list[tuple[str, str, str]] = []
    at = 0
    # The parts of a call are one line.
    groups = groupby(example.trained, lambda part: (part.message, "/".join((part.field or part.why).split("/")[:2])))
    for (message, why), group in groups:
        parts = list(group)
        start, end = parts[0].start, parts[-1].end
        if start > at:
            rows.append(("", "", _untrained(start - at)))
        head = f"{show_line(str(example.messages[message].get('role') or '?'), 20)} {message}"
        shown = "".join(example.text[part.start : part.end] for part in parts)
        rows.append((head, why, show_line(shown, width)))
        at = end
    if at < len(example.text):
        rows.append(("", "", _untrained(len(example.text) - at)))
    left, right = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return "\n".join(f"{head:{left}}  {why:{right}} {shown}" for head, why, shown in rows)


def _untrained(count: int) -> str:
    return f"({plural(count, 'character')} not trained)"


def _in_terminal(part: ChatCell | ChatGap, colours: dict[tuple[str, str], int]) -> tuple[str, str, str]:
    """The margin, colour and text of a part."""
    if isinstance(part, ChatGap):
        return "(no token)  ", "2", _gap(part)
    who = show_line(part.group, 20) if part.kind == "role" else f"({part.group})"
    message = "" if part.message is None else f" {part.message}"
    style = _ANSI[colours[part.kind, part.group]] + (";1;4" if part.is_trained else "")
    shown = "".join(piece.text for piece in show(part.shown)) or instead(part)
    return f"{who}{message} {'*' if part.is_trained else ' '}", style, "~" * bool(part.straddles) + shown


def _summary(tokens: Sequence[ChatCell], trained: str = "", straddling: str = "") -> str:
    count = sum(cell.is_trained for cell in tokens)
    sides = sum(bool(cell.straddles) for cell in tokens)
    return f"{len(tokens)} tokens, {count} trained{trained}, {sides} straddling{straddling}"


def _colours(tokens: Sequence[ChatCell]) -> dict[tuple[str, str], int]:
    """The colour number of each group, in order of appearance; 0 for the template and added tokens."""
    groups = dict.fromkeys((cell.kind, cell.group) for cell in tokens)
    others = 0
    colours = {}
    for kind, group in groups:
        if kind in {"template", "added"}:
            colours[kind, group] = 0
        elif kind == "role" and group in _COLOURS:
            colours[kind, group] = _COLOURS[group]
        else:
            colours[kind, group] = _REST[others % len(_REST)]
            others += 1
    return colours


def _legend(tokens: Sequence[ChatCell], colours: dict[tuple[str, str], int]) -> str:
    counts = Counter((cell.kind, cell.group) for cell in tokens)
    trained = Counter((cell.kind, cell.group) for cell in tokens if cell.is_trained)
    rows = []
    for key, colour in colours.items():
        group = escaped(key[1] if key[0] == "role" else f"({key[1]})")
        rows.append(_row(f'<span class="t g{colour}">{group}</span>', counts[key], trained[key]))
    return (
        "<table>\n<thead><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in ("from", "tokens", "trained"))
        + "</tr>"
        f"</thead>\n<tbody>\n{''.join(rows)}</tbody>\n"
        f"<tfoot>{_row('all', len(tokens), sum(trained.values()))}</tfoot>\n</table>\n{_KEY}"
    )


def _row(head: str, tokens: int, trained: int) -> str:
    return f'<tr><th scope="row">{head}</th><td>{tokens}</td><td>{trained}</td></tr>\n'


def _straddling(straddling: Sequence[ChatCell]) -> str:
    items = "".join(
        f"<li>token {cell.number}, {escaped(quote(cell.token), 60)}: "
        f"{escaped(' and '.join(cell.straddles), 200)}</li>\n"
        for cell in straddling[:_MOST_LISTED]
    )
    more = len(straddling) - _MOST_LISTED
    rest = f"<li>and {more} more</li>\n" if more > 0 else ""
    return f"<details><summary>Straddling tokens: {len(straddling)}</summary>\n<ol>\n{items}{rest}</ol></details>\n"


def _blocks(parts: Sequence[ChatCell | ChatGap], colours: dict[tuple[str, str], int]) -> Iterator[str]:
    block: list[str] = []
    size = 0
    source: tuple[str, ...] = ()
    for part in parts:
        if isinstance(part, ChatGap):
            block.append(f'<span class="u">{escape(_gap(part))}</span>')
        else:
            here = _source(part)
            if here not in ((), source):
                block.append(f'<b class="w">{escaped(", ".join(here))}</b>')
                source = here
            block.append(_token(part, colours[part.kind, part.group]))
            size += 1
        # A block ends at a line end, if there is one soon.
        if (size >= _BLOCK and block[-1].endswith(_LINE_END)) or size >= 4 * _BLOCK:
            # The end of the block ends the line as well.
            block[-1] = block[-1].replace(_LINE_END, "</span>")
            yield f'<div class="b">{"".join(block)}</div>'
            block, size = [], 0
    if block:
        yield f'<div class="b">{"".join(block)}</div>'


def _source(cell: ChatCell) -> tuple[str, ...]:
    """The label before a run of tokens: role, message, and field unless that is the content."""
    if cell.kind not in {"role", "given"}:
        return ()
    field = (cell.field or "").partition("/")[0]
    who = (cell.group,) if cell.kind == "role" else ()
    message = () if cell.message is None else (f"message {cell.message}",)
    return who + message + ((field,) if field not in {"", "role", "content"} else ())


def _token(cell: ChatCell, colour: int) -> str:
    classes = "t" + (f" g{colour}" if colour else "") + " y" * cell.is_trained + " s" * bool(cell.straddles)
    shown = marked(cell.shown) or f"<i>{escape(instead(cell))}</i>"
    return f'<span class="{classes}" title="{_title(cell)}">{shown}</span>'


def _title(cell: ChatCell) -> str:
    place = f"characters {cell.start} to {cell.end}" if cell.end > cell.start else "from no character"
    facts = [f"id {cell.id}, token {quote(cell.token)}", place, name(cell)]
    if cell.straddles:
        facts.append("straddles " + " and ".join(cell.straddles))
    facts.append("trained" if cell.is_trained else "not trained")
    return "&#10;".join(escaped(fact, 200) for fact in facts)


def _gap(gap: ChatGap) -> str:
    more = len(gap.text) - _MOST_OF_GAP
    return show_line(gap.text, _MOST_OF_GAP) + (f" ({more} more characters)" if more > 0 else "")
