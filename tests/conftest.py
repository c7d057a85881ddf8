"""Shared fixtures: real data if present, and a tokenizer trained on text that every machine has."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import bytepair as bp

ROOT = Path(__file__).parent.parent
WHOLE = bool(os.environ.get("BYTEPAIR_WHOLE"))
"""Whether tests that run a share of their cases run all of them, which takes some minutes."""

SLOW = ("deepseek", "gemma3", "openai", "qwen2")
"""Vocabularies that take seconds to load, each of the same kind as another one."""


def share(vocabularies: Iterable[str]) -> list[str]:
    """The vocabularies to test; all of them with BYTEPAIR_WHOLE. `test_families.py` always takes all."""
    return [name for name in vocabularies if WHOLE or not name.startswith(SLOW)]


# Shared machines pause a process for longer than any case takes, so no case has a deadline.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("seeded", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("same" if config.getoption("hypothesis_seed", None) is None else "seeded")
    # A shell starts what is in its background with SIGINT ignored, which programs started by tests would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.getoption("hypothesis_seed", None)
    return f"hypothesis: {'each test has its own seed, always the same' if seed is None else f'seed {seed}'}"


def data_folder() -> Path:
    return Path(os.environ.get("BYTEPAIR_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"no real data: set BYTEPAIR_DATA (there is no {folder})")
    return folder


@pytest.fixture(scope="session")
def sources() -> list[str]:
    """Some modules of the standard library: text of a few hundred kilobytes, alike on every machine."""
    library = Path(sysconfig.get_paths()["stdlib"])
    names = ["argparse", "ast", "datetime", "json/decoder", "pathlib", "random", "turtle", "typing"]
    files = [library / f"{name}.py" for name in names]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    assert sum(map(len, texts)) > 100_000
    return texts


@pytest.fixture(scope="session")
def tok(sources: list[str]) -> bp.Tokenizer:
    """A tokenizer trained on those, with two special tokens."""
    return bp.train(iter(sources), 2000, split="cl100k", special_tokens=["<|end|>", "<|user|>"])


HOSTILE = [
    "",
    " ",
    "\n",
    "mañana 🦊",
    "".join(map(chr, range(256))),
    "a" * 1000,
    " " * 1000,
    "\r\n" * 300,
    "  x \n\n y\t\tz   ",
    "I'VE I've we'll'd 'S ſ's",
    "1234567890 ١٢٣٤ Ⅷ½",
    "e\u0301 \u1100\u1161\u11a8 각 ｶﾞ",
    "日本語の文章。中文，标点！한국어 ไทย हिन्दी",
    "👨‍👩‍👧‍👦👍🏽 \u200b\ufeff\u00ad\u2028\u2029\x85",
    "\x00\x01\x7f\u0080\ud7ff\ue000\uffff\U0010ffff",
    "<|end|",
    "aaaabbbbabababab" * 20,
    "CamelCaseWORDSAndMORE",
    "https://example.org/a/b//c?d=e&f#g\n///\n",
]
"""Texts that tokenizers have handled wrongly."""


def script(path: Path) -> Any:
    """A program of `examples/`, imported as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Types of a NamedTuple are looked up there.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
