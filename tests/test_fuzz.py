"""A few cases of every sweep of ``fuzz/``, always the same ones; ``make fuzz`` does many more."""

from __future__ import annotations

import random

import pytest
from fuzz import sweep
from fuzz.case import FailureError, case

SEED = "tests"
CASES = {
    "training": 300,
    "counts": 40,
    "encoding": 1000,
    "conversions": 1500,
    "texts": 1500,
    "appending": 300,
    "prepending": 300,
    "fitting": 200,
    "chunks": 600,
    "streams": 150,
    "pipelines": 150,
    "peers": 100,
    "files": 1200,
    "kinds": 600,
    "chats": 150,
    "fine-tuning": 150,
    "taint": 20,
    "shards": 20,
    "pictures": 40,
    "explanations": 40,
    "comparisons": 40,
    "reports": 20,
    "lints": 10,
    "playground": 10,
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
