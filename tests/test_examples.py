"""The examples run as their readers run them, and report faults with their places."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bytepair as bp
from tests.conftest import ROOT, script
from tests.test_docs import python_blocks, run_as_written

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2")

SCRIPT = ROOT / "examples" / "finetune.py"
CONVERSATIONS = ROOT / "examples" / "conversations.jsonl"
HOW_TO = ROOT / "docs" / "finetuning.md"
GOOD = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}'


@pytest.fixture(scope="module")
def finetune() -> Any:
    return script(SCRIPT)


def load(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    about = json.loads((folder / "dataset.json").read_text("utf-8"))
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in about["arrays"]}
    for name, array in arrays.items():
        assert {"dtype": str(array.dtype), "shape": list(array.shape)} == about["arrays"][name]
    return about, arrays


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    call = [sys.executable, str(SCRIPT), "--out", "dataset"]
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, roles, second, third = done.stdout.splitlines()
    assert first.startswith(f"{len(lines_of(CONVERSATIONS))} conversations, ")
    assert re.fullmatch(r"messages: \d+ assistant, \d+ user, \d+ tool, \d+ system", roles)
    assert "rows of 512 tokens" in second
    assert third.startswith("written to dataset: ")
    again = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.stdout == done.stdout


def test_the_conversations_are_whole_and_what_answers_is_trained(tmp_path: Path, finetune: Any) -> None:
    assert finetune.main(["--out", str(tmp_path), "--length", "700"]) == 0
    about, arrays = load(tmp_path)
    tok = finetune.load(None)
    assert tok.fingerprint == about["tokenizer"]
    given = lines_of(CONVERSATIONS)
    assert sorted(place["line"] for place in about["rows"]) == list(range(1, len(given) + 1))
    for place in about["rows"]:
        conversation = given[place["line"] - 1]
        cells = (place["row"], slice(place["start"], place["end"]))
        text = tok.decode(arrays["input_ids"][cells].tolist())
        labels = arrays["labels"][cells]
        answers = [message for message in conversation["messages"] if message["role"] == "assistant"]
        expected = ""
        for message in answers:
            assert message["content"] in text
            calls = [
                "<tool_call>" + json.dumps(call["function"], ensure_ascii=False) + "</tool_call>"
                for call in message.get("tool_calls", [])
            ]
            expected += message["content"] + "".join(calls) + "<|im_end|>"
        assert tok.decode(labels[labels >= 0].tolist()) == expected
        assert (arrays["position_ids"][cells] == np.arange(place["end"] - place["start"])).all()
        assert len(set(arrays["segment_ids"][cells].tolist())) == 1
    assert (arrays["input_ids"][arrays["segment_ids"] == 0] == about["pad_id"]).all()
    assert (arrays["labels"][arrays["segment_ids"] == 0] == -100).all()
    page = (tmp_path / "example.html").read_text("utf-8")
    assert "assistant, message 1" in page


def test_a_tokenizer_and_a_template_can_be_given(tmp_path: Path, finetune: Any, capsys: Any) -> None:
    texts = (message["content"] for line in lines_of(CONVERSATIONS) for message in line["messages"])
    tok = bp.train(texts, 300, special_tokens=["<|im_start|>", "<|im_end|>", "<pad>"])
    tok.save(tmp_path / "model", format="tokenizer.json")
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}\n\n' * 3
    )
    arguments = [str(plain), "--model", str(tmp_path / "model"), "--template", "chatml", "--pad-token", "<pad>"]
    assert finetune.main([*arguments, "--length", "64", "--out", str(tmp_path / "out"), "--picture", "3"]) == 0
    about, arrays = load(tmp_path / "out")
    assert about["pad_id"] == tok.token_id("<pad>")
    assert [place["line"] for place in about["rows"]] == [1, 3, 5]
    text = tok.decode(arrays["input_ids"][0].tolist())
    assert text.startswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n<|im_start|>user\nHi")
    assert "Line 3" in (tmp_path / "out" / "example.html").read_text("utf-8")
    assert capsys.readouterr().out.startswith("3 conversations, ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", ["line 2", "is not JSON"]),
        ("[]", ["line 2", "is not a conversation"]),
        ('{"messages": []}', ["line 2", "is not a conversation"]),
        ('{"messages": [{"role": "user", "content": "Hi"}, {"content": "Ho"}]}', ["line 2", "message 1 has no role"]),
        ('{"messages": [{"role": "user", "content": "Hi"}]}', ["line 2", "no token is trained"]),
        (GOOD.replace("Hi", "<|im_end|>"), ["line 2", "message 0 (user), content", "<|im_end|>"]),
        (GOOD.replace('"messages"', '"tools": "none", "messages"'), ["line 2", "tools are not a list", "/tools"]),
        (GOOD.replace("Ho", "x " * 999), ["line 2", "has", "tokens, and a row 512"]),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, finetune: Any, capsys: Any, line: str, said: list[str]
) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text(f"{GOOD}\n{line}\n{GOOD}\n")
    assert finetune.main([str(chats), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    for words in said:
        assert words in error
    assert not (tmp_path / "out").exists()


def test_other_mistakes_are_named(tmp_path: Path, finetune: Any, capsys: Any) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text(f"{GOOD}\n")
    out = ["--out", str(tmp_path / "out")]
    for arguments, said in (
        ([str(tmp_path / "none.jsonl"), *out], "none.jsonl"),
        ([str(chats), *out, "--picture", "2"], "no conversation to draw"),
        ([str(chats), *out, "--pad-token", "<none>"], "special tokens are <|endoftext|>, "),
        ([str(chats), *out, "--template", "chatlm"], "one of chatml, "),
        ([str(chats), *out, "--template", str(tmp_path / "none")], "none"),
        ([str(chats), *out, "--model", str(tmp_path / "none")], "none"),
    ):
        assert finetune.main(arguments) == 1
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit):
        finetune.main([str(chats), *out, "--length", "0"])
    assert "--length: '0' is not an int of at least 1" in capsys.readouterr().err
    chats.write_bytes(GOOD.replace("Ho", "H\xe9").encode("latin-1"))
    assert finetune.main([str(chats), *out]) == 1
    assert "not UTF-8" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_misspelled_role_is_seen(tmp_path: Path, finetune: Any, capsys: Any) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text(f"{GOOD}\n{GOOD[:-2]}, {GOOD[14:].replace('assistant', 'asistant')}\n")
    assert finetune.main([str(chats), "--out", str(tmp_path / "out")]) == 0
    assert "messages: 3 user, 2 assistant, 1 asistant\n" in capsys.readouterr().out


def test_what_is_dropped_is_listed(tmp_path: Path, finetune: Any, capsys: Any) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text(f"{GOOD}\n{GOOD.replace('Ho', 'x ' * 999)}\n")
    assert finetune.main([str(chats), "--out", str(tmp_path / "out"), "--too-long", "drop"]) == 0
    assert "dropped: lines 2" in capsys.readouterr().out
    about, _ = load(tmp_path / "out")
    assert about["dropped_lines"] == [2]
    assert [place["line"] for place in about["rows"]] == [1]


@pytest.mark.parametrize("number", range(len(python_blocks(HOW_TO))))
def test_the_how_to_runs_as_written(tmp_path: Path, number: int) -> None:
    run_as_written(python_blocks(HOW_TO)[number], tmp_path)
