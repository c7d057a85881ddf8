"""Sweep over expressions of templates: traced values have the results that Jinja computes with plain ones."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytepair.chat.rendering.render import render
from bytepair.errors import TemplateError
from fuzz.case import case
from fuzz.chats import renderer_of_transformers

if TYPE_CHECKING:
    import random

MESSAGE: dict[str, Any] = {
    "role": "user",
    "content": " Hello, wörld! a-b c\n\tx ",
    "empty": "",
    "n": 7,
    "zero": 0,
    "x": 2.5,
    "no": None,
    "yes": True,
    "false": False,
    "list": ["b", "a", 3, None, True, 1.5, ["q"]],
    "words": ["b", "A", "c", "a"],
    "numbers": [3, 1, 2],
    "dict": {"k": "v", "n": 1, "b": False},
    "rows": [{"g": "x", "v": 2}, {"g": "y", "v": 1}, {"g": "X", "v": 3}],
    "digits": "12",
    "format": "a",
}
NAMES = [f"m.{name}" for name in MESSAGE]
CONSTANTS = [
    "'a'",
    "'o, '",
    "''",
    "' '",
    "3",
    "0",
    "-2",
    "2.5",
    "none",
    "true",
    "false",
    "[]",
    "{}",
    "['a', 1]",
    "('b', 2)",
]
FILTERS = [
    *(
        "abs",
        "batch(2)|list",
        "batch(2, 'z')|list",
        "capitalize",
        "center(30)",
        "count",
        "default('d')",
        "default('d', true)",
    ),
    *("dictsort", "dictsort(by='value')", "e", "first", "float", "forceescape", "format('q')", "format(m.role, 1)"),
    *(
        "groupby('g')",
        "groupby('g', case_sensitive=true)",
        "indent",
        "indent(2, true)",
        "indent('ab', blank=true)",
        "int",
    ),
    *(
        "int(5)",
        "int(base=16)",
        "items|list",
        "join",
        "join(m.role)",
        "join(', ', attribute='g')",
        "last",
        "length",
        "list",
    ),
    *("lower", "map('upper')|list", "map(attribute='g')|list", "map(attribute='q', default=m.n)|list", "max", "min"),
    *("max(attribute='v')", "reject('none')|list", "rejectattr('g', 'eq', 'x')|list", "replace('a', 'b')", "round"),
    *("replace('l', m.role, 1)", "reverse|list", "reverse", "round(1, 'ceil')", "select('string')|list", "select|list"),
    *(
        "selectattr('v')|list",
        "slice(2)|list",
        "slice(3, m.role)|list",
        "sort",
        "sort(true)",
        "sort(attribute='v')",
        "string",
    ),
    *(
        "sum",
        "sum(attribute='v')",
        "sum(start=m.n)",
        "title",
        "tojson",
        "tojson(indent=1)",
        "trim",
        "trim('b ')",
        "truncate(9)",
    ),
    *(
        "truncate(7, true, m.role)",
        "unique|list",
        "upper",
        "wordcount",
        "filesizeformat",
        "attr('role')",
        "sort(case_sensitive=true)",
    ),
]
METHODS = [
    *(
        ".upper()",
        ".lower()",
        ".strip()",
        ".split()",
        ".split(',')",
        ".split(' ', 1)",
        ".rsplit(none, 1)",
        ".replace('l', 'LL')",
    ),
    *(
        ".startswith('a')",
        ".endswith(m.role)",
        ".title()",
        ".capitalize()",
        ".swapcase()",
        ".partition(' ')",
        ".splitlines()",
    ),
    *(
        ".find('l')",
        ".count('l')",
        ".join(['x', m.role])",
        ".zfill(9)",
        ".ljust(9, m.format)",
        ".center(9)",
        ".expandtabs(2)",
    ),
    *(
        ".format(m.role, m.n)",
        ".isdigit()",
        ".removeprefix(' ')",
        ".get('k')",
        ".get('q', m.no)",
        ".items()|list",
        ".keys()|list",
    ),
    *(
        ".values()|list",
        ".k",
        ".nothing",
        "['k']",
        "[0]",
        "[-1]",
        "[1:]",
        "[:-1]",
        "[::2]",
        "[::-1]",
        "[m.n]",
        ".index('a')",
    ),
    *(".role", "[m.zero]", "[:m.no]", ".copy()", ".is_integer()", ".real", ".lstrip('\\n H')", ".rstrip(m.format)"),
]
OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"]
TESTS = [
    *(
        "none",
        "string",
        "number",
        "integer",
        "float",
        "boolean",
        "true",
        "false",
        "mapping",
        "iterable",
        "sequence",
        "defined",
    ),
    *(
        "callable",
        "lower",
        "upper",
        "odd",
        "even",
        "divisibleby(2)",
        "eq(m.n)",
        "in(m.list)",
        "sameas(none)",
        "gt(1)",
        "escaped",
    ),
]


def expression(rng: random.Random, depth: int = 0) -> str:
    """A random expression, up to three levels deep."""
    kind = rng.randrange(9) if depth < 3 else 0
    inner = depth + 1
    if kind < 2:
        return rng.choice(NAMES) if rng.random() < 0.75 else rng.choice(CONSTANTS)
    if kind < 4:
        return f"({expression(rng, inner)})|{rng.choice(FILTERS)}"
    if kind < 6:
        return f"({expression(rng, inner)}){rng.choice(METHODS)}"
    if kind == 6:
        return f"({expression(rng, inner)}) {rng.choice(OPERATORS)} ({expression(rng, inner)})"
    if kind == 7:
        return f"(({expression(rng, inner)}) is {rng.choice(['', 'not '])}{rng.choice(TESTS)})"
    made = [expression(rng, inner) for _ in range(2)]
    return rng.choice(
        [
            f"[{made[0]}, {made[1]}]",
            f"{{'k': {made[0]}, 'g': {made[1]}}}",
            f"({made[0]}, {made[1]})",
            f"({made[0]} if {made[1]} else m.role)",
            f"'%s|%r' % ({made[0]}, {made[1]})",
            f"'{{}}-{{!r:>5}}'.format({made[0]}, {made[1]})",
        ]
    )


# Deliberate refusals, by parts of their messages. Jinja evaluates a slice of a literal number as undefined, and a slice
# of any other number as an error; here both are errors.
REFUSED = (
    "not subscriptable",
    "safe",
    "is used as a format",
    "which has no text",
    "is not supported",
    "formats the time",
    "a format has the width",
)


def expected(source: str) -> str | Exception:
    """The text that `transformers` renders from a template, or its error."""
    try:
        with warnings.catch_warnings():
            # Python warns of literals in compiled code that cannot work.
            warnings.simplefilter("ignore", SyntaxWarning)
            return str(renderer_of_transformers()([[{"given": MESSAGE}]], chat_template=source)[0][0])
    except Exception as error:
        return error


def check_expression(rng: random.Random) -> bool:
    """Whether a random expression renders; equal on both sides or refused by name."""
    source = "{% set m = messages[0].given %}{{ " + expression(rng) + " }}"
    theirs = expected(source)
    with case(source=source, theirs=theirs):
        try:
            ours = render([{"given": MESSAGE}], source).text
        except TemplateError as error:
            if not isinstance(theirs, Exception) and not any(word in str(error) for word in REFUSED):
                raise
            return False
        assert ours == theirs
    return True


def sweep_expressions(random: random.Random) -> None:
    """One case: an expression on both sides."""
    check_expression(random)
