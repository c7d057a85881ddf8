"""Formats of shards: a module each, with a `Shard`. Packages that one format alone needs are imported late."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bytepair.shards.sinks import litdata, mds, megatron
from bytepair.shards.sinks.flat import FlatShard, join
from bytepair.shards.sinks.npy import NpyShard
from bytepair.shards.sinks.shard import Encoded, Shard, smallest_unsigned
from bytepair.shards.sinks.table import ArrowShard, ParquetShard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np

__all__ = ["FORMATS", "Encoded", "Format", "Shard"]

_UNSIGNED = ("uint16", "uint32")
_ANY = (*_UNSIGNED, "int32", "int64")
_NARROW = ("uint16", "int32")
_BESIDE = "{split}-{number}"
_WITHIN = "{split}/{number}"
_CHUNKS = "{split}/chunk-{number}"


@dataclass(frozen=True)
class Format:
    """A format of shards.

    Attributes:
        name: Its name.
        open: Begins a shard: called with ``folder, stem, dtype, inputs`` as `Shard` is, and where `table` is true
            also with ``table=...``.
        dtype: The dtype of ids, from the largest possible id.
        dtypes: All that they can be written as, by NumPy's names.
        stem: How shards are named, made by ``stem.format(split=..., number=...)`` with as many digits as all need.
            A folder in it is for formats with an index for all of a folder.
        table: Whether it has no place for which document is where, so that a table stands beside each shard.
        join: Makes one shard of several, called with ``parts, folder, stem, dtype, inputs, table=...``; see
            `flat.join`. None if that cannot be.
        finish: Writes what folders need on top of their shards, given the folder of all files and the names of those
            in it, and returns the names of what it wrote; None if that is nothing.
        needs: The pip requirement of it; empty for none. A table of documents needs ``pyarrow`` besides.
        writers: The packages that write it, by the names that pip knows: another version may write other bytes.

    Example:
        >>> FORMATS["bin"].dtype(50_256).name, FORMATS["bin"].stem.format(split="train", number="00017")
        ('uint16', 'train-00017')
    """

    name: str
    open: Callable[..., Shard]
    dtype: Callable[[int], np.dtype[Any]]
    dtypes: tuple[str, ...] = _UNSIGNED
    stem: str = _BESIDE
    table: bool = False
    join: Callable[..., None] | None = None
    finish: Callable[[Path, Sequence[str]], list[str]] | None = None
    needs: str = ""
    writers: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("bin", FlatShard, smallest_unsigned, _ANY, table=True, join=partial(join, FlatShard)),
        Format("npy", NpyShard, smallest_unsigned, _ANY, table=True, join=partial(join, NpyShard)),
        Format(
            "megatron",
            megatron.MegatronShard,
            megatron.smallest_dtype,
            _NARROW,
            table=True,
            join=partial(join, megatron.MegatronShard),
        ),
        Format("parquet", ParquetShard, smallest_unsigned, _ANY, needs="pyarrow>=18", writers=("pyarrow",)),
        Format("arrow", ArrowShard, smallest_unsigned, _ANY, needs="pyarrow>=18", writers=("pyarrow",)),
        Format(
            "mds",
            mds.MdsShard,
            smallest_unsigned,
            stem=_WITHIN,
            finish=mds.finish,
            needs="mosaicml-streaming",
            writers=("mosaicml-streaming",),
        ),
        Format(
            "litdata",
            litdata.LitdataShard,
            litdata.smallest_dtype,
            _NARROW,
            _CHUNKS,
            table=True,
            finish=litdata.finish,
            needs="litdata",
            writers=("litdata",),
        ),
    )
}
