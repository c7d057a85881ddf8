"""LangChain: a text splitter that measures chunks in tokens and records their start in the text."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

if TYPE_CHECKING:
    from bytepair.call.options import Added, Special
    from bytepair.chunk.chunks import Boundary
    from bytepair.tokenizer import Tokenizer


class BytepairTextSplitter(TextSplitter):
    """Splits texts with `Tokenizer.chunks`: chunks cover the text, and none alone has more tokens than `chunk_size`.

    White space at the ends of a chunk stays, since a chunk without it can have more tokens than with it.
    ``start_index`` is where the chunk starts, not where its text is found first.

    Args:
        tokenizer: The tokenizer that counts tokens.
        chunk_size: The most tokens that a chunk has.
        chunk_overlap: The most tokens that a chunk shares with the one before.
        boundary: The preferred ends of chunks, as for `Tokenizer.chunks`.
        special: The policy for special tokens in a text, as for `Tokenizer.encode`. By default they stay text.
        added: The policy for other added tokens in a text.
        add_start_index: Whether documents say, in their metadata, at which character of the text they start.

    Raises:
        ValueError: `chunk_size` is not positive, or `chunk_overlap` is negative or larger.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.langchain import BytepairTextSplitter
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> splitter = BytepairTextSplitter(tok, chunk_size=4, chunk_overlap=0, boundary="word")
        >>> "".join(splitter.split_text("low low low"))
        'low low low'
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        chunk_size: int = 4000,
        chunk_overlap: int = 200,
        boundary: Boundary = "sentence",
        special: Special = "text",
        added: Added = "match",
        add_start_index: bool = False,
    ) -> None:
        super().__init__(
            chunk_size,
            chunk_overlap,
            length_function=partial(tokenizer.count, special=special, added=added),
            add_start_index=add_start_index,
            strip_whitespace=False,
        )
        self._chunks = partial(
            tokenizer.chunks,
            limit=chunk_size,
            overlap=chunk_overlap,
            boundary=boundary,
            special=special,
            added=added,
        )

    def split_text(self, text: str) -> list[str]:
        """Split a text; return the texts of its chunks in order."""
        return [text[chunk.start : chunk.end] for chunk in self._chunks(text)]

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """Make a document for each chunk of each text, with a copy of the text's metadata."""
        documents = []
        for row, text in enumerate(texts):
            for chunk in self._chunks(text):
                metadata = deepcopy(metadatas[row]) if metadatas else {}
                if self._add_start_index:
                    metadata["start_index"] = chunk.start
                documents.append(Document(page_content=text[chunk.start : chunk.end], metadata=metadata))
        return documents
