"""What each number of a report is, in a sentence or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytepair.study.report.results import CorpusReport


def definitions(report: CorpusReport) -> dict[str, str]:
    """The names of the numbers of a report, and what they are; those alone that it has.

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
        "Words": "What stands between two boundaries of words (Unicode Standard Annex #29) and holds a letter or a "
        "number. Scripts that put no spaces between words (here Han, kana, Thai, Lao, Burmese and Khmer) would need a "
        "dictionary to be cut into words; without one, nearly each of their characters counts as a word.",
        "Tokens": "What the tokenizer makes of the documents, without what a model frames them with.",
        "Bytes per token": "Bytes of text for each token. More is cheaper.",
        "Tokens per word": "Fertility (Rust et al. 2021): all tokens, those of punctuation too, for each word. Fewer "
        "is cheaper. Where words are rather characters, it says how many tokens a character has.",
        "Tokens per character": "All tokens for each character. Fewer is cheaper. A character of one script says as "
        "much as several of another.",
        "Premium per byte": f"Tokens for each byte, over the same of {first}. It does not tell what it costs to say "
        "the same: scripts of three bytes a character look cheap in it.",
        "Premium per character": f"Tokens for each character, over the same of {first}. Nor does this: scripts that "
        "say much in a character look dear in it.",
        "Parity": f"Tokens over the tokens of {first} for the same content, document by document (the premium of "
        "Petrov et al. 2023). 2 says that it costs twice as much to say the same.",
        "Characters and words in a context": f"How much text of such a kind {report.context:,} tokens hold.",
        "Used": "Tokens of the vocabulary that occur. Special tokens, the token for what is unknown, and ids without a "
        "token are left out.",
        "Rarely used": f"Those that occur, but fewer than {report.rare:,} times.",
        "Never used": "Those that do not occur. Some of them may still be steps on the way to longer ones.",
        "Unknown": "Tokens that stand for text that the vocabulary cannot spell; it is lost.",
        "Parts of characters": "Tokens of a single byte that is only a part of a character: the vocabulary knows "
        "nothing longer there.",
        "Entropy": "Of tokens drawn as often as they occur, one by one: bits for each token, and for each byte of the "
        "text.",
        "Rényi efficiency": "How evenly the vocabulary is used: the Rényi entropy of order 2.5 over the logarithm of "
        "the number of all its tokens (Zouhar et al. 2023). 1 says that all occur equally.",
        "Length": "The bytes of text that a token stands for, without the marks of a vocabulary for parts of words.",
        "Rank": "The place of a token among all, by how often it occurs in the corpus.",
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
"""What the definitions cite."""
