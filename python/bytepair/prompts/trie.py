"""`Trie`: the tokens of a model by their bytes, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair import _core
from bytepair.model.cache import cached
from bytepair.model.meanings import stands_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bytepair.model.compiled import CompiledTokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """The tokens of a model by their bytes: nodes in preorder, so that a subtree is a range of nodes, and of ids.

    The first child of ``node`` is ``node + 1``, the next sibling of a child is ``ends[child]``, and the subtree of
    ``node`` is ``node`` to ``ends[node]``. Siblings ascend by their bytes. Node 0 is the root. The arrays cannot be
    written to.

    Attributes:
        labels: The byte that leads to each node, 0 for the root: uint8, shape ``(nodes,)``.
        ends: One past the last node of each subtree: uint32, shape ``(nodes,)``.
        parents: The parent of each node, 0 for the root: uint32, shape ``(nodes,)``.
        starts: The ids of the tokens that end at node ``i`` are ``ids[starts[i]:starts[i + 1]]``: uint32, shape
            ``(nodes + 1,)``.
        ids: The ids, in the order of their tokens' bytes: uint32, shape ``(tokens,)``.

    Example:
        >>> import bytepair as bp
        >>> trie = bp.train({"low": 5, "lower": 2}, vocab_size=259).trie()
        >>> trie.under(b"lo").tolist(), trie.at(b"low").tolist(), len(trie)
        ([256, 257], [257], 260)
    """

    labels: NDArray[np.uint8]
    ends: NDArray[np.uint32]
    parents: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ids: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, prefix: bytes) -> int | None:
        """The node that these bytes lead to; None if no token begins with them."""
        node = 0
        for byte in prefix:
            child, end = node + 1, self.ends[node]
            while child < end and self.labels[child] != byte:
                child = int(self.ends[child])
            if child >= end:
                return None
            node = child
        return node

    def at(self, token: bytes) -> NDArray[np.uint32]:
        """The ids of the tokens that are these bytes: seldom several, in vocabularies of characters."""
        node = self.find(token)
        return self.ids[:0] if node is None else self.ids[self.starts[node] : self.starts[node + 1]]

    def under(self, prefix: bytes) -> NDArray[np.uint32]:
        """The ids of the tokens that begin with these bytes, as a view."""
        node = self.find(prefix)
        return self.ids[:0] if node is None else self.ids[self.starts[node] : self.starts[self.ends[node]]]


def trie(tokenizer: CompiledTokenizer) -> Trie:
    """As `Tokenizer.trie`."""
    return cached(tokenizer, "trie", _make)


def _make(tokenizer: CompiledTokenizer) -> Trie:
    added = {token.id for token in tokenizer.spec.added_tokens}
    tokens = {id: token for id, token in stands_for(tokenizer.spec).items() if id not in added}
    arrays = _core.token_trie(list(tokens.values()), list(tokens))
    for array in arrays:
        array.flags.writeable = False
    return Trie(*arrays)
