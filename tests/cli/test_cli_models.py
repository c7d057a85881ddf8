from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main
from bytepair.cli.arguments import number
from bytepair.formats import encodings

Call = Callable[..., bytes]
Fails = Callable[..., str]


def test_train_is_the_api_call(call: Call, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    settings = ["--vocab-size", "2_90", "--split", "none", "--special-token", "<|a|>", "--special-token", "<|b|>"]
    settings += ["--ties", "first_seen", "--min-frequency", "1", "--max-token-length", "4", "--special-ids", "first"]
    settings += ["--byte-order", "gpt2", "--errors", "replace", "--threads", "1"]
    assert main(["train", "*.txt", *settings, "-o", "out"]) == 0
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    said = captured.err.splitlines()[0]
    assert said.startswith(b"290 tokens, 32 merges, ")
    assert said.endswith(b" s: out/tokenizer.json, out/manifest.json")
    expected = bp.train(
        ["text.txt"],
        vocab_size=290,
        split="none",
        special_tokens=["<|a|>", "<|b|>"],
        ties="first_seen",
        min_frequency=1,
        max_token_length=4,
        special_ids="first",
        byte_order="gpt2",
        errors="replace",
        threads=1,
    )
    assert bp.Tokenizer.from_file("out") == expected
    call("train", "-", *settings, "-o", "from-stdin", stdin=Path("text.txt").read_bytes())
    assert bp.Tokenizer.from_file("from-stdin") == expected
    call("train", "text.txt", *settings, "-o", "out", "--format", "native")
    assert bp.Tokenizer.from_file("out/tokenizer.bytepair") == expected


def test_progress_json_is_json_lines_to_the_last(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["train", "text.txt", "--vocab-size", "270", "-o", "out", "--progress", "json"]) == 0
    rows = [json.loads(row) for row in capsysbinary.readouterr().err.splitlines()]
    assert {row["phase"] for row in rows} == {"count", "merge", "done"}
    assert rows[-1]["tokens"] == 270
    assert rows[-1]["files"] == ["out/tokenizer.json", "out/manifest.json"]


def test_a_warning_is_one_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["train", "text.txt", "--vocab-size", "32k", "-o", "out", "--progress", "off"]) == 0
    warning, facts, _ = capsysbinary.readouterr().err.decode().splitlines()
    assert warning.startswith("bytepair: warning: no pair is left")
    assert "tokens" in facts


def test_what_cannot_be_trained_is_one_line(fails: Fails, misused: Callable[..., str]) -> None:
    assert "nope" in fails("train", "nope*.txt", "--vocab-size", "300", "-o", "out")
    assert "a vocabulary of 20 leaves no room" in fails("train", "text.txt", "--vocab-size", "20", "-o", "out")
    assert "no text" in fails("train", "-", "--vocab-size", "300", "-o", "out")
    assert "tiktoken cannot hold" in fails("train", "text.txt", "--vocab-size", "270", "-o", "x.tiktoken")
    assert "goes alone" in misused("train", "-", "text.txt", "--vocab-size", "300", "-o", "out")
    assert not Path("out").exists()


@pytest.mark.parametrize(("text", "value"), [("32k", 32_000), ("32K", 32_000), ("32_000", 32_000), ("1", 1)])
def test_numbers(text: str, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["0", "-1", "k", "", "1.5k", "5000000000", "9" * 5000])
def test_what_is_no_number_is_wrong_usage(misused: Callable[..., str], text: str) -> None:
    assert "whole number" in misused("train", "text.txt", f"--threads={text}", "--vocab-size", "300", "-o", "out")


def test_convert_keeps_ids_or_refuses(call: Call, fails: Fails, tok: bp.Tokenizer) -> None:
    call("convert", "model", "-o", "native", "--format", "native")
    assert bp.Tokenizer.from_file("native") == tok
    assert "split, special_tokens" in fails("convert", "model", "-o", "x.tiktoken")
    call("convert", "model", "-o", "x.tiktoken", "--drop", "split,special_tokens")
    ranks = ["x.tiktoken", "--split", "gpt2", "--special-token", "<|end|>=289"]
    call("convert", *ranks, "-o", "back")
    assert bp.Tokenizer.from_file("back") == tok
    text = Path("text.txt").read_text(encoding="utf-8") + "<|end|>"
    ids = call("encode", "--text", text, "--special", "allow", "-m", *ranks)
    assert [int(id) for id in ids.split()] == tok.encode(text, special="allow")


