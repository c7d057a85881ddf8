"""A tokenizer as a file held it: all that a `TokenizerSpec` says, without a Python object for each token.

Loading hands this to the core, so that nobody waits for plain data that few look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from bytepair._core import Columns
from bytepair.checks import check_added_ids, check_alphabet, check_post_processor

if TYPE_CHECKING:
    from bytepair.spec import AddedToken, NormalizerName, TokenizerSpec


class AddedRow(NamedTuple):
    """The fields of an `AddedToken`, as the core takes them."""

    content: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


def added_row(token: AddedToken) -> AddedRow:
    """The fields of an added token."""
    return AddedRow(
        token.content, token.id, token.special, token.single_word, token.lstrip, token.rstrip, token.normalized
    )


class Loaded(NamedTuple):
    """The fields of a `TokenizerSpec` and of its model, with tokens, ids and merges in the core's columns."""

    columns: Columns
    ignore_merges: bool = False
    partial_alphabet: bool = False
    split: tuple[str, ...] = ()
    added: tuple[AddedRow, ...] = ()
    normalizers: tuple[str, ...] = ()
    prefix_space: bool = False
    post_processor: str | None = None

    @property
    def semantics(self) -> str:
        """``"ranks"`` or ``"merges"``."""
        return "ranks" if self.columns.merge_count is None else "merges"

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {content: id for content, id, special, *_ in self.added if special}

    def check(self) -> None:
        """As `TokenizerSpec.check`, raises FormatError."""
        check_added_ids([row[1] for row in self.added])
        check_post_processor(self.post_processor)
        if not self.partial_alphabet:
            check_alphabet(self.columns.single_bytes())

    def spec(self) -> TokenizerSpec:
        """The same as plain data."""
        from bytepair.spec import AddedToken, BytePair, TokenizerSpec  # noqa: PLC0415 (here it is wanted)

        columns = self.columns
        return TokenizerSpec(
            BytePair(columns.tokens(), columns.ids(), columns.merges(), self.ignore_merges, self.partial_alphabet),
            split=self.split,
            added_tokens=tuple(AddedToken(*row) for row in self.added),
            normalizers=cast("tuple[NormalizerName, ...]", self.normalizers),
            prefix_space=self.prefix_space,
            post_processor=self.post_processor,
        )


def unload(spec: TokenizerSpec) -> Loaded:
    """The same as the core's columns.

    Raises:
        OverflowError: An id is out of range.

    Example:
        >>> from bytepair.spec import BytePair, TokenizerSpec
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2)))
        >>> unload(spec).spec() == spec
        True
    """
    model = spec.model
    return Loaded(
        Columns(model.tokens, model.ids, model.merges),
        ignore_merges=model.ignore_merges,
        partial_alphabet=model.partial_alphabet,
        split=spec.split,
        added=tuple(map(added_row, spec.added_tokens)),
        normalizers=spec.normalizers,
        prefix_space=spec.prefix_space,
        post_processor=spec.post_processor,
    )
