"""The findings of a lint, as text and as HTML."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from bytepair.drawing.characters import escaped, show_line
from bytepair.view import pipeline
from bytepair.view.page import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.check.lint.findings import Finding, Lint
    from bytepair.tokenizer import Tokenizer

_INDENT = " " * 9
_LONGEST = 400
"""The most characters of a line of a finding: a name in a file may have any length."""


def text(lint: Lint, *, width: int | None = None) -> str:
    """All findings as text, and their number.

    Args:
        lint: The findings.
        width: The columns at which lines are wrapped; None for lines of any length.

    Example:
        >>> from bytepair.check.lint.findings import Finding, Lint
        >>> print(text(Lint(())))
        0 errors, 0 warnings, 0 notes
    """
    lines = [line for finding in lint.findings for line in _lines(finding, width)]
    return "\n".join([*lines, lint.summary])


def _lines(finding: Finding, width: int | None) -> list[str]:
    lines = [f"{finding.severity:<9}{finding.code}: {_line(finding.what)}"]
    rows = {
        "where": finding.where,
        "such as": finding.shown_examples,
        "means": finding.meaning,
        "do": finding.remedy,
    }
    lines += [f"{_INDENT}{name}: {_line(value)}" for name, value in rows.items() if value]
    if width is None:
        return lines
    inner = _INDENT + "  "
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, max(width, 40), subsequent_indent=inner, break_on_hyphens=False) or [""]
    ]


def _line(text: str) -> str:
    return show_line(text, _LONGEST)


def fragment(lint: Lint) -> str:
    """The findings as a fragment of HTML, for `page` with ``linted.css``."""
    if not lint.findings:
        return '<p class="clean">No findings.</p>\n'
    items = "".join(map(_item, lint.findings))
    return f'<p class="n">{escape(lint.summary)}</p>\n<ol class="findings">\n{items}</ol>\n'


def _item(finding: Finding) -> str:
    rows = [("Means", finding.meaning), ("Do", finding.remedy)]
    if finding.where:
        rows.append(("Where", finding.where))
    listed = "".join(f"<dt>{name}</dt><dd>{escape(_line(value))}</dd>" for name, value in rows)
    if finding.examples:
        shown = "".join(f"<li><code>{escape(_line(example))}</code></li>" for example in finding.examples)
        more = finding.count - len(finding.examples)
        shown += f'<li class="n">and {more:,} more</li>' if more > 0 else ""
        listed += f'<dt>Such as</dt><dd><ul class="examples">{shown}</ul></dd>'
    return (
        f'<li class="finding {finding.severity}">\n'
        f'<h3><span class="severity">{finding.severity}</span> {escape(_line(finding.what))} '
        f'<code class="code">{escape(finding.code)}</code></h3>\n<dl>{listed}</dl>\n</li>\n'
    )


def html(name: str, facts: Mapping[str, str], lint: Lint, tokenizer: Tokenizer | None) -> str:
    """A page of a tokenizer: facts by name, stages and findings; a tokenizer that does not load is None."""
    rows = "".join(f"<dt>{escape(key)}</dt><dd>{escape(_line(value))}</dd>" for key, value in facts.items())
    drawn = f"<h2>Pipeline</h2>\n{pipeline.fragment(tokenizer)}" if tokenizer is not None else ""
    body = (
        f"<h1>{escaped(name)}</h1>\n"
        + (f'<dl class="facts">{rows}</dl>\n' if rows else "")
        + f"{drawn}<h2>Findings</h2>\n{fragment(lint)}"
    )
    return page(f"{name}: inspected", body, styles=("pipeline.css", "linted.css"))