def test_a_bare_rank_file_needs_a_split(fails: Fails, misused: Callable[..., str], call: Call) -> None:
    call("convert", "model", "-o", "x.tiktoken", "--drop", "split,special_tokens")
    assert "split" in fails("count", "-m", "x.tiktoken")
    for wrong in ("<|end|>", "=5", "<|end|>=-1", "<|end|>=4294967296"):
        assert "TEXT=ID" in misused("count", "-m", "x.tiktoken", "--special-token", wrong)
    twice = ["--special-token", "<|end|>=289", "--special-token", "<|end|>=290"]
    assert "twice" in misused("count", "-m", "x.tiktoken", "--split", "gpt2", *twice)
    assert "holds its own split" in fails("count", "-m", "model", "--split", "gpt2")


def test_a_partial_alphabet_has_to_be_asked_for(call: Call, fails: Fails) -> None:
    Path("ab.tiktoken").write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    assert "has no token for" in fails("count", "-m", "ab.tiktoken", "--split", "none", stdin=b"abb")
    assert call("count", "-m", "ab.tiktoken", "--split", "none", "--partial-alphabet", stdin=b"abb") == b"2\n"
    assert main(["inspect", "ab.tiktoken", "--split", "none", "--partial-alphabet"]) == 1


def test_encodings_by_name(
    call: Call,
    fails: Fails,
    misused: Callable[..., str],
    mp: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    def ask(arguments: list[str]) -> list[str]:
        assert main(arguments) == 1
        return capsysbinary.readouterr().err.decode().splitlines()

    call("convert", "model", "-o", "ranks/r50k_base.tiktoken", "--drop", "split,special_tokens")
    here = ["-m", "r50k_base", "--encodings", "ranks"]
    assert "not the published" in fails("count", *here)
    hash = hashlib.sha256(Path("ranks/r50k_base.tiktoken").read_bytes()).hexdigest()  # noqa: A001
    mp.setitem(encodings.ENCODINGS, "r50k_base", encodings.ENCODINGS["r50k_base"]._replace(sha256=hash))
    assert call("count", *here, stdin=b"low") == call("count", "-m", "model", stdin=b"low")
    assert (
        json.loads(call("inspect", "r50k_base", "--encodings", "ranks", "--format", "json"))["encoding"] == "r50k_base"
    )
    said = ask(["count", "-m", "gpt-4o"])
    assert said[0].startswith("bytepair: fetching http://127.0.0.1:1/o200k_base.tiktoken once, into ")
    assert said[1].startswith("bytepair: cannot fetch http://127.0.0.1:1/o200k_base.tiktoken")
    assert said[1].endswith("and pass --encodings FOLDER, or set BYTEPAIR_ENCODINGS")
    assert "is an encoding" in misused("count", *here, "--split", "gpt2")
    assert "model is none" in misused("count", "-m", "model", "--encodings", "ranks")
    assert "is not a file or folder" in fails("count", "-m", "o201k")


@pytest.fixture
def mp(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


def test_inspect_says_what_it_is(call: Call, tok: bp.Tokenizer) -> None:
    facts = json.loads(call("inspect", "model", "--format", "json"))
    assert facts["file"] == "model/tokenizer.json"
    assert facts["fingerprint"] == tok.fingerprint
    assert facts["special_tokens"] == tok.special_tokens
    assert facts["split"] == ["gpt2"]
    assert (facts["tokens"], facts["vocab_size"], facts["bytes_covered"]) == (len(tok), tok.vocab_size, 256)
    assert facts["round_trip"] == "ok"
    table = call("inspect", "model").decode().partition("\n\n")[0]
    rows = dict(line.split(None, 1) for line in table.splitlines())
    assert rows["special_tokens"] == "1: <|end|> = 289"
    assert rows["fingerprint"] == tok.fingerprint
    assert rows.keys() == facts.keys() - {"stages", "lint"}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.bytepair", "native"),
        ("x.tiktoken", "tiktoken"),
        ("folder/vocab.json", "vocab+merges"),
        ("x.json", "tokenizer.json"),
    ],
)
def test_inspect_tells_the_format(call: Call, name: str, format: str) -> None:
    call("convert", "model", "-o", name, "--drop", "split,special_tokens")
    split = ["--split", "gpt2"] if format == "tiktoken" else []
    for place in (name, str(Path(name).parent)):
        facts = json.loads(call("inspect", place, *split, "--format", "json"))
        assert (facts["file"], facts["format"]) == (name, format)
    Path(name).with_name("manifest.json").unlink()
    assert json.loads(call("inspect", name, *split, "--format", "json"))["format"] == format


def test_inspect_finds_the_file_of_a_folder_without_a_manifest(call: Call) -> None:
    for format in ("native", "tokenizer.json", "tiktoken", "vocab+merges"):
        folder = f"{format}.d"
        call("convert", "model", "-o", folder, "--format", format, "--drop", "split,special_tokens")
        Path(folder, "manifest.json").unlink()
        split = ["--split", "gpt2"] if format == "tiktoken" else []
        assert json.loads(call("inspect", folder, *split, "--format", "json"))["format"] == format


