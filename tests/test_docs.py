"""What the documents and the core's docstrings show runs as written."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from bytepair import _core
from tests.conftest import ROOT


def examples_of_properties() -> list[doctest.DocTest]:
    """Those that doctest does not find: the properties of compiled classes."""
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
    assert calls - shown <= {"encode_batch_flat", "vocab_size"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_of_the_core(example: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


def python_blocks(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", document.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def run_as_written(block: str, folder: Path, warnings: str = "error") -> None:
    environment = {**os.environ, "PYTHONWARNINGS": warnings}
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"#> (.*)", block)
    assert done.stdout.splitlines() == promised


@pytest.mark.parametrize("document", ["README.md", "docs/index.md"])
def test_the_tour_runs_as_written(tmp_path: Path, document: str) -> None:
    blocks = python_blocks(ROOT / document)
    assert blocks
    for block in blocks:
        run_as_written(block, tmp_path)


def test_a_page_that_goes_on_runs_as_one(tmp_path: Path) -> None:
    run_as_written("\n".join(python_blocks(ROOT / "docs" / "chats.md")), tmp_path)


SHARDING = ROOT / "docs" / "sharding.md"
TRAINERS = ("datasets", "litdata", "streaming")


def test_the_guide_to_shards_runs_as_one(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip("matplotlib")
    blocks = [block for block in python_blocks(SHARDING) if not any(f"from {name} " in block for name in TRAINERS)]
    run_as_written("\n".join(blocks), tmp_path)


@pytest.mark.parametrize("name", TRAINERS)
def test_shards_are_read_back_as_the_guide_says(tmp_path: Path, name: str) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip(name)
    first, *others = python_blocks(SHARDING)
    (reading,) = (block for block in others if f"from {name} " in block)
    # These libraries warn of what is theirs.
    run_as_written(f"{first}\n{reading}", tmp_path, warnings="default")


COMPAT = ROOT / "docs" / "compat.md"
LIBRARIES = {
    "langchain": "langchain_text_splitters",
    "llama": "llama_index.core",
    "semchunk": "semchunk",
    "chonkie": "chonkie",
}


@pytest.mark.parametrize("number", range(len(python_blocks(COMPAT))))
def test_the_examples_with_other_libraries_run_as_written(tmp_path: Path, number: int) -> None:
    block = python_blocks(COMPAT)[number]
    needed = [module for name, module in LIBRARIES.items() if name in block]
    assert len(needed) == 1
    pytest.importorskip(needed[0])
    run_as_written(block, tmp_path)
