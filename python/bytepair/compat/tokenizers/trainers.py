"""The trainers of ``tokenizers``: settings as data. The training is in `training`."""

from __future__ import annotations

import json
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair.compat.tokenizers.added_tokens import AddedToken, tokens_of
from bytepair.compat.tokenizers.spelling import spell
from bytepair.compat.tokenizers.values import boolean, known, listed, natural, optional, real, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = Any

_FORMATS = {"indicatif": "Indicatif", "json": "JsonLines", "silent": "Silent"}


def _special(name: str, value: Any) -> list[AddedToken]:
    del name
    return tokens_of(value, special=True)


def _letters(name: str, value: Any) -> list[str]:
    # As in tokenizers, a string counts as its first character.
    return sorted({letters[0] for each in listed(name, value) if (letters := text(name, each))})


def _format(name: str, value: Any) -> str:
    known(name, value, _FORMATS)
    return str(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "vocab_size": natural,
    "min_frequency": natural,
    "show_progress": boolean,
    "progress_format": _format,
    "special_tokens": _special,
    "limit_alphabet": optional(natural),
    "initial_alphabet": _letters,
    "continuing_subword_prefix": optional(text),
    "end_of_word_suffix": optional(text),
    "max_token_length": optional(natural),
    "shrinking_factor": real,
    "unk_token": optional(text),
    "max_piece_length": natural,
    "n_sub_iterations": natural,
}


class Trainer:
    """The base class of trainers: settings that can be changed, in the order of the class's annotations."""

    _settings: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._settings += tuple(name for name in get_annotations(cls) if name in _CHECKS and name not in cls._settings)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._settings:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}; it has {', '.join(self._settings)}")
        super().__setattr__(name, _CHECKS[name](name, value))

    def _set(self, values: dict[str, Any]) -> None:
        for name in self._settings:
            setattr(self, name, values[name])

    def _json(self) -> dict[str, Json]:
        values = {name: getattr(self, name) for name in self._settings}
        values["special_tokens"] = [token.__getstate__() for token in values["special_tokens"]]
        if "progress_format" in values:
            values["progress_format"] = _FORMATS[values["progress_format"]]
        return values

    def __getstate__(self) -> bytes:
        table = {type(self).__name__: {**self._json(), "words": {}}}
        return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {name: getattr(self, name) for name in self._settings})

    def __repr__(self) -> str:
        return f"Trainer({spell({'type': type(self).__name__, **self._json()}, 100)})"


def _rebuild(kind: type[Trainer], settings: dict[str, Any]) -> Trainer:
    trainer = kind.__new__(kind)
    trainer._set(settings)
    return trainer


class BpeTrainer(Trainer):
    """Trains a `models.BPE`.

    Args:
        vocab_size: The number of tokens: special tokens, characters and merges.
        min_frequency: The minimum frequency of a merged pair.
        show_progress: Whether to show a progress bar on a terminal.
        progress_format: ``indicatif`` for that bar, ``json`` for JSON lines, ``silent`` for neither.
        special_tokens: The first tokens.
        limit_alphabet: The maximum number of characters; the most frequent are kept.
        initial_alphabet: Characters to keep even if they do not occur.
        continuing_subword_prefix: The prefix of tokens inside a word.
        end_of_word_suffix: The suffix of tokens at the end of a word.
        max_token_length: The maximum length of a token, in characters.
    """

    min_frequency: int
    vocab_size: int
    show_progress: bool
    progress_format: str
    special_tokens: list[AddedToken]
    limit_alphabet: int | None
    initial_alphabet: list[str]
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    max_token_length: int | None

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: str = "indicatif",
        special_tokens: Sequence[str | AddedToken] = (),
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = (),
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
    ) -> None:
        self._set(locals())

    def get_word_count(self) -> NoReturn:
        """Not supported: each training counts words and discards the counts."""
        raise NotImplementedError("get_word_count is not supported: count with bytepair.Counts.of")


class WordPieceTrainer(Trainer):
    """Trains a `models.WordPiece` by frequency, like tokenizers; settings as for `BpeTrainer`."""

    min_frequency: int
    vocab_size: int
    show_progress: bool
    special_tokens: list[AddedToken]
    limit_alphabet: int | None
    initial_alphabet: list[str]
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] = (),
        continuing_subword_prefix: str | None = "##",
        end_of_word_suffix: str | None = None,
    ) -> None:
        self._set(locals())


class WordLevelTrainer(Trainer):
    """Trains a `models.WordLevel`: the most frequent words; ties go by code points.

    Args:
        vocab_size: The number of tokens, special tokens included.
        min_frequency: The minimum frequency of a word.
        show_progress: Whether to show a progress bar on a terminal.
        special_tokens: The first tokens.
    """

    min_frequency: int
    vocab_size: int
    show_progress: bool
    special_tokens: list[AddedToken]

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
    ) -> None:
        self._set(locals())


class UnigramTrainer(Trainer):
    """Trains a `models.Unigram` like `bytepair.train_unigram`.

    Args:
        vocab_size: The number of tokens, special tokens and the unknown token included.
        show_progress: Whether to show a progress bar on a terminal.
        special_tokens: The first tokens.
        initial_alphabet: Characters that become tokens even if they do not occur.
        shrinking_factor: The share of tokens that each pruning keeps.
        unk_token: The token for unknown characters; without one they raise an error in encoding.
        max_piece_length: The maximum length of a token, in characters.
        n_sub_iterations: The number of EM steps before each pruning.
    """

    show_progress: bool
    vocab_size: int
    n_sub_iterations: int
    shrinking_factor: float
    special_tokens: list[AddedToken]
    initial_alphabet: list[str]
    unk_token: str | None
    max_piece_length: int

    def __init__(
        self,
        *,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
        initial_alphabet: Sequence[str] = (),
        shrinking_factor: float = 0.75,
        unk_token: str | None = None,
        max_piece_length: int = 16,
        n_sub_iterations: int = 2,
    ) -> None:
        self._set(locals())


class ParityBpeTrainer:
    """Not supported: training that balances languages."""

    def __new__(cls, *args: Any, **options: Any) -> NoReturn:  # noqa: D102 (any arguments)
        raise NotImplementedError(
            "ParityBpeTrainer is not supported; bytepair.train(..., weights=...) weights groups of sources"
        )
