"""`CompiledTokenizer`: the core's tokenizer and the data that it was compiled from.

`bytepair.Tokenizer` adds loading, saving, calls, chats and chunks. Lower packages take this class, so that they do
not depend on those methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bytepair._core import CoreTokenizer
from bytepair.model.checks import check_post_processor_ids
from bytepair.model.spec import TokenizerSpec

if TYPE_CHECKING:
    from typing_extensions import Self


class CompiledTokenizer(CoreTokenizer):
    """A compiled tokenizer: immutable, compared and pickled by its data.

    Args:
        spec: The data to compile.

    Raises:
        FormatError: The spec is not a valid tokenizer: a byte without a token, an id or token that occurs twice, a
            merge of unknown tokens, a post-processor that adds an id beyond the vocabulary.
        PatternError: A split pattern does not compile.
    """

    def __new__(cls, spec: TokenizerSpec) -> Self:  # noqa: D102 (the class documents it)
        if not isinstance(spec, TokenizerSpec):
            raise TypeError(f"a Tokenizer takes a TokenizerSpec, not {type(spec).__name__}; see bp.load")
        spec.check()
        model = spec.packed
        self = super().__new__(
            cls,
            columns=model.columns,
            ignore_merges=model.ignore_merges,
            added=spec.added_tokens,
            normalizers=spec.normalizers,
            prefix_space=spec.prefix_space,
            patterns=spec.split,
            pre_tokenizers=spec.pre_tokenizers,
            decoders=spec.decoders,
            model=model.core_options(),
        )
        check_post_processor_ids(spec.post_processor, self.vocab_size)
        self.__dict__["_spec"] = spec
        return self

    @property
    def spec(self) -> TokenizerSpec:
        """The data that the tokenizer was compiled from."""
        return cast("TokenizerSpec", self.__dict__["_spec"])

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]).special_tokens
            {'<|end|>': 257}
        """
        return self.spec.special_tokens

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tokenizer is immutable; {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec,)

    def __eq__(self, other: object) -> bool:
        return self.spec == other.spec if isinstance(other, CompiledTokenizer) else NotImplemented

    # Equal specs have equal special tokens; hashing a whole vocabulary would cost more than comparing.
    def __hash__(self) -> int:
        return hash((len(self), tuple(self.special_tokens.items())))
