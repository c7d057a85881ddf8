"""The text stages against `tokenizers`: texts, pieces, offsets and decoded tokens, of each step and of sequences."""

from __future__ import annotations

import base64
import functools
import json
import random
import struct
from typing import TYPE_CHECKING, Any

import pytest

from bytepair import errors
from bytepair._core import decode_tokens, normalize, pre_tokenize
from tests.conftest import WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

tokenizers = pytest.importorskip("tokenizers")

TEXTS = 5000 if WHOLE else 500

# A few of each class that some step tells apart.
CLASSES: dict[str, tuple[str, ...]] = {
    "words": ("Hello", "don't", "WORLD", "a", "Z", "_", "x1", "The"),
    "latin": ("é", "É", "ß", "ǅ", "İ", "ı", "ſ", "ﬁ", "Å", "\u212b", "ạ̈", "ʰ", "ª", "ẞ", "\u1e9b\u0323"),
    "greek": ("Σ", "ς", "ΐ", "ᾳ", "Ἀ", "\u1f80", "\u03d3"),
    "cyrillic": ("Ж", "й", "Ѐ", "и\u0306"),
    "marks": ("\u0301", "\u0323", "\u0344", "\u0345", "\u20dd", "\u093f", "\u0e31", "\ufe0f", "\u302e", "\U0001d165"),
    "tibetan": ("\u0f71", "\u0f72", "\u0f73", "\u0f76", "\u0f77", "\u0f81", "\u0f0b"),
    "indic": ("क", "\u094d", "ष", "ক", "\u09cb", "\u09c7\u09be", "ഹ", "\u0d4a", "\u0958", "ไทย"),
    "hangul": ("한", "각", "가", "\u1100", "\u1161", "\u11a8", "\u11a7", "\u3131", "ﾡ"),
    "cjk": ("日", "本", "語", "中", "\uf900", "\U0002f800", "\U00020000", "㍿", "㌔", "㈱", "〇", "\u2f00"),
    "kana": ("あ", "ア", "が", "か\u3099", "ｶﾞ", "ー", "ｱ", "ﾟ", "・"),
    "rtl": ("א", "שּׁ", "ﷺ", "ا", "ٱ", "ﻻ", "\u064b", "\u0600", "\u200f"),
    "numbers": ("1", "42", "007", "٣", "Ⅷ", "½", "²", "①", "๓", "\U0001d7d8", "一"),
    "spaces": (
        " ",
        "  ",
        "\t",
        "\u00a0",
        "\u3000",
        "\u2003",
        "\v",
        "\f",
        "\x1c",
        "\u180e",
        "\u1680",
        "\u0085",
        "\u202f",
    ),
    "newlines": ("\n", "\r", "\r\n", "\n\n", "\u2028", "\u2029"),
    "metaspace": ("▁", "▁▁", "Ġ", "Ċ"),
    "punctuation": (".", "!?", "/", "--", "-", "(", ")", "。", "…", "$", "+", "\\", "«", "‿", "¡", "＿", "^", "`", "~"),
    "emoji": (
        "😀",
        "👩\u200d💻",
        "👨\u200d👩\u200d👧",
        "🇩🇪",
        "🇩",
        "👍🏽",
        "❤\ufe0f",
        "\u200d",
        "🏴\U000e0067\U000e007f",
    ),
    "controls": ("\x00", "\x01", "\x7f", "\x8f", "\x9f", "\u00ad", "\u200b", "\u200e", "\ufeff", "\ufffd", "\ufff9"),
    "others": ("\ue000", "\U0010ffff", "\U000f0000", "\u0378", "\uffff", "\ud7ff", "\U0001f1e6", "\U00013000"),
}


