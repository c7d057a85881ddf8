"""A timeline as text for a terminal, and as a page: counts of merges, lengths of tokens, and a list."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bytepair.drawing.charts import Series, lines
from bytepair.drawing.layout import aligned, columns, padded
from bytepair.drawing.wording import plural
from bytepair.view.page import page, write_page
from bytepair.view.spelling import spell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bytepair.study.explain.timelines import Timeline

_WINDOW = 25
"""The number of merges in the moving mean of lengths."""


def text(timeline: Timeline) -> str:
    """A timeline for a terminal: a line for each merge.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.study.explain import timeline
        >>> merges = bp.train_with_statistics({"low": 5, "lower": 2}, vocab_size=258).merges
        >>> print(text(timeline(merges)).rstrip())
        2 merges, from a list
        <BLANKLINE>
        rank  count  merge
           0      7  l  + o  lo
           1      7  lo + w  low
    """
    rows = [
        (
            f"{merge.rank:,}",
            "" if merge.count is None else f"{merge.count:,}",
            "" if merge.id is None else str(merge.id),
            *map(spell, (merge.left, merge.right, merge.result)),
        )
        for merge in timeline.merges
    ]
    left, right = (max((columns(row[place]) for row in rows), default=0) for place in (3, 4))
    merges = [f"{padded(row[3], left)} + {padded(row[4], right)}  {row[5]}" for row in rows]
    table = [["rank", "count", "id", "merge"], *([*row[:3], merge] for row, merge in zip(rows, merges, strict=True))]
    used = [place for place in range(4) if any(row[place] for row in table[1:])]
    lines_of_text = [_summary(timeline), ""]
    if rows:
        lines_of_text += aligned([[row[place] for place in used] for row in table], left=[len(used) - 1])
    return "\n".join(lines_of_text).rstrip() + "\n"


def html(timeline: Timeline, *, title: str = "Merge timeline") -> str:
    """A self-contained page of a timeline: no script, nothing loaded, light or dark by the reader's setting.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.study.explain import timeline
        >>> merges = bp.train_with_statistics({"low": 5, "lower": 2}, vocab_size=258).merges
        >>> "2 merges" in html(timeline(merges))
        True
    """
    body = [f"<h1>{escape(title)}</h1>\n<p>{escape(_summary(timeline))}.</p>\n"]
    if timeline.merges:
        body += ['<div class="charts">', *_charts(timeline), "</div>\n"]
        body += _list(timeline)
    return page(title, "".join(body), styles=["charts.css", "explained.css"])


def save(timeline: Timeline, path: str | Path, *, title: str = "Merge timeline") -> None:
    """Write the page of a timeline as `write_page` does; the other arguments are those of `html`."""
    write_page(html(timeline, title=title), path)


def _summary(timeline: Timeline) -> str:
    shown, what = len(timeline.merges), "token of several bytes" if timeline.by_rank else "merge"
    all_of = plural(timeline.total, what, "tokens of several bytes" if timeline.by_rank else "")
    summary = (all_of if shown == timeline.total else f"The first {shown:,} of {all_of}") + f", from {timeline.source}"
    if timeline.unmade:
        summary += f"; {timeline.unmade:,} before the last of these have no merge"
    return summary


def _charts(timeline: Timeline) -> Iterator[str]:
    places = range(1, len(timeline.merges) + 1)
    counts = [(place, merge.count) for place, merge in zip(places, timeline.merges, strict=True) if merge.count]
    if counts:
        title = "Counts of merged pairs"
        yield lines([Series("count", counts)], title=title, x="merge", y="count", log_x=True, log_y=True)
    lengths = [_length(merge.result, timeline) for merge in timeline.merges]
    longest: list[tuple[float, float]] = []
    mean: list[tuple[float, float]] = []
    for place in places:
        longest.append((place, max(lengths[place - 1], longest[-1][1] if longest else 0)))
        window = lengths[max(0, place - _WINDOW) : place]
        mean.append((place, sum(window) / len(window)))
    unit = "characters" if timeline.spelled else "bytes"
    series = [Series("longest so far", longest), Series(f"mean of the last {_WINDOW}", mean)]
    yield lines(series, title="Lengths of merged tokens", x="merge", y=unit)


def _length(token: bytes, timeline: Timeline) -> int:
    return len(token.decode()) if timeline.spelled else len(token)


def _list(timeline: Timeline) -> Iterator[str]:
    has_counts = any(merge.count is not None for merge in timeline.merges)
    has_ids = any(merge.id is not None for merge in timeline.merges)
    heads = ["Rank", *(["Count"] if has_counts else []), *(["Id"] if has_ids else [])]
    yield '<h2>The merges</h2>\n<table class="merges"><thead><tr>'
    yield "".join(f'<th scope="col" class="num">{head}</th>' for head in heads)
    yield '<th scope="col">Pair</th><th scope="col">Token</th></tr></thead>\n<tbody>'
    for merge in timeline.merges:
        numbers = [merge.rank, *([merge.count] if has_counts else []), *([merge.id] if has_ids else [])]
        numbers_html = "".join(f'<td class="num">{"" if number is None else f"{number:,}"}</td>' for number in numbers)
        left, right, result = (escape(spell(token)) for token in (merge.left, merge.right, merge.result))
        pair = f'<span class="chip">{left}</span> + <span class="chip">{right}</span>'
        yield f'<tr>{numbers_html}<td>{pair}</td><td><span class="chip end">{result}</span></td></tr>\n'
    yield "</tbody></table>\n"
