"""Training by the settings of a trainer: the tokenizer's stages make the words, and bytepair learns from their counts.

BPE and WordPiece follow the rule of ``tokenizers``: merge the most frequent pair; ties go to the lowest ids. Each
symbol is represented by a character of four bytes, in the order of ids, so that the learner need not know about
prefixes, suffixes and a limited alphabet.
Source: ``models/*/trainer.rs`` of ``tokenizers`` 0.23, read for their behaviour.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers import models, trainers
from bytepair.compat.tokenizers.counting import count_in_python, count_words
from bytepair.compat.tokenizers.custom import Stages
from bytepair.errors import TrainingError
from bytepair.progress import Report, reporter
from bytepair.training.counts import Counts
from bytepair.training.learning import learn_merges
from bytepair.training.unigram import learn_unigram

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.compat.tokenizers.added_tokens import AddedToken, AddedTokens
    from bytepair.training.learning import Learned

_FIRST = 0x10000
"""The character of the first symbol; from here on all characters have four bytes."""
_PRIVATE = 0xF0000

_MODELS: dict[type[trainers.Trainer], type[models.Model]] = {
    trainers.BpeTrainer: models.BPE,
    trainers.WordPieceTrainer: models.WordPiece,
    trainers.WordLevelTrainer: models.WordLevel,
    trainers.UnigramTrainer: models.Unigram,
}


def train(  # noqa: PLR0917 (a tokenizer's parts, then the arguments of its method)
    model: Any,
    stages: dict[str, Any] | Stages,
    added: AddedTokens,
    sequences: Iterable[str | bytes],
    given: trainers.Trainer | None,
    length: int | None = None,
) -> list[AddedToken]:
    """Train the model of a tokenizer in place.

    Args:
        model: The model.
        stages: The tokenizer's normalizer and pre-tokenizer as JSON, by these names, or as they run in Python.
        added: The tokenizer's added tokens.
        sequences: The texts.
        given: The trainer; None for the model's default one.
        length: The number of texts, for progress; None if unknown.

    Returns:
        The trainer's special tokens, for the tokenizer to add.

    Raises:
        TypeError: The trainer is for another model.
        EncodeError: A text is not valid Unicode.
        TrainingError: A setting is out of range.
    """
    trainer: Any = model.get_trainer() if given is None else given
    wanted = next((each for kind, each in _MODELS.items() if isinstance(trainer, kind)), None)
    if wanted is None:
        raise TypeError(f"a trainer is a Trainer, not {type(trainer).__name__}")
    if not issubclass(type(model), wanted):
        kind = type(model).__name__
        raise TypeError(f"{type(trainer).__name__} can only train a {wanted.__name__}, not a {kind}")
    report = _report(trainer)
    if isinstance(stages, Stages):
        words = count_in_python(stages, sequences, length, report)
    else:
        words = count_words(stages, added, sequences, length, report)
    if isinstance(trainer, trainers.WordLevelTrainer):
        _train_word_level(model, trainer, words)
    elif isinstance(trainer, trainers.UnigramTrainer):
        _train_unigram(model, trainer, words, report)
    else:
        _train_pairs(model, trainer, words, report)
    special_tokens: list[AddedToken] = trainer.special_tokens
    return special_tokens


def _report(trainer: Any) -> Report | None:
    how = getattr(trainer, "progress_format", "indicatif")
    if how == "json":
        return reporter("json")
    return reporter(trainer.show_progress and how == "indicatif")


def _train_word_level(model: models.WordLevel, trainer: trainers.WordLevelTrainer, words: dict[str, int]) -> None:
    tokens = [token.content for token in trainer.special_tokens]
    ordered = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    tokens += [word for word, count in ordered if count >= trainer.min_frequency]
    model._learn(vocab={token: id for id, token in enumerate(tokens[: trainer.vocab_size])})


class _Symbols:
    """The initial symbols: special tokens, the alphabet, and its characters with a prefix or a suffix."""

    def __init__(self, trainer: trainers.BpeTrainer | trainers.WordPieceTrainer, words: dict[str, int]) -> None:
        self.prefix = trainer.continuing_subword_prefix or ""
        self.suffix = trainer.end_of_word_suffix or ""
        self.ids: dict[str, int] = {}
        for token in trainer.special_tokens:
            self.ids.setdefault(token.content, len(self.ids))
        for character in _alphabet(trainer, words):
            self.ids.setdefault(character, len(self.ids))
        self.known = {text for text in self.ids if len(text) == 1}
        if self.prefix or self.suffix:
            decorated = {text for word in words for text in self._spelled(word)}
            for text in sorted(decorated):
                self.ids.setdefault(text, len(self.ids))
        self.first = len(self.ids)

    def _spelled(self, word: str) -> list[str]:
        last = len(word) - 1
        return [
            (self.prefix if place else "") + character + (self.suffix if place == last else "")
            for place, character in enumerate(word)
            if character in self.known
        ]

    def pieces(self, words: dict[str, int]) -> dict[str, int]:
        """The words with one character for each symbol."""
        pieces: Counter[str] = Counter()
        if self.prefix or self.suffix:
            for word, count in words.items():
                pieces["".join(chr(_FIRST + self.ids[text]) for text in self._spelled(word))] += count
        else:
            seen = {ord(character) for word in words for character in word}
            table = {code: chr(_FIRST + self.ids[chr(code)]) if chr(code) in self.known else None for code in seen}
            for word, count in words.items():
                pieces[word.translate(table)] += count
        del pieces[""]
        return dict(pieces)

    def joined(self, left: str, right: str) -> str:
        """The result of a merge."""
        return left + right.removeprefix(self.prefix)


def _alphabet(trainer: trainers.BpeTrainer | trainers.WordPieceTrainer, words: dict[str, int]) -> list[str]:
    seen: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            seen[character] += count
    required = set(trainer.initial_alphabet)
    kept = sorted({*seen, *required}, key=lambda character: (character not in required, -seen[character], character))
    return sorted(kept if trainer.limit_alphabet is None else kept[: trainer.limit_alphabet])


def _train_pairs(
    model: models.BPE | models.WordPiece,
    trainer: trainers.BpeTrainer | trainers.WordPieceTrainer,
    words: dict[str, int],
    report: Report | None,
) -> None:
    symbols = _Symbols(trainer, words)
    pieces = symbols.pieces(words)
    longest = getattr(trainer, "max_token_length", None)
    room = trainer.vocab_size - symbols.first
    vocab = dict(symbols.ids)
    merges: list[list[str]] = []
    wanted = room
    while pieces and wanted > 0:
        learned: list[Learned] = []
        alphabet: list[bytes] = []
        learn_merges(
            Counts.of(pieces, split="none", digest=False).core,
            wanted,
            alphabet=None,
            ties="lowest_ids",
            min_frequency=max(trainer.min_frequency, 1),
            # As in tokenizers, a token stays shorter than that, except pairs of characters.
            max_token_length=None if longest is None else 4 * max(longest - 1, 2),
            learned=learned,
            symbols=alphabet,
            report=report,
        )
        names = list(symbols.ids)
        tokens = [names[ord(symbol.decode()) - _FIRST] for symbol in alphabet]
        vocab = dict(symbols.ids)
        merges = []
        for left, right, _ in learned:
            merged = symbols.joined(tokens[left], tokens[right])
            vocab.setdefault(merged, len(vocab))
            merges.append([tokens[left], tokens[right]])
            tokens.append(merged)
        missing = trainer.vocab_size - len(vocab)
        if len(learned) < wanted or missing <= 0:
            break
        # Some merges made existing tokens.
        wanted += missing
    if isinstance(model, models.BPE):
        prefix, suffix = trainer.continuing_subword_prefix, trainer.end_of_word_suffix
        model._learn(vocab=vocab, merges=merges, continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
    else:
        if trainer.continuing_subword_prefix is not None:
            model._learn(continuing_subword_prefix=trainer.continuing_subword_prefix)
        model._learn(vocab=vocab)


def _train_unigram(
    model: models.Unigram, trainer: trainers.UnigramTrainer, words: dict[str, int], report: Report | None
) -> None:
    special = [token.content for token in trainer.special_tokens]
    unk = trainer.unk_token
    if unk is not None and unk not in special:
        special.insert(0, unk)
    # The learner treats spaces and U+2581 specially; private characters replace them.
    seen = {character for word in words for character in word}
    unseen = [character for character in trainer.initial_alphabet if character not in seen]
    if any(ord(character) >= _PRIVATE for character in seen):
        raise TrainingError(
            "a text has characters of the private use planes, which represent spaces in the training of a Unigram",
            remedy="remove them with a normalizer",
        )
    private = {ord(each): chr(_PRIVATE + n) for n, each in enumerate(sorted(c for c in seen if _is_space(c)))}
    back = {ord(there): chr(here) for here, there in private.items()}
    pieces: Counter[str] = Counter()
    for word, count in words.items():
        pieces[word.translate(private)] += count
    learned: list[tuple[str, float]] = []
    if pieces:
        learned = learn_unigram(
            Counts.of(dict(pieces), split="none", digest=False),
            trainer.vocab_size,
            reserved=len(special) + len(unseen),
            character_coverage=1.0,
            max_piece_length=trainer.max_piece_length,
            shrinking_factor=trainer.shrinking_factor,
            sub_iterations=trainer.n_sub_iterations,
            split_by_unicode_script=False,
            split_by_number=False,
            add_dummy_prefix=False,
            progress=report or False,
        )
    scores = [(token.translate(back), score) for token, score in learned]
    lowest = min((score for _, score in scores), default=0.0)
    scores += [(character, lowest - 0.0001 * place) for place, character in enumerate(unseen, 1)]
    vocab = [[token, 0.0] for token in special] + [[token, score] for token, score in scores if token not in special]
    model._learn(vocab=vocab, unk_id=None if unk is None else special.index(unk))


def _is_space(character: str) -> bool:
    return character.isspace() or character == "\u2581"