@functools.cache
def texts(seed: int, count: int = TEXTS) -> list[str]:
    """Texts from a few of the classes each, so that runs and repetitions are as likely as changes."""
    source = random.Random(seed)
    made = ["", " ", "\r\n", "Hey  friend!", "".join(map(chr, range(256)))]
    while len(made) < count:
        names = source.sample(list(CLASSES), source.randint(1, 5))
        atoms = [atom for name in names for atom in source.sample(CLASSES[name], min(4, len(CLASSES[name])))]
        made.append("".join(source.choices(atoms, k=source.randint(1, 60 if source.random() < 0.05 else 12))))
    return made


def charsmap(table: dict[str, str]) -> str:
    """A table as SentencePiece compiles it, written as a double array in which every node has its own 256 units."""
    root: dict[Any, Any] = {}
    blob, places = b"", {}
    for key, value in table.items():
        places[key] = len(blob)
        blob += value.encode() + b"\0"
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = places[key]
    units: dict[int, int] = {}
    free = [1]

    def place(at: int, label: int, node: dict[Any, Any]) -> None:
        # An offset in the wide form counts blocks of 256 units, so that the low byte of the place stays.
        base = free[0] << 8 | at & 0xFF
        free[0] += 1
        units[at] = label | (base ^ at) >> 8 << 10 | 1 << 9
        for byte, child in node.items():
            if byte is None:
                units[at] |= 1 << 8
                units[base] = child | 1 << 31
            else:
                place(base ^ byte, byte, child)

    place(0, 0, root)
    size = (max(units) // 256 + 1) * 256
    array = struct.pack(f"<{size}I", *(units.get(at, 0xFE) for at in range(size)))
    return base64.b64encode(struct.pack("<I", len(array)) + array + blob).decode()


SMALL = charsmap(
    {
        "\x01": "", "\t": " ", "\n": " ", "\r": "", "ﬁ": "fi", "½": "1/2", "e\u0301": "é", "é": "e", "\u0301": "",
        "\u200d": "", "㌔": "キロ", "ｶﾞ": "ガ", "日": "day", "👩": "woman", "A": "alpha", "Ａ": "A", "\u3000": " ",
        "\u1100\u1161": "가",
    }
)  # fmt: skip


def step(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields}) if fields else kind


def replace(content: str, **pattern: str) -> str:
    return step("Replace", pattern=pattern, content=content)


def bert(clean: bool = True, chinese: bool = True, accents: bool | None = None, lower: bool = True) -> str:
    return step(
        "BertNormalizer", clean_text=clean, handle_chinese_chars=chinese, strip_accents=accents, lowercase=lower
    )