def test_inspect_knows_what_normalizers_do(call: Call, tok: bp.Tokenizer) -> None:
    bp.Tokenizer(tok.spec.replace(normalizers=("NFKD",), prefix_space=True)).save("nfkd")
    facts = json.loads(call("inspect", "nfkd", "--format", "json"))
    assert (facts["normalizers"], facts["prefix_space"], facts["round_trip"]) == (["NFKD"], True, "ok")


def test_control_characters_are_not_shown_raw(call: Call) -> None:
    special = "<|\x1b[2J|>"
    bp.train(["text.txt"], vocab_size=280, special_tokens=[special]).save("evil")
    assert b"\x1b" not in call("inspect", "evil")


@pytest.mark.skipif(sys.platform == "win32", reason="such names are no names there")
def test_names_of_files_come_out_as_the_bytes_that_they_are(call: Call) -> None:
    name = b"caf\xe9.txt".decode(errors="surrogateescape")
    try:
        Path(name).touch()
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert call("count", name, "-m", "model") == b"0 caf\xe9.txt\n"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("a.txt", "a.txt is the name of a file, and .txt is no format of a tokenizer; name a folder, such as a"),
        ("q.gguf", ".gguf is only read"),
        ("x.tiktoken", "tiktoken cannot hold split"),
        ("text.txt/deep", "Not a directory"),
        ("folder.json", "Is a directory"),
        ("\0", "null"),
    ],
)
def test_an_output_that_cannot_be_written_is_an_error_before_any_work(output: str, reason: str, fails: Fails) -> None:
    Path("folder.json").mkdir()
    before = sorted(Path().rglob("*"))
    # The files would be the next error: none matches.
    assert reason in fails("train", "nope*.txt", "--vocab-size", "300", "-o", output)
    assert sorted(Path().rglob("*")) == before


def test_options_of_a_training_are_checked_before_it_counts(fails: Fails) -> None:
    train = ["train", "nope*.txt", "--vocab-size", "300", "-o", "out"]
    assert "there is no built-in template 'nope'" in fails(*train, "--chat-template", "nope")
    Path("broken.jinja").write_text("{% if %}")
    assert "malformed" in fails(*train, "--chat-template", "broken.jinja")
    assert "cannot write the merges: there is no such folder" in fails(*train, "--log", "nope/log.jsonl")
    assert "Is a directory" in fails(*train, "--log", "model")
    assert "Not a directory" in fails(*train, "--checkpoint", "text.txt/here")
    engine = ["--engine", "local", "--work", "run"]
    assert "leaves no room" in fails("train", "text.txt", *engine, "--vocab-size", "20", "-o", "out")
    assert not Path("run").exists()


def test_convert_writes_no_folder_by_the_name_of_a_file(fails: Fails) -> None:
    assert "q.gguf is the name of a file" in fails("convert", "model", "-o", "q.gguf")
    assert not Path("q.gguf").exists()


def test_special_tokens_have_roles_and_a_template_goes_with_them(call: Call) -> None:
    roles = ["--bos", "<s>", "--eos", "<|end|>", "--pad", "<|end|>", "--unk", "<unk>"]
    call("train", "text.txt", "--vocab-size", "300", "-o", "out", "--special-token", "<|end|>", *roles)
    tok = bp.load("out")
    assert tok.spec.special_tokens.keys() == {"<|end|>", "<s>", "<unk>"}
    assert (tok.bos_token, tok.eos_token, tok.pad_token, tok.unk_token) == ("<s>", "<|end|>", "<|end|>", "<unk>")
    call("convert", "out", "-o", "more", "--chat-template", "chatml")
    assert bp.chat.Template.read("more").source == bp.chat.Template.named("chatml").source
    assert json.loads(Path("more/special_tokens_map.json").read_text()) == {
        "bos_token": "<s>",
        "eos_token": "<|end|>",
        "pad_token": "<|end|>",
        "unk_token": "<unk>",
    }


def test_a_result_that_does_not_fit_its_format_is_kept(fails: Fails) -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"ab", b"bc", b"abc")
    merges = ((ord("b"), ord("c")), (ord("a"), ord("b")), (256, ord("c")))
    spec = bp.TokenizerSpec(bp.BytePair(tokens, tuple(range(259)), merges=merges))
    bp.Tokenizer(spec).save("odd.bytepair")
    error = fails("prune", "-m", "odd.bytepair", "--vocab-size", "258", "-o", "made.tiktoken")
    assert "kept in made.bytepair" in error
    assert len(bp.load("made.bytepair")) == 258
