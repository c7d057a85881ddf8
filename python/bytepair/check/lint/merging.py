"""How each token of a merge list comes about, all tokens at once.

A token is in the ids of some piece if and only if merging its bytes alone makes it. In a piece where it stands, no
merge crossed its borders, for such a merge would have made a symbol that reaches over them. So of the merges inside it
each was the lowest and leftmost of the whole piece, thus also of those inside, and it changed nothing but what is
inside: they are, in order, the merges of its bytes alone. The other direction is that piece itself. (A model
that takes a whole piece as a token, whatever its merges, is another matter, which the caller adds.)

By the same argument a merge happens in some piece if and only if it is the last one when the bytes of its product are
merged alone. So a merge list is known by merging each of its tokens once. That is done here by the definition (the
lowest merge, the leftmost of equal ones, again and again) for all tokens of one length together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bytepair.model.token_spelling import inner_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.model.models import BytePair, Characters

_NONE = -1


class Merged(NamedTuple):
    """What merging makes of each token.

    Attributes:
        is_made: Of each token whether merging its bytes makes it; a single symbol is.
        last: Of each token the row of the merge that makes it; -1 for none.
    """

    is_made: NDArray[np.bool_]
    last: NDArray[np.int64]


def merged(model: BytePair, only: Collection[int] | None = None) -> Merged:
    """Merges each token alone.

    Args:
        model: A model with a merge list; or with ranks, whose `last` is of no use.
        only: The places of the tokens to be looked at; None for all. Of others nothing is said.

    Time: about as many steps as the tokens have symbols, each a search in the merge list.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> tokens, ids = (b"a", b"b", b"c", b"ab", b"bc", b"abc"), (0, 1, 2, 3, 4, 5)
        >>> made = merged(BytePair(tokens, ids, merges=((0, 1), (1, 2), (0, 4)), partial_alphabet=True))
        >>> made.is_made.tolist(), made.last.tolist()
        ([True, True, True, True, True, False], [-1, -1, -1, 0, 1, -1])
    """
    import numpy as np  # noqa: PLC0415 (only those who lint wait for it)

    size = len(model.tokens)
    place_of_token = {token: place for place, token in enumerate(model.tokens)}
    wanted = range(size) if only is None else sorted(only)
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
    """Numbers of pairs, their ranks, and what pairs of each rank make, by a merge list."""
    size = len(model.tokens)
    place_of_id = {id: place for place, id in enumerate(model.ids)}
    cut = len(inner_prefix(model).encode())
    merges = [(place_of_id[left], place_of_id[right]) for left, right in model.merges or ()]
    products = [place_of[model.tokens[left] + model.tokens[right][cut:]] for left, right in merges]
    return [left * size + right for left, right in merges], list(range(len(merges))), products


def _ranked_pairs(
    model: BytePair, place_of: dict[bytes, int], wanted: Collection[int]
) -> tuple[list[int], list[int], list[int]]:
    """The same where any two tokens merge whose bytes together are one: ids are ranks, and places are in their order.

    Only what stands inside the tokens that are wanted can merge there.
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
    """What merges, by pairs.

    Attributes:
        keys: Of each pair a number, ascending.
        ranks: Its rank: the row in the merge list, or the place of the token that it makes.
        products: Of each rank the token that its pairs make.
        size: How many tokens there are.
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
    """Merges rows of symbols, all as long, to their ends; `places` says which token each is to become."""
    import numpy as np  # noqa: PLC0415 (as above)

    worst = len(table.products)
    ranks = table.look_up(symbols[:, :-1], symbols[:, 1:])
    while len(symbols):
        at = ranks.argmin(axis=1)
        best = ranks[np.arange(len(ranks)), at]
        # Where nothing merges any more there are several symbols left: it is not made.
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
        # Only the pairs of the new symbol are other ones.
        for first in (at - 1, at):
            row = np.flatnonzero((first >= 0) & (first < ranks.shape[1]))
            column = first[row]
            ranks[row, column] = table.look_up(symbols[row, column], symbols[row, column + 1])


def _without(table: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """A table without one entry of each row."""
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
    """As merging begins with characters: those that continue a word with their prefix, the last with its suffix."""
    prefix, suffix = alphabet.continuing_subword_prefix or "", alphabet.end_of_word_suffix or ""
    if not prefix and not suffix:
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
        symbols = [place_of.get(character.encode(), _NONE) for character in characters]
        return None if _NONE in symbols else symbols

    return spell
