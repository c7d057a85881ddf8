"""vLLM: a tokenizer mode with a cache of ids, for its registry of tokenizers.

Written against the documented interface of vLLM 0.12 to 0.22 (``vllm.tokenizers.TokenizerRegistry``), and tested with a
stand-in for the registry: vLLM itself is not among the packages of the tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from bytepair.compat.serving import cache_prefixes
from bytepair.tokenizer import Tokenizer


class BytepairTokenizer:
    """Makes the tokenizers of a mode: those of ``AutoTokenizer``, with a `PrefixCache`."""

    @classmethod
    def from_pretrained(
        cls,
        path_or_repo_id: str | Path,
        *arguments: Any,
        trust_remote_code: bool = False,
        revision: str | None = None,
        download_dir: str | None = None,
        **options: Any,
    ) -> Any:
        """Load a tokenizer, as vLLM's registry calls it."""
        theirs = AutoTokenizer.from_pretrained(
            path_or_repo_id,
            *arguments,
            trust_remote_code=trust_remote_code,
            revision=revision,
            cache_dir=download_dir,
            **options,
        )
        if Path(path_or_repo_id).exists():
            tok = Tokenizer.from_file(path_or_repo_id)
        else:
            tok = Tokenizer.from_pretrained(str(path_or_repo_id), revision=revision or "main", cache=download_dir)
        return cache_prefixes(theirs, tok)


def register(mode: str = "bytepair") -> None:
    """Register the mode: ``vllm serve MODEL --tokenizer-mode bytepair``, in a plugin or before the engine is made."""
    from vllm.tokenizers import TokenizerRegistry  # noqa: PLC0415 (large)

    TokenizerRegistry.register(mode, __name__, BytepairTokenizer.__name__)
