"""An interrupted training resumes where it ended, with the result of an uninterrupted one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bytepair as bp
from bytepair.training.checkpoints import COUNTS, MERGES, SETTINGS, MergeLog

pytest.importorskip("pyarrow")

VOCAB = 900

LONG = "import random; text = ''.join(map(chr, random.Random(1).choices(range(33, 127), k=700_000)))"
"""A text that takes long enough to be interrupted in several places."""


def train(source: Any, size: int = VOCAB, **options: Any) -> bp.Trained:
    return bp.train_with_statistics(source, size, **{"special_tokens": ["<|end|>"], **options})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def check_log(path: Path, trained: bp.Trained) -> None:
    records = lines(path)
    assert [record["rank"] for record in records] == list(range(len(trained.merges)))
    assert [record["count"] for record in records] == [merge.count for merge in trained.merges]
    tokens = [trained.tokenizer.token_bytes(id) for pair in (record["pair"] for record in records) for id in pair]
    assert tokens == [side for merge in trained.merges for side in merge[:2]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, sources: list[str]) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "a.txt"
    path.write_text("\n".join(sources[:4]), "utf-8")
    return path


@pytest.fixture(scope="module")
def whole(corpus: Path) -> bp.Trained:
    return train(corpus)


@pytest.fixture(scope="module")
def long() -> tuple[str, bp.Trained]:
    known: dict[str, Any] = {}
    exec(LONG, known)
    return known["text"], train(iter([known["text"]]), 12_000, split="none")


class Stopper:
    """Raises KeyboardInterrupt at a call of its own choice."""

    def __init__(self, phase: str, after: int) -> None:
        self.phase, self.after = phase, after

    def __call__(self, state: bp.Progress) -> None:
        if state.phase == self.phase and not state.ended:
            self.after -= 1
            if self.after < 0:
                raise KeyboardInterrupt


@pytest.mark.parametrize("layout", ["last", "first"])
def test_what_is_kept_is_all_that_there_is(tmp_path: Path, corpus: Path, layout: Any) -> None:
    trained = train(corpus, special_ids=layout, checkpoint=tmp_path / "kept", log=tmp_path / "log.jsonl")
    for path in (tmp_path / "kept" / MERGES, tmp_path / "log.jsonl"):
        check_log(path, trained)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == sorted([COUNTS, MERGES, SETTINGS])
    assert bp.Counts.read(tmp_path / "kept" / COUNTS).pieces == trained.statistics.pieces
    again = train("no/such/file", special_ids=layout, checkpoint=tmp_path / "kept", resume=True)
    assert again.tokenizer.fingerprint == trained.tokenizer.fingerprint
    assert again.merges == trained.merges
    check_log(tmp_path / "kept" / MERGES, trained)


def test_interrupted_at_any_call_it_goes_on(tmp_path: Path, long: tuple[str, bp.Trained]) -> None:
    text, whole = long
    random = Random(1)
    merges = []
    for number in range(4):
        kept = tmp_path / str(number)
        for _ in range(random.randint(1, 3)):
            stopper = Stopper(random.choice(["count", "merge"]), random.randint(0, 2))
            try:
                train(iter([text]), 12_000, split="none", checkpoint=kept, resume=True, progress=stopper)
            except bp.TrainingInterrupted as caught:
                error: KeyboardInterrupt = caught
            except KeyboardInterrupt as caught:
                error = caught
            else:
                continue
            if isinstance(error, bp.TrainingInterrupted):
                merges.append(error.merges)
                partial = error.tokenizer
                assert partial.spec.byte_pair.tokens == whole.tokenizer.spec.byte_pair.tokens[: 256 + error.merges]
                # Merges kept before and not yet replayed are still there.
                logged = [record["count"] for record in lines(kept / MERGES)]
                assert len(logged) >= error.merges
                assert logged == [merge.count for merge in whole.merges[: len(logged)]]
        trained = train(iter([text]), 12_000, split="none", checkpoint=kept, resume=True)
        assert trained.tokenizer.fingerprint == whole.tokenizer.fingerprint
        assert trained.merges == whole.merges
        check_log(kept / MERGES, trained)
    assert merges


def test_the_tokenizer_of_an_interruption_is_that_of_fewer_merges(long: tuple[str, bp.Trained]) -> None:
    with pytest.raises(bp.TrainingInterrupted) as caught:
        train(iter([long[0]]), 12_000, split="none", progress=Stopper("merge", 0))
    expected = train(iter([long[0]]), 257 + caught.value.merges, split="none").tokenizer
    assert caught.value.tokenizer.fingerprint == expected.fingerprint
    assert str(caught.value.merges) in str(caught.value)


def test_any_first_lines_of_the_merges_do(tmp_path: Path, corpus: Path, whole: bp.Trained) -> None:
    kept = tmp_path / "kept"
    train(corpus, checkpoint=kept)
    data = (kept / MERGES).read_bytes()
    random = Random(2)
    for length in (0, 1, len(data) - 1, *(random.randrange(len(data)) for _ in range(6))):
        (kept / MERGES).write_bytes(data[:length])
        assert train(corpus, checkpoint=kept, resume=True).tokenizer.fingerprint == whole.tokenizer.fingerprint
        assert (kept / MERGES).read_bytes() == data
    (kept / MERGES).unlink()
    assert train(corpus, checkpoint=kept, resume=True).merges == whole.merges
    assert (kept / MERGES).read_bytes() == data


def test_larger_and_smaller_vocabularies(tmp_path: Path, corpus: Path, whole: bp.Trained) -> None:
    kept = tmp_path / "kept"
    train(corpus, 500, checkpoint=kept)
    assert train(corpus, checkpoint=kept, resume=True).merges == whole.merges
    smaller = train(corpus, 600, checkpoint=kept, resume=True, log=tmp_path / "log.jsonl")
    assert smaller.tokenizer.fingerprint == train(corpus, 600).tokenizer.fingerprint
    check_log(tmp_path / "log.jsonl", smaller)
    # Learned merges are kept.
    check_log(kept / MERGES, whole)


def test_other_settings_are_refused_by_name(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    train(corpus, 300, checkpoint=kept)
    changes: dict[str, Any] = {
        "split": "gpt2",
        "normalizers": ["NFC"],
        "special_tokens": ["<|other|>"],
        "weights": {"": 2},
        "ties": "first_seen",
        "min_frequency": 3,
        "min_count": 2,
        "max_token_length": 9,
        "special_ids": "first",
        "byte_order": "gpt2",
        "errors": "replace",
    }
    for name, value in changes.items():
        with pytest.raises(bp.TrainingError, match=f"another setting of {name.replace('_', ' ')}: ") as caught:
            train(corpus, 300, checkpoint=kept, resume=True, **{name: value})
        assert caught.value.file == str(kept / SETTINGS)
    with pytest.raises(bp.TrainingError, match="resume=True"):
        train(corpus, 300, checkpoint=kept)
    with pytest.raises(ValueError, match="goes with checkpoint"):
        train(corpus, 300, resume=True)
    train(corpus, 300, checkpoint=kept, resume=True, threads=1, memory="1GB")


def test_damaged_checkpoints_are_refused(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    train(corpus, 300, checkpoint=kept)
    good = {name: (kept / name).read_bytes() for name in (SETTINGS, COUNTS, MERGES)}
    records = good[MERGES].splitlines(keepends=True)
    third = json.loads(records[2])

    def changed(**values: Any) -> bytes:
        return json.dumps({**third, **values}).encode() + b"\n"

    wrong_lines = [
        b"\n",
        b"{}\n",
        b"[1, 2]\n",
        b"\xff\n",
        b"[" * 99_999 + b"\n",
        records[3],
        changed(rank=7),
        changed(pair=[1]),
        changed(pair=[-1, 5]),
        changed(pair=[1.0, 5]),
        changed(pair=[99, 258]),
        changed(pair=[99, 10**30]),
        changed(count=True),
        changed(count=0),
        changed(count=2**64),
        changed(count="9"),
    ]
    for wrong in wrong_lines:
        (kept / MERGES).write_bytes(b"".join([*records[:2], wrong, *records[3:]]))
        before = (kept / MERGES).read_bytes()
        with pytest.raises(bp.FormatError, match="the checkpoint is damaged") as caught:
            train(corpus, 300, checkpoint=kept, resume=True)
        assert (caught.value.file, caught.value.line) == (str(kept / MERGES), 3)
        assert (kept / MERGES).read_bytes() == before
    # Merges that could be, but not of these counts.
    for wrong in (changed(count=third["count"] + 1), changed(pair=third["pair"][::-1])):
        (kept / MERGES).write_bytes(b"".join([*records[:2], wrong, *records[3:]]))
        with pytest.raises(bp.BytepairError):
            train(corpus, 300, checkpoint=kept, resume=True)
    (kept / MERGES).write_bytes(good[MERGES])
    for data in (b"", b"[]", b"{}", b"{", good[SETTINGS][:-9], b"\xff"):
        (kept / SETTINGS).write_bytes(data)
        with pytest.raises(bp.BytepairError) as refused:
            train(corpus, 300, checkpoint=kept, resume=True)
        assert refused.value.file == str(kept / SETTINGS)
    (kept / SETTINGS).write_bytes(good[SETTINGS])
    (kept / COUNTS).write_bytes(good[COUNTS][:-100])
    with pytest.raises(bp.BytepairError):
        train(corpus, 300, checkpoint=kept, resume=True)
    # Counts of something else, which the merges do not fit.
    train(iter(["another text, and another"]), 260, checkpoint=tmp_path / "other")
    (kept / COUNTS).write_bytes((tmp_path / "other" / COUNTS).read_bytes())
    with pytest.raises(bp.BytepairError):
        train(corpus, 300, checkpoint=kept, resume=True)


def test_a_log_makes_up_for_an_interruption(tmp_path: Path) -> None:
    symbols = [bytes([byte]) for byte in range(256)]
    merges = [(97, 98, 9), (256, 99, 5), (257, 257, 2)]

    class Interrupting:
        """A file in which Ctrl-C comes just before, or just after, a step."""

        def __init__(self, file: Any, step: str, late: bool) -> None:
            self.file, self.step, self.late = file, step, late

        def __getattr__(self, name: str) -> Any:
            def call(*arguments: Any) -> Any:
                if name == self.step and not self.late:
                    raise KeyboardInterrupt
                result = getattr(self.file, name)(*arguments)
                if name == self.step:
                    raise KeyboardInterrupt
                return result

            return call

    expected = MergeLog(tmp_path / "expected", symbols, 3)
    expected.take(merges)
    expected.close()
    for step in ("seek", "write", "flush"):
        for late in (False, True):
            log = MergeLog(tmp_path / "log", symbols, 3)
            log.take(merges[:1])
            file = log._file
            log._file = Interrupting(file, step, late)  # type: ignore[assignment]
            with pytest.raises(KeyboardInterrupt):
                log.take(merges[:2])
            log._file = file
            log.take(merges)
            log.close()
            assert (tmp_path / "log").read_bytes() == (tmp_path / "expected").read_bytes()


def test_places_that_cannot_be_written(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(bp.ArtifactError):
        train(corpus, 300, checkpoint=tmp_path / "file")
    with pytest.raises(bp.ArtifactError, match="cannot write the merges"):
        train(corpus, 300, log=tmp_path / "no" / "log.jsonl")


SCRIPT = f"""
import sys, time, bytepair as bp, bytepair.training.byte_pairs
{LONG}
started = time.perf_counter()
print("go", flush=True)
try:
    bp.train(iter([text]), 12_000, split="none", checkpoint=sys.argv[1], resume=True, special_tokens=["<|end|>"])
    print("done", time.perf_counter() - started)
except bp.TrainingInterrupted as error:
    assert error.tokenizer.vocab_size == 257 + error.merges
    print("merges", error.merges)
except KeyboardInterrupt:
    print("counting")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent with os.kill")
def test_signals_at_any_time(tmp_path: Path, long: tuple[str, bp.Trained]) -> None:
    text, expected = long
    random = Random(3)
    kept = tmp_path / "kept"
    for number in range(8):
        child = subprocess.Popen([sys.executable, "-c", SCRIPT, kept], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random.random() * 0.4)
        sent = signal.SIGKILL if number % 2 else signal.SIGINT
        os.kill(child.pid, sent)
        output, _ = child.communicate(timeout=60)
        if sent == signal.SIGINT:
            # Before the first part and after the last merge it meets the interpreter on its way in and out.
            assert child.returncode in (0, 1, -signal.SIGINT)
            print(output)
    trained = train(iter([text]), 12_000, split="none", checkpoint=kept, resume=True)
    assert trained.tokenizer.fingerprint == expected.tokenizer.fingerprint
    check_log(kept / MERGES, trained)
