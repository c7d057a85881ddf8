"""Special tokens of one tokenizer and those of another that take their place in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bytepair import _core
from bytepair.errors import SpecialTokenError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from bytepair.alignment.places import Placed
    from bytepair.call.options import Special
    from bytepair.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Where tokens were replaced, with all texts joined.

    Attributes:
        before: The start and end of each replaced token, in order.
        after: The start and end of what replaced it.
        starts_before: Where each text started.
        starts_after: Where it starts with replacements.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    starts_before: NDArray[np.int64]
    starts_after: NDArray[np.int64]

    def back(self, placed: Placed) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int64]]:
        """The columns of tokens of the texts after, with their places in the texts before."""
        counts = np.diff(placed.offsets)
        places = placed.all_places() + np.repeat(self.starts_after, counts)[:, None]
        at = np.searchsorted(self.after[:, 1], places, "right")
        shifts = np.append(0, self.before[:, 1] - self.after[:, 1])
        # A longer token of the second tokenizer may begin or end within a replacement.
        following = np.minimum(at, len(self.after) - 1)
        is_within = (at < len(self.after)) & (places > self.after[following, 0])
        moved = np.where(is_within, self.before[following, [0, 1]], places + shifts[at])
        moved -= np.repeat(self.starts_before, counts)[:, None]
        return placed.offsets, np.zeros(len(counts), np.bool_), placed.lengths, moved


class Pairs:
    """Added tokens of `a`, each with the token of `b` that takes its place.

    Raises:
        SpecialTokenError: One of the two does not have the token.

    Example:
        >>> import bytepair as bp
        >>> a, b = (bp.train({"low": 5}, vocab_size=258, special_tokens=[one]) for one in ("<e>", "</s>"))
        >>> pairs = Pairs(a, b, {"<e>": "</s>"})
        >>> pairs.replace([b"low<e>"])[0], pairs.allow_a("raise"), pairs.allow_b("raise")
        ([b'low</s>'], {'<e>'}, {'</s>'})
    """

    def __init__(self, a: Tokenizer, b: Tokenizer, pairs: Mapping[str, str]) -> None:
        self._a, self.pairs = a, dict(pairs)
        for name, tokenizer, tokens in (("a", a, pairs.keys()), ("b", b, pairs.values())):
            known = {token.content for token in tokenizer.spec.added_tokens}
            for token in tokens:
                if token not in known:
                    raise SpecialTokenError(
                        f"pairs names {token!r}, which is no added token of {name}",
                        remedy=f"its added tokens are the keys of {name}.reserved_tokens",
                    )

    def allow_a(self, special: Special) -> Special:
        """How `a` treats special tokens, where a call says `special`."""
        return self._allow(special, self.pairs.keys())

    def allow_b(self, special: Special) -> Special:
        """How `b` does."""
        return self._allow(special, self.pairs.values())

    def _allow(self, special: Special, tokens: Collection[str]) -> Special:
        if not self.pairs or special == "allow":
            return special
        if special == "text":
            raise ValueError('special="text" makes no tokens of special ones; pass pairs without it')
        return set(tokens) | (set() if special == "raise" else set(special))

    def replace(self, texts: list[bytes]) -> tuple[list[bytes], Moves | None]:
        """The texts with each token replaced, and where that was; None if nothing was."""
        if not self.pairs:
            return texts, None
        contents = {token.id: token.content for token in self._a.spec.added_tokens}
        replaced, before, after, bases = [], [], [], []
        base_before = base_after = 0
        for text in texts:
            bases.append((base_before, base_after))
            whole = text.decode()
            parts: list[bytes] = []
            at = size_before = size_after = 0
            for id, start, end in _core.find_added(self._a, whole):
                new = self.pairs.get(contents[id])
                if new is None:
                    continue
                kept, old = whole[at:start].encode(), whole[start:end].encode()
                parts += [kept, new.encode()]
                place, moved = base_before + size_before + len(kept), base_after + size_after + len(kept)
                before.append((place, place + len(old)))
                after.append((moved, moved + len(parts[-1])))
                size_before += len(kept) + len(old)
                size_after += len(kept) + len(parts[-1])
                at = end
            parts.append(whole[at:].encode())
            replaced.append(b"".join(parts))
            base_before += len(text)
            base_after += len(replaced[-1])
        if not before:
            return texts, None
        starts_before, starts_after = np.array(bases, np.int64).T
        return replaced, Moves(np.array(before, np.int64), np.array(after, np.int64), starts_before, starts_after)
