"""Published encodings, over HTTP from localhost and offline, with hashes checked."""

from __future__ import annotations

import hashlib
import http.server
import os
import threading
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import encodings, fetching, tiktoken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def published(tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A server with one rank file under a published name, and the cache beside it; yields the requested paths."""
    data = tiktoken.write(tok.spec)
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            found = self.path == "/files/r50k_base.tiktoken"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(data if found else b"")

        def log_message(self, format: str, *args: object) -> None: ...

    encoding = encodings.ENCODINGS["r50k_base"]._replace(sha256=hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(encodings.ENCODINGS, "r50k_base", encoding)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("BYTEPAIR_ENCODINGS_URL", f"http://127.0.0.1:{server.server_address[1]}/files/")
    monkeypatch.setenv("BYTEPAIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.delenv("BYTEPAIR_ENCODINGS", raising=False)
    yield asked
    server.shutdown()
    server.server_close()


def test_a_file_is_fetched_once_and_checked(published: list[str], tmp_path: Path, tok: bp.Tokenizer) -> None:
    first = bp.get_encoding("r50k_base")
    assert first.encode("def f(self):") == bp.get_encoding("r50k_base").encode("def f(self):")
    assert published == ["/files/r50k_base.tiktoken"]
    assert first.special_tokens == {"<|endoftext|>": 50256}
    assert first.tokens("def") == tok.tokens("def")
    kept = tmp_path / "cache" / "r50k_base.tiktoken"
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(bp.IntegrityError, match=r"not the published r50k_base\.tiktoken"):
        bp.get_encoding("r50k_base")


def test_a_wrong_file_is_not_kept(published: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(encodings.ENCODINGS, "r50k_base", encodings.ENCODINGS["r50k_base"]._replace(sha256="0" * 64))
    with pytest.raises(bp.IntegrityError):
        bp.get_encoding("r50k_base")
    assert published
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("published")
def test_what_is_not_there_is_said() -> None:
    with pytest.raises(bp.ArtifactError, match=r"cannot fetch .*404.*folder="):
        bp.get_encoding("cl100k_base")
    with pytest.raises(bp.FormatError, match="no encoding 'cl100k'; use one of gpt2"):
        bp.get_encoding("cl100k")


def test_only_https_is_asked(published: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("http://example.org", "file:///etc", "ftp://example.org"):
        monkeypatch.setenv("BYTEPAIR_ENCODINGS_URL", url)
        with pytest.raises(bp.ArtifactError, match="not an HTTPS address"):
            bp.get_encoding("r50k_base")
    assert not published


def test_a_folder_is_all_that_is_needed(
    published: list[str], tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r50k_base.tiktoken").write_bytes(tiktoken.write(tok.spec))
    assert len(bp.get_encoding("r50k_base", folder=tmp_path)) == 1999
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", str(tmp_path))
    bp.get_encoding("r50k_base")
    with pytest.raises(bp.ArtifactError, match="cannot read"):
        bp.get_encoding("o200k_base")
    assert not published


def test_a_file_in_the_cache_of_tiktoken_is_read(
    published: list[str], tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiktoken.write(tok.spec)
    for variable in ("DATA_GYM_CACHE_DIR", "TIKTOKEN_CACHE_DIR"):
        folder = tmp_path / variable
        folder.mkdir()
        # The address that tiktoken fetches it from, whatever the mirror here.
        address = b"https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
        kept = folder / hashlib.sha1(address).hexdigest()
        monkeypatch.setenv(variable, str(folder))
        if variable == "DATA_GYM_CACHE_DIR":
            monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
        kept.write_bytes(data)
        assert fetching.is_stored("r50k_base")
        assert not fetching.is_stored("o200k_base")
        assert bp.get_encoding("r50k_base").tokens("def") == tok.tokens("def")
    assert not published
    # A broken one is passed over, and left alone; a named folder is the only place.
    kept.write_bytes(data[:-1])
    assert not fetching.is_stored("r50k_base")
    with pytest.raises(bp.ArtifactError, match="cannot read"):
        bp.get_encoding("r50k_base", folder=tmp_path)
    bp.get_encoding("r50k_base")
    assert published == ["/files/r50k_base.tiktoken"]
    assert (tmp_path / "cache" / "r50k_base.tiktoken").read_bytes() == data
    assert kept.read_bytes() == data[:-1]
    kept.unlink()
    os.mkfifo(kept)
    (tmp_path / "cache" / "r50k_base.tiktoken").unlink()
    assert not fetching.is_stored("r50k_base")


def test_a_file_is_fetched_into_the_cache_that_is_named_for_tiktoken(
    published: list[str], tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BYTEPAIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "shared"))
    for _ in range(2):
        bp.get_encoding("r50k_base")
    assert len(published) == 1
    assert [path.read_bytes() for path in (tmp_path / "shared").iterdir()] == [tiktoken.write(tok.spec)]
    assert not (tmp_path / "home").exists()


def test_the_special_tokens_are_consistent() -> None:
    for name, encoding in encodings.ENCODINGS.items():
        ids = list(encoding.special_tokens.values())
        assert len(set(ids)) == len(ids), name
    assert len(encodings.ENCODINGS["o200k_harmony"].special_tokens) == 1090
