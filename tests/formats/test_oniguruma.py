"""Regular expressions as Oniguruma means them, beside ``tokenizers``: a proof by exhaustion over classes.

A pattern tells characters apart only by the classes that it is made of. So it splits every text alike in both engines
up to a length, if each class has the same characters in both, and all strings over one character for each combination
of classes are split alike. ``BYTEPAIR_WHOLE=1`` compares all characters of Unicode, and longer strings.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair import _core, lowlevel
from bytepair.formats.gguf_patterns import PATTERNS as OF_GGUF
from bytepair.formats.oniguruma import as_pieces, portable, shared
from bytepair.model import byte_alphabet
from bytepair.model.models import WordLevel
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = bool(os.environ.get("BYTEPAIR_WHOLE"))
STRINGS = 200_000 if WHOLE else 1_500
# One of each class that the constructs tell apart: letters with and without folds, a digit of Latin-1, marks, joiners,
# line ends.
CHARACTERS = "aZs1²_- \n\r中ßſ\u0345\u200d."
CONSTRUCTS = [
    *[r"\w+|[^\w\s]+", r"\W+", r"[^\W1]+|a", r"[[:punct:]]", r"[[:^alpha:]a]+", r"[[:graph:]]+", r"[[:print:]]+"],
    *[r"\h+|\H", r"\ba", r"\Ba", r"^\s+|\s+$", r"s$", r"\s+\Z", r"[\u4e00-\u9fff]", r"\u4e00", r"\x41|\e|\x61"],
    *["(?i)as", "a(?i)s|z", "(?i:k|s)", r"(?i)\w+", r"(?i)\W+", r"(?i:\bs)", "(?i)[a-z]+", "(?-i:a)", r"(?i)\s+|^s"],
    *["a?+s", "(?>s+|a)1", "a++", "a{,1}s", "(?<n>a)Z", r"(?m:.)\s", "[^[^a]\\s]", "]|}", r"[\s-]+|\w", ".+?s|-"],
    *[
        "(?i)abc",
        "a{2}?s",
        r"\w{1,2}+Z|-{,2}*s",
        r"(?>a|ab)c",
        r"a*+b|c",
        r"(?<=\s)\w|(?<!a)b",
        r"\b\d+\b",
        r"[[:alnum:]_]+|[[:space:]]",
        r"(?!a)\w+",
    ],
]
_CONTRACTIONS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
# Patterns of published tokenizer.json files that have no name here.
PUBLISHED = [
    *[r" ?[^(\s|[.,!?…。，、।۔،])]+", " {2,}", r"\s+", r"[\r\n]", r"\n", r"[^\n]+|[\n]+", r"\s?\p{L}+", r"\s?\p{P}+"],
    *[r"[0-9][0-9][0-9]", r"[0-9]", r"\d", r"\p{N}{1}", r"(?:\r?\n)+(?!\r?\n)", r"\s{2,}|[\n\r\t]", r"\S+", "[一-龥]+"],
    *["[ \t]+$", r"^[ ]+|[ ]+$", r"(?<=\d)(?=(?:\d{3})+\b)", r"\d{1,3}(?=(?:\d{3})*\b)", r"(?=(\d{3})+(?!\d))"],
    r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s",
    r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$|\%[0-9]{2}|[0-9])",
]
PATTERNS = [*CONSTRUCTS, *PUBLISHED, *sorted({one for patterns in OF_GGUF.values() for one in patterns})]
CLASSES = [r"\w", r"\W", r"[\w]", r"[[:punct:]]", r"[[:graph:]]", r"[[:word:]]", r"[[:alnum:]]", r"[[:lower:]]", r"\s"]

_NO_CLASS = re.compile(r"\(\?(?:<?[=!>:]|<\w+>|-?[im]+[:)])|(?<!\\x)\{\d*,?\d*\}|\\[AzZG]")
_CLASS = re.compile(
    r"\\[pP]\{\^?\w+\}|\\u[0-9A-Fa-f]{4}|\\x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|\\.|\[\^?\]?(?:\\.|\[(?:\\.|[^\]])*\]|[^\]])*\]"
    r"|[^()|?*+]",
    re.DOTALL,
)


def splitting(pattern: str) -> bp.Tokenizer:
    """A tokenizer that only splits, by the step or by the pattern itself."""
    step = spell_step({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
    spec = bp.TokenizerSpec(model=WordLevel((b"a",), (0,), "a"), pre_tokenizers=(step,))
    return bp.Tokenizer(spec)


def classes(pattern: str) -> set[str]:
    """The classes of a pattern: escapes, bracket expressions and single characters, without case where it may be."""
    found = set(_CLASS.findall(_NO_CLASS.sub("", pattern)))
    made = {{"^": r"\n", "$": r"\n", ".": r"\n", r"\b": r"\w", r"\B": r"\w"}.get(one, one) for one in found}
    # Escapes and brackets under (?i) are read with case as well: `portable` refuses those that differ.
    return made | ({f"(?i:{one})" for one in made if len(one) == 1} if "(?i" in pattern else set())


@functools.cache
def characters() -> str:
    """All characters, or all up to U+3100 and some beyond; without those that are younger than the library's tables."""
    tokenizers = pytest.importorskip("tokenizers")
    step = 1 if WHOLE else 97
    codes = [*range(0x3100), *range(0x3100, 0x110000, step)]
    young = tokenizers.normalizers.Replace(tokenizers.Regex(r"\p{Cn}"), "")
    text = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
    return "".join(young.normalize_str(text[start : start + (1 << 14)]) for start in range(0, len(text), 1 << 14))


