"""`AutoTokenizer`: any tokenizer by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast

if TYPE_CHECKING:
    import os


class AutoTokenizer:
    """Loads tokenizers of any class: ``AutoTokenizer.from_pretrained(name)`` gives a `PreTrainedTokenizerFast`."""

    def __init__(self) -> None:
        raise OSError("an AutoTokenizer is not made: use AutoTokenizer.from_pretrained(name)")

    @staticmethod
    def from_pretrained(
        pretrained_model_name_or_path: str | os.PathLike[str],
        *,
        cache_dir: str | os.PathLike[str] | None = None,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        subfolder: str = "",
        gguf_file: str | None = None,
        **settings: Any,
    ) -> PreTrainedTokenizerFast:
        """As `PreTrainedTokenizerFast.from_pretrained`, with what the class that the files name knows besides.

        That is names of tokens, the side of padding and the columns of a call. Where neither
        ``tokenizer_config.json`` nor ``config.json`` names a class, the special tokens of BERT, RoBERTa, T5 and GPT-2
        are known by what they are called. Stages are always those of the files.
        """
        return PreTrainedTokenizerFast._load(
            pretrained_model_name_or_path,
            settings,
            by_class=True,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            token=token,
            revision=revision,
            subfolder=subfolder,
            gguf_file=gguf_file,
        )
