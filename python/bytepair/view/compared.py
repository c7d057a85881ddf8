"""A `Comparison` as text for a terminal and as a page.

The two tokenizers are called A and B throughout, so that columns stay narrow whatever their names are. Long because
everything is drawn twice, as text and as a page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bytepair.drawing.characters import escaped, show, show_line
from bytepair.drawing.layout import aligned
from bytepair.drawing.wording import plural
from bytepair.view.page import page
from bytepair.view.spelling import spell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.study.compare import Comparison, Divergence, Passage, SharedAddedTokens, SourceComparison, TokenTotals

_MOST_LISTED = 12
"""The most added tokens of a kind, and tokens of a passage, that are listed."""

_MOST_OF_STEP = 120
"""The most characters of a step or pattern that are shown."""

_MOST_OF_PIECE = 80

_MEANING = {
    "added tokens": "different added tokens match",
    "normalizer": "the normalized texts differ",
    "split": "the pieces differ",
    "model": "the pieces are equal, their tokens differ",
    "ids": "the tokens are equal, their ids differ",
}


def text(comparison: Comparison) -> str:
    r"""A comparison as lines of text without control characters.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
        >>> text(bp.compare(tok, tok)).splitlines()[-1]
        'A and B are the same tokenizer.'
    """
    lines = [*_head(comparison), "", *_stage_lines(comparison), "", *_facts(comparison)]
    if comparison.sources:
        lines += ["", *_source_lines(comparison)]
    for source in comparison.sources:
        for first in source.firsts:
            lines += ["", *_first_lines(source.name, first)]
        for title, passages in _passages(source):
            lines += ["", f"{show_line(source.name)}: {title}", *_passage_lines(passages)]
    lines += ["", summary(comparison)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def summary(comparison: Comparison) -> str:
    """The comparison in one or two sentences.

    Example:
        >>> import bytepair as bp
        >>> a, b = (bp.train({"low": 5}, vocab_size=n, split="gpt2") for n in (257, 258))
        >>> summary(bp.compare(a, b, iter(["low low"])))
        'B needs 2 tokens fewer than A (40.0% of 5). They first differ at the model; ids are equal in 0 of 1 text.'
    """
    total = comparison.total
    if comparison.is_same:
        return "A and B are the same tokenizer."
    if not comparison.sources:
        differ = [stage.name for stage in comparison.stages if not stage.same]
        return f"A and B differ in {_listed(differ)}."
    documents = plural(total.documents, "text")
    if not comparison.differs:
        return f"A and B are different tokenizers with equal ids for all of {documents}."
    if total.saved:
        more = "fewer" if total.saved > 0 else "more"
        cost = f"B needs {abs(total.saved):,} tokens {more} than A"
        cost += f" ({abs(total.saved_share):.1%} of {total.tokens_a:,})" if total.tokens_a else ""
    else:
        cost = "A and B need the same number of tokens"
    equal = f"ids are equal in {total.same_ids:,} of {documents}"
    return f"{cost}. They first differ at the {comparison.first_stage}; {equal}."


def html(comparison: Comparison) -> str:
    """A self-contained page of a comparison: no script, nothing loaded, light or dark by the reader's setting.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> "<h1>" in html(bp.compare(tok, tok, names=("<b>", "two")))
        True
    """
    a, b = (show_line(side.name) for side in (comparison.a, comparison.b))
    parts = [
        "<header>\n<h1>Tokenizer comparison</h1>\n",
        f'<p class="lead">{escape(summary(comparison))}</p>\n',
        _sides(comparison),
        "</header>\n",
    ]
    if comparison.sources:
        parts += ["<section>\n<h2>Tokens</h2>\n", _sources(comparison), "</section>\n"]
    if any(source.firsts for source in comparison.sources):
        parts.append("<section>\n<h2>First differences</h2>\n")
        parts += [_first(source.name, first) for source in comparison.sources for first in source.firsts]
        parts.append("</section>\n")
    examples = [(source, *one) for source in comparison.sources for one in _passages(source)]
    if examples:
        parts.append(
            "<section>\n<h2>Passages that cost most</h2>\n"
            "<p>A passage is the text between two token boundaries that both share."
        )
        parts.append("</p>\n<div class=pairs>\n")
        parts += [_passage_table(source.name, title, passages) for source, title, passages in examples]
        parts.append("</div>\n</section>\n")
    parts += ["<section>\n<h2>Stages</h2>\n", _stages(comparison), "</section>\n"]
    parts += ["<section>\n<h2>Vocabulary</h2>\n", _vocabulary(comparison), "</section>\n"]
    return page(f"{a} and {b}", "".join(parts), styles=["compared.css"])


def _head(comparison: Comparison) -> Iterator[str]:
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        yield (
            f"{letter}  {show_line(side.name)}: {side.tokens:,} tokens, {side.semantics},"
            f" fingerprint {side.fingerprint[:12]}"
        )


def _stage_lines(comparison: Comparison) -> Iterator[str]:
    for stage in comparison.stages:
        if stage.same:
            yield f"{stage.name:<15} same     {_steps(stage.a)}"
        else:
            yield f"{stage.name:<15} differs  A: {_steps(stage.a)}"
            yield f"{'':<15}          B: {_steps(stage.b)}"


def _steps(steps: Sequence[str]) -> str:
    return "; ".join(show_line(step, _MOST_OF_STEP) for step in steps) or "none"


def _facts(comparison: Comparison) -> Iterator[str]:
    for name, facts in (
        ("added tokens", _added(comparison.added)),
        ("vocabulary", _shared(comparison)),
        ("merges", _merged(comparison)),
    ):
        for number, fact in enumerate(facts):
            yield f"{name if number == 0 else '':<15} {fact}"


def _added(added: SharedAddedTokens) -> list[str]:
    facts = [f"{added.same + len(added.other_flags):,} in both with the same id"]
    if added.other_id:
        facts.append("with another id: " + _listed([f"{show_line(c)} {a} | {b}" for c, a, b in added.other_id]))
    if added.other_flags:
        contents = _listed([show_line(content) for content in added.other_flags])
        facts.append(f"with other flags: {contents}")
    for letter, only in (("A", added.only_a), ("B", added.only_b)):
        if only:
            facts.append(f"only in {letter}: " + _listed([f"{show_line(content)} {id}" for content, id in only]))
    return facts


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _shared(comparison: Comparison) -> list[str]:
    found = comparison.vocabulary
    facts = [
        f"{found.both:,} in both: {_share(found.both, found.a)} of A, {_share(found.both, found.b)} of B",
        f"{found.only_a:,} only in A, {found.only_b:,} only in B",
        f"{found.same_id:,} with the same id",
    ]
    if found.used_a is not None and found.used_b is not None:
        facts.append(f"of the tokens in the texts, {found.used_a:.1%} of A's are in B, {found.used_b:.1%} of B's in A")
    return facts


def _merged(comparison: Comparison) -> list[str]:
    found = comparison.merges
    if found is None:
        return ["not comparable: one has no merges, or its ranks imply none"]
    facts = [f"{found.both:,} in both: {_share(found.both, found.a)} of A, {_share(found.both, found.b)} of B"]
    if found.next_a is None and found.next_b is None:
        facts.append("in the same order")
    else:
        pairs = (_pair(found.next_a), _pair(found.next_b))
        alike = f"the first {found.same_before:,} are the same, then" if found.same_before else "first"
        facts.append(f"{alike} A has {pairs[0]}, and B has {pairs[1]}")
    return facts


def _pair(pair: tuple[bytes, bytes] | None) -> str:
    return "no more" if pair is None else " + ".join(map(spell, pair))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _rows(comparison: Comparison) -> list[TokenTotals]:
    return [*comparison.sources, comparison.total] if len(comparison.sources) > 1 else [*comparison.sources]


def _cells(one: TokenTotals) -> list[str]:
    return [
        f"{one.tokens_a:,}",
        f"{one.tokens_b:,}",
        f"{one.saved:+,}" if one.saved else "0",
        f"{one.saved_share:+.1%}" if one.saved else "0.0%",
        f"{one.documents:,}",
        f"{one.same_ids:,}",
        f"{one.same_tokens:,}",
        f"{one.same_boundaries:,}",
    ]


_COLUMNS = ["tokens A", "tokens B", "saved", "of A", "documents", "same ids", "same tokens", "same boundaries"]


def _source_lines(comparison: Comparison) -> Iterator[str]:
    table = [["source", *_COLUMNS], *([show_line(one.name, 40), *_cells(one)] for one in _rows(comparison))]
    yield from aligned(table)


def _place(first: Divergence) -> str:
    where = f"document {first.document:,}, character {first.character:,}"
    return f"{where} ({show_line(first.file)})" if first.file else where


def _first_lines(name: str, first: Divergence) -> Iterator[str]:
    yield f"{show_line(name)}: first difference at the {first.stage}, {_place(first)}: {_MEANING[first.stage]}"
    yield f"  {show_line(first.before)}[{show_line(first.text)}]{show_line(first.after)}"
    for letter, tokens, seen in (("A", first.tokens_a, first.seen_a), ("B", first.tokens_b, first.seen_b)):
        if seen or first.seen_a or first.seen_b:
            yield f"  {letter} {first.stage}: " + ("  ".join(map(_piece, seen)) or "none")
        yield f"  {letter} tokens: " + "  ".join(f"{spell(token)} {id}" for token, id in tokens[:_MOST_LISTED])


def _passages(source: SourceComparison) -> Iterator[tuple[str, tuple[Passage, ...]]]:
    about = "" if source.is_exact else " (approximate: rare passages were dropped)"
    if source.savings:
        yield "B saves most" + about, source.savings
    if source.losses:
        yield "B costs most" + about, source.losses


def _passage_lines(passages: Sequence[Passage]) -> Iterator[str]:
    yield f"{'times':>12}{'tokens A':>12}{'tokens B':>12}{'saved':>12}  passage"
    for one in passages:
        yield f"{one.times:>12,}{one.tokens_a:>12,}{one.tokens_b:>12,}{one.saved:>+12,}  {_piece(one.text)}"


def _piece(text: str) -> str:
    return spell(text.encode(), _MOST_OF_PIECE)


def _seen(text: str, *, is_prose: bool = False) -> str:
    """A text as HTML with visible stand-ins, except for spaces in prose, isolated in its direction."""
    shown = (
        escape(part.stands_for or part.text).replace(" ", " " if is_prose else "<i>·</i>")
        if not part.stands_for or (is_prose and part.stands_for == " ")
        else f"<i>{escape(part.text)}</i>"
        for part in show(text)
    )
    return f"<bdi>{''.join(shown)}</bdi>"


def _sides(comparison: Comparison) -> str:
    rows = "".join(
        f'<tr><th scope="row"><b>{letter}</b> {_seen(side.name, is_prose=True)}</th><td>{side.tokens:,}</td>'
        f"<td>{escape(side.semantics)}</td><td><code>{side.fingerprint[:12]}</code></td></tr>\n"
        for letter, side in (("A", comparison.a), ("B", comparison.b))
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("tokenizer", "tokens", "kind", "fingerprint"))
    return _wide("The two tokenizers", f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>")


def _wide(name: str, table: str, kind: str = "") -> str:
    """A table that scrolls by itself if it is too wide, also by keyboard."""
    return (
        f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
        f"<table{f' class={kind}' if kind else ''}>\n{table}\n</table></div>\n"
    )


def _sources(comparison: Comparison) -> str:
    bars = "".join(
        f'<div class="bars"><h3>{_seen(one.name, is_prose=True)}</h3>\n'
        f"{_bar('A', one.tokens_a, one)}{_bar('B', one.tokens_b, one)}"
        f'<p class="n">{_said(one)}</p></div>\n'
        for one in comparison.sources
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ["source", *_COLUMNS])
    rows = [
        f'<tr><th scope="row">{_seen(one.name, is_prose=True)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in _cells(one))
        + "</tr>\n"
        for one in _rows(comparison)
    ]
    foot = f"<tfoot>{rows.pop()}</tfoot>" if len(rows) > 1 else ""
    table = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>{foot}"
    return f"{bars}{_wide('Tokens of each source', table)}"


def _said(one: TokenTotals) -> str:
    if not one.saved:
        return "the same number"
    return f"B needs {abs(one.saved):,} {'fewer' if one.saved > 0 else 'more'}, {abs(one.saved_share):.1%}"


def _bar(letter: str, tokens: int, of: TokenTotals) -> str:
    width = 100 * tokens / max(of.tokens_a, of.tokens_b, 1)
    return (
        f'<div class="bar"><span>{letter}</span><svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{letter.lower()}" width="{width:.2f}" height="1"/></svg><span>{tokens:,}</span></div>\n'
    )


def _first(name: str, first: Divergence) -> str:
    rows = []
    for letter, tokens, seen in (("A", first.tokens_a, first.seen_a), ("B", first.tokens_b, first.seen_b)):
        if first.seen_a or first.seen_b:
            rows.append(
                (f"{letter} {first.stage}", "".join(f'<span class="chip">{_seen(s)}</span>' for s in seen) or "none")
            )
        more = len(tokens) - _MOST_LISTED
        rows.append(
            (
                f"{letter} tokens",
                "".join(
                    f'<span class="chip {letter.lower()}"><bdi>{escape(spell(token))}</bdi><small>{id}</small></span>'
                    for token, id in tokens[:_MOST_LISTED]
                )
                + (f" and {more:,} more" if more > 0 else ""),
            )
        )
    listed = "".join(f"<dt>{escape(term)}</dt><dd>{value}</dd>\n" for term, value in rows)
    around = [_seen(text, is_prose=True) for text in (first.before, first.after)]
    quote = f"<mark>{_seen(first.text)}</mark>".join(around)
    return (
        f'<div class="first">\n<h3>{escape(first.stage)} <span class="n">{escape(_MEANING[first.stage])}</span></h3>\n'
        f'<p class="n">{_seen(name, is_prose=True)}, {escape(_place(first))}</p>\n'
        f"<p class=quote>{quote}</p>\n"
        f"<dl>\n{listed}</dl>\n</div>\n"
    )


def _passage_table(name: str, title: str, passages: Sequence[Passage]) -> str:
    head = "".join(f'<th scope="col">{column}</th>' for column in ("passage", "times", "A", "B", "saved"))
    rows = "".join(
        f'<tr><th scope="row"><span class="chip">{_seen(one.text)}</span></th>'
        f"<td>{one.times:,}</td><td>{one.tokens_a:,}</td>"
        f"<td>{one.tokens_b:,}</td><td>{one.saved:+,}</td></tr>\n"
        for one in passages
    )
    table = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>"
    return (
        f"<div><h3>{_seen(name, is_prose=True)} <span class=n>{escape(title)}</span></h3>\n"
        f"{_wide(f'{show_line(name)}: {title}', table, 'passages')}</div>\n"
    )


def _stages(comparison: Comparison) -> str:
    rows = []
    for stage in comparison.stages:
        row = f'<tr><th scope="row">{stage.name}</th><td>{"same" if stage.same else "<b>differs</b>"}</td>'
        if stage.same:
            rows.append(f"{row}<td colspan=2>{_step_list(stage.a)}</td></tr>\n")
        else:
            rows.append(f"{row}<td>{_step_list(stage.a)}</td><td>{_step_list(stage.b)}</td></tr>\n")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("stage", "", "A", "B")).replace("></th", ">alike</th")
    return _wide("Stages", f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>", "stages")


def _step_list(steps: Sequence[str]) -> str:
    shown = "<br>".join(f"<code>{escaped(step, _MOST_OF_STEP)}</code>" for step in steps)
    return shown or '<span class="n">none</span>'


def _vocabulary(comparison: Comparison) -> str:
    found = comparison.vocabulary
    whole = max(found.only_a + found.both + found.only_b, 1)
    first, both = 100 * found.only_a / whole, 100 * found.both / whole
    bar = (
        '<svg class="overlap" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="a" width="{first:.2f}" height="1"/>'
        f'<rect class="both" x="{first:.2f}" width="{both:.2f}" height="1"/>'
        f'<rect class="b" x="{first + both:.2f}" width="{max(100 - first - both, 0):.2f}" height="1"/></svg>\n'
        f'<p class="ends"><span>only A {found.only_a:,}</span><span>both {found.both:,}</span>'
        f"<span>only B {found.only_b:,}</span></p>\n"
    )
    facts = (
        ("tokens", _shared(comparison)),
        ("merges", _merged(comparison)),
        ("added tokens", _added(comparison.added)),
    )
    listed = "".join(f"<dt>{term}</dt>" + "".join(f"<dd>{escape(fact)}</dd>\n" for fact in of) for term, of in facts)
    return f"{bar}<dl>\n{listed}</dl>\n"
