"""Findings about the size of a model's embedding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.check.checkpoint import rows as checkpoint_rows
from bytepair.check.lint.findings import Finding
from bytepair.drawing.wording import agree, plural

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from bytepair.tokenizer import Tokenizer

_LARGEST_STEP = 1024


def findings(tokenizer: Tokenizer, embeddings: int | str | os.PathLike[str]) -> Iterator[Finding]:
    """Findings about missing and spare rows.

    Args:
        tokenizer: The tokenizer.
        embeddings: The number of rows, or the folder of a checkpoint.

    Raises:
        ArtifactError: The folder, or a file of it, cannot be read.
        FormatError: It does not specify its rows, or is broken.
    """
    if isinstance(embeddings, int):
        rows, file = {"the embedding": embeddings}, ""
    else:
        rows, file = checkpoint_rows(Path(embeddings)), str(embeddings)
    needed = tokenizer.vocab_size
    short = {name: count for name, count in rows.items() if count < needed}
    if short:
        yield Finding(
            "embedding-too-small",
            "error",
            f"{', '.join(short)} {agree(len(short), 'has', 'have')} fewer rows than the {needed:,} ids",
            f"An id from {min(short.values()):,} on ends in an error, or reads memory that is not its own.",
            "resize it (bp.resize_embeddings), or take the tokenizer that belongs to the model",
            file=file,
            count=len(short),
            examples=tuple(f"{name}: {count:,} rows" for name, count in short.items()),
        )
    more = {name: count for name, count in rows.items() if count > needed}
    if more:
        most = max(more.values())
        step = _step(most, needed)
        yield Finding(
            "embedding-padded",
            "note",
            f"{', '.join(more)}: {plural(most - needed, 'row')} more than there are ids",
            (f"Filled up to a multiple of {step}, which is faster." if step > 1 else "No padding explains the number.")
            + " Sampling can draw an id that has no token, which cannot be decoded.",
            "leave out these ids when sampling, if the model was not trained to",
            file=file,
            count=len(more),
            examples=tuple(f"{name}: {count:,} rows for {needed:,} ids" for name, count in more.items()),
        )


def _step(rows: int, needed: int) -> int:
    """The greatest power of two that explains the padding: the number of ids rounded up to it; 1 for none."""
    step = _LARGEST_STEP
    while step > 1 and rows != -(-needed // step) * step:
        step //= 2
    return step
