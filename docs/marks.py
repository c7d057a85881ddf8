"""A Markdown extension: removes the marks of tests from fences, and header rows without a word from tables.

It works in MkDocs and in Zensical, which has no hooks.
"""

from __future__ import annotations

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

# Before fences are read, which has 25 to 30, and behind all that puts HTML back.
_FIRST, _LAST = 100, -1


class Marks(Extension):
    """The extension."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Adds both steps."""
        md.preprocessors.register(_Fences(md), "test-marks", _FIRST)
        md.postprocessors.register(_Tables(md), "empty-headers", _LAST)


class _Fences(Preprocessor):
    """Removes the mark of code that tests leave out: with it, a fence would not be read as one."""

    def run(self, lines: list[str]) -> list[str]:
        return [re.sub(r"^( *```\w+) no-run$", r"\1", line) for line in lines]


class _Tables(Postprocessor):
    """Removes header rows in which nothing stands: Markdown has no table without one."""

    def run(self, text: str) -> str:
        text = re.sub(r"<thead>\s*<tr>(\s*<th[^>]*></th>)+\s*</tr>\s*</thead>", "", text)
        return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", text)


def makeExtension() -> Marks:  # noqa: N802
    """The extension, as Markdown asks for it."""
    return Marks()
