"""The libraries that bytepair is compared with, behind one common interface.

Long because there are eleven of them, each with its own names for the same things. To add one, write a loader (import
the library inside, fill in its calls of `Peer`) and add it to `LIBRARIES`. This file imports only the standard library:
other imports would count as memory of every peer.
"""

from __future__ import annotations

import base64
import functools
import importlib
import importlib.util
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import bytepair as bp

ROOT = Path(__file__).resolve().parent.parent
OURS = "bytepair"
ORACLES = (OURS, "tiktoken", "tokenizers")
"""The libraries that return the right ids for every vocabulary."""

JSON_ONLY = ("tokenizers", "tokenizers-1")
"""The libraries that read no rank file."""

PUBLISHED = ("o200k_base", "cl100k_base")
"""The vocabularies that some libraries have built in, and that others recognise by the file name."""


TIKTOKEN_SPLITS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    )
}
"""Split patterns in tiktoken's spelling, where bytepair spells them differently: some libraries are fast only with the
spelling they know."""


class UnavailableError(Exception):
    """A peer takes no part: it is not installed, or cannot hold the vocabulary; the message is the reason."""


@dataclass(frozen=True)
class Vocabulary:
    """One vocabulary in the files that peers read.

    Attributes:
        name: Its name; peers know those in `PUBLISHED`.
        split: The split pattern.
        scheme: The name of the split pattern, if it has one.
        special_tokens: The special tokens and their ids.
        ranks: A ``.tiktoken`` file; None if the vocabulary cannot be one.
        json: A ``tokenizer.json`` without special tokens, which would be found in the text; None if it cannot be one.
    """

    name: str
    split: str
    scheme: str | None
    special_tokens: Mapping[str, int]
    ranks: Path | None
    json: Path | None


@dataclass(frozen=True)
class Peer:
    """A library's calls, each in its fastest public form; a missing call is None.

    Special tokens in a text are text. Calls on a batch take a number of threads. A library that takes only "one" or
    "many" chooses the number itself when it is more than one.

    Attributes:
        encode: A text to a list.
        encode_array: A text to an array.
        count: The number of tokens of a text, by a dedicated call.
        encode_batch: Texts to lists.
        encode_batch_array: Texts to one flat array.
        decode: A list of ids to a text.
        encode_small: A text without special tokens to a list, if that can be had with less overhead than `encode`.
        encode_array_small: Likewise, to an array.
        count_small: Likewise, for `count`.
        encode_long: A text to an array, with a number of threads.
        one_thread: Whether calls to arrays can be limited to one thread. If not, CPU time is still roughly that of one
            thread, but wall time is meaningless.
    """

    encode: Callable[[str], Any]
    encode_array: Callable[[str], Any] | None = None
    count: Callable[[str], int] | None = None
    encode_batch: Callable[[list[str], int], Any] | None = None
    encode_batch_array: Callable[[list[str], int], Any] | None = None
    decode: Callable[[Sequence[int]], str] | None = None
    encode_small: Callable[[str], Any] | None = None
    encode_array_small: Callable[[str], Any] | None = None
    count_small: Callable[[str], int] | None = None
    encode_long: Callable[[str, int], Any] | None = None
    one_thread: bool = True


Loader: TypeAlias = Callable[[Vocabulary], Peer]


@dataclass(frozen=True)
class Library:
    """A library: its loader for a vocabulary, its module, and its package.

    Attributes:
        aborts: Whether some texts make it end the whole process, so that they are tried in another one before.
    """

    load: Loader
    module: str
    package: str
    aborts: bool = False


def write(tok: bp.Tokenizer, folder: Path, name: str = "") -> Vocabulary:
    """Save a tokenizer in every file that can hold it."""
    import bytepair as bp
    from bytepair.model.split_patterns import split_name

    def saved(path: Path, **options: Any) -> Path | None:
        try:
            return tok.save(path, **options)[0]
        except bp.FormatError:
            return None

    split = tok.spec.split[0] if tok.spec.split else ""
    ranks = saved(folder / "ranks", format="tiktoken", drop=("split", "special_tokens", "added_tokens"))
    json = saved(folder / "json", format="tokenizer.json")
    return Vocabulary(name, split, split_name(split), tok.special_tokens, ranks, json)


def _file(path: Path | None) -> Path:
    if path is None:
        raise UnavailableError("it has no file of a kind that can hold this vocabulary")
    return path


def _published(vocabulary: Vocabulary) -> str:
    """The name of a vocabulary that a library has built in."""
    if vocabulary.name not in PUBLISHED:
        raise UnavailableError("it loads published vocabularies only")
    return vocabulary.name


