"""The reachable tokens and merges of a merge list, computed for all tokens at once.

A token is in the ids of some piece if and only if merging its bytes alone produces it. In a piece with the token, no
merge crossed its borders: such a merge would have made a symbol that spans them. Each merge inside it was the lowest
and leftmost of the whole piece, thus also of those inside, and changed nothing outside: in order, they are the merges
of its bytes alone. For the other direction, its bytes are such a piece. (The caller handles models that take a whole
piece as a token whatever its merges.)

By the same argument a merge happens in some piece if and only if it is the last one when the bytes of its product are
merged alone. So merging each token once decides all tokens and all merges. This module does it by the definition (apply
the lowest merge until none is left; ties go left to right), for all tokens of one length together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bytepair.model.token_spelling import joined, tokens_of_merges

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.model.models import BytePair, Characters

_NONE = -1


class Merged(NamedTuple):
    """The result of merging each token alone.

    Attributes:
        is_made: Whether merging its bytes produces the token; always for a single symbol.
        last: The row of the merge that produces the token; -1 for none.
    """

    is_made: NDArray[np.bool_]
    last: NDArray[np.int64]


def merged(model: BytePair, only: Collection[int] | None = None) -> Merged:
    """Merges each token alone.

    Args:
        model: A model with a merge list; or with ranks, whose `last` is of no use.
        only: The positions of the tokens to merge; None for all. The result for others is undefined.

    Time: about one step per symbol of the tokens, each a search in the merge list.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> tokens, ids = (b"a", b"b", b"c", b"ab", b"bc", b"abc"), (0, 1, 2, 3, 4, 5)
        >>> made = merged(BytePair(tokens, ids, merges=((0, 1), (1, 2), (0, 4)), partial_alphabet=True))
        >>> made.is_made.tolist(), made.last.tolist()
        ([True, True, True, True, True, False], [-1, -1, -1, 0, 1, -1])
    """
    import numpy as np  # noqa: PLC0415 (only those who lint wait for it)

    named = tuple(tokens_of_merges(model).values())
    size = len(named)
    place_of_token = {token: place for place, token in enumerate(named)}
    wanted = range(len(model.tokens)) if only is None else sorted(only)
    if model.merges is None:
        pairs, ranks, products = _ranked_pairs(model, place_of_token, wanted)
    else:
        pairs, ranks, products = _listed_pairs(model, place_of_token)
    keys = np.array(pairs, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    table = _Pairs(keys[order], np.array(ranks, dtype=np.int64)[order], np.array(products, dtype=np.int64), size)
    made = Merged(np.zeros(size, dtype=np.bool_), np.full(size, _NONE, dtype=np.int64))
    lengths: dict[int, tuple[list[int], list[list[int]]]] = defaultdict(lambda: ([], []))
    spell = _bytes_of(place_of_token) if model.alphabet is None else _symbols_of(place_of_token, model.alphabet)
    for place in wanted:
        symbols = spell(model.tokens[place])
        if symbols is not None:
            rows = lengths[len(symbols)]
            rows[0].append(place)
            rows[1].append(symbols)
    for length, (places, rows_of_symbols) in lengths.items():
        where = np.array(places, dtype=np.int64)
        if length == 1:
            made.is_made[where] = np.array(rows_of_symbols, dtype=np.int64)[:, 0] == where
        elif pairs:
            _merge_all(table, np.array(rows_of_symbols, dtype=np.int64), where, made)
    return made


def _listed_pairs(model: BytePair, place_of: dict[bytes, int]) -> tuple[list[int], list[int], list[int]]:
    """The pairs of a merge list as numbers, their ranks, and the product of each rank."""
    named, join = tokens_of_merges(model), joined(model)
    size = len(named)
    place_of_id = {id: place for place, id in enumerate(named)}
    products = [place_of[join(named[left], named[right])] for left, right in model.merges or ()]
    merges = [(place_of_id[left], place_of_id[right]) for left, right in model.merges or ()]
    return [left * size + right for left, right in merges], list(range(len(merges))), products


def _ranked_pairs(
    model: BytePair, place_of: dict[bytes, int], wanted: Collection[int]
) -> tuple[list[int], list[int], list[int]]:
    """The same for ranks, where any two tokens merge whose concatenation is a token; positions are in order of rank.

    Only substrings of the wanted tokens can merge there.
    """
    size = len(model.tokens)
    inside = {
        token[start:end]
        for token in (model.tokens[place] for place in wanted)
        for start in range(len(token))
        for end in range(start + 2, len(token) + 1)
    }
    pairs, ranks = [], []
    for token in inside:
        place = place_of.get(token)
        for cut in range(1, len(token)) if place is not None else ():
            left, right = place_of.get(token[:cut]), place_of.get(token[cut:])
            if left is not None and right is not None and place is not None:
                pairs.append(left * size + right)
                ranks.append(place)
    return pairs, ranks, list(range(size))


class _Pairs(NamedTuple):
    """The merges as a sorted table of pairs.

    Attributes:
        keys: A number for each pair, ascending.
        ranks: Its rank: the row in the merge list, or the position of its product.
        products: The token that the pairs of each rank produce.
        size: The number of tokens.
    """

    keys: NDArray[np.int64]
    ranks: NDArray[np.int64]
    products: NDArray[np.int64]
    size: int

    def look_up(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ranks of some pairs; the number of ranks for those that do not merge."""
        import numpy as np  # noqa: PLC0415 (as above)

        wanted = left * self.size + right
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[found] == wanted, self.ranks[found], len(self.products))


