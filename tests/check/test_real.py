"""Findings on real vocabularies: only their true faults. Each was checked by hand.

- Merge lists that were made of ranks or scores hold pairs that never merge.
- Gemma 3's list cannot make four of its tokens, and its Split cuts at spaces that the normalizer replaced.
- T5 has two tokens that others spell with a higher score.
- BERT's pre-tokenizer cuts at each punctuation mark, and at each ideograph: no token that continues after one is
  reachable.
- Qwen's split pattern cuts between Thai or Devanagari letters and their marks, and each digit, also a wide one; twelve
  of its tokens are not NFC.
- GPT-NeoX has added tokens of spaces that are in its vocabulary with other ids.
- DeepSeek Coder has added tokens that are letters of Latin-1.
"""

from __future__ import annotations

import lzma
import warnings
from pathlib import Path
from typing import TypeAlias

import pytest

import bytepair as bp
from tests.conftest import WHOLE

Found: TypeAlias = "dict[str, tuple[str, int | None]]"
"""The severity and the number of findings of each kind."""

MERGES: Found = {"unreachable-merge": ("note", None)}
BERT: Found = {"unreached-token": ("note", 337)}
QWEN: Found = {"normalized-token": ("warning", 12), "unreached-token": ("note", 1658)}

EXPECTED: dict[str, Found] = {
    "bert-base-uncased/tokenizer.daulet.json": BERT,
    "bert-base-uncased/vocab.txt": BERT,
    "clip/": {},
    "deepseek/": {"unmarked-control-token": ("note", 14)},
    "gemma3/tokenizer.json.xz": {"unreachable-token": ("warning", 4), "idle-split": ("note", 1), **MERGES},
    "gguf/ggml-vocab-bert-bge.gguf": BERT,
    "gguf/ggml-vocab-deepseek-coder.gguf": {
        "duplicate-token": ("warning", 6),
        "shadowing-token": ("warning", 12),
        "unmarked-control-token": ("note", 6),
    },
    "gguf/ggml-vocab-gpt-2.gguf": {},
    "gguf/ggml-vocab-llama-bpe.gguf.xz": {"unreachable-merge": ("note", 152_991)},
    "gguf/ggml-vocab-llama-spm.gguf": MERGES,
    "gguf/ggml-vocab-qwen2.gguf.xz": {"unreached-token": ("note", 1670)},
    "gpt-neox/tokenizer.json": {"duplicate-token": ("warning", 23)},
    "gpt2/tokenizer.json": {},
    "gpt2/vocab.json": {"reserved-token": ("note", 1)},
    "kimi-k2/tiktoken.model": {"stages-unknown": ("note", 1)},
    "llama2/": MERGES,
    "llama2/tokenizer.model": MERGES,
    "llama3/": {"unreachable-merge": ("note", 152_991)},
    "mistral/mistral_instruct_tokenizer_240323.model.v3": MERGES,
    "mistral/tekken_240718.json.xz": {},
    "mistral/tekken_240911.json.xz": {},
    "mistral/tokenizer.model.v1": MERGES,
    "mistral/tokenizer_v0.3.json": MERGES,
    "openai/gpt-oss_tokenizer.json.xz": {"unreachable-merge": ("note", 246_447)},
    "phi-2/tokenizer.json": {},
    "qwen/qwen.tiktoken": {"stages-unknown": ("note", 1)},
    "qwen2/": {**QWEN, "template-without-eos": ("note", 1)},
    "qwen3/": {**QWEN, "unmarked-control-token": ("note", 6)},
    "roberta-base/tokenizer.json": {"reserved-token": ("note", 4)},
    "t5-small/tokenizer.json": {"unreachable-token": ("warning", 2)},
}
"""The findings by file or folder: the severity and the number of each kind."""

HOLES = {"r50k": 0, "p50k": 0, "cl100k": 16, "o200k": 19}
"""The number of ids without tokens in each published encoding, which has no other finding."""


def unpacked(data: Path, name: str, folder: Path) -> Path:
    """An unpacked file; or an unpacked folder, of `tokenizer.json` and the files beside it."""
    source = data / "vocabs" / name
    if not name.endswith("/"):
        if source.suffix != ".xz":
            return source
        (folder / source.stem).write_bytes(lzma.decompress(source.read_bytes()))
        return folder / source.stem
    for file in source.iterdir():
        if file.name in ("tokenizer.json", "tokenizer.json.xz", "tokenizer_config.json", "chat_template.jinja"):
            content = file.read_bytes()
            (folder / file.name.removesuffix(".xz")).write_bytes(
                lzma.decompress(content) if file.suffix == ".xz" else content
            )
    return folder


AGAIN = {
    "gguf/ggml-vocab-llama-bpe.gguf.xz",
    "gguf/ggml-vocab-qwen2.gguf.xz",
    "mistral/tekken_240718.json.xz",
    "openai/gpt-oss_tokenizer.json.xz",
    "qwen2/",
}
"""Tables that another of these files holds as well; BYTEPAIR_WHOLE=1 includes them."""


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in EXPECTED if WHOLE or name not in AGAIN])
def test_a_real_vocabulary(data: Path, tmp_path: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        found = bp.lint(unpacked(data, name, tmp_path))
    assert {finding.code for finding in found} == EXPECTED[name].keys()
    for finding in found:
        severity, count = EXPECTED[name][finding.code]
        assert finding.severity == severity
        assert count is None or finding.count == count
    if name.startswith("gemma3"):
        _is_so(found["unreachable-token"].ids, tmp_path / "tokenizer.json")


def _is_so(ids: tuple[int, ...], path: Path) -> None:
    """Another library does not return these ids either."""
    tokenizers = pytest.importorskip("tokenizers")
    peer = tokenizers.Tokenizer.from_file(str(path))
    for id in ids:
        text = peer.id_to_token(id).replace("▁", " ")
        assert id not in peer.encode(text, add_special_tokens=False).ids


@pytest.mark.data
@pytest.mark.parametrize("name", HOLES)
def test_a_published_encoding(data: Path, name: str) -> None:
    found = bp.lint(bp.get_encoding(f"{name}_base", folder=data / "vocabs" / "openai"))
    assert [(finding.code, finding.count) for finding in found] == [("id-holes", HOLES[name])] * bool(HOLES[name])