NORMALIZERS: dict[str, list[str]] = {
    **{name: [name] for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")},
    "strip": [step("Strip", strip_left=True, strip_right=True)],
    "strip left": [step("Strip", strip_left=True, strip_right=False)],
    "strip right": [step("Strip", strip_left=False, strip_right=True)],
    "replace a string": [replace("▁", String=" ")],
    "replace by nothing": [replace("", String="a")],
    "replace by more": [replace("é–", String="日")],
    "replace a regex": [replace(" ", Regex=r"\s{2,}|[\n\r]")],
    "replace with look-ahead": [replace("<>", Regex=r"[a-zé](?=\s)")],
    "prepend": [step("Prepend", prepend="▁")],
    "prepend more": [step("Prepend", prepend="é <")],
    "prepend nothing": [step("Prepend", prepend="")],
    "bert": [bert()],
    "bert cased": [bert(lower=False)],
    "bert accents only": [bert(accents=True, lower=False)],
    "bert lower only": [bert(accents=False)],
    "bert nothing": [bert(False, False, False, False)],
    "bert dirty": [bert(clean=False)],
    "bert no chinese": [bert(chinese=False)],
    "precompiled": [step("Precompiled", precompiled_charsmap=SMALL)],
    "llama": [step("Prepend", prepend="▁"), replace("▁", String=" ")],
    "xlnet": [replace('"', String="``"), "NFKD", "StripAccents", "Lowercase", replace(" ", Regex=" {2,}")],
    "albert": ["NFKD", "StripAccents", "Lowercase", step("Precompiled", precompiled_charsmap=SMALL)],
    "clip": ["NFC", replace(" ", Regex=r"\s+"), "Lowercase"],
    "precompiled and more": [
        step("Precompiled", precompiled_charsmap=SMALL), step("Strip", strip_left=False, strip_right=True),
        replace("▁", Regex=" {2,}"), "NFC",
    ],
    "bert and bytes": [bert(), "ByteLevel", "NFKC"],
}  # fmt: skip


def split(behavior: str, invert: bool = False, **pattern: str) -> str:
    return step("Split", pattern=pattern, behavior=behavior, invert=invert)


def metaspace(scheme: str = "always", split: bool = True, replacement: str = "▁") -> str:
    return step("Metaspace", replacement=replacement, prepend_scheme=scheme, split=split)


def byte_level(prefix: bool = True, regex: bool = True) -> str:
    return step("ByteLevel", add_prefix_space=prefix, trim_offsets=True, use_regex=regex)


BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
PRE_TOKENIZERS: dict[str, list[str]] = {
    **{name: [name] for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")},
    "digits": [step("Digits", individual_digits=False)],
    "individual digits": [step("Digits", individual_digits=True)],
    "delimiter": [step("CharDelimiterSplit", delimiter=" ")],
    "wide delimiter": [step("CharDelimiterSplit", delimiter="日")],
    **{f"fixed length {length}": [step("FixedLength", length=length)] for length in (1, 2, 7)},
    **{f"punctuation {behavior}": [step("Punctuation", behavior=behavior)] for behavior in BEHAVIORS},
    **{f"split at a string {behavior}": [split(behavior, String="a")] for behavior in BEHAVIORS},
    **{f"split at a regex {behavior}": [split(behavior, Regex=r"\s|[.!]+")] for behavior in BEHAVIORS},
    **{f"split inverted {behavior}": [split(behavior, True, Regex=r"\p{L}+|\d")] for behavior in BEHAVIORS},
    **{f"split at nothing {behavior}": [split(behavior, Regex=r"\d*")] for behavior in BEHAVIORS},
    **{f"split before {behavior}": [split(behavior, Regex=r"(?=[A-Z\s])")] for behavior in BEHAVIORS},
    "split everywhere": [split("Isolated", String="")],
    **{f"metaspace {scheme}": [metaspace(scheme)] for scheme in ("always", "first", "never")},
    "metaspace whole": [metaspace(split=False)],
    "metaspace other": [metaspace(replacement="é")],
    "byte level": [byte_level()],
    "byte level bare": [byte_level(False, False)],
    "byte level without prefix": [byte_level(False)],
    "first after a cut": ["WhitespaceSplit", metaspace("first")],
    "first after bytes": [byte_level(False, False), step("FixedLength", length=1), metaspace("first")],
    "prefixed words": ["WhitespaceSplit", metaspace()],
    "deepseek": [split("Isolated", Regex=r"\p{N}{1,3}"), split("Isolated", Regex="[一-龥]+"), byte_level(False, False)],
    "starcoder": [step("Digits", individual_digits=True), byte_level(False)],
    "bert digits": ["BertPreTokenizer", step("Digits", individual_digits=True)],
    "t5 scripts": [metaspace(), "UnicodeScripts", step("Punctuation")],
    "bytes of bytes": [byte_level(), "Whitespace", byte_level()],
}


def peer(part: str, steps: Sequence[str]) -> Any:
    """The steps in `tokenizers`: parsed from their file."""
    kinds = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    full = [json.loads(step) if step.startswith("{") else {"type": step} for step in steps]
    if part == "decoder":
        full = [
            {"add_prefix_space": True, "trim_offsets": True, **one} if one["type"] == "ByteLevel" else one
            for one in full
        ]
    parts: dict[str, Any] = dict.fromkeys(kinds)
    parts[part] = full[0] if len(full) == 1 else {"type": "Sequence", kinds[part]: full}
    # One token for every piece: its offsets are those of the piece.
    model = {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}
    file: dict[str, Any] = {"version": "1.0", "added_tokens": [], "post_processor": None, "model": model, **parts}
    return tokenizers.Tokenizer.from_str(json.dumps(file))


def caught(call: Any) -> Any:
    """The result of a call of the peer; None if it panics."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalized_text_and_the_offsets_of_its_characters(name: str) -> None:
    steps = NORMALIZERS[name]
    theirs = peer("normalizer", steps)
    # Each character is a piece, and so has its offsets.
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.FixedLength(1)
    panics = 0
    for text in texts(1):
        expected = theirs.normalizer.normalize_str(text)
        assert normalize(steps, text) == expected, ascii(text)
        made, offsets = normalize(steps, text, offsets=True)
        assert made == expected, ascii(text)
        encoded = caught(lambda text=text: theirs.encode(text).offsets)
        if encoded is None:
            panics += 1
            continue
        assert offsets == encoded, ascii(text)
    assert panics == 0


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_pieces_and_their_offsets(name: str) -> None:
    steps = PRE_TOKENIZERS[name]
    theirs = peer("pre_tokenizer", steps).pre_tokenizer
    for text in texts(2):
        assert pre_tokenize(steps, text) == theirs.pre_tokenize_str(text), ascii(text)


def test_every_character_means_the_same() -> None:
    # Each after a letter, in texts of many; the planes without characters are left out.
    planes = (range(0xD800), range(0xE000, 0x32000), range(0xE0000, 0xE0200), range(0x10FF00, 0x110000))
    characters = [chr(code) for plane in planes for code in plane]
    blocks = ["b" + "b".join(characters[at : at + 2000]) for at in range(0, len(characters), 2000)]
    for name in ("NFC", "NFKD", "Lowercase", "StripAccents", "Nmt", "bert"):
        normalizer = peer("normalizer", NORMALIZERS[name]).normalizer
        for text in blocks:
            assert normalize(NORMALIZERS[name], text) == normalizer.normalize_str(text), (name, ascii(text[1]))
    for name in ("Whitespace", "BertPreTokenizer", "UnicodeScripts", "digits"):
        pre_tokenizer = peer("pre_tokenizer", PRE_TOKENIZERS[name]).pre_tokenizer
        for text in blocks:
            assert pre_tokenize(PRE_TOKENIZERS[name], text) == pre_tokenizer.pre_tokenize_str(text), (
                name,
                ascii(text[1]),
            )


def word_piece(cleanup: bool = True, prefix: str = "##") -> str:
    return step("WordPiece", prefix=prefix, cleanup=cleanup)


def ctc(cleanup: bool = True, word: str = "|", pad: str = "<pad>") -> str:
    return step("CTC", pad_token=pad, word_delimiter_token=word, cleanup=cleanup)


STRIP = step("Strip", content=" ", start=1, stop=0)
DECODERS: dict[str, list[str]] = {
    "nothing": ["Fuse"],
    "byte level": ["ByteLevel"],
    "byte fallback": ["ByteFallback"],
    "word piece": [word_piece()],
    "word piece dirty": [word_piece(False)],
    "word piece without prefix": [word_piece(prefix="")],
    **{f"metaspace {scheme}": [metaspace(scheme)] for scheme in ("always", "first", "never")},
    "bpe": [step("BPEDecoder", suffix="</w>")],
    "bpe without suffix": [step("BPEDecoder", suffix="")],
    "ctc": [ctc()],
    "ctc dirty": [ctc(False)],
    "ctc of nothing": [ctc(word="", pad="")],
    "strip": [step("Strip", content="▁", start=2, stop=0)],
    "strip both": ["ByteFallback", step("Strip", content="\ufffd", start=1, stop=0), word_piece()],
    "replace": [replace(" ", String="▁")],
    "replace a regex": [replace("_", Regex="[aĠ]+|$")],
    "llama": [replace(" ", String="▁"), "ByteFallback", "Fuse", STRIP],
    "gemma": [replace(" ", String="▁"), "ByteFallback", "Fuse"],
    "bytes after words": [word_piece(), "ByteLevel", metaspace()],
}
TOKENS = (
    "Hello", "##ing", "##", "▁the", "▁", "▁▁a▁", "Ġworld", "Ċ", "âĤ", "¬", "é", "日本", "<0xE2>", "<0x82>", "<0xAC>",
    "<0xFF>", "<0x0a>", "<0x+5>", "<0xé>", "<0x 1>", "<0x41", "ab</w>", "</w>", "<pad>", "|", "a|b", " .", ".", "?",
    "n't", "'", "do not", "do", "not", "'s", "'re", " x", " ", "\ufffd", "", "\0", "a'm", " ' ",
)  # fmt: skip


@pytest.mark.parametrize("name", DECODERS)
def test_decoded_tokens(name: str) -> None:
    steps = DECODERS[name]
    theirs = peer("decoder", steps).decoder
    source = random.Random(3)
    for _ in range(TEXTS):
        tokens = source.choices(source.sample(TOKENS, 12), k=source.randint(1, 14))
        assert decode_tokens(steps, tokens) == theirs.decode(tokens), tokens
    assert decode_tokens(steps, []) == ""


def test_a_real_table(data: Path) -> None:
    file = data / "vocabs" / "t5-small" / "tokenizer.json"
    if not file.is_file():
        pytest.skip(f"there is no {file}")
    full = json.loads(file.read_text("utf-8"))
    stated = full["normalizer"]
    steps = [json.dumps(one) for one in stated.get("normalizers", [stated])]
    theirs = peer("normalizer", steps)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.FixedLength(1)
    characters = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20))]
    blocks = ["b" + "b".join(characters[at : at + 3000]) for at in range(0, len(characters), 3000)]
    for text in (*texts(5), *blocks):
        expected = theirs.normalizer.normalize_str(text)
        made, offsets = normalize(steps, text, offsets=True)
        assert (normalize(steps, text), made) == (expected, expected), ascii(text)
        assert offsets == theirs.encode(text).offsets, ascii(text)
    stated = full["pre_tokenizer"]
    steps = [json.dumps(one) for one in stated.get("pretokenizers", [stated])]
    pre_tokenizer = peer("pre_tokenizer", steps).pre_tokenizer
    for text in texts(6):
        assert pre_tokenize(steps, text) == pre_tokenizer.pre_tokenize_str(text), ascii(text)


def test_normalizers_and_pre_tokenizers_in_a_row() -> None:
    source = random.Random(4)
    for _ in range(500 if WHOLE else 50):
        first = [one for _ in range(source.randint(1, 2)) for one in source.choice(list(NORMALIZERS.values()))]
        then = [one for _ in range(source.randint(1, 2)) for one in source.choice(list(PRE_TOKENIZERS.values()))]
        then.append(step("FixedLength", length=3))
        if step("Prepend", prepend="") in first:
            # The peer's next normalizer omits characters that were inserted without a source.
            continue
        theirs = peer("normalizer", first)
        theirs.pre_tokenizer = peer("pre_tokenizer", then).pre_tokenizer
        for text in source.sample(texts(7), 40):
            made = pre_tokenize(then, text, first)
            assert [offsets for _, offsets in made] == theirs.encode(text).offsets, (first, then, ascii(text))
            if not any('"first"' in one for one in then):
                pieces = [piece for piece, _ in pre_tokenize(then, normalize(first, text))]
                assert [piece for piece, _ in made] == pieces


@pytest.mark.parametrize(
    ("call", "steps", "what"),
    [
        (normalize, ["Uppercase"], "unknown variant"),
        (normalize, ['{"type":"Lowercase","extra":1}'], "unknown field"),
        (normalize, ['{"type":"Strip","strip_left":true}'], "missing field"),
        (normalize, ['{"type":"Precompiled","precompiled_charsmap":"AA"}'], "has no length"),
        (normalize, ['{"type":"Precompiled","precompiled_charsmap":"/////w=="}'], "ends within its trie"),
        (normalize, ['{"type":"Precompiled","precompiled_charsmap":"?"}'], "not base 64"),
        (normalize, ["{"], "EOF"),
        (pre_tokenize, ["Whitespaces"], "unknown variant"),
        (pre_tokenize, ["Digits"], "missing field"),
        (pre_tokenize, [step("FixedLength", length=0)], "no characters"),
        (pre_tokenize, [step("Metaspace", replacement="▁", add_prefix_space=False, prepend_scheme="first")], "never"),
        (pre_tokenize, [step("Metaspace", replacement="▁", str_rep="_")], "str_rep"),
        (pre_tokenize, [step("CharDelimiterSplit", delimiter="ab")], "invalid value"),
    ],
)
def test_a_step_that_is_none_is_refused(call: Any, steps: list[str], what: str) -> None:
    with pytest.raises(errors.FormatError, match=what):
        call(steps, "text")
    with pytest.raises(errors.FormatError, match="unknown variant"):
        decode_tokens(["Fuzz"], ["text"])


def test_patterns_that_do_not_compile_or_give_up_are_errors() -> None:
    with pytest.raises(errors.PatternError, match="compile"):
        normalize([replace("", Regex="(a")], "text")
    endless = r"(?:(?=a)a|(?=aa)aa)+b"
    for call in (normalize, pre_tokenize):
        steps = [replace("", Regex=endless)] if call is normalize else [split("Isolated", Regex=endless)]
        with pytest.raises(errors.PatternError, match="gave up"):
            call(steps, "a" * 40)


def test_older_files_say_metaspace_in_another_way() -> None:
    old = step("Metaspace", replacement="▁", str_rep="▁", add_prefix_space=True)
    assert pre_tokenize([old], "a b") == pre_tokenize([metaspace()], "a b")
    never = step("Metaspace", replacement="▁", add_prefix_space=False)
    assert pre_tokenize([never], "a b") == pre_tokenize([metaspace("never")], "a b")


def test_random_tables_are_refused_or_read_but_never_fatal() -> None:
    source = random.Random(8)
    good = base64.b64decode(SMALL)
    size = struct.unpack("<I", good[:4])[0]
    for _ in range(300):
        broken = bytearray(good)
        for _ in range(source.choice((1, 3, 200))):
            broken[source.randrange(4, 4 + min(size, 4096))] = source.randrange(256)
        steps = [step("Precompiled", precompiled_charsmap=base64.b64encode(bytes(broken)).decode())]
        try:
            for text in source.sample(texts(1), 5):
                assert normalize(steps, text, offsets=True)[0] == normalize(steps, text)
        except errors.FormatError as error:
            assert "table of the normalizer Precompiled" in str(error)  # noqa: PT017


def test_where_the_peer_panics_or_contradicts_itself() -> None:
    """Bugs of `tokenizers`, each with its reproduction: here these inputs have a meaning, or raise."""
    # A match of nothing at the beginning has no origin, and the next normalizer leaves it out of its range.
    steps = [replace("▁", Regex="^"), "NFC"]
    theirs = peer("normalizer", steps).normalizer
    assert caught(lambda: theirs.normalize_str("ab")) != "▁ab"
    assert normalize(steps, "ab") == "▁ab"
    # Strip looks for characters beyond the beginning of a token.
    steps = [step("Strip", content="a", start=0, stop=3)]
    assert caught(lambda: peer("decoder", steps).decoder.decode(["aa"])) is None
    assert decode_tokens(steps, ["aa"]) == ""
