"""`CompiledTokenizer`: the core's tokenizer and the data that it was compiled from.

`bytepair.Tokenizer` adds loading, saving, calls, chats and chunks. The rooms below it take this class, so that they do
not depend on what is built from them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from bytepair._core import CoreTokenizer
from bytepair.errors import FormatError
from bytepair.model.checks import MOST_IDS
from bytepair.model.loaded import Loaded, unload

if TYPE_CHECKING:
    from typing_extensions import Self

    from bytepair.model.spec import TokenizerSpec


class CompiledTokenizer(CoreTokenizer):
    """A compiled tokenizer: immutable, compared and pickled by its data.

    Args:
        spec: The data to compile.

    Raises:
        FormatError: The spec does not make a tokenizer: a byte without a token, an id or token that occurs twice, a
            merge of unknown tokens.
        PatternError: A split pattern does not compile.
    """

    _loaded: Loaded

    def __new__(cls, spec: TokenizerSpec) -> Self:  # noqa: D102 (the class documents it)
        # A caller with a spec has imported this; loading a file does not need it.
        from bytepair.model.spec import TokenizerSpec  # noqa: PLC0415

        if not isinstance(spec, TokenizerSpec):
            raise TypeError(
                f"a Tokenizer is made of a TokenizerSpec, not {type(spec).__name__}; see Tokenizer.from_file"
            )
        spec.check()
        try:
            self = cls._compile(unload(spec))
        except OverflowError as error:
            raise FormatError("an id is out of range", remedy=f"ids are from 0 to {MOST_IDS - 1}") from error
        self.__dict__["spec"] = spec
        return self

    @classmethod
    def _from_loaded(cls, loaded: Loaded) -> Self:
        """Compiles loaded data; the spec is made on first access."""
        if cls.__new__ is not CompiledTokenizer.__new__ or cls.__init__ is not CoreTokenizer.__init__:
            # A subclass with a constructor of its own is given a spec.
            return cls(loaded.spec())
        loaded.check()
        return cls._compile(loaded)

    @classmethod
    def _compile(cls, loaded: Loaded) -> Self:
        self = super().__new__(
            cls,
            columns=loaded.columns,
            ignore_merges=loaded.ignore_merges,
            added=loaded.added,
            normalizers=loaded.normalizers,
            prefix_space=loaded.prefix_space,
            patterns=loaded.split,
            pre_tokenizers=loaded.pre_tokenizers,
            decoders=loaded.decoders,
            model=loaded.core_options(),
        )
        self.__dict__["_loaded"] = loaded
        return self

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The plain data that the tokenizer was compiled from."""
        return self._loaded.spec()

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]).special_tokens
            {'<|end|>': 257}
        """
        return self._loaded.special_tokens

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tokenizer is immutable; {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec,)

    def __eq__(self, other: object) -> bool:
        return self.spec == other.spec if isinstance(other, CompiledTokenizer) else NotImplemented

    # Equal specs have equal special tokens; hashing a whole vocabulary would cost more than comparing.
    def __hash__(self) -> int:
        return hash((len(self), tuple(self.special_tokens.items())))
