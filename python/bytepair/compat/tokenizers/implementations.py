"""The ready-made tokenizers of ``tokenizers``: a `Tokenizer` with all its parts, and methods that train it.

The file is long because each has a constructor and two training methods with all their options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bytepair.compat.tokenizers import decoders, normalizers, pre_tokenizers, processors, trainers
from bytepair.compat.tokenizers.models import BPE, Unigram, WordPiece
from bytepair.compat.tokenizers.tokenizer import Tokenizer
from bytepair.compat.tokenizers.values import Regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.compat.tokenizers.added_tokens import AddedToken
    from bytepair.compat.tokenizers.encoding import Encoding

_PARTS = ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder")


class BaseTokenizer:
    """A wrapper of a `Tokenizer` with all its methods and parts.

    Args:
        tokenizer: The tokenizer.
        parameters: The parameters for `repr`.

    Example:
        >>> from bytepair.compat.tokenizers import models
        >>> base = BaseTokenizer(Tokenizer(models.BPE()), {"model": "mine"})
        >>> base.add_tokens(["low"]), base.encode("low").ids, base
        (1, [0], Tokenizer(vocabulary_size=1, model=mine))
    """

    def __init__(self, tokenizer: Tokenizer, parameters: Mapping[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._parameters = dict(parameters or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PARTS:
            setattr(self._tokenizer, name, value)
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        shown = {"vocabulary_size": self._tokenizer.get_vocab_size(), **self._parameters}
        return f"Tokenizer({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def add_special_tokens(self, special_tokens: Sequence[str | AddedToken]) -> int:
        """As `Tokenizer.add_special_tokens`."""
        return self._tokenizer.add_special_tokens(special_tokens)

    def encode_batch(
        self, inputs: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `Tokenizer.encode_batch`."""
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    def normalize(self, sequence: str) -> str:
        """Normalize a text.

        Raises:
            ValueError: The tokenizer has no normalizer.
        """
        normalizer = self._tokenizer.normalizer
        if normalizer is None:
            raise ValueError("the tokenizer has no normalizer")
        return str(normalizer.normalize_str(sequence))

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the files of the model; see `models.Model.save`."""
        saved: list[str] = self._tokenizer.model.save(directory, prefix)
        return saved

    def _train_files(self, files: str | list[str], trainer: trainers.Trainer) -> None:
        self._tokenizer.train([files] if isinstance(files, str) else files, trainer)

    def _train_texts(self, iterator: Iterable[Any], trainer: trainers.Trainer, length: int | None) -> None:
        self._tokenizer.train_from_iterator(iterator, trainer, length)


def _know(tokenizer: Tokenizer, *tokens: str | AddedToken) -> None:
    """Make those of the tokens special that are in the vocabulary."""
    for token in map(str, tokens):
        if tokenizer.token_to_id(token) is not None:
            tokenizer.add_special_tokens([token])


def _options(arguments: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """The arguments of a method without self and some others."""
    return {name: value for name, value in arguments.items() if name not in ("self", *others)}


def _normalizers(*given: Any) -> Any:
    kept = [each for each in given if each is not None]
    return normalizers.Sequence(kept) if len(kept) > 1 else kept[0] if kept else None


def _unicode(name: str | None) -> normalizers.Normalizer | None:
    return normalizers.unicode_normalizer_from_str(name) if name else None


class BertWordPieceTokenizer(BaseTokenizer):
    """A WordPiece with the normalizer and the pre-tokenizer of BERT.

    Args:
        vocab: The vocabulary, or the path of a ``vocab.txt``; None to train one.
        unk_token: The token for a word that cannot be split into tokens.
        sep_token: The token after each text.
        cls_token: The token before the first text.
        pad_token: The padding token.
        mask_token: The token for a masked token.
        clean_text: Whether control characters are removed.
        handle_chinese_chars: Whether each ideograph is a word.
        strip_accents: Whether accents are removed; None for the value of `lowercase`.
        lowercase: Whether text is lowercased.
        wordpieces_prefix: The prefix of tokens inside a word.

    Raises:
        TypeError: The vocabulary lacks `sep_token` or `cls_token`.
    """

    def __init__(  # noqa: PLR0917 (the order is given)
        self,
        vocab: str | dict[str, int] | None = None,
        unk_token: str | AddedToken = "[UNK]",
        sep_token: str | AddedToken = "[SEP]",
        cls_token: str | AddedToken = "[CLS]",
        pad_token: str | AddedToken = "[PAD]",
        mask_token: str | AddedToken = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        parameters = _options(locals(), "vocab", "__class__")
        model = WordPiece(vocab, unk_token=str(unk_token), continuing_subword_prefix=wordpieces_prefix)
        tokenizer = Tokenizer(model)
        _know(tokenizer, unk_token, sep_token, cls_token, pad_token, mask_token)
        tokenizer.normalizer = normalizers.BertNormalizer(clean_text, handle_chinese_chars, strip_accents, lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        if vocab is not None:
            ends = []
            for name, token in (("sep_token", str(sep_token)), ("cls_token", str(cls_token))):
                id = tokenizer.token_to_id(token)
                if id is None:
                    raise TypeError(f"{name} not found in the vocabulary: there is no {token!r}")
                ends.append((token, id))
            tokenizer.post_processor = processors.BertProcessing(*ends)
        super().__init__(tokenizer, {"model": "BertWordPiece", **parameters})

    @staticmethod
    def from_file(vocab: str, **options: Any) -> BertWordPieceTokenizer:
        """Make the tokenizer from a ``vocab.txt``; options as for the constructor."""
        return BertWordPieceTokenizer(WordPiece.read_file(vocab), **options)

    def train(  # noqa: PLR0917 (the order is given)
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        special_tokens: Sequence[str | AddedToken] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        """Train on files; options as those of `trainers.WordPieceTrainer`."""
        options = _options(locals(), "files")
        self._train_files(files, _wordpiece(**options))

    def train_from_iterator(  # noqa: PLR0917 (the order is given)
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        special_tokens: Sequence[str | AddedToken] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
        length: int | None = None,
    ) -> None:
        """As `train`, on texts or batches of texts."""
        options = _options(locals(), "iterator", "length")
        self._train_texts(iterator, _wordpiece(**options), length)


def _wordpiece(wordpieces_prefix: str, **options: Any) -> trainers.WordPieceTrainer:
    return trainers.WordPieceTrainer(**options, continuing_subword_prefix=wordpieces_prefix)


class ByteLevelBPETokenizer(BaseTokenizer):
    """A byte-level BPE like that of GPT-2.

    Args:
        vocab: The vocabulary, or the path of a ``vocab.json``; None to train one.
        merges: The merges, or the path of a ``merges.txt``.
        add_prefix_space: Whether to prepend a space to a text that begins with none.
        lowercase: Whether text is lowercased.
        dropout: The dropout probability of merges.
        unicode_normalizer: A Unicode normalization form: ``nfc``, ``nfd``, ``nfkc`` or ``nfkd``.
        continuing_subword_prefix: The prefix of tokens inside a word.
        end_of_word_suffix: The suffix of tokens at the end of a word.
        trim_offsets: Whether offsets exclude white space.
    """

    def __init__(  # noqa: PLR0917 (the order is given)
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        parameters = _options(locals(), "vocab", "merges", "__class__")
        options: dict[str, Any] = {"dropout": dropout}
        if vocab is not None:
            options |= {
                "continuing_subword_prefix": continuing_subword_prefix or "",
                "end_of_word_suffix": end_of_word_suffix or "",
            }
        elif continuing_subword_prefix or end_of_word_suffix:
            raise ValueError("a prefix or suffix needs vocab and merges: to train with one, use trainers.BpeTrainer")
        tokenizer = Tokenizer(BPE(vocab, merges, **options))
        tokenizer.normalizer = _normalizers(
            _unicode(unicode_normalizer), normalizers.Lowercase() if lowercase else None
        )
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(tokenizer, {"model": "ByteLevelBPE", **parameters})

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> ByteLevelBPETokenizer:
        """Make the tokenizer from a ``vocab.json`` and a ``merges.txt``; options as for the constructor."""
        return ByteLevelBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
    ) -> None:
        """Train on files; options as those of `trainers.BpeTrainer`."""
        options = _options(locals(), "files")
        self._train_files(files, _bytes(**options))

    def train_from_iterator(  # noqa: PLR0917 (the order is given)
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] = (),
        length: int | None = None,
    ) -> None:
        """As `train`, on texts or batches of texts."""
        options = _options(locals(), "iterator", "length")
        self._train_texts(iterator, _bytes(**options), length)


def _bytes(**options: Any) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(**options, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


class CharBPETokenizer(BaseTokenizer):
    """The BPE of Sennrich, by default with the pre-tokenizer of BERT.

    Args:
        vocab: The vocabulary, or the path of a ``vocab.json``; None to train one.
        merges: The merges, or the path of a ``merges.txt``.
        unk_token: The token for a character without a token.
        suffix: The suffix of tokens at the end of a word.
        dropout: The dropout probability of merges.
        lowercase: Whether text is lowercased.
        unicode_normalizer: A Unicode normalization form: ``nfc``, ``nfd``, ``nfkc`` or ``nfkd``.
        bert_normalizer: Whether control characters and accents are removed, and ideographs separated by spaces.
        split_on_whitespace_only: Whether to split at white space only, and not at punctuation marks.
    """

    def __init__(  # noqa: PLR0917 (the order is given)
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        unk_token: str | AddedToken = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        parameters = _options(locals(), "vocab", "merges", "__class__")
        model = BPE(vocab, merges, dropout=dropout, unk_token=str(unk_token), end_of_word_suffix=suffix)
        tokenizer = Tokenizer(model)
        _know(tokenizer, unk_token)
        tokenizer.normalizer = _normalizers(
            _unicode(unicode_normalizer),
            normalizers.BertNormalizer(lowercase=False) if bert_normalizer else None,
            normalizers.Lowercase() if lowercase else None,
        )
        words = pre_tokenizers.WhitespaceSplit if split_on_whitespace_only else pre_tokenizers.BertPreTokenizer
        tokenizer.pre_tokenizer = words()
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        super().__init__(tokenizer, {"model": "BPE", **parameters})

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> CharBPETokenizer:
        """Make the tokenizer from a ``vocab.json`` and a ``merges.txt``; options as for the constructor."""
        return CharBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def train(  # noqa: PLR0917 (the order is given)
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        suffix: str | None = "</w>",
        show_progress: bool = True,
    ) -> None:
        """Train on files; options as those of `trainers.BpeTrainer`."""
        options = _options(locals(), "files", "suffix")
        self._train_files(files, trainers.BpeTrainer(**options, end_of_word_suffix=suffix))

    def train_from_iterator(  # noqa: PLR0917 (the order is given)
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        suffix: str | None = "</w>",
        show_progress: bool = True,
        length: int | None = None,
    ) -> None:
        """As `train`, on texts or batches of texts."""
        options = _options(locals(), "iterator", "length", "suffix")
        self._train_texts(iterator, trainers.BpeTrainer(**options, end_of_word_suffix=suffix), length)


class SentencePieceBPETokenizer(BaseTokenizer):
    """A BPE of characters with the pre-tokenizer of SentencePiece.

    Args:
        vocab: The vocabulary, or the path of a ``vocab.json``; None to train one.
        merges: The merges, or the path of a ``merges.txt``.
        unk_token: The token for a character without a token.
        replacement: The character that replaces spaces.
        add_prefix_space: Whether to prepend a space to every text.
        dropout: The dropout probability of merges.
        fuse_unk: Whether consecutive unknown characters are one token.
    """

    def __init__(  # noqa: PLR0917 (the order is given)
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | list[tuple[str, str]] | None = None,
        unk_token: str | AddedToken = "<unk>",
        replacement: str = "\u2581",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool | None = False,
    ) -> None:
        tokenizer = Tokenizer(BPE(vocab, merges, dropout=dropout, unk_token=str(unk_token), fuse_unk=fuse_unk))
        _know(tokenizer, unk_token)
        tokenizer.normalizer = normalizers.NFKC()
        _metaspace(tokenizer, replacement, add_prefix_space)
        parameters = {
            "model": "SentencePieceBPE",
            "unk_token": unk_token,
            "replacement": replacement,
            "add_prefix_space": add_prefix_space,
            "dropout": dropout,
        }
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> SentencePieceBPETokenizer:
        """Make the tokenizer from a ``vocab.json`` and a ``merges.txt``; options as for the constructor."""
        return SentencePieceBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **options)

    def train(  # noqa: PLR0917 (the order is given)
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        show_progress: bool = True,
    ) -> None:
        """Train on files; options as those of `trainers.BpeTrainer`."""
        options = _options(locals(), "files")
        self._train_files(files, trainers.BpeTrainer(**options))

    def train_from_iterator(  # noqa: PLR0917 (the order is given)
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[str | AddedToken] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        show_progress: bool = True,
        length: int | None = None,
    ) -> None:
        """As `train`, on texts or batches of texts."""
        options = _options(locals(), "iterator", "length")
        self._train_texts(iterator, trainers.BpeTrainer(**options), length)


def _metaspace(tokenizer: Tokenizer, replacement: str, add_prefix_space: bool) -> None:
    scheme = "always" if add_prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement, scheme)
    tokenizer.decoder = decoders.Metaspace(replacement, scheme)


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """A Unigram model with the pre-tokenizer of SentencePiece.

    Args:
        vocab: Tokens and their scores; None to train them.
        replacement: The character that replaces spaces.
        add_prefix_space: Whether to prepend a space to every text.
    """

    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        replacement: str = "\u2581",
        add_prefix_space: bool = True,
    ) -> None:
        tokenizer = Tokenizer(Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        _metaspace(tokenizer, replacement, add_prefix_space)
        parameters = {"replacement": replacement, "add_prefix_space": add_prefix_space}
        super().__init__(tokenizer, {"model": "SentencePieceUnigram", **parameters})

    def train(  # noqa: PLR0917 (the order is given)
        self,
        files: str | list[str],
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
    ) -> None:
        """Train on files; options as those of `trainers.UnigramTrainer`."""
        options = _options(locals(), "files")
        self._train_files(files, _unigram(**options))

    def train_from_iterator(  # noqa: PLR0917 (the order is given)
        self,
        iterator: Iterable[Any],
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[str | AddedToken] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
        length: int | None = None,
    ) -> None:
        """As `train`, on texts or batches of texts."""
        options = _options(locals(), "iterator", "length")
        self._train_texts(iterator, _unigram(**options), length)

    @staticmethod
    def from_spm(filename: str) -> NoReturn:
        """Not supported: use `bytepair.Tokenizer.from_file` for a SentencePiece model."""
        raise NotImplementedError(f"from_spm is not supported: use bytepair.Tokenizer.from_file({filename!r})")


def _unigram(special_tokens: Any, initial_alphabet: Any, **options: Any) -> trainers.UnigramTrainer:
    return trainers.UnigramTrainer(
        **options, special_tokens=list(special_tokens or ()), initial_alphabet=list(initial_alphabet or ())
    )
