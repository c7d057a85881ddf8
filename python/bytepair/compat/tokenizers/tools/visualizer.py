"""`EncodingVisualizer`: tokens and annotations of a text as HTML, with the elements and classes of ``tokenizers``."""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.compat.tokenizers.encoding import Encoding
    from bytepair.compat.tokenizers.tokenizer import Tokenizer

_STYLE = """
.tokenized-text { width: 100%; padding: 1rem; border: 1px solid #999; line-height: 2; white-space: pre-wrap;
  font-family: sans-serif; color: #1b1b1b; background: #fff; }
.token, .non-token { padding: 2px 0; }
.even-token { background: #dceaf5; }
.odd-token { background: #b5d4ea; }
.multi-token { background: #f3d9b8; }
.special-token { background: #e5c3c8; }
.special-token::before { content: attr(data-stok); }
.annotation { border-bottom: 3px solid currentColor; }
.annotation::before { content: attr(data-label); font-size: 0.7em; margin-right: 4px; }
"""


class Annotation:
    """A labelled part of a text.

    Args:
        start: Its first character.
        end: The character after its last one.
        label: The label.
    """

    def __init__(self, start: int, end: int, label: str) -> None:
        self.start = start
        self.end = end
        self.label = label


class _Place(NamedTuple):
    """What a character belongs to; equal neighbours are one element."""

    annotation: int | None
    token: int | None


class EncodingVisualizer:
    """Shows the tokens of a text, and annotations of it.

    Args:
        tokenizer: The tokenizer.
        default_to_notebook: Whether calls display HTML in a notebook rather than return it; needs IPython.
        annotation_converter: Converts an annotation of another kind to an `Annotation`.

    Raises:
        ImportError: `default_to_notebook` is true without IPython.

    Example:
        >>> from bytepair.compat.tokenizers import Tokenizer, models
        >>> tokenizer = Tokenizer(models.WordLevel({"low": 0, "[UNK]": 1}, unk_token="[UNK]"))
        >>> page = EncodingVisualizer(tokenizer, default_to_notebook=False)("low")
        >>> '<span class="token even-token"  >low</span>' in page
        True
    """

    unk_token_regex: ClassVar[re.Pattern[str]] = re.compile("unk|oov", re.IGNORECASE)
    """Tokens with a match are shown as special."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        default_to_notebook: bool = True,
        annotation_converter: Callable[[Any], Annotation] | None = None,
    ) -> None:
        if default_to_notebook:
            _notebook()
        self.tokenizer = tokenizer
        self.default_to_notebook = default_to_notebook
        self.annotation_coverter = annotation_converter  # As spelled in tokenizers.

    def __call__(
        self, text: str, annotations: Sequence[Any] | None = None, default_to_notebook: bool | None = None
    ) -> str | None:
        """Show a text.

        Args:
            text: The text.
            annotations: Annotations, which do not overlap.
            default_to_notebook: Whether to display the page rather than return it; None for the default.

        Returns:
            The page; None if it is displayed.

        Raises:
            ImportError: There is no IPython to display it.
            IndexError: An annotation is outside of the text.
        """
        shows = self.default_to_notebook if default_to_notebook is None else default_to_notebook
        display = _notebook() if shows else None
        convert = self.annotation_coverter
        made = list(annotations or ()) if convert is None else [convert(each) for each in annotations or ()]
        page = _page(text, self.tokenizer.encode(text), made)
        if display is None:
            return page
        display(page)
        return None

    @staticmethod
    def calculate_label_colors(annotations: Sequence[Annotation]) -> dict[str, str]:
        """A color for each label, in the order of the labels.

        Example:
            >>> EncodingVisualizer.calculate_label_colors([Annotation(0, 1, "b"), Annotation(1, 2, "a")])
            {'a': 'hsl(10,32%,64%)', 'b': 'hsl(137,32%,64%)'}
        """
        labels = sorted({each.label for each in annotations})
        step = max(20, 255 // len(labels)) if labels else 0
        return {label: f"hsl({10 + row * step},32%,64%)" for row, label in enumerate(labels)}


def _notebook() -> Callable[[str], None]:
    try:
        from IPython.display import HTML, display  # type: ignore[import-not-found] # noqa: PLC0415 (optional)
    except ImportError as error:
        raise ImportError("IPython is needed to display a page; default_to_notebook=False returns it") from error

    def show(page: str) -> None:
        display(HTML(page))

    return show


def _page(text: str, encoding: Encoding, annotations: Sequence[Annotation]) -> str:
    tokens: list[list[int]] = [[] for _ in text]
    for number in range(len(encoding.tokens)):
        place = encoding.token_to_chars(number)
        for at in range(*place) if place is not None else ():
            tokens[at].append(number)
    labelled: list[int | None] = [None] * len(text)
    for number, each in enumerate(annotations):
        if not 0 <= each.start <= each.end <= len(text):
            raise IndexError(f"the annotation {each.label!r}, {each.start} to {each.end}, is outside of the text")
        labelled[each.start : each.end] = [number] * (each.end - each.start)
    places = [_Place(labelled[at], tokens[at][0] if tokens[at] else None) for at in range(len(text))]
    colors = EncodingVisualizer.calculate_label_colors(annotations)
    parts = []
    for number, group in groupby(range(len(text)), lambda at: places[at].annotation):
        inner = []
        for token, characters in groupby(group, lambda at: places[at].token):
            row = list(characters)
            inner.append(_span(escape(text[row[0] : row[-1] + 1]), token, encoding, is_shared=len(tokens[row[0]]) > 1))
        if number is not None:
            label = annotations[number].label
            start = f'<span class="annotation" style="color:{colors[label]}" data-label="{escape(label)}">'
            inner = [start, *inner, "</span>"]
        parts += inner
    body = "".join(parts)
    return (
        f"<html><head><style>{_STYLE}</style></head><body>"
        f'<div class="tokenized-text" dir=auto>{body}</div></body></html>'
    )


def _span(shown: str, token: int | None, encoding: Encoding, *, is_shared: bool) -> str:
    """The element of characters of one token, or of none."""
    if token is None:
        return f'<span class="non-token"  >{shown}</span>'
    kinds = ["token", *(["multi-token"] if is_shared else []), "odd-token" if token % 2 else "even-token"]
    data = ""
    content = encoding.tokens[token]
    if EncodingVisualizer.unk_token_regex.search(content):
        kinds.append("special-token")
        data = f' data-stok="{escape(content)}"'
    return f'<span class="{" ".join(kinds)}" {data} >{shown}</span>'
