"""CLIP's list of merges: its numbers are those of the published files; refused files."""

from __future__ import annotations

import gzip
from itertools import islice, product
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair.formats import clip
from bytepair.model.byte_alphabet import to_characters

if TYPE_CHECKING:
    from pathlib import Path

MERGES = 48_894
ALPHABET = sorted(to_characters(bytes(range(256))))


def listed(first: list[str], count: int = MERGES + 10) -> bytes:
    """The list: these merges, then pairs of bytes, more than CLIP takes."""
    more = (f"{one} {other}" for one, other in product(reversed(ALPHABET), ALPHABET))
    others = (merge for merge in more if merge not in first)
    merges = [*first, *islice(others, count - len(first))]
    return "\n".join(['"bpe_simple_vocab_16e6.txt#version: 0.2', *merges, ""]).encode()


def test_tokens_are_numbered_as_published(tmp_path: Path) -> None:
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    path.write_bytes(listed(["l o", "lo w</w>"]))
    tok = bp.load(path)
    assert tok == bp.load(tmp_path)
    assert [tok.token_id(name) for name in ("!", "!</w>", "lo", "low</w>")] == [0, 256, 512, 513]
    assert tok.special_tokens == {"<|startoftext|>": 49406, "<|endoftext|>": 49407}
    assert tok.vocab_size == 49408
    assert tok.encode("  LOW\n low") == [513, 513]
    assert tok("low")["input_ids"] == [49406, 513, 49407]
    assert tok.save(tmp_path / "saved")[0].name == "tokenizer.json"
    assert bp.load(tmp_path / "saved").encode("slow lo") == tok.encode("slow lo")


def test_the_list_may_be_compressed(tmp_path: Path) -> None:
    plain, path = tmp_path / "bpe_simple_vocab_16e6.txt", tmp_path / "bpe_simple_vocab_16e6.txt.gz"
    plain.write_bytes(listed(["l o", "lo w</w>"]))
    packed = gzip.compress(plain.read_bytes())
    path.write_bytes(packed)
    assert bp.load(path) == bp.load(plain)
    for cut in (packed[:-1], packed[:-9], packed[: len(packed) // 2]):
        path.write_bytes(cut)
        with pytest.raises(bp.FormatError, match="is cut off"):
            bp.load(path)
    path.write_bytes(packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:])
    with pytest.raises(bp.FormatError, match="is damaged"):
        bp.load(path)
    path.write_bytes(gzip.compress(plain.read_bytes() + bytes(65 << 20)))
    with pytest.raises(bp.FormatError, match="larger than 64 MB"):
        bp.load(path)
    for other in (gzip.compress(b"text"), packed[:9], b"\x1f\x8bx"):
        path.write_bytes(other)
        with pytest.raises(bp.FormatError, match="compressed by gzip"):
            bp.load(path)


def test_broken_lists_are_refused() -> None:
    with pytest.raises(bp.FormatError, match="the list has 100 merges, not 48894"):
        clip.read(listed([], 100)[:-1])
    with pytest.raises(bp.FormatError, match="is not UTF-8"):
        clip.read(listed(["l o"]).replace(b"l o", b"\xff o"))
    with pytest.raises(bp.FormatError, match="lol"):
        clip.read(listed(["lol o"]))
