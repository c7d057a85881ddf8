"""The arguments of a call in ``transformers`` -> those of `Tokenizer.__call__`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bytepair.compat.transformers.state import State

NO_LIMIT = int(1e30)
"""The ``model_max_length`` of a tokenizer without one."""

_MANY = 10**20
_PADDINGS = (False, "longest", "max_length")
_TRUNCATIONS = (False, "longest_first", "only_first", "only_second")


def taken(given: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Those of a method's arguments that a function takes by keyword only.

    Example:
        >>> def inner(*, stride=0): ...
        >>> def outer(text, stride=0):
        ...     return taken(locals(), inner)
        >>> outer("low", 3)
        {'stride': 3}
    """
    names = getattr(function, "__kwdefaults__", None) or {}
    return {name: value for name, value in given.items() if name in names}


class Lengths(NamedTuple):
    """Padding and truncation: arguments of `Tokenizer.__call__`."""

    padding: str | bool
    truncation: str | bool
    max_length: int | None


def lengths(
    tokenizer: State,
    padding: Any,
    truncation: Any,
    max_length: int | None,
    pad_to_multiple_of: int | None = None,
) -> Lengths:
    """Interpret the arguments of a call.

    A `max_length` truncates if neither `truncation` nor a kind of padding is given. The default is the model's length;
    if that is unknown, rows are not truncated.

    Raises:
        ValueError: A value is unknown, the padded length is unknown, there is no padding token, or the truncated length
            is not a multiple of `pad_to_multiple_of`.
    """
    # As there, "do_not_pad" says more than False.
    if max_length is not None and not padding and truncation is None:
        truncation = "longest_first"
    padding = _named(padding, "longest")
    truncation = _named(truncation, "longest_first")
    for name, value, known in (("padding", padding, _PADDINGS), ("truncation", truncation, _TRUNCATIONS)):
        if value not in known:
            raise ValueError(f"{name}={value!r} is unknown; use True, {', '.join(map(repr, known))}")
    if max_length is None and (padding == "max_length" or truncation):
        most = tokenizer.model_max_length
        if most <= _MANY:
            max_length = int(most)
        elif padding == "max_length":
            raise ValueError('padding="max_length" needs max_length: this tokenizer has no model_max_length')
        else:
            truncation = False
    if padding:
        pad_token(tokenizer)
    if padding and truncation and pad_to_multiple_of is not None and max_length and max_length % pad_to_multiple_of:
        raise ValueError(f"truncation to {max_length} is not a multiple of pad_to_multiple_of={pad_to_multiple_of}")
    return Lengths(padding, truncation, max_length)


def _named(value: Any, usual: str) -> Any:
    """The name of an option; False for none."""
    value = getattr(value, "value", value)
    if value is None or value in ("do_not_pad", "do_not_truncate"):
        return False
    return usual if value is True else value


def pad_token(tokenizer: State) -> int:
    """The padding id.

    Raises:
        ValueError: The tokenizer has none.
    """
    id: int | None = tokenizer.pad_token_id
    if id is None:
        named = tokenizer.pad_token
        what = "the tokenizer has no pad_token" if named is None else f"the pad_token {named!r} has no id"
        raise ValueError(
            f"{what}; set one: tokenizer.pad_token = tokenizer.eos_token, "
            "or tokenizer.add_special_tokens({'pad_token': '[PAD]'})"
        )
    return id


class TextInputs(NamedTuple):
    """The texts of a call.

    Attributes:
        texts: One text, or a list of texts.
        pairs: The second texts in the same form; None if there are none.
        is_batch: Whether `texts` is a list.
    """

    texts: Any
    pairs: Any
    is_batch: bool


def texts(text: Any, pair: Any, *, is_split_into_words: bool, is_fast: bool = True) -> TextInputs:
    """Distinguish one text from many, and texts from pairs.

    Args:
        text: A text, a list of texts, or a list of pairs; texts are lists of words if `is_split_into_words`.
        pair: The second texts, in the same form.
        is_split_into_words: Whether texts are lists of words.
        is_fast: Whether the class is one that takes an empty second text for none.

    Raises:
        TypeError: `text` is a list and `pair` is one text.
        ValueError: An input has another type; the numbers of texts differ; or a list mixes texts and pairs.
    """
    for name, value in (("text", text), ("text_pair", pair)):
        if not (value is None and name == "text_pair") and not _is_input(value):
            kind = "a list of words, or a list of these" if is_split_into_words else "a str, or a list of str"
            raise ValueError(f"{name} is {kind}, not {_shown(value)}")
    if is_split_into_words:
        is_batch = isinstance(text, (list, tuple)) and bool(text) and isinstance(text[0], (list, tuple))
        if isinstance(text, str):
            raise ValueError("is_split_into_words=True takes a list of words, not a str")
    else:
        is_batch = isinstance(text, (list, tuple))
    if not is_batch:
        return TextInputs(text, (pair or None) if is_fast else pair, False)
    if isinstance(pair, str):
        raise TypeError("text is a list and text_pair is one text; use a list of the same length")
    if pair is not None:
        if len(pair) != len(text):
            raise ValueError(f"there are {len(text)} texts and {len(pair)} second texts")
        return TextInputs(list(text), list(pair), True)
    inner = str if not is_split_into_words else (list, tuple)
    pairs = [_is_pair(row, inner) for row in text]
    if not any(pairs):
        return TextInputs(list(text), None, True)
    if not all(pairs):
        raise ValueError("a list has texts or pairs of texts, not both; call the tokenizer once for each")
    return TextInputs([row[0] for row in text], [row[1] for row in text], True)


def _is_pair(row: Any, inner: Any) -> bool:
    if not isinstance(row, (list, tuple)) or not row or not isinstance(row[0], inner):
        return False
    if len(row) != 2:
        raise ValueError(f"{_shown(row)} is not a pair of texts; for lists of words use is_split_into_words=True")
    return True


def _is_input(value: Any) -> bool:
    """Whether a value is a text or nested lists of texts."""
    depth = 0
    while isinstance(value, (list, tuple)) and depth < 4:
        if not value:
            return True
        value, depth = value[0], depth + 1
    return isinstance(value, str)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
