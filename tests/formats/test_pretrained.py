"""Tokenizers of a hub: from a cache, and over HTTP from localhost."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("huggingface_hub")
WANTED = ["additional_chat_templates/rag.jinja", "config.json", "tokenizer.json", "tokenizer_config.json"]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def files(tok: bp.Tokenizer, tmp_path: Path) -> dict[str, bytes]:
    tok.save(tmp_path / "saved")
    config = json.dumps({"eos_token": "<|end|>", "model_max_length": 512}).encode()
    return {
        "tokenizer.json": (tmp_path / "saved" / "tokenizer.json").read_bytes(),
        "tokenizer_config.json": config,
        "additional_chat_templates/rag.jinja": b"{{ messages }}",
        "config.json": b'{"model_type": "gpt2"}',
        "model.safetensors": b"\0" * 5000,
    }


def cached(cache: Path, files: dict[str, bytes], revision: str = "main") -> Path:
    """Lays out files as `huggingface_hub` does in its cache."""
    place = cache / "models--org--name"
    snapshot = place / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / revision).write_text(COMMIT)
    for name, data in files.items():
        (snapshot / name).parent.mkdir(exist_ok=True)
        (snapshot / name).write_bytes(data)
    return snapshot


def test_a_cached_snapshot_needs_no_network(files: dict[str, bytes], tmp_path: Path, tok: bp.Tokenizer) -> None:
    folder = cached(tmp_path / "cache", files)
    # Nothing answers at the address of the hub here.
    for revision, local in (("main", False), (COMMIT, False), ("main", True)):
        loaded = bp.Tokenizer.from_pretrained(
            "org/name", revision=revision, cache=tmp_path / "cache", local_files_only=local
        )
        assert loaded == tok
        assert loaded.origin is not None
        assert loaded.origin[:4] == ("org/name", revision, COMMIT, folder)
        assert loaded.origin.files == {name: hashlib.sha256(files[name]).hexdigest() for name in WANTED}
    assert tok.origin is None


def test_what_is_not_there_is_said(files: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(bp.ArtifactError, match=r"cannot get org/name at main: .*local_files_only=False"):
        bp.Tokenizer.from_pretrained("org/name", cache=tmp_path / "empty", local_files_only=True)
    with pytest.raises(bp.ArtifactError, match=r"cannot get org/name/more/parts at main"):
        bp.Tokenizer.from_pretrained("org/name/more/parts", cache=tmp_path / "empty", local_files_only=True)
    cached(tmp_path / "other", {"tokenizer_config.json": files["tokenizer_config.json"]})
    with pytest.raises(bp.FormatError, match="org/name at main holds no tokenizer"):
        bp.Tokenizer.from_pretrained("org/name", cache=tmp_path / "other", local_files_only=True)


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(bp.ArtifactError, match=r"needs the package huggingface_hub; pip install 'huggingface_hub"):
        hub.snapshot("org/name")


@pytest.fixture
def server(files: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A hub with one repository; yields its address and the requests."""
    asked: list[str] = []
    listing = [
        {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        for name, data in files.items()
    ]
    about = {"id": "org/name", "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, *, body: bool) -> None:
            path = urllib.parse.urlparse(self.path).path
            asked.append(f"{self.command} {path}")
            data, status, name = b"{}", 404, path.removeprefix(f"/org/name/resolve/{COMMIT}/")
            if path == "/api/models/org/name/revision/v1":
                data, status = json.dumps(about).encode(), 200
            elif path.startswith("/api/models/org/name/tree/"):
                data, status = json.dumps(listing).encode(), 200
            elif name in files:
                data, status = files[name], 200
            self.send_response(status)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data)

        def do_GET(self) -> None:
            self.answer(body=True)

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def log_message(self, format: str, *args: object) -> None: ...

    here = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=here.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{here.server_address[1]}", asked
    here.shutdown()
    here.server_close()


SCRIPT = """
import sys, bytepair as bp
tok = bp.Tokenizer.from_pretrained("org/name", revision=sys.argv[1])
print(tok.fingerprint, tok.origin.commit, *sorted(tok.origin.files))
"""


def test_only_the_files_of_the_tokenizer_are_fetched_and_once(
    server: tuple[str, list[str]], tmp_path: Path, tok: bp.Tokenizer
) -> None:
    address, asked = server
    home = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_TELEMETRY": "1"}

    def load(revision: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SCRIPT, revision]
        environment = {**os.environ, **home, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

    for _ in range(2):
        done = load("v1")
        assert done.stdout.split() == [tok.fingerprint, COMMIT, *WANTED], done.stderr
        first = len(asked)
    assert any("/resolve/" in line for line in asked)
    assert not any("safetensors" in line for line in asked)
    assert load("v1").returncode == 0
    assert len(asked) == first
    failed = load("v2")
    assert "ArtifactError: cannot get org/name at v2" in failed.stderr
