"""A few cases of every sweep of ``fuzz/``, always the same ones; ``make fuzz`` does many more."""

from __future__ import annotations

import random

import pytest
from fuzz import combinations, counted, sweep
from fuzz.case import FailureError, case

from tests.conftest import WHOLE

SEED = "tests"
CASES = {
    "training": 120,
    "counts": 16,
    "encoding": 400,
    "conversions": 600,
    "texts": 200,
    "appending": 40,
    "prepending": 40,
    "fitting": 20,
    "chunks": 30,
    "streams": 60,
    "pipelines": 60,
    "peers": 40,
    "files": 480,
    "kinds": 240,
    "readers": 240,
    "chats": 60,
    "fine-tuning": 60,
    "expressions": 10,
    "taint": 8,
    "shards": 8,
    "pictures": 16,
    "explanations": 16,
    "comparisons": 16,
    "alignments": 60,
    "prompts": 10,
    "prefix-cache": 24,
    "stages": 10,
    "parity": 10,
    "residues": 40,
    "transplant": 10,
    "structures": 60,
    "reports": 8,
    "lints": 4,
    "forged": 12,
    "playground": 4,
}


@pytest.mark.parametrize("name", sweep.SWEEPS)
def test_sweep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "FEW", not WHOLE)
    print(f"seed {SEED}")
    for number in range(CASES[name]):
        sweep.run_case(name, SEED, number)


def test_a_failure_says_how_to_repeat_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(random: random.Random) -> None:
        number = random.randrange(10)
        with case(number=number):
            assert number < 8, "too large"

    monkeypatch.setitem(sweep.SWEEPS, "training", fails)
    with pytest.raises(
        FailureError, match=r"too large.*\n(.*\n)*with\n  number = [89]\nrepeat it with: python"
    ) as failure:
        sweep.run(["training"], seconds=5, seed="s")
    repeat = str(failure.value).split()[-1]
    assert sweep.main(["--seed", "s", "--repeat", repeat]) == 1
    assert "number = " in capsys.readouterr().err


def test_sweeps_share_the_time_and_the_seed_is_enough() -> None:
    assert sweep.main(["--seed", "s", "--seconds", "0.2", "--only", "conversions", "--only", "encoding"]) == 0


def test_two_stages_of_every_kind_are_counted() -> None:
    step = 1 if WHOLE else 1201
    assert combinations.main(["--seed", "s", "--step", str(step)]) == 0


def test_what_a_combination_fails_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(random: random.Random, _: counted.Counted) -> None:
        assert random.random() > 2, "too small"

    monkeypatch.setattr(combinations, "SWEEPS", (fails,))
    assert combinations.main(["--seed", "s", "--only", "WordLevel"]) == 1
    assert "WordLevel, pair 0, seed s: too small" in capsys.readouterr().err
