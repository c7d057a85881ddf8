"""The progress of long work in a terminal."""

from __future__ import annotations

import io
import json
import os
import random
import sys

import pytest

from bytepair import progress
from bytepair.progress import Phase, Progress, RunProgress, Worker

COUNT = Progress("count", 5_500_000, 20_000_000, 0.5)
MERGE = Progress("merge", 8_000, 32_000, 4.0)


WORKERS = (Worker("0", 17, 50, 100, 3), Worker("1", None, 0, 0, 2), Worker("2", 18, 9, 0, 0))
RUN = RunProgress(
    "encode",
    450_000_000,
    1_800_000_000,
    20.0,
    before=50_000_000,
    documents=180_000,
    tokens=112_600_000,
    workers=WORKERS,
)
FACTS = "encode  25%  {}1:08 left  20 MB/s  180k documents  113M tokens"


class Terminal(io.StringIO):
    """A screen of one row and its scrollback; an unknown control sequence is an error."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width, self.row, self.column = width, "", 0
        self.above: list[str] = []
        self.blank = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for part in text.replace("\033[K", "\0"):
            if part == "\r":
                self.column = 0
            elif part == "\0":
                self.row = self.row[: self.column]
                self.blank += not self.row
            elif part == "\n":
                self.above.append(self.row)
                self.row, self.column = "", 0
            else:
                assert part.isprintable()
                assert self.column < self.width - 1
                self.row = self.row[: self.column] + part + self.row[self.column + 1 :]
                self.column += 1
        return len(text)


@pytest.mark.parametrize(
    ("state", "width", "shown"),
    [
        (COUNT, 99, " count 5.5 of 20 MB  28%  |#######                 |  0:01 left  11 MB/s"),
        (COUNT, 79, " count 5.5 of 20 MB  28%  |###         |  0:01 left  11 MB/s"),
        (COUNT, 39, " count 5.5 of 20 MB  28%  0:01 left"),
        (MERGE, 79, " merge  8,000 of 32,000  25%  |###         |  0:12 left  2,000/s"),
        (MERGE, 39, " merge  8,000 of 32,000  25%  0:12 left"),
        (MERGE, 20, " merge  8,000 of 32,"),
        (Progress("merge", 0, 32_000, 0.0), 39, " merge      0 of 32,000   0%  0/s"),
        (Progress("merge", 1, 32_000, 1.0), 79, " merge      1 of 32,000   0%  |            |  8:53:19 left  1/s"),
        (Progress("count", 12_000_000, None, 75.0), 79, " count 12 MB  1:15  0.2 MB/s"),
        (Progress("merge", 32_000, 32_000, 16.0, ended=True), 79, " merge 32,000  0:16  2,000/s"),
        (Progress("count", 0, 0, 0.0, ended=True), 79, " count 0.0 MB  0.0 s  0.0 MB/s"),
        (Progress("count", 9, 0, 1.0), 0, ""),
        (RUN, 140, FACTS.format("|######                  |  ") + "  0: #17 50%  2: #18"),
        (RUN, 100, FACTS.format("|###         |  ") + "  0: #17 50%  2: #18"),
        (RUN, 90, FACTS.format("|###         |  ") + "  0: #17 50%"),
        (RUN, 81, FACTS.format("") + "  0: #17 50%  2: #18"),
        (RUN, 78, FACTS.format("") + "  0: #17 50%"),
        (RUN, 39, "encode  25%  1:08 left  20 MB/s"),
        (RunProgress("encode", 0, 100, 0.0), 79, "encode   0%  0.0 MB/s"),
        (RunProgress("encode", 0, 0, 0.0), 79, "encode   0%  0.0 MB/s"),
        (
            RunProgress("encode", 18 * 10**8, 18 * 10**8, 90.0, ended=True, documents=7, tokens=12_345),
            79,
            "encode 1,800 MB  1:30  20 MB/s  7 documents  12.3k tokens",
        ),
        (
            RunProgress("shuffle", 30_000_000, 40_000_000, 10.0, unit="tokens", documents=5, tokens=30_000_000),
            79,
            "shuffle  75%  0:03 left  3.00M tokens/s  5 documents",
        ),
        (RunProgress("reduce-1", 3, 4, 30.0, unit="tasks", tasks=4), 79, "reduce-1  75%  0:10 left"),
        (RunProgress("reduce-1", 4, 4, 40.0, unit="tasks", tasks=4, ended=True), 79, "reduce-1 4 tasks  0:40"),
    ],
)
def test_as_many_facts_as_fit(state: Progress, width: int, shown: str) -> None:
    assert progress.line(state, width) == shown


@pytest.mark.parametrize("width", [10, 40, 80, 200])
def test_a_line_is_drawn_over_itself(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal(width)
    draw = progress.bar(terminal)
    random_ = random.Random(1)
    ended = []
    for phase, total in (("count", None), ("count", 10**12), ("merge", 10**6)):
        done = 0
        for step in range(50):
            done += random_.randrange(20_000)
            state = Progress(phase, done, total, step * random_.random())
            draw(state)
            assert terminal.row == progress.line(state, width - 1)
        ended.append(Progress(phase, done, total, 60.0, ended=True))
        draw(ended[-1])
    assert terminal.above == [progress.line(state, width - 1) for state in ended]
    assert terminal.row == ""
    assert terminal.blank == 0


def test_a_run_has_a_line_of_json_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    report = progress.reporter("json")
    assert report is not None
    for phase in ("encode", "shuffle"):
        for step in range(35):
            report(RunProgress(phase, step, 35, step / 10, workers=WORKERS))
        report(RunProgress(phase, 35, 35, 3.45, ended=True))
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["phase"], line["done"]) for line in told] == [
        (phase, done) for phase in ("encode", "shuffle") for done in (0, 10, 20, 30, 35)
    ]
    assert list(told[0]) == [
        *("phase", "done", "total", "seconds", "ended", "unit", "before", "documents", "tokens"),
        *("tasks_done", "tasks", "workers"),
    ]
    assert told[0]["workers"][0] == {"name": "0", "task": 17, "done": 50, "total": 100, "ended": 3}
    report(MERGE)
    report(MERGE)
    line = {"phase": "merge", "done": 8_000, "total": 32_000, "seconds": 4.0, "ended": False}
    assert [json.loads(line) for line in stream.getvalue().splitlines()[-2:]] == [line, line]


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
def test_the_width_is_that_of_the_terminal() -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal, open(ours, "rb", buffering=0) as screen:  # noqa: PTH123
        for columns, width in ((40, 39), (0, 79), (120, 119)):
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            progress.bar(terminal)(MERGE)
            assert screen.read(1000).decode() == f"\r{progress.line(MERGE, width)}\033[K"


def test_what_comes_fast_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("bytepair.progress.time.perf_counter", lambda: now)
    told: list[Progress] = []
    with Phase(told.append, "count", 1000) as phase:
        for done in range(1000):
            phase.tell(done)
            now += 0.001
    assert 20 <= len(told) <= 26
    assert (told[0].done, told[-1].done, told[-1].ended) == (0, 999, True)


def test_a_bar_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal(80))
    assert progress.reporter(True) is not None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.reporter(True) is None
