"""The engine for Slurm: with stand-ins for its commands, and with a cluster here where Slurm is installed."""

from __future__ import annotations

import fcntl
import getpass
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards.engines.slurm import Slurm, _Array
from bytepair.shards.plans import WORK

CONFIGURATION = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
SlurmdPort={other}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def stand_in(folder: Path) -> None:
    submit = f'exec {shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).with_name("sbatch.py")))} "$@"'
    for name, body in {"sbatch": submit, "scancel": 'kill -s KILL -- "-$1"'}.items():
        command = folder / name
        command.write_text(f"#!/bin/sh\n{body}\n")
        command.chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def slurm(folder: Path) -> Iterator[None]:
    """Starts Slurm with a single node, this machine."""
    if "BYTEPAIR_CLUSTER" not in os.environ:
        pytest.skip("Slurm is started by `make test-cluster` alone")
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "scancel") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: 'sudo apt install slurm-wlm'; there is the stand-in")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    places = {"host": socket.gethostname().partition(".")[0], "user": getpass.getuser(), "cpus": os.cpu_count()}
    place = folder / "slurm.conf"
    place.write_text(CONFIGURATION.format(folder=folder, port=free_port(), other=free_port(), **places))
    os.environ["SLURM_CONF"] = str(place)
    started = [
        subprocess.Popen([name, "-D", "-f", str(place)], stderr=subprocess.DEVNULL) for name in ("slurmctld", "slurmd")
    ]
    try:
        for _ in range(100):
            said = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False).stdout
            if said.strip() == "idle":
                break
            time.sleep(0.2)
        else:
            logs = [log.read_text()[-1000:] for log in folder.glob("*.log")]
            pytest.skip(f"Slurm does not start here: {' '.join(logs)}")
        yield
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


@pytest.fixture(scope="module", params=["stand-in", "slurm"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, armed: Path) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("slurm")
    before = dict(os.environ)
    try:
        if request.param == "slurm":
            for _ in slurm(folder):
                yield armed
        else:
            stand_in(folder)
            yield armed
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_it_leaves_what_the_local_engine_leaves(gives_the_same: Callable[[Any], None], cluster: Path) -> None:
    assert not cluster.exists()
    gives_the_same(Slurm(workers=2, poll=0.2))


def test_a_job_that_is_killed_is_done_again_and_tasks_share_jobs(
    gives_the_same: Callable[[Any], None], cluster: Path
) -> None:
    cluster.touch()
    gives_the_same(Slurm(poll=0.2, jobs=2))
    assert not cluster.exists()


def test_errors_are_those_of_the_task(fails_the_same: Callable[[Any], None], cluster: Path) -> None:
    assert cluster.parent.exists()
    fails_the_same(Slurm(poll=0.2))


def test_what_slurm_refuses_is_told(tokenizer: bp.Tokenizer, tmp_path: Path, cluster: Path) -> None:
    assert cluster.parent.exists()
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises(bp.CorpusError, match="invalid partition"):
        bp.shard(tmp_path / "a.txt", tokenizer, tmp_path / "out", engine=Slurm(options=["--partition=none"]))


def test_jobs_that_end_without_a_word_are_not_asked_for_for_ever(
    tokenizer: bp.Tokenizer, tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.parent.exists()
    (tmp_path / "a.txt").write_text("low")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(bp.CorpusError, match=r"1 tasks ended 3 times without being done, .*/no/such/python"):
        bp.shard(tmp_path / "a.txt", tokenizer, tmp_path / "out", engine=Slurm(poll=0.05))


def test_without_slurm_that_is_said(tokenizer: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises(bp.CorpusError, match="there is no sbatch on this machine"):
        bp.shard(tmp_path / "a.txt", tokenizer, tmp_path / "out", engine="slurm")


def held(lock: Path) -> bool:
    """Whether a process holds the lock, which the system releases however that process ends."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("nothing happened in 30 seconds")


HOLDING = """\
#!/bin/bash
#SBATCH --job-name=bytepair-test
#SBATCH --array=0-0
#SBATCH --ntasks=1
#SBATCH --output=slurm/%x-%a.out
exec {python} -c '
import fcntl, pathlib, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
pathlib.Path(sys.argv[2]).touch()
time.sleep({seconds})' {lock} {started}
"""


@pytest.mark.parametrize("has_scancel", [True, False])
def test_cancelling_ends_the_jobs_or_leaves_them_to_end(
    has_scancel: bool, cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.parent.exists()
    (tmp_path / WORK / "slurm").mkdir(parents=True)
    places = {"lock": tmp_path / "lock", "started": tmp_path / "started"}
    script = tmp_path / "job.sh"
    script.write_text(HOLDING.format(python=sys.executable, seconds=1000 if has_scancel else 1, **places))
    jobs = _Array(tmp_path, script, [])
    until(places["started"].exists)
    assert held(places["lock"])
    if not has_scancel:
        monkeypatch.setenv("PATH", str(tmp_path))
    jobs.cancel()
    until(lambda: not held(places["lock"]))
