"""A picture for a terminal: lines of tokens, optionally with ids, boundaries and pieces.

No meaning depends on colour alone, and no control character of a text gets into a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.drawing.characters import show_line
from bytepair.drawing.layout import columns, padded
from bytepair.drawing.wording import plural
from bytepair.view.terminal_rows import LEAST, PIECE, TOKEN, TerminalOptions, TokenRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.view.pictures import Picture, PictureTokens

__all__ = ["LEAST", "TerminalOptions", "lines", "summary", "text"]

_MOST_OF_NAME = 28


def text(picture: Picture, settings: TerminalOptions | None = None) -> str:
    """A picture as lines; as `lines`.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.view.pictures import picture
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> print(text(picture({"mine": tok}, "lower low"), TerminalOptions(ids=True)))
        mine: 4 tokens, 9 characters, 9 bytes, 2.25 bytes per token, 3 distinct ids
        <BLANKLINE>
        low│er │· │low│
        257 258 32 257
        <BLANKLINE>
        │ ends a token; · is a space
    """
    return "\n".join(lines(picture, settings))


def lines(picture: Picture, settings: TerminalOptions | None = None) -> Iterator[str]:
    """A picture as lines of limited width: a summary of each tokenizer, its tokens, and a key to the marks.

    A space is shown as ``·`` except before a letter, other invisible characters by symbols. A line ends after the ``↵``
    of the text. Tokens wider than a line continue on the next one. ``^`` marks tokens that are cut differently from
    those of the first tokenizer (for the first: of any other).

    Yields:
        Lines without newlines. Their only control characters are the escape sequences of colours.

    Raises:
        ValueError: The width is less than 30.

    Time is linear in the tokens.
    """
    settings = settings or TerminalOptions()
    if settings.width < LEAST:
        raise ValueError(f"a line has at least {LEAST} columns, not {settings.width}")
    drawn = [TokenRows(picture, source, settings) for source in picture.sources]
    if settings.by_line and len(drawn) > 1:
        names = [_name(source, settings.width // 2 - 1) for source in picture.sources]
        margin = max(map(columns, names)) + 1
        for source in picture.sources:
            yield from _wrapped(summary(picture, source), settings.width)
        bounds = _common_lines(picture, drawn)
        for number in range(len(bounds[0]) - 1):
            yield ""
            for name, tokens, places in zip(names, drawn, bounds, strict=True):
                head = padded(name, margin)
                for row in tokens.rows(places[number], places[number + 1], settings.width - margin):
                    yield head + row
                    head = " " * margin
    else:
        for number, tokens in enumerate(drawn):
            if number:
                yield ""
            yield from _wrapped(summary(picture, tokens.source), settings.width)
            if tokens.parts:
                yield ""
                yield from tokens.rows(0, len(tokens.parts), settings.width)
    if key := _key(drawn, settings):
        yield ""
        yield from _wrapped(key, settings.width)


def summary(picture: Picture, source: PictureTokens) -> str:
    """The number of tokens, characters and bytes of a text, and their ratio.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.view.pictures import picture
        >>> seen = picture({"mine": bp.train({"low": 5}, vocab_size=258)}, "low low")
        >>> summary(seen, seen.sources[0])
        'mine: 3 tokens, 7 characters, 7 bytes, 2.33 bytes per token, 2 distinct ids'
    """
    size, count = picture.size, len(source)
    facts = [plural(count, "token"), plural(len(picture.text), "character"), plural(size, "byte")]
    if count:
        facts += [f"{size / count:.2f} bytes per token", plural(len(set(source.ids)), "distinct id")]
    return f"{_name(source)}: {', '.join(facts)}"


def _wrapped(line: str, width: int) -> Iterator[str]:
    used, words = -1, list[str]()
    for word in line.split(" "):
        size = columns(word)
        if words and used + 1 + size > width:
            yield " ".join(words)
            used, words = -1, []
        words.append(word)
        used += 1 + size
    yield " ".join(words)


def _name(source: PictureTokens, most: int = _MOST_OF_NAME) -> str:
    """A name cut to a number of columns."""
    name = show_line(source.name, min(most, _MOST_OF_NAME) - 1)
    while columns(name) > most:
        name = name[:-2] + "…"
    return name


def _common_lines(picture: Picture, drawn: Sequence[TokenRows]) -> list[list[int]]:
    """For each tokenizer the parts at which lines of the text begin in all tokenizers."""
    begins: list[dict[int, int]] = []
    for tokens in drawn:
        begins.append({})
        for number, part in enumerate(tokens.parts):
            if part.start and picture.text[part.start - 1] == "\n":
                begins[-1].setdefault(part.start, number)
    common = sorted(set(begins[0]).intersection(*begins[1:]))
    return [
        [0, *(begin[place] for place in common), len(tokens.parts)] for begin, tokens in zip(begins, drawn, strict=True)
    ]


def _key(drawn: Sequence[TokenRows], settings: TerminalOptions) -> str:
    """The key to the marks that occur."""
    looks = {part.look for tokens in drawn for part in tokens.parts}
    marks = {look.mark for look in looks}
    symbols = {shown.characters for look in looks for shown in look.shown() if not shown.is_plain}
    meanings = {
        f"{TOKEN} ends a token": settings.has_boundaries and bool(looks),
        f"{PIECE} ends the last one of a piece": settings.pieces and bool(looks),
        "· is a space": " " in symbols,
        "↵ the end of a line": "\n" in symbols,
        "→ a tab": "\t" in symbols,
        "⟦⟧ is a special token": "special" in marks,
        "⟨⟩ an added token": "added" in marks,
        "× is before text without a token": "gap" in marks,
        "‹e2› is a byte of a character that several tokens share": any(look.before or look.after for look in looks),
        "‹“a”› a token without a character of its own": any(look.instead for look in looks),
        "�‹ff› a byte that is not UTF-8": any(look.replaced for look in looks),
        "^ is where tokens differ": any(tokens.source.differs for tokens in drawn),
    }
    return "; ".join(meaning for meaning, holds in meanings.items() if holds)