def _each(encode: Callable[[str], Any], texts: list[str]) -> list[Any]:
    return [encode(text) for text in texts]


def _concatenated(encode_array: Callable[[str], Any], texts: list[str]) -> Any:
    import numpy as np

    return np.concatenate([encode_array(text) for text in texts])


def _rows(flat: Any, offsets: Any) -> list[list[int]]:
    return [flat[start:end].tolist() for start, end in itertools.pairwise(offsets)]


def _ranks(path: Path) -> dict[bytes, int]:
    """A rank file, read like tiktoken.load but without a copy in a cache folder."""
    lines = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _bytepair(vocabulary: Vocabulary) -> Peer:
    import inspect

    import bytepair as bp

    if vocabulary.ranks is None:
        tok = bp.Tokenizer.from_file(_file(vocabulary.json))
    else:
        split, special_tokens = vocabulary.split, vocabulary.special_tokens
        tok = bp.Tokenizer.from_file(vocabulary.ranks, split=split, special_tokens=special_tokens)

    def encode_batch_array(texts: list[str], threads: int) -> Any:
        return tok.encode_batch_array(texts, special="text", threads=threads).ids

    def encode_long(text: str, threads: int) -> Any:
        if "threads" in inspect.signature(tok.encode_array).parameters:
            return tok.encode_array(text, special="text", threads=threads)
        return encode_batch_array([text], threads)

    return Peer(
        encode=functools.partial(tok.encode, special="text"),
        encode_array=functools.partial(tok.encode_array, special="text"),
        count=functools.partial(tok.count, special="text"),
        encode_batch=lambda texts, threads: tok.encode_batch(texts, special="text", threads=threads),
        encode_batch_array=encode_batch_array,
        decode=tok.decode,
        encode_small=tok.encode,
        encode_array_small=tok.encode_array,
        count_small=tok.count,
        encode_long=encode_long,
    )


def _tiktoken(vocabulary: Vocabulary) -> Peer:
    import tiktoken

    encoding = tiktoken.Encoding(
        name="peer",
        pat_str=TIKTOKEN_SPLITS.get(vocabulary.name, vocabulary.split) or r"[\s\S]+",
        mergeable_ranks=_ranks(_file(vocabulary.ranks)),
        special_tokens=dict(vocabulary.special_tokens),
    )
    encode_array = functools.partial(encoding.encode_to_numpy, disallowed_special=())
    return Peer(
        encode=encoding.encode_ordinary,
        encode_array=encode_array,
        encode_batch=lambda texts, threads: encoding.encode_ordinary_batch(texts, num_threads=threads),
        encode_batch_array=lambda texts, _: _concatenated(encode_array, texts),
        decode=encoding.decode,
    )


def _tokenizers(vocabulary: Vocabulary) -> Peer:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(_file(vocabulary.json)))

    def encode(text: str) -> list[int]:
        ids: list[int] = tok.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"  # Read at each call.
        return [row.ids for row in tok.encode_batch_fast(texts, add_special_tokens=False)]

    return Peer(
        encode=encode,
        encode_batch=encode_batch,
        decode=lambda ids: tok.decode(ids, skip_special_tokens=False),
    )


def _tokenizers_1(vocabulary: Vocabulary) -> Peer:
    tokenizers = _module("tokenizers_1")
    tok = tokenizers.Tokenizer.from_file(_file(vocabulary.json))
    encode = functools.partial(tok.encode, add_special_tokens=False)

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        return [row.ids for row in tok.encode_batch(texts, add_special_tokens=False)]

    def encode_batch_array(texts: list[str], threads: int) -> Any:
        import numpy as np

        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        return np.concatenate([row.ids_array for row in tok.encode_batch(texts, add_special_tokens=False)])

    return Peer(
        encode=lambda text: encode(text).ids,
        encode_array=lambda text: encode(text).ids_array,
        encode_batch=encode_batch,
        encode_batch_array=encode_batch_array,
        decode=lambda ids: tok.decode(ids, skip_special_tokens=False),
    )


