"""The tools of `fuzz/` that go on for hours, on something small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import campaign, coverage, damage, mutations, seeds, shortage, threads

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and forks")


def test_the_first_inputs_of_targets_are_as_they_are_made() -> None:
    folder = coverage.CRATE / "corpus"
    found = {
        target.name: [path.read_bytes() for path in sorted(target.iterdir())] for target in sorted(folder.iterdir())
    }
    assert found == seeds.seeds()
    assert all(len(data) <= coverage.TARGETS[name] for name, inputs in found.items() for data in inputs)


def test_targets_have_the_names_of_the_program() -> None:
    code = (coverage.CRATE / "src" / "lib.rs").read_text()
    for target in coverage.TARGETS:
        assert f'("{target}", ' in code
    assert f"[(&str, Target); {len(coverage.TARGETS)}]" in code


def test_the_targets_are_locked_to_all_that_the_core_needs() -> None:
    """Their lock file is one of its own: with a crate too few, `--locked` refuses to build them."""

    def needed(lock: Path) -> set[str]:
        core = re.search(r'name = "bytepair-core"\n.*?dependencies = \[\n(.*?)\]', lock.read_text("utf-8"), re.DOTALL)
        assert core, lock
        return {line.strip(' ",').split()[0] for line in core[1].splitlines()}

    locked, of_targets = needed(coverage.ROOT / "Cargo.lock"), needed(coverage.CRATE / "Cargo.lock")
    assert "simdutf8" in locked
    assert locked == of_targets


@pytest.mark.skipif(bool(coverage.missing()), reason="the targets cannot be built here")
@pytest.mark.skipif("BYTEPAIR_WHOLE" not in os.environ, reason="BYTEPAIR_WHOLE is not set: building them takes minutes")
def test_mutations_of_a_target_are_counted() -> None:
    program = mutations.build()
    executions, failure = mutations.run(program, "decimal", 1, seed=1)
    assert not failure
    assert executions > 1000


def test_what_fuzzing_with_coverage_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert [each.split(":")[0].split(",")[0] for each in coverage.missing()][:2] == ["cargo", "a C++ compiler"]


@ON_LINUX
@pytest.mark.parametrize(
    ("only", "failures"),
    [
        ("unigram, encode_array, words", 2),
        ("t5, decode, words", 2),
        ("pattern, decode_stream, words", 5),
        ("pattern, align, words", 8),
        ("pattern, encode_batch_array, words", 4),
        # A pass over text whose last part found no room was an empty text; rows of a model ended the process.
        ("characters, encode_array by one thread, one word", 3),
        ("wordpiece, fit, one word", 2),
        # The text of one unknown token.
        ("t5, offsets, one word", 7),
        # Tables of training ended the process, and so did the list of all rows of counts.
        ("train on one piece, words", 4),
        ("train for parity, one word", 6),
        ("train_wordpiece, words", 2),
        ("train_unigram, words", 2),
    ],
)
def test_calls_end_in_memory_error_where_allocations_fail(tmp_path: Path, only: str, failures: int) -> None:
    command = [sys.executable, "-m", "fuzz.shortage", "--only", only, "--failures", f"{failures}", "--limits", "4"]
    command += ["--size", "4500000"]
    environment = shortage.preload(tmp_path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines()[-1].endswith(" failures, 0 faults"), done.stdout + done.stderr[-2000:]
    assert int(done.stdout.splitlines()[-1].split()[0]) > 0
    assert all("in limits" in line for line in done.stdout.splitlines() if line.endswith(" 0 times MemoryError"))


@ON_LINUX
def test_a_child_that_fails_hangs_or_is_killed_is_told() -> None:
    assert shortage.in_child(lambda: "right") == "right"
    assert shortage.in_child(lambda: f"{1 / 0}").startswith("ZeroDivisionError")
    assert shortage.in_child(os.abort) == "ended by -6"
    assert shortage.in_child(lambda: f"{os.read(os.pipe()[0], 1)!r}", seconds=0.05) == "hangs"


@ON_LINUX
def test_threads_and_forks_return_what_one_thread_does() -> None:
    assert threads.in_threads(640) == 640
    assert threads.forks(10) == 10


def test_damaged_files_load_soon_or_are_refused() -> None:
    for small in damage.small_files().values():
        every = len(small.data) // 2
        done = damage.damage(small, every=every)
        assert 0 < done.refused <= done.files == -(-9 * len(small.data) // every)


def test_tests_that_a_campaign_runs_are_counted() -> None:
    assert campaign.run_tests("tests/test_json_fields.py", "-k", "test_")(0)[0] > 1
    with pytest.raises(AssertionError, match="no tests ran"):
        campaign.run_tests("tests/test_json_fields.py", "-k", "no test at all")(0)


def test_a_campaign_goes_on_where_it_ended_until_it_is_complete(tmp_path: Path) -> None:
    shares: list[int] = []

    def share(done: int) -> tuple[int, int]:
        shares.append(done)
        return 3, 10

    name = next(name for name, part in campaign.PARTS.items() if part.wanted == 200)
    parts, path = {name: campaign.Part(6, share)}, tmp_path / "campaign.json"
    path.write_text("{}")
    campaign.go_on(0.0, path=path, parts=parts)
    assert shares == []
    for _ in range(2):
        state = campaign.go_on(60, path=path, parts=parts)
    assert shares == [0, 3]
    assert state == campaign.load(path)
    assert (state[name]["done"], state[name]["values"]) == (6, 20)
    assert f"| {name} | 6 | 200 | 20 |" in campaign.summary(state)
    assert "Together 20 executions and values, of 1,000,000,000" in campaign.summary(state)

    def failing(_: int) -> tuple[int, int]:
        raise AssertionError("a wrong id")

    with pytest.raises(AssertionError, match="a wrong id"):
        campaign.go_on(60, path=path, parts={name: campaign.Part(None, failing)})
    assert campaign.load(path) == state


def test_without_a_file_a_campaign_goes_on_from_its_table(tmp_path: Path) -> None:
    state = campaign.load(tmp_path / "there is none")
    assert state["kills of a process that saves"]["done"] == 3000
    assert campaign.read(campaign.summary(state)) == state