def _merge_all(table: _Pairs, symbols: NDArray[np.int64], places: NDArray[np.int64], made: Merged) -> None:
    """Merges rows of symbols of equal length completely; `places` holds the expected token of each row."""
    import numpy as np  # noqa: PLC0415 (as above)

    worst = len(table.products)
    ranks = table.look_up(symbols[:, :-1], symbols[:, 1:])
    while len(symbols):
        at = ranks.argmin(axis=1)
        best = ranks[np.arange(len(ranks)), at]
        # No merge applies and several symbols are left: the token is not produced.
        if not (goes_on := best < worst).all():
            symbols, places, ranks, at, best = (x[goes_on] for x in (symbols, places, ranks, at, best))
        rows = np.arange(len(symbols))
        symbols[rows, at] = table.products[best]
        symbols, ranks = _without(symbols, at + 1), _without(ranks, at)
        if symbols.shape[1] == 1:
            is_made = symbols[:, 0] == places
            made.is_made[places] = is_made
            made.last[places[is_made]] = best[is_made]
            return
        # Only the pairs of the new symbol change.
        for first in (at - 1, at):
            row = np.flatnonzero((first >= 0) & (first < ranks.shape[1]))
            column = first[row]
            ranks[row, column] = table.look_up(symbols[row, column], symbols[row, column + 1])


def _without(table: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """A table with one entry of each row removed."""
    import numpy as np  # noqa: PLC0415 (as above)

    keep = np.ones(table.shape, dtype=np.bool_)
    keep[np.arange(len(table)), columns] = False
    return table[keep].reshape(len(table), table.shape[1] - 1)


def _bytes_of(place_of: dict[bytes, int]) -> Callable[[bytes], list[int] | None]:
    single = [place_of.get(bytes([byte]), _NONE) for byte in range(256)]

    def spell(token: bytes) -> list[int] | None:
        symbols = [single[byte] for byte in token]
        return None if _NONE in symbols else symbols

    return spell


def _symbols_of(place_of: dict[bytes, int], alphabet: Characters) -> Callable[[bytes], list[int] | None]:
    """The symbols that merging begins with: characters, with the prefix, suffix or separator of their place."""
    prefix, suffix = alphabet.continuing_subword_prefix or "", alphabet.end_of_word_suffix or ""
    behind = alphabet.separator or ""
    if not prefix and not suffix and not behind:
        single = {
            text: place for token, place in place_of.items() if len(token) < 5 and len(text := token.decode()) == 1
        }

        def plain(token: bytes) -> list[int] | None:
            try:
                return [single[character] for character in token.decode()]
            except KeyError:
                return None

        return plain

    def spell(token: bytes) -> list[int] | None:
        text = token.decode()
        continues = bool(prefix) and len(text) > len(prefix) and text.startswith(prefix)
        bare = text[len(prefix) :] if continues else text
        ends = bool(suffix) and len(bare) > len(suffix) and bare.endswith(suffix)
        bare = bare[: -len(suffix)] if ends else bare
        characters = [prefix * (continues or row > 0) + character for row, character in enumerate(bare)]
        characters[-1] += suffix * ends
        if behind:
            goes_on = text.endswith(behind) and text != behind
            bare = text.removesuffix(behind) if goes_on else text
            characters = [character + behind for character in bare]
            characters[-1] = bare[-1] + behind * goes_on
        symbols = [place_of.get(character.encode(), _NONE) for character in characters]
        return None if _NONE in symbols else symbols

    return spell
