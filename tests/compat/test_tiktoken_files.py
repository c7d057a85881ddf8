"""Files and registries of tiktoken: rank files, caches, plugins and the table of models."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

import pytest
import tiktoken.load
import tiktoken.model

import bytepair as bp
from bytepair.compat import tiktoken as face
from bytepair.compat.tiktoken import load, model, registry
from bytepair.formats import encodings
from bytepair.formats.fetching import tiktoken_cached
from bytepair.model import byte_alphabet
from tests.conftest import ROOT
from tests.test_docs import python_blocks, run_as_written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 258}


def test_models_have_the_published_encodings() -> None:
    assert model.MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert model.MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING
    names = [*model.MODEL_TO_ENCODING, *(prefix + "2026" for prefix in model.MODEL_PREFIX_TO_ENCODING), "gpt-5-mini"]
    for name in [*names, "ft:gpt-4o-mini:mine", "gpt-3.5-turbo-0301", "gpt-oss-120b"]:
        assert face.encoding_name_for_model(name) == tiktoken.encoding_name_for_model(name)
    for name in ["", "gpt-9", "o1preview", "GPT-4"]:
        for module in (face, tiktoken):
            with pytest.raises(KeyError):
                module.encoding_name_for_model(name)
    with pytest.raises(KeyError, match="no encoding is known for the model 'gpt-9'"):
        face.encoding_for_model("gpt-9")


def test_a_model_that_is_added_to_the_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model.MODEL_TO_ENCODING, "mine", "cl100k_base")
    assert face.encoding_name_for_model("mine") == "cl100k_base"


def test_what_is_no_name_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="there is no encoding 'gpt3'; use one of gpt2, r50k_base"):
        face.get_encoding("gpt3")
    with pytest.raises(ValueError, match="is a str, not NoneType"):
        face.get_encoding(None)  # type: ignore[arg-type]
    assert face.list_encoding_names()[: len(encodings.ENCODINGS)] == tiktoken.list_encoding_names()


def test_rank_files_are_read_and_written_as_theirs(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    load.dump_tiktoken_bpe(dict(reversed(RANKS.items())), str(path))
    data = path.read_bytes()
    assert data.startswith(b"AA== 0\nAQ== 1\n")
    sha256 = hashlib.sha256(data).hexdigest()
    assert load.load_tiktoken_bpe(str(path)) == tiktoken.load.load_tiktoken_bpe(str(path)) == RANKS
    assert load.load_tiktoken_bpe(str(path), expected_hash=sha256) == RANKS
    with pytest.raises(ValueError, match=f"SHA-256 is not 00.*file {path}"):
        load.load_tiktoken_bpe(str(path), expected_hash="00")
    with pytest.raises(FileNotFoundError):
        load.load_tiktoken_bpe(str(tmp_path / "none"))
    path.write_bytes(b"YQ== 0\n\nYg==\n")
    with pytest.raises(bp.FormatError, match=r"b'Yg==' is not a token in base64, a space and a rank.*line 3"):
        load.load_tiktoken_bpe(str(path))
    assert not load.check_hash(b"a", sha256)


def test_other_addresses_are_refused_by_name(tmp_path: Path) -> None:
    for address in ("az://bucket/x", "gs://bucket/x"):
        with pytest.raises(ValueError, match=f"{address} is neither a file nor an HTTPS URL"):
            load.load_tiktoken_bpe(address)
    with pytest.raises(ValueError, match="is a URL"):
        load.dump_tiktoken_bpe(RANKS, "az://bucket/x")
    with pytest.raises(bp.ArtifactError, match="not an HTTPS address"):
        load.read_file("http://example.org/x")
    with pytest.raises(bp.ArtifactError):
        load.dump_tiktoken_bpe(RANKS, str(tmp_path / "x" / "\0"))


@pytest.mark.parametrize("clobber", [False, True])
def test_the_two_files_of_gpt2_are_read_as_theirs(tmp_path: Path, clobber: bool) -> None:
    merges, table = tmp_path / "vocab.bpe", tmp_path / "encoder.json"
    merges.write_text("#version: 0.2\nl o\nlo w\nĠ low\n", "utf-8")
    single = [byte_alphabet.CHARACTER_OF_BYTE[byte] for byte in byte_alphabet.BYTES_IN_ALPHABET_ORDER]
    ids = {token: id for id, token in enumerate([*single, "lo", "low", "Ġlow"])}
    if clobber:
        ids["a"], ids["b"] = ids["b"], ids["a"]
    table.write_text(json.dumps(ids | {"<|endoftext|>": 300}), "utf-8")
    given = (str(merges), str(table))
    ranks = load.data_gym_to_mergeable_bpe_ranks(*given, clobber_one_byte_tokens=clobber)
    assert ranks == tiktoken.load.data_gym_to_mergeable_bpe_ranks(*given, clobber_one_byte_tokens=clobber)
    assert ranks[b" low"] == 258
    table.write_text(json.dumps(ids | {"low": 301}), "utf-8")
    with pytest.raises(AssertionError, match=r"b'low' has rank 257 in .*bpe, and id 301"):
        load.data_gym_to_mergeable_bpe_ranks(*given, clobber_one_byte_tokens=clobber)
    table.write_text(json.dumps(ids | {"a b": 301}), "utf-8")
    with pytest.raises(bp.FormatError, match="'a b' has a character that represents no byte"):
        load.data_gym_to_mergeable_bpe_ranks(*given)
    merges.write_text("#version: 0.2\nl o w\n", "utf-8")
    with pytest.raises(bp.FormatError, match=r"a merge is two tokens.*line 2.*'l o w'"):
        load.data_gym_to_mergeable_bpe_ranks(*given)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, bytes, list[str]]]:
    """A server with one rank file: its address, the file, and the requested paths."""
    data = b"".join(b"%b %d\n" % (base64.b64encode(token), id) for token, id in RANKS.items())
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "BYTEPAIR_ENCODINGS"):
        monkeypatch.delenv(name, raising=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/x.tiktoken", data, asked
    server.shutdown()
    server.server_close()


def test_an_address_is_fetched_once(
    served: tuple[str, bytes, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, data, asked = served
    sha256 = hashlib.sha256(data).hexdigest()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        assert load.load_tiktoken_bpe(address, sha256) == RANKS
    assert asked == ["/x.tiktoken"]
    kept = tiktoken_cached(address)
    assert kept is not None
    assert kept.parent == tmp_path / "cache"
    # tiktoken finds it there, without asking.
    assert tiktoken.load.load_tiktoken_bpe(address, sha256) == RANKS
    kept.write_bytes(b"broken")
    assert load.load_tiktoken_bpe(address, sha256) == RANKS
    assert kept.read_bytes() == data
    assert len(asked) == 2
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert load.read_file_cached(address) == data
    assert len(asked) == 3


def test_only_a_cache_that_was_named_has_to_be_written(
    served: tuple[str, bytes, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, data, _ = served
    taken = tmp_path / "file"
    taken.write_bytes(b"")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(taken))
    assert load.read_file_cached(address) == data
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(taken / "cache"))
    with pytest.raises(OSError, match="cannot write"):
        load.read_file_cached(address)


@pytest.fixture
def no_encodings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "_constructors", None)


@pytest.mark.usefixtures("no_encodings")
def test_what_tiktoken_fetched_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tok: bp.Tokenizer) -> None:
    data = (tok.save(tmp_path / "x.tiktoken", drop=("split", "special_tokens"))[0]).read_bytes()
    published = encodings.ENCODINGS["r50k_base"]._replace(sha256=hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(encodings.ENCODINGS, "r50k_base", published)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("BYTEPAIR_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("BYTEPAIR_ENCODINGS_URL", "http://127.0.0.1:9/none")
    monkeypatch.delenv("BYTEPAIR_ENCODINGS", raising=False)
    kept = tiktoken_cached("https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken")
    assert kept is not None
    kept.write_bytes(data[:-1])
    with pytest.raises(bp.ArtifactError, match="cannot fetch"):
        face.get_encoding("r50k_base")
    kept.write_bytes(data)
    enc = face.encoding_for_model("davinci")
    assert enc is face.get_encoding("r50k_base")
    assert enc.eot_token == 50256
    assert enc.decode(enc.encode("def f():")) == "def f():"


PLUGIN = """
RANKS = {bytes([byte]): byte for byte in range(256)}

