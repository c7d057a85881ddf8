"""ESM's ``vocab.txt``: the longest token that begins at a place, and one unknown token between two of them."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LETTERS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
BASES = ["<unk>", "<pad>", "<mask>", "<cls>", "<eos>", *("".join(six) for six in product("ATCG", repeat=6)), *"ATCGN"]
SPECIAL = ("<cls>", "<pad>", "<eos>", "<unk>", "<mask>")


def folder(place: Path, tokens: Sequence[str], config: dict[str, Any] | None = None) -> Path:
    (place / "vocab.txt").write_text("\n".join(tokens))
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmTokenizer", **(config or {})}))
    return place


def by_hand(tokens: Sequence[str], text: str) -> list[int]:
    """The ids, from one place to the next."""
    ids = {token: id for id, token in enumerate(tokens) if token not in SPECIAL}
    found: list[int] = []
    place, is_unknown = 0, False
    while place < len(text):
        token = next((text[place:end] for end in range(place + 8, place, -1) if text[place:end] in ids), None)
        if token is not None:
            found.append(ids[token])
        elif not text[place].isspace() and not is_unknown:
            found.append(tokens.index("<unk>"))
        is_unknown = token is None and not text[place].isspace()
        place += len(token or " ")
    return found


@pytest.mark.parametrize(
    "tokens", [LETTERS, BASES, [*SPECIAL, "ab", "abab", "b", "cab", "<null_1>", "^", "]", "\\", "#&~"]]
)
def test_the_ids_are_those_found_by_hand(tmp_path: Path, tokens: list[str]) -> None:
    tok = bp.load(folder(tmp_path, tokens))
    seed = random.randrange(1 << 30)
    chosen = random.Random(seed)
    plain = [token for token in tokens if token not in SPECIAL]
    for _ in range(300):
        parts = [chosen.choice([*plain, "<null_", "<", "é", "日", " ", "\x1c", "\u3000", "\n", "x"]) for _ in range(9)]
        text = "".join(parts)
        assert tok.encode(text) == by_hand(tokens, text), (seed, text)
    assert tok.encode("<cls>", special="text") == [tokens.index("<unk>")]
    assert bp.load(tmp_path / "vocab.txt").spec == tok.spec
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec


def test_a_text_stands_between_two_tokens(tmp_path: Path) -> None:
    tok = bp.load(folder(tmp_path, LETTERS))
    assert tok("MK")["input_ids"] == [0, 20, 15, 2]
    assert tok("MK", "L")["input_ids"] == [0, 20, 15, 2, 4, 2]
    assert tok("M<mask>K", special="allow")["input_ids"] == [0, 20, 32, 15, 2]
    assert tok.decode([20, 15]) == "M K"
    assert tok.spec.roles == (
        ("unk", "<unk>"),
        ("cls", "<cls>"),
        ("pad", "<pad>"),
        ("mask", "<mask>"),
        ("eos", "<eos>"),
    )
    assert bp.load(folder(tmp_path, LETTERS, {"cls_token": None, "unk_token": None})).spec == tok.spec
    # Nucleotide models say that there is no end.
    tok = bp.load(folder(tmp_path, BASES, {"eos_token": None}))
    assert tok("ATTCCGN")["input_ids"] == [3, *by_hand(BASES, "ATTCCGN")]


def test_a_broken_vocabulary_is_refused(tmp_path: Path) -> None:
    for tokens, what, line in (
        ([*LETTERS, "a b"], "'a b' has white space", 34),
        ([*LETTERS, "a" * 65], "has more than 64 characters", 34),
        (LETTERS[:-1], "the vocabulary has no <mask>", None),
    ):
        with pytest.raises(bp.FormatError, match=what) as caught:
            bp.load(folder(tmp_path, [*tokens, "[UNK]"]))
        assert (caught.value.line, caught.value.file) == (line, str(tmp_path / "vocab.txt"))
    long = ["".join(random.Random(at).choices("ACGT", k=60)) for at in range(400)]
    with pytest.raises(bp.PatternError, match="the split pattern has"):
        bp.load(folder(tmp_path, [*LETTERS, *long]))
    # Alone, they are no tokens.
    assert bp.load(folder(tmp_path, SPECIAL)).encode("ab c") == [3, 3]
