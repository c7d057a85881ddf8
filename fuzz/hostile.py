"""Texts that tokenizers are likely to get wrong: normalized characters, ends of words, near-tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

ATOMS: dict[str, tuple[str, ...]] = {
    "words": (
        "the",
        "The",
        "THE",
        "hello",
        "Straße",
        "naïve",
        "don't",
        "I'm",
        "we'LL",
        "x2",
        "résumé",
        "ﬁne",
        "İi",
        "Σς",
    ),
    "combining": ("e\u0301", "a\u0323\u0302", "\u0301", "n\u0303o", "\u1ea5", "q\u0307\u0323", "\u0344", "ö\u0304"),
    "jamo": ("\u1100\u1161\u11a8", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국", "\u1161", "\u11a8", "가\u11a8"),
    "kana": ("ｶﾞ", "ﾊﾟ", "カ\u3099", "ー", "ｱｲｳ", "ひらがな", "カタカナ", "々", "〜"),
    "wide": ("ＡＢＣ", "１２３", "！？", "￥", "\u3000", "㍿", "㌔", "①", "Ⅷ", "ℌ", "½", "²", "ª", "ŀ"),
    "cjk": ("中文", "日本語", "你好世界", "豈", "\ufa0e", "𠀀", "\U0002f800", "、", "。", "「x」"),
    "emoji": (
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "🇩🇪🇫🇷",
        "❤\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "☺",
        "1\ufe0f\u20e3",
    ),
    "control": (
        "\x00",
        "\x01",
        "\x07",
        "\x08",
        "\x1b[0m",
        "\x7f",
        "\x80",
        "\x85",
        "\u200b",
        "\u200c",
        "\u200e",
        "\ufeff",
    ),
    "spaces": (" ", "  ", "   ", "\t", "\n", "\n\n", "\r", "\r\n", "\u00a0", "\u2003", "\u2028", "\v", "\f", "\u1680"),
    "undefined": ("\ue000", "\uffff", "\U0010ffff", "\u0378", "\ufdd0", "\ufffd", "\ufffc", "\u00ad", "\u180e"),
    "punctuation": (
        ".",
        ",",
        "!",
        "...",
        "--",
        "—",
        "#",
        "##",
        "##a",
        "$9",
        "«",
        "…",
        "`",
        "^",
        "~",
        "|",
        "/",
        "\\",
        "_",
        "%",
    ),
    "scripts": (
        "Привет",
        "ёлка",
        "Ἀθῆναι",
        "שָׁלוֹם",
        "السَّلَام",
        "हिन्दी",
        "क्षि",
        "ไทย",
        "বাংলা",
        "தமிழ்",
        "ქართული",
        "አማርኛ",
        "ខ្មែរ",
        "မြန်မာ",
    ),
    "digits": ("1", "12", "123", "1234567", "3.14", "١٢٣", "१२३", "０１", "1,000", "1e-9"),
    "spelled": (
        "▁",
        "▁the",
        "▁▁",
        "Ġ",
        "Ċ",
        "</w>",
        "<0x0A>",
        "<0xE2>",
        "</s",
        "<s",
        "<unk",
        "[UNK",
        "[CLS",
        "<|",
        "|>",
        "@@",
    ),
}
"""Some of each kind."""


def hostile_text(random: random.Random, length: int, contents: Sequence[str] = ()) -> str:
    """A text of about the given number of atoms of a few kinds, mixed with the contents of added tokens, also in words.

    Example:
        >>> import random
        >>> hostile_text(random.Random(1), 0)
        ''
    """
    kinds = random.sample(list(ATOMS), random.randint(1, 5))
    atoms = [atom for kind in kinds for atom in ATOMS[kind]]
    if contents and random.random() < 0.5:
        atoms += random.sample(list(contents), min(3, len(contents))) * 3
    spaced = random.random() < 0.5
    chosen = random.choices(atoms, k=length)
    return "".join(atom + (" " if spaced and random.random() < 0.4 else "") for atom in chosen)
