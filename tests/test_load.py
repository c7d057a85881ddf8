"""Loading: the core reads the same as a slow reader, errors included, and builds nothing before it is used."""

from __future__ import annotations

import binascii
import copy
import json
import pickle
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair as bp
from bytepair import _core
from bytepair.formats import hf_json, loading, native, tiktoken
from bytepair.model import byte_alphabet
from tests.conftest import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_IDS = 2**32 - 1


def broken(line: int, what: str) -> bp.FormatError:
    return bp.FormatError(f"a line {what}", line=line, remedy="is the file whole? fetch it again")


def read_slowly(data: bytes) -> tuple[tuple[bytes, ...], tuple[int, ...]]:
    """A rank file's tokens and ids, line by line."""
    ranks: dict[int, bytes] = {}
    known = {b""}

    for number, line in enumerate(data.splitlines(), 1):
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        try:
            decoded = binascii.a2b_base64(token)
        except ValueError as error:
            raise broken(number, "is not a token in base64, a space and a rank") from error
        # Characters that Python skips in base64 are missing when encoded again.
        if binascii.b2a_base64(decoded, newline=False) != token or not rank:
            raise broken(number, "is not a token in base64, a space and a rank")
        if not re.fullmatch(rb"0|[1-9][0-9]{0,9}", rank) or int(rank) >= MOST_IDS:
            raise broken(number, f"has the rank {repr(rank)[1:]}, which is not an id")
        id = int(rank)
        if id in ranks:
            raise broken(number, f"has the rank {id}, which an earlier line has")
        if decoded in known:
            raise broken(number, f"has the token {decoded!r}, which is empty or an earlier line has")
        ranks[id] = decoded
        known.add(decoded)
    ids = tuple(sorted(ranks))
    return tuple(ranks[id] for id in ids), ids


def check_reads_alike(data: bytes) -> None:
    def read(reader: Callable[[bytes], Any]) -> Any:
        try:
            return reader(data)
        except bp.FormatError as error:
            return str(error), error.line

    assert read(lambda data: (tiktoken.read(data).model.tokens, tiktoken.read(data).model.ids)) == read(read_slowly)


SMALL = b"YQ== 0\r\nYg== 1\n\nJyI= 3\nYWJjZA== 2\rgIGC 10\n"


def test_every_flip_and_cut_of_a_rank_file_is_read_as_by_the_slow_reader() -> None:
    check_reads_alike(SMALL)
    for place in range(len(SMALL)):
        check_reads_alike(SMALL[:place])
        for byte in range(256):
            check_reads_alike(SMALL[:place] + bytes([byte]) + SMALL[place + 1 :])
            check_reads_alike(SMALL[:place] + bytes([byte]) + SMALL[place:])


LINES = st.one_of(
    st.builds(
        lambda token, rank, end: binascii.b2a_base64(token, newline=False) + b" %d" % rank + end,
        st.binary(max_size=9),
        st.one_of(st.integers(0, 40), st.integers(MOST_IDS - 3, MOST_IDS + 3), st.integers(0, 10**30)),
        st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b""]),
    ),
    st.lists(
        st.sampled_from([b"YQ==", b"YWI=", b"=", b"Y", b"+/+/", b" ", b"0", b"007", b"-1", b"+2", b"1_0", b"_", b"\t"])
        | st.sampled_from([b"\n", b"\r", b"\x0b", b"\x1c", b"\x85", b"\0", b"\xff", b"9" * 10, b"0" * 4301]),
        max_size=5,
    ).map(b"".join),
)


@given(st.lists(LINES, max_size=12).map(b"".join))
@settings(max_examples=10_000 if WHOLE else 400)
def test_rank_files_are_read_as_by_the_slow_reader(data: bytes) -> None:
    check_reads_alike(data)


@pytest.mark.data
def test_published_rank_files_are_read_as_by_the_slow_reader(data: Path) -> None:
    files = sorted((data / "vocabs" / "openai").glob("*.tiktoken"))
    assert files
    for file in files:
        columns = tiktoken.read(file.read_bytes()).packed.columns
        assert (columns.tokens(), columns.ids()) == read_slowly(file.read_bytes())


def place_of(row: int) -> dict[str, Any]:
    return {"pointer": f"/model/merges/{row}"}


VOCAB = {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 9, "é": 6, "<x>": 7, "ÿ": 8}
TOKENS = st.sampled_from([*VOCAB, "", "x y", "日", "\u0144", "Ńa", "ba", "\ud800"])
IDS = st.one_of(st.integers(0, 9), st.sampled_from([-1, MOST_IDS - 1, MOST_IDS, 2**70, True, None, "1", 1.0]))
MERGES = st.one_of(
    st.sampled_from(["a b", "Ġ ab", ["a", "b"], ["Ġ", "ab"], "b a", "< x>"]),
    st.sampled_from(["a", "a  b", " b", "a b c", ["a"], ["a", ""], ["a", 1], ("a", "b"), None, 3, "\ud800 a"]),
)


