"""tiktoken's `Encoding` on a `bytepair.Tokenizer`.

The file is long because of the docstrings of the public surface.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from bytepair.compat.tiktoken import splitting, unstable
from bytepair.compat.tiktoken.specials import Specials
from bytepair.errors import EncodeError, FormatError, InvalidIdError, SpecialTokenError
from bytepair.model.models import BytePair
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair._core import Encoder
    from bytepair.call.options import Ids, Special

    Allowed = Literal["all"] | AbstractSet[str]
    Disallowed = Literal["all"] | Collection[str]

_NONE: frozenset[str] = frozenset()


class Encoding:
    r"""An encoding with tiktoken's methods.

    By default special tokens in a text raise an error. ``allowed_special`` (``"all"`` or a set) lists special tokens
    that text may become; ``disallowed_special`` lists those that raise (``"all"``: all that are not allowed; ``()``:
    none, so that they are encoded as ordinary text). Surrogate pairs are joined; lone surrogates become U+FFFD.

    Args:
        name: The name of the encoding.
        pat_str: The split pattern. Text that it does not match is dropped.
        mergeable_ranks: The rank of each token, which is its id.
        special_tokens: The id of each special token.
        explicit_n_vocab: The required number of tokens, with ids from 0 to one less.

    Attributes:
        name: The name of the encoding.
        max_token_value: The greatest id.
        tokenizer: The underlying `bytepair.Tokenizer`; of several special tokens with one id it has the first.

    Raises:
        AssertionError: The number of tokens is not `explicit_n_vocab`.
        FormatError: The data do not make a tokenizer, for example because two tokens have one id. It is a ValueError.
        PatternError: The pattern does not compile. It is a ValueError.

    Example:
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
        >>> enc = Encoding("tiny", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|end|>": 300})
        >>> enc, enc.encode("lower<|end|>", allowed_special="all"), enc.tokenizer.count("lower")
        (<Encoding 'tiny'>, [257, 101, 114, 300], 3)
    """

    name: str
    max_token_value: int
    tokenizer: Tokenizer
    # Set by the registry: a registered encoding is pickled by its name.
    _is_registered: bool = False

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        if not mergeable_ranks:
            raise ValueError("mergeable_ranks is empty; give the rank of each token")
        most = max([*mergeable_ranks.values(), *special_tokens.values()])
        if explicit_n_vocab:
            _check_size(explicit_n_vocab, len(mergeable_ranks) + len(special_tokens), most)
        tokens = sorted(mergeable_ranks, key=mergeable_ranks.__getitem__)
        ids = tuple(mergeable_ranks[token] for token in tokens)
        # Like tiktoken, report a missing byte only when a text needs it.
        model = BytePair(tuple(tokens), ids, partial_alphabet=True)
        taken, added = set(ids), []
        for content, id in special_tokens.items():
            # The core has one token for each id, and one id for each byte string.
            if id not in taken or mergeable_ranks.get(content.encode()) == id:
                added.append(AddedToken(content, id))
                taken.add(id)
        spec = TokenizerSpec(model, split=(pat_str,), added_tokens=tuple(sorted(added, key=lambda token: token.id)))
        self._mergeable_ranks = mergeable_ranks
        self._set(name, Tokenizer(spec), pat_str, special_tokens)

    @classmethod
    def _published(cls, name: str, tokenizer: Tokenizer, pat_str: str, special_tokens: Mapping[str, int]) -> Self:
        """Make an encoding on an existing tokenizer; its ranks are computed on first access."""
        self = cls.__new__(cls)
        self._set(name, tokenizer, pat_str, dict(special_tokens))
        return self

    def _set(self, name: str, tokenizer: Tokenizer, pat_str: str, special_tokens: dict[str, int]) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.max_token_value = tokenizer.vocab_size - 1
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._special_ids = frozenset(special_tokens.values())
        core = tokenizer.special_tokens
        self._specials = Specials(special_tokens, known=core)
        self._second_names = [content for content in special_tokens if content not in core]
        ranks = self.__dict__.get("_mergeable_ranks", {})
        # Tokens for which encode_single_token and the core differ.
        self._single = {content.encode(): special_tokens[content] for content in self._second_names}
        self._single.update({token: ranks[token] for token in map(str.encode, special_tokens) if token in ranks})
        self._gaps = None if pat_str in splitting.MATCH_ALL else splitting.Gaps(pat_str, tokenizer.spec.byte_pair)

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, name: str) -> Self:
        """Make an encoding from a bytepair tokenizer, for code that takes one of tiktoken.

        The ids of every text are equal if the split pattern matches all text.

        Args:
            tokenizer: A byte-level tokenizer with at most one split pattern and no other stage; its added tokens are
                special.
            name: The name of the encoding.

        Raises:
            FormatError: The tokenizer has a feature that tiktoken does not support; the error names it.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258, special_tokens=["<|endoftext|>"])
            >>> Encoding.from_tokenizer(tok, "tiny").eot_token
            257
        """
        from bytepair.model.semantics import to_ranks  # noqa: PLC0415 (few need it)

        spec = tokenizer.spec
        model = to_ranks(spec.byte_pair)
        plain = [AddedToken(token.content, token.id) for token in spec.added_tokens]
        features = {
            "normalizers": bool(spec.normalizers),
            "prefix_space": spec.prefix_space,
            "several split patterns": len(spec.split) > 1,
            "added tokens that are not special, or have flags": plain != list(spec.added_tokens),
        }
        for feature, is_there in features.items():
            if is_there:
                raise FormatError(f"an encoding of tiktoken cannot have {feature}", remedy="use the tokenizer itself")
        return cls(
            name,
            pat_str=next(filter(None, spec.split), splitting.WHOLE),
            mergeable_ranks=dict(zip(model.tokens, model.ids, strict=True)),
            special_tokens=tokenizer.special_tokens,
        )

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text; special tokens in it are ordinary text.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.encode_ordinary("low low")
            [257, 32, 257]
        """
        _check_text(text)
        if self._gaps is None or not self._gaps.are_in(text):
            return self.tokenizer.encode(text, special="text", errors="replace")
        return self._gaps.encode(_joined(text))

    def encode(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """Encode a text.

        Args:
            text: The text.
            allowed_special: The special tokens that text may become: ``"all"``, or a set.
            disallowed_special: The strings that raise: ``"all"`` for all special tokens that are not allowed, or a
                collection of strings.

        Raises:
            SpecialTokenError: The text contains a disallowed string. It is a ValueError.
            EncodeError: A byte of the text has no token. It is a ValueError.
            TypeError: `text` is not a ``str``, or `allowed_special` is not a set.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
            >>> enc = Encoding.from_tokenizer(tok, "tiny")
            >>> enc.encode("low<|end|>", allowed_special={"<|end|>"}), len(enc.encode("<|end|>", disallowed_special=()))
            ([257, 258], 7)
            >>> enc.encode("<|end|>")
            Traceback (most recent call last):
            bytepair.errors.SpecialTokenError: the text contains the disallowed special token '<|end|>' (cha...
        """
        _check_text(text)
        special = self._rule(text, allowed_special, disallowed_special)
        if special is not None:
            try:
                return self.tokenizer.encode(text, special=special, errors="replace")
            except SpecialTokenError:
                pass
        self._specials.check(text, allowed_special, disallowed_special)
        return self._encode_allowed(_joined(text), self._specials.allowed(allowed_special))

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """As `encode`, but return an array that owns its memory; surrogates raise UnicodeEncodeError.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.encode_to_numpy("low low")
            array([257,  32, 257], dtype=uint32)
        """
        import numpy as np  # noqa: PLC0415 (imported on first use)

        _check_text(text)
        special = self._rule(text, allowed_special, disallowed_special)
        if special is not None:
            try:
                return self.tokenizer.encode_array(text, special=special)
            except (SpecialTokenError, EncodeError):
                pass
        self._specials.check(text, allowed_special, disallowed_special)
        text.encode()
        return np.array(self._encode_allowed(text, self._specials.allowed(allowed_special)), np.uint32)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts as `encode_ordinary`, on up to `num_threads` threads.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.encode_ordinary_batch(["low", ""])
            [[257], []]
        """
        return self.encode_batch(text, num_threads=num_threads, disallowed_special=())

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode texts as `encode`, on up to `num_threads` threads; errors as `encode`.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.encode_batch(["low", "w"])
            [[257], [119]]
        """
        _check_threads(num_threads)
        texts = list(text)
        for row in texts:
            _check_text(row)
        special = self._specials.policy(allowed_special, disallowed_special)
        if special is not None and self._gaps is None and not any(map(self._has_second_name, texts)):
            try:
                return self.tokenizer.encode_batch(texts, special=special, errors="replace", threads=num_threads)
            except SpecialTokenError:
                pass
        return [
            self.encode(row, allowed_special=allowed_special, disallowed_special=disallowed_special) for row in texts
        ]

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text that may continue: the stable ids, and completions of the rest; options as `encode`.

        Args:
            text: The text; surrogates raise UnicodeEncodeError.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.

        Returns:
            The stable ids; and the completions, those of one token first, in ascending order. Each begins with the rest
            of the text, and only its last token extends beyond it. As in tiktoken, the list is not complete.

        Time is linear in the number of tokens that begin with a suffix of the unstable rest.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({" low": 5}, vocab_size=259, split="gpt2"), "tiny")
            >>> enc.encode_with_unstable("a lo")
            ([97], [[258], [256, 111]])
        """
        _check_text(text)
        self._specials.check(text, allowed_special, disallowed_special)
        text.encode()
        return unstable.encode_with_unstable(self, text, self._specials.allowed(allowed_special))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, special or not.

        Raises:
            InvalidIdError: There is no such token. It is a KeyError.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.encode_single_token("low"), enc.encode_single_token(b"l")
            (257, 108)
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        if self._single and token in self._single:
            return self._single[token]
        return self.tokenizer.token_id(token)

    # Decoding

    def decode_bytes(self, tokens: Ids) -> bytes:
        r"""Decode ids to bytes.

        Raises:
            InvalidIdError: No token has this id. It is a KeyError.
            OverflowError: An id is negative, or 2^32 or more.
            TypeError: An id is not an integer.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.decode_bytes([257, 0xff])
            b'low\xff'
        """
        try:
            return self.tokenizer.decode_bytes(tokens)
        except InvalidIdError:
            _check_ids(tokens)
            raise

    def decode(self, tokens: Ids, errors: str = "replace") -> str:
        """Decode ids to text.

        Args:
            tokens: The ids.
            errors: The handling of invalid UTF-8, as for ``bytes.decode``.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is ``"strict"``. Other errors as `decode_bytes`.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.decode([257, 32, 257])
            'low low'
        """
        try:
            return self.tokenizer.decode(tokens, errors)
        except InvalidIdError:
            _check_ids(tokens)
            raise

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, special or not; errors as `decode_bytes`.

        Example:
            >>> import bytepair as bp
            >>> Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny").decode_single_token_bytes(257)
            b'low'
        """
        try:
            return self.tokenizer.token_bytes(token)
        except InvalidIdError:
            _check_ids([token])
            raise

    def decode_tokens_bytes(self, tokens: Ids) -> list[bytes]:
        """Return the bytes of each token; errors as `decode_bytes`.

        Example:
            >>> import bytepair as bp
            >>> Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny").decode_tokens_bytes([257, 32])
            [b'low', b' ']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Ids) -> tuple[str, list[int]]:
        """Decode ids to text, and return the start of each token in characters.

        A token that starts inside a character has the start of that character.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8. Other errors as `decode_bytes`.

        Example:
            >>> import bytepair as bp
            >>> enc = Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny")
            >>> enc.decode_with_offsets([*"é".encode(), 257])
            ('élow', [0, 0, 1])
        """
        starts, begun = [], 0
        parts = self.decode_tokens_bytes(tokens)
        for part in parts:
            # All bytes of a character except the first are 0b10xxxxxx.
            starts.append(max(begun - (part[0] & 0xC0 == 0x80), 0))
            begun += sum(byte & 0xC0 != 0x80 for byte in part)
        return b"".join(parts).decode(), starts

    def decode_batch(self, batch: Sequence[Ids], *, errors: str = "replace", num_threads: int = 8) -> list[str]:
        """Decode rows of ids to texts; errors as `decode`.

        Args:
            batch: The rows.
            errors: As for `decode`.
            num_threads: Validated and otherwise unused: Python makes strings on one thread at a time.

        Example:
            >>> import bytepair as bp
            >>> Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny").decode_batch([[257], []])
            ['low', '']
        """
        _check_threads(num_threads)
        rows = list(batch)
        try:
            return self.tokenizer.decode_batch(rows, errors)
        except InvalidIdError:
            for row in rows:
                _check_ids(row)
            raise

    def decode_bytes_batch(self, batch: Sequence[Ids], *, num_threads: int = 8) -> list[bytes]:
        """Decode rows of ids to bytes; `num_threads` as for `decode_batch`, errors as `decode_bytes`.

        Example:
            >>> import bytepair as bp
            >>> Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny").decode_bytes_batch([[257], []])
            [b'low', b'']
        """
        _check_threads(num_threads)
        return [self.decode_bytes(row) for row in batch]

    # Vocabulary

    def token_byte_values(self) -> list[bytes]:
        """List the bytes of all tokens that are not special, in byte order.

        Example:
            >>> import bytepair as bp
            >>> Encoding.from_tokenizer(bp.train({"low": 5}, vocab_size=258), "tiny").token_byte_values()[108:112]
            [b'l', b'lo', b'low', b'm']
        """
        return list(self._sorted_tokens)

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; KeyError if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id belongs to a special token; AssertionError if it is not an ``int``.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"])
            >>> Encoding.from_tokenizer(tok, "tiny").is_special_token(257)
            True
        """
        if not isinstance(token, int):
            raise AssertionError(f"an id is an int, not {type(token).__name__}; convert it with int()")  # noqa: TRY004
        return token in self._special_ids

    @property
    def n_vocab(self) -> int:
        """The greatest id plus one: the number of rows of an embedding table."""
        return self.max_token_value + 1

    # Private methods that tiktoken's README and tests use

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        model = self.tokenizer.spec.byte_pair
        return dict(zip(model.tokens, model.ids, strict=True))

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encode one piece without splitting it; special tokens are text."""
        piece = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self._merger.encode_piece(piece)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """As `encode_ordinary`, one piece at a time."""
        return [id for piece in self._pieces(text) for id in self._encode_single_piece(piece)]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes that need not be UTF-8; special tokens are text."""
        return unstable.encode_bytes(self, text)

    def __getstate__(self) -> object:
        if self._is_registered:
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, str):
            assert by_name is not None
            self.__dict__ = by_name(state).__dict__
        else:
            Encoding.__init__(self, **state)

    # Helpers

    @cached_property
    def _merger(self) -> Encoder:
        return self.tokenizer.encoder("heap")

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    def _rule(self, text: str, allowed: Any, disallowed: Any) -> Special | None:
        """The core's ``special`` policy that returns tiktoken's ids for this text or raises; None if there is none."""
        special = self._specials.policy(allowed, disallowed)
        if self._second_names and self._has_second_name(text):
            return None
        if self._gaps is None:
            return special
        # If a text contains special tokens, the pattern is applied between them.
        return special if special in ("raise", "text") and not self._gaps.are_in(text) else None

    def _has_second_name(self, text: str) -> bool:
        return any(name in text for name in self._second_names)

    def _pieces(self, text: str) -> list[str]:
        """Split a text without special tokens into pieces."""
        return self.tokenizer.pieces(text, special="text") if self._gaps is None else self._gaps.pieces(text)

    def _encode_stretch(self, text: str) -> list[int]:
        """Encode the text between two special tokens."""
        if self._gaps is not None and self._gaps.are_in(text):
            return self._gaps.encode(text)
        return self.tokenizer.encode(text, special="text")

    def _encode_allowed(self, text: str, allowed: frozenset[str]) -> list[int]:
        """Encode a text; allowed special tokens are matched, the rest is text."""
        ids, start = [], 0
        for begin, end, id in self._specials.places(text, allowed):
            ids += self._encode_stretch(text[start:begin])
            ids.append(id)
            start = end
        return ids + self._encode_stretch(text[start:])


by_name: Callable[[str], Encoding] | None = None
"""`registry.get_encoding`, which the registry puts here: encodings are unpickled by it."""


def _joined(text: str) -> str:
    """Join surrogate pairs; lone surrogates become U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}; decode bytes first")


def _check_threads(threads: int | None) -> None:
    # None means one thread for each core, for a Python pool and for the core.
    if threads is not None and threads <= 0:
        raise ValueError(f"num_threads must be greater than 0, and is {threads}")


def _check_ids(ids: Iterable[Any]) -> None:
    """Raise tiktoken's errors for values that cannot be ids."""
    for id in ids:
        if not 0 <= operator.index(id) < 2**32:
            raise OverflowError(f"the id {id} is out of range: ids are from 0 to below 2^32")


def _check_size(wanted: int, found: int, greatest: int) -> None:
    if found != wanted:
        raise AssertionError(f"explicit_n_vocab is {wanted}, but there are {found} tokens, special tokens included")
    if greatest != wanted - 1:
        raise AssertionError(f"explicit_n_vocab is {wanted}, but the greatest id is {greatest}: ids must have no holes")
