"""V3: count the pieces of the texts in parallel processes, then train as V2 does.

The one idea over V2 (``incremental.py``): with the pair table kept up to date, splitting and counting the texts takes
most of the time, and documents do not touch each other there. So the documents are handed out in batches, each process
counts its own, and the tables are added up. They are added in the order of the documents, which keeps the pieces in
the order of first sight, and so keeps ``first_seen`` exact whatever the number of processes.

Complexity: O(characters / processes) to split, O(different pieces) for each batch to add up. Biggest weakness: all
texts travel through one process to the others; a faster trainer sends them places in a file instead.

Source: V3 of "Building a Fast BPE Tokenizer from Scratch".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from bytepair.errors import EncodeError, PatternError
from bytepair.reference.incremental import train_incremental

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Unpack

    from bytepair.reference.training import TrainerOptions, Training

BATCH = 256  # Documents that a process counts at a time: enough to be worth the journey.


def split_text(text: str, pattern: str) -> list[str]:
    """Cut a text into its pieces.

    A match of the pattern is a piece, and so is any text between two matches: nothing is lost.

    Args:
        text: The text; special tokens are best cut out before.
        pattern: The split pattern, in the syntax of the package `regex`.

    Raises:
        ImportError: The package `regex` is missing.
        PatternError: The pattern does not compile.

    Complexity: that of the pattern, usually O(characters).

    Source: `Isolated` splits in tokenizers.

    Example:
        >>> split_text("low lower, no", r" ?[a-z]+")
        ['low', ' lower', ',', ' no']
    """
    compiled = _compile(pattern)
    pieces = []
    end = 0
    for match in compiled.finditer(text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


def count_pieces(texts: Iterable[str], pattern: str, *, processes: int = 1) -> dict[bytes, int]:
    r"""Count the pieces of documents.

    With more than one process, a script has to call this under ``if __name__ == "__main__":``, because the other
    processes are spawned and import it.

    Args:
        texts: The documents; a piece never reaches across two.
        pattern: The split pattern, in the syntax of the package `regex`.
        processes: How many processes count. It changes nothing but the time.

    Returns:
        Piece (UTF-8) -> count, in the order of first sight.

    Raises:
        ImportError: The package `regex` is missing.
        PatternError: The pattern does not compile.
        EncodeError: A document holds a lone surrogate.
        TypeError: ``texts`` is one text or a mapping, or a document is not a ``str``.

    Complexity: O(characters / processes + different pieces of each batch).

    Source: V3 of "Building a Fast BPE Tokenizer from Scratch".

    Example:
        >>> count_pieces(["low lower", "low"], r" ?\w+")
        {b'low': 2, b' lower': 1}
    """
    if isinstance(texts, (str, bytes, Mapping)):
        raise TypeError(f"texts is a {type(texts).__name__}, not an iterable of str; put one text into a list")
    _compile(pattern)
    documents = iter(texts)
    batches = iter(lambda: list(islice(documents, BATCH)), [])
    count = partial(_count_batch, pattern=pattern)
    if processes == 1:
        return _add_up(map(count, batches))
    # A forked process would inherit the locks of threads that it does not have.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return _add_up(pool.map(count, batches))


def train_parallel(
    texts: Iterable[str],
    merges: int,
    *,
    pattern: str,
    processes: int = 1,
    **options: Unpack[TrainerOptions],
) -> Training:
    r"""Learn merges from documents: `count_pieces`, then `train_incremental`.

    Takes, returns and raises the same as those two.

    Source: V3 of "Building a Fast BPE Tokenizer from Scratch".

    Example:
        >>> train_parallel(["low lower", "low"], 2, pattern=r" ?\w+").pairs
        [(b'l', b'o'), (b'lo', b'w')]
    """
    return train_incremental(count_pieces(texts, pattern, processes=processes), merges, **options)


def _compile(pattern: str) -> Any:
    try:
        import regex  # noqa: PLC0415 - the only thing here that is not in the standard library
    except ImportError as error:
        raise ImportError("splitting needs the package regex; pip install regex") from error
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise PatternError(f"the split pattern {pattern!r} does not compile: {error}") from error


def _count_batch(texts: list[str], pattern: str) -> dict[bytes, int]:
    try:
        return Counter(piece.encode() for text in texts for piece in split_text(text, pattern))
    except UnicodeEncodeError as error:
        raise EncodeError(
            "a document holds a lone surrogate", remedy='text.encode(errors="replace").decode()'
        ) from error


def _add_up(tables: Iterator[dict[bytes, int]]) -> dict[bytes, int]:
    total: dict[bytes, int] = {}
    for table in tables:
        for piece, count in table.items():
            total[piece] = total.get(piece, 0) + count
    return total
