"""Terminal output: no text is lost, none of it is a control sequence, all of it fits, and marks are true."""

from __future__ import annotations

import io
import re
import unicodedata
from itertools import pairwise, product

import pytest

import bytepair as bp
from bytepair.drawing.layout import columns, is_coloured
from bytepair.view import terminal
from bytepair.view.looks import parts
from bytepair.view.pictures import Picture, picture
from bytepair.view.terminal import TerminalOptions
from tests.view.models import models
from tests.view.test_pictures import texts

COLOUR = re.compile(r"\x1b\[[\d;]*m")

SETTINGS = [
    TerminalOptions(width=width, colour=colour, ids=ids, boundaries=boundaries, pieces=pieces)
    for width, colour, ids, boundaries, pieces in product(
        (30, 100), (False, True), (False, True), (None, True, False), (False, True)
    )
]


def seen(text: str | bytes, *names: str) -> Picture:
    return picture([(name, models()[name]) for name in names], text)


def body(picture: Picture, settings: TerminalOptions) -> list[str]:
    """The lines of the only tokenizer, without its summary and the key."""
    lines = list(terminal.lines(picture, settings))
    blanks = [number for number, line in enumerate(lines) if not line]
    return lines[blanks[0] + 1 : blanks[-1] if len(blanks) > 1 else None] if blanks else []


@pytest.mark.parametrize("name", models())
def test_no_control_character_of_a_text_is_written_and_all_lines_fit(name: str) -> None:
    for number, text in enumerate(texts()):
        settings = SETTINGS[number % len(SETTINGS)]
        for line in terminal.lines(seen(text, name), settings):
            plain = COLOUR.sub("", line)
            assert settings.colour or plain == line
            assert columns(plain) <= settings.width
            assert not {unicodedata.category(one) for one in plain} & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
            assert not line.endswith("\n")


@pytest.mark.parametrize("name", models())
def test_all_that_is_drawn_of_a_token_is_there_and_then_its_boundary(name: str) -> None:
    for text in texts():
        here = seen(text, name)
        wanted = "".join(_bare(part.look) + "│" for part in parts(here, here.sources[0]))
        for width in (30, 100):
            assert "".join(body(here, TerminalOptions(width=width))) == wanted
            coloured = "".join(body(here, TerminalOptions(width=width, colour=True, boundaries=True)))
            assert COLOUR.sub("", coloured) == wanted


def _bare(look: object) -> str:
    from bytepair.view.looks import TokenLook

    assert isinstance(look, TokenLook)
    opening, closing = {"special": "⟦⟧", "added": "⟨⟩", "gap": ("×", ""), "": ("", "")}[look.mark]
    return opening + "".join(shown.text for shown in look.shown()) + closing


def test_colours_alone_divide_what_boundaries_divide() -> None:
    for text in texts():
        here = seen(text, "ranks")
        line = "".join(body(here, TerminalOptions(colour=True, width=10_000)))
        backgrounds = re.findall(r"\x1b\[(?:48;5;(\d+)|1;7|1;4)m", line)
        tokens = list(parts(here, here.sources[0]))
        # A token that goes on in the next line has its background again.
        assert len(backgrounds) >= len(tokens)
        if not any("\n" in part.look.text for part in tokens):
            assert len(backgrounds) == len(tokens)
            assert all(one != other or not one for one, other in pairwise(backgrounds))


def test_ids_stand_below_their_tokens() -> None:
    here = seen("low lower 東京 <|end|>", "ranks")
    drawn, ids = body(here, TerminalOptions(ids=True))
    places = [match.start() for match in re.finditer(r"\d+", ids)]
    assert [int(id) for id in ids.split()] == list(here.sources[0].ids)
    starts, place = [], 0
    for cell in drawn.split("│")[:-1]:
        starts.append(place)
        place += columns(cell) + 1
    assert places == starts
    # Without boundaries ids stay apart.
    assert body(here, TerminalOptions(ids=True, boundaries=False))[1].split() == ids.split()


def test_a_line_of_text_ends_a_line() -> None:
    assert body(seen("a\nb\n\nc", "ranks"), TerminalOptions()) == ["a│↵│", "b│↵│", "↵│", "c│"]
    token = bp.train({"\n    ": 9}, 259, split="none")
    assert body(picture({"a": token}, "x\n    y"), TerminalOptions()) == ["x│↵", "····│y│"]


def test_a_token_that_is_wider_than_a_line_goes_on_in_the_next() -> None:
    long = models()["merges"].with_added_tokens(["東" * 40])
    lines = body(picture({"a": long}, "東" * 40), TerminalOptions(width=31, ids=True))
    assert lines == ["⟨" + "東" * 14, str(long.vocab_size - 1), "東" * 15, "東" * 11 + "⟩│"]


def test_pieces_end_with_a_double_line() -> None:
    here = seen("low <|end|>", "ranks")
    assert body(here, TerminalOptions(pieces=True)) == ["low║·║⟦<|end|>⟧║"]
    assert body(seen("xyz low", "characters"), TerminalOptions(pieces=True))[0].count("║") == 1


