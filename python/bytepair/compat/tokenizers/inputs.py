"""The inputs of ``encode`` and ``encode_batch`` -> texts and pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from bytepair.compat.tokenizers.rows import Text

Offsets: TypeAlias = tuple[int, int]
"""The start and end of a token in a text."""
TextInputSequence: TypeAlias = str
"""A text."""
PreTokenizedInputSequence: TypeAlias = "list[str] | tuple[str, ...]"
"""The words of a text."""
TextEncodeInput: TypeAlias = "str | tuple[str, str] | list[str]"
"""A text or a pair."""
PreTokenizedEncodeInput: TypeAlias = (
    "PreTokenizedInputSequence | tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]"
    " | list[PreTokenizedInputSequence]"
)
"""The words of a text or of a pair."""
InputSequence: TypeAlias = "TextInputSequence | PreTokenizedInputSequence"
"""A text, or its words."""
EncodeInput: TypeAlias = "TextEncodeInput | PreTokenizedEncodeInput"
"""A text or a pair, or their words."""


def one_input(sequence: Any, pair: Any, is_pretokenized: bool) -> tuple[Text, ...]:
    """Check a text or a pair.

    Raises:
        TypeError: An input has another type.
    """
    if is_pretokenized:
        return (_words(sequence),) if pair is None else (_words(sequence), _words(pair))
    return (_text(sequence),) if pair is None else (_text(sequence), _text(pair))


def batch_input(rows: Iterable[Any], is_pretokenized: bool) -> list[tuple[Text, ...]]:
    """Check the texts and pairs of a batch.

    Raises:
        TypeError: An input has another type.
    """
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(f"a batch is a list of texts or pairs, not {type(rows).__name__}")
    if not is_pretokenized:
        return [(each,) if isinstance(each, str) else _pair(each) for each in rows]
    return [_words_or_pair(each) for each in rows]


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given
    raise TypeError(f"TextInputSequence must be str, not {type(given).__name__}")


def _is_list(given: Any) -> bool:
    return isinstance(given, (list, tuple)) or type(given).__name__ == "ndarray"


def _pair(given: Any) -> tuple[Text, ...]:
    if _is_list(given) and len(given) == 2:
        return _text(given[0]), _text(given[1])
    raise TypeError(
        "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]], "
        f"not {type(given).__name__}"
    )


def _words(given: Any) -> list[str]:
    if _is_list(given) and all(isinstance(word, str) for word in given):
        return list(given)
    raise TypeError(f"PreTokenizedInputSequence must be Union[List[str], Tuple[str]], not {type(given).__name__}")


def _words_or_pair(given: Any) -> tuple[Text, ...]:
    if _is_list(given) and len(given) == 2 and not isinstance(given[0], str):
        return _words(given[0]), _words(given[1])
    return (_words(given),)