@given(
    st.dictionaries(TOKENS, IDS, max_size=3),
    st.sets(st.sampled_from(sorted(VOCAB)), max_size=1),
    st.lists(MERGES, max_size=4),
    st.lists(st.sampled_from(["<x>", "a", "ab", "other", "日"]), unique=True, max_size=3),
)
@settings(max_examples=10_000 if WHOLE else 800)
def test_vocabularies_are_read_as_by_the_slow_reader(
    changed: dict[str, Any], removed: set[str], merges: list[Any], added: list[str]
) -> None:
    vocab = {token: id for token, id in (VOCAB | changed).items() if token not in removed}
    ids = dict.fromkeys(added, 9)

    def read(reader: Any) -> Any:
        try:
            columns = reader(vocab, merges, vocab_pointer="/v", merge_place=place_of, added=ids)
        except bp.FormatError as error:
            return str(error), error.pointer
        return columns.tokens(), columns.ids(), columns.merges()

    expected = read(hf_json.read_model_carefully)
    assert read(hf_json.read_model) == expected
    if isinstance(expected[0], tuple):
        assert _core.read_byte_alphabet(vocab, merges, added) is not None


def test_a_vocabulary_without_added_tokens_in_it_loads_fast() -> None:
    spelled = [byte_alphabet.to_characters(bytes([byte])) for byte in range(256)]
    columns = _core.read_byte_alphabet(dict(zip(spelled, range(256), strict=True)), [], [])
    assert columns is not None
    assert columns.tokens() == tuple(bytes([byte]) for byte in range(256))


def test_columns_are_packed_and_unpacked() -> None:
    columns = _core.Columns((b"a", b"bc"), (0, 7), ((0, 7),))
    packed = columns.pack()
    again = _core.Columns.unpack(packed, 2, 1)
    assert (again.tokens(), again.ids(), again.merges()) == ((b"a", b"bc"), (0, 7), ((0, 7),))
    assert (len(again), again.merge_count, again.single_bytes(), again.pack()) == (2, 1, b"a", packed)
    assert _core.Columns.unpack(b"", 0, None).merges() is None
    for tokens, merges in [(2, 2), (3, 1), (0, 2**63), (2**62, 0), (2**63, 0), (2, None), (1, 1)]:
        with pytest.raises(ValueError, match=r"longer than the file|not as long as the file"):
            _core.Columns.unpack(packed, tokens, merges)


@pytest.fixture
def loaded(tmp_path: Path, tok: bp.Tokenizer) -> bp.Tokenizer:
    tok.save(tmp_path, "native")
    return bp.Tokenizer.from_file(tmp_path)


def test_the_spec_is_made_when_it_is_asked_for(loaded: bp.Tokenizer, tok: bp.Tokenizer) -> None:
    assert (repr(loaded), len(loaded), loaded.vocab_size) == (repr(tok), len(tok), tok.vocab_size)
    assert loaded.special_tokens == tok.special_tokens
    assert loaded.fingerprint == tok.fingerprint
    assert hash(loaded) == hash(tok)
    assert loaded.encode("lower") == tok.encode("lower")
    assert "spec" not in vars(loaded)
    assert loaded.spec == tok.spec
    assert loaded.spec is loaded.spec
    with pytest.raises(AttributeError, match="immutable; spec"):
        loaded.spec = tok.spec  # type: ignore[misc]  # on purpose


def test_what_is_loaded_is_equal_copied_and_saved_as_what_is_made(
    loaded: bp.Tokenizer, tok: bp.Tokenizer, tmp_path: Path
) -> None:
    for other in (pickle.loads(pickle.dumps(loaded)), copy.copy(loaded), copy.deepcopy(loaded)):
        assert other == loaded == tok
        assert other.spec.added_tokens == tok.spec.added_tokens
    for format_name in ("native", "tokenizer.json"):
        one, other = loaded.save(tmp_path / "one", format_name), tok.save(tmp_path / "other", format_name)
        assert [file.read_bytes() for file in one] == [file.read_bytes() for file in other]
    assert native.fingerprint(loading.load(tmp_path)) == native.fingerprint(tok.spec)


def test_a_subclass_is_constructed_as_ever(tmp_path: Path, tok: bp.Tokenizer) -> None:
    class Named(bp.Tokenizer):
        def __init__(self, spec: bp.TokenizerSpec) -> None:
            vars(self)["splits"] = len(spec.split)

    tok.save(tmp_path, "native")
    named = Named.from_file(tmp_path)
    assert (type(named), vars(named)["splits"], named) == (Named, 1, tok)


