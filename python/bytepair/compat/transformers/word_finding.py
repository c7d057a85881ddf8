"""`WordFindingTokenizer`: a tokenizer of a class whose words another library finds, such as MeCab."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers import word_finders
from bytepair.compat.transformers.batch import BatchEncoding
from bytepair.compat.transformers.decoding import plain_ids, without_spaces
from bytepair.compat.transformers.kinship import SLOW
from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast
from bytepair.formats import found_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from bytepair.compat.transformers.word_finders import WordFinder

_DEEPEST = 4


class WordFindingTokenizer(PreTrainedTokenizerFast):
    """A tokenizer of one of the classes in `bytepair.formats.found_words.NAMES`, such as ``BertJapaneseTokenizer``.

    Words are found first, in the text between added tokens, then the engine encodes them. As in ``transformers``, there
    are no offsets: words are not always parts of the text. Load it with ``AutoTokenizer.from_pretrained``.
    """

    _bases = SLOW
    _finder: WordFinder
    _target: dict[int, str] | None
    """FSMT's tokens of the language that it translates into, by the ids that are decoded to them."""

    def _set_up(self, settings: dict[str, Any], *, from_file: bool) -> None:
        if self._stem is None or not from_file:
            raise TypeError(f"a {type(self).__name__} is loaded with from_pretrained")
        self._finder = word_finders.of_class(self._stem, settings)
        self._target = settings.pop("_target", None)
        super()._set_up({**settings, "tokenizer_class": f"{self._stem}Tokenizer"}, from_file=from_file)

    @property
    def is_fast(self) -> bool:
        """False: there are no offsets."""
        return False

    @property
    def backend(self) -> str:
        """``"python"``, as for tokenizers of ``transformers`` without offsets."""
        return "python"

    def _call(self, text: Any, pair: Any = None, **options: Any) -> BatchEncoding:
        if options.get("return_offsets_mapping"):
            name = type(self).__name__
            raise NotImplementedError(
                f"return_offsets_mapping=True is not supported: words of {name} are not parts of the text"
            )
        is_text = options.get("split_special_tokens")
        is_text = self.split_special_tokens if is_text is None else is_text
        names = [] if is_text else sorted(self.added_tokens_encoder, key=len, reverse=True)
        between = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        made = super()._call(self._with_words(text, between), self._with_words(pair, between), **options)
        return BatchEncoding(made)

    def _with_words(self, text: Any, added: re.Pattern[str] | None, depth: int = 0) -> Any:
        """A text, or the texts in lists, with words where there were words; added tokens stay as they are."""
        if isinstance(text, (list, tuple)) and depth < _DEEPEST:
            return [self._with_words(each, added, depth + 1) for each in text]
        if not isinstance(text, str):
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            # A lone surrogate is an error, with its place.
            self.engine.count(text)
        parts = [text] if added is None else added.split(text)
        # Every second part is an added token.
        return "".join(part if at % 2 else self._finder.split(part) for at, part in enumerate(parts))

    def tokenize(self, text: str, pair: Any = None, add_special_tokens: bool = False, **options: Any) -> list[str]:
        """Tokenize a text, with tokens as spelled in the vocabulary; arguments and errors as for a call."""
        ids = self.encode(text, pair, add_special_tokens=add_special_tokens, **options)
        tokens: list[str] = self.convert_ids_to_tokens(ids)
        return tokens

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """As for other classes; of FSMT, tokens of the language that it translates into, and `unk_token` if unknown."""
        if self._target is None:
            return super().convert_ids_to_tokens(ids, skip_special_tokens)
        is_one = not isinstance(ids, (list, tuple)) and not getattr(ids, "shape", None)
        skipped = set(self.all_special_ids) if skip_special_tokens and not is_one else ()
        added = self.added_tokens_decoder
        found = [
            str(added[id]) if id in added else self._target.get(id, self.unk_token)
            for id in plain_ids(ids)
            if id not in skipped
        ]
        return found[0] if is_one else found

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of tokens, as the class puts words together."""
        return self._finder.join(tokens)

    def decode(
        self, token_ids: Any, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool | None = None
    ) -> Any:
        """As `PreTrainedTokenizerFast.decode`, with the words put together as the class does."""
        ids = plain_ids(token_ids)
        if ids and isinstance(ids[0], list):
            return [self.decode(row, skip_special_tokens, clean_up_tokenization_spaces) for row in ids]
        if self._target is None:
            # An unknown id is an error.
            self.engine.decode(ids)
        text = self._finder.join(self.convert_ids_to_tokens(ids, skip_special_tokens=skip_special_tokens))
        wanted = clean_up_tokenization_spaces
        return without_spaces(text) if (self.clean_up_tokenization_spaces if wanted is None else wanted) else text

    def _files(self) -> tuple[str, dict[str, bytes]]:
        tokens = {token: id for token, id in self.get_vocab().items() if id < self.vocab_size}
        held = found_words.write(self.engine.spec, tokens, self._target)
        return "vocab.txt" if len(held) == 1 else "vocab+merges", held

    def train_new_from_iterator(self, text_iterator: Iterable[Any], vocab_size: int, *_: Any, **__: Any) -> Self:
        """Not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"a {type(self).__name__} cannot be trained: train a tokenizer of its words")