def test_what_is_broken_unknown_from_nowhere_or_from_no_token_is_said() -> None:
    assert body(seen("é🦊", "ranks"), TerminalOptions()) == ["é│🦊‹f0›│‹9f›│‹a6›│‹8a›│"]
    assert body(seen(b"a\xff\xe2\x82", "ranks"), TerminalOptions())[0].startswith("a│�‹ff›")
    assert body(seen("low a\u200b", "WordPiece"), TerminalOptions()) == ["low│×·│a│×U+200B│"]
    assert body(seen("€ a", "WordPiece"), TerminalOptions()) == ["⟦€‹“[UNK]”›⟧│×·│a│"]
    assert body(seen("x", "characters"), TerminalOptions()) == ["‹“▁”›│x│"]
    key = "\n".join(terminal.lines(seen(b"\xff \xe2\x82\xac<|end|>", "ranks"), TerminalOptions()))
    for mark in ("│", "·", "⟦⟧", "‹e2›", "�‹ff›"):
        assert f"{mark} " in key.rpartition("\n\n")[2]
    assert "×" not in key


def test_marks_stand_below_tokens_that_differ() -> None:
    here = seen("low lower", "ranks", "merges")
    lines = list(terminal.lines(here, TerminalOptions()))
    assert lines[2:4] == ["low│·│lower│", "      ^^^^^"]
    for source, (drawn, marks) in zip(here.sources, (lines[2:4], lines[6:8]), strict=True):
        assert source.differs
        place = 0
        for number, cell in enumerate(drawn.split("│")[:-1]):
            start, end = source.starts[number], source.ends[number]
            differs = any(first < end and start < last for first, last in source.differs)
            below = marks[place : place + len(cell)]
            assert below.strip() == ("^" * len(cell) if differs else "")
            place += len(cell) + 1
    assert "^ is where tokens differ" in lines[-1]


def test_lines_of_several_tokenizers_are_below_each_other() -> None:
    text = "low\nlower é\n\n\nnew"
    here = seen(text, "ranks", "characters", "WordLevel")
    lines = list(terminal.lines(here, TerminalOptions(by_line=True, width=90)))
    assert [line.partition(":")[0] for line in lines[:3]] == ["ranks", "characters", "WordLevel"]
    assert all(columns(line) <= 90 for line in lines)
    blocks = "\n".join(lines[3:]).strip("\n").split("\n\n")[:-1]
    assert all(re.findall(r"^(\S+) ", block, re.M) == ["ranks", "characters", "WordLevel"] for block in blocks)
    # Characters without a token of their own in one tokenizer cannot be divided there.
    assert [block.count("↵") for block in blocks] == [3, 9, 0]


def test_one_line_each_if_all_have_the_ends_of_lines_as_tokens() -> None:
    here = seen("low\nlower\nnew", "ranks", "merges")
    blocks = list(terminal.lines(here, TerminalOptions(by_line=True)))[3:]
    assert [line for line in blocks if line and "^" not in line][:6] == [
        "ranks  low│↵│",
        "merges low│↵│",
        "ranks  lower│↵│",
        "merges low│e│r│↵│",
        "ranks  new│",
        "merges n│e│w│",
    ]


def test_a_name_controls_nothing() -> None:
    here = picture({"a\x1b[31m\n" + "東" * 40: models()["ranks"], "b": models()["merges"]}, "low lower")
    for by_line in (False, True):
        for line in terminal.lines(here, TerminalOptions(width=30, by_line=by_line)):
            assert "\x1b" not in line
            assert columns(line) <= 30


def test_a_summary_counts_and_an_empty_text_has_nothing() -> None:
    here = seen("low low é", "ranks")
    assert terminal.summary(here, here.sources[0]) == (
        "ranks: 5 tokens, 9 characters, 10 bytes, 2.00 bytes per token, 3 distinct ids"
    )
    assert list(terminal.lines(seen("", "ranks"))) == ["ranks: 0 tokens, 0 characters, 0 bytes"]
    with pytest.raises(ValueError, match="at least 30"):
        list(terminal.lines(here, TerminalOptions(width=29)))


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert is_coloured(_Terminal())
    assert not is_coloured(io.StringIO())
    assert not is_coloured(None)
    assert not is_coloured(_Terminal(), "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_coloured(_Terminal())
    assert is_coloured(io.StringIO(), "always")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not is_coloured(_Terminal())
    with pytest.raises(ValueError, match="'sometimes'"):
        is_coloured(None, "sometimes")


def test_columns_of_what_terminals_agree_on() -> None:
    wanted = {"": 0, "abc": 3, "東京": 4, "ｶﾞ": 2, "Ａ": 2, "e\u0301": 1, "각": 2, "\u1100\u1161\u11a8": 2, "🦊": 2}
    assert {text: columns(text) for text in wanted} == wanted
