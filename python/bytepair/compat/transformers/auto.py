"""`AutoTokenizer`: load any tokenizer by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers import arguments, loading
from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast

if TYPE_CHECKING:
    import os


class AutoTokenizer:
    """Loads tokenizers of any class: ``AutoTokenizer.from_pretrained(name)`` returns a `PreTrainedTokenizerFast`."""

    def __init__(self) -> None:
        raise OSError("AutoTokenizer cannot be instantiated: use AutoTokenizer.from_pretrained(name)")

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
        """As `PreTrainedTokenizerFast.from_pretrained`, with the defaults of the class that the files name.

        These are named tokens, the padding side and the columns of a call. If neither ``tokenizer_config.json`` nor
        ``config.json`` names a class, the special tokens of BERT, RoBERTa, T5 and GPT-2 are recognized by their names.
        The stages are always those of the files.
        """
        return PreTrainedTokenizerFast._load(
            pretrained_model_name_or_path, settings, by_class=True, **arguments.taken(locals(), loading.place)
        )
