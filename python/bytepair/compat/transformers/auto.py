"""`AutoTokenizer`: load any tokenizer by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers import arguments, loading
from bytepair.compat.transformers.named import CLASSES
from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast

if TYPE_CHECKING:
    import os


class AutoTokenizer:
    """Loads tokenizers of any class: ``AutoTokenizer.from_pretrained(name)`` returns a `PreTrainedTokenizerFast`.

    It is one of a class such as ``LlamaTokenizer`` if the files name one that is offered here.
    """

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
        The stages are those of the files, except that ``LlamaTokenizer`` and ``BertTokenizer`` make some from settings:
        with the former, text after a special token gets no space.
        """
        return PreTrainedTokenizerFast._load(
            pretrained_model_name_or_path,
            settings,
            by_class=True,
            named=CLASSES,
            **arguments.taken(locals(), loading.place),
        )
