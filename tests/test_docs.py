"""The code in the documentation and the core's docstrings runs as written, and every public name is in the reference.

The language of a fence decides how its block is tested:

- ``python``: it runs. A block with ``import bytepair as bp`` begins a program, and later blocks without it continue
  that program; the expected output follows ``#>``, where ``...`` matches anything.
- ``python`` with prompts ``>>>``: a doctest; those of a page are one.
- ``console``: lines that begin with ``$ `` run, in bash; their expected output is below them. Without any, all output
  is accepted.
- ``python no-run``, ``sh no-run``: it does not run. `LEFT_OUT` counts them all.

All blocks of a page run in order in one empty folder. If the output of a command has changed, and the change is right,
`BYTEPAIR_WRITE_DOCS=1` writes it into the page.
"""

from __future__ import annotations

import ast
import doctest
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import types
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import bytepair as bp
from bytepair import _core, reference
from tests.conftest import ROOT, data_folder

DOCS = ROOT / "docs"
ENCODINGS = data_folder() / "vocabs" / "openai"
PAGES = ["README.md", *sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))]

TRAINERS = ("datasets", "litdata", "streaming")
LIBRARIES = ("chonkie", "langchain_text_splitters", "llama_index", "semchunk", "torch", "transformers")
"""Optional packages that examples import: an example has a test of its own, or is skipped here without its package."""

LEFT_OUT = {
    "docs/chat-audit.md": 1,  # a folder of templates
    "docs/index.md": 1,  # a hub, and files of one's own
    "docs/guides/fine-tune.md": 1,  # files of one's own
    "docs/finetuning.md": 1,  # files of one's own
    "docs/trainers.md": 3,  # a model, and packages that are not here
    "docs/sharding.md": 2,  # Megatron-LM, and a cluster
    "docs/guides/pretrain.md": 1,  # a cluster
    "docs/guides/serve.md": 1,  # a hub
    "docs/prefix-cache.md": 1,  # servers
    "docs/visualize/playground.md": 1,  # a server
    "docs/visualize/notebook.md": 2,  # a notebook
}
"""The number of blocks of a page that do not run, with their requirements."""


def examples_of_properties() -> list[doctest.DocTest]:
    """The examples that doctest does not find: of properties of compiled classes."""
    parser = doctest.DocTestParser()
    found = []
    for kind in vars(_core).values():
        for name, value in vars(kind).items() if isinstance(kind, type) else ():
            if isinstance(value, types.GetSetDescriptorType) and ">>>" in (value.__doc__ or ""):
                where = f"bytepair._core.{kind.__name__}.{name}"
                found.append(parser.get_doctest(value.__doc__ or "", {}, where, None, 0))
    return found


EXAMPLES = doctest.DocTestFinder(exclude_empty=True).find(_core, "bytepair._core") + examples_of_properties()


