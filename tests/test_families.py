"""Every family of tokenizers, where its file is there, against the library that the file was made for."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest
import tokenizers
from benchmarks.families import FAMILIES, PEERS, Family, Row, as_misread, compare
from fuzz.hostile import hostile_text

import bytepair as bp
from tests.test_data import WHOLE, texts

pytestmark = pytest.mark.data

CHARACTERS = None if WHOLE else 20_000
HOSTILE = 2_000_000 if WHOLE else 20_000


def unpacked(family: Family, data: Path, folder: Path) -> Path:
    packed = (data / "vocabs" / family.file).read_bytes()
    file = folder / ("tokenizer.model" if family.origin == "sentencepiece" else "tokenizer.json")
    file.write_bytes(lzma.decompress(packed) if family.file.endswith(".xz") else packed)
    return file


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_gives_what_its_library_gives(data: Path, tmp_path: Path, family: Family) -> None:
    file = unpacked(family, data, tmp_path)
    tok, peer, row = bp.Tokenizer.from_file(file), PEERS[family.origin](file), Row(family)
    misreading = as_misread(tok, peer)
    for text in texts(data).values():
        compare(row, tok, peer, text[:CHARACTERS], misreading)
    chance, contents = random.Random(family.name), [token.content for token in tok.spec.added_tokens]
    while row.hostile < HOSTILE:
        text = hostile_text(chance, chance.choice([1, 3, 30]), contents)
        row.hostile += len(text)
        compare(row, tok, peer, text, misreading)
    assert not row.differences, row.first


@pytest.mark.parametrize(
    "family", [family for family in FAMILIES if family.origin == "tokenizers"], ids=lambda family: family.name
)
def test_a_family_survives_saving(data: Path, tmp_path: Path, family: Family) -> None:
    file = unpacked(family, data, tmp_path)
    tok = bp.Tokenizer.from_file(file)
    assert bp.Tokenizer.from_file(tok.save(tmp_path / "native", "native")[0]) == tok
    saved = tok.save(tmp_path / "again")[0]
    assert bp.Tokenizer.from_file(saved) == tok
    ours, theirs = (tokenizers.Tokenizer.from_file(str(path)) for path in (saved, file))
    chance = random.Random(family.name)
    for text in [*(text[:2000] for text in texts(data).values()), *(hostile_text(chance, 20) for _ in range(200))]:
        assert ours.encode(text).ids == theirs.encode(text).ids


def test_what_dropout_and_sampling_give_is_an_encoding_of_the_text(data: Path, tmp_path: Path) -> None:
    for name, alpha in (("Llama 2", 0.3), ("T5", 0.5), ("GPT-2", 0.3), ("CLIP", 0.3)):
        family = next(family for family in FAMILIES if family.name == name)
        tok = bp.Tokenizer.from_file(unpacked(family, data, tmp_path))
        text = "the tokenization of unbelievable words, again and again"
        drawn = tok.sample(text, 8, alpha, seed=3)
        assert drawn == tok.sample(text, 8, alpha, seed=3)
        assert len({tuple(ids) for ids in drawn}) > 1
        assert {tok.decode(ids) for ids in drawn} == {tok.decode(tok.encode(text))}


def test_a_model_without_merges_has_no_dropout(data: Path, tmp_path: Path) -> None:
    family = next(family for family in FAMILIES if family.name == "BERT")
    tok = bp.Tokenizer.from_file(unpacked(family, data, tmp_path))
    with pytest.raises(bp.EncodeError, match="no merges to drop"):
        tok.encode("words", dropout=0.1, seed=1)
