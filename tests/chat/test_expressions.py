"""Templates compute the same from traced values as Jinja from plain ones; ``make fuzz`` runs many more cases."""

from __future__ import annotations

import random

from fuzz.expressions import check_expression

from tests.conftest import WHOLE


def test_expressions_are_those_of_jinja() -> None:
    rng = random.Random(0)
    cases = 10_000 if WHOLE else 600
    assert sum(check_expression(rng) for _ in range(cases)) > cases / 3