def _gigatoken(vocabulary: Vocabulary) -> Peer:
    import gigatoken

    schemes = {"gpt2": "gpt2", "cl100k": "gpt4", "o200k": "o200k"}
    scheme = schemes.get(vocabulary.scheme or "")
    if scheme is None:
        raise UnavailableError(f"it does not know the split pattern {vocabulary.scheme or vocabulary.split!r}")
    ranks = str(_file(vocabulary.ranks))
    # The core, which its own `Tokenizer` calls: one call less.
    tok = gigatoken.Tokenizer.from_tiktoken(ranks, pretokenizer=scheme, special_tokens={}).backend

    def encode_batch_array(texts: list[str], threads: int) -> Any:
        import numpy as np

        return np.asarray(tok.encode_batch(texts, parallel=threads > 1).layout.content.data)

    return Peer(
        encode=lambda text: tok.encode(text).tolist(),
        encode_array=tok.encode,
        encode_batch=lambda texts, threads: tok.encode_batch_list(texts, parallel=threads > 1),
        encode_batch_array=encode_batch_array,
        decode=lambda ids: tok.decode(ids).decode("utf-8", "replace"),
        encode_long=lambda text, threads: encode_batch_array([text], threads),
    )


def _toktok(vocabulary: Vocabulary) -> Peer:
    import toktok

    tok = toktok._encoding(_published(vocabulary))

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        if threads == 1:
            return _each(tok.encode_ordinary, texts)
        return _rows(*tok.encode_batch_to_numpy(texts, threads))

    return Peer(
        encode=tok.encode_ordinary,
        encode_array=lambda text: tok.encode_to_numpy(text, None, ()),
        count=tok.count,
        encode_batch=encode_batch,
        encode_batch_array=lambda texts, threads: tok.encode_batch_to_numpy(texts, threads)[0],
        decode=tok.decode,
    )


def _quicktok(vocabulary: Vocabulary) -> Peer:
    import quicktok

    tok = quicktok.get_encoding(_published(vocabulary))

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        if threads == 1:
            return _each(tok.encode_ordinary, texts)
        return _rows(*tok.encode_batch(texts, threads))

    return Peer(
        encode=tok.encode_ordinary,
        encode_array=lambda text: tok.encode_batch([text], 1)[0],
        count=tok.count,
        encode_batch=encode_batch,
        encode_batch_array=lambda texts, threads: tok.encode_batch(texts, threads)[0],
        decode=tok.decode,
    )


def _rs_bpe(vocabulary: Vocabulary) -> Peer:
    import rs_bpe.bpe

    openai = rs_bpe.bpe.openai
    tok = getattr(openai, _published(vocabulary))()

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        rows: list[list[int]]
        if threads == 1:
            rows = tok.encode_batch(texts)[0]
        else:
            rows = tok.encode_batch_parallel(texts, openai.ParallelOptions(1, 16, threads))[0]
        return rows

    return Peer(encode=tok.encode, count=tok.count, encode_batch=encode_batch, decode=tok.decode)


def _kitoken(vocabulary: Vocabulary) -> Peer:
    import kitoken

    _published(vocabulary)  # It tells the split pattern by the number of tokens.
    tok = kitoken.Kitoken.from_tiktoken_file(str(_file(vocabulary.ranks)))
    return Peer(
        encode=tok.encode,
        encode_batch=lambda texts, threads: _each(tok.encode, texts) if threads == 1 else tok.encode_all(texts),
        decode=lambda ids: tok.decode(ids).decode("utf-8", "replace"),
    )


def _fastokens(vocabulary: Vocabulary) -> Peer:
    import fastokens

    ranks = str(_file(vocabulary.ranks))
    if vocabulary.name in PUBLISHED:  # By name it takes its own spelling of the pattern, which is faster.
        tok = fastokens.Tokenizer.from_tiktoken(ranks, encoding=vocabulary.name)
    else:
        tok = fastokens.Tokenizer.from_tiktoken(ranks, pattern=vocabulary.split, special_tokens={})

    def encode(text: str) -> list[int]:
        ids: list[int] = tok.encode_ordinary(text).ids
        return ids

    def encode_batch_array(texts: list[str], _: int) -> Any:
        import numpy as np

        return np.frombuffer(tok.encode_batch_flat(texts, split_special_tokens=True)[0], np.uint32)

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        return (
            _each(encode, texts)
            if threads == 1
            else [row.ids for row in tok.encode_batch(texts, split_special_tokens=True)]
        )

    return Peer(
        encode=encode,
        encode_array=lambda text: encode_batch_array([text], 1),
        encode_batch=encode_batch,
        encode_batch_array=encode_batch_array,
        decode=tok.decode,
        encode_long=lambda text, threads: encode_batch_array([text], threads),
        one_thread=False,
    )


