"""Functions for engines and data pipelines: arrays and tuples in place of objects, and no second look at the input.

Each takes a `Tokenizer` first, except those of the caches' memory. They are as exact and as stable as its methods,
which most programs should call: `Tokenizer.encode_batch_array`, `Tokenizer.offsets`, ``tok(...)`` and
`Tokenizer.encode_chat` are made of them.

Example:
    >>> import bytepair as bp
    >>> tok = bp.train({"low": 5}, vocab_size=258)
    >>> ids, offsets = bp.lowlevel.encode_batch_flat(tok, ["low", "slow"])
    >>> ids.tolist(), offsets.tolist()
    ([257, 115, 257], [0, 1, 3])
"""

from bytepair._core import (
    cache_memory,
    encode_batch_flat,
    encode_buffer,
    find_added,
    limit_cache_memory,
    locate,
    locate_trusted,
)

__all__ = [
    "cache_memory",
    "encode_batch_flat",
    "encode_buffer",
    "find_added",
    "limit_cache_memory",
    "locate",
    "locate_trusted",
]
