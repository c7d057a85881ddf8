"""Timelines of logs, checkpoints, tokenizers and lists of merges; as data and as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.errors import ArtifactError, FormatError
from bytepair.model.models import BytePair, Characters, WordLevel
from bytepair.model.spec import TokenizerSpec
from bytepair.study.explain import timeline
from bytepair.view import timeline as view

COUNTS = {"low": 5, "lower": 2, " mañana": 4, "\n\n": 3}


def test_all_sources_say_the_same(tmp_path: Path) -> None:
    log = tmp_path / "merges.log"
    report = bp.train_with_statistics(COUNTS, vocab_size=266, log=log, checkpoint=tmp_path / "kept")
    found = timeline(report.merges)
    assert [(merge.left, merge.right, merge.count) for merge in found.merges] == report.merges
    assert [merge.rank for merge in found.merges] == list(range(10))
    assert found.total == 10
    for place in (log, str(log), tmp_path / "kept"):
        same = timeline(place)
        assert (same.merges, same.total) == (found.merges, 10)
    of_tokenizer = timeline(report.tokenizer)
    assert [(one.rank, one.left, one.right) for one in of_tokenizer.merges] == [
        (one.rank, one.left, one.right) for one in found.merges
    ]
    assert [merge.id for merge in of_tokenizer.merges] == list(range(256, 266))
    assert {merge.count for merge in of_tokenizer.merges} == {None}


def test_most() -> None:
    merges = bp.train_with_statistics(COUNTS, vocab_size=266).merges
    found = timeline(merges, most=3)
    assert (len(found.merges), found.total) == (3, 10)
    assert view.text(found).startswith("The first 3 of 10 merges, from a list\n")
    with pytest.raises(ValueError, match="not positive"):
        timeline(merges, most=0)


def test_a_log_that_is_being_written(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    bp.train(COUNTS, vocab_size=266, log=log)
    log.write_bytes(log.read_bytes()[:-5])
    assert timeline(log).total == 9
    log.write_bytes(b"")
    assert timeline(log).merges == ()
    assert view.text(timeline(log)) == "0 merges, from the merge log log.jsonl\n"
    assert "0 merges" in view.html(timeline(log))


@pytest.mark.parametrize("place", range(6))
def test_damaged_logs(tmp_path: Path, place: int) -> None:
    log = tmp_path / "log.jsonl"
    bp.train(COUNTS, vocab_size=266, log=log)
    lines = log.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[2])
    broken = [b"no JSON\n", b"[]\n", b"9\n", lines[3], json.dumps({**record, "count": True}).encode() + b"\n"]
    broken.append(json.dumps({**record, "left": "a b"}).encode() + b"\n")
    log.write_bytes(b"".join([*lines[:2], broken[place], *lines[3:]]))
    with pytest.raises(FormatError, match="not a line of a merge log") as caught:
        timeline(log)
    assert (caught.value.line, caught.value.file) == (3, str(log))
    assert len(timeline(log, most=2).merges) == 2


def test_ranks(tmp_path: Path) -> None:
    model = BytePair((b"a", b"b", b"abab", b"ba", b"aa"), (0, 1, 2, 5, 9), partial_alphabet=True)
    found = timeline(bp.Tokenizer(TokenizerSpec(model)))
    assert [(merge.rank, merge.result, merge.id) for merge in found.merges] == [(5, b"ba", 5), (9, b"aa", 9)]
    assert (found.total, found.unmade, found.by_rank) == (3, 1, True)
    assert view.text(found).splitlines()[0] == (
        "The first 2 of 3 tokens of several bytes, from a tokenizer; 1 before the last of these have no merge"
    )
    with pytest.raises(ArtifactError):
        timeline(tmp_path / "nothing")


def test_characters_and_models_without_merges() -> None:
    how = Characters(continuing_subword_prefix="##")
    model = BytePair((b"a", b"##b", b"ab"), (0, 1, 2), ((0, 1),), alphabet=how)
    found = timeline(bp.Tokenizer(TokenizerSpec(model)))
    assert [(merge.left, merge.right, merge.result) for merge in found.merges] == [(b"a", b"##b", b"ab")]
    words = bp.Tokenizer(TokenizerSpec(WordLevel((b"a", b"<unk>"), (0, 1))))
    with pytest.raises(FormatError, match="a WordLevel model has no merges"):
        timeline(words)


def test_as_json_and_html(tmp_path: Path) -> None:
    found = timeline(bp.train_with_statistics({"<b>&\u202e": 5}, vocab_size=260).merges)
    plain = json.loads(json.dumps(found.as_dict()))
    assert [bytes.fromhex(merge["result"]) for merge in plain["merges"]] == [merge.result for merge in found.merges]
    page = tmp_path / "timeline.html"
    view.save(found, page, title="a < b")
    text = page.read_text("utf-8")
    assert "<b>&" not in text
    assert "\u202e" not in text
    assert "<h1>a &lt; b</h1>" in text
