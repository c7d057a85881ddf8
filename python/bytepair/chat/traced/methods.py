"""The methods of ``str`` for traced strings.

Each takes the budget, the string, and the arguments of the method of ``str``. Added text (padding, a replacement) has
the origin of its argument; text that is cut, repeated or respelled keeps its origin. `METHODS` lists all methods that a
template may call; those that return no text are the methods of ``str``. The file is long because ``str`` has many
methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.chat.limits import ELEMENT
from bytepair.chat.traced.formatting import format_map, format_text
from bytepair.chat.traced.values import (
    Run,
    Text,
    TracedList,
    TracedNone,
    TracedTuple,
    cut,
    joined,
    make_list,
    make_tuple,
    merged,
    origin_of,
    placed,
    plain,
    runs_of,
    trimmed,
    weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bytepair.chat.limits import Budget

# With more characters than this, a set is used.
_MOST_STRIPPED = 64
# The cost of a step of a Python loop over characters, in characters that C code reads in that time.
_STEP = 16


def strip(budget: Budget, text: str, chars: str | None = None) -> str:
    """`str.strip`; content that is stripped entirely leaves an empty run."""
    if chars is None and type(text) is Text and len(text._runs) == 1:
        budget.spend(len(text))
        bare = str.strip(text)
        return text if len(bare) == len(text) else Text(bare, ((len(bare), text._runs[0][1]),))
    budget.spend(weight(text))
    end = _stripped_end(budget, text, chars)
    return trimmed(text, min(_stripped_start(budget, text, chars), end), end)


def lstrip(budget: Budget, text: str, chars: str | None = None) -> str:
    """`str.lstrip`."""
    budget.spend(weight(text))
    return trimmed(text, _stripped_start(budget, text, chars), len(text))


def rstrip(budget: Budget, text: str, chars: str | None = None) -> str:
    """`str.rstrip`."""
    budget.spend(weight(text))
    return trimmed(text, 0, _stripped_end(budget, text, chars))


def _stripped_start(budget: Budget, text: str, chars: str | None) -> int:
    if chars is None or len(chars) <= _MOST_STRIPPED:
        return len(text) - len(str.lstrip(text, chars))
    # str.strip searches all of `chars` for each character of the text.
    return len(text) - _length_without(budget, plain(text)[::-1], chars)


def _stripped_end(budget: Budget, text: str, chars: str | None) -> int:
    if chars is None or len(chars) <= _MOST_STRIPPED:
        return len(str.rstrip(text, chars))
    return _length_without(budget, plain(text), chars)


def _length_without(budget: Budget, text: str, chars: str) -> int:
    """The length of a text without its trailing characters that are in `chars`."""
    budget.spend(ELEMENT * len(chars))
    known = set(plain(chars))
    end = len(text)
    while end and text[end - 1] in known:
        budget.work(_STEP)
        end -= 1
    return end


def removeprefix(budget: Budget, text: str, prefix: str) -> str:
    """`str.removeprefix`."""
    budget.spend(weight(text))
    return cut(text, len(text) - len(str.removeprefix(text, prefix)), len(text))


def removesuffix(budget: Budget, text: str, suffix: str) -> str:
    """`str.removesuffix`."""
    budget.spend(weight(text))
    return cut(text, 0, len(str.removesuffix(text, suffix)))


def _pieces(budget: Budget, text: str, pieces: list[str], gap: int | None) -> TracedList:
    """The traced pieces of a text: `gap` characters apart, or where they are found."""
    if type(text) is str:
        return make_list(pieces, budget)
    found = []
    at = 0
    for piece in pieces:
        if gap is None:
            at = str.find(text, piece, at)
        found.append(cut(text, at, at + len(piece)))
        at += len(piece) + (gap or 0)
        budget.spend(len(runs_of(text)))
    return make_list(found, budget)


def split(budget: Budget, text: str, sep: str | None = None, maxsplit: int = -1) -> TracedList:
    """`str.split`."""
    budget.spend(_pieces_cost(text, sep, maxsplit))
    return _pieces(budget, text, str.split(text, sep, maxsplit), None if sep is None else len(sep))


def rsplit(budget: Budget, text: str, sep: str | None = None, maxsplit: int = -1) -> TracedList:
    """`str.rsplit`."""
    budget.spend(_pieces_cost(text, sep, maxsplit))
    return _pieces(budget, text, str.rsplit(text, sep, maxsplit), None if sep is None else len(sep))


def _pieces_cost(text: str, sep: str | None, maxsplit: int) -> int:
    """An upper bound for the weight of the pieces, before they are made."""
    most = len(text) // 2 + 1
    if sep is not None:
        most = str.count(text, sep) + 1 if sep else 1
    return len(text) + 64 * (most if maxsplit < 0 else min(most, maxsplit + 1))


def splitlines(budget: Budget, text: str, keepends: bool = False) -> TracedList:
    """`str.splitlines`."""
    budget.spend(weight(text))
    found = []
    at = 0
    for whole, piece in zip(str.splitlines(text, True), str.splitlines(text, keepends), strict=True):
        budget.spend(64 + len(runs_of(text)))
        found.append(cut(text, at, at + len(piece)))
        at += len(whole)
    return make_list(found, budget)


def partition(budget: Budget, text: str, sep: str) -> TracedTuple:
    """`str.partition`."""
    budget.spend(weight(text))
    head, middle, _ = str.partition(text, sep)
    return _parts(budget, text, len(head), len(head) + len(middle))


def rpartition(budget: Budget, text: str, sep: str) -> TracedTuple:
    """`str.rpartition`."""
    budget.spend(weight(text))
    head, middle, _ = str.rpartition(text, sep)
    return _parts(budget, text, len(head), len(head) + len(middle))


def _parts(budget: Budget, text: str, start: int, end: int) -> TracedTuple:
    return make_tuple((cut(text, 0, start), cut(text, start, end), cut(text, end, len(text))), budget)


def replace(budget: Budget, text: str, old: str, new: str, count: int = -1) -> str:
    """`str.replace`; the inserted text has the origin of the replacement."""
    for part in (old, new):
        if not isinstance(part, str):
            raise TypeError(f"replace() takes text, not {type(part).__name__}")
    budget.spend(weight(text))
    places = str.count(text, old)
    if count >= 0:
        places = min(places, int(count))
    if not places:
        return text
    budget.spend(places * (weight(new) + 16) + weight(text))
    if type(text) is str and type(new) is str:
        return text.replace(old, new, int(count))
    parts = []
    at = 0
    if not old:
        # Before each character, and at the end.
        for at in range(places):
            budget.spend(len(runs_of(text)))
            parts += [new, cut(text, at, min(at + 1, len(text)))]
        return joined([*parts, cut(text, min(places, len(text)), len(text))])
    for _ in range(places):
        found = str.find(text, old, at)
        budget.spend(len(runs_of(text)))
        parts += [cut(text, at, found), new]
        at = found + len(old)
    return joined([*parts, cut(text, at, len(text))])


def join(budget: Budget, text: str, items: Iterable[str]) -> str:
    """`str.join`."""
    parts: list[str] = []
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"sequence item {len(parts) // 2}: expected str instance, {type(item).__name__} found")
        budget.spend(weight(item) + weight(text) + 16)
        if parts:
            parts.append(text)
        parts.append(item)
    return joined(parts)


def repeat(budget: Budget, text: str, times: int) -> str:
    """``text * times``."""
    times = max(0, int(times))
    budget.spend(weight(text) * times)
    if type(text) is str:
        return text * times
    runs = runs_of(text)
    return Text(plain(text) * times, merged(runs * times) if times else merged((0, origin) for _, origin in runs))


def respelled(budget: Budget, text: str, made: Callable[[str], str], prefixed: bool) -> str:
    """Respell each character of a text; `prefixed`: the spelling depends on the character before."""
    budget.spend(2 * len(text) + weight(text))
    whole = made(plain(text))
    if type(text) is str:
        return whole
    runs = runs_of(text)
    if len(runs) == 1:
        return Text(whole, ((len(whole), runs[0][1]),))
    found: list[Run] = []
    sizes: dict[tuple[str, str], int] = {}
    at = 0
    for length, origin in runs:
        budget.spend(length)
        part = str.__getitem__(text, slice(at, at + length))
        before = str.__getitem__(text, slice(at - 1, at)) if prefixed and at else ""
        # JSON has the same commas and quotes between all its values.
        size = sizes.get((before, part))
        if size is None:
            # The context changes the spelling, but not which characters come from which run.
            size = sizes[before, part] = len(made(before + part)) - (len(made(before)) if before else 0)
        found.append((size, origin))
        at += length
    return Text(whole, merged(found))


def lower(budget: Budget, text: str) -> str:
    """`str.lower`."""
    return respelled(budget, text, str.lower, False)


def upper(budget: Budget, text: str) -> str:
    """`str.upper`."""
    return respelled(budget, text, str.upper, False)


def casefold(budget: Budget, text: str) -> str:
    """`str.casefold`."""
    return respelled(budget, text, str.casefold, False)


def swapcase(budget: Budget, text: str) -> str:
    """`str.swapcase`."""
    return respelled(budget, text, str.swapcase, False)


def title(budget: Budget, text: str) -> str:
    """`str.title`."""
    return respelled(budget, text, str.title, True)


def capitalize(budget: Budget, text: str) -> str:
    """`str.capitalize`."""
    # All characters but the first become lowercase.
    budget.spend(3 * len(text) + weight(text))
    whole = str.capitalize(text)
    if type(text) is str or not whole:
        return whole if type(text) is str else text
    first = str.capitalize(str.__getitem__(text, 0))
    rest = respelled(budget, cut(text, 1, len(text)), str.lower, False)
    runs = [(len(first), runs_of(cut(text, 0, 1))), (0, runs_of(rest))]
    head = [(length and runs[0][0], origin) for length, origin in runs[0][1]]
    return Text(whole, merged([*head, *runs[1][1]]))


def expandtabs(budget: Budget, text: str, tabsize: int = 8) -> str:
    """`str.expandtabs`; the spaces have the origin of the tab."""
    tabsize = int(tabsize)
    budget.spend(weight(text) + str.count(text, "\t") * (max(0, tabsize) + len(runs_of(text))))
    if type(text) is str:
        return text.expandtabs(tabsize)
    parts = []
    at = column = 0
    for here, character in enumerate(plain(text)):
        budget.spend()
        if character in "\n\r":
            column = 0
        elif character == "\t":
            parts.append(cut(text, at, here))
            width = tabsize - column % tabsize if tabsize > 0 else 0
            parts.append(_placed(" " * width, cut(text, here, here + 1)))
            column += width
            at = here + 1
        else:
            column += 1
    return joined([*parts, cut(text, at, len(text))])


def _placed(text: str, like: str) -> str:
    """Text with the origin of one character."""
    return Text(text, tuple((length and len(text), origin) for length, origin in runs_of(like)))


def _padded(budget: Budget, text: str, left: int, right: int, fill: str) -> str:
    if len(fill) != 1:
        raise TypeError("the fill character must be exactly one character long")
    if left <= 0 and right <= 0:
        return text
    budget.spend(weight(text))
    return joined((repeat(budget, fill, left), text, repeat(budget, fill, right)))


def center(budget: Budget, text: str, width: int, fillchar: str = " ") -> str:
    """`str.center`; the padding has the origin of the fill character."""
    missing = int(width) - len(text)
    left = missing // 2 + (missing & int(width) & 1)
    return _padded(budget, text, left, missing - left, fillchar)


def ljust(budget: Budget, text: str, width: int, fillchar: str = " ") -> str:
    """`str.ljust`."""
    return _padded(budget, text, 0, int(width) - len(text), fillchar)


def rjust(budget: Budget, text: str, width: int, fillchar: str = " ") -> str:
    """`str.rjust`."""
    return _padded(budget, text, int(width) - len(text), 0, fillchar)


def zfill(budget: Budget, text: str, width: int) -> str:
    """`str.zfill`; the zeros are the template's own text."""
    missing = int(width) - len(text)
    if missing <= 0:
        return text
    budget.spend(weight(text))
    sign = 1 if str.startswith(text, ("+", "-")) else 0
    return joined((cut(text, 0, sign), repeat(budget, "0", missing), cut(text, sign, len(text))))


