"""A picture as a page: the tokens of a text to point at, step through, search and compare.

The page is self-contained and works without a network. It holds its text once as data, and once as plain text for
readers without scripts.
"""

from __future__ import annotations

from html import escape
from operator import sub
from typing import TYPE_CHECKING, Any

from bytepair.drawing.characters import escaped
from bytepair.view.page import page, write_page
from bytepair.view.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STYLES = ("tokens.css",)
"""The styles of the viewer, in addition to the base style."""

SCRIPTS = ("elements.js", "unseen.js", "cells.js", "counts.js", "tree.js", "panel.js", "tokens.js")
"""The scripts of the viewer `bytepair.show(root, picture, options)`, in order."""

_USUAL = (None, False)
"""Values that are left out of the page's data."""


def html(picture: Picture | Mapping[str, Any], *, title: str = "Tokens") -> str:
    """A page of a picture, light or dark by the reader's setting.

    Args:
        picture: A `Picture`, or its ``as_dict()``.
        title: The title: any text.

    Returns:
        HTML: about 15 bytes per token and tokenizer, 60 per vocabulary entry in use, and twice the text.

    Example:
        >>> made = {"1": {"hex": "6869", "rank": 0, "made": [2, 3]}, "2": {"hex": "68"}, "3": {"hex": "69"}}
        >>> tokens = {"name": "mine", "kind": "merges", "ids": [1], "starts": [0], "ends": [2], "pieces": [0]}
        >>> page = html({"text": "hi", "tokenizers": [tokens | {"vocabulary": made}]})
        >>> "<noscript>" in page and "default-src 'none'" in page
        True
    """
    data = dict(picture.as_dict() if isinstance(picture, Picture) else picture)
    plain = escape(_readable(data["text"]))
    body = (
        f'<h1>{escaped(title, 200)}</h1>\n<div id="view"></div>\n'
        f"<noscript><p>This page shows tokens with scripts, which are disabled in this browser. The text:</p>\n"
        f'<pre class="list">\n{plain}</pre></noscript>\n'
    )
    return page(title, body, styles=STYLES, scripts=(*SCRIPTS, "view.js"), data=packed(data))


def save(picture: Picture | Mapping[str, Any], path: str | Path, *, title: str = "Tokens") -> None:
    """Write the page of a picture as `write_page` does; the other arguments are those of `html`."""
    write_page(html(picture, title=title), path)


def packed(picture: Mapping[str, Any]) -> dict[str, Any]:
    """``Picture.as_dict()`` as ``bytepair.unpacked`` of ``cells.js`` reads it.

    Places and pieces are differences from token to token, and vocabulary entries have no default values: a third of the
    JSON.
    """
    return {**picture, "tokenizers": [_packed(tokenizer) for tokenizer in picture["tokenizers"]]}


def _packed(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    starts = tokenizer["starts"]
    return {
        **tokenizer,
        "starts": _steps(starts),
        "ends": list(map(sub, tokenizer["ends"], starts)),
        "pieces": _steps(tokenizer["pieces"]),
        "vocabulary": {
            id: {name: value for name, value in facts.items() if not any(value is usual for usual in _USUAL)}
            for id, facts in tokenizer["vocabulary"].items()
        },
    }


def _steps(values: Sequence[int]) -> list[int]:
    return [*values[:1], *map(sub, values[1:], values)]


def _readable(text: str) -> str:
    """The text in lines, without characters that hide others or that HTML must not have."""
    return text.translate(_INSTEAD)


_INSTEAD = {
    code: f"U+{code:04X}"
    for code in [
        *range(9),
        *range(11, 32),
        *range(127, 160),
        0x61C,
        0x200E,
        0x200F,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
}
"""Control characters and direction overrides; tabs and line ends stay."""
