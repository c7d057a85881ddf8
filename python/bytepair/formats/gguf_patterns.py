"""The split patterns of GGUF files, by the name in ``tokenizer.ggml.pre``.

Each name identifies a tokenizer published as ``tokenizer.json``; the pattern here is the one from that file. llama.cpp
itself uses close variants that its own regex engine can run.
Source: ``src/llama-vocab.cpp`` of llama.cpp, which names the original patterns.
"""

from __future__ import annotations

from bytepair.model.split_patterns import split_pattern

_GPT2 = (split_pattern("gpt2"),)
_DIGIT = (r"\p{N}", *_GPT2)
_LLAMA3 = (split_pattern("llama3"),)
_QWEN2 = (split_pattern("qwen2"),)
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_DEEPSEEK_CODER = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}")
_DEEPSEEK_3 = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
    r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_FALCON = (r"[\p{P}\$\+<=>\^~\|`]+", *_GPT2, "[0-9][0-9][0-9]")
_BLOOM = (r" ?[^(\s|.,!?…。，、।۔،)]+",)

_NAMES: dict[tuple[str, ...], str] = {
    _GPT2: "gpt-2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat mpt olmo "
    "jais exaone4 trillion granite-docling modern-bert a.x-4.0 mellum",
    _DIGIT: "starcoder refact command-r smollm codeshell exaone minerva-7b",
    _LLAMA3: "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 smaug-bpe dbrx chatglm-bpe glm4",
    _QWEN2: "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan grok-2",
    (split_pattern("o200k"),): "gpt-4o llama4",
    _TEKKEN: "tekken",
    _DEEPSEEK_CODER: "deepseek-coder",
    _DEEPSEEK_3: "deepseek-v3 hunyuan-dense",
    _FALCON: "falcon",
    _BLOOM: "bloom poro-chat gpt3-finnish",
    (*_BLOOM, r"\p{N}"): "viking",
}

PATTERNS: dict[str, tuple[str, ...]] = {name: patterns for patterns, names in _NAMES.items() for name in names.split()}
"""The patterns, each applied to the pieces of the one before."""

IGNORE_MERGES = frozenset(
    ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"]
)
"""The names of tokenizers with ``ignore_merges``: a piece that is a token is taken whole."""
