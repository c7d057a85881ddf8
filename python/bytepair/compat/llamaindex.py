"""LlamaIndex: a node parser that measures in tokens, metadata included, and records where each node starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.constants import DEFAULT_CHUNK_OVERLAP, DEFAULT_CHUNK_SIZE
from llama_index.core.node_parser.interface import MetadataAwareTextSplitter
from llama_index.core.node_parser.node_utils import build_nodes_from_splits
from llama_index.core.schema import MetadataMode
from llama_index.core.utils import get_tqdm_iterable

from bytepair.call.options import Added
from bytepair.chunk.chunks import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_index.core.schema import BaseNode, Document

    from bytepair.call.options import Special
    from bytepair.tokenizer import Tokenizer

_METADATA_FORMAT = "\n\n"  # the separator between a node's metadata and its text in the default template


class BytepairTextSplitter(MetadataAwareTextSplitter):
    """Splits documents with `Tokenizer.chunks`: nodes cover the text, and none has more tokens than `chunk_size`.

    The tokens of a node's metadata, which precedes its text, count as well. White space at the ends of a chunk is kept,
    since a chunk without it can have more tokens.

    Args:
        tokenizer: The tokenizer that counts tokens.
        chunk_size: The maximum number of tokens in a node.
        chunk_overlap: The maximum number of tokens that a node shares with the previous one.
        boundary: The preferred ends of chunks, by name, as for `Tokenizer.chunks`.
        special: The policy for special tokens in a text, as for `Tokenizer.encode`. By default they stay text.
        added: The policy for other added tokens in a text.
        **options: Options of every node parser: ``include_metadata``, ``include_prev_next_rel``, ``callback_manager``,
            ``id_func``.

    Raises:
        ValueError: `chunk_size` is not positive, or `chunk_overlap` is negative or not smaller; or, when
            a document is split, its metadata leaves no room for text.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.llamaindex import BytepairTextSplitter
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> splitter = BytepairTextSplitter(tok, chunk_size=4, chunk_overlap=0, boundary="word")
        >>> "".join(splitter.split_text("low low low"))
        'low low low'
    """

    chunk_size: int = Field(gt=0)
    chunk_overlap: int = Field(ge=0)
    boundary: Kind
    special: Any
    added: Added
    # Caches of pipelines distinguish splitters by their fields.
    fingerprint: str
    _tokenizer: Any = PrivateAttr()

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        chunk_size: int = DEFAULT_CHUNK_SIZE,
        chunk_overlap: int = DEFAULT_CHUNK_OVERLAP,
        boundary: Kind = "sentence",
        special: Special = "text",
        added: Added = "match",
        **options: Any,
    ) -> None:
        unknown = options.keys() - {"include_metadata", "include_prev_next_rel", "callback_manager", "id_func"}
        if unknown:
            raise TypeError(f"BytepairTextSplitter takes no {sorted(unknown)[0]!r}")
        if chunk_overlap >= chunk_size:
            raise ValueError(f"chunk_overlap ({chunk_overlap}) must be smaller than chunk_size ({chunk_size})")
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            boundary=boundary,
            special=special if isinstance(special, str) else sorted(special),
            added=added,
            fingerprint=tokenizer.fingerprint,
            **options,
        )
        self._tokenizer = tokenizer

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serializes the class."""
        return "BytepairTextSplitter"

    def split_text(self, text: str) -> list[str]:
        """Split a text; return the texts of its chunks in order. An empty text has one empty chunk."""
        return self.split_text_metadata_aware(text, "")

    def split_text_metadata_aware(self, text: str, metadata_str: str) -> list[str]:
        """As `split_text`, with room in each chunk for metadata before it."""
        return [text[start:end] for start, end in self._spans(text, metadata_str)]

    def _spans(self, text: str, metadata: str) -> list[tuple[int, int]]:
        if not text:
            return [(0, 0)]
        policy = {"special": self.special, "added": self.added}
        before = metadata + _METADATA_FORMAT if metadata else ""
        limit = self.chunk_size - self._tokenizer.count(before, **policy)
        while True:
            if limit <= self.chunk_overlap:
                raise ValueError(
                    f"metadata takes {self.chunk_size - limit} of the {self.chunk_size} tokens of a chunk, which "
                    f"leaves no room beside an overlap of {self.chunk_overlap}; make chunk_size larger, or keep "
                    "metadata out with excluded_embed_metadata_keys and excluded_llm_metadata_keys"
                )
            chunks = self._tokenizer.chunks(text, limit, overlap=self.chunk_overlap, boundary=self.boundary, **policy)
            spans = [(chunk.start, chunk.end) for chunk in chunks]
            if not metadata:
                return spans
            # Metadata and text can have more tokens together than apart, and LlamaIndex strips them, after which they
            # can have more again.
            contents = [(before + text[start:end]).strip() for start, end in spans]
            counts = self._tokenizer.count_batch(contents, **policy)
            if max(counts) <= self.chunk_size:
                return spans
            limit -= max(counts) - self.chunk_size

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:
        parsed: list[BaseNode] = []
        for node in get_tqdm_iterable(nodes, show_progress, "Parsing nodes"):
            text = node.get_content(metadata_mode=MetadataMode.NONE)
            spans = self._spans(text, self._get_metadata_str(node) if self.include_metadata else "")
            made = build_nodes_from_splits([text[start:end] for start, end in spans], node, id_func=self.id_func)
            for new, (start, end) in zip(made, spans, strict=True):
                new.start_char_idx, new.end_char_idx = start, end
            parsed.extend(made)
        return parsed

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]) -> list[BaseNode]:
        # LlamaIndex searches for each node's text and takes the first match, which can be the wrong one.
        places = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        nodes = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, (start, end) in zip(nodes, places, strict=True):
            node.start_char_idx, node.end_char_idx = start, end
        return nodes
