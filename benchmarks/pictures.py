"""Pages of long texts compared with the visualizer of `tokenizers`, and reports of corpora compared with encoding.

    python -m benchmarks.pictures [--data FOLDER] [--characters N] [--rounds N] [--write]

A page of an English text by GPT-2's vocabulary, and of its first tenth, beside the visualizer of `tokenizers`, whose
time grows with the square of the text: the CPU time to make it, its size, and, where Chromium and playwright
are installed (``make test-browser`` installs them), the time until a browser has loaded it, and its number of
elements. Both pages have the same ids, which are compared first, and both must hold the text. *Of encoding* is the CPU
time of a call over all texts divided by that of ``count_batch``; its tokens are compared as well. Medians of rounds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import pages
from bytepair.view import interactive, pictures, terminal

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
TEXTS = ("en_1mb", "code_1mb", "multi_1mb")
PAGES = "| Page of {tokens:,} tokens | CPU seconds | MB | ms to load | elements |\n|---|---|---|---|---|"
CALLS = "| Call over {megabytes:.0f} MB | CPU seconds | of encoding |\n|---|---|---|"


class _Text(HTMLParser):
    """The text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        """Collect a text node."""
        self.parts.append(data)


def cpu(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The median CPU time of a call, and its result."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return median(times), result


def holds(page: str, text: str) -> bool:
    """Whether a page contains a text, whitespace aside."""
    return "".join(text.split()) in "".join("".join(_Text(page).parts).split())


def loaded(page: str, rounds: int) -> tuple[float, int] | None:
    """Milliseconds until a browser has loaded a page, and its number of elements; None without a browser."""
    program = os.environ.get("BYTEPAIR_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if program is None:
        return None
    times = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "page.html")
        place.write_text(page, "utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(rounds):
            tab = browser.new_page()
            tab.goto(place.as_uri(), wait_until="load")
            times.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart"))
            elements = int(tab.evaluate("document.querySelectorAll('*').length"))
            tab.close()
        browser.close()
    return median(times), elements


def pages_of(file: Path, text: str, rounds: int, *, beside: bool) -> list[str]:
    """The rows of a text's page: bytepair's and, with `beside`, the visualizer's."""
    from tokenizers import Tokenizer
    from tokenizers.tools.visualizer import EncodingVisualizer

    tok, peer = bp.Tokenizer.from_file(file), Tokenizer.from_file(str(file))
    ids = tok.encode(text, special="allow")
    if ids != peer.encode(text, add_special_tokens=False).ids:
        raise SystemExit("ids differ")
    visualizer = EncodingVisualizer(peer, default_to_notebook=False)
    makes: dict[str, Callable[[], str]] = {
        "bytepair": lambda: interactive.html(pictures.picture({"gpt2": tok}, text), title="t")
    }
    if beside:
        makes["`tokenizers`, EncodingVisualizer"] = lambda: str(visualizer(text))
    lines = [PAGES.format(tokens=len(ids))]
    for name, make in makes.items():
        seconds, page = cpu(make, rounds)
        if not holds(page, text):
            raise SystemExit(f"the page of {name} lacks some of the text")
        seen = loaded(page, rounds)
        browser = f"{seen[0]:,.0f} | {seen[1]:,}" if seen else "not measured | not measured"
        lines.append(f"| {name} | {seconds:.2f} | {len(page.encode()) / 1e6:.1f} | {browser} |")
    seconds, _ = cpu(lambda: list(terminal.lines(pictures.picture({"gpt2": tok}, text))), rounds)
    return [*lines, f"| bytepair, lines of a terminal | {seconds:.2f} | | | |", ""]


def calls_over(file: Path, texts: dict[str, str], rounds: int) -> list[str]:
    """The rows of calls over whole corpora."""
    tok = bp.Tokenizer.from_file(file)
    other = bp.Tokenizer.from_file(file.parent.parent / "gpt-neox" / "tokenizer.json")
    corpora = {name: text.splitlines(keepends=True) for name, text in texts.items()}
    lines = [line for some in corpora.values() for line in some]
    encoding, counts = cpu(lambda: tok.count_batch(lines, special="text", threads=1), rounds)
    makes: dict[str, tuple[Callable[[], Any], Callable[[Any], int]]] = {
        "`bp.report`": (
            lambda: bp.report({"gpt2": tok}, {name: iter(some) for name, some in corpora.items()}, threads=1),
            lambda found: sum(found.cost("gpt2", name).tokens for name in corpora),
        ),
        "`bp.compare` with that of GPT-NeoX": (
            lambda: bp.compare(tok, other, {name: iter(some) for name, some in corpora.items()}, threads=1),
            lambda found: found.total.tokens_a,
        ),
    }
    rows = [CALLS.format(megabytes=sum(len(line.encode()) for line in lines) / 1e6)]
    for name, (call, tokens) in makes.items():
        seconds, found = cpu(call, rounds)
        if tokens(found) != sum(counts):
            raise SystemExit(f"{name} counts {tokens(found)} tokens, and there are {sum(counts)}")
        rows.append(f"| {name} | {seconds:.2f} | {seconds / encoding:.1f} |")
    return rows


def main(arguments: list[str]) -> None:
    """Measure, print, and write the tables with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--characters", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args(arguments)
    file = options.data / "vocabs" / "gpt2" / "tokenizer.json"
    texts = {name: (options.data / "corpora" / f"{name}.txt").read_text("utf-8") for name in TEXTS}
    # Invisible characters are shown by their numbers, so they would not be found.
    seen = "".join(character for character in texts["en_1mb"] if character.isprintable() or character.isspace())
    lines = [
        *pages_of(file, seen[: options.characters // 10], options.rounds, beside=True),
        *pages_of(file, seen[: options.characters], options.rounds, beside=False),
        *calls_over(file, {name: text[: 2 * options.characters] for name, text in texts.items()}, options.rounds),
    ]
    print("\n".join(lines))
    if options.write:
        pages.put("performance.md", "benchmarks.pictures", "\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
