"""Whether a tokenizer does what its users rely on: a checklist, a line each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.check.verify import checkpoint as checkpoints
from bytepair.check.verify import padding, running, saved, template, texts, tokens
from bytepair.check.verify.report import Check, Report, Subject
from bytepair.errors import ArtifactError, BytepairError
from bytepair.formats.hub import ENCODINGS, get_encoding
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

__all__ = ["Check", "Report", "verify"]


def verify(
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
) -> Report:
    """Goes through a checklist and says for each line whether it holds.

    Of a file or folder: its files are those of its manifest, and so are its content, its behaviour on fixed probes and
    the version of Unicode. Of any tokenizer: text comes back (where stages change text on purpose, that is not
    applicable, but what comes back must stay as it is from then on); special and added tokens are found wherever they
    stand and never come from text that may not become them; no script needs more tokens than its text, or a normal form
    of it, has bytes, and one for a space in front; the chat template fits; padding can be masked; offsets are in order;
    the ids are the same again, on two threads, behind pickle and in another process. How fast it is is measured, and
    never fails.

    Args:
        tokenizer: A tokenizer; a file or a folder; or the name of an encoding.
        checkpoint: The folder of a model, whose embedding must have a row for each id. Only the heads of its
            safetensors files are read, and its ``config.json``.
        split: As for `Tokenizer.from_file`, for files that hold none.
        special_tokens: As for `Tokenizer.from_file`, for files that hold none.
        partial_alphabet: As for `Tokenizer.from_file`.

    Raises:
        ArtifactError: There is no such file, folder or encoding, or it cannot be read. All else that is wrong with it
            is a line of the report.

    Time: a second or two for a vocabulary of 100,000 tokens.

    Example:
        >>> import bytepair as bp
        >>> report = bp.verify(bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]))
        >>> report.passed, report["special tokens are atomic"].status, report["file hashes"].status
        (True, 'pass', 'not applicable')
    """
    if isinstance(tokenizer, Tokenizer):
        return _report(Subject(tokenizer), checkpoint, [])
    if isinstance(tokenizer, str) and tokenizer in ENCODINGS:
        return _report(Subject(get_encoding(tokenizer)), checkpoint, [])
    path = Path(tokenizer)
    if not files.exists(path):
        raise ArtifactError(
            "this is no file, no folder and no encoding",
            file=ascii(str(path))[1:-1],
            remedy=f"check the path, or use one of {', '.join(ENCODINGS)}",
        )
    folder = path if files.is_folder(path) else path.parent
    manifest, hashes = saved.file_hashes(folder, path)
    try:
        loaded = Tokenizer.from_file(
            path, split=split, special_tokens=special_tokens, partial_alphabet=partial_alphabet
        )
    except ArtifactError:
        raise
    except BytepairError as error:
        return Report((hashes, Check.of_error("loads", error)))
    subject = Subject(loaded, folder, manifest)
    return _report(subject, checkpoint, [hashes, Check("loads", "pass", repr(loaded)[1:-1])])


def _report(subject: Subject, checkpoint: str | os.PathLike[str] | None, first: list[Check]) -> Report:
    tokenizer = subject.tokenizer
    lines = first or [Check("file hashes", "not applicable", "it was given as a tokenizer, not as files")]
    groups: list[tuple[str, Callable[[], list[Check]]]] = [
        ("manifest", lambda: saved.checks(subject)),
        ("texts", lambda: texts.checks(tokenizer)),
        ("offsets", lambda: [texts.offsets_check(tokenizer)]),
        ("tokens", lambda: tokens.checks(tokenizer)),
        ("chat template", lambda: template.checks(subject)),
        ("padding", lambda: padding.checks(subject)),
        ("embedding size", lambda: [checkpoints.check(tokenizer, checkpoint)]),
        ("running", lambda: running.checks(tokenizer)),
    ]
    return Report((*lines, *(line for name, checks in groups for line in _all(name, checks))))


def _all(name: str, checks: Callable[[], list[Check]]) -> list[Check]:
    try:
        return checks()
    except BytepairError as error:
        # A split pattern that gives up on a probe, for example: what the lines would have said is not known.
        return [Check(name, "fail", f"an error ended these lines: {error}")]
