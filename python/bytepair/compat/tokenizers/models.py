"""The models of ``tokenizers``: a vocabulary and its options, as in ``tokenizer.json``.

The file is long because it has the constructors, files and properties of four models.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

from bytepair import _core, files
from bytepair.compat.tokenizers.components import Changes, Component, Option
from bytepair.compat.tokenizers.spelling import spell
from bytepair.compat.tokenizers.trainers import BpeTrainer, Trainer, UnigramTrainer, WordLevelTrainer, WordPieceTrainer
from bytepair.compat.tokenizers.values import boolean, id_number, listed, natural, optional, real, text
from bytepair.errors import ArtifactError, FormatError
from bytepair.formats.hf_common import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from bytepair.tokenizer import Tokenizer as Core

Json = Any


class Token(NamedTuple):
    """A token of a model: its id, its text, and its start and end in bytes."""

    id: int
    value: str
    offsets: tuple[int, int]

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Convert to a plain tuple."""
        return self.id, self.value, self.offsets


class Model(Component):
    """The base class of models."""

    _stage = "model"
    _kinds: ClassVar[dict[str, type[Component]]] = {}
    _trainer: ClassVar[type[Trainer]]

    def _ids(self) -> dict[str, int]:
        """The vocabulary; do not modify it."""
        vocab: dict[str, int] = self._table.setdefault("vocab", {})
        return vocab

    def _learn(self, **values: Json) -> None:
        """Replace the vocabulary and options by trained ones."""
        self._table.update(values)
        self.__dict__.pop("_tokens", None)
        self.__dict__.pop("_core", None)
        Changes.tell()

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id: token for token, id in self._ids().items()}

    def token_to_id(self, token: str) -> int | None:
        """The id of a token; None if it does not exist."""
        return self._ids().get(text("token", token))

    def id_to_token(self, id: int) -> str | None:
        """The token of an id; None if it does not exist."""
        return self._tokens.get(id_number("id", id))

    def tokenize(self, sequence: str) -> list[Token]:
        """Tokenize a single piece; offsets are in bytes.

        Raises:
            FormatError: The model is not supported.
        """
        core = self._alone()
        ids, offsets, _, surfaces = _core.locate(core, text("sequence", sequence).encode())
        tokens = self._tokens
        return [
            Token(id, surfaces.get(place, tokens[id]), offset)
            for place, (id, offset) in enumerate(zip(ids, offsets, strict=True))
        ]

    def _alone(self) -> Core:
        """A tokenizer of the model without other stages."""
        from bytepair.compat.tokenizers.compiling import compile_core  # noqa: PLC0415 (few use a model on its own)

        state = Changes.count, self.__dict__.get("_core")
        if state[1] is None or state[1][0] != state[0]:
            self._core: tuple[int, Core] = state[0], compile_core(self._json(), [], {})
        return self._core[1]

    def get_trainer(self) -> Trainer:
        """Make a trainer for this kind of model, with its default settings."""
        return self._trainer()

    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Write the files of the model into a folder; return their paths.

        Args:
            folder: An existing folder.
            prefix: The prefix of the file names; a hyphen follows.
            name: The former name of `prefix`.

        Raises:
            ArtifactError: A file cannot be written.
        """
        start = prefix if prefix is not None else name
        paths = []
        for file, content in self._files().items():
            path = Path(folder) / (file if start is None else f"{start}-{file}")
            try:
                path.write_text(content, encoding="utf-8", newline="\n")
            except OSError as error:
                raise ArtifactError(f"cannot write: {error.strerror}", file=str(path)) from error
            paths.append(str(path))
        return paths

    def _files(self) -> dict[str, str]:
        raise NotImplementedError(f"{type(self).__name__} has no files")

    def __repr__(self) -> str:
        return spell(self._shown(), 100)

    def __str__(self) -> str:
        return spell(self._shown(), 6)

    def _shown(self) -> Json:
        return self._json()

    def _clear_cache(self) -> NoReturn:
        raise NotImplementedError("_clear_cache: the cache of a thread is bounded and cannot be cleared")

    def _resize_cache(self, capacity: int) -> NoReturn:
        raise NotImplementedError(f"_resize_cache({capacity}): the cache of a thread has a fixed size")


def _vocabulary(vocab: Json) -> dict[str, int]:
    if not isinstance(vocab, dict):
        raise TypeError(f"vocab is a dict of tokens and their ids, not {type(vocab).__name__}")
    return {text("token", token): id_number("id", id) for token, id in vocab.items()}


def _by_id(vocab: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def _read(path: Any) -> str:
    try:
        return files.read(Path(path)).decode()
    except UnicodeDecodeError as error:
        raise FormatError("the file is not UTF-8", file=str(path), byte=error.start) from error


def _read_vocab_json(path: Any) -> dict[str, int]:
    try:
        table = json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise FormatError(f"the file is not JSON: {error.msg}", file=str(path), line=error.lineno) from error
    if not isinstance(table, dict) or not all(type(id) is int for id in table.values()):
        raise FormatError("the file is not a vocabulary, a JSON object of tokens and their ids", file=str(path))
    return table


def _probability(name: str, value: Any) -> float:
    probability = real(name, value)
    if not 0 <= probability <= 1:
        raise ValueError(f"{name}={value} is not between 0 and 1")
    return probability


def _unknown_options(options: Mapping[str, Any], kind: str) -> None:
    if "cache_capacity" in options:
        raise NotImplementedError("cache_capacity is not supported: the cache of a thread has a fixed size")
    if options:
        raise TypeError(f"{kind} has no option {next(iter(options))!r}")


class BPE(Model):
    """Byte-pair encoding.

    Args:
        vocab: The tokens and their ids, or the path of a ``vocab.json``.
        merges: The merges in order, or the path of a ``merges.txt``.
        dropout: The dropout probability of merges in encoding.
        unk_token: The token for a character without a token; if None, such characters are dropped.
        continuing_subword_prefix: The prefix of tokens inside a word.
        end_of_word_suffix: The suffix of tokens at the end of a word.
        fuse_unk: Whether consecutive unknown characters are one token.
        byte_fallback: Whether an unknown character is encoded as its bytes.
        ignore_merges: Whether a piece that is a token is encoded as that token without merges.

    Raises:
        ValueError: Only one of `vocab` and `merges` is given.
        FormatError: A merge needs a token that is not in the vocabulary, or a file is malformed.
        NotImplementedError: ``cache_capacity`` is given.

    Example:
        >>> model = BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
        >>> [token.value for token in model.tokenize("aab")]
        ['a', 'ab']
    """

    _trainer = BpeTrainer
    dropout = Option["float | None"](optional(_probability), None)
    unk_token = Option["str | None"](optional(text), None)
    continuing_subword_prefix = Option["str | None"](optional(text), None)
    end_of_word_suffix = Option["str | None"](optional(text), None)
    fuse_unk = Option[bool](boolean, False)
    byte_fallback = Option[bool](boolean, False)
    ignore_merges = Option[bool](boolean, False)

    def __init__(
        self,
        vocab: Mapping[str, int] | str | None = None,
        merges: Sequence[tuple[str, str]] | str | None = None,
        *,
        dropout: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool | None = None,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        **options: Any,
    ) -> None:
        _unknown_options(options, "BPE")
        if not isinstance(vocab, (dict, str, NoneType)) or not isinstance(merges, (list, tuple, str, NoneType)):
            raise TypeError("`vocab` is a dict or a path, and `merges` a list of pairs or a path")
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` go together: pass both or neither")
        if isinstance(vocab, str) or isinstance(merges, str):
            if not (isinstance(vocab, str) and isinstance(merges, str)):
                raise ValueError("`vocab` and `merges` are both paths, or both from memory")  # noqa: TRY004 (as in tokenizers)
            vocab, merges = self.read_file(vocab, merges)
        self._set(
            dropout=dropout,
            unk_token=unk_token,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
            fuse_unk=False if fuse_unk is None else fuse_unk,
            byte_fallback=byte_fallback,
            ignore_merges=ignore_merges,
        )
        self._table["vocab"] = _vocabulary({} if vocab is None else vocab)
        self._table["merges"] = [_merge(merge, row) for row, merge in enumerate(merges or ())]
        self._check()

    def _check(self) -> None:
        vocab, cut = self._ids(), len(self.continuing_subword_prefix or "")
        for row, (left, right) in enumerate(self._table["merges"]):
            for token in (left, right, left + right[cut:]):
                if token not in vocab:
                    raise FormatError(
                        f"Token `{token}` out of vocabulary: the merge of {left!r} and {right!r} needs it",
                        pointer=f"/model/merges/{row}",
                    )

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Read the vocabulary and the merges from two files.

        Raises:
            ArtifactError: A file cannot be read.
            FormatError: A file is malformed.
        """
        lines = _read(merges).splitlines()
        pairs = []
        for number, line in enumerate(lines):
            if line.startswith("#version"):
                continue
            parts = line.split(" ")
            if len(parts) != 2:
                raise FormatError(f"{shown(line)} is not a merge of two tokens", file=str(merges), line=number + 1)
            pairs.append((parts[0], parts[1]))
        return _read_vocab_json(vocab), pairs

    @classmethod
    def from_file(cls, vocab: str, merges: str, **options: Any) -> Self:
        """Make the model from two files; options as for the constructor."""
        return cls(*cls.read_file(vocab, merges), **options)

    def _json(self) -> dict[str, Json]:
        table = super()._json()
        merges = table.pop("merges", [])
        table["vocab"] = _by_id(table.pop("vocab", {}))
        table["merges"] = [_merge(merge, row) for row, merge in enumerate(merges)]
        return table

    def _shown(self) -> Json:
        table = self._json()
        return {**table, "merges": [tuple(merge) for merge in table["merges"]]}

    def _files(self) -> dict[str, str]:
        table = self._json()
        merges = "".join(f"{left} {right}\n" for left, right in table["merges"])
        return {"vocab.json": _compact(table["vocab"]), "merges.txt": "#version: 0.2\n" + merges}


