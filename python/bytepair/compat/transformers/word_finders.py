"""Text -> the words that MeCab or Moses finds, as a tokenizer of `bytepair.formats.found_words` takes them; and back.

A finder is plain data, so that it can be copied and pickled; the library's own object is made on first use, once for
each setting.

Source: ``tokenization_bert_japanese.py``, ``tokenization_biogpt.py``, ``tokenization_flaubert.py``,
``tokenization_fsmt.py`` and ``tokenization_xlm.py`` in ``transformers`` 5, and the scripts of Moses that the last of
these names.
"""

from __future__ import annotations

import re
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from unicodedata import category, normalize

from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_END = "</w>"

SETTINGS = {
    "BertJapanese": (
        *("do_lower_case", "do_word_tokenize", "do_subword_tokenize", "word_tokenizer_type", "never_split"),
        *("mecab_kwargs", "sudachi_kwargs", "jumanpp_kwargs"),
    ),
    "BioGpt": (),
    "FSMT": ("langs", "do_lower_case"),
    "Flaubert": ("do_lowercase",),
    "XLM": ("do_lowercase_and_remove_accent",),
}
"""The settings of ``tokenizer_config.json`` that choose how words are found, by class."""

_DICTIONARIES = ("ipadic", "unidic", "unidic_lite")
"""The packages of dictionaries: a folder names one, and no other module is imported because of it."""
_MECAB = {"mecab_dic": "unidic_lite", "normalize_text": True, "mecab_option": None, "never_split": None}
"""The keys of ``mecab_kwargs``, with their defaults."""


