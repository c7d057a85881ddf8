"""Tie policies: which of several equally frequent pairs is merged.

The one idea: small corpora are full of ties, and an unnamed rule (hash order, insertion order) makes two trainers that
are both right disagree. So the rule has a name. Four are in use:

- ``lowest_ids``: the smallest (left id, right id). The libraries tokenizers and rustbpe.
- ``greatest_bytes``: the lexicographically greatest (left bytes, right bytes). "Building a Fast BPE Tokenizer from
  Scratch", and the course CS336.
- ``smallest_bytes``: the smallest such pair. The page "02 - The BPE Algorithm".
- ``first_seen``: the pair whose earliest occurrence comes first, by order of the pieces, then by position in the
  piece. ``Counter.most_common`` over a full recount, hence minbpe and "Slow Data".

Each is here twice: as a plain definition (``winner``) and as a sort key, which a heap needs (``heap_key``).

Complexity: a winner reads the whole pair table. Biggest weakness: exactly that; the heap exists to avoid it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bytepair.reference.pairs import Pair

TIES = ("lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen")


def check_ties(ties: str) -> None:
    """Refuse a tie policy that does not exist.

    Args:
        ties: The name of a policy.

    Raises:
        ValueError: There is no such policy; the message names those there are.

    Complexity: O(1).

    Example:
        >>> check_ties("random")
        Traceback (most recent call last):
        ValueError: unknown tie policy 'random'; use one of lowest_ids, greatest_bytes, smallest_bytes, first_seen
    """
    if ties not in TIES:
        raise ValueError(f"unknown tie policy {ties!r}; use one of {', '.join(TIES)}")


def winner(
    table: Mapping[Pair, int], ties: str, *, ids: Mapping[bytes, int], pieces: Iterable[Sequence[bytes]]
) -> Pair:
    """Pick the most frequent pair of a table, ties broken by a named policy.

    Args:
        table: Pair -> count; not empty.
        ties: The name of a policy.
        ids: Token -> id; only ``lowest_ids`` reads it.
        pieces: The current symbols of each piece, in the order of the counts table; only ``first_seen`` reads it.

    Raises:
        ValueError: The policy is unknown, or the table is empty.

    Complexity: O(pairs), and for ``first_seen`` up to O(symbols of all pieces).

    Example:
        >>> table = {(b"b", b"a"): 2, (b"a", b"b"): 2, (b"c", b"c"): 1}
        >>> at = {"ids": {b"a": 97, b"b": 98, b"c": 99}, "pieces": [[b"b", b"a", b"b"], [b"b", b"a", b"b"]]}
        >>> winner(table, "lowest_ids", **at)
        (b'a', b'b')
        >>> winner(table, "first_seen", **at)
        (b'b', b'a')
    """
    check_ties(ties)
    highest = max(table.values())
    tied = {pair for pair, count in table.items() if count == highest}
    if ties == "lowest_ids":
        return min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    if ties == "greatest_bytes":
        return max(tied)
    if ties == "smallest_bytes":
        return min(tied)
    return next(pair for symbols in pieces for pair in pairwise(symbols) if pair in tied)


def inverted(token: bytes) -> str:
    """Turn a token into a string that sorts the other way round.

    Negating each byte is not enough, because a prefix would still sort before its extension. A closing mark above every
    negated byte puts it after.

    Args:
        token: Any bytes.

    Complexity: O(bytes).

    Example:
        >>> sorted([b"a", b"ab", b"b", b""], key=inverted)
        [b'b', b'ab', b'a', b'']
    """
    return "".join(chr(255 - byte) for byte in token) + chr(256)


def heap_key(pair: Pair, ties: str, *, ids: Mapping[bytes, int], place: Callable[[Pair], Any]) -> Any:
    """Return the key by which a min-heap orders equally frequent pairs under a policy.

    Keys of one policy compare with each other; keys of different policies do not.

    Args:
        pair: The pair.
        ties: The name of a policy.
        ids: Token -> id.
        place: Where a pair first occurs, as something that sorts; only called for ``first_seen``.

    Raises:
        ValueError: The policy is unknown.

    Complexity: O(bytes of the pair), and whatever ``place`` takes.

    Example:
        >>> heap_key((b"a", b"b"), "lowest_ids", ids={b"a": 97, b"b": 98}, place=lambda pair: 0)
        (97, 98)
    """
    check_ties(ties)
    left, right = pair
    if ties == "lowest_ids":
        return ids[left], ids[right]
    if ties == "greatest_bytes":
        return inverted(left), inverted(right)
    if ties == "smallest_bytes":
        return pair
    return place(pair)
