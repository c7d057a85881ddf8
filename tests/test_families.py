"""Every family of tokenizers, if its file is present, against the library that the file was made for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest
import tokenizers
from benchmarks.families import FAMILIES, PEERS, Family, Peer, Row, Tokenizers, compare, unpacked
from fuzz.hostile import hostile_text

import bytepair as bp
from tests.conftest import WHOLE
from tests.test_data import texts

pytestmark = pytest.mark.data

CHARACTERS = None if WHOLE else 10_000
HOSTILE = 2_000_000 if WHOLE else 10_000


class Loaded(NamedTuple):
    """A family, loaded once by both libraries for all of its tests."""

    family: Family
    file: Path
    tok: bp.Tokenizer
    peer: Peer


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
def loaded(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    file = unpacked(request.param.file, data, tmp_path_factory.mktemp("family"))
    return Loaded(request.param, file, bp.Tokenizer.from_file(file), PEERS[request.param.origin](file))


def test_a_family_gives_what_its_library_gives(loaded: Loaded, data: Path) -> None:
    family, _, tok, peer = loaded
    row = Row(family)
    for text in texts(data).values():
        compare(row, tok, peer, text[:CHARACTERS])
    chance, contents = random.Random(family.name), [token.content for token in tok.spec.added_tokens]
    while row.hostile < HOSTILE:
        text = hostile_text(chance, chance.choice([1, 3, 30]), contents)
        row.hostile += len(text)
        compare(row, tok, peer, text)
    assert not row.differences, row.first


def test_a_family_survives_saving(loaded: Loaded, data: Path, tmp_path: Path) -> None:
    family, _, tok, peer = loaded
    assert bp.Tokenizer.from_file(tok.save(tmp_path / "native", "native")[0]) == tok
    if not isinstance(peer, Tokenizers):
        return
    saved = tok.save(tmp_path / "again")[0]
    assert bp.Tokenizer.from_file(saved) == tok
    again = tokenizers.Tokenizer.from_file(str(saved))
    chance = random.Random(family.name)
    real = [text[:CHARACTERS] for text in texts(data).values()]
    assert (again.truncation, again.padding) == peer.limits
    again.no_truncation()
    again.no_padding()
    bare, peer.inner.post_processor = peer.inner.post_processor, peer.post_processor
    for text in [*real, *(hostile_text(chance, 20) for _ in range(200))]:
        assert again.encode(text).ids == peer.inner.encode(text).ids
    peer.inner.post_processor = bare


def test_what_dropout_and_sampling_give_is_an_encoding_of_the_text(data: Path, tmp_path: Path) -> None:
    for name, alpha in (("Llama 2", 0.3), ("T5", 0.5), ("GPT-2", 0.3), ("CLIP", 0.3)):
        family = next(family for family in FAMILIES if family.name == name)
        tok = bp.Tokenizer.from_file(unpacked(family.file, data, tmp_path))
        text = "the tokenization of unbelievable words, again and again"
        drawn = tok.sample(text, 8, alpha, seed=3)
        assert drawn == tok.sample(text, 8, alpha, seed=3)
        assert len({tuple(ids) for ids in drawn}) > 1
        assert {tok.decode(ids) for ids in drawn} == {tok.decode(tok.encode(text))}


def test_a_model_without_merges_has_no_dropout(data: Path, tmp_path: Path) -> None:
    family = next(family for family in FAMILIES if family.name == "BERT")
    tok = bp.Tokenizer.from_file(unpacked(family.file, data, tmp_path))
    with pytest.raises(bp.EncodeError, match="no merges to drop"):
        tok.encode("words", dropout=0.1, seed=1)
