"""Fixed texts on which a tokenizer's behaviour is recorded and compared: scripts, emoji, code, white space, controls.

Any change of a text or of the hash raises `VERSION`: records of another version are not compared.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer

VERSION = 1
"""The version of the texts and of the hash of their results."""

SENTENCES = {
    "Latin": "Today is a good day. We read a book and write a letter to our friends.",
    "Latin with marks": "Dziś jest piękny dzień. Nous écrivons à nos amis, đó là một ngày đẹp trời, günaydın, Grüße!",
    "Cyrillic": "Сегодня хороший день. Мы читаем книгу и пишем письмо нашим друзьям.",
    "Greek": "Σήμερα είναι μια καλή μέρα. Διαβάζουμε ένα βιβλίο και γράφουμε στους φίλους μας.",
    "Armenian": "Այսօր լավ օր է։ Մենք գիրք ենք կարդում և նամակ ենք գրում մեր ընկերներին։",
    "Georgian": "დღეს კარგი დღეა. ჩვენ ვკითხულობთ წიგნს და ვწერთ წერილს.",
    "Hebrew": "היום יום טוב. אנחנו קוראים ספר וכותבים מכתב לחברים שלנו.",
    "Arabic": "اليوم يوم جميل. نقرأ كتابا ونكتب رسالة إلى أصدقائنا.",
    "Devanagari": "आज अच्छा दिन है। हम किताब पढ़ते हैं और अपने मित्रों को पत्र लिखते हैं।",
    "Bengali": "আজ একটি ভালো দিন। আমরা বই পড়ি এবং বন্ধুদের চিঠি লিখি।",
    "Gurmukhi": "ਅੱਜ ਚੰਗਾ ਦਿਨ ਹੈ। ਅਸੀਂ ਕਿਤਾਬ ਪੜ੍ਹਦੇ ਹਾਂ।",
    "Gujarati": "આજે સારો દિવસ છે. અમે પુસ્તક વાંચીએ છીએ.",
    "Tamil": "இன்று நல்ல நாள். நாங்கள் புத்தகம் படிக்கிறோம்.",
    "Telugu": "ఈ రోజు మంచి రోజు. మేము పుస్తకం చదువుతాము.",
    "Kannada": "ಇಂದು ಒಳ್ಳೆಯ ದಿನ. ನಾವು ಪುಸ್ತಕ ಓದುತ್ತೇವೆ.",
    "Malayalam": "ഇന്ന് നല്ല ദിവസമാണ്. ഞങ്ങൾ പുസ്തകം വായിക്കുന്നു.",
    "Sinhala": "අද හොඳ දවසක්. අපි පොතක් කියවමු.",
    "Thai": "วันนี้เป็นวันที่ดี เราอ่านหนังสือและเขียนจดหมายถึงเพื่อน",
    "Lao": "ມື້ນີ້ເປັນມື້ທີ່ດີ ພວກເຮົາອ່ານປຶ້ມ",
    "Khmer": "ថ្ងៃនេះជាថ្ងៃល្អ យើងអានសៀវភៅ",
    "Myanmar": "ဒီနေ့ကောင်းသောနေ့ဖြစ်သည်။ ကျွန်တော်တို့စာအုပ်ဖတ်သည်။",
    "Tibetan": "དེ་རིང་ཉིན་མོ་ཡག་པོ་རེད། ང་ཚོས་དཔེ་ཆ་ཀློག",
    "Ethiopic": "ዛሬ ጥሩ ቀን ነው። መጽሐፍ እናነባለን።",
    "Hangul": "오늘은 좋은 날입니다. 우리는 책을 읽고 친구들에게 편지를 씁니다.",
    "Kana and Han": "今日はいい日です。私たちは本を読んで、友だちにテガミを書きます。",
    "Han": "今天是个好日子。我们读书，给朋友们写信。今天是個好日子。我們讀書，給朋友們寫信。",
}
"""A sentence or two for each script, in plain words."""

GROUPS = {
    "Unicode": (
        *SENTENCES.values(),
        "naïve e\u0301\u0323 é ﬁ ½ Å Å ｶﾞ ガ \u1112\u1161\u11ab 한 ſ ẞ İ ı ǆ Ⅷ ① ２ ٣ ३",
        "«quotes» „such“ ‘as’ “these” – and — dashes… • ‣ † ‰ № § ¶ © ™ € ₽ ₹ ¥ ± × ÷ ≤ ≠ ∞ ∑ √ ∫ → ⇒ ■ ░ █",
        "\u0378 \ue000 \ufdd0 \ufffd \uffff \U0001fffe \U000f0000 \U0010ffff",
    ),
    "emoji": (
        "😀😃 🦊 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 1️⃣ ❤️ ☺ ✈︎ 🫠🫨",
        "a😀b 😀😀😀😀 :-) ¯\\_(ツ)_/¯ 🤷🏻‍♀️",
    ),
    "code": (
        'def add(a: int, b: int = 0) -> int:\n    """Adds."""\n\treturn a + b  # 10_000 == 1e4 != 0xFF\n',
        "for (let i = 0; i < n; i++) { s += `${x[i]}\\n`; } // <b>bold</b> &amp; <s>struck</s> <!-- end -->\r\n",
        "https://example.org/a/b?c=d&e=%20#f C:\\dir\\file.txt {\"a\": [1, 2.5, null]} $HOME ~/x | grep -v '^#'",
        "camelCase snake_case SCREAMING_CASE kebab-case it's I'VE we'll'd 1234567890 3.14159 12,345,678 2026-01-31",
    ),
    "white space": (
        " ",
        "  two   three    four ",
        "\n",
        "\n\n\n a\n b\r\n\r\n c\r d\t\te \t \n \n",
        "\x0b\x0c\x85\xa0\u1680\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000x\u3000 y",
        "x" + " " * 70 + "y" + "\t" * 20 + "z" + "\n" * 30,
    ),
    "controls": (
        "".join(map(chr, range(32))) + "\x7f" + "".join(map(chr, range(128, 160))),
        "zero\u200bwidth\u200c \u200djoin \u2060\ufeff soft\u00adhyphen \u202emirror\u202c \U000e0041 a\ufe0f",
    ),
}
"""Texts of one kind, by the name of the kind."""

# The first code points of runs of six letters, marks or signs, one for each script.
_SCRIPTS = """
1E900 11700 14400 60E 531 10B00 1B00 A6A0 16AD0 1BC0 985 11C00 3105 11000 2800 1A00 1740 1401 102A0 10530 11100 AA00
13A0 10FB0 3E2 12000 10800 12F90 400 10400 900 11900 11800 1BC00 13000 10500 10FE0 1200 10A0 2C00 10330 11305 38E
A85 11D60 A05 2E80 1100 10D00 1720 108E0 591 3041 10840 10B60 10B40 A980 11080 C85 30A1 11F00 A90A 10A0C 18B00 1780
11200 112B0 E8C 41 1C00 1900 10600 10000 A4D0 10280 10920 11150 11EE0 D00 840 10AC0 11C72 11D00 16E40 AAE0 1E800
109A0 10980 16F00 11600 1820 16A40 11280 1000 10880 1E4D0 119A0 1980 11400 7CA 1B170 1E100 1681 1C5A 10C80 10300
10A80 10350 103A0 10F00 10A60 10C00 10F70 B05 104B0 10480 16B00 10860 11AC0 A840 10900 10B80 A930 16A0 800 A880
11180 10450 11580 1D800 D85 10F30 110D0 11A50 1B80 A800 710 1700 1760 1950 1A20 AA80 11680 B85 16A70 17000 C00 780
E01 F15 2D30 11480 1E290 10380 A500 10570 1E2C0 118A0 10E80 A000 11A00 10D4A 16100 16D40 1E5D0 11BC0 105C0 11380
"""

TEXTS = (
    "",
    *(text for group in GROUPS.values() for text in group),
    *("".join(chr(int(start, 16) + step) for step in range(6)) for start in _SCRIPTS.split()),
    "a" * 300,
    "ab" * 150,
    "<s></s><pad><unk><mask>[CLS] [SEP] [PAD] [UNK] [MASK] <|endoftext|><|im_start|>user<|im_end|> [INST] </think>",
)
"""All of them, and one short text for each script."""


def behaviour(tokenizer: CompiledTokenizer) -> str:
    """SHA-256, in hexadecimal, of the ids of all probes and of the text that comes back.

    Each text is encoded twice, with the special tokens in it as text and as tokens, and its ids are decoded. Two
    tokenizers with one hash have the same ids and texts for the probes; any change of the library, of its Unicode
    tables or of the tokenizer that affects a probe changes the hash. An encoding error is hashed as such.

    Time: some milliseconds.

    Example:
        >>> import bytepair as bp
        >>> one, two = (bp.train({piece: 5}, vocab_size=257) for piece in ("to", "we"))
        >>> len(behaviour(one)), behaviour(one) == behaviour(one), behaviour(one) == behaviour(two)
        (64, True, False)
    """
    digest = hashlib.sha256()

    def add(data: bytes) -> None:
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)

    for text in TEXTS:
        for special in ("text", "allow"):
            try:
                # One thread: check/verify/running.py compares other numbers.
                ids = tokenizer.encode(text, special=special, threads=1)
            except EncodeError:
                add(b"cannot be encoded")
                continue
            add(b"".join(id.to_bytes(4, "little") for id in ids))
            add(tokenizer.decode(ids).encode())
    return digest.hexdigest()
