"""Options that components of several stages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers.components import Component, Option
from bytepair.compat.tokenizers.values import boolean, character, choice, read_metaspace

if TYPE_CHECKING:
    from typing_extensions import Self


class MetaspaceOptions(Component):
    """The options of the pre-tokenizer and the decoder Metaspace."""

    replacement = Option[str](character, "\u2581")
    prepend_scheme = Option[str](choice(always="always", never="never", first="first"), "always")
    split = Option[bool](boolean, True)

    def __init__(self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True) -> None:
        self._set(replacement=replacement, prepend_scheme=prepend_scheme, split=split)

    @classmethod
    def _read(cls, table: dict[str, Any]) -> Self:
        return super()._read(read_metaspace(table))


class ByteLevelOptions(Component):
    """The options of the pre-tokenizer, the decoder and the post-processor ByteLevel."""

    add_prefix_space = Option[bool](boolean, True)
    trim_offsets = Option[bool](boolean, True)
    use_regex = Option[bool](boolean, True)

    def _set(self, **values: Any) -> None:
        kind = values.pop("type")
        if kind != "ByteLevel":
            raise ValueError(f"type={kind!r}: a ByteLevel has the type ByteLevel")
        super()._set(**values)
