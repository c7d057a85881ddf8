"""Native files with compiled tables: the same tokenizer, mapped, checked, and compiled where its tables are others."""

from __future__ import annotations

import struct
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import manifest, native
from bytepair.model import semantics

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = {"low": 5, "lower": 4, "newest": 6, "widest": 3, "été": 3, "中文": 2, " low": 9, " the": 7}
TEXT = "the lowest été 中文中文 newest\n\n low-lower 𝄞 widest" * 9


def merges() -> bp.Tokenizer:
    return bp.train(CORPUS, vocab_size=275, split="gpt2", special_tokens=["<|end|>"])


def ranks() -> bp.Tokenizer:
    tok = merges()
    return bp.Tokenizer(tok.spec.replace(model=semantics.to_ranks(tok.spec.byte_pair)))


def whole() -> bp.Tokenizer:
    """Tokens that no merge makes, and are taken whole."""
    model = merges().spec.byte_pair
    tokens, ids = (*model.tokens, b"zzz"), (*model.ids, 999)
    return bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens, ids, model.merges, ignore_merges=True), split=("gpt2",)))


def improper() -> bp.Tokenizer:
    """A merge that uses a token before it is made."""
    alphabet = [bytes([byte]) for byte in range(256)]
    pairs = ((256, ord("c")), (ord("a"), ord("b")))
    tokens = (*alphabet, b"ab", b"abc")
    return bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens, tuple(range(258)), pairs)))


def partial() -> bp.Tokenizer:
    tokens = (b"a", b"b", b"l", b"o", b"w", b"lo", b"low")
    model = bp.BytePair(tokens, (0, 1, 2, 3, 4, 5, 6), ((2, 3), (5, 4)), partial_alphabet=True)
    return bp.Tokenizer(bp.TokenizerSpec(model))