def _merge(merge: Any, row: int) -> list[str]:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if isinstance(parts, (list, tuple)) and len(parts) == 2 and all(isinstance(part, str) for part in parts):
        return list(parts)
    raise FormatError(f"{shown(merge)} is not a merge of two tokens", pointer=f"/model/merges/{row}")


def _compact(table: Json) -> str:
    return json.dumps(table, ensure_ascii=False, separators=(",", ":"))


class WordPiece(Model):
    """WordPiece: the longest token at the start of a word, then the longest that continues it.

    Args:
        vocab: The tokens and their ids, or the path of a ``vocab.txt``.
        unk_token: The token for a word that cannot be split into tokens.
        max_input_chars_per_word: The maximum length of a word; longer words are unknown.
        continuing_subword_prefix: The prefix of tokens inside a word.

    Raises:
        FormatError: The file is malformed.

    Example:
        >>> model = WordPiece({"[UNK]": 0, "low": 1, "##er": 2})
        >>> [token.value for token in model.tokenize("lower")]
        ['low', '##er']
    """

    _trainer = WordPieceTrainer
    unk_token = Option[str](text, "[UNK]")
    continuing_subword_prefix = Option[str](text, "##")
    max_input_chars_per_word = Option[int](natural, 100)

    def __init__(
        self,
        vocab: Mapping[str, int] | str | None = None,
        *,
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
        **options: Any,
    ) -> None:
        _unknown_options(options, "WordPiece")
        self._set(
            unk_token=unk_token,
            max_input_chars_per_word=max_input_chars_per_word,
            continuing_subword_prefix=continuing_subword_prefix,
        )
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        self._table["vocab"] = _vocabulary({} if vocab is None else vocab)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Read a vocabulary from a file with a token on each line.

        Raises:
            ArtifactError: The file cannot be read.
        """
        content = _read(vocab)
        lines = content.split("\n")
        return {line.removesuffix("\r"): id for id, line in enumerate(lines[:-1] if lines[-1] == "" else lines)}

    @classmethod
    def from_file(cls, vocab: str, **options: Any) -> Self:
        """Make the model from a file; options as for the constructor."""
        return cls(cls.read_file(vocab), **options)

    def _json(self) -> dict[str, Json]:
        table = super()._json()
        return {**table, "vocab": _by_id(table.pop("vocab", {}))}

    def _files(self) -> dict[str, str]:
        return {"vocab.txt": "".join(f"{token}\n" for token in _by_id(self._ids()))}


class WordLevel(Model):
    """A token for each word.

    Args:
        vocab: The tokens and their ids, or the path of a ``vocab.json``.
        unk_token: The token for all other words.

    Raises:
        FormatError: The file is malformed.
    """

    _trainer = WordLevelTrainer
    unk_token = Option[str](text, "<unk>")

    def __init__(self, vocab: Mapping[str, int] | str | None = None, unk_token: str | None = None) -> None:
        self._set(unk_token="<unk>" if unk_token is None else unk_token)
        if isinstance(vocab, str):
            vocab = _read_vocab_json(vocab)
        self._table["vocab"] = _vocabulary({} if vocab is None else vocab)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Read a ``vocab.json``.

        Raises:
            ArtifactError: The file cannot be read.
            FormatError: The file is malformed.
        """
        return _read_vocab_json(vocab)

    @classmethod
    def from_file(cls, vocab: str, unk_token: str | None = None) -> Self:
        """Make the model from a file."""
        return cls(_read_vocab_json(vocab), unk_token)

    def _json(self) -> dict[str, Json]:
        table = super()._json()
        unk = table.pop("unk_token")
        return {**table, "vocab": _by_id(table.pop("vocab", {})), "unk_token": unk}

    def _files(self) -> dict[str, str]:
        return {"vocab.json": _compact(_by_id(self._ids()))}


