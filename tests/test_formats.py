"""A tokenizer is equal after saving and loading; content that a format or a file cannot hold is refused by name."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.formats import detection, native
from bytepair.model import byte_alphabet, semantics
from tests.conftest import HOSTILE

CAN_HOLD_ALL = ["native", "tokenizer.json"]
BARE = {"tiktoken": ("split", "special_tokens"), "vocab+merges": ("split", "special_tokens")}


@pytest.fixture(scope="module")
def rich(tok: bp.Tokenizer) -> bp.Tokenizer:
    """A tokenizer with every feature that a spec can have, holes in the ids included."""
    flags = bp.AddedToken("<mask>", 2500, lstrip=True, rstrip=True)
    added = (
        bp.AddedToken("<|end|>", 1998),
        bp.AddedToken("wörd", 2100, special=False, single_word=True, normalized=True),
    )
    return bp.Tokenizer(
        bp.TokenizerSpec(
            tok.spec.byte_pair,
            split=(r"\p{N}{1,3}", *tok.spec.split),
            added_tokens=(*added, flags),
            normalizers=("NFC", "NFKC"),
            post_processor=json.dumps({"type": "ByteLevel", "trim_offsets": False, "add_prefix_space": True}),
        )
    )


@pytest.mark.parametrize("format_name", CAN_HOLD_ALL)
def test_everything_survives(tmp_path: Path, rich: bp.Tokenizer, tok: bp.Tokenizer, format_name: str) -> None:
    for one in (rich, tok):
        one.save(tmp_path, format_name)
        again = bp.Tokenizer.from_file(tmp_path)
        assert again == one
        assert (
            again.fingerprint == one.fingerprint == json.loads((tmp_path / "manifest.json").read_text())["fingerprint"]
        )
        for text in HOSTILE:
            assert again.encode(text) == one.encode(text)


@pytest.mark.parametrize("format_name", BARE)
def test_bare_formats_refuse_what_they_cannot_hold(tmp_path: Path, tok: bp.Tokenizer, format_name: str) -> None:
    with pytest.raises(
        bp.FormatError, match=f"{format_name.replace('+', '.')} cannot hold split, special_tokens; .*drop="
    ):
        tok.save(tmp_path / "out", format_name)
    assert not (tmp_path / "out").exists()
    with pytest.raises(bp.FormatError, match="cannot hold special_tokens"):
        tok.save(tmp_path / "out", format_name, drop=["split"])
    tok.save(tmp_path, format_name, drop=BARE[format_name])
    assert json.loads((tmp_path / "manifest.json").read_text())["dropped"] == ["split", "special_tokens"]
    again = bp.Tokenizer.from_file(tmp_path, split="cl100k", special_tokens={"<|end|>": 1998, "<|user|>": 1999})
    for text in HOSTILE:
        assert again.encode(text) == tok.encode(text)
    if format_name == "vocab+merges":
        assert again == tok
    else:
        assert again.spec.byte_pair == semantics.to_ranks(tok.spec.byte_pair)
    assert again.fingerprint == json.loads((tmp_path / "manifest.json").read_text())["fingerprint"]
    if format_name == "tiktoken":
        with pytest.raises(
            bp.FormatError, match=r"holds no split pattern.*; pass those of its model: split, a pattern or"
        ):
            bp.Tokenizer.from_file(tmp_path)


def test_gpt2s_own_pattern_is_understood(tmp_path: Path) -> None:
    tok = bp.train({"low": 5}, 258, split="gpt2")
    tok.save(tmp_path, "vocab+merges")
    assert bp.Tokenizer.from_file(tmp_path) == tok == bp.Tokenizer.from_file(tmp_path / "merges.txt")


def test_a_path_says_the_format(tmp_path: Path, tok: bp.Tokenizer) -> None:
    assert [path.name for path in tok.save(tmp_path / "a" / "mine.bytepair")] == ["mine.bytepair", "manifest.json"]
    assert bp.Tokenizer.from_file(tmp_path / "a") == tok
    assert tok.save(tmp_path / "b" / "mine.json")[0].name == "mine.json"
    assert bp.Tokenizer.from_file(tmp_path / "b" / "mine.json") == tok
    with pytest.raises(bp.FormatError, match="is the name of a tiktoken file"):
        tok.save(tmp_path / "x.tiktoken", "native")
    with pytest.raises(bp.FormatError, match="'onnx' is unknown"):
        tok.save(tmp_path, "onnx")
    with pytest.raises(bp.FormatError, match="'slit' is not a feature"):
        tok.save(tmp_path, "tiktoken", drop=["slit"])


def test_a_changed_file_is_caught_by_the_manifest(tmp_path: Path, tok: bp.Tokenizer) -> None:
    file = tok.save(tmp_path)[0]
    file.write_bytes(file.read_bytes().replace(b'"ignore_merges": false', b'"ignore_merges": true'))
    with pytest.raises(bp.IntegrityError, match=r"remove manifest\.json"):
        bp.Tokenizer.from_file(tmp_path)
    (tmp_path / "manifest.json").unlink()
    assert bp.Tokenizer.from_file(tmp_path).spec.byte_pair.ignore_merges


def test_a_foreign_manifest_is_left_alone(tmp_path: Path, tok: bp.Tokenizer) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "some web page"}')
    with pytest.raises(bp.ArtifactError, match="another kind"):
        tok.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, tok: bp.Tokenizer) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(bp.ArtifactError, match="cannot write"):
        tok.save(tmp_path / "file" / "folder", "native")
    # A file that cannot be replaced: nothing half-written stays beside it.
    (tmp_path / "out" / "tokenizer.json").mkdir(parents=True)
    with pytest.raises(bp.ArtifactError):
        tok.save(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tokenizer.json"]


def test_a_save_that_fails_leaves_what_was_there(
    tmp_path: Path, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok.save(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(bp.ArtifactError, match="No space left"):
        bp.train({"low": 5}, 258).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "tokenizer.json"]
    assert bp.Tokenizer.from_file(tmp_path) == tok


def test_files_are_written_with_usual_permissions(tmp_path: Path, tok: bp.Tokenizer) -> None:
    (tmp_path / "usual").touch()
    saved = tok.save(tmp_path / "out", "native")[0]
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


def test_the_byte_alphabet() -> None:
    assert byte_alphabet.to_characters(b" \n\x00\xff!") == "ĠĊĀÿ!"
    everything = [bytes([byte]) for byte in range(256)]
    assert [byte_alphabet.to_bytes(byte_alphabet.to_characters(byte)) for byte in everything] == everything
    assert len(set(byte_alphabet.BYTES_IN_ALPHABET_ORDER)) == 256


def test_the_native_format_detects_every_flip_and_cut(tok: bp.Tokenizer) -> None:
    small = bp.TokenizerSpec(
        bp.BytePair((b"a", b"ab", b"b"), (0, 1, 2), ((0, 2),)), added_tokens=(bp.AddedToken("x", 9),)
    )
    data = native.write(small)
    assert native.read(data) == small
    for place in range(len(data)):
        for bit in range(8):
            with pytest.raises(bp.FormatError):
                native.read(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        with pytest.raises(bp.FormatError):
            native.read(data[:place])
    assert native.fingerprint(small) == native.fingerprint(native.read(data)) != tok.fingerprint


def test_ranks_and_merges_are_converted_only_with_proof(tmp_path: Path, tok: bp.Tokenizer) -> None:
    ranks = bp.Tokenizer(bp.TokenizerSpec(semantics.to_ranks(tok.spec.byte_pair), split=tok.spec.split))
    assert semantics.to_merges(ranks.spec.byte_pair) == tok.spec.byte_pair
    ranks.save(tmp_path / "json")
    assert bp.Tokenizer.from_file(tmp_path / "json").spec.byte_pair == tok.spec.byte_pair
    alphabet = tuple(bytes([byte]) for byte in range(256))
    # `abc` has no way to be merged of two tokens, but is taken whole under ranks.
    unreachable = bp.BytePair((*alphabet, b"abc"), tuple(range(257)))
    with pytest.raises(bp.FormatError, match="left in 3 parts"):
        semantics.to_merges(unreachable)
    other_order = bp.BytePair((*alphabet, b"ab", b"bc"), tuple(range(258)), ((98, 99), (97, 98)))
    with pytest.raises(bp.FormatError, match="first differ at merge 0"):
        semantics.to_ranks(other_order)


def file_of(tmp_path: Path, content: Any, name: str = "tokenizer.json") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def valid() -> dict[str, Any]:
    vocab = {byte_alphabet.to_characters(bytes([byte])): byte for byte in range(256)} | {"ab": 256}
    return {
        "version": "1.0",
        "added_tokens": [{"id": 257, "content": "<x>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]},
    }


def test_a_minimal_file_loads(tmp_path: Path) -> None:
    assert bp.Tokenizer.from_file(file_of(tmp_path, valid())).encode("ab<x>", special="allow") == [256, 257]


def test_words_of_a_byte_alphabet_are_decoded_one_by_one(tmp_path: Path) -> None:
    tokens = ["Ã", "©", "Ġa", "中", "low</w>", "[UNK]"]
    content = valid() | {
        "model": {"type": "WordLevel", "vocab": dict(zip(tokens, range(6), strict=True)), "unk_token": "[UNK]"}
    }
    tok = bp.Tokenizer.from_file(file_of(tmp_path, content))
    assert tok.decode([0, 1, 2, 3, 4]) == "é a中low</w>"
    assert (tok.decode([0, 3]), tok.decode_bytes([0, 3])) == ("\ufffd中", b"\xc3" + "中".encode())
    stream = tok.decode_stream()
    assert [stream.push(id) for id in (0, 1, 257)] == ["", "é", "<x>"]


@pytest.mark.parametrize(
    ("pointer", "value", "says"),
    [
        ("/normalizer", {"type": "Louder"}, "Louder"),
        ("/normalizer", {"type": "Lowercase", "colour": 1}, "colour"),
        ("/normalizer", {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Louder"}]}, "Louder"),
        ("/normalizer", {"type": "Sequence", "normalizers": 1}, "not a list"),
        ("/normalizer", {"type": "Replace", "pattern": {"Regex": "(?i:ss)"}, "content": ""}, "read otherwise"),
        ("/pre_tokenizer", {"type": "Surprise"}, "Surprise"),
        ("/pre_tokenizer", {"type": "Split", "pattern": {"String": " "}, "behavior": "Gone", "invert": False}, "Gone"),
        ("/pre_tokenizer/add_prefix_space", "yes", "not true or false"),
        ("/decoder", {"type": "Surprise"}, "Surprise"),
        ("/model/type", "WordPiece", "merges in WordPiece"),
        ("/model/type", "Surprise", "the model Surprise"),
        ("/model/dropout", "much", "dropout is 'much'"),
        ("/model/byte_fallback", 1, "not true or false"),
        ("/model/end_of_word_suffix", 1, "end_of_word_suffix is 1"),
        ("/model/surprise", 1, "surprise"),
        ("/surprise", 1, "surprise"),
        ("/model/vocab/ab", -1, "id of 'ab' is -1"),
        ("/model/vocab/ab", 2**32, "id of 'ab' is"),
        ("/model/vocab/ab", 97, "two tokens have the id 97"),
        ("/model/vocab/ab", "1", "id of 'ab' is '1'"),
        ("/model/vocab", [], "not an object"),
        ("/model/merges", ["a b c"], "not a merge"),
        ("/model/merges", ["a c"], "needs 'ac'"),
        ("/model/merges", [["a"]], "not a merge"),
        ("/added_tokens", {}, "not a list"),
        ("/added_tokens/0", {"id": "1", "content": "x"}, "not an added token"),
        ("/added_tokens/0", {"id": 1, "content": "x", "special": 1}, "special is 1"),
        ("/added_tokens/0", {"id": 1, "content": "x", "colour": 1}, "colour"),
        ("/added_tokens/0", {"id": 300, "content": ""}, "is empty"),
    ],
)
def test_what_a_file_should_not_hold_is_named(tmp_path: Path, pointer: str, value: Any, says: str) -> None:
    table = valid()
    *parents, last = pointer[1:].split("/")
    place: Any = table
    for parent in parents:
        place = place[int(parent) if isinstance(place, list) else parent]
    place[int(last) if isinstance(place, list) else last] = value
    with pytest.raises(bp.FormatError, match=says.replace("(", r"\(")) as caught:
        bp.Tokenizer.from_file(file_of(tmp_path, table))
    at_load = "which another token" in says or "is empty" in says
    assert at_load or (caught.value.pointer or "").startswith(pointer.rsplit("/", 1)[0])
    assert at_load or caught.value.file is not None


READ_OTHERWISE = [
    *[r"a+{2}+", "(?i:ss)", r"(?i:\p{Lu})", "a{2}??", r"\pL+", r"\<a", "a{ 1}", r"\u{61}", "[a--b]", "(?P<n>a)"],
    *[r"\p{gc=Lu}", r"\p{Punct}", r"\Ga", r"a\Kb", r"(a)\1", r"[\w-.]", "[]a]", "(?x: a)", "(?i:ß)", r"(?i)[\wß]"],
    "a++?",
]


def test_several_splits_in_a_row_and_patterns_read_otherwise(tmp_path: Path) -> None:
    table = valid()
    split = {"type": "Split", "pattern": {"Regex": r"\p{N}+[$!]"}, "behavior": "Isolated", "invert": False}
    dots = {"type": "Split", "pattern": {"String": "..."}, "behavior": "Isolated", "invert": False}
    last = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    table["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, dots, last]}
    assert bp.Tokenizer.from_file(file_of(tmp_path, table)).pieces("12$a...") == ["12$", "a", "..."]
    for pattern in READ_OTHERWISE:
        split["pattern"] = {"Regex": pattern}
        with pytest.raises(bp.FormatError, match="may read otherwise"):
            bp.Tokenizer.from_file(file_of(tmp_path, table))
    split["pattern"] = {"Regex": "(a"}
    with pytest.raises(bp.PatternError, match="does not compile") as raised:
        bp.Tokenizer.from_file(file_of(tmp_path, table))
    assert raised.value.pointer == "/pre_tokenizer/pretokenizers/0/pattern/Regex"
    split.update(pattern={"Regex": "a"}, behavior="Removed")
    last["trim_offsets"] = True
    assert bp.Tokenizer.from_file(file_of(tmp_path, table)).pieces("12$a...b") == ["12$", "...", "b"]


def test_options_of_the_call_are_said_not_to_apply(tmp_path: Path) -> None:
    with pytest.warns(bp.TokenizerWarning, match="truncation is not applied"):
        bp.Tokenizer.from_file(file_of(tmp_path, valid() | {"truncation": {"max_length": 3}}))


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"", "x", "the file is empty, not a tokenizer"),
        (b"x", "x", "not a tokenizer in a format"),
        (b"GGUF\x03\x00\x00\x00", "x.gguf", "the file ends before"),
        (b"{", "x.json", "not JSON"),
        (b'{"model": ' + b"[" * 100_000, "x.json", "not JSON"),
        (b'{"\xff": 1}', "x.json", "not JSON"),
        (b"YQ== 0\nYQ== 1\n", "x.tiktoken", "has the token b'a', which is empty or an earlier line has (.*line 2"),
        (b"YQ== 0\nYg== 0\n", "x.tiktoken", "rank 0, which an earlier line has (.*line 2"),
        (b"YQ== 0\nYg==\n", "x.tiktoken", "line 2"),
        (b"YQ== 0\n#Yg 1\n", "x.tiktoken", "line 2"),
        (b"YQ== 0\n 1\n", "x.tiktoken", "has the token b'', which is empty"),
        (b"YQ== 0\nYg== 4294967295\n", "x.tiktoken", "not an id"),
        (b"YQ== 0\nYg== 1\n", "x.tiktoken", "no token for 241 of the bytes of UTF-8: 0x00"),
        (b"bytepair\x03\n", "x.bytepair", "another version"),
        (b"bytepair\x01\n" + b"\0" * 40, "x.bytepair", "damaged"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, name: str, says: str) -> None:
    path = file_of(tmp_path, content, name)
    split = "gpt2" if name.endswith(".tiktoken") else None
    with pytest.raises(bp.FormatError, match=says.replace("(", r"\(")):
        bp.Tokenizer.from_file(path, split=split)


def test_files_and_folders_that_are_not_there(tmp_path: Path, tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.ArtifactError, match="cannot read"):
        bp.Tokenizer.from_file(tmp_path / "none.json")
    with pytest.raises(bp.FormatError, match="holds no tokenizer"):
        bp.Tokenizer.from_file(tmp_path)
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(bp.ArtifactError, match=r"merges\.txt"):
        bp.Tokenizer.from_file(tmp_path)
    for name in ("a.tiktoken", "b.tiktoken"):
        (tmp_path / "two").mkdir(exist_ok=True)
        (tmp_path / "two" / name).write_bytes(b"YQ== 0\n")
    with pytest.raises(bp.FormatError, match="several"):
        bp.Tokenizer.from_file(tmp_path / "two")
    tok.save(tmp_path / "saved")
    (tmp_path / "saved" / "manifest.json").unlink()
    (tmp_path / "saved" / "vocab.json").write_text("{}")
    assert bp.Tokenizer.from_file(tmp_path / "saved") == tok
    with pytest.raises(bp.FormatError, match="holds its own split"):
        bp.Tokenizer.from_file(tmp_path / "saved", split="gpt2")


def test_a_partial_alphabet_has_to_be_said(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"YQ== 0\nYg== 1\n", "x.tiktoken")
    tok = bp.Tokenizer.from_file(path, split="none", special_tokens={}, partial_alphabet=True)
    assert tok.encode("ab") == [0, 1]
    with pytest.raises(bp.EncodeError, match="0x63 has no token"):
        tok.encode("abc")
    tok.save(tmp_path / "out", "native")
    assert bp.Tokenizer.from_file(tmp_path / "out") == tok


def test_newcomers_findings(tmp_path: Path, tok: bp.Tokenizer) -> None:
    """Problems that a first user found, once each."""
    with pytest.raises(bp.FormatError, match="the name of the manifest"):
        tok.save(tmp_path / "manifest.json")
    line_feed = bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, added_tokens=(bp.AddedToken("\n", 3000),)))
    line_feed.save(tmp_path / "line feed")
    assert bp.Tokenizer.from_file(tmp_path / "line feed") == line_feed
    with pytest.raises(bp.FormatError, match="has 1025 bytes; use at most 1024"):
        bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, added_tokens=(bp.AddedToken("x" * 1025, 3000),)))
    (tmp_path / "manifest.json").write_text('{"kind": "bytepair tokenizer", "files": {"../secret": "x"}}')
    with pytest.raises(bp.FormatError, match="no file of its folder"):
        bp.Tokenizer.from_file(tmp_path)
    (tmp_path / "manifest.json").unlink()
    for path in ("a\0b", "x" * 5000, "\ud800"):
        with pytest.raises(bp.ArtifactError):
            bp.Tokenizer.from_file(path)
        with pytest.raises(bp.ArtifactError):
            tok.save(tmp_path / path)
    table = valid()
    table["added_tokens"][0]["content"] = "\ud800"
    with pytest.raises(bp.FormatError, match="lone surrogate"):
        bp.Tokenizer.from_file(file_of(tmp_path, table, "surrogate.json"))
    with pytest.raises(bp.FormatError, match="an id is out of range"):
        bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a", b"b", b"c"), (0, 2**40, 3), partial_alphabet=True)))
    with pytest.raises(TypeError, match="tokens is a tuple, not list"):
        bp.Tokenizer(bp.TokenizerSpec(bp.BytePair([b"a"], (0,))))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a TokenizerSpec"):
        bp.Tokenizer(None)  # type: ignore[arg-type]
    with pytest.raises(bp.FormatError, match="post_processor is not JSON"):
        bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, post_processor="{nope"))


def test_a_link_is_followed_and_modes_are_kept(tmp_path: Path, tok: bp.Tokenizer) -> None:
    real = tmp_path / "real"
    (tmp_path / "out").mkdir()
    real.write_text("old")
    real.chmod(0o600)
    (tmp_path / "out" / "tokenizer.json").symlink_to(real)
    tok.save(tmp_path / "out")
    assert (tmp_path / "out" / "tokenizer.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert bp.Tokenizer.from_file(real) == tok


def test_normalized_added_tokens_are_named_as_given(tok: bp.Tokenizer) -> None:
    one = bp.AddedToken("e\u0301", 3000, normalized=True)
    spec = bp.TokenizerSpec(tok.spec.byte_pair, normalizers=("NFC",), added_tokens=(one,))
    own = bp.Tokenizer(spec)
    with pytest.raises(bp.SpecialTokenError) as caught:
        own.encode("aé")
    assert "e\\u{301}" in caught.value.what or "e\u0301" in caught.value.what
    assert own.encode(["a", bp.Control("e\u0301")]) == own.encode("aé", special="allow") == [97, 3000]


def test_detection_goes_by_content(tmp_path: Path, tok: bp.Tokenizer) -> None:
    for format_name in (*CAN_HOLD_ALL, *BARE):
        folder = tmp_path / f"{format_name} folder"
        file = tok.save(folder, format_name, drop=BARE.get(format_name, ()))[0]
        assert detection.detect(folder).format == detection.detect(file).format == format_name
        if format_name != "vocab+merges":
            (folder / "manifest.json").unlink()
            assert detection.detect(file.rename(tmp_path / f"{format_name}.bin")).format == format_name