def test_the_added_tokens_of_a_bare_file_are_checked(tmp_path: Path, tok: bp.Tokenizer) -> None:
    path = tok.save(tmp_path / "x.tiktoken", drop=("split", "special_tokens"))[0]
    for id in (-1, 2**40):
        with pytest.raises(bp.FormatError, match=f"the id {id} is out of range"):
            bp.Tokenizer.from_file(path, split="gpt2", special_tokens={"<x>": id})
    with pytest.raises(bp.FormatError, match="has id 97, which another token has"):
        bp.Tokenizer.from_file(path, split="gpt2", special_tokens={"<x>": 97})


SLOW_TO_IMPORT = {
    *("argparse", "ast", "asyncio", "ctypes", "dataclasses", "difflib", "email", "http", "http.client", "inspect"),
    *("json", "logging", "multiprocessing", "numpy", "random", "regex", "shutil", "socket", "ssl", "subprocess"),
    *("tempfile", "threading", "unittest", "urllib.request", "zipfile"),
}


def imported_by(code: str) -> set[str]:
    report = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    return set(subprocess.run([sys.executable, "-c", report], capture_output=True, check=True).stdout.decode().split())


def test_importing_and_loading_import_nothing_slow(tmp_path: Path, tok: bp.Tokenizer) -> None:
    path = tok.save(tmp_path / "x.tiktoken", drop=("split", "special_tokens"))[0]
    (tmp_path / "manifest.json").unlink()
    assert not imported_by("import bytepair") & SLOW_TO_IMPORT
    load = f"import bytepair as bp; bp.Tokenizer.from_file({str(path)!r}, split='gpt2', special_tokens={{}})"
    assert not imported_by(f"{load}.encode('a')") & SLOW_TO_IMPORT
    assert "dataclasses" in imported_by(f"{load}.spec.model")


def test_every_public_name_is_there() -> None:
    assert dir(bp) == sorted(bp.__all__)
    assert not {"annotations", "TYPE_CHECKING", "Any"} & set(dir(bp))
    hidden = {"located", "located_trusted", "added_in", "encode_batch_flat", "encode_buffer", "stream"}
    assert not hidden & set(dir(bp.Tokenizer))
    for name in bp.__all__:
        assert getattr(bp, name) is not None
    with pytest.raises(AttributeError, match="module 'bytepair' has no attribute 'nothing'"):
        bp.nothing  # noqa: B018
    names = "from bytepair import *; TokenizerSpec, train; import bytepair; bytepair.Merge; bytepair.progress.bar"
    assert {"bytepair.training.byte_pairs", "bytepair.progress"} <= imported_by(names)
    assert json.loads(json.dumps(bp.SPLIT_PATTERNS)) == bp.SPLIT_PATTERNS


def test_only_a_vocabulary_of_bytes_has_a_partial_alphabet(tmp_path: Path) -> None:
    words = bp.train_wordpiece(iter(["low lower lowest " * 9]), 27)
    words.save(tmp_path / "words")
    again = bp.Tokenizer.from_file(tmp_path / "words", partial_alphabet=True)
    assert again == words
    assert again.fingerprint == words.fingerprint


@pytest.mark.parametrize("kind", ["bytes", "characters"])
def test_tokens_by_id_and_ids_by_token_are_as_the_vocabulary_spells_them(kind: str) -> None:
    if kind == "bytes":
        tok = bp.train({" low": 5, "é": 3}, vocab_size=261, split="gpt2", special_tokens=["<|end|>"])
        assert tok.token_to_id("Ġlow") == tok.token_id(" low") == tok.vocab["Ġlow"]
        assert tok.token_to_id(" low") is None
    else:
        tok = bp.train_wordpiece(iter(["low lower lowest"] * 3), vocab_size=20)
        assert any(token.startswith("##") for token in tok.vocab)
    vocab = tok.vocab
    assert len(vocab) == len(tok)
    assert {tok.id_to_token(id): id for id in vocab.values()} == vocab
    assert all(tok.token_to_id(token) == id for token, id in vocab.items())
    found = tok.encoding("low lower", add_special_tokens=False)
    assert found.tokens == [tok.id_to_token(id) for id in tok.encode("low lower")]
    assert (tok.id_to_token(1 << 30), tok.id_to_token(-1), tok.token_to_id("no such token")) == (None, None, None)
    with pytest.raises(TypeError):
        tok.id_to_token("5")  # type: ignore[arg-type]
    # The dict is the caller's own.
    vocab.clear()
    assert tok.token_to_id(next(iter(tok.vocab))) is not None