MADE = {"merges": merges, "ranks": ranks, "whole": whole, "improper": improper, "partial": partial}


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small vocabularies have tables as well."""
    monkeypatch.setattr(native, "_TOKENS_WITH_TABLES", 0)


def start_of_tables(data: bytes) -> int:
    end = 50 + int.from_bytes(data[42:50], "little")
    return end + -end % 64


@pytest.mark.parametrize("kind", MADE)
def test_the_tokenizer_is_the_same_from_a_file_and_from_bytes(tmp_path: Path, kind: str) -> None:
    tok = MADE[kind]()
    text = "lowlow ab".replace(" ", "") if kind == "partial" else TEXT
    (path, _) = tok.save(tmp_path / "tok.bytepair")
    data = path.read_bytes()
    assert data.startswith(native.WITH_TABLES)
    read = bp.Tokenizer(native.read(data))
    for other in (bp.Tokenizer.from_file(path), bp.Tokenizer.from_file(tmp_path), read):
        assert other == tok
        assert other.fingerprint == tok.fingerprint
        assert other.encode(text) == tok.encode(text)
        assert other.decode(tok.encode(text)) == text
        assert list(other.chunks(text, 7)) == list(tok.chunks(text, 7))
        assert native.write_compiled(other) == data
        assert other._tables(b"x") == tok._tables(b"x") != tok._tables(b"y")


def test_models_of_characters_and_small_vocabularies_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = bp.train_wordpiece({"low": 5, "lower": 2}, vocab_size=19)
    assert words._tables(b"") is None
    assert words.save(tmp_path / "words.bytepair")[0].read_bytes().startswith(native.MAGIC)
    monkeypatch.undo()
    assert merges().save(tmp_path / "small.bytepair")[0].read_bytes().startswith(native.MAGIC)


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    data = native.write_compiled(merges())
    start, random = start_of_tables(data), Random(5)
    used = [at for at in range(start + 64, len(data)) if data[at]]
    # The number of the layout is first; the rest of the head is not used.
    places = [*range(start + 8, start + 24), *random.sample(used, 40), *random.sample(range(start + 64, len(data)), 20)]
    for place in places:
        broken = data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
        with pytest.raises(bp.FormatError, match="tables of the file are damaged"):
            native.read(broken)
    for length in (start - 1, start, start + 63, start + 64, len(data) - 1, len(data) - 64):
        with pytest.raises(bp.FormatError, match="tables of the file are damaged"):
            native.read(data[:length])
    for place in range(42):
        with pytest.raises(bp.FormatError):
            native.read(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    path = tmp_path / "x.bytepair"
    path.write_bytes(data[:-1])
    with pytest.raises(bp.FormatError, match=r"x\.bytepair"):
        bp.Tokenizer.from_file(path)


def test_tables_of_another_tokenizer_are_refused() -> None:
    one, other = (native.write_compiled(tok) for tok in (merges(), ranks()))
    with pytest.raises(bp.FormatError, match="not those of its tokenizer"):
        native.read(one[: start_of_tables(one)] + other[start_of_tables(other) :])


def test_tables_of_another_layout_are_left_alone() -> None:
    tok = merges()
    data = native.write_compiled(tok)
    start = start_of_tables(data)
    later = data[:start] + struct.pack("<Q", 999) + data[start + 8 :]
    assert bp.Tokenizer(native.read(later)).encode(TEXT) == tok.encode(TEXT)


def test_a_model_that_is_changed_after_loading_is_compiled(tmp_path: Path) -> None:
    path = whole().save(tmp_path / "x.bytepair")[0]
    spec = bp.Tokenizer.from_file(path).spec
    changed = spec.replace(model=spec.packed._replace(ignore_merges=False))
    assert bp.Tokenizer(spec).encode("zzz") == [999]
    assert bp.Tokenizer(changed).encode("zzz") == [ord("z")] * 3


def test_a_manifest_of_another_tokenizer_refuses_the_file(tmp_path: Path) -> None:
    path = merges().save(tmp_path / "x.bytepair")[0]
    path.write_bytes(native.write_compiled(ranks()))
    with pytest.raises(bp.IntegrityError, match="fingerprint differs"):
        bp.Tokenizer.from_file(path)
    (tmp_path / manifest.NAME).unlink()
    assert bp.Tokenizer.from_file(path) == ranks()


def test_the_limit_of_size_holds(tmp_path: Path) -> None:
    path = merges().save(tmp_path / "x.bytepair")[0]
    with pytest.raises(bp.ArtifactError, match="larger than 1,000,000 bytes"):
        bp.Tokenizer.from_file(path, max_bytes=1_000_000)


def test_a_file_is_replaced_while_a_tokenizer_has_it_mapped(tmp_path: Path) -> None:
    tok = merges()
    path = tok.save(tmp_path / "x.bytepair")[0]
    loaded = bp.Tokenizer.from_file(path)
    ranks().save(path)
    assert loaded.encode(TEXT) == tok.encode(TEXT)
    assert bp.Tokenizer.from_file(path) == ranks()


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system what is mapped")
def test_the_file_is_mapped_for_as_long_as_its_tokenizer_lives(tmp_path: Path) -> None:
    from pathlib import Path as Place

    def is_mapped() -> bool:
        return str(path) in Place("/proc/self/maps").read_text()

    path = merges().save(tmp_path / "x.bytepair")[0]
    loaded = bp.Tokenizer.from_file(path)
    assert is_mapped()
    del loaded
    assert not is_mapped()


def test_verify_compiles_anew_and_compares(tmp_path: Path) -> None:
    path = merges().save(tmp_path / "x.bytepair")[0]
    assert bp.verify(path)["compiled tables"].status == "pass"
    # Tables that somebody made for the same tokens, with one merge fewer, and sealed for this file.
    one, model = path.read_bytes(), merges().spec.byte_pair
    assert model.merges is not None
    other = bp.Tokenizer(merges().spec.replace(model=bp.BytePair(model.tokens, model.ids, model.merges[:-1])))
    forged = other._tables(one[10:42])
    assert forged is not None
    path.write_bytes(one[: start_of_tables(one)] + forged)
    # The hash of the manifest finds it, and without a manifest compiling does.
    assert {check.name for check in bp.verify(path).failed} >= {"file hashes"}
    (tmp_path / manifest.NAME).unlink()
    assert "compiled tables" in {check.name for check in bp.verify(path).failed}


@pytest.mark.data
@pytest.mark.parametrize("name", ["openai/cl100k_base.tiktoken", "llama3/tokenizer.model", "openai/r50k_base.tiktoken"])
def test_real_vocabularies_from_their_tables(tmp_path: Path, data: Path, name: str) -> None:
    tok = bp.Tokenizer.from_file(data / "vocabs" / name, split="cl100k", special_tokens={})
    path = tok.save(tmp_path / "x.bytepair")[0]
    assert path.read_bytes().startswith(native.WITH_TABLES)
    read = bp.Tokenizer.from_file(path)
    for corpus in ("multi", "code"):
        text = (data / "corpora" / f"{corpus}_1mb.txt").read_text("utf-8")[:200_000]
        assert read.encode(text) == tok.encode(text)
    assert read._tables(b"x") == tok._tables(b"x")
