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

READ_ONLY_NAMES = ("rwkv_vocab_*.txt", "encoder.json", "*-vocab.json")
"""Other names of files in a folder: RWKV's, those of GPT-2 as it came out, and of `tokenizers` with a prefix."""

_GPT2 = ("encoder.json", "vocab.bpe")


def merges_beside(vocabulary: str) -> str:
    """The name of the merges that belong to a file of tokens and ids.

    Example:
        >>> [merges_beside(name) for name in ("vocab.json", "encoder.json", "roberta-base-vocab.json", "other")]
        ['merges.txt', 'vocab.bpe', 'roberta-base-merges.txt', 'merges.txt']
    """
    if vocabulary == _GPT2[0]:
        return _GPT2[1]
    return _prefix(vocabulary, "vocab.json") + "merges.txt"


def vocabulary_beside(merges: str) -> str:
    """The name of the tokens and ids that belong to a file of merges.

    Example:
        >>> [vocabulary_beside(name) for name in ("merges.txt", "vocab.bpe", "roberta-base-merges.txt", "other")]
        ['vocab.json', 'encoder.json', 'roberta-base-vocab.json', 'vocab.json']
    """
    if merges == _GPT2[1]:
        return _GPT2[0]
    return _prefix(merges, "merges.txt") + "vocab.json"


def _prefix(name: str, ending: str) -> str:
    return name.removesuffix(ending) if name.endswith(ending) else ""
