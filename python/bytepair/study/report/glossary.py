"""Definitions of the numbers of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytepair.study.report.results import CorpusReport


def definitions(report: CorpusReport) -> dict[str, str]:
    """The numbers that a report has, by name, with their definitions.

    Example:
        >>> from bytepair.study.report.results import CorpusReport
        >>> "Parity" in definitions(CorpusReport((), (), (), 1, 1, parallel=False))
        False
    """
    first = f"“{report.corpora[0].name}”" if report.corpora else "the first corpus"
    found = {
        "Documents": "Texts that were encoded one by one: files, rows or lines. Empty ones count.",
        "Characters": "Code points of Unicode.",
        "Bytes": "The bytes of the text as UTF-8.",
        "Words": "Segments between word boundaries (Unicode Standard Annex #29) that hold a letter or a number. "
        "Scripts without spaces between words (here Han, kana, Thai, Lao, Burmese and Khmer) would need a dictionary; "
        "without one, nearly each of their characters counts as a word.",
        "Tokens": "The tokens of the documents, without those that a post-processor adds.",
        "Bytes per token": "Bytes of text per token. More is cheaper.",
        "Tokens per word": "Fertility (Rust et al. 2021): all tokens, punctuation included, per word. Fewer "
        "is cheaper.  In scripts without spaces it is close to tokens per character.",
        "Tokens per character": "All tokens per character. Fewer is cheaper. A character of one script can carry as "
        "much meaning as several of another.",
        "Premium per byte": f"Tokens per byte, relative to {first}. It does not compare equal content: scripts of "
        "three bytes per character look cheap.",
        "Premium per character": f"Tokens per character, relative to {first}. It does not compare equal content "
        "either: scripts with much meaning per character look expensive.",
        "Parity": f"Tokens over the tokens of {first} for the same content, document by document (the premium of "
        "Petrov et al. 2023). At 2, the same content costs twice as much.",
        "Characters and words in a context": f"The amount of such text that {report.context:,} tokens hold.",
        "Used": "Tokens of the vocabulary that occur. Special tokens, the unknown token, and ids without a token are "
        "not counted.",
        "Rarely used": f"Tokens that occur fewer than {report.rare:,} times.",
        "Never used": "Tokens that do not occur. Some may still be intermediate merges of longer tokens.",
        "Unknown": "Uses of the unknown token, whose text is lost.",
        "Parts of characters": "Tokens of a single byte that is a part of a character: the vocabulary has no longer "
        "token there.",
        "Entropy": "The entropy of tokens drawn independently by their counts: bits per token, and per byte of text.",
        "Rényi efficiency": "How evenly the vocabulary is used: the Rényi entropy of order 2.5 over the logarithm of "
        "the vocabulary's size (Zouhar et al. 2023). At 1, all tokens occur equally.",
        "Length": "The bytes of text that a token represents, without markers such as ##.",
        "Rank": "The position of a token, by how often it occurs in the corpus.",
    }
    if not report.parallel:
        del found["Parity"]
    if len(report.corpora) < 2:
        found = {name: text for name, text in found.items() if not name.startswith("Premium")}
    return found


SOURCES = (
    "Rust et al. 2021, How Good is Your Tokenizer? On the Monolingual Performance of Multilingual Language Models.",
    "Petrov et al. 2023, Language Model Tokenizers Introduce Unfairness Between Languages.",
    "Zouhar et al. 2023, Tokenization and the Noiseless Channel.",
)
"""The works that the definitions cite."""
