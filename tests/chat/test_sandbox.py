"""Malicious templates raise TemplateError: soon, in bounded memory, and for the right reason."""

# ruff: noqa: E501 (templates are long lines)
from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bytepair.chat.limits import Limits
from bytepair.chat.rendering.render import render
from bytepair.errors import TemplateError
from tests.conftest import WHOLE

MESSAGES: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": "Hello there, this is a message of some length.",
        "n": 3,
        "none": None,
        "list": [1, "a"],
    },
    {"role": "assistant", "content": "Well."},
    {"role": "user", "content": "", "wide": "".join(map(chr, range(0x10000, 0x10000 + 300_000)))},
    {"role": "assistant", "content": ""},
]
NOTHING = "{% set ns = namespace(x=messages[2].content + messages[3].content) %}{% for i in range(60) %}{% set ns.x = "
E = "{% endfor %}"
LOOP = "{% for i in range(100000) %}"

BOMBS = {
    # Empty contents, which have no characters to count.
    "nothing added": NOTHING + "ns.x + ns.x %}" + E,
    "nothing chained": NOTHING + "ns.x ~ ns.x %}" + E,
    "nothing set": NOTHING + "ns.x %}{% set q %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = q %}" + E,
    "nothing joined": NOTHING + "[ns.x, ns.x]|join %}" + E,
    "nothing put in": NOTHING + "'aaa'|replace('a', ns.x) %}" + E,
    "nothing formatted": NOTHING + "'%s%s' % (ns.x, ns.x) %}" + E,
    "nothing in a format": NOTHING + "'{0}{0}'.format(ns.x) %}" + E,
    "nothing padded": NOTHING + "(ns.x ~ ns.x).ljust(3) %}" + E,
    # Operations of Python itself that take more than linear time, or recurse.
    "lazy filters on one another": "{% set ns = namespace(x=[1]) %}"
    + LOOP
    + "{% set ns.x = ns.x|select %}"
    + E
    + "{{ ns.x|list }}",
    "characters to strip": "{{ (messages[2].wide * 9).strip(messages[2].wide[::-1]) }}",
    "many characters to strip": LOOP
    + "{{ messages[2].wide.lstrip(messages[2].wide[::-1]) }}{{ messages[2].wide.rstrip(messages[2].wide) }}"
    + E,
    "a word to wrap": "{{ ('a' * 9999999)|wordwrap(1) }}",
    "parts of many parts": "{% set ns = namespace(x=messages[0].role ~ '.') %}{% for i in range(16) %}{% set ns.x = ns.x ~ ns.x %}"
    + E
    + LOOP
    + "{{ ns.x[9] }}{{ ns.x[9:10] }}{% for c in ns.x %}{% break %}"
    + E
    + E,
    # Time.
    "loops": LOOP * 4 + "x" + E * 4,
    "loops that do nothing": LOOP * 4 + E * 4,
    "filtered loops": "{% for i in range(100000) if false %}"
    + E
    + LOOP
    + "{% for i in range(100000) if false %}"
    + E
    + E,
    "a long test in a loop": "{% for i in range(100000) if " + "i == 1.5 or " * 1000 + "false %}" + E,
    "lazy filters": LOOP + "{{ range(100000)|map('string')|map('upper')|select('eq', 'x')|list|length }}" + E,
    "select": LOOP + "{{ range(100000)|select('odd')|first }}{{ range(100000)|reject('ge', 0)|list }}" + E,
    "sum": LOOP + "{{ range(100000)|sum }}" + E,
    "sort": LOOP + "{{ range(100000)|sort|length }}" + E,
    "sort of text": "{% set s = 'a' * 9999 %}" + LOOP + "{{ ([s ~ 'b', s ~ 'a'] * 1000)|sort|length }}" + E,
    "comparison of text": "{% set a = 'a' * 9999999 %}{% set b = a ~ 'b' %}{% set c = a ~ 'b' %}"
    + LOOP
    + "{{ b == c or b != c }}"
    + E,
    "many comparisons": "{% set a = 'a' * 9999999 %}{% set b = a ~ 'b' %}{% set c = a ~ 'b' %}{{ "
    + " and ".join(["b == c"] * 3000)
    + " }}",
    "text in a list": "{% set a = 'a' * 999999 %}{% set l = [a ~ 'b'] * 20 %}" + LOOP + "{{ (a ~ 'c') in l }}" + E,
    "counting": "{% set a = 'a' * 9999999 %}" + LOOP + "{{ a.count('b') }}" + E,
    "lengths of lazy loops": LOOP + "{% for j in range(100000)|map('abs') %}{{ loop.length }}{% break %}" + E + E,
    "unique": LOOP + "{{ range(100000)|unique|list|length }}" + E,
    "colliding keys": "{{ range(0, 100000 * (2 ** 61 - 1), 2 ** 61 - 1)|unique|list|length }}",
    "groups": LOOP + "{{ range(100000)|groupby('real')|length }}" + E,
    "calls": "{% macro f(n) %}{% for i in range(100) %}{{ f(n) if n > 9e9 else '' }}{% endfor %}{% endmacro %}"
    + LOOP
    + "{{ f(1) }}"
    + E,
    "branching macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(50) }}",
    "a recursive loop that branches": "{% set l = [[], []] %}{% for i in range(20) %}{% endfor %}"
    "{% for x in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth < 40 }}{% endfor %}",
    "splitting": "{% set a = 'a ' * 999999 %}" + LOOP + "{{ a.split()|length }}" + E,
    "searching": "{% set a = 'a' * 9999999 %}" + LOOP + "{{ a.find('a' * 999 ~ 'b') }}" + E,
    "cases": "{% set a = 'ß' * 999999 %}" + LOOP + "{{ a.upper()|length }}" + E,
    "numbers of text": "{% set a = '9' * 4000 %}" + LOOP + "{{ a|int }}" + E,
    "words": "{% set a = 'a ' * 999999 %}" + LOOP + "{{ a|wordcount }}" + E,
    "wrapping": "{% set a = 'a ' * 99999 %}" + LOOP + "{{ a|wordwrap(3)|length }}" + E,
    "quoting": "{% set a = 'ä ' * 99999 %}" + LOOP + "{{ a|urlencode|length }}" + E,
    "islower": "{% set a = 'a' * 9999999 %}" + LOOP + "{{ a.islower() }}{{ a is lower }}" + E,
    # Memory.
    "repeated text": "{{ 'a' * 10 ** 10 }}",
    "repeated text twice": "{{ ('a' * 10 ** 7) * 10 ** 7 }}",
    "doubled text": "{% set ns = namespace(s='a') %}" + LOOP + "{% set ns.s = ns.s ~ ns.s %}" + E,
    "added text": "{% set ns = namespace(s='a') %}" + LOOP + "{% set ns.s = ns.s + ns.s %}" + E,
    "repeated list": "{{ [1] * 10 ** 10 }}",
    "doubled list": "{% set ns = namespace(s=[1]) %}" + LOOP + "{% set ns.s = ns.s + ns.s %}" + E,
    "shared list, printed": "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
    "shared list as JSON": "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
    "shared dict": "{% set ns = namespace(s={}) %}{% for i in range(60) %}{% set ns.s = {'a': ns.s, 'b': ns.s} %}{% endfor %}{{ ns.s }}",
    "shared tuple, hashed": "{% set ns = namespace(s=(1,)) %}{% for i in range(60) %}{% set ns.s = (ns.s, ns.s) %}{% endfor %}{{ {}[ns.s] }}",
    "shared lists, compared": "{% set a = namespace(s=[1], t=[1]) %}{% for i in range(60) %}"
    "{% set a.s = [a.s, a.s] %}{% set a.t = [a.t, a.t] %}{% endfor %}{{ a.s == a.t }}",
    "arguments of macros": "{% macro f(n) %}{{ f(n - 1, varargs, varargs) if n else varargs }}{% endmacro %}{{ f(50) }}",
    "named arguments of macros": "{% macro f(n) %}{{ f(n - 1, a=kwargs, b=kwargs) if n else kwargs }}{% endmacro %}{{ f(50) }}",
    "a namespace in itself": "{% set ns = namespace() %}{% set ns.a = ns %}{% set ns.b = ns %}{{ ns }}",
    "a list in itself": "{% set ns = namespace() %}{% set ns.a = [ns, ns] %}{{ ns.a }}",
    "power": "{{ 10 ** (10 ** 8) }}",
    "power of powers": "{{ 9 ** (9 ** (9 ** 9)) }}",
    "product": "{% set ns = namespace(n=3) %}" + LOOP + "{% set ns.n = ns.n * ns.n %}" + E,
    "a huge number of text": "{{ ('f' * 9999999)|int(0, 16) * 3 }}",
    "a huge literal": "{{ 0x" + "f" * 50000 + " % 7 }}",
    "a long literal": "{{ " + "9" * 5000 + " }}",
    "centered": "{{ 'a'|center(10 ** 10) }}",
    "center": "{{ messages[0].content.center(10 ** 10) }}",
    "ljust": "{{ 'a'.ljust(10 ** 10) }}",
    "rjust": "{{ 'a'.rjust(10 ** 10) }}",
    "zfill": "{{ 'a'.zfill(10 ** 10) }}",
    "expandtabs": "{{ '\\t'.expandtabs(10 ** 10) }}",
    "a wide place": "{{ '%9999999999d' % 1 }}",
    "a starred place": "{{ '%*d' % (10 ** 9, 1) }}",
    "a precise place": "{{ '%.999999999f' % 1 }}",
    "a wide format": "{{ '{:9999999999}'.format(1) }}",
    "a wide format inside": "{{ '{:{}}'.format('a', 10 ** 10) }}",
    "many places": "{{ ('%s' * 9999) % ((('a' * 99999),) * 9999) }}",
    "many named places": "{{ ('%(a)s' * 9999) % {'a': 'a' * 99999} }}",
    "many format places": "{{ ('{0}' * 9999).format('a' * 99999) }}",
    "replaced": "{{ ('a' * 9999).replace('a', 'b' * 9999) }}",
    "replaced nothing": "{{ ('a' * 9999)|replace('', 'b' * 9999) }}",
    "joined": "{{ ('b' * 9999).join(['a'] * 9999) }}",
    "joined lazily": "{{ range(99999)|map('string')|map('center', 9999)|join }}",
    "translated": "{{ ('a' * 9999).translate({97: 'b' * 9999}) }}",
    "indented": "{{ ('a\\n' * 9999)|indent(9999) }}",
    "indented far": "{{ 'a\\nb'|indent(10 ** 10) }}",
    "indented JSON": "{{ [1]|tojson(indent=10 ** 10) }}",
    "indented JSON by text": "{{ ([[[1]]] * 9999)|tojson(indent='a' * 9999) }}",
    "separated JSON": "{{ ([1] * 9999)|tojson(separators=('a' * 9999, 'b')) }}",
    "batches": "{{ [1]|batch(10 ** 10, 0)|list }}",
    "slices": "{{ [1]|slice(10 ** 10)|list }}",
    "rounded": "{{ 1.5|round(10 ** 10, 'ceil') }}",
    "rounded back": "{{ 15|round(-(10 ** 10)) }}",
    "a long range": "{{ range(10 ** 10) }}",
    "to_bytes": "{{ (1).to_bytes(10 ** 10, 'big') }}",
    "encode": "{{ 'a'.encode() * 10 ** 10 }}",
    "fromkeys": "{{ dict.fromkeys(range(100000), 'a' * 99999) }}",
    "output": LOOP * 2 + "{{ messages[0].content * 99 }}" + E * 2,
    "output of the template": LOOP * 2 + "x" * 999 + E * 2,
    "blocks of text": LOOP + "{% set a %}" + "{{ messages[0].content * 999 }}" * 99 + "{% endset %}" + E,
    "runs": "{% set ns = namespace(s='') %}"
    + LOOP
    + "{% set ns.s = ns.s ~ messages[0].role ~ 'a' %}"
    + E
    + "{{ ns.s }}",
    "a cycler": "{% set c = cycler(*range(100000)) %}" + LOOP + "{% set d = cycler(*range(100000)) %}" + E,
    "time": "{{ strftime_now('%999999999d') }}",
    "dates": "{{ strftime_now('%c' * 10 ** 6) }}",
    # Depth.
    "a macro in itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a caller in itself": "{% macro f() %}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}",
    "a block in itself": "{% block a %}{{ self.a() }}{% endblock %}",
    "a loop in itself": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "brackets": "{{ " + "(" * 5000 + ")" * 5000 + " }}",
    "lists": "{{ " + "[" * 3000 + "]" * 3000 + " }}",
    "negations": "{{ " + "not " * 9000 + "1 }}",
    "minus": "{{ " + "-" * 9000 + "1 }}",
    "sums": "{{ " + "1+" * 9000 + "1 }}",
    "attributes": "{{ a" + ".a" * 9000 + " }}",
    "filters": "{{ a" + "|trim" * 9000 + " }}",
    "ifs": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "fors": "{% for i in [1] %}" * 100 + E * 100,
    "a deep list": "{% set ns = namespace(s=[]) %}" + LOOP + "{% set ns.s = [ns.s] %}" + E + "{{ ns.s }}",
    # Size.
    "a huge source": "x" * 10_000_000,
    "many tags": "{{ a }}" * 18_000,
    "many variables": "".join(f"{{% set a{i} = 1 %}}{{% if a %}}{{% endif %}}" for i in range(3000)),
    "many loops": "{% for a in b %}{% set c = 1 %}{{ f(c) }}{% endfor %}" * 2200,
    "many macros": "{% macro a(b, c=1) %}{{ b }}{% endmacro %}" * 3000,
    # Reaching out.
    "classes": "{{ ''.__class__ }}",
    "subclasses": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "by item": "{{ ''['__class__'] }}",
    "by filter": "{{ ''|attr('__class__') }}",
    "by attribute of map": "{{ ['']|map(attribute='__class__')|list }}",
    "by format": "{{ '{0.__class__}'.format('') }}",
    "by format of items": "{{ '{0[__class__]}'.format('') }}",
    "of content": "{{ messages[0].content.__class__ }}",
    "of messages": "{{ messages.__class__ }}",
    "of a namespace": "{{ namespace.__init__.__globals__ }}",
    "of a namespace made": "{{ namespace()._Namespace__attrs.__class__ }}",
    "set on a namespace": "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
    "set by a mapping": "{{ namespace({'__class__': 1}) }}",
    "of a function": "{{ range.__self__ }}",
    "of raise_exception": "{{ raise_exception.__globals__ }}",
    "of a macro": "{% macro f() %}{% endmacro %}{{ f._func.__globals__ }}",
    "of a loop": "{% for x in [1] %}{{ loop._iterator.__class__ }}{% endfor %}",
    "of the template": "{{ self._TemplateReference__context.environment }}",
    "of a cycler": "{{ cycler.__init__.__globals__ }}",
    "of an undefined": "{{ nothing.__class__ }}",
    "of an undefined's own": "{{ nothing._undefined_exception }}",
    "of a generator": "{{ ([1]|map('string')).gi_frame }}",
    "generators sent to": "{{ ([1]|map('string')).send(1) }}",
    "printed methods": "{{ messages[0].content.upper }}",
    "printed functions": "{{ range }}",
    "maketrans": "{{ ''.maketrans({}) }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as os %}",
    "from import": "{% from 'os' import x %}",
    "extends": "{% extends 'x' %}",
    "autoescape": "{% autoescape true %}{% endautoescape %}",
    "lipsum": "{{ lipsum(n=10 ** 6) }}",
    "random": "{{ [1]|random }}",
    "pprint": "{{ [1]|pprint }}",
    "urlize": "{{ 'a'|urlize }}",
    "changed messages": "{{ messages.append(1) }}",
    "changed dicts": "{{ messages[0].update({'a': 1}) }}",
    "popped": "{{ messages[0].pop('role') }}",
    # Plain mistakes.
    "no filter": "{{ 1|nothing }}",
    "no filter by name": "{{ [1]|map('nothing')|list }}",
    "no test": "{{ 1 is nothing }}",
    "a broken tag": "{% if %}",
    "an open tag": "{% for x in y %}",
    "an unknown tag": "{% nothing %}",
    "division": "{{ 1 / 0 }}",
    "types": "{{ 'a' + 1 }}",
    "none": "{{ 'a' + messages[0].none }}",
    "undefined": "{{ nothing.more }}",
    "an index": "{{ messages[9].role }}",
    "safe text that doubles": "{% set ns = namespace(x='<'|safe) %}{% for i in range(999) %}"
    "{% set ns.x = ns.x + (ns.x ~ '<') %}{% endfor %}",
    "raised": "{{ raise_exception('no') }}",
    "raised at length": "{{ raise_exception('no' * 999999) }}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_an_error_in_time(name: str) -> None:
    seconds = Limits().seconds if WHOLE else 0.2
    started = time.thread_time()
    with pytest.raises(TemplateError) as raised:
        render(MESSAGES, BOMBS[name], limits=Limits(seconds=seconds))
    # The limit is one for compiling and one for running; the rest is for the last step, on a slow machine too.
    assert time.thread_time() - started < 2 * seconds + 5
    assert len(str(raised.value)) < 2500


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="says how much memory a process had at its peak")
def test_bombs_take_bounded_memory() -> None:
    """All malicious templates in one process, whose peak memory is measured."""
    root = str(Path(__file__).parent.parent.parent)
    found = subprocess.run(
        [sys.executable, "-c", _ALL_BOMBS, root], capture_output=True, text=True, check=True, timeout=600
    )
    megabytes = int(found.stdout)
    # Python, Jinja and the package take 60 MB of these before anything runs.
    assert megabytes < 400


