"""Names of tokenizers: the meaning of each, the order of lookup, and the names that every call takes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import bytepair as bp
from bytepair import resolver
from bytepair.formats import encodings, fetching, hub, tiktoken
from bytepair.view.pictures import picture

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A working folder, in which every use of the network fails the test."""

    def refuse(*args: object, **options: object) -> None:
        pytest.fail(f"the network was used: {args} {options}")

    monkeypatch.setattr(hub, "snapshot", refuse)
    monkeypatch.setattr(fetching, "fetch", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def published(offline: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of encodings in which o200k_base and r50k_base are small."""
    data = tiktoken.write(tok.spec)
    for name in ("o200k_base", "r50k_base"):
        known = encodings.ENCODINGS[name]
        (offline / known.file).write_bytes(data)
        monkeypatch.setitem(encodings.ENCODINGS, name, known._replace(sha256=hashlib.sha256(data).hexdigest()))
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", str(offline))
    return offline


def test_a_folder_that_the_environment_names_is_said_to_be(published: Path) -> None:
    (published / encodings.ENCODINGS["o200k_base"].file).unlink()
    with pytest.raises(bp.ArtifactError, match=r"the variable BYTEPAIR_ENCODINGS names this folder"):
        bp.get_encoding("o200k_base")
    with pytest.raises(bp.ArtifactError) as caught:
        bp.get_encoding("o200k_base", folder=published)
    assert "BYTEPAIR_ENCODINGS" not in str(caught.value)


@pytest.mark.usefixtures("offline")
def test_the_order_of_meanings(tok: bp.Tokenizer) -> None:
    tok.save("gpt2")
    tok.save("gpt-4-mine")
    tok.save("org/name")
    for name, meaning in {
        "gpt2": ("encoding", "gpt2"),
        "./gpt2": ("path", "./gpt2"),
        "gpt-4-mine": ("path", "gpt-4-mine"),
        "gpt-4-0613": ("encoding", "cl100k_base"),
        "org/name": ("path", "org/name"),
        "other/name": ("repository", "other/name"),
    }.items():
        assert resolver.resolve(name) == meaning
    # A path object is never a name.
    assert resolver.resolve(Path("gpt2")).kind == "path"
    with pytest.raises(bp.ArtifactError):
        resolver.resolve(Path("gpt-4o"))
    assert bp.load("./gpt2") == bp.load(Path("gpt2")) == bp.load("org/name") == bp.load(tok) == tok
    assert bp.load(tok) is tok


@pytest.mark.parametrize(
    "name",
    [
        "modle",
        "./other/name",
        "gpt2/tokenizer.jsno",
        "folder/x.tiktoken",
        "a/b/c",
        "/no/such/place",
        "",
        "a\0b",
        "~/x",
        "-x/y",
    ],
)
@pytest.mark.usefixtures("offline")
def test_a_mistyped_name_is_an_error_without_network(name: str) -> None:
    Path("gpt2").mkdir()
    with pytest.raises(bp.ArtifactError, match="is not a file or folder, a published encoding, the name"):
        bp.load(name)


@pytest.mark.usefixtures("offline")
def test_the_error_suggests_a_name() -> None:
    with pytest.raises(bp.ArtifactError, match="did you mean 'cl100k_base'") as caught:
        bp.load("cl100kbase")
    assert "gpt-4o" in caught.value.remedy
    assert "Qwen/Qwen3-8B" in caught.value.remedy


def test_models_by_name(published: Path) -> None:
    assert bp.encoding_for_model("gpt-4o") == bp.load("gpt-4o-2024-05-13") == bp.get_encoding("o200k_base")
    assert bp.load("gpt-4o", encodings=published) == bp.get_encoding("o200k_base", folder=published)
    with pytest.raises(bp.FormatError, match="no encoding is known for the model 'llama'; name the encoding"):
        bp.encoding_for_model("llama")


def test_a_repository_that_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def snapshot(name: str, **options: object) -> hub.Origin:
        asked.append((name, options))
        raise bp.ArtifactError(f"cannot get {name} at main: offline", remedy="check the network")

    monkeypatch.setattr(hub, "snapshot", snapshot)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bp.ArtifactError, match="'org/name' is not a file or folder; cannot get org/name") as caught:
        bp.load("org/name", local_files_only=True)
    assert caught.value.remedy == "check the network"
    assert asked == [("org/name", {"local_files_only": True})]


def test_a_repository_is_loaded_with_its_origin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tok: bp.Tokenizer
) -> None:
    tok.save(tmp_path / "snapshot")
    origin = hub.Origin("org/name", "main", "abc", tmp_path / "snapshot", {})
    monkeypatch.setattr(hub, "snapshot", lambda *_, **__: origin)
    monkeypatch.chdir(tmp_path)
    loaded = bp.load("org/name")
    assert loaded == tok
    assert loaded.origin == origin
    assert bp.verify("org/name")["file hashes"].status == "pass"
    assert bp.lint("org/name").codes == bp.lint(tmp_path / "snapshot").codes


@pytest.mark.usefixtures("offline")
def test_from_pretrained_takes_a_folder(tok: bp.Tokenizer) -> None:
    tok.save("here")
    assert bp.Tokenizer.from_pretrained("here") == tok


@pytest.mark.usefixtures("published")
def test_no_option_is_ignored(tok: bp.Tokenizer) -> None:
    tok.save("here")
    for name, option, what in [
        (tok, {"split": "gpt2"}, "a loaded tokenizer takes no split"),
        (tok, {"partial_alphabet": True}, "takes no partial alphabet"),
        ("gpt-4o", {"special_tokens": {"<a>": 3}}, "the encoding o200k_base takes no special tokens"),
        ("here", {"encodings": "folder"}, "'here', which is not an encoding, takes no encodings"),
        ("here", {"split": "gpt2"}, "holds its own split"),
    ]:
        for call in (bp.load, bp.lint):
            if call is bp.load or "holds" not in what:
                with pytest.raises(bp.FormatError, match=what):
                    call(name, **option)  # type: ignore[arg-type]


@pytest.mark.usefixtures("published")
def test_every_call_takes_a_name(tok: bp.Tokenizer) -> None:
    """Each call has the same result with the name as with the tokenizer."""
    name = "here"
    tok.save(name)
    Path("a.txt").write_text("low lower\nlow\n")
    size = tok.vocab_size
    matrix = np.arange(size, dtype=np.float32)[:, None]
    calls: dict[str, Callable[[bp.Tokenizer | str], object]] = {
        "verify": lambda one: [check.name for check in bp.verify(one).failed],
        "lint": lambda one: bp.lint(one).errors,
        "explain": lambda one: bp.explain(one, "low lower"),
        "compare": lambda one: bp.compare(one, one, {"en": iter(["low lower"])}).as_dict(),
        "report": lambda one: bp.report({"a": one}, {"en": iter(["low lower"])}).costs,
        "extend": lambda one: bp.extend(one, iter(["qqq zzz qqq zzz"] * 3), size + 1),
        "prune": lambda one: bp.prune(one, size - 1).tokenizer,
        "resize_embeddings": lambda one: bp.resize_embeddings(matrix, one, one).tolist(),
        "shard": lambda one: bp.shard("a.txt", one, f"out-{isinstance(one, str)}").tokens,
        "picture": lambda one: picture({"a": one}, "low").as_dict(),
    }
    for call, run in calls.items():
        assert run(name) == run(tok), call
        with pytest.raises(bp.ArtifactError, match="'modle' is not a file or folder"):
            run("modle")
