"""A few cases of every sweep of ``fuzz/``, always the same ones; ``make fuzz`` does many more."""

from __future__ import annotations

import random

import pytest
from fuzz import sweep
from fuzz.case import FailureError, case

SEED = "tests"
CASES = {
    "training": 120,
    "counts": 16,
    "encoding": 400,
    "conversions": 600,
    "texts": 600,
    "appending": 120,
    "prepending": 120,
    "fitting": 80,
    "chunks": 240,
    "streams": 60,
    "pipelines": 60,
    "peers": 40,
    "files": 480,
    "kinds": 240,
    "chats": 60,
    "fine-tuning": 60,
    "expressions": 10,
    "taint": 8,
    "shards": 8,
    "pictures": 16,
    "explanations": 16,
    "comparisons": 16,
    "reports": 8,
    "lints": 4,
    "playground": 4,
}


@pytest.mark.parametrize("name", sweep.SWEEPS)
def test_sweep(name: str) -> None:
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
