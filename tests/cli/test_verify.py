from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main

Call = Callable[..., bytes]


def test_verify_is_the_api_call(call: Call) -> None:
    lines = call("verify", "model").decode().splitlines()
    expected = bp.verify("model")
    assert [line.split(":")[0] for line in lines[:2]] == ["pass  file hashes", "pass  loads"]
    assert len(lines) == len(expected.checks) + 1
    shown = json.loads(call("verify", "model", "--json"))
    assert shown["passed"] is True
    found = [(check["name"], check["status"]) for check in shown["checks"]]
    assert found == [(check.name, check.status) for check in expected.checks]
    Path("config.json").write_text('{"vocab_size": 290}')
    assert "pass  embedding size: 290 ids" in call("verify", "model", "--checkpoint", ".").decode()


def test_what_fails_is_one(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("config.json").write_text('{"vocab_size": 289}')
    assert main(["verify", "model", "--checkpoint", "."]) == 1
    captured = capsysbinary.readouterr()
    assert b"FAIL  embedding size: " in captured.out
    assert captured.out.splitlines()[-1].startswith(b"1 of ")
    assert captured.err == b""
    place = Path("model", "tokenizer.json")
    place.write_bytes(place.read_bytes()[:-1])
    assert main(["verify", "model", "--json"]) == 1
    assert json.loads(capsysbinary.readouterr().out)["passed"] is False


def test_bare_files_and_encodings(call: Call, fails: Callable[..., str], misused: Callable[..., str]) -> None:
    tok = bp.Tokenizer.from_file("model")
    tok.save("bare", "tiktoken", drop=("split", "special_tokens"))
    end = f"<|end|>={tok.token_id('<|end|>')}"
    assert "pass  behaviour: " in call("verify", "bare", "--split", "gpt2", "--special-token", end).decode()
    assert "is not a file or folder" in fails("verify", "nothing")
    assert "127.0.0.1" in fails("verify", "gpt2")
    assert "--encodings is for the name of an encoding" in misused("verify", "model", "--encodings", ".")
    assert "there is no option --nothing" in misused("verify", "model", "--nothing")
    assert "required" in misused("verify")