def translate(budget: Budget, text: str, table: Mapping[int, str | int | None]) -> str:
    """`str.translate`, with a table of code points; inserted text of the template has the origin of the character."""
    parts = []
    for character in text:
        budget.spend(16)
        try:
            made = table[ord(character)]
        except LookupError:
            parts.append(character)
            continue
        if isinstance(made, int):
            made = placed(chr(made), origin_of(made))
        elif made is None or isinstance(made, TracedNone):
            made = ""
        elif not isinstance(made, str):
            raise TypeError("character mapping must return integer, None or str")
        budget.spend(weight(made))
        parts.append(_placed(made, character) if type(made) is str and type(text) is not str else made)
    return joined(parts)


def pick(budget: Budget, text: str, index: int | slice) -> str:
    """``text[index]``, for an int or a slice with any step."""
    if isinstance(index, slice):
        start, stop, step = index.indices(len(text))
        if step == 1:
            budget.spend(max(0, stop - start))
            budget.work(_STEP * len(runs_of(text)))
            return cut(text, start, max(start, stop))
        budget.spend(weight(text))
        chosen = range(start, stop, step)
        runs = runs_of(text)
        if type(text) is str or len(runs) == 1:
            piece = str.__getitem__(text, index)
            return piece if type(text) is str else Text(piece, ((len(piece), runs[0][1]),))
        budget.spend(32 * len(chosen))
        origins = [origin for length, origin in runs for _ in range(length)]
        return Text(str.__getitem__(text, index), merged((1, origins[at]) for at in chosen))
    at = range(len(text))[index]
    budget.work(_STEP * len(runs_of(text)))
    return cut(text, at, at + 1)


def _native(name: str) -> Callable[..., Any]:
    """A method that returns no text."""
    method = getattr(str, name)

    def call(budget: Budget, text: str, *args: Any) -> Any:
        budget.work(len(text))
        return method(text, *args)

    return call


METHODS: dict[str, Callable[..., Any]] = {
    method.__name__: method
    for method in (
        *(strip, lstrip, rstrip, removeprefix, removesuffix, split, rsplit, splitlines, partition, rpartition),
        *(replace, join, lower, upper, casefold, swapcase, title, capitalize, expandtabs, center, ljust, rjust),
        *(zfill, translate),
    )
}
METHODS |= {
    name: _native(name)
    for name in (
        *("count", "find", "rfind", "index", "rindex", "startswith", "endswith"),
        *(name for name in dir(str) if name.startswith("is")),
    )
}
METHODS |= {"format": format_text, "format_map": format_map}
"""The methods of strings that a template may call, by name; they take the budget and the string first."""
