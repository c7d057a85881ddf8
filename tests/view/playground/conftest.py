"""Fixtures for the playground's tests: the application without a network, and requests like those of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import bytepair as bp
from bytepair.view.playground.app import Playground
from bytepair.view.playground.shelf import Shelf

HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"

Client = Callable[..., TestClient]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Makes a client of a playground; no published encoding is available."""
    made: list[Playground] = []

    def make(*, host: str = "127.0.0.1", encodings: Path | None = None, given: Any = None, **limits: Any) -> TestClient:
        given = {"small": bp.train({"low": 5, "lower": 2}, 259, special_tokens=["<|end|>"])} if given is None else given
        playground = Playground(Shelf(given, encodings or tmp_path), **limits)
        made.append(playground)
        return TestClient(playground.app(host), base_url=ORIGIN, headers={"Origin": ORIGIN})

    yield make
    for playground in made:
        playground.close()


def ask(client: TestClient, text: Any = "lower low", tokenizers: Any = ("small",), special: Any = "allow") -> Any:
    """The response to a text."""
    return client.post("/api/picture", json={"text": text, "tokenizers": tokenizers, "special": special})


def send(client: TestClient, *files: tuple[str, bytes], **query: Any) -> Any:
    """The response to an upload."""
    named = {"name": [name for name, _ in files], "size": [str(len(data)) for _, data in files], **query}
    return client.post(
        "/api/tokenizers",
        params=named,
        content=b"".join(data for _, data in files),
        headers={"Content-Type": "application/octet-stream"},
    )
