"""The server itself: its address, its messages, its end."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import bytepair as bp
from bytepair.view import playground
from bytepair.view.playground import app, connections


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(bp.ArtifactError, match=rf"port {port} of 127\.0\.0\.1 is taken; .*port 0"):
            playground.serve(port=port)


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("127.0.0.1", 99999), ("203.0.113.1", 0)])
def test_an_address_that_cannot_be_had(host: str, port: int) -> None:
    with pytest.raises(bp.ArtifactError, match=r"cannot listen at port|is not a port"):
        playground.serve(host=host, port=port)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_package_is_named_with_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for call in (playground.application, playground.serve):
        with pytest.raises(bp.ArtifactError, match=rf"needs the package {package}; pip install 'starlette"):
            call()


def test_other_addresses_are_warned_of() -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.warns(bp.TokenizerWarning, match=r"everybody who reaches 0\.0\.0\.0"), pytest.raises(KeyboardInterrupt):
        playground.serve(host="0.0.0.0", port=0, ready=stop)
    for host in ("127.0.0.1", "localhost"):
        # Warnings are errors here.
        with pytest.raises(KeyboardInterrupt):
            playground.serve(host=host, port=0, ready=stop)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7/"),
        ("localhost", "http://localhost:7/"),
        ("::1", "http://[::1]:7/"),
        ("0.0.0.0", "http://127.0.0.1:7/"),
        ("::", "http://[::1]:7/"),
    ],
)
def test_the_url(host: str, url: str) -> None:
    assert playground._url(host, 7) == url


@pytest.fixture
def url(tok: bp.Tokenizer, tmp_path: Path) -> Any:
    """A playground that is served by a thread, for as long as the tests run."""
    found: list[str] = []
    is_ready = threading.Event()

    def ready(url: str) -> None:
        found.append(url)
        is_ready.set()

    options = {"port": 0, "ready": ready, "encodings": tmp_path}
    threading.Thread(target=playground.serve, args=({"tok": tok},), kwargs=options, daemon=True).start()
    assert is_ready.wait(20)
    return found[0]


def test_it_answers(url: str, tok: bp.Tokenizer) -> None:
    with urlopen(url, timeout=20) as answer:
        assert b"Playground" in answer.read()
        assert "server" not in {name.lower() for name in answer.headers}
    connection = http.client.HTTPConnection(url[7:-1], timeout=20)
    body = json.dumps({"text": "café", "tokenizers": ["tok"], "special": "allow"})
    connection.request("POST", "/api/picture", body, {"Content-Type": "application/json"})
    picture = json.loads(connection.getresponse().read())["picture"]
    assert picture["tokenizers"][0]["ids"] == tok.encode("café")
    # Forwarding headers are not trusted, and a client that disconnects harms no other.
    connection.request("GET", "/", headers={"Host": "evil.example", "X-Forwarded-Host": "localhost"})
    assert connection.getresponse().status == 403
    connection.close()
    with socket.create_connection(("127.0.0.1", int(url[:-1].rpartition(":")[2]))) as gone:
        gone.sendall(
            b"POST /api/picture HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
    with urlopen(url, timeout=20) as answer:
        assert answer.status == 200


def opened(url: str, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(url[:-1].rpartition(":")[2])), timeout=20)
    connection.sendall(data)
    return connection


def test_silent_connections_keep_nobody_out(url: str) -> None:
    silent = [opened(url, data) for data in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ") * 70]
    try:
        for _ in range(3):
            with urlopen(url, timeout=20) as answer:
                assert answer.status == 200
        # The oldest ones made room.
        assert silent[0].recv(1) == b""
    finally:
        for connection in silent:
            connection.close()


def test_a_silent_connection_is_closed_in_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections.Connection, "seconds", 0.2)
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    for data in (b"", head):
        with opened(url, data) as silent:
            assert silent.recv(1) == b""
    # Not while a request is answered, nor by what comes after its answer: from then on uvicorn's own limit counts.
    with opened(url, head + b"\r\n") as asking:
        assert asking.recv(15) == b"HTTP/1.1 200 OK"
    with opened(url, head) as slow:
        slow.sendall(b"X: y\r\n\r\n")
        assert slow.recv(15) == b"HTTP/1.1 200 OK"
        # The head of a second request has a limit as well.
        slow.sendall(head)
        while slow.recv(1 << 20):
            pass


def test_a_connection_that_is_answered_does_not_make_room(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections.Connection, "most", 8)
    head = b"POST /api/picture HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(opened(url, head + b"Content-Length: 100\r\n\r\n{")) for _ in range(6)]
        for _ in range(2):
            with urlopen(url, timeout=20) as answer:
                assert answer.status == 200
            for _ in range(12):
                stack.enter_context(opened(url))
        # Their bodies stop, which is said in a while.
        for connection in waiting:
            assert connection.recv(12) == b"HTTP/1.1 503"


def test_so_many_requests_are_answered_at_a_time() -> None:
    sent: list[int] = []
    gate = asyncio.Event()

    async def slow(*_: object) -> None:
        await gate.wait()

    async def send(message: dict[str, int]) -> None:
        sent.append(message.get("status", 0))

    async def run() -> None:
        bounded = app._Bounded(slow, 2)
        scope = {"type": "http", "method": "GET", "headers": []}
        waiting = [asyncio.create_task(bounded(scope, None, send)) for _ in range(2)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await bounded(scope, None, send)  # type: ignore[arg-type]
        assert sent[0] == 503
        gate.set()
        await asyncio.gather(*waiting)
        await bounded(scope, None, send)  # type: ignore[arg-type]
        assert sent.count(503) == 1

    asyncio.run(run())
