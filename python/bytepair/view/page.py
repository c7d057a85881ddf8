"""A page that needs nothing but itself: no script, no font, no address."""

from __future__ import annotations

from html import escape

from bytepair.view.characters import show_line

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #fff; --faint: #62626b; --line: #c9c9d2; --mark: #b3261e;
  --g0: #ececef; --g1: #e6dcff; --g2: #cfe5ff; --g3: #cdf2d3;
  --g4: #ffe3b8; --g5: #ffd6df; --g6: #c8f0ef; --g7: #eef0b4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf1; --paper: #17171b; --faint: #cdcdd6; --line: #4a4a55; --mark: #ff8a80;
    --g0: #2e2e35; --g1: #43336b; --g2: #1d4468; --g3: #1f4d2b;
    --g4: #5c4310; --g5: #66303f; --g6: #174d4c; --g7: #494c16; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; }
table { border-collapse: collapse; margin: .75rem 0; }
th, td { padding: .15rem .75rem .15rem 0; text-align: right; font-weight: normal; font-variant-numeric: tabular-nums; }
th:first-child { text-align: left; overflow-wrap: anywhere; }
thead, .n { color: var(--faint); }
tfoot { border-top: 1px solid var(--line); font-weight: bold; }
.text { font: .95rem/2.1 ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; border-top: 1px solid var(--line); margin-top: 1rem; padding-top: .5rem; }
.b { content-visibility: auto; contain-intrinsic-size: auto 30rem; }
.t { unicode-bidi: isolate; border-radius: .2rem; padding: .15em 0; margin-right: 1px; background: var(--g0); }
.t i, .n { font-style: normal; }
.t i { color: var(--faint); font-size: .85em; display: inline-block; max-width: 100%; line-height: 1; }
.g1 { background: var(--g1); } .g2 { background: var(--g2); } .g3 { background: var(--g3); }
.g4 { background: var(--g4); } .g5 { background: var(--g5); }
.g6 { background: var(--g6); } .g7 { background: var(--g7); }
.y { border-bottom: .2em solid currentColor; border-radius: .2rem .2rem 0 0; }
.s { outline: 2px dashed var(--mark); outline-offset: -1px; }
.w { font: .75rem/1 system-ui, sans-serif; color: var(--faint); border: 1px solid var(--line); border-radius: .2rem;
  padding: .1em .3em; margin: 0 .3em 0 0; display: inline-block; max-width: 100%; unicode-bidi: isolate; }
.u { color: var(--faint); text-decoration: line-through; unicode-bidi: isolate; }
@media (hover: none) {
  .t:hover::after { content: attr(title); position: fixed; left: 0; right: 0; bottom: 0; padding: .75rem; z-index: 1;
    background: var(--ink); color: var(--paper); font: .9rem/1.5 system-ui, sans-serif; white-space: pre-wrap; } }
"""

# Whatever text gets into a page, a browser loads and runs nothing for it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, body: str) -> str:
    """A whole page.

    Args:
        title: Its title: any text.
        body: What is in it: HTML, whose texts are escaped.

    Example:
        >>> "<title>a &lt; b</title>" in page("a < b", "<p>1</p>")
        True
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(show_line(title))}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
