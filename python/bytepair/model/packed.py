"""`PackedModel`: a model as the core takes it, in columns and options.

Loading a file makes no Python object per token: plain data (`bytepair.model.models`) is unpacked on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from bytepair._core import Columns


class PackedModel(NamedTuple):
    """The wire form of a `Model`: `models.pack` and `models.unpack` convert.

    Attributes:
        columns: Tokens, ids, merges and scores.
        options: The other settings of a model spelled in characters, as JSON with sorted keys; None for a model of
            bytes.
        ignore_merges: As in `BytePair`.
        partial_alphabet: As in `BytePair`.
    """

    columns: Columns
    options: str | None = None
    ignore_merges: bool = False
    partial_alphabet: bool = False

    @property
    def is_byte_level(self) -> bool:
        """Whether merging begins from bytes."""
        return self.options is None

    def all_ids(self) -> tuple[int, ...]:
        """The ids of all tokens of the model by id, unreachable ones among them."""
        ids, unreachable = self.columns.ids(), self.columns.unreachable()
        return tuple(sorted((*ids, *(id for _, id in unreachable)))) if unreachable else ids

    @property
    def semantics(self) -> str:
        """``"ranks"`` or ``"merges"``; the type of a model that does not merge."""
        if self.options is not None and self.columns.merge_count is None:
            return str(parse_options(self.options)["type"])
        return "ranks" if self.columns.merge_count is None else "merges"

    def core_options(self) -> str | None:
        """`options` with ``ignore_merges`` added: for models of characters the core reads it there."""
        if self.options is None or not self.ignore_merges:
            return self.options
        return spell_options({**parse_options(self.options), "ignore_merges": True})


# Most models are models of bytes, which have no options: loading them does without json.


def spell_options(options: dict[str, Any]) -> str:
    """Options as `PackedModel.options` holds them: equal options are equal text."""
    import json  # noqa: PLC0415

    return json.dumps(options, sort_keys=True, ensure_ascii=False)


def parse_options(options: str) -> dict[str, Any]:
    """The inverse of `spell_options`."""
    import json  # noqa: PLC0415

    return cast("dict[str, Any]", json.loads(options))