def _splintr(vocabulary: Vocabulary) -> Peer:
    import splintr

    if not hasattr(splintr, "Tokenizer"):
        raise UnavailableError("what is installed as splintr is another package; the tokenizer is splintr-rs")
    spelled = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}
    split = spelled.get(vocabulary.scheme or "", vocabulary.split)
    tok = splintr.Tokenizer(str(_file(vocabulary.ranks)), split, {})

    def encode_array(text: str) -> Any:
        import numpy as np

        return np.frombuffer(tok.encode_flat(text), np.uint32)

    def encode_batch_array(texts: list[str], _: int) -> Any:
        import numpy as np

        return np.frombuffer(tok.encode_batch_flat(texts)[0], np.uint32)

    return Peer(
        encode=tok.encode_ordinary,
        encode_array=encode_array,
        encode_batch=lambda texts, n: _each(tok.encode_ordinary, texts) if n == 1 else tok.encode_batch(texts),
        encode_batch_array=encode_batch_array,
        decode=tok.decode,
        one_thread=False,
    )


def _wordchipper(vocabulary: Vocabulary) -> Peer:
    import tempfile

    name = _published(vocabulary)
    with tempfile.TemporaryDirectory() as cache:
        # It takes names, and downloads what is not in its cache: here everything is.
        place = Path(cache) / "openai" / name / f"{name}.tiktoken"
        place.parent.mkdir(parents=True)
        place.symlink_to(_file(vocabulary.ranks).resolve())
        os.environ["WORDCHIPPER_CACHE_DIR"] = cache
        import wordchipper

        tok = wordchipper.Tokenizer.from_pretrained(name)
    nothing = wordchipper.SpecialFilter.include_none()
    encode = functools.partial(tok.encode, special_filter=nothing)

    def encode_batch(texts: list[str], threads: int) -> Any:
        return _each(encode, texts) if threads == 1 else tok.encode_batch(texts, special_filter=nothing)

    return Peer(encode=encode, encode_batch=encode_batch, decode=tok.decode)


LIBRARIES: dict[str, Library] = {
    OURS: Library(_bytepair, "bytepair", "bytepair"),
    "tiktoken": Library(_tiktoken, "tiktoken", "tiktoken"),
    "tokenizers": Library(_tokenizers, "tokenizers", "tokenizers"),
    "tokenizers-1": Library(_tokenizers_1, "tokenizers_1", "tokenizers-1"),
    "gigatoken": Library(_gigatoken, "gigatoken", "gigatoken"),
    "fastokens": Library(_fastokens, "fastokens", "fastokens"),
    "toktok": Library(_toktok, "toktok", "toktok-rs"),
    "quicktok": Library(_quicktok, "quicktok", "quicktok-v1"),
    "splintr": Library(_splintr, "splintr", "splintr-rs"),
    "rs-bpe": Library(_rs_bpe, "rs_bpe", "rs-bpe"),
    "wordchipper": Library(_wordchipper, "wordchipper", "wordchipper"),
    "kitoken": Library(_kitoken, "kitoken", "kitoken", aborts=True),
}


def _module(name: str) -> Any:
    """A module; tokenizers 1, which cannot be installed beside 0.23, comes from the folder that `make bench` fills."""
    if name != "tokenizers_1":
        return importlib.import_module(name)
    if name not in sys.modules:
        init = ROOT / "build" / "peers" / "tokenizers" / "__init__.py"
        spec = importlib.util.spec_from_file_location(name, init)
        if not init.is_file() or spec is None or spec.loader is None:
            raise ImportError("no build/peers/tokenizers; make bench installs it")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def import_library(name: str) -> None:
    """Import a library without loading anything.

    Args:
        name: A key of `LIBRARIES`.

    Raises:
        ImportError: It is not installed.

    Example:
        >>> import_library("bytepair")
    """
    _module(LIBRARIES[name].module)


def load(name: str, vocabulary: Vocabulary) -> Peer:
    """Load a vocabulary into a library.

    Raises:
        UnavailableError: The library is not installed, or cannot hold the vocabulary.
    """
    try:
        return LIBRARIES[name].load(vocabulary)
    except ImportError as error:
        raise UnavailableError(f"it is not installed ({error})") from error


def load_all(vocabulary: Vocabulary, tell: Callable[[str], None], names: Sequence[str] = ORACLES) -> dict[str, Peer]:
    """Load a vocabulary into each library that can hold it; `tell` gets a line for each that cannot."""

    def attempt(name: str) -> Peer | None:
        try:
            peer = load(name, vocabulary)
            peer.encode("a")  # Some find only then that they do not know the split pattern.
        except UnavailableError as error:
            tell(f"{name} takes no part: {error}")
        except Exception as error:
            tell(f"{name} takes no part: it refuses the vocabulary ({type(error).__name__}: {error})")
        else:
            return peer
        return None

    return {name: peer for name in names if (peer := attempt(name))}
