"""`Tokenizer`: load it or train it, then encode, decode and count. Immutable; every option is given per call."""

from __future__ import annotations

from dataclasses import astuple
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import formats
from bytepair._core import CoreTokenizer
from bytepair.encoding import Ragged
from bytepair.errors import FormatError
from bytepair.formats import native
from bytepair.spec import MOST_IDS, TokenizerSpec

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from bytepair.encoding import Special, TextInput


class Tokenizer(CoreTokenizer):
    """A tokenizer: immutable, shared by threads, picklable, safe across forks.

    Args:
        spec: What it is compiled from.

    Raises:
        FormatError: The spec does not make a tokenizer: a byte without a token, an id or token that occurs twice, a
            merge of unknown tokens.
        PatternError: A split pattern does not compile.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> tok.encode("lower low")
        [257, 258, 32, 257]
        >>> tok.decode([257, 258])
        'lower'
    """

    _spec: TokenizerSpec

    def __new__(cls, spec: TokenizerSpec) -> Tokenizer:  # noqa: D102 (the class says it)
        if not isinstance(spec, TokenizerSpec):
            raise TypeError(
                f"a Tokenizer is made of a TokenizerSpec, not {type(spec).__name__}; see Tokenizer.from_file"
            )
        spec.check()
        try:
            self = super().__new__(
                cls,
                tokens=spec.model.tokens,
                ids=spec.model.ids,
                merges=spec.model.merges,
                ignore_merges=spec.model.ignore_merges,
                added=[astuple(token) for token in spec.added_tokens],
                normalizers=spec.normalizers,
                prefix_space=spec.prefix_space,
                patterns=spec.split,
            )
        except OverflowError as error:
            raise FormatError("an id is out of range", remedy=f"ids are from 0 to {MOST_IDS - 1}") from error
        self.__dict__["_spec"] = spec
        return self

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        split: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        partial_alphabet: bool = False,
    ) -> Tokenizer:
        """Loads a tokenizer; the format is told by the content.

        Args:
            path: A native file, tokenizer.json, .tiktoken, vocab.json (merges.txt beside it), or a folder with one.
            split: For files that hold none: a name or pattern. A .tiktoken file needs it, vocab.json means ``gpt2``.
            special_tokens: For files that hold none: the special tokens and their ids.
            partial_alphabet: Whether bytes that UTF-8 uses may have no token: text that needs them raises EncodeError.

        Raises:
            ArtifactError: The file cannot be read.
            FormatError: It is broken, or holds something that is not supported; ``pointer`` says where.
            IntegrityError: A manifest beside it promises another hash.

        Example:
            >>> import bytepair as bp, tempfile
            >>> tok = bp.train({"low": 5}, vocab_size=258)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     files = tok.save(folder)
            ...     bp.Tokenizer.from_file(folder) == tok
            True
        """
        options: dict[str, Any] = {"split": split, "special_tokens": special_tokens}
        return cls(formats.load(Path(path), **options, partial_alphabet=partial_alphabet))

    @classmethod
    def from_tiktoken(
        cls,
        path: str | os.PathLike[str],
        *,
        split: str,
        special_tokens: Mapping[str, int],
        partial_alphabet: bool = False,
    ) -> Tokenizer:
        """Loads a bare rank file, which holds neither split pattern nor special tokens; errors as `from_file`."""
        return cls.from_file(path, split=split, special_tokens=special_tokens, partial_alphabet=partial_alphabet)

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        drop: Collection[str] = (),
    ) -> list[Path]:
        """Writes the tokenizer and ``manifest.json``, each file whole or not at all; returns their paths.

        A folder is for one writer at a time: files of two would not fit together, which loading then says.

        Args:
            path: A folder, or a file whose name says its format.
            format: ``tokenizer.json`` (the default for a folder), ``native``, ``tiktoken`` or ``vocab+merges``. Ranks
                become merges, or merges ranks, where a format needs it and every text is proved to keep its ids.
            drop: Features that may be lost, such as ``("split", "special_tokens")`` for a bare rank file.

        Raises:
            FormatError: The format cannot hold a feature that is not in `drop`, which is named.
            ArtifactError: The files cannot be written. What was there before is then still there.
        """
        return formats.save(self._spec, Path(path), format, drop)

    @property
    def spec(self) -> TokenizerSpec:
        """What the tokenizer was compiled from."""
        return self._spec

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]).special_tokens
            {'<|end|>': 257}
        """
        return self._spec.special_tokens

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
        return native.fingerprint(self._spec)

    def encode_batch_array(
        self,
        texts: Iterable[TextInput],
        *,
        special: Special = "raise",
        added: str = "match",
        errors: str = "strict",
        threads: int | None = None,
    ) -> Ragged:
        """The ids of each text of a batch in one flat array; options and errors as `encode_batch`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).encode_batch_array(["low", "w"]).ids
            array([257, 119], dtype=uint32)
        """
        return Ragged(*self.encode_batch_flat(texts, special=special, added=added, errors=errors, threads=threads))

    def decode_batch(
        self, rows: Iterable[Sequence[int]], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> list[str]:
        """The text of each row of ids; options and errors as `decode`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).decode_batch([[257], []])
            ['low', '']
        """
        return [self.decode(ids, errors, skip_special_tokens=skip_special_tokens) for ids in rows]

    def tokens(
        self, text: TextInput, *, special: Special = "raise", added: str = "match", errors: str = "strict"
    ) -> list[bytes]:
        """The bytes of each token of a text; options and errors as `encode`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).tokens("slow")
            [b's', b'low']
        """
        return [self.token_bytes(id) for id in self.encode(text, special=special, added=added, errors=errors)]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tokenizer is immutable; {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._spec,)

    def __eq__(self, other: object) -> bool:
        return self._spec == other._spec if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        semantics = self._spec.model.semantics
        return f"<Tokenizer: {len(self)} tokens, {semantics}, {len(self.special_tokens)} special>"
