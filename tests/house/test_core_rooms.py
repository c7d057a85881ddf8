"""The Rust crates are built in layers: no file uses a layer above its own, nor do files use one another in a circle."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"

# Each module at the root of crates/core/src, below those that use it. DESIGN.md says what each is for.
ROOMS = (
    *("error", "memory", "interrupt", "utf8", "tier", "prefetch", "units", "helpers", "parallel", "large_pages", "row"),
    *("eight_bytes", "edge", "occurrences", "hash", "stored"),
    *("vocab", "files", "trie"),
    "real_data",
    *("split", "normalize", "pre_tokenize", "segment"),
    *("merge", "model", "cache", "encode"),
    *("decode", "pipeline"),
    *("count", "chunk", "align", "canonical", "prefix_cache"),
    "train",
)

Module = tuple[str, ...]


def without_strings_and_comments(source: str) -> str:
    """The code of a Rust file, with an empty string for each literal."""
    literal = r'b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'])\'|//[^\n]*|/\*.*?\*/'
    return re.sub(literal, '""', source, flags=re.DOTALL)


def without_tests(code: str) -> tuple[str, set[str]]:
    """The code without items for tests, and the names of the modules in files of their own that are for tests."""
    kept, modules, at = [], set(), 0
    for found in re.finditer(r"#\[cfg\(test\)\]", code):
        if found.start() < at:
            continue
        kept.append(code[at : found.start()])
        if name := re.match(r"(?:\s*#\[[^]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", code[found.end() :]):
            modules.add(name[1])
        at, depth = found.end(), 0
        for at in range(found.end(), len(code)):
            depth += (code[at] in "{[(") - (code[at] in "}])")
            if depth == 0 and code[at] in "};":
                break
        at += 1
    return "".join([*kept, code[at:]]), modules


def paths_in(code: str) -> Iterator[str]:
    """Each path that begins with `crate` or `super`, those in braces one by one."""
    for found in re.finditer(r"(?<![\w:$])(?:crate|super)(?:::\w+)*(::(?=\{))?", code):
        if not found[1]:
            yield found[0]
            continue
        outer, inner = [""], found[0]
        for token in re.finditer(r"\{|\}|,|\w+(?:::\w+)*(?:::(?=\{))?(?:\s+as\s+\w+)?", code[found.end() :]):
            if token[0] == "{":
                outer.append(inner)
            elif token[0] == "}":
                outer.pop()
                if len(outer) == 1:
                    break
            elif token[0] != ",":
                inner = outer[-1] + token[0].split()[0]
                if not inner.endswith("::"):
                    yield inner


def uses_of(crate: str) -> list[tuple[Module, Module]]:
    """Each use of one module's path in another's file, code for tests aside."""
    root = CRATES / crate / "src"
    code, tests = {}, set()
    for file in sorted(root.rglob("*.rs")):
        place = file.relative_to(root).with_suffix("").parts
        module = place[:-1] if place[-1] == "mod" else () if place == ("lib",) else place
        code[module], names = without_tests(without_strings_and_comments(file.read_text(encoding="utf-8")))
        tests |= {(*module, name) for name in names}
    uses = []
    for module, text in code.items():
        if any(module[: len(test)] == test for test in tests):
            continue
        for path in paths_in(text):
            steps = path.split("::")
            named = module
            while steps and steps[0] == "super":
                named = named[:-1]
                steps = steps[1:]
            named = tuple(steps[1:]) if steps and steps[0] == "crate" else (*named, *steps)
            while named not in code:
                named = named[:-1]
            if named != module:
                uses.append((module, named))
    return uses


def file(module: Module) -> str:
    """The name of a module in messages."""
    return "/".join(module) or "lib"


def circle(uses: list[tuple[Module, Module]]) -> list[Module]:
    """A circle of modules, each of which uses the next, if there is one."""
    next_of: dict[Module, set[Module]] = {}
    for user, used in uses:
        next_of.setdefault(user, set()).add(used)
    done: set[Module] = set()

    def visit(module: Module, way: list[Module]) -> list[Module]:
        if module in way:
            return way[way.index(module) :]
        if module in done:
            return []
        for used in sorted(next_of.get(module, ())):
            if found := visit(used, [*way, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(next_of) if (found := visit(module, []))), [])


def test_each_module_at_the_root_is_a_room() -> None:
    src = CRATES / "core" / "src"
    assert sorted(ROOMS) == sorted(path.stem for path in src.iterdir() if path.name != "lib.rs")


def test_no_room_uses_one_above_it() -> None:
    height = {room: number for number, room in enumerate(ROOMS)}
    wrong = {
        f"{file(user)} -> {file(used)}"
        for user, used in uses_of("core")
        if user and used and height[user[0]] < height[used[0]]
    }
    assert not wrong, "\n".join(sorted(wrong))


@pytest.mark.parametrize("crate", ["core", "py"])
def test_no_files_use_one_another_in_a_circle(crate: str) -> None:
    # The face of a folder, mod.rs, declares what its files share; they may name it, and it names all of them.
    faces = {used[:-1] for pair in uses_of(crate) for used in pair if used}
    found = circle([(user, used) for user, used in uses_of(crate) if not {user, used} & faces])
    assert not found, " -> ".join(map(file, [*found, *found[:1]]))


def test_uses_are_read() -> None:
    """The readers above find what they should, so that a circle could not hide."""
    source = r"""
    use crate::a::{self, b::{C, D as E}, f};
    // crate::no
    fn g() { super::h::i("crate::no", '"', r"\"); }
    #[cfg(test)]
    #[allow(x)]
    mod t;
    #[cfg(test)]
    mod u { use crate::no; }
    struct S(crate::v::W);
    """
    code, tests = without_tests(without_strings_and_comments(source))
    assert tests == {"t"}
    paths = {path.replace("::self", "") for path in paths_in(code)}
    assert paths == {"crate::a", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "super::h::i", "crate::v::W"}
    assert circle([(("a",), ("b",)), (("b",), ("c",)), (("c",), ("b",))]) == [("b",), ("c",)]
    assert ("encode",) in {user for user, _ in uses_of("core")}
