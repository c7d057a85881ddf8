"""Reading a tokenizer that a stranger made, in a process of its own with limits of time and memory.

The child loads and compiles it, and returns it in the native format: what was read within the limits is read again
within less. It is started anew for each upload, so nothing of one reaches the next.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import errors
from bytepair.errors import AlphabetError, BytepairError, FormatError, LimitError
from bytepair.formats import native
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

try:
    import resource
except ImportError:  # not every system has it
    resource = None  # type: ignore[assignment]  # looked for where it is used


class Limits(NamedTuple):
    """The limits of one upload. Where a system has no `resource`, that of memory is not kept."""

    seconds: float = 25.0
    bytes: int = 2 << 30


LIMITS = Limits()


class ReadingLimitError(FormatError, LimitError):
    """A tokenizer that takes too much time or memory to read."""


class Read(NamedTuple):
    """A tokenizer, and a notice about it, which may be empty."""

    tokenizer: Tokenizer
    notice: str


# The child finds the package where this process found it.
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from bytepair.view.playground.reading import child
child()
"""


def read(path: Path, split: str | None, special_tokens: Mapping[str, int] | None, limits: Limits) -> Read:
    """Reads a tokenizer from a file or a folder; bytes of UTF-8 without a token are a notice.

    Raises:
        ReadingLimitError: It takes more than the limits, or ends the process.
        BytepairError: As `Tokenizer.from_file`.
    """
    request = {"path": str(path), "split": split, "special_tokens": special_tokens, "limits": limits}
    command = [sys.executable, "-c", _CHILD, json.dumps(sys.path)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _beyond(limits) from error
    head, _, tokenizer = done.stdout.partition(b"\n")
    if done.returncode != 0 or not head:
        raise _beyond(limits)
    answer: dict[str, Any] = json.loads(head)
    if "error" in answer:
        raise _error(answer["error"], answer["parts"])
    spec = native.read(tokenizer).replace(roles=tuple((role, token) for role, token in answer["roles"]))
    return Read(Tokenizer(spec), answer["notice"])


def _beyond(limits: Limits) -> ReadingLimitError:
    return ReadingLimitError(
        f"reading it takes more than {limits.seconds:g} seconds or {limits.bytes >> 20:,} MiB of memory",
        remedy="if you trust the file, pass it to bytepair serve -m",
    )


def _error(name: str, parts: dict[str, Any]) -> BytepairError:
    kind = getattr(errors, name, None)
    return kind(**parts) if isinstance(kind, type) and issubclass(kind, BytepairError) else FormatError(**parts)


def child() -> None:
    """The process that reads: a request on stdin, a line of JSON and the tokenizer on stdout."""
    request = json.load(sys.stdin)
    seconds, most = request["limits"]
    if resource is not None:
        for limit, value in (
            (resource.RLIMIT_AS, most),
            # Processor time, of all threads.
            (resource.RLIMIT_CPU, 2 * int(seconds) + 1),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
        ):
            hard = resource.getrlimit(limit)[1]
            lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (lower, lower))
    data = b""
    try:
        tokenizer, notice = _load(request)
        answer: dict[str, Any] = {"notice": notice, "roles": tokenizer.spec.roles}
        data = native.write(tokenizer.spec)
    except BytepairError as error:
        answer = {"error": type(error).__name__, "parts": error.parts()}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + data)


def _load(request: dict[str, Any]) -> Read:
    options = {"split": request["split"], "special_tokens": request["special_tokens"]}
    path = Path(request["path"])
    try:
        return Read(Tokenizer.from_file(path, **options), "")
    except AlphabetError as error:
        tokenizer = Tokenizer.from_file(path, **options, partial_alphabet=True)
        return Read(tokenizer, f"{error.what}; text that needs one of them cannot be encoded")
