"""A picture as a page: the tokens of a text to point at, step through, search and compare.

The page is whole in itself and works without a network. Its text stands in it once as data, and once as plain text for
a reader without scripts.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from bytepair.drawing.characters import show_line
from bytepair.view.page import page, write_page
from bytepair.view.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STYLES = ("tokens.css",)
"""What a page with the viewer has besides the style of every page."""

SCRIPTS = ("elements.js", "unseen.js", "cells.js", "counts.js", "tree.js", "panel.js", "tokens.js")
"""The viewer: `bytepair.show(root, picture, options)`, in the order in which a page has them."""

_USUAL = (None, False)
"""What need not be said of a token."""


def html(picture: Picture | Mapping[str, Any], *, title: str = "Tokens") -> str:
    """A page of a picture, light or dark as the reader has it.

    Args:
        picture: A `Picture`, or what its ``as_dict()`` is.
        title: What stands above it: any text.

    Returns:
        HTML: about 15 bytes a token and tokenizer, 60 for each token of the vocabulary in use, and twice the text.

    Example:
        >>> made = {"1": {"hex": "6869", "rank": 0, "made": [2, 3]}, "2": {"hex": "68"}, "3": {"hex": "69"}}
        >>> tokens = {"name": "mine", "kind": "merges", "ids": [1], "starts": [0], "ends": [2], "pieces": [0]}
        >>> page = html({"text": "hi", "tokenizers": [tokens | {"vocabulary": made}]})
        >>> "<noscript>" in page and "default-src 'none'" in page
        True
    """
    data = dict(picture.as_dict() if isinstance(picture, Picture) else picture)
    plain = escape(_readable(data["text"]))
    data["tokenizers"] = [_packed(tokenizer) for tokenizer in data["tokenizers"]]
    body = (
        f'<h1>{escape(show_line(title, 200))}</h1>\n<div id="view"></div>\n'
        f"<noscript><p>The tokens are shown by scripts, which this browser does not run. The text:</p>\n"
        f'<pre class="list">\n{plain}</pre></noscript>\n'
    )
    return page(title, body, styles=STYLES, scripts=(*SCRIPTS, "view.js"), data=data)


def save(picture: Picture | Mapping[str, Any], path: str | Path, *, title: str = "Tokens") -> None:
    """Writes the page of a picture, whole or not at all.

    Args:
        picture: As `html` takes it.
        path: The file; one that is there is replaced.
        title: What stands above it.

    Raises:
        ArtifactError: The file cannot be written.
    """
    write_page(html(picture, title=title), path)


def _packed(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """What `view.js` takes: places and pieces as steps from those before, and of each token only what is unusual."""
    starts = tokenizer["starts"]
    return {
        **tokenizer,
        "starts": _steps(starts),
        "ends": [end - start for start, end in zip(starts, tokenizer["ends"], strict=True)],
        "pieces": _steps(tokenizer["pieces"]),
        "vocabulary": {
            id: {name: value for name, value in facts.items() if not any(value is usual for usual in _USUAL)}
            for id, facts in tokenizer["vocabulary"].items()
        },
    }


def _steps(values: Sequence[int]) -> list[int]:
    return [value - before for before, value in zip([0, *values], values, strict=False)]


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
"""Controls, and what turns the direction of a text; tabs and line ends stay."""
