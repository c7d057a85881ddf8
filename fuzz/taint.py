"""Random templates with all operations: content keeps its origin through each of them.

The oracle needs no second implementation. Each field uses its own letters, which no template has and no operation
produces from others; so each character of the output shows whether it is content, and of which field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.chat.limits import Limits
from bytepair.chat.rendering.render import render
from bytepair.errors import TemplateError
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

    from bytepair.chat.rendering.spans import Rendered

_FIELDS = ("content", "name", "list/0", "list/1", "map/x", "map/y")
# A capital and a small letter of each field of each message, of scripts in which Python knows cases.
_LETTERS = "αβγδεζηθικλμνξοπ" + "бгджзийлпфцчшщъы"
# Characters that only templates write: not in the messages or their keys, nor in any printed content.
_TEMPLATES = "bdfghjkquvwz<>!"
_LIMITS = Limits(seconds=5.0, memory=1 << 22, output=1 << 18)

_TEXTS = (
    *("m.content", "m['name']", "m.list[0]", "m.list|last", "m.map.x", "m.map['y']", "m.get('content')", "n.content"),
    *(
        "'<ab>'",
        "' '",
        "''",
        "'x-y z!'",
        "'%s'",
        "'{}'",
        "'\\t'",
        "'\\n'",
        "u",
        "ns.t",
        "b",
        "loop.cycle(T, T)",
        "k",
        "v",
    ),
    *("f(T)", "f(T, T)", "f(a=T, b=T)", "g(T)", "r(T, 2)", "j()", "c.next()", "c.current", "self.e()"),
)
_OF_TEXT = (
    *("T + T", "T ~ T", "T ~ T ~ T", "T * 2", "2 * T", "T or T", "T and T", "T if T else T", "T if T in T else T"),
    *("T[0]", "T[-1]", "T[1:]", "T[:2]", "T[::-1]", "T[::2]", "T[3:0:-2]", "T|first", "T|last", "T|reverse"),
    *(
        "T|upper",
        "T|lower",
        "T|title",
        "T|capitalize",
        "T|trim",
        "T|trim(T)",
        "T|string",
        "T|safe ~ T",
        "T|e",
        "T|forceescape",
    ),
    *("T|center(9)", "T|indent(2)", "T|indent(T, true)", "T|indent(1, true, true)", "T|truncate(5, true, T, 0)"),
    *("T|truncate(6, false, '.', 0)", "T|replace(T, T)", "T|replace('', T)", "T|replace(T, T, 1)", "T|default(T)"),
    *("T.strip()", "T.strip(T)", "T.lstrip(T)", "T.rstrip(T)", "T.split(T)|join(T)", "T.split()|join(T)"),
    *(
        "T.rsplit(T, 1)|last",
        "T.partition(T)|join(T)",
        "T.rpartition(T)[2]",
        "T.splitlines()|join(T)",
        "T.join([T, T, T])",
    ),
    *("T.join(T)", "T.replace(T, T)", "T.upper()", "T.title()", "T.swapcase()", "T.casefold()", "T.capitalize()"),
    *(
        "T.ljust(9, T[0])",
        "T.rjust(8, T[:1])",
        "T.center(7, '*')",
        "T.zfill(6)",
        "T.expandtabs(3)",
        "T.removeprefix(T)",
    ),
    *("T.removesuffix(T)", "T.translate({97: T, 98: 66, 120: none})", "T.translate({945: m.content, 'x': T})"),
    *("'%s|%r' % (T, T)", "'%9s|%-4.2s' % (T, T)", "'%(p)s' % {'p': T}", "'%s' % T", "T % T", "T % (T, T)"),
    *("'{}-{!r}'.format(T, T)", "'{p:*>9}{p:.2}'.format(p=T)", "'{0[0]}{0[1]}'.format([T, T])", "T.format(T)"),
    *("'{:{}>6}'.format(T, T)", "'{p.content}{p[name]}'.format(p=m)", "'{p}'.format_map({'p': T})", "'%s'|format(T)"),
    *(
        "T|tojson",
        "L|tojson",
        "D|tojson",
        "D|tojson(indent=2)",
        "L|tojson(indent=m.name)",
        "L|tojson(separators=(m.content, T))",
    ),
    *("D|tojson(sort_keys=true)", "L|string", "D|string", "(T, T)|string", "L|join", "L|join(T)", "m|string"),
    *("messages|join(T, attribute='content')", "messages|map(attribute='name')|join(T)", "messages|sum('content', [])"),
    *("L|first", "L|last", "L|min", "L|max", "L[0]", "L[-1]", "D.values()|first", "D.keys()|last", "D|first"),
    *("D.get(T, T)", "D[T]", "D.p", "D|attr('p')", "dict(D, q=T)|string", "dict(L|map('list')|map('batch', 2))|string"),
    *(
        "dict.fromkeys(L, T)|string",
        "dict.fromkeys(T)|string",
        "namespace(D)|string",
        "namespace(p=T).p",
        "D.copy()|string",
    ),
    *("D.items()|list|string", "D.items()|string", "D|items|map('join', T)|join", "D|dictsort|string"),
    *(
        "D|dictsort(by='value', reverse=true)|map('last')|join",
        "T|length",
        "T|wordcount",
        "T|urlencode",
        "T|wordwrap(3)",
    ),
    *("T|int", "T|float", "T|list|string", "T|batch(2, T)|list|string", "T|slice(2, T)|map('join')|join(T)"),
    *("T|map('upper')|join", "T|select('in', T)|join", "T|reject('eq', T)|join(T)", "T|sort|join", "T|unique|join(T)"),
    *(
        "T == T",
        "T < T",
        "T is string",
        "T is in T",
        "not T",
        "T.find(T)",
        "T.startswith(T)",
        "T.isalpha()",
        "cycler(T, T).next()",
    ),
    *("joiner(T)()", "m.n", "m.n + 1", "m.n|string + T", "[T] + [T]", "([T] * 2)|join", "(T, T)[::-1]|join", "-m.n"),
)
_LISTS = (
    *("m.list", "[T, T]", "[T, [T], {'p': T}]", "(T, T)", "T|list", "L|reverse|list", "L|sort", "L|map('string')|list"),
    *(
        "L[1:]",
        "L[::-1]",
        "L + L",
        "D.values()|list",
        "T.split(T)",
        "T.split()",
        "messages|map(attribute='content')|list",
    ),
    *(
        "messages|map(attribute='list.0')|list",
        "messages|map(attribute='map.z', default=T)|list",
        "L|map('upper')|list",
    ),
    *("messages|groupby('name')|map(attribute='grouper')|list", "messages|groupby('map.x')|map('first')|list"),
    *(
        "messages|sort(attribute='name')|map(attribute='map.y')|list",
        "messages|selectattr('content', 'ne', T)|map('items')|map('list')|list",
    ),
    *(
        "messages|rejectattr('name', 'in', T)|map(attribute='content')|list",
        "messages|unique(attribute='role')|map('string')|list",
    ),
    *("L|unique|list", "L|batch(2, T)|list", "L|slice(2, T)|list", "L|select|list", "L|map('replace', T, T)|list"),
    *(
        "L|map('default', T)|list",
        "L|map('attr', 'x')|list",
        "L|map('tojson')|list",
        "L.copy()",
        "range(3)|map('string')|list",
    ),
)
_DICTS = (
    "m.map",
    "{'p': T, 'q': T}",
    "{T: T}",
    "{T: L}",
    "dict(p=T)",
    "dict([(T, T)])",
    "dict(m.map, **m.map)",
    "m",
    "D.copy()",
)
_STATEMENTS = (
    *("{{ T }}", "{{ T }}", "{{ L }}", "{{ D }}", "{% set u = T %}", "{% set ns.t = T %}", "{% set u, b = T, T %}"),
    *("{% set b %}S{% endset %}", "{% set b | upper %}S{% endset %}", "{% set u | replace(T, T) %}S{% endset %}"),
    *(
        "{% filter title %}S{% endfilter %}",
        "{% filter replace(T, T) %}S{% endfilter %}",
        "{% if T %}S{% else %}S{% endif %}",
    ),
    *(
        "{% for v in L %}{{ v }}S{% endfor %}",
        "{% for v in T %}{{ v }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    ),
    *(
        "{% for k, v in D.items() %}{{ k }}{{ v }}{{ loop.changed(v) }}S{% endfor %}",
        "{% for k in D %}{{ k }}{% endfor %}",
    ),
    *("{% for v in [T, [T, [T]]] recursive %}{{ loop(v) if v is not string else v ~ T }}{% endfor %}",),
    *("{% for v in L if v != T %}S{% else %}S{% endfor %}", "{% call(y) w(T) %}{{ y }}S{% endcall %}"),
    *("{% with u = T, v = L %}{{ u }}{{ v }}S{% endwith %}", "{% generation %}S{% endgeneration %}"),
    *("{% for u, b in [(T, T), [T, T]] %}{{ u }}{{ b }}{% endfor %}", "{{ o(*L) }}", "{{ o(**D) }}", "{{ o(T, p=T) }}"),
    *("{% for g in messages|groupby('name') %}{{ g.grouper }}{{ g.list }}{{ g }}{% endfor %}", "{{ loop }}", "{{ f }}"),
)
_BEFORE = (
    "{% macro f(a, b='d') %}[{{ a }}{{ b }}]{% endmacro %}{% macro g(a, b=a ~ '!') %}{{ b }}{{ caller }}{% endmacro %}"
    "{% macro r(a, n) %}{{ a }}{% if n > 0 %}{{ r(a ~ '.', n - 1) }}{% endif %}{% endmacro %}"
    "{% macro w(a) %}({{ caller(a) }}){% endmacro %}{% macro o() %}{{ varargs }}{{ kwargs }}{% endmacro %}"
    "{% set ns = namespace(t='') %}{% set u = 'u' %}{% set b = 'b' %}{% set k = 'k' %}{% set v = 'v' %}"
    "{% set n = messages[-1] %}{% set j = joiner(messages[0].name) %}{% set c = cycler(n.content, 'i', n.name) %}"
    "{% for m in messages %}"
)
_BEHIND = "{% endfor %}{% block e %}{{ messages[0].map.x }}e{% endblock %}"


def sweep_taint(random: random.Random) -> None:
    """One random template over one conversation."""
    messages, owners = _messages(random)
    for _ in range(20):
        template = _BEFORE + _statements(random, 3) + _BEHIND
        with case(template=template, messages=messages):
            try:
                rendered = render(messages, template, limits=_LIMITS)
            except TemplateError:
                continue
            check_taint(rendered, owners)


def check_taint(rendered: Rendered, owners: dict[str, tuple[int, str]]) -> None:
    """Each letter of a field is content of that field, and no other character is a letter of one."""
    for span in rendered.spans:
        for character in rendered.text[span.start : span.end]:
            owner = owners.get(character)
            if owner is not None:
                found = (span.kind, span.message, span.field)
                equal(f"the place of {character!r}", found, ("content", *owner))
            elif character.lower() in _TEMPLATES:
                equal(f"the kind of {character!r}", span.kind, "template")


def _messages(random: random.Random) -> tuple[list[dict[str, Any]], dict[str, tuple[int, str]]]:
    """Two messages, and the field of each letter."""
    owners: dict[str, tuple[int, str]] = {}
    letters = iter(_LETTERS)
    messages = []
    for number in range(2):
        said = []
        for field in _FIELDS:
            small = next(letters)
            owners |= {small: (number, field), small.upper(): (number, field)}
            said.append(
                "".join(
                    random.choice((small, small.upper(), " ", "'", "\n", "{", "%s")) for _ in range(random.randrange(5))
                )
            )
        content, name, first, second, x, y = said
        message = {"role": "-", "n": random.randrange(9), "content": content, "name": name}
        messages.append({**message, "list": [first, second], "map": {"x": x, "y": y}})
    return messages, owners


def _statements(random: random.Random, depth: int) -> str:
    return "".join(_expanded(random, random.choice(_STATEMENTS), depth) for _ in range(random.randrange(1, 4)))


def _expanded(random: random.Random, pattern: str, depth: int) -> str:
    """A pattern with its places filled: T by a text, L by a list, D by a dict, S by statements."""
    made = ""
    for character in pattern:
        if character == "T":
            simple = depth <= 0 or random.random() < 0.5
            made += _expanded(random, random.choice(_TEXTS), 0) if simple else _part(random, _OF_TEXT, depth)
        elif character == "L":
            made += "m.list" if depth <= 0 else _part(random, _LISTS, depth)
        elif character == "D":
            made += "m.map" if depth <= 0 else _part(random, _DICTS, depth)
        elif character == "S":
            made += "." if depth <= 0 else _statements(random, depth - 2)
        else:
            made += character
    return made


def _part(random: random.Random, patterns: tuple[str, ...], depth: int) -> str:
    return f"({_expanded(random, random.choice(patterns), depth - 1)})"
