"""The attributes of a tokenizer that its methods read, whichever module they are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers.names import SpecialTokens

if TYPE_CHECKING:
    from bytepair.tokenizer import Tokenizer


class State(SpecialTokens):
    """The engine and the settings of a tokenizer.

    The engine is immutable; adding tokens replaces it.

    Attributes:
        model_max_length: The maximum length of the model's input, in tokens.
        padding_side: ``"left"`` or ``"right"``.
        truncation_side: ``"left"`` or ``"right"``.
        model_input_names: The columns that a call returns.
        clean_up_tokenization_spaces: Whether decoding removes spaces before punctuation.
        split_special_tokens: Whether special tokens in a text stay text.
        name_or_path: The name under which the tokenizer was loaded.
        chat_template: The template, several by name, or None.
        init_kwargs: Other settings of ``tokenizer_config.json``, kept for saving.
    """

    _word_end = ""
    """The mark of the end of a word that decoding makes a space."""

    _tok: Tokenizer
    _base: int
    _vocab: dict[str, int] | None
    _add_bos: bool
    _add_eos: bool
    model_max_length: int
    padding_side: str
    truncation_side: str
    model_input_names: list[str]
    clean_up_tokenization_spaces: bool
    split_special_tokens: bool
    name_or_path: str
    chat_template: str | dict[str, str] | None
    init_kwargs: dict[str, Any]

    @property
    def engine(self) -> Tokenizer:
        """The bytepair tokenizer that encodes and decodes."""
        return self._tok

    @property
    def vocab_size(self) -> int:
        """The number of tokens in the vocabulary, without added tokens."""
        return self._base

    def _wants(self, name: str, requested: bool | None) -> bool:
        """Whether a call returns a column; None means that ``model_input_names`` decides."""
        return name in self.model_input_names if requested is None else bool(requested)

    def _files(self) -> tuple[str, dict[str, bytes]]:
        """The files that hold the engine; see `PreTrainedTokenizerFast._files`."""
        raise NotImplementedError

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id; see `Vocabulary.added_tokens_decoder`."""
        raise NotImplementedError

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Encode texts; see `PreTrainedTokenizerFast.__call__`."""
        raise NotImplementedError
