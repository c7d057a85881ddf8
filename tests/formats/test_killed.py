"""Writers that are killed: files are whole, and the next writer sweeps what is left, but not what others write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import bytepair as bp
from bytepair import files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL and no locks on files there")

CHILD = """
import os, signal, sys
from pathlib import Path
import bytepair as bp
from bytepair import files

folder, stop, kill = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "kill"
eos = sys.argv[4] or None
tok = bp.train({"lower": 5}, vocab_size=260, eos=eos)
steps = 0

def counted(real):
    def step(*arguments, **options):
        global steps
        steps += 1
        if steps == stop:
            if kill:
                os.kill(os.getpid(), signal.SIGKILL)
            print("stopped", flush=True)
            sys.stdin.readline()
        return real(*arguments, **options)
    return step

os.fsync, Path.replace, Path.unlink, Path.chmod = map(counted, (os.fsync, Path.replace, Path.unlink, Path.chmod))
tok.save(folder) if eos else tok.save(folder, "vocab+merges", drop=("split",))
print("saved", steps)
"""


def child(folder: Path, stop: int, how: str, eos: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(folder), str(stop), how, eos]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{files.TEMPORARY}*"))


def test_a_kill_at_any_step_of_a_save_loses_nothing_and_the_next_save_sweeps(tmp_path: Path) -> None:
    old, new = bp.train({"low": 5}, vocab_size=257), bp.train({"lower": 5}, vocab_size=260)
    came: list[int] = []
    mixed = 0
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        old.save(folder, "vocab+merges", drop=("split",))
        writer = child(folder, stop, "kill")
        out, _ = writer.communicate()
        if writer.returncode == 0:
            assert out.startswith("saved")
            break
        assert writer.returncode == -signal.SIGKILL
        came.append(len(left(folder)))
        try:
            found = bp.load(folder, split="none")
        except bp.IntegrityError:
            mixed += 1
        else:
            assert found.encode("lower") in (old.encode("lower"), new.encode("lower"))
        new.save(folder, "vocab+merges", drop=("split",))
        assert left(folder) == []
        assert bp.load(folder, split="none").encode("lower") == new.encode("lower")
    assert len(came) > 8
    assert max(came) == 3
    # Between the renames there are files of two tokenizers.
    assert mixed == 2


def test_a_kill_leaves_no_tokenizer_with_the_roles_of_another(tmp_path: Path) -> None:
    found: set[str | None] = set()
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        bp.train({"low": 5}, vocab_size=258, eos="<e>").save(folder)
        writer = child(folder, stop, "kill", "</s>")
        writer.communicate()
        try:
            tok = bp.load(folder)
        except bp.IntegrityError:
            found.add(None)
        else:
            assert (tok.eos_token, tok.vocab_size) in (("<e>", 258), ("</s>", 260)), stop
            found.add(tok.eos_token)
        if writer.returncode == 0:
            break
    assert found == {"<e>", None, "</s>"}


def test_a_save_does_not_sweep_what_another_one_is_writing(tmp_path: Path) -> None:
    writer = child(tmp_path, 2, "wait")
    assert writer.stdout is not None
    assert writer.stdout.readline() == "stopped\n"
    mine = left(tmp_path)
    assert mine
    dead = tmp_path / f"{files.TEMPORARY}dead"
    dead.write_bytes(b"x")
    bp.train({"low": 5}, vocab_size=257).save(tmp_path / "more")
    files.write_all(tmp_path, {"a": b"b"}, is_swept=True)
    assert left(tmp_path) == mine
    out, _ = writer.communicate("go\n")
    assert out.startswith("saved")
    assert left(tmp_path) == []
    assert bp.load(tmp_path, split="none").encode("lower")


def test_threads_that_save_and_sweep_do_not_meet(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def work(name: str) -> None:
        try:
            for number in range(60):
                files.write_all(tmp_path, {name: b"%d" % number, f"{name}.b": b"x"}, is_swept=True)
                with files.replacing(tmp_path / f"{name}.c") as place:
                    place.write_bytes(b"y")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert left(tmp_path) == []
    assert {path.read_bytes() for path in tmp_path.glob("*.c")} == {b"y"}
    assert len(list(tmp_path.iterdir())) == 18


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    (tmp_path / f"{files.TEMPORARY}folder").mkdir()
    os.mkfifo(tmp_path / f"{files.TEMPORARY}pipe")
    (tmp_path / f"{files.TEMPORARY}link").symlink_to("/dev/zero")
    return tmp_path


def test_only_files_are_swept(strange: Path) -> None:
    files.sweep(strange)
    files.sweep(strange / "none")
    assert len(left(strange)) == 3


def test_where_files_have_no_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{files.TEMPORARY}x").write_bytes(b"")
    monkeypatch.setattr(files, "fcntl", None)
    files.write_all(tmp_path, {"a": b"b"}, is_swept=True)
    assert [path.name for path in left(tmp_path)] == [f"{files.TEMPORARY}x"]
    assert (tmp_path / "a").read_bytes() == b"b"


def test_kills_at_random_moments() -> None:
    # `--kills 3000` takes three minutes.
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.killed", "--kills", "40"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("40 kills: ")
