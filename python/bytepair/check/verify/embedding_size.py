"""The embedding of a checkpoint against the ids of a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.check.checkpoint import rows
from bytepair.check.verify.checklist import Check
from bytepair.errors import ArtifactError, FormatError

if TYPE_CHECKING:
    import os

    from bytepair.tokenizer import Tokenizer

_NAME = "embedding size"


def check(tokenizer: Tokenizer, checkpoint: str | os.PathLike[str] | None) -> Check:
    """Whether the embedding and the output layer have a row for each id."""
    if checkpoint is None:
        return Check(_NAME, "not applicable", "no checkpoint was given")
    try:
        found = rows(Path(checkpoint))
    except (FormatError, ArtifactError) as error:
        return Check.of_error(_NAME, error)
    needed = tokenizer.vocab_size
    listed = ", ".join(f"{name} {count:,}" for name, count in found.items())
    if short := [name for name, count in found.items() if count < needed]:
        return Check(_NAME, "fail", f"{', '.join(short)} has fewer rows than the {needed:,} ids: {listed}")
    return Check(_NAME, "pass", f"{needed:,} ids; rows: {listed}")
