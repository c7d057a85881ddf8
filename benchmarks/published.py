"""The published tokenizers of the data folder, each file of one by a short name."""

from __future__ import annotations

import functools
import importlib.util
import lzma
import tempfile
import warnings
from pathlib import Path
from typing import Any

import bytepair as bp
from benchmarks.measure import data_folder

FILES: dict[str, str] = {
    "GPT-2": "gpt2/tokenizer.json",
    "GPT-2 vocab.json": "gpt2/vocab.json",
    "RoBERTa": "roberta-base/tokenizer.json",
    "GPT-NeoX": "gpt-neox/tokenizer.json",
    "Phi-2": "phi-2/tokenizer.json",
    "CLIP": "clip/tokenizer.json",
    "Llama 3": "llama3/tokenizer.json.xz",
    "Llama 3 ranks": "llama3/tokenizer.model",
    "Qwen": "qwen/qwen.tiktoken",
    "Qwen 2": "qwen2/tokenizer.json.xz",
    "Qwen 3": "qwen3/tokenizer.json.xz",
    "DeepSeek V3": "deepseek/tokenizer.json.xz",
    "Kimi K2": "kimi-k2/tiktoken.model",
    "gpt-oss": "openai/gpt-oss_tokenizer.json.xz",
    "o200k_base": "openai/o200k_base.tiktoken",
    "cl100k_base": "openai/cl100k_base.tiktoken",
    "p50k_base": "openai/p50k_base.tiktoken",
    "r50k_base": "openai/r50k_base.tiktoken",
    "Tekken 2407": "mistral/tekken_240718.json.xz",
    "Tekken 2409": "mistral/tekken_240911.json.xz",
    "Llama 2": "llama2/tokenizer.json",
    "Llama 2 .model": "llama2/tokenizer.model",
    "Mistral v0.3": "mistral/tokenizer_v0.3.json",
    "Mistral v1 .model": "mistral/tokenizer.model.v1",
    "Mistral v3 .model": "mistral/mistral_instruct_tokenizer_240323.model.v3",
    "Gemma 3": "gemma3/tokenizer.json.xz",
    "T5": "t5-small/tokenizer.json",
    "BERT": "bert-base-uncased/tokenizer.daulet.json",
    "BERT vocab.txt": "bert-base-uncased/vocab.txt",
    "GPT-2 GGUF": "gguf/ggml-vocab-gpt-2.gguf",
    "Llama 3 GGUF": "gguf/ggml-vocab-llama-bpe.gguf.xz",
    "Qwen 2 GGUF": "gguf/ggml-vocab-qwen2.gguf.xz",
    "DeepSeek Coder GGUF": "gguf/ggml-vocab-deepseek-coder.gguf",
    "Llama 2 GGUF": "gguf/ggml-vocab-llama-spm.gguf",
    "BGE GGUF": "gguf/ggml-vocab-bert-bge.gguf",
}
"""Name -> file."""


def path(name: str) -> Path | None:
    """The file of a published tokenizer; None if it is not there."""
    folder = data_folder(None)
    found = folder / "vocabs" / FILES[name] if folder else None
    return found if found and found.is_file() else None


@functools.cache
def present() -> tuple[str, ...]:
    """The names of those that are there."""
    return tuple(name for name in FILES if path(name))


def _ranks(name: str, file: Path) -> bp.Tokenizer | None:
    """The tokenizer of a file that names no split pattern; None for any other."""
    if file.parent.name == "openai" and file.suffix == ".tiktoken":
        return bp.get_encoding(name, folder=file.parent)
    if name == "Kimi K2":
        from fuzz.ranked import KIMI

        return bp.Tokenizer.from_file(file, split=KIMI)
    splits = {"Llama 3 ranks": "llama3", "Qwen": "qwen2"}
    return bp.Tokenizer.from_file(file, split=splits[name]) if name in splits else None


def unpacked(name: str, folder: Path) -> Path:
    """The file of a published tokenizer, unpacked into a folder if it is compressed.

    Raises:
        FileNotFoundError: It is not there.
    """
    file = path(name)
    if file is None:
        raise FileNotFoundError(FILES[name])
    if file.suffix != ".xz":
        return file
    plain = folder / file.name.removesuffix(".xz")
    plain.write_bytes(lzma.decompress(file.read_bytes()))
    return plain


@functools.cache
def tokenizer(name: str) -> bp.Tokenizer:
    """A published tokenizer, loaded once.

    Raises:
        FileNotFoundError: Its file is not there.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        file = unpacked(name, Path(folder))
        return _ranks(name, file) or bp.Tokenizer.from_file(file)


def peer(name: str) -> Any:
    """The same tokenizer by the package `tokenizers`, which then adds nothing to a text.

    None without the package, or if the file is of another format.
    """
    if importlib.util.find_spec("tokenizers") is None or "tokenizer" not in FILES[name] or ".json" not in FILES[name]:
        return None
    import tokenizers

    with tempfile.TemporaryDirectory() as folder:
        found = tokenizers.Tokenizer.from_file(str(unpacked(name, Path(folder))))
    found.post_processor = tokenizers.processors.Sequence([])
    found.no_truncation()
    found.no_padding()
    return found
