"""The interface of tiktoken on bytepair: replace ``import tiktoken`` by ``from bytepair.compat import tiktoken``.

Names, arguments, defaults, results and classes of errors are those of tiktoken, which need not be installed.
``docs/compat-tiktoken.md`` lists the differences. ``encoding.tokenizer`` is the underlying `bytepair.Tokenizer`.

Example:
    >>> import bytepair as bp
    >>> from bytepair.compat import tiktoken
    >>> enc = tiktoken.Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
    >>> enc.encode("low low"), enc.decode([257, 32, 257])
    ([257, 32, 257], 'low low')
    >>> tiktoken.encoding_name_for_model("gpt-4o")
    'o200k_base'
"""

from __future__ import annotations

from bytepair.compat.tiktoken import core, load, model, registry
from bytepair.compat.tiktoken.core import Encoding
from bytepair.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from bytepair.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "core",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "load",
    "model",
    "registry",
]

__version__ = "0.14.0"
"""The version of tiktoken whose behaviour is implemented."""
