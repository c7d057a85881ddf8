"""A `CorpusReport` as text for a terminal, and as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.characters import escaped, show_line
from bytepair.drawing.charts import Bars, Series, bars, lines
from bytepair.drawing.layout import aligned
from bytepair.study.report.glossary import SOURCES, definitions
from bytepair.view.page import page
from bytepair.view.spelling import spell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytepair.study.report.results import CorpusReport, CorpusSize, Cost, TokenUse, VocabularyUse

_NAN = float("nan")
_NONE = "–"


class _Measure(NamedTuple):
    """A measure: its name, its value of a cost, and its format."""

    name: str
    of: Callable[[Cost], float | None]
    write: Callable[[float], str]


def text(report: CorpusReport) -> str:
    """A report as text: the sizes of the corpora, and a table for each tokenizer with a column for each corpus.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=257)
        >>> text(bp.report({"mine": tok}, {"en": iter(["low low"])})).splitlines()[1].split()
        ['en', '1', '7', '7', '2']
    """
    return "\n".join(_lines(report))


def html(report: CorpusReport) -> str:
    """A report as one self-contained page: charts, tables, examples of tokens, and definitions of the numbers.

    Names and tokens are shown as text, whatever they hold.
    """
    names = [use.tokenizer for use in report.vocabularies]
    title = f"Token costs of {_listed([size.name for size in report.corpora])} with {_listed(names)}"
    parts = [f"<h1>{escaped(title, 200)}</h1>\n<h2>Corpora</h2>\n", _corpora(report), *_notes(report)]
    parts += ["<h2>Costs</h2>\n", '<div class="charts">', *_comparisons(report), "</div>\n"]
    for number, use in enumerate(report.vocabularies):
        mine = _costs_of(report, number)
        parts.append(f"<h2>{escaped(use.tokenizer)}</h2>\n<p>{escaped(_summary(use), 400)}</p>\n")
        rows = [[row.name, *(_cell(row, cost) for cost in mine)] for row in _rows(report)]
        parts.append(_table(f"Numbers of {use.tokenizer}", ["", *(cost.corpus for cost in mine)], rows))
        parts += ['<div class="charts">', _ranks(mine), _lengths(use, mine), "</div>\n"]
        parts += [_charted(use, mine), _tokens(use, mine, report)]
    parts.append("<h2>Definitions</h2>\n<dl>\n")
    parts += [f"<dt>{escape(name)}</dt><dd>{escaped(text, 1000)}</dd>\n" for name, text in definitions(report).items()]
    parts.append("</dl>\n" + "".join(f'<p class="note">{escape(source)}</p>\n' for source in SOURCES))
    return page(show_line(title, 120), "".join(parts), styles=("charts.css", "reported.css"))


def _rows(report: CorpusReport) -> list[_Measure]:
    """The measures of a cost, in the order in which they are shown."""
    first = show_line(report.corpora[0].name, 24)
    context = f"{report.context:,} tokens"
    rows = [
        _Measure("tokens", lambda cost: cost.tokens, _whole),
        _Measure("bytes per token", lambda cost: cost.bytes_per_token, _three),
        _Measure("tokens per word", lambda cost: cost.tokens_per_word, _three),
        _Measure("tokens per character", lambda cost: cost.tokens_per_character, _three),
    ]
    if len(report.corpora) > 1:
        rows += [
            _Measure(f"premium per byte over {first}", lambda cost: cost.premium_per_byte, _three),
            _Measure(f"premium per character over {first}", lambda cost: cost.premium_per_character, _three),
        ]
    if report.parallel:
        rows.append(_Measure(f"parity: tokens over those of {first}", lambda cost: cost.parity, _three))
    return [
        *rows,
        _Measure(f"characters in {context}", lambda cost: cost.context_characters, _whole),
        _Measure(f"words in {context}", lambda cost: cost.context_words, _whole),
        _Measure("tokens of the vocabulary that are used", lambda cost: cost.used, _whole),
        _Measure("share of the vocabulary that is used", _used_share, _percent),
        _Measure(f"used fewer than {report.rare:,} times", lambda cost: cost.rarely_used, _whole),
        _Measure("never used", lambda cost: cost.never_used, _whole),
        _Measure("unknown tokens", lambda cost: cost.unknown, _whole),
        _Measure("tokens that are parts of characters", lambda cost: cost.byte_tokens, _whole),
        _Measure("entropy, bits per token", lambda cost: cost.entropy, _three),
        _Measure("entropy, bits per byte", lambda cost: cost.bits_per_byte, _three),
        _Measure("Rényi efficiency", lambda cost: cost.renyi_efficiency, _three),
    ]


def _costs_of(report: CorpusReport, tokenizer: int) -> Sequence[Cost]:
    return report.costs[tokenizer * len(report.corpora) : (tokenizer + 1) * len(report.corpora)]


def _used_share(cost: Cost) -> float | None:
    whole = cost.used + cost.never_used
    return cost.used / whole if whole else None


def _lines(report: CorpusReport) -> Iterator[str]:
    yield from aligned(
        [
            ["corpus", "documents", "characters", "bytes", "words"],
            *([show_line(size.name, 40), *_sizes(size)] for size in report.corpora),
        ]
    )
    for size in report.corpora:
        if size.is_spaceless:
            yield f"{show_line(size.name, 40)}: few spaces between words, so nearly each character counts as a word"
    for number, use in enumerate(report.vocabularies):
        yield ""
        yield f"{show_line(use.tokenizer)}: {_summary(use)}"
        mine = _costs_of(report, number)
        rows = [[row.name, *(_cell(row, cost) for cost in mine)] for row in _rows(report)]
        yield from aligned([["", *(show_line(cost.corpus, 40) for cost in mine)], *rows])


def _summary(use: VocabularyUse) -> str:
    share = f" ({use.used / use.tokens:.1%})" if use.tokens else ""
    return (
        f"{use.kind}, {use.vocab_size:,} ids, {use.tokens:,} reachable from text; the corpora use {use.used:,}"
        f"{share}, {use.rarely_used:,} of them rarely, and {use.never_used:,} never"
    )


def _sizes(size: CorpusSize) -> list[str]:
    return [f"{number:,}" for number in (size.documents, size.characters, size.bytes, size.words)]


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _three(value: float) -> str:
    return f"{value:,.3f}" if value >= 0.001 or not value else f"{value:.2g}"


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _cell(row: _Measure, cost: Cost) -> str:
    value = row.of(cost)
    return _NONE if value is None else row.write(value)


def _corpora(report: CorpusReport) -> str:
    head = ["", "documents", "characters", "bytes", "words"]
    return _table("Corpora", head, [[size.name, *_sizes(size)] for size in report.corpora])


def _notes(report: CorpusReport) -> Iterator[str]:
    names = [size.name for size in report.corpora if size.is_spaceless]
    if names:
        yield (
            f'<p class="note">{escaped(_listed(names), 200)}: few spaces between words, so nearly each character '
            "counts as a word.</p>\n"
        )


def _comparisons(report: CorpusReport) -> Iterator[str]:
    labels = [size.name for size in report.corpora]

    def drawn(title: str, of: Callable[[Cost], float | None], unit: str = "") -> str:
        groups = []
        for number, use in enumerate(report.vocabularies):
            values = [of(cost) for cost in _costs_of(report, number)]
            groups.append(Bars(use.tokenizer, [_NAN if value is None else value for value in values]))
        return bars(groups, labels, title=title, unit=unit)

    yield drawn("Bytes per token", lambda cost: cost.bytes_per_token, "more is cheaper")
    yield drawn("Tokens per word", lambda cost: cost.tokens_per_word, "fewer is cheaper")
    if report.parallel and len(labels) > 1:
        yield drawn("Parity", lambda cost: cost.parity, f"tokens over those of {labels[0]} for the same content")
    elif len(labels) > 1:
        yield drawn("Premium per character", lambda cost: cost.premium_per_character, f"over {labels[0]}")
    yield drawn(f"Text in {report.context:,} tokens", lambda cost: cost.context_characters, "characters")


def _ranks(costs: Sequence[Cost]) -> str:
    series = [Series(cost.corpus, cost.ranks) for cost in costs if cost.ranks]
    return lines(series, title="How often tokens are used", x="rank of the token", y="uses", log_x=True, log_y=True)


def _lengths(use: VocabularyUse, costs: Sequence[Cost]) -> str:
    all_of = [("in the vocabulary", use.lengths), *((f"used in {cost.corpus}", cost.lengths) for cost in costs)]
    series = [
        Series(name, [(length, 100 * many / sum(count for _, count in pairs)) for length, many in pairs if length])
        for name, pairs in all_of
        if pairs
    ]
    return lines(series, title="How long tokens are", x="bytes", y="share of tokens (%)", log_x=True)


def _charted(use: VocabularyUse, costs: Sequence[Cost]) -> str:
    """The data of both charts as tables."""
    names = [cost.corpus for cost in costs]
    uses = [dict(cost.ranks) for cost in costs]
    ranks = sorted({rank for of_corpus in uses for rank in of_corpus})
    by_rank = [[f"{rank:,}", *(_count(of_corpus.get(rank)) for of_corpus in uses)] for rank in ranks]
    counts = [dict(use.lengths), *(dict(cost.lengths) for cost in costs)]
    lengths = sorted({length for of_corpus in counts for length in of_corpus})
    by_length = [[f"{length:,}", *(_count(many.get(length, 0)) for many in counts)] for length in lengths]
    return (
        f"<details><summary>Data of both charts of {escaped(use.tokenizer)}</summary>\n<h3>Uses by rank</h3>\n"
        + _table(f"Uses of tokens of {use.tokenizer} by rank", ["rank", *names], by_rank)
        + "<h3>Tokens by their bytes</h3>\n"
        + _table(f"Tokens of {use.tokenizer} by their bytes", ["bytes", "vocabulary", *names], by_length)
        + "</details>\n"
    )


def _count(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"


def _tokens(use: VocabularyUse, costs: Sequence[Cost], report: CorpusReport) -> str:
    groups = [
        *((f"Used most in {cost.corpus}", cost.most_used) for cost in costs),
        (f"Used fewer than {report.rare:,} times", use.rarely_used_examples),
        ("Never used", use.never_used_examples),
    ]
    listed = "".join(
        f'<h3>{escaped(name)}</h3>\n<ul class="used">{"".join(map(_item, tokens))}</ul>\n'
        for name, tokens in groups
        if tokens
    )
    summary = f"<summary>Example tokens of {escaped(use.tokenizer)}</summary>"
    return f"<details>{summary}\n{listed}</details>\n" if listed else ""


def _item(used: TokenUse) -> str:
    shown = spell(used.token, 60)
    uses = f"{used.uses:,} ×, " if used.uses else ""
    return f'<li class="chip">{escape(shown)} <small>{uses}id {used.id:,}</small></li>'


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    columns = "".join(f'<th scope="col">{escaped(cell)}</th>' if cell else "<td></td>" for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escaped(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>\n'
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escaped(name)}"><table>\n<thead><tr>{columns}</tr>'
        f"</thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _listed(names: Sequence[str]) -> str:
    shown = [show_line(name, 40) for name in names[:6]] + ([f"{len(names) - 6} others"] if len(names) > 6 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
