"""An `Encoding` as a piece of HTML for notebooks: static, without scripts, in the colours of whatever is around it."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bytepair.formats import byte_alphabet
from bytepair.view.characters import show, show_line
from bytepair.view.parts import cut_off, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.encodings import Encoding

MOST = 1000
"""Tokens that are shown."""

_MOST_OF_TITLE = 80

_MOST_IN_ONE = 30
"""Characters of a token that is not broken at the end of a line."""

# Backgrounds are translucent and lines are of the colour of the text, so that both light and dark notebooks fit.
_STYLE = """<style>
.bytepair-encoding { font: 1em/1.5 system-ui, sans-serif; text-align: left; }
.bytepair-encoding p { margin: .25em 0 .5em; font-size: .9em; }
.bytepair-encoding .tokens { font: .95em/2 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.bytepair-encoding .t { padding: .2em 0; border-right: 1px solid rgba(127, 127, 127, .7); box-decoration-break: clone;
  -webkit-box-decoration-break: clone; background: rgba(66, 133, 244, .22); unicode-bidi: isolate; }
.bytepair-encoding .t1 { background: rgba(52, 168, 83, .22); }
.bytepair-encoding .t2 { background: rgba(251, 140, 0, .25); }
.bytepair-encoding .t3 { background: rgba(171, 71, 188, .22); }
.bytepair-encoding .one { display: inline-block; padding: 0; line-height: 1.6; }
.bytepair-encoding .added { background: none; border: 1px solid; padding: .1em .25em; margin: 0 .15em;
  border-radius: .25em; }
.bytepair-encoding .padding { background: none; border: 1px dashed; padding: .1em .25em; margin: 0 .15em;
  border-radius: .25em; }
.bytepair-encoding .text { font: .8em system-ui, sans-serif; font-weight: bold; margin: 0 .5em 0 .25em; }
.bytepair-encoding i { font-style: normal; opacity: .75; font-size: .85em; }
</style>
"""


def html(encoding: Encoding) -> str:
    """The first thousand tokens of an encoding, and how many more there are.

    Point at a token to see its id, how the vocabulary spells it, its bytes and where it is from. What was added has a
    frame, padding a dashed one, and several texts are numbered.

    Args:
        encoding: What a call of a tokenizer returned.

    Returns:
        HTML for a notebook, whose texts are escaped.

    Example:
        >>> import bytepair as bp
        >>> "3 tokens" in html(bp.train({"low": 5}, vocab_size=258).encoding("low low"))
        True
    """
    sequences = encoding.sequence_ids
    body = []
    for _, run in groupby(_cells(encoding), lambda cell: (cell.kind, cell.token if cell.kind == "padding" else cell)):
        first, *others = run
        sequence = sequences[first.number]
        if encoding.n_sequences > 1 and sequence is not None and sequence not in sequences[: first.number]:
            body.append(f'<span class="text">text {sequence + 1}</span>')
        body.append(_token(encoding, first, 1 + len(others), sequence))
    rest = len(encoding) - MOST
    more = f"<p>and {_count(rest, 'more token')}</p>" if rest > 0 else ""
    return (
        f'{_STYLE}<div class="bytepair-encoding"><p>{_summary(encoding)}</p>'
        f'<div class="tokens" dir="ltr">{"".join(body)}</div>{more}</div>'
    )


class _Cell(NamedTuple):
    """A token, as it is shown.

    Attributes:
        number: Which of the encoding.
        kind: ``"token"``, ``"added"`` or ``"padding"``.
        token: Its bytes; None if the vocabulary spells it in characters.
        shown: The characters that no token before it is from.
        before: The bytes at its start that go on with a character of the token before.
        after: The bytes at its end that begin a character whose others are in the next token.
    """

    number: int
    kind: str
    token: bytes | None
    shown: str
    before: bytes = b""
    after: bytes = b""


def _cells(encoding: Encoding) -> Iterator[_Cell]:
    """The first tokens; those in a row that are bytes are read together."""
    kinds = [
        "padding" if not attended else "added" if special else "token"
        for attended, special in zip(encoding.attention_mask, encoding.special_tokens_mask, strict=True)
    ]
    tokens = [
        byte_alphabet.to_bytes(token) if kind == "token" else None
        for token, kind in zip(encoding.tokens, kinds, strict=True)
    ]
    if not _are_bytes(encoding.tokens, tokens):
        tokens = [None] * len(tokens)
    for is_spelled, run in groupby(range(min(len(tokens), MOST)), lambda number: tokens[number] is None):
        numbers = list(run)
        if is_spelled:
            for number in numbers:
                yield _Cell(number, kinds[number], None, encoding.tokens[number])
            continue
        # A character may end behind the last token that is shown.
        data = b"".join(tokens[number] or b"" for number in (*numbers, numbers[-1] + 1) if number < len(tokens))
        start = 0
        for number in numbers:
            token = tokens[number] or b""
            begin, start = start, start + len(token)
            first, last = _character(data, begin), _character(data, start)
            yield _Cell(number, kinds[number], token, data[first:last].decode(errors="replace"), *cut_off(token))


def _are_bytes(tokens: Sequence[str], read: Sequence[bytes | None]) -> bool:
    """Whether tokens are written in the byte alphabet: whether the bytes that they would be are UTF-8.

    An encoding does not say it. Where only a cut at its ends is not UTF-8, there must be a space or an end of line as
    that alphabet writes it.
    """
    runs = [b"".join(map(bytes, run)) for is_none, run in _runs(read) if not is_none]
    cuts = [cut_off(run) for run in runs]
    if not any(before or after for before, after in cuts):
        return True
    if any(before == run for (before, _), run in zip(cuts, runs, strict=True) if len(run) > 3):
        return False
    inner = [cuts[0][1], *(part for cut in cuts[1:-1] for part in cut), cuts[-1][0]] if len(cuts) > 1 else []
    return not any(inner) and any("\u0120" in token or "\u010a" in token for token in tokens)


def _runs(read: Sequence[bytes | None]) -> Iterator[tuple[bool, Iterator[bytes]]]:
    for is_none, run in groupby(read, lambda token: token is None):
        yield is_none, (token for token in run if token is not None)


def _character(data: bytes, place: int) -> int:
    """The first place from this one on at which no character goes on."""
    while place < len(data) and 0x80 <= data[place] < 0xC0:
        place += 1
    return place


def _token(encoding: Encoding, cell: _Cell, times: int, sequence: int | None) -> str:
    classes = cell.kind if cell.kind != "token" else f"t t{cell.number % 4}"
    shown = f"<i>{escape(note(cell.before))}</i>" if cell.before else ""
    shown += "".join(
        escape(part.text) if not part.stands_for else f"<i>{escape(part.text)}</i>" + "<br>" * (part.stands_for == "\n")
        for part in show(cell.shown)
    )
    shown += f"<i>{escape(note(cell.after))}</i>" if cell.after else ""
    shown += f" × {times:,}" if times > 1 else ""
    # Else the line behind its token would begin the next line of text.
    line_end = "<br>" * shown.endswith("<br>")
    shown = shown.removesuffix("<br>")
    # Else a line could end behind the space that a token begins with.
    classes += " one" * (len(cell.shown) <= _MOST_IN_ONE and "<br>" not in shown)
    return f'<span class="{classes}" title="{_title(encoding, cell, sequence)}">{shown}</span>{line_end}'


def _title(encoding: Encoding, cell: _Cell, sequence: int | None) -> str:
    number = cell.number
    facts = [f"token {number}, id {encoding.ids[number]}", f"spelled {encoding.tokens[number]}"]
    if cell.token is not None:
        facts.append(f"bytes {cell.token[:_MOST_OF_TITLE].hex(' ')}")
    if cell.kind != "token":
        facts.append("added" if cell.kind == "added" else "padding")
    else:
        start, end = encoding.offsets[number]
        facts += [f"offsets {start} to {end}", f"word {encoding.word_ids[number]}"]
        if encoding.n_sequences > 1 and sequence is not None:
            facts.append(f"text {sequence + 1}")
    return "&#10;".join(escape(show_line(fact, _MOST_OF_TITLE)) for fact in facts)


def _summary(encoding: Encoding) -> str:
    padding = encoding.attention_mask.count(0)
    facts = [f"<b>{_count(len(encoding), 'token')}</b>"]
    if added := sum(encoding.special_tokens_mask) - padding:
        facts.append(f"{added:,} of them added")
    if padding:
        facts.append(f"{padding:,} of them padding")
    if encoding.overflowing:
        facts.append(f"{_count(len(encoding.overflowing), 'further row')} in <code>overflowing</code>")
    return ", ".join(facts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)
