"""The names of two files that belong together: those of GPT-2 as it came out, and of `tokenizers` with a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import codes, detection
from tests.formats.test_rwkv import TOKENS, text_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("names", [("encoder.json", "vocab.bpe"), ("mine-vocab.json", "mine-merges.txt")])
def test_a_vocabulary_and_merges_have_other_names_too(tmp_path: Path, names: tuple[str, str]) -> None:
    tok = bp.train({"low": 5}, 258, split="gpt2")
    tok.save(tmp_path / "usual", "vocab+merges")
    vocabulary, merges = ((tmp_path / "usual" / name).read_bytes() for name in ("vocab.json", "merges.txt"))
    (tmp_path / names[0]).write_bytes(vocabulary)
    with pytest.raises(bp.ArtifactError, match=names[1]):
        bp.load(tmp_path / names[0])
    (tmp_path / names[1]).write_bytes(merges)
    assert all(bp.load(path) == tok for path in (tmp_path, *(tmp_path / name for name in names)))
    # Those of another tokenizer beside them do not count.
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    assert bp.load(tmp_path / names[0]) == tok
    # The usual name does if the other is not there.
    (tmp_path / names[1]).unlink()
    (tmp_path / "merges.txt").write_bytes(merges)
    assert bp.load(tmp_path / names[0]) == tok


def test_a_vocabulary_of_rwkv_is_no_list_of_codes(tmp_path: Path) -> None:
    data = text_of([*TOKENS, b"</w>"]).encode()
    assert codes.looks_like(data)
    (tmp_path / "any.txt").write_bytes(data)
    assert detection.detect(tmp_path / "any.txt").format == "rwkv"
    (tmp_path / "any.txt").write_bytes(b"1 'a' 12\nl o</w> 3\n")
    assert detection.detect(tmp_path / "any.txt").format == "codes"
