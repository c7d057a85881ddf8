"""The methods of traced strings: text like that of ``str``, and origins like those of a slow model."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from bytepair.chat.limits import Budget, Limits
from bytepair.chat.traced import methods
from bytepair.chat.traced.printing import represent, to_json
from bytepair.chat.traced.values import TEMPLATE, Text, TextOrigin, cut, joined, make_list, merged, runs_of

ORIGINS = [TEMPLATE, *(TextOrigin("content", index, "user", "content") for index in range(3))]
LETTERS = "aAbBsSßİΣσﬁ\t\n\r '\"-5ǅ𝒳é.\\\u2028\x1f\ue000"
Marked = list[tuple[str, TextOrigin]]
"""The slow model: each character and where it is from."""


def budget() -> Budget:
    return Budget(Limits(seconds=60))


def made(rng: random.Random, letters: str = LETTERS, most: int = 9) -> str:
    parts: list[str] = []
    for _ in range(rng.randrange(4)):
        text = "".join(rng.choice(letters) for _ in range(rng.randrange(most)))
        origin = rng.choice(ORIGINS)
        parts.append(text if origin is TEMPLATE else Text(text, ((len(text), origin),)))
    return joined(parts)


def marked(text: str) -> Marked:
    origins = [origin for length, origin in runs_of(text) for _ in range(length)]
    assert len(origins) == len(text)
    return list(zip(str.__str__(text), origins, strict=True))


def unmarked(model: Marked) -> str:
    return "".join(character for character, _ in model)


def words(model: Marked, sep: str | None, most: int) -> list[Marked]:
    """`split`, character by character."""
    found: list[Marked] = [[]]
    at = 0
    while at < len(model):
        here = unmarked(model[at:])
        if sep is None:
            if here[0].isspace():
                at += 1
                if found[-1]:
                    found.append([])
                continue
            if 0 <= most < len(found):
                found[-1] = model[at:]
                break
        elif here.startswith(sep) and (most < 0 or len(found) <= most):
            found.append([])
            at += len(sep)
            continue
        found[-1].append(model[at])
        at += 1
    return found if sep is not None or found[-1] else found[:-1]


def replaced(model: Marked, old: str, new: Marked, count: int) -> Marked:
    found: Marked = []
    at = 0
    while at <= len(model):
        if count and unmarked(model[at:]).startswith(old):
            found += new
            count -= 1
            at += len(old)
            if not old:
                found += model[at : at + 1]
                at += 1
        else:
            found += model[at : at + 1]
            at += 1
    return found


def respelled(model: Marked, name: str) -> Marked:
    found: Marked = []
    inside = False
    for at, (character, origin) in enumerate(model):
        if name == "title":
            new = character.lower() if inside else character.title()
            inside = (character + "a").title()[-1] == "a"
        elif name == "capitalize":
            new = character.lower() if at else character.title()
        else:
            new = getattr(character, name)()
        found += [(letter, origin) for letter in new]
    return found


def same(ours: Any, text: str, model: Marked) -> None:
    assert ours == text
    # The lower case of a final sigma depends on its neighbours; the model decides its place.
    assert [origin for _, origin in marked(ours)] == [origin for _, origin in model]


ROUNDS = range(400)


@pytest.mark.parametrize("name", ["upper", "lower", "casefold", "swapcase", "title", "capitalize"])
def test_cases(name: str) -> None:
    rng = random.Random(name)
    for _ in ROUNDS:
        text = made(rng)
        same(methods.METHODS[name](budget(), text), getattr(str, name)(text), respelled(marked(text), name))


def test_pieces() -> None:
    rng = random.Random(1)
    for _ in ROUNDS:
        text = made(rng, "ab \n")
        sep = rng.choice([None, "a", "ab", " ", "b\n"])
        most = rng.choice([-1, -1, 0, 1, 2])
        model = words(marked(text), sep, most)
        pieces = methods.split(budget(), text, sep, most)
        assert list(pieces) == str.split(text, sep, most)
        assert [marked(piece) for piece in pieces] == model
        # From the right: of the text turned round, turned back.
        back = words(marked(text)[::-1], sep and sep[::-1], most)
        pieces = methods.rsplit(budget(), text, sep, most)
        assert list(pieces) == str.rsplit(text, sep, most)
        assert [marked(piece) for piece in pieces] == [piece[::-1] for piece in back[::-1]]


def test_parts_cover_their_text() -> None:
    rng = random.Random(2)
    for _ in ROUNDS:
        text = made(rng)
        lines = methods.splitlines(budget(), text, True)
        assert list(lines) == str.splitlines(text, True)
        assert [pair for line in lines for pair in marked(line)] == marked(text)
        bare = methods.splitlines(budget(), text)
        assert list(bare) == str.splitlines(text)
        for line, whole in zip(bare, lines, strict=True):
            assert marked(line) == marked(whole)[: len(line)]
        sep = rng.choice(["a", "s", "\t", "xy"])
        for name in ("partition", "rpartition"):
            parts = methods.METHODS[name](budget(), text, sep)
            assert tuple(parts) == getattr(str, name)(text, sep)
            assert [pair for part in parts for pair in marked(part)] == marked(text)


def test_ends() -> None:
    rng = random.Random(3)
    for _ in ROUNDS:
        text = made(rng, " \nab", 4)
        model = marked(text)
        chars = rng.choice([None, "a", "ab \n"])
        for name in ("strip", "lstrip", "rstrip"):
            start = len(text) - len(str.lstrip(text, chars)) if name != "rstrip" else 0
            end = len(str.rstrip(text, chars)) if name != "lstrip" else len(text)
            same(
                methods.METHODS[name](budget(), text, chars),
                getattr(str, name)(text, chars),
                model[start : max(start, end)],
            )
        for name in ("removeprefix", "removesuffix"):
            expected = getattr(str, name)(text, "a")
            left = len(text) - len(expected) if name == "removeprefix" else 0
            same(methods.METHODS[name](budget(), text, "a"), expected, model[left : left + len(expected)])


def test_replacing() -> None:
    rng = random.Random(4)
    for _ in ROUNDS:
        text, new = made(rng, "ab"), made(rng, "xy", 3)
        old, count = rng.choice(["a", "ab", "", "bb", "q"]), rng.choice([-1, -1, 0, 1, 2])
        same(
            methods.replace(budget(), text, old, new, count),
            str.replace(text, old, new, count),
            replaced(marked(text), old, marked(new), count),
        )


def test_joining_and_repeating() -> None:
    rng = random.Random(5)
    for _ in ROUNDS:
        sep, items = made(rng, most=3), [made(rng) for _ in range(rng.randrange(4))]
        model = [pair for at, item in enumerate(items) for pair in (marked(sep) if at else []) + marked(item)]
        same(methods.join(budget(), sep, items), str.join(sep, items), model)
        times = rng.randrange(-1, 4)
        same(methods.repeat(budget(), sep, times), str.__mul__(sep, times), marked(sep) * times)
        same(
            joined([sep, *items]),
            "".join([sep, *items]),
            marked(sep) + [pair for item in items for pair in marked(item)],
        )


def test_slices() -> None:
    rng = random.Random(6)
    for _ in ROUNDS:
        text = made(rng)
        start, stop = (rng.choice([None, *range(-9, 9)]) for _ in range(2))
        index = slice(start, stop, rng.choice([None, 1, 2, -1, -3]))
        same(methods.pick(budget(), text, index), str.__getitem__(text, index), marked(text)[index])
        for at, character in enumerate(text):
            assert marked(character) == [marked(text)[at]]


def test_padding() -> None:
    rng = random.Random(7)
    for _ in ROUNDS:
        text = made(rng, "ab-+5\t\n\r")
        fill = rng.choice([" ", Text("*", ((1, ORIGINS[1]),))])
        width = rng.randrange(-2, 30)
        model = marked(text)
        for name in ("center", "ljust", "rjust"):
            whole = getattr(str, name)(text, width, "\0")
            padded = [marked(fill)[0] if letter == "\0" else None for letter in whole]
            rest = iter(model)
            same(
                methods.METHODS[name](budget(), text, width, fill),
                getattr(str, name)(text, width, str.__str__(fill)),
                [pair or next(rest) for pair in padded],
            )
        zeros = max(0, width - len(text))
        sign = 1 if text[:1] in ("+", "-") and text else 0
        same(
            methods.zfill(budget(), text, width),
            str.zfill(text, width),
            model[:sign] + [("0", TEMPLATE)] * zeros + model[sign:],
        )
        size = rng.randrange(-1, 6)
        wide: Marked = []
        column = 0
        for letter, origin in model:
            count = (size - column % size if size > 0 else 0) if letter == "\t" else 1
            wide += [(" " if letter == "\t" else letter, origin)] * count
            column = 0 if letter in "\n\r" else column + count
        same(methods.expandtabs(budget(), text, size), str.expandtabs(text, size), wide)


def test_translating() -> None:
    rng = random.Random(8)
    table = {ord("a"): "xyz", ord("b"): None, ord("s"): 0x41, ord("5"): ""}
    for _ in ROUNDS:
        text = made(rng)
        model = [(letter, origin) for character, origin in marked(text) for letter in character.translate(table)]
        same(methods.translate(budget(), text, table), str.translate(text, table), model)


def test_quoting() -> None:
    rng = random.Random(9)
    for _ in ROUNDS:
        text = made(rng)
        ours = represent(budget(), text)
        assert ours == repr(str.__str__(text))
        for ascii_ in (True, False):
            written = to_json(budget(), text, ensure_ascii=ascii_)
            assert written == json.dumps(str.__str__(text), ensure_ascii=ascii_)
            if len(merged(run for run in runs_of(text) if run[0])) > 1:
                model = [
                    (letter, origin)
                    for character, origin in marked(text)
                    for letter in json.dumps(character, ensure_ascii=ascii_)[1:-1]
                ]
                assert marked(written) == [('"', TEMPLATE), *model, ('"', TEMPLATE)]


def test_printing_and_json_of_nested_values() -> None:
    rng = random.Random(10)

    def value(depth: int) -> Any:
        kind = rng.randrange(7 if depth < 3 else 5)
        if kind < 2:
            return made(rng)
        if kind < 5:
            return rng.choice([None, True, False, 1, -2.5, 1e30, float("inf"), 10**30])
        if kind == 5:
            return [value(depth + 1) for _ in range(rng.randrange(4))]
        return {
            rng.choice([str.__str__(made(rng)), 3, True, None, 2.5]): value(depth + 1) for _ in range(rng.randrange(4))
        }

    for _ in ROUNDS:
        given = value(0)
        if not isinstance(given, str):
            assert represent(budget(), given) == repr(given)
        for indent in (None, 0, 2, "\t"):
            for separators in (None, (",", ":")):
                assert to_json(budget(), given, indent=indent, separators=separators) == json.dumps(
                    given, ensure_ascii=False, indent=indent, separators=separators
                )


def test_characters_of_a_text_are_its_parts() -> None:
    rng = random.Random(11)
    for _ in range(2000):
        text = made(rng)
        expected = [cut(text, at, at + 1) for at in range(len(text))]
        assert [(part, runs_of(part)) for part in text] == [(part, runs_of(part)) for part in expected]


def test_empty_content_keeps_its_place() -> None:
    content = ORIGINS[1]
    empty = Text("", ((0, content),))
    text = joined(["<", empty, ">"])
    assert [run[0] for run in runs_of(text)] == [1, 0, 1]
    assert runs_of(methods.upper(budget(), text)) == runs_of(text)
    assert runs_of(methods.strip(budget(), Text("  ", ((2, content),)))) == ((0, content),)
    assert (0, content) in runs_of(methods.strip(budget(), joined(["a", Text("  ", ((2, content),)), "\n"])))
    assert runs_of(cut(text, 1, 1)) == ((0, content),)
    assert runs_of(methods.split(budget(), Text("x</t>", ((5, content),)), "</t>")[-1]) == ((0, content),)


def test_every_method_of_str_is_known_or_refused() -> None:
    public = {name for name in dir(str) if not name.startswith("_")}
    assert public - set(methods.METHODS) == {"encode", "maketrans"}


def test_weights_count_what_is_shared_each_time() -> None:
    limits = budget()
    inner = make_list(["abc"], limits)
    outer = make_list([inner, inner], limits)
    assert outer._weight > 2 * inner._weight
