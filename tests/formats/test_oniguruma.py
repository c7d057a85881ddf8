"""Regular expressions as Oniguruma means them, beside ``tokenizers`` on all short strings and on every character."""

from __future__ import annotations

import itertools
import os

import pytest

import bytepair as bp
from bytepair import _core
from bytepair.formats.oniguruma import portable, shared
from bytepair.model.steps import spell_step

WHOLE = bool(os.environ.get("BYTEPAIR_WHOLE"))
# One of each class that the constructs tell apart: letters with and without folds, a digit of Latin-1, marks, joiners,
# line ends.
CHARACTERS = "aZs1²_- \n\r中ßſ\u0345\u200d."
PATTERNS = [
    *[r"\w+|[^\w\s]+", r"\W+", r"[^\W1]+|a", r"[[:punct:]]", r"[[:^alpha:]a]+", r"[[:graph:]]+", r"[[:print:]]+"],
    *[r"\h+|\H", r"\ba", r"\Ba", r"^\s+|\s+$", r"s$", r"\s+\Z", r"[\u4e00-\u9fff]", r"\u4e00", r"\x41|\e|\x61"],
    *["(?i)as", "a(?i)s|z", "(?i:k|s)", r"(?i)\w+", r"(?i)\W+", r"(?i:\bs)", "(?i)[a-z]+", "(?-i:a)", r"(?i)\s+|^s"],
    *["a?+s", "(?>s+|a)1", "a++", "a{,1}s", "(?<n>a)Z", r"(?m:.)\s", "[^[^a]\\s]", "]|}", r"[\s-]+|\w", ".+?s|-"],
]
CLASSES = [r"\w", r"\W", r"[\w]", r"[[:punct:]]", r"[[:graph:]]", r"[[:word:]]", r"[[:alnum:]]", r"[[:lower:]]", r"\s"]


def split(pattern: str) -> str:
    return spell_step({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_strings_are_split_as_tokenizers_splits_them(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    spelled = portable(pattern, "/pre_tokenizer")
    # What is written is read as it is, by both.
    assert portable(spelled, "/pre_tokenizer") == spelled == shared(spelled)
    theirs, again = (tokenizers.pre_tokenizers.Split(tokenizers.Regex(one), "isolated") for one in (pattern, spelled))
    step = split(spelled)
    for length in range(5 if WHOLE else 3):
        for letters in itertools.product(CHARACTERS, repeat=length):
            text = "".join(letters)
            pieces = [piece for piece, _ in _core.pre_tokenize([step], text)]
            for library in (theirs, again):
                assert pieces == [piece for piece, _ in library.pre_tokenize_str(text)], (pattern, spelled, text)


@pytest.mark.parametrize("pattern", CLASSES if WHOLE else CLASSES[:4])
def test_every_character_is_in_the_class_that_it_is_in_there(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    # Characters that are younger than the library's tables are not assigned there.
    theirs, young = (tokenizers.normalizers.Replace(tokenizers.Regex(one), "") for one in (pattern, r"\p{Cn}"))
    mine = spell_step({"type": "Replace", "pattern": {"Regex": portable(pattern, None)}, "content": ""})
    for start in range(0, len(characters), 1 << 16):
        text = young.normalize_str("".join(characters[start : start + (1 << 16)]))
        assert _core.normalize([mine], text) == theirs.normalize_str(text)


def test_a_pattern_that_means_something_else_is_not_written() -> None:
    for pattern in (r"\w+", "a$", "(?i)a", r"\bx"):
        with pytest.raises(bp.FormatError, match="means something else"):
            shared(pattern)


def test_what_is_refused_is_quoted_whole() -> None:
    pattern = r"\p{L}+|(?<x>a{2}?)|\p{N}"
    with pytest.raises(bp.FormatError) as caught:
        portable(pattern, "/pre_tokenizer/pretokenizers/0/pattern/Regex")
    assert repr(pattern) in caught.value.what
    assert "pre_tokenizer" in caught.value.what
    assert "'{2}?" in caught.value.what
