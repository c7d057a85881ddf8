"""A manifest records the saved files, and no change in a folder goes unnoticed."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair import _core
from bytepair.formats import manifest, probes
from bytepair.model.models import WordPiece

if TYPE_CHECKING:
    from pathlib import Path

DROPS = {
    "native": (),
    "tokenizer.json": (),
    "tiktoken": ("split", "special_tokens"),
    "vocab+merges": ("special_tokens",),
}


@pytest.fixture(scope="module")
def small() -> bp.Tokenizer:
    return bp.train({"low": 5, "lower": 2, "é": 2}, vocab_size=262, special_tokens=["<|end|>"], split="gpt2")


def read(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((folder / manifest.NAME).read_text("utf-8"))
    return table


def reload(folder: Path, format_name: str) -> bp.Tokenizer:
    bare = {"split": "gpt2", "special_tokens": {"<|end|>": 261}} if format_name == "tiktoken" else {}
    return bp.Tokenizer.from_file(folder, **bare)  # type: ignore[arg-type]


def test_it_says_what_was_saved(tmp_path: Path, small: bp.Tokenizer) -> None:
    files = small.save(tmp_path)
    assert read(tmp_path) == {
        "kind": "bytepair tokenizer",
        "version": 2,
        "library": bp.__version__,
        "format": "tokenizer.json",
        "files": {"tokenizer.json": hashlib.sha256(files[0].read_bytes()).hexdigest()},
        "fingerprint": small.fingerprint,
        "semantics": "merges",
        "model": "BytePair",
        "vocab_size": 262,
        "tokens": 262,
        "special_tokens": {"<|end|>": 261},
        "split": ["gpt2"],
        "prefix_space": False,
        "normalizers": [],
        "pre_tokenizers": [],
        "decoders": [],
        "unicode": dict(_core.UNICODE_VERSION),
        "behaviour": {"probes": probes.VERSION, "sha256": probes.behaviour(small)},
        "padding_sides": {"training": "right", "generation": "left"},
        "chat_template": None,
        "origin": None,
        "dropped": [],
        "manifest_sha256": read(tmp_path)["manifest_sha256"],
    }


def test_what_the_caller_says(tmp_path: Path, small: bp.Tokenizer) -> None:
    origin = {"name": "some/model", "revision": "abc"}
    small.save(tmp_path, padding_sides=("left", "left"), origin=origin)
    assert read(tmp_path)["padding_sides"] == {"training": "left", "generation": "left"}
    assert read(tmp_path)["origin"] == origin
    for wrong in (("right", "middle"), ("left",), "lr"):
        with pytest.raises(bp.FormatError, match="are not two sides"):
            small.save(tmp_path, padding_sides=wrong)  # type: ignore[arg-type]
    endless: dict[str, Any] = {}
    endless["again"] = endless
    for value in ({1, 2}, float("nan"), endless, "\ud800"):
        with pytest.raises(bp.FormatError, match="the origin is not JSON"):
            small.save(tmp_path, origin=value)  # type: ignore[arg-type]
    assert read(tmp_path)["origin"] == origin


def test_the_chat_template_beside_it(tmp_path: Path, small: bp.Tokenizer) -> None:
    config = tmp_path / "tokenizer_config.json"
    for template, spelled in (("{{ x }}é", "{{ x }}é"), ([{"name": "a", "template": "b"}],) * 2):
        config.write_text(json.dumps({"chat_template": template}), "utf-8")
        small.save(tmp_path)
        text = spelled if isinstance(spelled, str) else json.dumps(spelled)
        assert read(tmp_path)["chat_template"] == hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "chat_template.jinja").write_bytes(b"other")
    small.save(tmp_path)
    assert read(tmp_path)["chat_template"] == hashlib.sha256(b"other").hexdigest()
    (tmp_path / "chat_template.jinja").write_bytes(b"\xff")
    with pytest.raises(bp.FormatError, match="not UTF-8"):
        small.save(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    for broken, said in (("{", "not JSON"), ("[]", "not a JSON object"), ('{"chat_template": 1}', "neither a text")):
        config.write_text(broken)
        with pytest.raises(bp.FormatError, match=said):
            small.save(tmp_path)


@pytest.mark.parametrize("format_name", DROPS)
def test_every_flip_and_every_cut_is_seen(tmp_path: Path, small: bp.Tokenizer, format_name: str) -> None:
    *files, place = small.save(tmp_path, format_name, drop=DROPS[format_name])
    again = reload(tmp_path, format_name)
    assert probes.behaviour(again) == read(tmp_path)["behaviour"]["sha256"]
    damage = (bp.IntegrityError, bp.FormatError)
    # All bits of the manifest. These are what loading does first; the whole of it would take minutes.
    whole = place.read_bytes()
    assert manifest._parse(whole, place) == read(tmp_path)
    for bit in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(damage):
            manifest._parse(bytes(damaged), place)
    for end in range(len(whole)):
        with pytest.raises(damage):
            manifest._parse(whole[:end], place)
    # In the other files one bit of each byte, another one each time.
    for file in files:
        data = file.read_bytes()
        manifest.verify(file, data)
        for bit in range(0, len(data) * 8, 9):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            with pytest.raises(bp.IntegrityError):
                manifest.verify(file, bytes(flipped))
        for end in range(0, len(data), 1 if len(data) < 3000 else 7):
            with pytest.raises(bp.IntegrityError):
                manifest.verify(file, data[:end])
    # And some of all that by loading.
    random = Random(7)
    for file in (*files, place):
        data = file.read_bytes()
        for _ in range(20):
            damaged = bytearray(data)
            damaged[random.randrange(len(data))] ^= 1 << random.randrange(8)
            for bad in (bytes(damaged), data[: random.randrange(len(data))]):
                file.write_bytes(bad)
                with pytest.raises(damage):
                    reload(tmp_path, format_name)
        file.write_bytes(data)
    assert reload(tmp_path, format_name) == again


def test_old_manifests_load_and_damaged_ones_do_not(tmp_path: Path, small: bp.Tokenizer) -> None:
    small.save(tmp_path)
    keys = ("kind", "format", "fingerprint", "semantics", "tokens", "split", "normalizers", "special_tokens", "dropped")
    old = {key: read(tmp_path)[key] for key in (*keys, "files")}
    place = tmp_path / manifest.NAME
    place.write_text(json.dumps(old, indent=2) + "\n")
    assert bp.Tokenizer.from_file(tmp_path) == small
    for wrong in ({**old, "later": 1}, {**old, "files": []}, {key: old[key] for key in ("kind", "files")}):
        place.write_text(json.dumps(wrong))
        with pytest.raises(bp.IntegrityError, match=r"remove manifest\.json"):
            bp.Tokenizer.from_file(tmp_path)
        with pytest.raises(bp.IntegrityError):
            manifest.load(tmp_path)
    # Damaged files may be overwritten.
    small.save(tmp_path)
    assert bp.Tokenizer.from_file(tmp_path) == small


def test_what_a_later_version_says_is_kept(tmp_path: Path, small: bp.Tokenizer) -> None:
    small.save(tmp_path)
    table = read(tmp_path)
    del table["manifest_sha256"]
    table["later"] = {"x": 1}
    (tmp_path / manifest.NAME).write_bytes(manifest.seal(json.dumps(table, indent=2).encode()))
    loaded = manifest.load(tmp_path)
    assert loaded is not None
    assert loaded["later"] == {"x": 1}
    assert bp.Tokenizer.from_file(tmp_path) == small
    table["files"] = None
    (tmp_path / manifest.NAME).write_bytes(manifest.seal(json.dumps(table, indent=2).encode()))
    with pytest.raises(bp.IntegrityError):
        bp.Tokenizer.from_file(tmp_path)


def test_the_versions_of_unicode_are_true(small: bp.Tokenizer) -> None:
    versions = _core.UNICODE_VERSION
    assert set(versions) == {"split", "normalization", "categories", "scripts", "segmentation", "characters"}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    with pytest.raises(TypeError):
        versions["split"] = "1"  # type: ignore[index]
    major = {what: int(version.partition(".")[0]) for what, version in versions.items()}

    def with_split(split: str, **stages: Any) -> bp.Tokenizer:
        return bp.Tokenizer(small.spec.replace(split=(split,), **stages))

    # Split patterns: the letters of this version, and no age beyond it.
    assert versions["split"] == _core.unicode_version()
    assert with_split(r"\p{L}+|.").pieces("a\u1c89b") == ["a\u1c89b"]
    assert len(with_split(r"\p{L}+|.").pieces("a\ua7ceb")) == (3 if major["split"] < 17 else 1)
    # Normal forms: those of Python for what is as old as the tables; what is younger stays as it is.
    old = with_split(rf"\p{{age={major['normalization']}.0}}+|(?s:.)")
    points = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000 and code > 0x20]
    assigned = "".join(chr(code) for code in points if unicodedata.category(chr(code)) != "Cn")
    pieces = old.pieces(assigned)
    known = [letter for piece in pieces if len(piece) > 1 for letter in piece]
    young = [piece for piece in pieces if len(piece) == 1 and re.match(r"\w", piece)]
    assert len(known) > 250_000
    assert len(young) > 5_000
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        normal = with_split(".", normalizers=(form,))
        assert normal.decode(normal.encode("\n".join(known))) == unicodedata.normalize(form, "\n".join(known))
        assert normal.decode(normal.encode("\n".join(young))) == "\n".join(young)
    # Categories: punctuation that came with the version is punctuation, what came after it is not.
    model = WordPiece((b"[UNK]", b"a"), (0, 1))
    words = bp.Tokenizer(bp.TokenizerSpec(model, pre_tokenizers=("BertPreTokenizer",)))
    assert major["categories"] == 8
    assert len(words.pieces("a\U000111ddb")) == 3
    assert len(words.pieces("a\U0001144bb")) == 1
    # Scripts: letters that came with the version have one, those that came after it are of any.
    words = bp.Tokenizer(bp.TokenizerSpec(model, pre_tokenizers=("UnicodeScripts",)))
    assert major["scripts"] == 9
    assert len(words.pieces("a\U0001e900")) == 2
    assert len(words.pieces("a\U00010f00")) == 1


def test_behaviour_is_what_the_probes_show(tok: bp.Tokenizer) -> None:
    same = bp.Tokenizer(tok.spec)
    assert probes.behaviour(same) == probes.behaviour(tok)
    others = [
        tok.spec.replace(split=()),
        tok.spec.replace(normalizers=("NFC",)),
        tok.spec.replace(prefix_space=True),
        tok.spec.replace(added_tokens=(bp.AddedToken("</s>", 3000, special=False),)),
        tok.spec.replace(added_tokens=(bp.AddedToken("</s>", 3000),)),
        tok.spec.replace(model=replace(tok.spec.byte_pair, merges=(tok.spec.byte_pair.merges or ())[:100])),
    ]
    hashes = [probes.behaviour(bp.Tokenizer(spec)) for spec in others]
    assert len({*hashes, probes.behaviour(tok)}) == len(others) + 1
    assert len(probes.TEXTS) == len(set(probes.TEXTS)) > 150
    partial = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a", b"b"), (0, 1), partial_alphabet=True)))
    assert probes.behaviour(partial) != probes.behaviour(tok)
