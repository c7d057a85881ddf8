"""An `Encoding` as a fragment of HTML for notebooks: static, without scripts, in the notebook's colours."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.characters import escaped, marked
from bytepair.drawing.wording import plural
from bytepair.model import byte_alphabet
from bytepair.view.spelling import cut_off, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.call.encoding import Encoding

MOST = 1000
"""The most tokens that are shown."""

_MOST_OF_TITLE = 80

_MOST_IN_ONE = 30
"""The most characters of a token that is not broken at the end of a line."""

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
    """The first thousand tokens of an encoding, and the number of further ones.

    Point at a token to see its id, its spelling in the vocabulary, its bytes and its offsets. Added tokens have a
    frame, padding a dashed one, and several texts are numbered.

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
    more = f"<p>and {plural(rest, 'more token')}</p>" if rest > 0 else ""
    return (
        f'{_STYLE}<div class="bytepair-encoding"><p>{_summary(encoding)}</p>'
        f'<div class="tokens" dir="ltr">{"".join(body)}</div>{more}</div>'
    )


class _Cell(NamedTuple):
    """A displayed token.

    Attributes:
        number: Its index in the encoding.
        kind: ``"token"``, ``"added"`` or ``"padding"``.
        token: Its bytes; None if the vocabulary spells it in characters.
        shown: The characters that no token before it covers.
        before: The bytes at its start that belong to a character of the token before.
        after: The bytes at its end that belong to a character of the next token.
    """

    number: int
    kind: str
    token: bytes | None
    shown: str
    before: bytes = b""
    after: bytes = b""


def _cells(encoding: Encoding) -> Iterator[_Cell]:
    """The first tokens; the bytes of a word are decoded together."""
    kinds = [
        "padding" if not attended else "added" if special else "token"
        for attended, special in zip(encoding.attention_mask, encoding.special_tokens_mask, strict=True)
    ]
    words = [list(run) for _, run in groupby(range(len(kinds)), lambda place: (kinds[place], encoding.word_ids[place]))]
    for word, tokens in zip(words, _read(encoding.tokens, words, kinds), strict=True):
        if word[0] >= MOST:
            return
        data, start = b"".join(tokens or ()), 0
        each: Sequence[bytes | None] = tokens or [None] * len(word)
        for number, token in zip(word, each, strict=True):
            if number >= MOST:
                return
            if token is None:
                yield _Cell(number, kinds[number], None, encoding.tokens[number])
                continue
            first, last = _character(data, start), _character(data, start + len(token))
            start += len(token)
            yield _Cell(number, kinds[number], token, data[first:last].decode(errors="replace"), *cut_off(token))


def _read(tokens: Sequence[str], words: Sequence[Sequence[int]], kinds: Sequence[str]) -> list[list[bytes] | None]:
    """The bytes of the tokens of each word; None for words that are spelled in characters.

    An encoding does not record which. A word is bytes if the byte alphabet maps it to UTF-8. Truncation may have cut
    through the first or last one; then another word must have characters that only the byte alphabet explains.
    """
    read: list[list[bytes] | None] = []
    cut: list[list[bytes] | None] = []
    is_known = False
    for word in words:
        found = [byte_alphabet.to_bytes(tokens[number]) for number in word if kinds[number] == "token"]
        known = [token for token in found if token is not None]
        data = b"".join(known)
        before, after = cut_off(data)
        is_whole = len(known) == len(word)
        read.append(known if is_whole and not before and not after else None)
        cut.append(known if is_whole and before != data else None)
        is_known = is_known or (read[-1] is not None and not all(tokens[number].isascii() for number in word))
    texts = [place for place, word in enumerate(words) if kinds[word[0]] == "token"]
    if is_known and texts:
        for place in {texts[0], texts[-1]}:
            read[place] = cut[place]
    return read


def _character(data: bytes, place: int) -> int:
    """The first character boundary at or after a place."""
    while place < len(data) and 0x80 <= data[place] < 0xC0:
        place += 1
    return place


def _token(encoding: Encoding, cell: _Cell, times: int, sequence: int | None) -> str:
    classes = cell.kind if cell.kind != "token" else f"t t{cell.number % 4}"
    shown = f"<i>{escape(note(cell.before))}</i>" if cell.before else ""
    shown += marked(cell.shown)
    shown += f"<i>{escape(note(cell.after))}</i>" if cell.after else ""
    shown += f" × {times:,}" if times > 1 else ""
    # Inside the token, its border would be drawn at the start of the next line.
    line_end = "<br>" * shown.endswith("<br>")
    shown = shown.removesuffix("<br>")
    # Otherwise a line could break after the space that a token begins with.
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
    return "&#10;".join(escaped(fact, _MOST_OF_TITLE) for fact in facts)


def _summary(encoding: Encoding) -> str:
    padding = encoding.attention_mask.count(0)
    facts = [f"<b>{plural(len(encoding), 'token')}</b>"]
    if added := sum(encoding.special_tokens_mask) - padding:
        facts.append(f"{added:,} of them added")
    if padding:
        facts.append(f"{padding:,} of them padding")
    if encoding.overflowing:
        facts.append(f"{plural(len(encoding.overflowing), 'further row')} in <code>overflowing</code>")
    return ", ".join(facts)
