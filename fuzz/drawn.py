"""Tokenizers of every kind and texts for them, and what a page must not have, for the sweeps over what is shown."""

from __future__ import annotations

import functools
import json
import tempfile
import unicodedata
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from fuzz import kinds
from fuzz.case import LETTERS, text_of, trained
from fuzz.hostile import hostile_text
from fuzz.models import random_model
from fuzz.pipelines import random_table

if TYPE_CHECKING:
    import random

    from bytepair.call.options import Special

SPECIALS = ("<|end|>", "</script>")
MARKUP = (
    "</script>",
    "<!--",
    "<script>",
    "]]>",
    "&lt;",
    "&#60;",
    '"',
    "'",
    "<b onclick=x>",
    "</pre>",
    "</noscript>",
    "‹",
)
CONTROLS = (
    "\u202e",
    "\u2066",
    "\u0301" * 9,
    "\x00",
    "\x1b[31m",
    "\r\n",
    "\u200d",
    "\ufeff",
    "\ud7ff",
    "東",
    "👩\u200d💻",
)
MOST_IN_A_NAME = 12

Attributes = tuple[tuple[str, str | None], ...]


@functools.cache
def small(name: str) -> bp.Tokenizer:
    """One of the tokenizers that are small enough to be read, and have each step once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_bytes(kinds.FILES[name])
        return bp.Tokenizer(bp.Tokenizer.from_file(path, partial_alphabet=True).spec)


def tokenizer(random: random.Random) -> tuple[bp.Tokenizer, str, str]:
    """A tokenizer, the letters that its texts are of, which are empty for hostile ones, and what it is, to paste."""
    kind = random.choice(["trained", "improper", "table", "table", "small"])
    letters = random.choice(LETTERS)
    if kind == "trained":
        split = random.choice(list(bp.SPLIT_PATTERNS))
        tok = trained(random, letters, split=split, special_tokens=random.choice([(), SPECIALS]))
        if random.random() < 0.3:
            spec = tok.spec.replace(normalizers=(random.choice(["NFC", "NFD", "NFKC", "NFKD"]),))
            tok = bp.Tokenizer(spec)
        return tok, letters, f"trained on {letters!r} with {split}, {len(tok.spec.added_tokens)} added"
    if kind == "improper":
        model = random_model(random)
        shown = {
            token: id for token, id in zip(model.tokens, model.ids, strict=True) if len(token) > 1 or token in b"ab"
        }
        said = f"tokens {shown}, merges {model.merges}, ignore_merges {model.ignore_merges}"
        return bp.Tokenizer(bp.TokenizerSpec(model)), "ab", said
    if kind == "small":
        name = random.choice(list(kinds.FILES))
        return small(name), "lowA x-." if random.random() < 0.6 else "", f"small {name}"
    while True:
        table = random_table(random)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.TokenizerWarning)
            path = Path(folder, "tokenizer.json")
            path.write_text(json.dumps(table, ensure_ascii=False), "utf-8")
            try:
                tok = bp.Tokenizer.from_file(path)
            except bp.FormatError:
                continue
        brief = {key: value for key, value in table["model"].items() if key not in ("vocab", "merges")}
        stages = {key: table[key] for key in ("added_tokens", "normalizer", "pre_tokenizer")}
        return tok, "", json.dumps({**stages, "model": brief}, ensure_ascii=False)


def text(random: random.Random, letters: str, *toks: bp.Tokenizer) -> str:
    """A text: of the letters, or hostile to those who show it."""
    if letters and random.random() < 0.7:
        return text_of(random, letters)
    contents = [token.content for tok in toks for token in tok.spec.added_tokens]
    return hostile_text(random, random.choice([0, 1, 2, 4, 10, 40]), [*MARKUP, *CONTROLS, *contents])


def takes(tok: bp.Tokenizer, text: str, special: Special = "allow") -> bool:
    """Whether a text is one that the tokenizer takes."""
    try:
        tok.encode(text, special=special)
    except bp.EncodeError:
        return False
    return True


class Page(HTMLParser):
    """What a page is: its elements with their attributes in order, and the texts of its scripts, styles and the rest.

    Raises:
        AssertionError: An element is not closed, or is closed and was not open.
    """

    EMPTY = frozenset({"meta", "br", "img", "input", "hr", "link", "wbr"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, Attributes]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins; none has a handler."""
        self.elements.append((tag, tuple(attrs)))
        names = [name for name, _ in attrs]
        assert not any(name.startswith("on") for name in names), f"<{tag}> has a handler: {names}"
        if tag not in self.EMPTY:
            self._open.append(tag)
            if tag in {"script", "style", "pre"}:
                self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that closes itself."""
        self.elements.append((tag, tuple(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """An element ends: the one that was opened last."""
        assert self._open[-1:] == [tag], f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Text."""
        inside = self._open[-1] if self._open else ""
        if inside in {"script", "style", "pre"}:
            self.texts[inside][-1] += data
        else:
            self.texts.setdefault("", []).append(data)

    def handle_comment(self, data: str) -> None:
        """No page has comments."""
        raise AssertionError(f"a comment: {data!r}")

    @property
    def seen(self) -> str:
        """All that a reader sees, and attributes that are read out or shown."""
        read = [value or "" for _, attributes in self.elements for name, value in attributes if name in _READ]
        return "".join([*self.texts.get("", []), *self.texts.get("pre", []), *read])


_READ = {"title", "aria-label", "alt", "content", "href"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def unseen(shown: str, besides: str = "\n") -> list[str]:
    """The characters that control, turn or hide what is around them, but for some."""
    found = {character for character in shown if unicodedata.category(character) in _UNSEEN}
    return sorted(found - set(besides))


def same_json(value: Any) -> bool:
    """Whether JSON holds a value as it is: lists, dicts with keys that are text, numbers."""
    return bool(json.loads(json.dumps(value, allow_nan=False)) == _listed(value))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(inner) for key, inner in value.items()}
    return [_listed(inner) for inner in value] if isinstance(value, (list, tuple)) else value
