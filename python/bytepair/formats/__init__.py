"""Files <-> `TokenizerSpec`: one module per format, with `read` and `write`.

`detection` finds the format of a file by its content, `loading` reads files and folders, `saving` writes them with a
`manifest`. `encodings` and `hub` fetch published tokenizers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
"""The formats that are written, and the names of their files. Files of GGUF, RWKV, CLIP and Marian are only read."""

SUFFIXES = {".bytepair": "native", ".tiktoken": "tiktoken", ".model": "sentencepiece", ".codes": "codes"}
"""The format of a file whose name ends so."""

READ_ONLY_SUFFIXES = (".gguf",)

RWKV = "rwkv_vocab_*.txt"
"""The names of RWKV's vocabularies."""

READ_ONLY_NAMES = (RWKV, "bpe_simple_vocab_16e6.txt", "encoder.json", "*-vocab.json", "source.spm")
"""Other names of files in a folder: of RWKV, CLIP, Marian, GPT-2 as it came out, and of `tokenizers` with a prefix."""

_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))


def merges_beside(vocabulary: Path) -> Path:
    """The merges that belong to a file of tokens and ids: of the same prefix, or ``merges.txt`` if only that is there.

    Example:
        >>> from pathlib import Path
        >>> [merges_beside(Path(name)).name for name in ("vocab.json", "encoder.json", "roberta-base-vocab.json")]
        ['merges.txt', 'vocab.bpe', 'roberta-base-merges.txt']
    """
    return _beside(vocabulary, _PAIRS)


def vocabulary_beside(merges: Path) -> Path:
    """The tokens and ids that belong to a file of merges, likewise; ``vocab.json`` for one of any other name.

    Example:
        >>> from pathlib import Path
        >>> [vocabulary_beside(Path(name)).name for name in ("merges.txt", "vocab.bpe", "other")]
        ['vocab.json', 'encoder.json', 'vocab.json']
    """
    return _beside(merges, [(other, one) for one, other in _PAIRS])


def _beside(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    usual = path.with_name(pairs[0][1])
    for one, other in pairs:
        named = path.with_name(path.name.removesuffix(one) + other)
        if path.name.endswith(one) and (named.is_file() or not usual.is_file()):
            return named
    return usual
