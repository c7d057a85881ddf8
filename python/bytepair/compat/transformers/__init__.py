"""Tokenizers of ``transformers`` on bytepair: a replacement, and an engine for tokenizers that it has loaded.

Replacement: ``from bytepair.compat.transformers import AutoTokenizer`` instead of ``from transformers import
AutoTokenizer``. Engine: `patch` replaces the engine of a loaded tokenizer. Only `patch` imports ``transformers``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bytepair.compat.tokenizers.added_tokens import AddedToken
    from bytepair.compat.transformers.auto import AutoTokenizer
    from bytepair.compat.transformers.batch import BatchEncoding, CharSpan, TokenSpan
    from bytepair.compat.transformers.patching import patch, unpatch
    from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast

_MODULES = {
    "AddedToken": "added",
    "AutoTokenizer": "auto",
    "BatchEncoding": "batch",
    "CharSpan": "batch",
    "PreTrainedTokenizerFast": "tokenizer",
    "TokenSpan": "batch",
    "patch": "patching",
    "unpatch": "patching",
}

__all__ = [
    "AddedToken",
    "AutoTokenizer",
    "BatchEncoding",
    "CharSpan",
    "PreTrainedTokenizerFast",
    "TokenSpan",
    "patch",
    "unpatch",
]


def __getattr__(name: str) -> Any:
    # GPT2TokenizerFast and other classes.
    module = "named" if name.endswith(("Tokenizer", "TokenizerFast")) else None
    module = _MODULES.get(name, module)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415 (imported on first use)

    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
