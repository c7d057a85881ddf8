"""Training by parity is that of the naive loop, and brings groups closer together."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.parity import sweep_parity
from fuzz.stages import texts_of

import bytepair as bp
from bytepair.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")


def test_merges_and_their_groups_are_those_of_the_naive_loop() -> None:
    for number in range(200):
        sweep_parity(Random(number))


ENGLISH = "the way of the people is the way of the world " * 40
HINDI = "यह लोगों का रास्ता है और दुनिया का रास्ता है "


def test_parity_brings_groups_closer_together() -> None:
    def groups() -> Any:
        return {"en": iter([ENGLISH]), "hi": iter([HINDI])}

    texts = {"en": texts_of([ENGLISH[:46]]), "hi": texts_of([HINDI])}
    by_frequency = bp.train(groups(), 300, min_frequency=1)
    by_parity = bp.train(groups(), 300, objective=bp.Parity(texts), min_frequency=1)

    def premium(tok: bp.Tokenizer) -> float:
        en, hi = bp.report({"tok": tok}, {"en": iter([ENGLISH[:46]]), "hi": iter([HINDI])}, context=100).costs
        return hi.tokens / en.tokens

    assert premium(by_parity) < premium(by_frequency) / 2


def test_threads_and_counts_change_nothing() -> None:
    def groups() -> Any:
        return {"en": iter([ENGLISH]), "hi": iter([HINDI])}

    tok = bp.train(groups(), 290, objective="parity", min_frequency=1, threads=1)
    assert bp.train(groups(), 290, objective="parity", min_frequency=1, threads=3) == tok
    assert bp.train(bp.Counts.of(groups()), 290, objective="parity", min_frequency=1) == tok
    gpt2 = bp.train(groups(), 290, objective="parity", min_frequency=1, byte_order="gpt2", ties="smallest_bytes")
    raw = bp.train(groups(), 290, objective="parity", min_frequency=1, ties="smallest_bytes")
    assert gpt2.tokens(ENGLISH + HINDI) == raw.tokens(ENGLISH + HINDI)


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (["ab"], {}, "two groups of sources or more"),
        (
            {"en": ["ab"], "de": ["ab"]},
            {"objective": bp.Parity({"en": iter(["a"])})},
            "the development texts are of en",
        ),
        ({"en": ["ab"], "de": ["ab"]}, {"ties": "first_seen"}, "ties cannot go by first occurrence"),
        ({"en": ["ab"], "de": ["ab"]}, {"memory": 1 << 20}, "needs up to .* and the memory limit is 0.00 GB"),
        ({"en": ["ab"], "de": ["ab"]}, {"stages": [(257, "none")]}, "stages does not go with parity"),
    ],
)
def test_what_does_not_go_with_parity_is_refused(source: Any, options: Any, says: str) -> None:
    source = {name: texts_of(some) for name, some in source.items()} if isinstance(source, dict) else texts_of(source)
    with pytest.raises(bp.TrainingError, match=says):
        bp.train(source, 260, **{"objective": "parity", "min_frequency": 1, **options})


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="objective='x' is unknown"):
        bp.train(texts_of(["ab"]), 260, objective="x")  # type: ignore[arg-type]
    with pytest.raises(bp.TrainingError, match="window=-1"):
        bp.Parity(window=-1)


def test_the_command_line_trains_by_parity(tmp_path: Path) -> None:
    for name, text in {"en": ENGLISH, "hi": HINDI * 3}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    files = [f"--group={name}={tmp_path / name}.txt" for name in ("en", "hi")]
    texts = [f"--development={name}={tmp_path / name}.txt" for name in ("en", "hi")]
    command = ["train", *files, "--vocab-size", "280", "-o", str(tmp_path / "out"), "--parity"]
    assert main([*command, *texts]) == 0
    paths = {name: [str(tmp_path / f"{name}.txt")] for name in ("en", "hi")}
    expected = bp.train(dict(paths), 280, objective=bp.Parity(dict(paths)))
    assert bp.load(tmp_path / "out") == expected
    with pytest.raises(SystemExit):
        main([*command[:-1], *texts])
