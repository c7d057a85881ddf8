"""The tokenizer classes of ``transformers`` by name: ``GPT2TokenizerFast``, ``LlamaTokenizer`` and others.

Each is a `PreTrainedTokenizerFast` whose ``from_pretrained`` takes the defaults of that class, whatever class the files
name. As in ``transformers`` 5, a name with ``Fast`` is the same class as the one without.
"""

from __future__ import annotations

from bytepair.compat.transformers import classes, word_finders
from bytepair.compat.transformers.tokenizer import PreTrainedTokenizerFast
from bytepair.compat.transformers.word_finding import WordFindingTokenizer


def _make(stem: str) -> type[PreTrainedTokenizerFast]:
    finds_words = stem in word_finders.SETTINGS
    inner = {
        "__module__": __name__,
        "__doc__": f"A `PreTrainedTokenizerFast` with the defaults of ``{stem}Tokenizer``.",
        "_stem": stem,
        # CLIPTokenizer of transformers decodes through this mark.
        "_word_end": "</w>" if stem == "CLIP" else "",
        "_settings": word_finders.SETTINGS.get(stem, ()),
    }
    return type(f"{stem}Tokenizer", (WordFindingTokenizer if finds_words else PreTrainedTokenizerFast,), inner)


CLASSES: dict[str | None, type[PreTrainedTokenizerFast]] = {
    stem: _make(stem) for stem in (*classes.OFFERED, *word_finders.SETTINGS)
}
"""The classes by their names without ``Tokenizer``."""


def __getattr__(name: str) -> type[PreTrainedTokenizerFast]:
    stem = name.removesuffix("Fast").removesuffix("Tokenizer")
    found = CLASSES.get(classes.ALIASES.get(stem, stem))
    if found is None or name.removesuffix("Fast") != f"{stem}Tokenizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