def _scored(given: Any) -> list[Json]:
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return [text("token", given[0]), real("score", given[1])]
    raise TypeError(f"vocab is a list of tokens and their scores, and {shown(given)} is no such pair")


class Unigram(Model):
    """Unigram: the segmentation of a piece with the greatest sum of scores.

    Args:
        vocab: Tokens and their scores; the ids are their indices.
        unk_id: The id of the token for unknown characters.
        byte_fallback: Whether an unknown character is encoded as its bytes.
        alpha: The smoothing of sampled segmentations; None for no sampling.
        nbest_size: The number of segmentations to sample from.

    Raises:
        ValueError: `unk_id` is not an id of the vocabulary.
    """

    _trainer = UnigramTrainer
    alpha: float | None
    nbest_size: int | None

    def __init__(
        self,
        vocab: Sequence[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        self._set()
        id = optional(natural)("unk_id", unk_id)
        if vocab is None and id is not None:
            raise ValueError(f"unk_id={id} needs a vocabulary: pass both")
        rows = [_scored(each) for each in ([("<unk>", 0.0)] if vocab is None else listed("vocab", vocab))]
        self._table["unk_id"] = 0 if vocab is None else id
        if id is not None and id >= len(rows):
            raise ValueError(f"unk_id={id} is not an id of a vocabulary of {len(rows)} tokens")
        self._table["vocab"] = rows
        self._table["byte_fallback"] = boolean("byte_fallback", False if byte_fallback is None else byte_fallback)
        self.alpha = alpha
        self.nbest_size = nbest_size

    @classmethod
    def _read(cls, table: dict[str, Json]) -> Self:
        self = super()._read(table)
        self.alpha, self.nbest_size = None, None
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        check = {"alpha": real, "nbest_size": natural}.get(name)
        super().__setattr__(name, value if check is None else optional(check)(name, value))
        if check is not None:
            Changes.tell()

    def _ids(self) -> dict[str, int]:
        ids: dict[str, int] = self.__dict__.get("_by_token", {})
        if not ids:
            ids = {row[0]: id for id, row in reversed(list(enumerate(self._table["vocab"])))}
            self.__dict__["_by_token"] = ids
        return ids

    def _learn(self, **values: Json) -> None:
        self.__dict__.pop("_by_token", None)
        super()._learn(**values)

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id: row[0] for id, row in enumerate(self._table["vocab"])}

    def _json(self) -> dict[str, Json]:
        table = dict(self._table)
        last = table.pop("byte_fallback", False)
        return {"type": "Unigram", "unk_id": table.pop("unk_id", None), "vocab": table.pop("vocab"), **table} | {
            "byte_fallback": last
        }

    def _shown(self) -> Json:
        table = self._json()
        return {**table, "vocab": [tuple(row) for row in table["vocab"]]}

    def _files(self) -> dict[str, str]:
        return {"unigram.json": json.dumps(self._json(), ensure_ascii=False, indent=2)}
