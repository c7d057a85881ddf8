"""`ChatRows` in trainers: the batches of `SFTTrainer` and `Trainer` have the labels of `encode_chat`, and train."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from tests.conftest import ROOT, script

for package in ("torch", "transformers", "datasets", "trl"):
    pytest.importorskip(package)

SCRIPT = ROOT / "examples" / "trainers.py"


@pytest.fixture(scope="module")
def trainers() -> Any:
    return script(SCRIPT)


@pytest.mark.filterwarnings("ignore")  # of libraries that are not ours
@pytest.mark.parametrize("name", ["sft", "transformers"])
def test_a_trainer_takes_the_labels_as_they_are(tmp_path: Path, trainers: Any, name: str) -> None:
    tok = trainers.tokenizer()
    template = bp.chat.Template.read(SCRIPT.with_name("chat.jinja"))
    expected = []
    for row in trainers.conversations():
        example = tok.encode_chat(json.loads(row["chat"]), template, tools=json.loads(row["tools"]))
        # The first token of an example has no token before it that predicts it.
        expected.append((example.input_ids.tolist(), [-100, *example.labels[1:].tolist()]))
    trainer = trainers.TRAINERS[name](tok, tmp_path)
    seen = []
    for batch in trainer.get_train_dataloader():
        for ids, labels, mask in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True):
            size = int(mask.sum())
            assert set(labels[size:].tolist()) <= {-100}
            seen.append((ids[:size].tolist(), [-100, *labels[1:size].tolist()]))
    assert sorted(seen) == sorted(expected)
    trained = trainer.train()
    assert trained.global_step == 2
    assert 0 < trained.training_loss < 20


@pytest.mark.filterwarnings("ignore")
def test_the_example_runs(trainers: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert trainers.main(["--trainer", "transformers"]) == 0
    assert "2 steps, loss" in capsys.readouterr().out
