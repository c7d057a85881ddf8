"""Python imports this when it starts: a worker about to commit a task kills itself, once for each time it is armed."""

import os
import signal
import sys

_flush = os.fsync


def _kill(handle: int) -> None:
    armed = os.environ.get("BYTEPAIR_TEST_ARMED")
    if armed and sys._getframe(1).f_globals.get("__name__") == "bytepair.shards.ledger":
        try:
            os.unlink(armed)  # noqa: PTH108  # of all workers one can do that
        except FileNotFoundError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    _flush(handle)


os.fsync = _kill  # type: ignore[assignment]  # it never returns
