"""The rooms of python/bytepair: imports run downwards only, and no modules import each other in a circle.

Imports for type checkers and inside functions count like any other. A module that another one names in a string, such
as an engine, is loaded at run time and is no import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import bytepair

ROOT = Path(bytepair.__file__).parent

ROOMS = [
    ["_core", "errors"],
    ["progress", "files", "drawing"],
    ["model"],
    ["formats"],
    ["sources"],
    ["call"],
    ["chat", "chunk", "prompts"],
    ["tokenizer", "lowlevel"],
    ["resolver"],
    ["alignment"],
    ["training"],
    ["shards"],
    ["check"],
    ["study"],
    ["view"],
    ["compat"],
    ["bytepair"],
    ["cli"],
    ["__main__"],
    ["reference"],
]
"""From the ground up; rooms of one row do not import each other. ``bytepair`` is ``__init__.py``."""

FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}


def modules() -> dict[str, Path]:
    """The path of each module, by its name without ``bytepair.``."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found["bytepair"] = found.pop("")
    return found


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The modules of bytepair that a module imports, wherever the statement is."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.partition(".")[0] == "bytepair":
                yield innermost(name.partition(".")[2], known)


def innermost(name: str, known: set[str]) -> str:
    """The module that an imported name is, or is in."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or "bytepair"


def graph() -> dict[str, set[str]]:
    """The modules that each module imports. The core is a module without imports."""
    paths = modules()
    known = {*paths, "_core"}
    arrows = {name: {*imported(path, known)} - {name} for name, path in paths.items()}
    return {**arrows, "_core": set()}


def room(module: str) -> str:
    return module.partition(".")[0]


def upward(arrows: dict[str, set[str]]) -> list[str]:
    """The imports that do not run from a higher floor to a lower one, or stay in their room."""
    return sorted(
        f"{module} -> {other}"
        for module, others in arrows.items()
        for other in others
        if room(module) != room(other) and FLOOR[room(module)] <= FLOOR[room(other)]
    )


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that import each other, directly or through others (Tarjan's components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(arrows[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            place = stack.index(module)
            component = sorted(stack[place:])
            del stack[place:]
            if len(component) > 1:
                found.append(component)

    for module in sorted(arrows):
        if module not in index:
            visit(module)
    return found


def test_every_module_is_in_a_room() -> None:
    assert {room(module) for module in graph()} == set(FLOOR)


def test_imports_run_downwards() -> None:
    assert upward(graph()) == []


def test_no_modules_import_each_other() -> None:
    assert circles(graph()) == []


def test_the_reference_is_not_used_by_the_product() -> None:
    users = {module for module, others in graph().items() if "reference" in map(room, others)}
    assert {room(module) for module in users} <= {"reference"}
    theirs = {other for module, others in graph().items() if room(module) == "reference" for other in others}
    assert {room(module) for module in theirs} <= {"reference", "errors"}


def test_faults_are_found() -> None:
    arrows = {"errors": {"files"}, "files": {"errors"}, "call.a": {"call.b", "errors"}, "call.b": set()}
    assert upward(arrows) == ["errors -> files"]
    assert circles(arrows) == [["errors", "files"]]
    assert [*map(str, imported(Path(__file__), {"errors"}))] == ["bytepair"]


def test_every_room_says_what_it_holds() -> None:
    for path in ROOT.glob("*/__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path