class WordFinder(Protocol):
    """How a class finds words in a text, and puts tokens together."""

    def split(self, text: str) -> str:
        """The words of a text, as the tokenizer takes them."""

    def join(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""


class Mecab(NamedTuple):
    """MeCab, by the package ``fugashi``.

    Attributes:
        dictionary: The package of its dictionary.
        is_normalized: Whether a text is put into NFKC first.
        is_lowercase: Whether words are lowercased.
        unk_token: For a tokenizer of single characters, what stands for white space, which is none of its tokens; None
            for one of words.
    """

    dictionary: str
    is_normalized: bool = True
    is_lowercase: bool = False
    unk_token: str | None = None

    def split(self, text: str) -> str:
        """The words of a text, or the characters of its words, with U+0020 between them."""
        if self.is_normalized:
            text = normalize("NFKC", text)
        words = [word.surface for word in _tagger(self.dictionary)(text)]
        if self.is_lowercase:
            words = [word.lower() for word in words]
        if self.unk_token is not None:
            characters = (character for word in words for character in normalize("NFKC", word))
            return " ".join(self.unk_token if character.isspace() else character for character in characters)
        # A word is cut at white space too.
        return " ".join(" ".join(words).split())

    def join(self, tokens: Sequence[str]) -> str:
        """The words of tokens with U+0020 between them."""
        return " ".join(tokens).replace(" ##", "").strip()


class Moses(NamedTuple):
    """The rules of Moses, by the package ``sacremoses``.

    Attributes:
        language: The language.
        before: Steps that a text takes first.
        after: Steps that its words take, which U+0020 separates.
        is_escaped: Whether ``<`` and the like are escaped, and dashes words; tokens are put together by the rules too.
        target: The language of the tokens that are put together; None for the same.
    """

    language: str
    before: tuple[Callable[[str], str], ...] = ()
    after: tuple[Callable[[str], str], ...] = ()
    is_escaped: bool = False
    target: str | None = None

    def split(self, text: str) -> str:
        """The words of a text with U+0020 between them."""
        for step in self.before:
            text = step(text)
        find = _moses("MosesTokenizer", self.language).tokenize
        words = " ".join(find(text, aggressive_dash_splits=self.is_escaped, return_str=False, escape=self.is_escaped))
        for step in self.after:
            words = step(words)
        return words

    def join(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""
        text = "".join(tokens).replace(_END, " ")
        if not self.is_escaped:
            return text.strip()
        made: str = _moses("MosesDetokenizer", self.target or self.language).detokenize(text.split())
        return made


def of_class(name: str, settings: Mapping[str, Any]) -> WordFinder:
    """The finder of a class, by the settings of its folder and of a call.

    Args:
        name: One of `bytepair.formats.found_words.NAMES`.
        settings: `SETTINGS`, and others.

    Raises:
        TypeError: A setting has a value that is not supported.
    """
    if name == "BertJapanese":
        return _of_japanese(settings)
    if name == "BioGpt":
        return Moses("en", is_escaped=True)
    if name == "Flaubert":
        first = (_without_double_quotes, str.lower) if settings.get("do_lowercase") else (_without_double_quotes,)
        return Moses("fr", (*first, *_cleaned("fr")))
    if name == "FSMT":
        return _of_translator(settings)
    is_plain = settings.get("do_lowercase_and_remove_accent", True) in {None, True}
    return Moses("en", _cleaned("en"), (_without_accents,) if is_plain else ())


def _cleaned(language: str) -> tuple[Callable[[str], str], ...]:
    """The steps that a text of a language takes before Moses finds words."""
    return _ascii_punctuation, partial(_punctuation, language), _printable


def _of_translator(settings: Mapping[str, Any]) -> Moses:
    languages = settings.get("langs")
    if (
        not isinstance(languages, (list, tuple))
        or len(languages) != 2
        or not all(isinstance(each, str) for each in languages)
    ):
        raise TypeError(f"langs={languages!r} is not supported: it is a list of two languages")
    source, target = languages
    first = (str.lower,) if settings.get("do_lower_case") else ()
    return Moses(source, (*first, *_cleaned(source)), is_escaped=True, target=target)


def _of_japanese(settings: Mapping[str, Any]) -> Mecab:
    usual = {"do_word_tokenize": True, "do_subword_tokenize": True, "word_tokenizer_type": "mecab"}
    usual |= dict.fromkeys(("never_split", "sudachi_kwargs", "jumanpp_kwargs"))
    for name, value in usual.items():
        found = settings.get(name, "basic" if name == "word_tokenizer_type" else value)
        if (found or None) != value:
            raise TypeError(f"{name}={found!r} is not supported: words are found with MeCab alone")
    stated = settings.get("mecab_kwargs") or {}
    given = _MECAB | stated if isinstance(stated, dict) else {}
    is_known = given.keys() == _MECAB.keys() and not (given["mecab_option"] or given["never_split"])
    if not is_known or given["mecab_dic"] not in _DICTIONARIES:
        names = ", ".join(_DICTIONARIES)
        raise TypeError(f"mecab_kwargs={stated!r} is not supported: mecab_dic is one of {names}, normalize_text a flag")
    unk = str(settings.get("unk_token") or "[UNK]")
    is_character = settings.get("subword_tokenizer_type") == "character"
    return Mecab(
        given["mecab_dic"],
        bool(given["normalize_text"]),
        bool(settings.get("do_lower_case")),
        unk if is_character else None,
    )


@cache
def _tagger(dictionary: str) -> Any:
    fugashi, package = _imported("fugashi", "fugashi"), dictionary.replace("_", "-")
    place = Path(_imported(dictionary, package).DICDIR)
    if not place.is_dir():
        what = f"the package {package} has no dictionary"
        raise ArtifactError(what, file=str(place), remedy=f"fetch it: python -m {dictionary} download")
    return fugashi.GenericTagger(f'-d "{place}" -r "{place / "mecabrc"}"')


@cache
def _moses(kind: str, language: str) -> Any:
    return getattr(_imported("sacremoses", "sacremoses"), kind)(lang=language)


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        what = f"finding the words of this tokenizer needs the package {package}"
        raise ArtifactError(what, remedy=f"pip install {package}") from error


_ASCII = str.maketrans(
    {
        **dict(zip("，、∶：？）！（；～━〈〉【】％", ",,::?)!(;~-<>[]%", strict=True)),
        **dict.fromkeys("”“《》」「", '"'),
        **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
        "’": "'",
        "…": "...",
    }
)


def _ascii_punctuation(text: str) -> str:
    """Chinese punctuation and wide digits as ASCII, as Moses's ``replace-unicode-punctuation.perl`` has it."""
    return re.sub(r"[。．]\s*", ". ", text).translate(_ASCII)


def _punctuation(language: str, text: str) -> str:
    made: str = _moses("MosesPunctNormalizer", language).normalize(text)
    return made


def _printable(text: str) -> str:
    """The text without control characters and the like, which Moses's ``remove-non-printing-char.perl`` removes."""
    return "".join(character for character in text if category(character)[0] != "C")


def _without_accents(text: str) -> str:
    """The text in small letters without accents, as XLM's ``lowercase_and_remove_accent.py`` has it."""
    return "".join(mark for mark in normalize("NFD", text.lower()) if category(mark) != "Mn").lower()


def _without_double_quotes(text: str) -> str:
    """The text in NFC, with typewriters' double quotes as one character."""
    return normalize("NFC", text.replace("``", '"').replace("''", '"'))