@functools.cache
def members(pattern: str) -> frozenset[str]:
    """The characters of a class, the same in both engines."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), "")
    mine = spell_step({"type": "Replace", "pattern": {"Regex": portable(pattern, None)}, "content": ""})
    found: set[str] = set()
    for start in range(0, len(characters()), 1 << 14):
        part = characters()[start : start + (1 << 14)]
        kept = theirs.normalize_str(part)
        assert _core.normalize([mine], part) == kept, pattern
        found |= set(part) - set(kept)
    return frozenset(found)


def representatives(pattern: str) -> list[str]:
    """One character for each combination of classes of a pattern."""
    sets = [members(one) for one in sorted(classes(pattern))]
    first: dict[tuple[bool, ...], str] = {}
    for character in characters():
        first.setdefault(tuple(character in one for one in sets), character)
    return list(first.values())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_strings_are_split_as_tokenizers_splits_them(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    spelled = portable(pattern, "/pre_tokenizer")
    # What is written is read as it is, by both.
    assert portable(spelled, "/pre_tokenizer") == spelled
    theirs, again = (tokenizers.pre_tokenizers.Split(tokenizers.Regex(one), "isolated") for one in (pattern, spelled))
    ways = [splitting(one).pieces for one in dict.fromkeys((spelled, as_pieces(spelled))) if one is not None]

    def compare(text: str) -> None:
        expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
        assert [piece for piece, _ in again.pre_tokenize_str(text)] == expected, (pattern, spelled, text)
        for way in ways:
            assert list(way(text)) == expected, (pattern, spelled, text)

    alphabet = representatives(pattern)
    longest = max(length for length in range(1, 8) if len(alphabet) ** length <= STRINGS)
    for length in range(longest + 1):
        for letters in itertools.product(alphabet, repeat=length):
            compare("".join(letters))
    for letters in itertools.product(CHARACTERS, repeat=2):
        compare("".join(letters))
    chance = random.Random(pattern)
    for _ in range(STRINGS // 10):
        compare("".join(chance.choices(alphabet, k=chance.randrange(longest, 14))))


@pytest.mark.parametrize("pattern", CLASSES if WHOLE else CLASSES[:4])
def test_every_character_is_in_the_class_that_it_is_in_there(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    # Characters that are younger than the library's tables are not assigned there.
    theirs, young = (tokenizers.normalizers.Replace(tokenizers.Regex(one), "") for one in (pattern, r"\p{Cn}"))
    mine = spell_step({"type": "Replace", "pattern": {"Regex": portable(pattern, None)}, "content": ""})
    for start in range(0, len(everything), 1 << 16):
        text = young.normalize_str("".join(everything[start : start + (1 << 16)]))
        assert _core.normalize([mine], text) == theirs.normalize_str(text)


NOTHING: list[dict[str, str]] = [
    *({"Regex": one} for one in (r"(?=(\d{3})+(?!\d))", "(?<=a)", "(?<![a1])", "(?!b)", r"(?=[)])(?=\))", r"\b")),
    *({"Regex": one} for one in ("[0-9]*", "a?", "a|", "(?:)", "a*|b", "(?=a)|1", r"(?=a(?=\)))")),
    {"String": ""},
]


@pytest.mark.parametrize("pattern", NOTHING, ids=str)
def test_patterns_that_match_nothing_cut_there(pattern: dict[str, str], tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocab = {byte_alphabet.to_characters(bytes([byte])): byte for byte in range(256)}
    merges = [["1", "1"], ["a", "a"], ["1", "a"], ["aa", "a"], ["Ã", "©"], ["b", "Ã©"]]
    vocab |= {"".join(pair): 256 + row for row, pair in enumerate(merges)}
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    cut: dict[str, Any] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    table = {
        "version": "1.0",
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [cut, last]},
        "decoder": last,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(table))
    tok, peer = bp.Tokenizer.from_file(file), tokenizers.Tokenizer.from_file(str(file))
    again = bp.Tokenizer.from_file(tok.save(tmp_path / "native", "native")[0])
    assert again == tok
    written = tok.save(tmp_path / "json")[0]
    reloaded = tokenizers.Tokenizer.from_file(str(written))
    for length in range(6):
        for letters in itertools.product("a1bé)" if length < 4 else "a1)", repeat=length):
            text = "".join(letters)
            expected = peer.encode(text)
            assert tok.encode(text) == expected.ids == reloaded.encode(text).ids, text
            assert tok.count(text) == len(expected.ids)
            assert lowlevel.locate(tok, text)[1] == expected.offsets


def test_a_pattern_that_means_something_else_is_not_written() -> None:
    for pattern in (r"\w+", "a$", "(?i)a", r"\bx"):
        with pytest.raises(bp.FormatError, match="means something else"):
            shared(pattern)
    for pattern in ("a*", "(?=a)"):
        with pytest.raises(bp.FormatError, match="can match nothing"):
            shared(pattern)


def test_what_is_refused_is_quoted_whole() -> None:
    pattern = r"\p{L}+|(?<x>a{2}??)|\p{N}"
    with pytest.raises(bp.FormatError) as caught:
        portable(pattern, "/pre_tokenizer/pretokenizers/0/pattern/Regex")
    assert repr(pattern) in caught.value.what
    assert "pre_tokenizer" in caught.value.what
    assert "'{2}?" in caught.value.what
