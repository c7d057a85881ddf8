"""The page of a report, and its charts, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import bytepair as bp
from tests.browser.conftest import Tab

TEXTS = {
    "English": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood.\n",
    "Deutsch": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen.\n",
    "中文": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。\n",
    "हिन्दी": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।\n",
}
"""The first article of the Universal Declaration of Human Rights."""


TOUCHING = """() => [...document.querySelectorAll('.chart > svg')].flatMap(svg => {
  const whole = svg.getBoundingClientRect()
  const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])
  const meet = (one, other) => one.left < other.right && other.left < one.right &&
    one.top < other.bottom - 3 && other.top < one.bottom - 3
  const out = texts.filter(([, box]) => box.left < whole.left - 1 || box.right > whole.right + 1)
  const touching = texts.filter(([, box], at) => texts.slice(at + 1).some(([, other]) => meet(box, other)))
  return [...out, ...touching].map(([text]) => text)
})"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, sources: list[str]) -> Path:
    """A report of three tokenizers on four languages."""
    tokenizers = {
        "mine": bp.train(iter(sources), 2000, split="cl100k"),
        "all languages": bp.train(iter([*TEXTS.values()] * 3), 600, split="o200k"),
        "bytes alone": bp.train({"a": 1}, vocab_size=256),
    }
    found = bp.report(tokenizers, {name: iter([text]) for name, text in TEXTS.items()}, parallel=True)
    page = tmp_path_factory.mktemp("report") / "report.html"
    page.write_text(found.html(), "utf-8")
    return page


def test_a_report(tab: Tab, path: Path) -> None:
    page = tab.open(path)
    # Folded parts are checked as well.
    for number in range(2):
        page.locator("summary").nth(number).focus()
        page.keyboard.press("Enter")
        assert page.locator("details").nth(number).evaluate("details => details.open")
    page.evaluate("scrollTo(0, 0)")
    tab.check("report", picture=True)
    tab.shoot("report-whole", full=True)
    # A phone's charts can be read: no letter is smaller than ten pixels.
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('.chart > svg text')].map(text => "
        "parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"
    )
    assert smallest >= 10
    # No text of a chart touches another, or leaves its drawing.
    assert page.evaluate(TOUCHING) == []
    assert tab.asked == [path.as_uri()]
