"""Special tokens in a text, by tiktoken's rules.

A call allows some special tokens and disallows some strings. A disallowed string anywhere raises; allowed tokens are
matched from left to right; the rest is text. Where a policy of the core has the same result, it is used (`policy`).
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bytepair.errors import SpecialTokenError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from bytepair.call.options import Special


class Specials:
    """The special tokens of an encoding.

    Args:
        ids: The id of each.
        known: The special tokens in the core.
    """

    def __init__(self, ids: Mapping[str, int], known: Iterable[str]) -> None:
        self.ids = ids
        self._known = frozenset(known)
        self.names = frozenset(ids)
        self._can_overlap = _can_overlap(self.names)

    def policy(self, allowed: Any, disallowed: Any) -> Special | None:
        """The core's ``special`` policy with the same result whenever it does not raise; None if there is none.

        This holds for texts without special tokens that the core lacks.

        Args:
            allowed: The ``allowed_special`` of a call.
            disallowed: The ``disallowed_special`` of the call.

        Raises:
            TypeError: `allowed` is not a set.

        Example:
            >>> specials = Specials({"<a>": 300, "<b>": 301}, ["<a>", "<b>"])
            >>> [specials.policy(*call) for call in [(set(), "all"), (set(), ()), ("all", "all"), (set(), {"<a>"})]]
            ['raise', 'text', 'allow', None]
        """
        everything = isinstance(disallowed, str) and disallowed == "all"
        if not everything and disallowed:
            return None
        # Checking the concrete types first is faster.
        if isinstance(allowed, (frozenset, set, AbstractSet)):
            if not allowed:
                return "raise" if everything else "text"
            found = self.names.intersection(allowed)
            if len(found) == len(self.names):
                return "allow"
            return None if self._can_overlap else found & self._known
        self.allowed(allowed)
        return "allow"

    def allowed(self, allowed: Any) -> frozenset[str]:
        """The special tokens that a call allows; TypeError if the argument is not a set."""
        if isinstance(allowed, str) and allowed == "all":
            return self.names
        if not isinstance(allowed, AbstractSet):
            raise TypeError(f'allowed_special is "all" or a set of special tokens, not {allowed!r}')
        return self.names.intersection(allowed)

    def check(self, text: str, allowed: Any, disallowed: str | Collection[str]) -> None:
        """Raise SpecialTokenError, a ValueError, if the text contains a disallowed string."""
        if isinstance(disallowed, str) and disallowed == "all":
            names = self.names - self.allowed(allowed)
        else:
            names = frozenset(disallowed or ())
        found = _any_of(names).search(text) if names else None
        if found is not None:
            token = found.group()
            raise SpecialTokenError(
                f"the text contains the disallowed special token {token!r}",
                character=found.start(),
                remedy=(
                    f"pass allowed_special={{{token!r}}} to encode it as the token; to encode it as text, pass "
                    f"disallowed_special=(enc.special_tokens_set - {{{token!r}}}), or disallowed_special=() for all"
                ),
            )

    def places(self, text: str, allowed: frozenset[str]) -> Iterator[tuple[int, int, int]]:
        """Find allowed special tokens in a text from left to right: start and end in characters, and the id.

        Example:
            >>> list(Specials({"<a>": 300, "<b>": 301}, []).places("x<b><a>", frozenset({"<a>"})))
            [(4, 7, 300)]
        """
        start = 0
        while allowed and (found := _any_of(self.names).search(text, start)):
            if found.group() in allowed:
                yield found.start(), found.end(), self.ids[found.group()]
                start = found.end()
            else:
                start = found.start() + 1


@lru_cache(maxsize=128)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    # The longest first, like the core. tiktoken takes any match.
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))


def _can_overlap(names: Collection[str]) -> bool:
    """Whether two of the names might overlap in a text; False only if they never do.

    Example:
        >>> _can_overlap(["<a>", "<b>"]), _can_overlap(["<a>", "a"]), _can_overlap(["<a", "<a>"])
        (False, True, True)
    """
    first = {name[:1] for name in names}
    return any(not first.isdisjoint(name[1:]) for name in names) or any(
        longer.startswith(name) for name, longer in pairwise(sorted(names))
    )
