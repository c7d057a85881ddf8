"""Sweep over pictures of texts: ids, places, differences, and that nothing of a text gets into a terminal or page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair import lowlevel
from bytepair.view import interactive, page, terminal
from bytepair.view.pictures import Picture, picture
from bytepair.view.terminal import TerminalOptions
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_FALLEN = re.compile(rb"<0x[0-9A-F]{2}>")
_NOTE = re.compile("‹[^›]*›")


def sweep_pictures(random: random.Random) -> None:
    """A picture is what the tokenizers say, as data, as lines and as a page."""
    toks, letters, said = [], "", []
    for _ in range(random.choice([1, 2, 2, 3])):
        tok, of, kind = drawn.tokenizer(random)
        toks.append(tok)
        said.append(kind)
        letters = letters or of
    named = [(random.choice(["a", "b", "東京" * 20, "</script>", "\x1b[31m"]), tok) for tok in toks]
    for _ in range(4):
        text = drawn.text(random, letters, *toks)
        if not all(drawn.takes(tok, text) for tok in toks):
            continue
        options: dict[str, Any] = {
            "special": random.choice(["allow", "text"]),
            "added": random.choice(["match", "text"]),
        }
        with case(text=text, tokenizers=said, options=options):
            try:
                seen = picture(named, text, **options)
            except bp.EncodeError:
                continue
            check_data(seen, named, text, options)
            check_differs(seen, toks)
            check_lines(random, seen)
            check_page(seen)
    data = random.randbytes(random.randint(0, 12)) + random.choice(
        [b"", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xef\xbf\xbd"]
    )
    data = b"".join(
        random.choices([data, b"a", "é".encode(), b"\xff", b"\xc3", b"\xef\xbf\xbd"], k=random.randint(0, 5))
    )
    with case(data=data, tokenizers=said):
        try:
            seen = picture(named, data)
        except bp.EncodeError:
            return
        check_replaced(seen, data)
        check_lines(random, seen)
        check_page(seen)


def check_data(seen: Picture, named: list[tuple[str, bp.Tokenizer]], text: str, options: dict[str, Any]) -> None:
    """Ids and places are those of the tokenizers, and all is JSON."""
    equal("text", seen.text, text)
    for (name, tok), tokens in zip(named, seen.sources, strict=True):
        equal("name", tokens.name, name)
        equal("fingerprint", tokens.fingerprint, tok.fingerprint)
        equal("ids", list(tokens.ids), tok.encode(text, **options))
        equal("places", list(zip(tokens.starts, tokens.ends, strict=True)), tok.offsets(text, **options))
        equal("pieces", list(tokens.pieces), lowlevel.locate(tok, text, **options)[2])
        added = {token.id: token for token in tok.spec.added_tokens}
        for id, entry in tokens.vocabulary.items():
            equal("a token", entry.token, tok.token_bytes(id))
            equal("added", (entry.added, entry.special), (id in added, id in added and added[id].special))
            if entry.made is not None:
                assert entry.rank is not None, f"{id} is made, and has no rank"
                assert set(entry.made) <= set(tokens.vocabulary), f"{id} is made of what is not there"
        assert set(tokens.ids) <= set(tokens.vocabulary), "ids without an entry"
    data = seen.as_dict()
    assert drawn.same_json(data), "as_dict is no JSON"
    equal("differs of one", all("differs" in one for one in data["tokenizers"]), len(named) > 1)


def _blocks(seen: Picture, number: int, tok: bp.Tokenizer) -> list[tuple[Any, ...] | None]:
    """For each character how what is cut around it is cut: where it is alone, and the tokens that share it."""
    tokens = seen.sources[number]
    found: list[tuple[Any, ...] | None] = [None] * len(seen.text)
    runs: list[list[int]] = []
    places = list(zip(tokens.starts, tokens.ends, strict=True))
    for token, (start, end) in enumerate(places):
        if start == end:
            continue
        if runs and any(places[other][0] < end and start < places[other][1] for other in runs[-1]):
            runs[-1].append(token)
        else:
            runs.append([token])
    for run in runs:
        first, last = min(places[token][0] for token in run), max(places[token][1] for token in run)
        cut: list[tuple[int, int, int]] = []
        for token in run if len(run) > 1 else ():
            bytes_of = tok.token_bytes(tokens.ids[token])
            is_byte = not tok.spec.is_byte_level and _FALLEN.fullmatch(bytes_of)
            cut.append((*places[token], 1 if is_byte else len(bytes_of)))
        found[first:last] = [(first, last, tuple(cut))] * (last - first)
    return found


def check_differs(seen: Picture, toks: list[bp.Tokenizer]) -> None:
    """What differs is each character that is cut otherwise, by the definition."""
    if len(toks) == 1:
        return
    blocks = [_blocks(seen, number, tok) for number, tok in enumerate(toks)]
    others = [
        {at for at, (one, mine) in enumerate(zip(block, blocks[0], strict=True)) if one != mine} for block in blocks[1:]
    ]
    expected = [set().union(*others), *others]
    for tokens, characters in zip(seen.sources, expected, strict=True):
        intervals = tokens.differs
        assert intervals is not None
        equal("ascending", all(a[1] <= b[0] for a, b in pairwise(intervals)), True)
        equal("not empty", all(start < end for start, end in intervals), True)
        equal("differs", {at for start, end in intervals for at in range(start, end)}, characters)


def check_replaced(seen: Picture, data: bytes) -> None:
    """The text with the bytes put back is the data."""
    equal("text of bytes", seen.text, data.decode(errors="replace"))
    wrong = dict(seen.replaced)
    equal("where it was replaced", {seen.text[at] for at in wrong} <= {"\ufffd"}, True)
    equal("bytes", b"".join(wrong.get(at, one.encode()) for at, one in enumerate(seen.text)), data)
    equal("size", seen.size, len(data))


def _columns(line: str) -> int:
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me") or 0x1160 <= ord(c) < 0x1200
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in line
    )


def check_lines(random: random.Random, seen: Picture) -> None:
    """No line is too wide or holds what cannot be seen; what can be is there once."""
    settings = TerminalOptions(
        width=random.choice([30, 31, 40, 80, 100]),
        colour=random.random() < 0.5,
        ids=random.random() < 0.5,
        boundaries=random.choice([None, True, False]),
        pieces=random.random() < 0.3,
        by_line=random.random() < 0.4,
    )
    lines = [_ESCAPE.sub("", line) for line in terminal.lines(seen, settings)]
    with case(settings=settings, lines=lines):
        equal("unseen characters", drawn.unseen("".join(lines), ""), [])
        assert max(map(_columns, lines), default=0) <= settings.width, "a line is too wide"
    if not re.fullmatch("[a-zA-Z0-9 .é日中文,!]*", seen.text) or len(seen.sources) > 1:
        return
    plain = TerminalOptions(width=settings.width, boundaries=False)
    marks = {"⟦", "⟧", "⟨", "⟩", "×"}
    body = "\n".join(terminal.lines(seen, plain)).split("\n\n")
    shown = "" if not seen.sources[0].ids and not seen.text else body[1].replace("\n", "").replace("·", " ")
    shown = "".join(c for c in _NOTE.sub("", shown) if c not in marks)
    equal("what is drawn", shown, seen.text)


def check_page(seen: Picture) -> None:
    """A page is the assets and the data, whatever the text is."""
    html = interactive.html(seen, title=seen.text or "empty")
    found, fixed = drawn.Page(html), drawn.Page(interactive.html(Picture("", seen.sources), title="a"))
    equal("elements", found.elements, fixed.elements)
    data, *scripts = found.texts["script"]
    equal("scripts", scripts, [page.asset(name) for name in (*interactive.SCRIPTS, "view.js")])
    policy = next(
        dict(attributes)["content"]
        for tag, attributes in found.elements
        if tag == "meta" and ("http-equiv", "Content-Security-Policy") in attributes
    )
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in str(policy), "a script without its hash"
    unpacked = json.loads(data)
    for tokenizer in unpacked["tokenizers"]:
        for name in ("starts", "pieces"):
            steps = tokenizer[name]
            tokenizer[name] = [sum(steps[: at + 1]) for at in range(len(steps))]
        tokenizer["ends"] = [start + size for start, size in zip(tokenizer["starts"], tokenizer["ends"], strict=True)]
        usual = {"rank": None, "special": False, "added": False, "score": None, "made": None, "whole": False}
        tokenizer["vocabulary"] = {id: usual | entry for id, entry in tokenizer["vocabulary"].items()}
    equal("data", unpacked, seen.as_dict())
    equal(
        "controls",
        drawn.unseen("".join(found.texts.get("", []) + found.texts["pre"]), "\n\t")
        and [
            c
            for c in drawn.unseen(found.seen, "\n\t")
            if unicodedata.category(c) == "Cc"
            or c in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        ],
        [],
    )
