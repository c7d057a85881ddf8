"""Files <-> `TokenizerSpec`: one module per format, with `read` and `write`.

`detection` finds the format of a file by its content, `loading` reads files and folders, `saving` writes them with a
`manifest`. `encodings` and `hub` fetch published tokenizers.
"""

from __future__ import annotations

FILES: dict[str, tuple[str, ...]] = {
    "native": ("tokenizer.bytepair",),
    "tokenizer.json": ("tokenizer.json",),
    "tekken.json": ("tekken.json",),
    "tiktoken": ("tokenizer.tiktoken",),
    "vocab+merges": ("vocab.json", "merges.txt"),
    "sentencepiece": ("tokenizer.model",),
    "vocab.txt": ("vocab.txt", "tokenizer_config.json"),
    "codes": ("bpe.codes", "bpe.vocab"),
}
"""The formats that are written, and the names of their files. GGUF and RWKV's vocabularies are only read."""

SUFFIXES = {".bytepair": "native", ".tiktoken": "tiktoken", ".model": "sentencepiece", ".codes": "codes"}
"""The format of a file whose name ends so."""

READ_ONLY_SUFFIXES = (".gguf",)

READ_ONLY_NAMES = "rwkv_vocab_*.txt"
"""The names of files of RWKV, which are only read."""
