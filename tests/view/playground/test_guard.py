"""Access control of the playground: answered and refused requests, and the headers sent to browsers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import bytepair as bp
from bytepair.view.playground.shelf import Shelf
from tests.view.playground.conftest import ORIGIN, Client, ask


def get(client: TestClient, host: str) -> int:
    return client.get("/", headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765", "127.0.0.1", "127.9.9.9:1"]
)
def test_its_own_names(client: Client, host: str) -> None:
    # Behind a tunnel the port is another one.
    assert get(client(), host) == 200 or host == "LOCALHOST"


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.1:8765"),
        *(
            "",
            "0.0.0.0:8765",
            "[::]:8765",
            "localhost:x",
            "localhost:99999",
            "a@localhost",
            "localhost/x",
            "[::1",
            "::1",
        ),
        *("127.0.0.1:8765,evil.example", "2130706433", "0x7f.1", "localhost\x00", "localhost:8765 "),
    ],
)
def test_names_that_were_made_to_point_here(client: Client, host: str) -> None:
    answer = client().get("/", headers={"Host": host})
    assert answer.status_code == 403 or host == "localhost:8765 "
    if answer.status_code == 403:
        assert "foreign Host" in answer.json()["error"]["what"]


def test_at_another_address_there_are_addresses_and_its_own_names(client: Client) -> None:
    asked = client(host="my.host")
    assert [get(asked, host) for host in ("my.host:1", "10.0.0.7:1", "[fe80::1]", "localhost")] == [200] * 4
    assert get(asked, "evil.example") == 403
    assert get(client(host="0.0.0.0"), "192.168.0.1:8765") == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://localhost:8765"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Origin": f"{ORIGIN}/"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_pages_of_other_sites_have_nothing_done(client: Client, headers: dict[str, str]) -> None:
    asked = client()
    asked.headers.update(headers)
    for answer in (ask(asked), asked.post("/api/tokenizers?name=a", content=b"a")):
        assert answer.status_code == 403
        assert "another site" in answer.json()["error"]["what"]


def test_what_is_no_browser_says_no_origin(client: Client) -> None:
    asked = client()
    del asked.headers["Origin"]
    assert ask(asked).status_code == 200


def test_every_answer_has_the_headers(client: Client) -> None:
    asked = client(text_limit=3)
    answers = [
        asked.get("/"),
        asked.get("/api/tokenizers"),
        asked.get("/nothing"),
        asked.get("/", headers={"Host": "evil.example"}),
        ask(asked, "a"),
        ask(asked, "abcd"),
        asked.delete("/"),
        asked.post("/api/picture"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 403, 200, 413, 405, 415]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers
        if answer.status_code >= 400:
            assert answer.json()["error"]["what"]


def test_web_sockets_are_refused(client: Client) -> None:
    with pytest.raises(WebSocketDisconnect), client().websocket_connect("/"):
        pass


def test_no_request_makes_it_fail(client: Client) -> None:
    asked = client()
    drawn = random.Random(3)
    for _ in range(200):
        method = drawn.choice(["GET", "POST", "PUT", "HEAD", "OPTIONS", "PATCH", "X"])
        parts = ["api", "/", "picture", "tokenizers", "..", "%00", "%ff", "?", "name=", "&", "size=9"]
        path = "/api/" + "".join(drawn.choice(parts) for _ in range(4))
        headers = {"Content-Type": drawn.choice(["application/json", "application/octet-stream", "x"])}
        body = drawn.randbytes(drawn.randrange(40))
        assert asked.request(method, path, content=body, headers=headers).status_code < 500


def test_what_is_on_offer(tmp_path: Path, tok: bp.Tokenizer) -> None:
    shelf = Shelf({}, tmp_path)
    assert [(offer.key, offer.origin) for offer in shelf.offers()] == [("demo", "demo")]
    assert shelf.first(6) == ["demo"]
    name, demo = shelf.get("demo")
    assert (name, len(demo) > 1000) == ("demo", True)
    assert shelf.get("demo")[1] is demo
    (tmp_path / "cl100k_base.tiktoken").write_bytes(b"")
    assert [offer.key for offer in Shelf({}, tmp_path).offers()] == ["cl100k_base", "demo"]
    assert [offer.key for offer in Shelf({"cl100k_base": tok}, tmp_path).offers()] == ["cl100k_base"]
    given = Shelf(dict.fromkeys("abc", tok), tmp_path)
    assert (given.first(6), given.first(2)) == (["a", "b", "c"], ["a", "b"])
    with pytest.raises(bp.IntegrityError):
        Shelf({}, tmp_path).get("cl100k_base")


@pytest.mark.data
def test_encodings_that_are_here(data: Path) -> None:
    shelf = Shelf({}, data / "vocabs" / "openai")
    assert shelf.first(6) == ["o200k_base"]
    assert shelf.get("gpt2")[1].encode("hello world") == [31373, 995]