_ALL_BOMBS = """
import sys
sys.path.insert(0, sys.argv[1])
from benchmarks.worker import peak
from tests.chat.test_sandbox import BOMBS, MESSAGES
from bytepair.chat.limits import Limits
from bytepair.chat.rendering.render import render
from bytepair.errors import TemplateError
for source in BOMBS.values():
    try:
        render(MESSAGES, source, limits=Limits(seconds=0.15))
    except TemplateError:
        pass
print(int(peak()))
"""


def test_limits_are_kept() -> None:
    for limits, source, named in (
        (Limits(output=10), "{{ 'x' * 11 }}", "output"),
        (Limits(memory=1000), "{{ ('x' * 2000)|length }}", "memory"),
        (Limits(template=10), "x" * 11 + " ", "template"),
        (Limits(depth=3), "{{ [[[[1]]]] }}", "depth"),
        (Limits(seconds=0.01), "{% for i in range(100000) %}{{ i * i }}{% endfor %}", "seconds"),
    ):
        with pytest.raises(TemplateError, match=rf"Limits\.{named}"):
            render([], source, limits=limits)


def test_what_is_large_but_means_no_harm_renders() -> None:
    messages = [{"role": "user" if i % 2 == 0 else "assistant", "content": "word " * 200} for i in range(1000)]
    assert len(render(messages, "chatml").text) > 1_000_000
    assert len(render([{"role": "user", "content": "é" * 5_000_000}], "llama3").text) > 5_000_000
