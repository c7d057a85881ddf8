"""The same tokenizer in other libraries, where they are installed and can hold it."""

from __future__ import annotations

import base64
import functools
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Calls:
    """The calls of one library; None for a call that it does not have.

    Attributes:
        to_array: A text to an array.
        to_list: A text to a list.
        count: A text to its number of tokens.
        batch: Texts to lists, with a number of threads.
        decode: Ids to a text.
    """

    to_array: Callable[[str], Any] | None
    to_list: Callable[[str], Any]
    count: Callable[[str], int] | None
    batch: Callable[[list[str], int], Any]
    decode: Callable[[list[int]], str]


class AbsentError(Exception):
    """The reason that a library is left out."""


def rivals(tokenizer: Tokenizer, folder: Path, added: str = "match") -> tuple[dict[str, Calls], dict[str, str]]:
    """Loads a tokenizer into each library, from a file in its format.

    Special tokens and the post-processor are left out: the text has no special tokens then, and `encode` does not run
    the post-processor. Other added tokens are left out unless `added` is ``match``.

    Returns:
        The calls of each library that loaded it, by name and version, and the reason for each other one.
    """
    spec = tokenizer.spec
    kept = tuple(token for token in spec.added_tokens if not token.special and added == "match")
    bare = Tokenizer(spec.replace(added_tokens=kept, post_processor=None))
    found: dict[str, Calls] = {}
    absent: dict[str, str] = {}
    for name, load in (("tiktoken", _tiktoken), ("tokenizers", _tokenizers)):
        calls, reason = _attempt(load, bare, folder)
        if calls:
            found[f"{name} {version(name)}"] = calls
        else:
            absent[name] = reason
    return found, absent


def _attempt(load: Callable[[Tokenizer, Path], Calls], tokenizer: Tokenizer, folder: Path) -> tuple[Calls | None, str]:
    try:
        return load(tokenizer, folder), ""
    except ImportError:
        return None, "not installed"
    except AbsentError as error:
        return None, str(error)
    except FormatError as error:
        return None, error.what
    except Exception as error:
        # Any failure of another library is reported, and the others are still timed.
        return None, f"it refuses the file: {error}"


def _tiktoken(tokenizer: Tokenizer, folder: Path) -> Calls:
    import tiktoken  # noqa: PLC0415 (it need not be installed)

    split = tokenizer.spec.split
    if len(split) > 1:
        raise AbsentError("it has one split pattern, not several")
    path = tokenizer.save(folder / "ranks", format="tiktoken", drop=("split",))[0]
    lines = (line.split() for line in path.read_bytes().splitlines())
    encoding = tiktoken.Encoding(
        name="bench",
        pat_str=split[0] if split else r"[\s\S]+",
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens={},
    )
    return Calls(
        to_array=functools.partial(encoding.encode_to_numpy, disallowed_special=()),
        to_list=encoding.encode_ordinary,
        count=None,
        batch=lambda texts, threads: encoding.encode_ordinary_batch(texts, num_threads=threads),
        decode=encoding.decode,
    )


def _tokenizers(tokenizer: Tokenizer, folder: Path) -> Calls:
    import tokenizers  # noqa: PLC0415 (it need not be installed)

    path = tokenizer.save(folder / "json", format="tokenizer.json")[0]
    tok = tokenizers.Tokenizer.from_file(str(path))

    def batch(texts: list[str], _: int) -> Any:
        return [row.ids for row in tok.encode_batch_fast(texts, add_special_tokens=False)]

    return Calls(
        to_array=None,
        to_list=lambda text: tok.encode(text, add_special_tokens=False).ids,
        count=None,
        batch=batch,
        decode=lambda ids: tok.decode(ids, skip_special_tokens=False),
    )
