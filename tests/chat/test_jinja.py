"""The undocumented parts of Jinja that rendering depends on, each with the consequence of a change.

Raising the upper bound of ``jinja2`` in ``pyproject.toml`` is a decision: install the newer version, run this file, and
fix ``python/bytepair/chat/jinja.py`` where a part has changed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")

import bytepair
from bytepair.chat import jinja
from bytepair.chat.limits import Limits
from bytepair.chat.sandbox.program import _SANDBOX, Program
from bytepair.chat.sandbox.runtime import Runtime

ROOT = Path(__file__).parents[2]
CHAT = Path(bytepair.__file__).parent / "chat"

PARTS = {
    # The compiler.
    "compiler.CodeGenerator._make_finalize": (("self",), "constants would be folded and escaped, without their runs"),
    "compiler.CodeGenerator._FinalizeInfo": (("const", "src"), "templates would not compile"),
    "compiler.CodeGenerator._output_child_pre": (
        ("self", "node", "frame", "finalize"),
        "values would be printed by str(), without their runs and uncounted",
    ),
    "compiler.CodeGenerator._output_child_post": (("self", "node", "frame", "finalize"), "a call would not be closed"),
    "compiler.CodeGenerator.visit_Concat": (("self", "node", "frame"), "a ~ b would lose its runs"),
    "compiler.CodeGenerator.visit_Add": (("self", "node", "frame"), "long sums would take quadratic time"),
    "compiler.CodeGenerator.visit_Tuple": (("self", "node", "frame"), "tuples would have no weight"),
    "compiler.CodeGenerator.visit_List": (("self", "node", "frame"), "lists would have no weight"),
    "compiler.CodeGenerator.visit_Dict": (("self", "node", "frame"), "dicts would have no weight"),
    "compiler.CodeGenerator.visit_Getitem": (("self", "node", "frame"), "slices would be uncounted"),
    "compiler.CodeGenerator.visit_Compare": (("self", "node", "frame"), "comparisons would be uncounted"),
    "compiler.CodeGenerator.visit_Operand": (("self", "node", "frame"), "comparisons would be uncounted"),
    "compiler.CodeGenerator.visit_Getattr": (("self", "node", "frame"), "fields would be looked up slowly"),
    "compiler.CodeGenerator.visit_CallBlock": (("self", "node", "frame"), "generation blocks would not compile"),
    "compiler.CodeGenerator.blockvisit": (("self", "nodes", "frame"), "generation blocks would not compile"),
    "compiler.CodeGenerator.buffer": (("self", "frame"), "generation blocks would print outside of their text"),
    "compiler.CodeGenerator.enter_frame": (
        ("self", "frame"),
        "generation blocks would share names with what is around",
    ),
    "compiler.CodeGenerator.leave_frame": (("self", "frame", "with_python_scope"), "the same"),
    "compiler.CodeGenerator.start_write": (("self", "frame", "node"), "generation blocks would not compile"),
    "compiler.CodeGenerator.end_write": (("self", "frame"), "generation blocks would not compile"),
    "compiler.CodeGenerator.fail": (("self", "msg", "lineno"), "a break out of a generation block would lose its text"),
    "compiler.CodeGenerator.write": (("self", "x"), "the generator could not write code"),
    "environment.Environment._parse": (("self", "source", "name", "filename"), "templates could not be parsed"),
    "environment.Environment.code_generator_class": (None, "Jinja's own generator would compile templates"),
    "lexer.Lexer.tokeniter": (
        ("self", "source", "name", "filename", "state"),
        "a template's tokens could not be counted before it is parsed",
    ),
    # Values of running templates.
    "runtime.new_context": (
        ("environment", "template_name", "blocks", "vars", "shared", "globals", "locals"),
        "a template could not run",
    ),
    "runtime.Context": (("environment", "parent", "name", "blocks", "globals"), "a template could not run"),
    "runtime.BlockReference": (("name", "context", "stack", "depth"), "blocks would not be called as blocks"),
    "runtime.LoopContext": (("iterable", "undefined", "recurse", "depth0"), "loop.* would be refused"),
    "runtime.Macro": (
        (
            *("environment", "func", "name", "arguments", "catch_kwargs", "catch_varargs", "caller"),
            "default_autoescape",
        ),
        "calls of macros would not count as nested",
    ),
    "utils.Namespace.__init__": (None, "namespace(...) would not take what dict(...) takes"),
    "utils.Namespace.__setitem__": (("self", "name", "value"), "names with an underscore would not be refused"),
    "utils.Cycler": (("items",), "cycler(...) would fail"),
    "utils.Joiner": (("sep",), "joiner(...) would fail"),
    # Filters and tests.
    "filters.do_filesizeformat": (("value", "binary"), "the filter filesizeformat would fail"),
    "filters.do_float": (("value", "default"), "the filter float would fail"),
    "filters.do_int": (("value", "default", "base"), "the filter int would fail"),
    "filters.do_round": (("value", "precision", "method"), "the filter round would fail"),
    "filters.do_urlencode": (("value",), "the filter urlencode would fail"),
    "filters.do_wordwrap": (
        ("environment", "s", "width", "break_long_words", "wrapstring", "break_on_hyphens"),
        "the filter wordwrap would fail",
    ),
    "tests.TESTS": (None, "tests such as `is defined` would be unknown"),
}
"""By name without ``jinja2.``: required parameters (None: not a function), and the consequence of a change."""

PUBLIC = {
    *("nodes", "ext.Extension", "ext.loopcontrols", "sandbox.ImmutableSandboxedEnvironment", "runtime.Undefined"),
    *("exceptions.FilterArgumentError", "exceptions.SecurityError", "exceptions.TemplateRuntimeError"),
    *("exceptions.TemplateSyntaxError", "parser.Parser", "compiler.Frame"),
}
"""Documented parts of Jinja, for extensions and sandboxes."""


def find(name: str) -> Any:
    module, *path = name.split(".")
    found: Any = importlib.import_module(f"jinja2.{module}")
    for part in path:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", PARTS)
def test_private_part(name: str) -> None:
    parameters, consequence = PARTS[name]
    try:
        found = find(name)
    except AttributeError:
        pytest.fail(f"Jinja has no jinja2.{name} any more: {consequence}")
    if parameters is not None:
        assert tuple(inspect.signature(found).parameters) == parameters, consequence


def test_one_module_imports_jinja_and_every_import_is_listed() -> None:
    users = {}
    for path in CHAT.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("jinja2", "markupsafe"):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names if alias.name.startswith(("jinja2", "markupsafe"))}
        if names:
            users[path.name] = {name.removeprefix("jinja2.") for name in names}
    listed = {".".join(name.split(".")[:2]) for name in PARTS} | PUBLIC
    assert set(users) == {"jinja.py"}
    assert users["jinja.py"] - listed == {"markupsafe.escape"}


def test_installed_version_is_within_the_bounds_that_are_tested() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    bounds = set(re.findall(r'"jinja2([^"]*)"', text))
    assert bounds == {">=3.1,<3.2"}
    assert metadata.version("jinja2").startswith("3.1.")


EVERY_CONSTRUCT = """
{%- macro shout(text, mark="!") -%}{{ text | upper }}{{ mark }}{{ caller() if caller }}{%- endmacro -%}
{%- set ns = namespace(count=0) -%}
{%- block whole scoped -%}
{{ shout("c") }}
{%- for item in messages if item.role is defined recursive -%}
{%- set ns.count = ns.count + 1 -%}
{{ shout(item.content[1:] ~ "," ~ item["role"]) }}{% call shout("a") %}b{% endcall %}
{%- if loop.index > 1 and -ns.count < 2 * 3 or not ns.count in [1, 2] %}{% continue %}{% endif -%}
{%- generation -%}{{ {"k": (1, 2)} | tojson + "." }}{{ "sum: " + (ns.count + 1) | string }}{%- endgeneration -%}
{%- endfor -%}
{%- endblock -%}
{%- filter lower %}X{% endfilter -%}
{%- with a = 1, b = 2 %}{{ (a, b)[0] if b is odd else [a + b] }}{% endwith -%}
"""


def test_compiled_code_calls_nothing_that_the_runtime_lacks() -> None:
    code = str(_SANDBOX.compile(jinja.parse(_SANDBOX, EVERY_CONSTRUCT), raw=True))
    called = set(re.findall(r"\benvironment\.(\w+)", code))
    assert called - {name for cls in Runtime.__mro__ for name in vars(cls)} == set(), (
        "a template would fail when it runs"
    )
    names = {"show", "shown", "field", "generation", "chain", "added", "tupled", "listed", "mapped", "part", "weighed"}
    assert names | {"call_binop", "call"} <= called
    arguments = {quoted or bare for quoted, bare in re.findall(r"'(_\w+_vars)':|\b(_\w+_vars)=", code)}
    assert arguments == set(jinja.CALL_ARGUMENTS), "calls would get an argument that they do not take"


def test_a_compiled_template_has_its_parts() -> None:
    program = Program("{% block a %}x{% endblock %}\n{{ y }}", Limits())
    assert tuple(inspect.signature(program.root).parameters) == ("context", "missing", "environment")
    assert list(program.blocks) == ["a"], "blocks would not be found"
    assert program._lines, "errors would have no line"


def test_items_of_a_namespace() -> None:
    assert dict(jinja.namespace_items(jinja.Namespace(a=1))) == {"a": 1}, "namespaces could not be printed"
