"""The split patterns of GGUF files, by the name in ``tokenizer.ggml.pre``.

Each name identifies a tokenizer published as ``tokenizer.json``; the pattern here is the one from that file. llama.cpp
itself uses close variants that its own regex engine can run.
Source: ``src/llama-vocab.cpp`` of llama.cpp, which names the original patterns.
"""

from __future__ import annotations

from bytepair.formats.oniguruma import WORD
from bytepair.model.split_patterns import split_pattern

_GPT2 = (split_pattern("gpt2"),)
_DIGIT = (r"\p{N}", *_GPT2)
_LLAMA3 = (split_pattern("llama3"),)
_QWEN2 = (split_pattern("qwen2"),)
_O200K = (split_pattern("o200k"),)
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WHITE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    rf"\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_WHITE}",
)
_HAN_TO_HANGUL = "[一-龥ࠀ-一가-퟿]+"
_DEEPSEEK_CODER = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN_TO_HANGUL, r"\p{N}")
# Letters with case, as the ranges in which they were assigned when the tokenizer was made.
_DEEPSEEK_LETTERS = (
    r"A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\x{1F7D}ᾀ-ᾴᾶ-ᾼ"
    r"\x{1FBE}ῂ-ῄῆ-ῌῐ-\x{1FD3}ῖ-\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎ"
    "ꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_DEEPSEEK_LLM = (
    "[\r\n]",
    rf"\s?[{_DEEPSEEK_LETTERS}]+",
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+\z",
    _HAN_TO_HANGUL,
    r"\p{N}+",
)
_WORDS_AND_SIGNS = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
    rf" ?[\p{{P}}\p{{S}}]+[\r\n]*|{_WHITE}"
)
_DEEPSEEK_3 = (r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _WORDS_AND_SIGNS)
_SPARK = (
    *_DEEPSEEK_3[:2],
    _WORDS_AND_SIGNS.replace(rf" ?[\p{{P}}\p{{S}}]+[\r\n]*|{_WHITE}", r" ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"),
    r"\p{N}",
)
_FALCON = (r"[\p{P}\$\+<=>\^~\|`]+", *_GPT2, "[0-9][0-9][0-9]")
_BLOOM = (r" ?[^(\s|.,!?…。，、।۔،)]+",)
_DEFAULT = (r"[\p{P}\$\+<=>\^~\|]+", *_GPT2, r"\p{N}+", "[0-9][0-9][0-9]")


def _words(numbers: str, rest: str) -> str:
    """The pattern of Qwen and its relatives, with other numbers and another end."""
    return rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{numbers}|{rest}"


_SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_CASCADE = "|".join(rf"\s{{{count}}}(?!\S)" for count in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))
_JAIS2 = (_words(r"\p{N}{1,3}", rf"{_SIGNS}|\s*[\r\n]+|{_CASCADE}|\s"),)
_QWEN35 = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_WHITE}",
)
_YOUTU = (
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
    _O200K[0].replace(r"\p{N}{1,3}", r"\p{N}"),
)
# Digits in groups of three from the right.
_TINY_AYA = (rf"\d{{1,3}}(?=(?:\d{{3}})*(?!{WORD}))", *_O200K)
_AFMOE = (
    r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
    "[一-鿿㐀-䶿\uf900-\ufaff぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+",
    _WORDS_AND_SIGNS,
)
# The file cuts before three digits, six and so on: here pieces that end there.
_SUPERBPE = (r"\p{N}+", r"[\s\S]+?(?=(?:\d{3})+(?!\d)|\z)")
_BAILING = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
)
_EXAONE_MOE = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
)
_CHAMELEON = (
    "<sentinel:[0-9]+>",
    "IMGIMG[A-I]{1,4}Z",
    "[\t\n]|    |  ",
    r"\p{N}",
    r"[\p{P}!-/:-@\[-`{-~]",
    *_GPT2,
)
_NOT_HAN = r"\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]"
_KIMI = (
    r"[\p{Han}]+|"
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_NOT_HAN}]*[\p{{Ll}}{_NOT_HAN}]+{_CONTRACTION}?|"
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_NOT_HAN}]+[\p{{Ll}}{_NOT_HAN}]*{_CONTRACTION}?|"
    rf"\p{{N}}{{1,3}}|{_SIGNS}|{_WHITE}",
)

_NAMES: dict[tuple[str, ...], str] = {
    _GPT2: "gpt-2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat mpt olmo "
    "jais exaone4 trillion granite-docling modern-bert a.x-4.0 mellum",
    _DIGIT: "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
    _LLAMA3: "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano smaug-bpe dbrx "
    "chatglm-bpe glm4 glm5",
    _QWEN2: "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan grok-2 kormo f2llmv2 solar-open",
    _O200K: "gpt-4o llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m",
    _TEKKEN: "tekken",
    _DEEPSEEK_CODER: "deepseek-coder",
    _DEEPSEEK_LLM: "deepseek-llm",
    _DEEPSEEK_3: "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
    _SPARK: "spark2_5",
    _FALCON: "falcon",
    _BLOOM: "bloom poro-chat gpt3-finnish",
    (*_BLOOM, r"\p{N}"): "viking",
    _DEFAULT: "default",
    _JAIS2: "jais-2",
    _QWEN35: "qwen35",
    (rf"[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_SIGNS}|{_WHITE}",): "ufakzeka",
    _YOUTU: "youtu",
    _TINY_AYA: "tiny_aya cohere2moe",
    _AFMOE: "afmoe",
    _SUPERBPE: "superbpe",
    _BAILING: "bailingmoe bailingmoe2 llada-moe",
    (_words(r"\p{N}", rf" ?[^\s\p{{L}}\p{{N}}\r\n]+|{_WHITE}"),): "seed-coder",
    (r"[^\n]+|[\n]+", *_QWEN2): "laguna",
    (r"\p{N}{1,3}", _words(r"\p{N}+", f"{_SIGNS}|{_WHITE}")): "minicpm5",
    _EXAONE_MOE: "exaone-moe",
    _CHAMELEON: "chameleon",
    _KIMI: "kimi-k2",
}

PATTERNS: dict[str, tuple[str, ...]] = {name: patterns for patterns, names in _NAMES.items() for name in names.split()}
"""The patterns, each applied to the pieces of the one before."""

LIKE_LLAMA_3 = frozenset(
    [
        "llama3",
        "llama-v3",
        "llama-bpe",
        "falcon3",
        "falcon-h1",
        "pixtral",
        "midm-2.0",
        "lfm2",
        "jina-v5-nano",
    ]
)
"""The names that llama.cpp treats as Llama 3's in everything."""

IGNORE_MERGES = LIKE_LLAMA_3 | {"tekken", "minicpm5", "youtu", "granite-embed-multi-97m", "glm4", "glm5"}
"""The names of tokenizers with ``ignore_merges``: a piece that is a token is taken whole."""

SPELLED = frozenset(["gemma4", "sarvam-moe", "granite-embed-multi-311m"])
"""The names of tokenizers whose tokens are spelled in characters, with U+2581 for a space, and have merges."""