def test_the_core_has_examples() -> None:
    shown = {example.name.rpartition(".")[2] for example in EXAMPLES if example.examples}
    calls = {name for name in vars(_core.CoreTokenizer) if not name.startswith("_")}
    assert calls - shown <= {"vocab_size"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_the_core(example: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


class Block(NamedTuple):
    """A fence of a document."""

    language: str
    runs: bool
    code: str
    line: int


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text("utf-8")
    fences = re.finditer(r"^```(\w*)( no-run)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(one[1], one[2] is None, one[3], text.count("\n", 0, one.start()) + 1) for one in fences]


def python_blocks(document: Path) -> list[str]:
    blocks = blocks_of(document.relative_to(ROOT).as_posix())
    return [block.code for block in blocks if block.language == "python" and block.runs]


def assert_shown(shown: list[str], printed: list[str], where: str) -> None:
    """`...` in the shown output matches anything: a part of a line, or, alone, some lines."""
    parts = [re.escape(line).replace(re.escape("..."), ".*") + r"\n" for line in shown]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else part for line, part in zip(shown, parts, strict=True))
    said = "".join(f"{line.rstrip()}\n" for line in printed)
    assert re.fullmatch(pattern, said), f"{where} printed\n{said}"


def environment(**more: str) -> dict[str, str]:
    """The environment of examples: no downloads, and output of the same width on every machine."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    fixed = {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "BYTEPAIR_ENCODINGS": str(ENCODINGS)}
    return {**os.environ, **fixed, **more}


def run_as_written(block: str, folder: Path, warnings: str = "error", where: str = "it") -> None:
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=folder,
        env=environment(PYTHONWARNINGS=warnings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{where}: {done.stderr}"
    assert_shown(re.findall(r"#> (.*)", block), done.stdout.splitlines(), where)


def run_in_a_shell(block: Block, folder: Path, where: str) -> None:
    """Runs the commands after prompts; a command continues after a backslash, and in the lines of a here-document."""
    for command, shown in re.findall(r"^\$ ((?:.*\\\n)*.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", block.code, re.MULTILINE):
        line = re.sub(r"^> ", "", command, flags=re.MULTILINE)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        # As `| head` leaves it.
        assert done.returncode in {0, 141}, f"{where}: {command}{done.stdout}"
        if not shown:
            continue
        try:
            assert_shown([row.rstrip() for row in shown.splitlines()], done.stdout.splitlines(), f"{where}: {command}")
        except AssertionError:
            if "BYTEPAIR_WRITE_DOCS" not in os.environ:
                raise
            page = ROOT / where.partition(",")[0]
            printed = f"$ {command}" + "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
            page.write_text(page.read_text("utf-8").replace(f"$ {command}{shown}", printed, 1), "utf-8")


def imported(code: str) -> set[str]:
    """The packages that code imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def run_doctests(blocks: list[Block], folder: Path, page: str) -> None:
    source = "\n".join(block.code for block in blocks)
    code = (
        "import doctest, sys\n"
        f"example = doctest.DocTestParser().get_doctest({source!r}, {{}}, {page!r}, None, 0)\n"
        "runner = doctest.DocTestRunner()\n"
        "runner.run(example)\n"
        "sys.exit(runner.summarize().failed > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


class Program:
    """A process that runs the blocks of a program one after another, so that commands may come between them."""

    DRIVER = (
        "import contextlib, io, json, sys\n"
        "names = {'__name__': '__main__'}\n"
        "for line in sys.stdin:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as said:\n"
        "        exec(compile(json.loads(line), 'example', 'exec'), names)\n"
        "    print(json.dumps(said.getvalue()), flush=True)\n"
    )

    def __init__(self, folder: Path) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the process)
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.DRIVER],
            cwd=folder,
            env=environment(PYTHONWARNINGS="error"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def run(self, block: Block, where: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(block.code) + "\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if not said:
            self.errors.seek(0)
            pytest.fail(f"{where}: {self.errors.read()}")
        assert_shown(re.findall(r"#> (.*)", block.code), json.loads(said).splitlines(), where)

    def end(self) -> None:
        self.process.communicate()
        self.errors.close()


def cannot_run(block: Block) -> str | None:
    """A requirement of a block that is missing here."""
    if re.search(r"get_encoding\(|encoding_for_model\(|(-m|compare|align) (gpt|o200k_base)", block.code):
        return None if ENCODINGS.is_dir() else "published encodings"
    packages = imported(block.code) if block.language == "python" else set()
    return next((name for name in sorted(packages & set(LIBRARIES)) if find_spec(name) is None), None)


@pytest.mark.parametrize("page", [page for page in PAGES if any(block.runs for block in blocks_of(page))])
def test_a_page_runs_as_written(tmp_path: Path, page: str) -> None:
    missing = set()
    without: str | None = None
    program = Program(tmp_path)
    try:
        doctests = [one for one in blocks_of(page) if one.language == "python" and one.code.startswith(">>>")]
        run_doctests(doctests, tmp_path, page)
        for block in blocks_of(page):
            where = f"{page}, line {block.line}"
            if not block.runs or block in doctests or block.language not in {"console", "python"}:
                continue
            begins = "import bytepair as bp" in block.code
            if block.language == "python" and begins:
                without = None
            absent = cannot_run(block)
            if block.language == "python":
                # Those behind a block that cannot run use its names.
                absent = without = without or absent
            if absent is not None:
                missing.add(absent)
            elif block.language == "console":
                run_in_a_shell(block, tmp_path, where)
            elif not imported(block.code) & set(TRAINERS):
                if begins:
                    program.end()
                    program = Program(tmp_path)
                program.run(block, where)
    finally:
        program.end()
    if missing:
        pytest.skip(f"all but what needs {', '.join(sorted(missing))}")


def test_what_does_not_run_is_known() -> None:
    left_out = Counter(page for page in PAGES for block in blocks_of(page) if not block.runs)
    assert left_out == LEFT_OUT


@pytest.mark.parametrize("page", PAGES)
def test_commands_stand_where_they_run(page: str) -> None:
    for block in blocks_of(page):
        where = f"{page}, line {block.line}"
        if page != "README.md":
            assert block.language in {"python", "console", "text", "json", "sh", "html"}, where
        assert block.language != "sh" or not block.runs, where
        if block.language not in {"console", "sh"}:
            assert not re.search(r"^\$? ?bytepair [a-z]", block.code, re.MULTILINE), where
    text = (ROOT / page).read_text("utf-8")
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks_of(page)), page


@pytest.mark.parametrize("name", TRAINERS)
def test_shards_are_read_back_as_the_guide_says(tmp_path: Path, name: str) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip(name)
    first, *others = python_blocks(DOCS / "sharding.md")
    (reading,) = (block for block in others if f"from {name} " in block)
    # These libraries warn of what is theirs.
    run_as_written(f"{first}\n{reading}", tmp_path, warnings="default")


def faults() -> list[str]:
    text = (DOCS / "compatibility.md").read_text("utf-8")
    found = re.findall(r"^    ```python\n(.*?)^    ```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"^    ", "", code, flags=re.MULTILINE) for code in found]


@pytest.mark.parametrize("code", faults())
def test_faults_of_the_other_library_are_as_shown(code: str) -> None:
    """The last line's comment is the expected output; without one, the library panics."""
    peer = pytest.importorskip("tokenizers")
    if not peer.__version__.startswith("0.23."):
        pytest.skip(f"{peer.__version__} may do otherwise")
    prelude = "import json, tokenizers as T\n"
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    shown = re.search(r"#(?! >) (.*)$", code.rstrip())
    program = f"{prelude}{ast.unparse(tree)}\nprint({ast.unparse(last.value)!s}.__repr__())\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if shown:
        assert done.stdout.strip() == shown[1], done.stderr
    else:
        assert "Panic" in done.stderr


VIEWS = [
    "chat",
    "compared",
    "explained",
    "interactive",
    "linted",
    "notebook",
    "page",
    "pictures",
]
VIEWS += ["pipeline", "playground", "reported", "terminal", "timeline"]
"""The modules of `bytepair.view` that other packages call; the rest are parts of these."""


def described() -> Counter[str]:
    """The names with an entry in the reference."""
    pages = (page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    return Counter(name for page in pages for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE))


def test_every_public_name_is_in_the_reference() -> None:
    errors = {name for name in bp.__all__ if name in vars(bp.errors)}
    names = {f"bytepair.{name}" for name in {*bp.__all__} - errors - {"chat", "lowlevel"}}
    names |= {f"bytepair.chat.{name}" for name in bp.chat.__all__}
    names |= {f"bytepair.lowlevel.{name}" for name in bp.lowlevel.__all__}
    names |= {f"bytepair.reference.{module.name}" for module in pkgutil.iter_modules(reference.__path__)}
    names |= {f"bytepair.view.{name}" for name in VIEWS} | {"bytepair.drawing.characters", "bytepair.drawing.charts"}
    known = described()
    assert names - set(known) == set()
    assert {"bytepair.errors"} <= set(known)
    assert [name for name, times in known.items() if times > 1] == []


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert sorted(listed) == sorted(page.removeprefix("docs/") for page in PAGES[1:])


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    from bytepair.cli import COMMANDS

    text = (DOCS / "cli.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"bytepair {name}" not in text] == []
