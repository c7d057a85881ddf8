"""chonkie: a tokenizer for its chunkers, and a chunker that measures in tokens and never splits a character."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from chonkie import BaseChunker
from chonkie import Tokenizer as ChonkieTokenizer
from chonkie.types import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.call.options import Added, Special
    from bytepair.chunk.chunks import Boundary
    from bytepair.tokenizer import Tokenizer


class BytepairTokenizer(ChonkieTokenizer):
    """A tokenizer for the chunkers and refineries of chonkie.

    chonkie's ``TokenChunker`` splits between tokens, which for a byte-level tokenizer can be inside a character; its
    halves become U+FFFD. So does its ``RecursiveChunker`` where a text has none of its delimiters. `BytepairChunker`
    never splits a character.

    Args:
        tokenizer: The tokenizer.
        special: The policy for special tokens in a text, as for `Tokenizer.encode`. By default they stay text.
        added: The policy for other added tokens in a text.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.chonkie import BytepairTokenizer
        >>> tokenizer = BytepairTokenizer(bp.train({"low": 5}, vocab_size=258))
        >>> tokenizer.encode("slow"), tokenizer.tokenize("slow"), tokenizer.count_tokens("slow")
        ([115, 257], ['s', 'low'], 2)
    """

    def __init__(self, tokenizer: Tokenizer, *, special: Special = "text", added: Added = "match") -> None:
        # The constructor of chonkie's class would start a vocabulary that grows with every text.
        self.tokenizer = tokenizer
        self.policy: dict[str, Any] = {"special": special, "added": added}

    def __repr__(self) -> str:
        return f"BytepairTokenizer({self.tokenizer!r})"

    def get_vocab(self) -> list[str]:
        """List the text of each token by id; bytes that are not UTF-8 are escaped."""
        return list(self.get_token2id())

    def get_token2id(self) -> dict[str, int]:
        """Map the text of each token to its id; bytes that are not UTF-8 are escaped."""
        spec = self.tokenizer.spec
        tokens = [*zip(spec.model.ids, spec.model.tokens, strict=True)]
        tokens += [(token.id, token.content.encode()) for token in spec.added_tokens]
        return {token.decode(errors="backslashreplace"): id for id, token in sorted(tokens)}

    def encode(self, text: str) -> list[int]:
        """Encode a text."""
        return self.tokenizer.encode(text, **self.policy)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode texts on all cores."""
        return self.tokenizer.encode_batch(texts, **self.policy)

    def tokenize(self, text: str) -> list[str]:
        """List the text of each token of a text; U+FFFD for part of a character."""
        return [token.decode(errors="replace") for token in self.tokenizer.tokens(text, **self.policy)]

    def decode(self, tokens: Sequence[int]) -> str:
        """Decode ids."""
        return self.tokenizer.decode(tokens)

    def decode_batch(self, token_sequences: Sequence[Sequence[int]]) -> list[str]:
        """Decode rows of ids."""
        return self.tokenizer.decode_batch(token_sequences)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return self.tokenizer.count(text, **self.policy)

    def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, on all cores."""
        return self.tokenizer.count_batch(texts, **self.policy)


class BytepairChunker(BaseChunker):
    """Splits texts with `Tokenizer.chunks`: chunks cover the text, and none alone has more tokens than `chunk_size`.

    Args:
        tokenizer: The tokenizer that counts tokens.
        chunk_size: The maximum number of tokens in a chunk.
        chunk_overlap: The maximum number of tokens that a chunk shares with the previous one.
        boundary: The preferred ends of chunks, as for `Tokenizer.chunks`.
        special: The policy for special tokens in a text, as for `Tokenizer.encode`. By default they stay text.
        added: The policy for other added tokens in a text.

    Raises:
        ValueError: `chunk_size` is not positive, or `chunk_overlap` is negative or not smaller.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.chonkie import BytepairChunker
        >>> chunker = BytepairChunker(bp.train({"low": 5}, vocab_size=258), chunk_size=4, boundary="word")
        >>> "".join(chunk.text for chunk in chunker("low low low"))
        'low low low'
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        chunk_size: int = 2048,
        chunk_overlap: int = 0,
        boundary: Boundary = "sentence",
        special: Special = "text",
        added: Added = "match",
    ) -> None:
        if chunk_size <= 0 or not 0 <= chunk_overlap < chunk_size:
            raise ValueError(f"chunk_overlap ({chunk_overlap}) must be from 0 to below chunk_size ({chunk_size})")
        super().__init__(BytepairTokenizer(tokenizer, special=special, added=added))
        self._bytepair = tokenizer
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self._chunks = partial(
            tokenizer.chunks,
            limit=chunk_size,
            overlap=chunk_overlap,
            boundary=boundary,
            special=special,
            added=added,
        )

    def __repr__(self) -> str:
        return f"BytepairChunker({self._bytepair!r}, chunk_size={self.chunk_size}, chunk_overlap={self.chunk_overlap})"

    def chunk(self, text: str) -> list[Chunk]:
        """Split a text into chunks, with their positions and numbers of tokens."""
        return [
            Chunk(
                text=text[chunk.start : chunk.end],
                start_index=chunk.start,
                end_index=chunk.end,
                token_count=chunk.tokens,
            )
            for chunk in self._chunks(text)
        ]
