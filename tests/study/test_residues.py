"""Tokens that text hardly uses, and pruning by such a list."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

import bytepair as bp
from bytepair.cli import main
from tests.test_extend import merges_of, random_counts, random_tokenizer
from tests.test_prune import check

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")

TEXTS = ["low lower lowest", "newest new widest", "Löwe, wild"]


def made() -> dict[str, bp.Tokenizer]:
    text = " ".join(TEXTS) + " "
    return {
        "merges": bp.train({"low": 5, "lower": 2, "newest": 4}, 280, special_tokens=["<s>"], min_frequency=1),
        "wordpiece": bp.train_wordpiece(iter([text * 9]), 60),
        "unigram": bp.train_unigram(iter([text * 9]), 24),
    }


@pytest.mark.parametrize("kind", ["merges", "wordpiece", "unigram"])
@pytest.mark.parametrize("most", [0, 1, 3])
def test_uses_are_those_of_encode(kind: str, most: int) -> None:
    tok = made()[kind]
    uses = Counter(id for text in TEXTS for id in tok.encode(text))
    found = bp.residues(tok, iter(TEXTS), most_uses=most)
    assert found.text_tokens == uses.total()
    assert found.ids == sorted(found.ids, key=lambda id: (uses[id], id))
    left_out = {token.id for token in tok.spec.added_tokens} | set(tok.special_tokens.values())
    for id, token in zip(tok.spec.model.ids, tok.spec.model.tokens, strict=True):
        if id in left_out or len(token) == 1 or id == tok.unk_token_id:
            assert id not in found.ids
        elif len(token) > 4:
            assert (id in found.ids) == (uses[id] <= most), token
    needed = Counter(part for pair in tok.spec.byte_pair.merges or () for part in pair) if kind == "merges" else None
    for row in found.tokens:
        assert (row.uses, row.needed_by) == (uses[row.id], None if needed is None else needed[row.id])
    assert found.uses == sum(uses[id] for id in found.ids)
    assert f"{len(found.tokens)} of {len(tok)} tokens" in str(found)


def remove_slowly(tok: bp.Tokenizer, listed: set[bytes]) -> set[bytes]:
    """Listed tokens that no remaining token is made of, found again and again."""
    gone: set[bytes] = set()
    while True:
        needed = {part for pair in merges_of(tok) if b"".join(pair) not in gone for part in pair}
        more = listed - needed - gone
        if not more:
            return gone
        gone |= more


def test_random_lists_are_pruned_as_by_looking_at_all() -> None:
    random = Random(3)
    for _ in range(150):
        tok = random_tokenizer(random)
        if tok.spec.byte_pair.merges is None:
            continue
        added = {token.content.encode() for token in tok.spec.added_tokens}
        longer = [token for token in tok.spec.byte_pair.tokens if len(token) > 1 and token not in added]
        listed = set(random.sample(longer, random.randint(0, len(longer))))
        ids = [tok.spec.byte_pair.ids[tok.spec.byte_pair.tokens.index(token)] for token in listed]
        gone = remove_slowly(tok, listed)
        check(tok, bp.prune(tok, remove=ids), gone)
        small, kept = bp.prune(tok, remove=ids, keep_ids=True)
        assert {id for id, new in enumerate(kept.tolist()) if new >= 0} <= {*range(tok.vocab_size)}
        assert all(new in (-1, id) for id, new in enumerate(kept.tolist()))
        # The ids of a text are the same but for tokens that are gone.
        dense, moved = bp.prune(tok, remove=ids)
        for piece in random_counts(random):
            old = small.encode(piece, added="text", special="text")
            assert moved[np.array(old, np.int64)].tolist() == dense.encode(piece, added="text", special="text")


def test_lists_that_cannot_be_are_refused() -> None:
    tok = made()["merges"]
    with pytest.raises(TypeError, match="vocab_size, or remove"):
        bp.prune(tok)
    with pytest.raises(TypeError, match="vocab_size, or remove"):
        bp.prune(tok, 260, remove=[])
    with pytest.raises(bp.TrainingError, match="is a single byte"):
        bp.prune(tok, remove=[97])
    with pytest.raises(bp.TrainingError, match="is an added token"):
        bp.prune(tok, remove=[tok.special_tokens["<s>"]])
    with pytest.raises(bp.BytepairError, match="5000"):
        bp.prune(tok, remove=[5000])
    with pytest.raises(bp.SourceError, match="needs no source"):
        bp.prune(tok, source={"low": 1}, remove=[])
    with pytest.raises(ValueError, match="negative"):
        bp.residues(tok, iter([""]), most_uses=-1)


def test_the_command_line_removes_residues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = made()["merges"]
    tok.save(tmp_path / "model")
    (tmp_path / "text.txt").write_text("low newest")
    arguments = ["prune", "-m", str(tmp_path / "model"), str(tmp_path / "text.txt"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--most-uses", "0", "--keep-ids"]) == 0
    assert "tokens of the text" in capsys.readouterr().err
    small = bp.load(tmp_path / "out")
    assert len(small) < len(tok)
    assert small.encode("low newest") == tok.encode("low newest")
    for wrong in ([], ["--most-uses", "0", "--vocab-size", "260"]):
        with pytest.raises(SystemExit):
            main([*arguments, *wrong])
