"""Training in stages: merges within words, then across them, are those of naive stages."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.stages import merges_of, sweep_stages, texts_of

import bytepair as bp
from bytepair.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")


def test_stages_are_naive_stages() -> None:
    for number in range(150):
        sweep_stages(Random(number))


TEXT = "by the way: by the way, 12345 of the way\nof the way: 1\n" * 4


def test_a_stage_is_an_extension_with_another_split() -> None:
    tok = bp.train(texts_of([TEXT]), 290, split="gpt2", stages=[(270, "superwords")], max_words=2)
    first = bp.train(texts_of([TEXT]), 270, split="gpt2", max_words=2)
    assert bp.extend(first, texts_of([TEXT]), 290, split="superwords", max_words=2) == tok
    assert tok.spec.split == (bp.SPLIT_PATTERNS["superwords"],)
    new = tok.spec.byte_pair.tokens[270:]
    assert b" the way" in new
    # Words at most, not across a colon, and digits apart.
    assert all(len(token.split()) <= 2 and b": " not in token for token in new)
    assert b"".join(tok.tokens(TEXT)) == TEXT.encode()
    assert tok.pieces("in 12345: of\n\nthe") == ["in ", "123", "45", ":", " of\n\n", "the"]


def test_peers_read_the_same_ids(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers").Tokenizer
    tok = bp.train(texts_of([TEXT]), 300, split="gpt2", stages=[(270, "superwords")])
    tok.save(tmp_path)
    assert bp.load(tmp_path) == tok
    theirs = library.from_file(str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "of the way by the way", "a: b 12 34567\r\n\r\n c", ""):
        assert theirs.encode(text).ids == tok.encode(text)


@pytest.mark.parametrize(
    ("source", "stages", "says"),
    [
        (iter(["a b"]), [(260, "none")], "an iterator can be read once"),
        ({"x": iter(["a b"])}, [(260, "none")], "an iterator can be read once"),
        ({"a b": 2}, [(260, "none")], "cannot be split again"),
        (bp.Counts.of(iter(["a b"])), [(260, "none")], "cannot be split again"),
        (texts_of(["a b"]), [(280, "none")], "begins at 280 tokens, which is not between 256 and 269"),
        (texts_of(["a b"]), [(260, "none"), (259, "gpt2")], "begins at 259 tokens, which is not between 260"),
        (texts_of(["a b"]), [(260, "gpt-2")], "there is no split pattern"),
    ],
)
def test_stages_that_cannot_be_are_refused(source: Any, stages: Any, says: str) -> None:
    with pytest.raises(bp.BytepairError, match=says):
        bp.train(source, 270, stages=stages)


def test_a_checkpoint_is_for_one_stage(tmp_path: Path) -> None:
    with pytest.raises(bp.TrainingError, match="a checkpoint keeps the counts of one stage"):
        bp.train(texts_of(["a b"]), 270, stages=[(260, "none")], checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_the_log_has_the_merges_of_all_stages(tmp_path: Path) -> None:
    log = tmp_path / "merges.jsonl"
    tok = bp.train(texts_of([TEXT]), 290, split="gpt2", stages=[(270, "superwords")], log=log)
    assert len(log.read_text().splitlines()) == len(merges_of(tok)) > 14


def test_the_command_line_has_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    train = ["train", str(file), "--split", "gpt2", "--max-words", "2", "--vocab-size"]
    assert main([*train, "290", "--stage", "270:superwords", "-o", str(tmp_path / "both")]) == 0
    assert main([*train, "270", "-o", str(tmp_path / "first")]) == 0
    extend = ["extend", "-m", str(tmp_path / "first"), str(file), "--vocab-size", "290", "--stage", "superwords"]
    assert main([*extend, "--max-words", "2", "-o", str(tmp_path / "then")]) == 0
    assert bp.load(tmp_path / "both") == bp.load(tmp_path / "then")
    for wrong in (["--stage", "270"], ["--stage", "x:none"], ["--stage", "270:none", "--engine", "local"]):
        with pytest.raises(SystemExit):
            main([*train, "290", *wrong, "-o", str(tmp_path / "none")])
    assert "--stage" in capsys.readouterr().err
