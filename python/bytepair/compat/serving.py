"""Servers that encode prompts with a tokenizer of ``transformers``, such as SGLang and vLLM: a cache below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import BatchEncoding

from bytepair._core import PrefixCache
from bytepair.errors import FormatError
from bytepair.formats.probes import TEXTS

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer

_COLUMNS = {"input_ids", "attention_mask"}


class _Cached:
    """The base put before a class of tokenizers: one text without further options goes through the cache."""

    _prefix_cache: PrefixCache
    _around: tuple[list[int], list[int]]

    def _cached(self, text: object, arguments: tuple[Any, ...], options: dict[str, Any]) -> list[int] | None:
        asked = {name for name, value in options.items() if value is not None and value is not False}
        if not isinstance(text, str) or arguments or asked - {"add_special_tokens"}:
            return None
        begin, end = self._around if options.get("add_special_tokens", True) else ([], [])
        return [*begin, *self._prefix_cache.encode(text).tolist(), *end]

    def encode(self, text: Any, *arguments: Any, **options: Any) -> Any:
        """As the class below."""
        ids = self._cached(text, arguments, options)
        return super().encode(text, *arguments, **options) if ids is None else ids  # type: ignore[misc]

    def __call__(self, text: Any = None, *arguments: Any, **options: Any) -> Any:
        """As the class below."""
        columns = set(self.model_input_names)  # type: ignore[attr-defined]
        ids = self._cached(text, arguments, options) if columns == _COLUMNS else None
        if ids is None:
            return super().__call__(text, *arguments, **options)  # type: ignore[misc]
        return BatchEncoding({"input_ids": ids, "attention_mask": [1] * len(ids)})


def cache_prefixes(tokenizer: Any, tok: Tokenizer, *, bytes: int = 256 << 20) -> Any:  # noqa: A002 (as PrefixCache)
    """Gives a tokenizer of ``transformers`` a `PrefixCache`; returns the tokenizer, which is of a subclass now.

    One text in ``encode`` or a call is encoded by the cache, with the same ids; texts of a batch, pairs, and calls with
    further options (padding, truncation, tensors) are encoded as before. ``tokenizer._prefix_cache.figures()`` counts.

    Args:
        tokenizer: A fast tokenizer, as ``AutoTokenizer.from_pretrained`` returns it.
        tok: The same tokenizer of bytepair, as ``bp.Tokenizer.from_file`` reads it.
        bytes: The most memory of the cache.

    Raises:
        FormatError: The two differ on one of the probes.

    Example:
        >>> import bytepair as bp, tempfile, transformers
        >>> from bytepair.compat.serving import cache_prefixes
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = tok.save(folder)
        ...     theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
        >>> tokenizer = cache_prefixes(theirs, tok)
        >>> tokenizer.encode("lower low"), isinstance(tokenizer, transformers.PreTrainedTokenizerFast)
        ([257, 258, 32, 257], True)
    """
    for probe in TEXTS:
        if tokenizer.encode(probe, add_special_tokens=False) != tok.encode(probe, special="allow"):
            raise FormatError(f"the two tokenizers have other ids for {probe!r:.80}", remedy="pass one tokenizer twice")
    bare, whole = tokenizer.encode("a", add_special_tokens=False), tokenizer.encode("a")
    places = (place for place in range(len(whole)) if whole[place : place + len(bare)] == bare)
    start = next(places, None)
    if start is None:
        raise FormatError("the ids of a text change where special tokens are added", remedy="encode without a cache")
    kind = type(tokenizer)
    tokenizer.__class__ = type(kind.__name__, (_Cached, kind), {})
    tokenizer._around = whole[:start], whole[start + len(bare) :]
    tokenizer._prefix_cache = PrefixCache(tok, bytes=bytes, special="allow")
    return tokenizer
