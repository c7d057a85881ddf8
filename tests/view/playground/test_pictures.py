"""Typed texts: the server's answers, and its refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bytepair as bp
from bytepair.view.interactive import packed
from bytepair.view.pictures import picture
from bytepair.view.playground import app, pictured, working
from tests.conftest import HOSTILE
from tests.view.playground.conftest import Client, ask

JSON = {"Content-Type": "application/json"}


def test_the_answer_is_the_picture(client: Client, tok: bp.Tokenizer) -> None:
    other = bp.train({"low": 5}, 258)
    asked = client(given={"tok": tok, "other": other})
    for text in HOSTILE:
        answer = ask(asked, text, ["tok", "other"]).json()
        whole = picture({"tok": tok, "other": other}, text).as_dict()
        assert answer["picture"] == json.loads(json.dumps(packed(whole)))
        assert answer["picture"]["tokenizers"][0]["ids"] == tok.encode(text)
        assert answer["counts"]["other"] == {"tokens": other.count(text), "fingerprint": other.fingerprint}
        assert answer["faults"] == {}


def test_counts_come_without_the_picture(client: Client, tok: bp.Tokenizer) -> None:
    asked = client(given={"tok": tok})
    for text in HOSTILE:
        body = json.dumps({"text": text, "tokenizers": ["tok", "gone"], "special": "allow"})
        answer = asked.post("/api/counts", content=body, headers=JSON).json()
        assert answer == {**ask(asked, text, ["tok", "gone"]).json(), "picture": None}


def test_special_tokens_are_such_or_text(client: Client) -> None:
    asked = client()
    counts = [
        ask(asked, "<|end|>", special=special).json()["counts"]["small"]["tokens"] for special in ("allow", "text")
    ]
    assert counts == [1, 7]


def test_the_order_is_that_of_the_request(client: Client, tok: bp.Tokenizer) -> None:
    asked = client(given={"a": tok, "b": tok})
    names = [one["name"] for one in ask(asked, tokenizers=["b", "a"]).json()["picture"]["tokenizers"]]
    assert names == ["b", "a"]


def test_one_tokenizer_at_fault_does_not_hide_the_others(client: Client, tmp_path: Path, tok: bp.Tokenizer) -> None:
    path = tmp_path / "some.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== 1\n")
    some = bp.Tokenizer.from_file(path, split="none", partial_alphabet=True)
    asked = client(given={"some": some, "tok": tok})
    answer = ask(asked, "abc", ["some", "tok"]).json()
    assert list(answer["counts"]) == ["tok"]
    assert [one["name"] for one in answer["picture"]["tokenizers"]] == ["tok"]
    assert answer["faults"]["some"]["kind"] == "EncodeError"
    assert ask(asked, "abc", ["some"]).status_code == 422
    gone = ask(asked, "abc", ["gone", "tok"]).json()
    assert "there is no tokenizer 'gone' here" in gone["faults"]["gone"]["what"]


def test_half_a_surrogate_pair_is_refused_with_its_place(client: Client) -> None:
    body = b'{"text": "ab\\ud800", "tokenizers": ["small"], "special": "allow"}'
    answer = client().post("/api/picture", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"]["where"]["character"] == 2


def test_too_much_text_is_refused_with_what_to_do(client: Client) -> None:
    asked = client(text_limit=10)
    assert ask(asked, "é" * 5).status_code == 200
    answer = ask(asked, "é" * 6)
    assert answer.status_code == 413
    error = answer.json()["error"]
    assert (error["what"], bool(error["remedy"])) == ("the text has 12 bytes, more than 10", True)


def test_a_request_that_is_too_large_is_not_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_MOST_OF_REQUEST", 1000)
    asked = client()
    for size in (1500, 5000):  # Read to its end, and not.
        assert asked.post("/api/picture", content=b"x" * size, headers=JSON).status_code == 413
    parts = (b"x" * 900 for _ in range(9))  # Without a length.
    assert asked.post("/api/picture", content=parts, headers=JSON).status_code == 413


def test_more_tokens_than_can_be_shown_are_counted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictured, "MOST_TOKENS", 3)
    asked = client()
    assert ask(asked, "aaa").json()["picture"] is not None
    answer = ask(asked, "aaaa").json()
    assert (answer["picture"], answer["counts"]["small"]["tokens"]) == (None, 4)


@pytest.mark.parametrize(
    "change",
    [
        {"text": 1},
        {"text": None},
        {"tokenizers": "small"},
        {"tokenizers": []},
        {"tokenizers": [1]},
        {"tokenizers": [["small"]]},
        {"tokenizers": ["small", "small"]},
        {"tokenizers": [str(number) for number in range(7)]},
        {"special": "raise"},
        {"special": None},
    ],
)
def test_a_wrong_request_says_what_is_wrong(client: Client, change: dict[str, object]) -> None:
    answer = client().post("/api/picture", json={"text": "a", "tokenizers": ["small"], "special": "allow", **change})
    assert answer.status_code == 422
    assert answer.json()["error"]["where"] == {"pointer": f"/{next(iter(change))}"}


def test_only_json_is_taken(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client().post("/api/picture", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 415
        assert "application/json" in answer.json()["error"]["what"]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inside: (
            st.lists(inside, max_size=4)
            | st.dictionaries(st.sampled_from(["text", "tokenizers", "special", "x"]), inside, max_size=4)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_body_makes_the_server_fail(client: Client, body: bytes) -> None:
    answer = client().post("/api/picture", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"]["what"]


def test_deep_json_is_refused(client: Client) -> None:
    answer = client().post("/api/picture", content=b"[" * 200_000, headers=JSON)
    assert answer.status_code == 422


def test_a_panic_is_an_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        """A panic of the core, as Python sees it."""

    def panics(*_: object) -> bytes:
        raise Panic("broken")

    monkeypatch.setattr(app, "pictured", panics)
    asked = client()
    answer = ask(asked)
    assert answer.status_code == 500
    assert "Panic: broken" in answer.json()["error"]["what"]
    monkeypatch.undo()
    assert ask(asked).status_code == 200


def test_what_takes_too_long_is_answered_and_holds_its_place(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    go_on = Event()

    def waits(*_: object) -> bytes:
        go_on.wait(10)
        return b"{}"

    monkeypatch.setattr(app, "pictured", waits)
    monkeypatch.setattr(app, "_MOST_WAITING", 2)
    asked = client(seconds=0.05)
    try:
        said = [ask(asked).json()["error"]["what"] for _ in range(3)]
    finally:
        go_on.set()
    assert said[:2] == ["this took longer than 0.05 seconds"] * 2
    assert said[2] == "the playground is busy"


def test_what_never_began_gives_its_place_back() -> None:
    import asyncio
    from threading import Event

    async def all_of_it() -> None:
        workers, go_on = working.Workers(1, 2, 0.05, "wait"), Event()
        for _ in range(4):  # One runs; the others wait, and are given up.
            with pytest.raises(working.BusyError, match="longer than"):
                await workers.run(lambda: go_on.wait(10))
        go_on.set()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if workers._pending == 0:
                break
        assert await workers.run(lambda: 1) == 1
        workers.close()

    asyncio.run(all_of_it())


def test_the_page_says_its_policy_twice(client: Client) -> None:
    answer = client().get("/")
    assert answer.status_code == 200
    said = re.search(r'Content-Security-Policy" content="([^"]*)"', answer.text)
    assert said
    assert answer.headers["content-security-policy"] == f"{said[1]}; frame-ancestors 'none'"
    assert "script-src 'sha256-" in said[1]
    assert "connect-src 'self'" in said[1]
    data = re.search(r'id="data">(.*?)</script>', answer.text)
    assert data
    assert json.loads(data[1])["offers"] == [{"key": "small", "name": "small", "origin": "given", "note": ""}]


def test_hostile_names_are_only_text(client: Client, tok: bp.Tokenizer) -> None:
    name = "</script><script>alert(1)</script>\u202e"
    asked = client(given={name: tok})
    page = asked.get("/").text
    assert "<script>alert" not in page
    assert "\u202e" not in page.partition('id="data">')[0]
    assert ask(asked, tokenizers=[name]).json()["counts"][name]["tokens"] == tok.count("lower low")
