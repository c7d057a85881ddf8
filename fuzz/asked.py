"""Sweep over requests to the playground: every request is answered, with the results of the tokenizers."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.testclient import TestClient

import bytepair as bp
from bytepair.view.interactive import packed
from bytepair.view.pictures import picture
from bytepair.view.playground.app import Playground
from bytepair.view.playground.shelf import Shelf
from fuzz import drawn, kinds
from fuzz.case import case, equal
from fuzz.saved import damaged

if TYPE_CHECKING:
    import random

_HOST = "127.0.0.1:8765"
_FINE = {200, 201, 400, 403, 404, 405, 413, 415, 422, 503}


def _strange(random: random.Random, depth: int = 0) -> Any:
    """Random JSON."""
    kinds_ = [None, True, 0, -1, 1e308, 2**70, "", "a", "\ud800", "\x00", "/text"]
    if depth > 2 or random.random() < 0.6:
        return random.choice(kinds_)
    if random.random() < 0.5:
        return [_strange(random, depth + 1) for _ in range(random.randint(0, 3))]
    return {str(random.choice(["text", "a"])): _strange(random, depth + 1) for _ in range(random.randint(0, 3))}


def sweep_asked(random: random.Random) -> None:
    """The playground answers requests of every kind, and never fails."""
    toks = {}
    letters = ""
    for name in random.sample(["a", "</script>", "\u202e", "ü"], random.choice([1, 2, 3])):
        toks[name], of, _ = drawn.tokenizer(random)
        letters = letters or of
    with tempfile.TemporaryDirectory() as folder:
        playground = Playground(Shelf(toks, Path(folder)), text_limit=2000, upload_limit=20_000)
        try:
            client = TestClient(
                playground.app("127.0.0.1"),
                base_url=f"http://{_HOST}",
                headers={"Origin": f"http://{_HOST}"},
                raise_server_exceptions=False,
            )
            names = {offer["key"]: offer["name"] for offer in client.get("/api/tokenizers").json()["offers"]}
            equal("unseen characters", drawn.unseen("".join(names.values())), [])
            page = drawn.Page(client.get("/").text)
            assert len(page.texts["script"]) > 1, "no scripts"
            for _ in range(6):
                check_request(random, client)
            for _ in range(4):
                text = drawn.text(random, letters, *toks.values())
                chosen = random.sample(sorted(toks), random.randint(1, len(toks)))
                special = random.choice(["allow", "text"])
                with case(text=text, chosen=chosen, special=special):
                    check_picture(client, {key: (names[key], toks[key]) for key in chosen}, text, special)
        finally:
            playground.close()


def check_picture(client: TestClient, toks: dict[str, tuple[str, bp.Tokenizer]], text: str, special: Any) -> None:
    """The answer is the picture, by those tokenizers that can encode the text."""
    answer = client.post("/api/picture", json={"text": text, "tokenizers": list(toks), "special": special})
    able: dict[str, bp.Tokenizer] = {}
    failed: list[str] = []
    for key, (name, tok) in toks.items():
        if drawn.takes(tok, text, special=special):
            able[name] = tok
        else:
            failed.append(key)
    if len(text.encode()) > 2000:
        equal("status", answer.status_code, 413)
    elif not able:
        equal("status", answer.status_code, 422)
    else:
        equal("status", answer.status_code, 200)
        said = answer.json()
        equal("faults", sorted(said["faults"]), sorted(failed))
        expected = packed(picture(able, text, special=special).as_dict())
        equal("picture", said["picture"], json.loads(json.dumps(expected)))
        equal(
            "counts",
            [one["tokens"] for one in said["counts"].values()],
            [tok.count(text, special=special) for tok in able.values()],
        )


def check_request(random: random.Random, client: TestClient) -> None:
    """A request is answered with JSON that describes the error."""
    headers = {
        "Content-Type": random.choice(
            ["application/json", "application/json", "text/plain", "application/octet-stream", ""]
        )
    }
    if random.random() < 0.1:
        headers["Origin"] = random.choice(["http://evil.example", "null", ""])
    if random.random() < 0.1:
        headers["Host"] = random.choice(["evil.example", "[::1", "a@127.0.0.1", "127.0.0.1:x", ""])
    path = random.choice(
        ["/api/picture", "/api/picture", "/api/tokenizers", "/api/tokenizers?", "/", "/x", "/api/tokenizers?upload"]
    )
    body: bytes = random.randbytes(random.randint(0, 40))
    if path.endswith("picture"):
        wanted = {name: _strange(random) for name in ("text", "tokenizers", "special") if random.random() < 0.8}
        body = json.dumps(random.choice([wanted, _strange(random)])).encode() if random.random() < 0.8 else body
        body = b"[" * 5000 if random.random() < 0.1 else body
    elif path.endswith("upload"):
        headers["Content-Type"] = "application/octet-stream"
        data = random.choice(list(kinds.FILES.values()))
        body = damaged(random, data) if random.random() < 0.8 else data
        name = random.choice(
            [
                "tokenizer.json",
                "a.tiktoken",
                "merges.txt",
                "../x",
                "x.bpe",
                "\x00",
                "vocab.json",
                "a" * 300,
                "x.gguf",
                "m.model",
                "",
            ]
        )
        path = f"/api/tokenizers?name={quote(name)}" + random.choice(
            ["", "&size=3", "&split=gpt2", "&split=(", "&special_token=a=1", "&special_token=="]
        )
    method = random.choice(["POST", "POST", "POST", "GET", "PUT", "HEAD"])
    with case(method=method, path=path, headers=headers, body=body):
        answer = client.request(method, path, content=body, headers=headers)
        assert answer.status_code in _FINE, f"{answer.status_code}: {answer.text[:300]}"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], "it can be framed"
        if answer.status_code >= 400 and method != "HEAD" and answer.content:
            error = answer.json()["error"]
            assert error["what"], "an error that says nothing"
            assert "remedy" in error, "an error without a remedy"