def mine():
    return {"name": "mine", "pat_str": "(?s:.)+", "mergeable_ranks": RANKS, "special_tokens": {"<|endoftext|>": 256}}

ENCODING_CONSTRUCTORS = {"mine": mine}
"""


def with_plugins(tmp_path: Path, program: str, **modules: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own, where packages register encodings."""
    folder = tmp_path / "extension" / "tiktoken_ext"
    folder.mkdir(parents=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    program = f"import sys; sys.path.insert(0, {str(folder.parent)!r})\nfrom bytepair.compat import tiktoken\n{program}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_a_plugin_registers_encodings(tmp_path: Path) -> None:
    program = """
import pickle
enc = tiktoken.get_encoding("mine")
assert tiktoken.list_encoding_names()[-1] == "mine"
assert enc.encode("a<|endoftext|>", allowed_special="all") == [97, 256]
data = pickle.dumps(enc)
assert len(data) < 200 and pickle.loads(data).encode("b") == [98]
assert "tiktoken" not in sys.modules and "blobfile" not in sys.modules
"""
    done = with_plugins(tmp_path, program, my_encodings=PLUGIN)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"empty": ""}, "tiktoken_ext.empty has no ENCODING_CONSTRUCTORS"),
        ({"one": PLUGIN, "two": PLUGIN}, "tiktoken_ext.two registers 'mine', which is registered already"),
        ({"one": PLUGIN.replace('{"mine"', '{"gpt2"')}, "tiktoken_ext.one registers 'gpt2'"),
    ],
)
def test_a_plugin_that_is_broken_is_named(tmp_path: Path, modules: dict[str, str], message: str) -> None:
    done = with_plugins(tmp_path, "tiktoken.list_encoding_names()", **modules)
    assert f"ValueError: the tiktoken plugin {message}" in done.stderr


def test_it_imports_no_other_library() -> None:
    program = (
        "import sys\nfrom bytepair.compat import tiktoken\ntiktoken.encoding_name_for_model('gpt-4')\n"
        "print(sorted({'tiktoken', 'tiktoken_ext', 'numpy', 'regex', 'requests', 'blobfile'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


DOCUMENT = ROOT / "docs" / "compat-tiktoken.md"
OFFLINE = [block for block in python_blocks(DOCUMENT) if "get_encoding" not in block]


@pytest.mark.parametrize("number", range(len(OFFLINE)))
def test_the_examples_run_as_written(tmp_path: Path, number: int) -> None:
    run_as_written(OFFLINE[number], tmp_path)
