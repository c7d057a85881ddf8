"""A checklist of what users of a tokenizer rely on, one line per check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.check.subject import Subject
from bytepair.check.verify import embedding_size, padding, running, saved, template, texts, tokens
from bytepair.check.verify.checklist import Check, Checklist
from bytepair.errors import ArtifactError, BytepairError
from bytepair.formats.hub import Origin
from bytepair.resolver import find
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from bytepair.resolver import TokenizerLike

__all__ = ["Check", "Checklist", "verify"]


def verify(
    tokenizer: TokenizerLike,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    encodings: str | os.PathLike[str] | None = None,
) -> Checklist:
    """Runs a checklist on a tokenizer and its files.

    A file or folder must match its manifest: files, content, behaviour on fixed probes, version of Unicode. Every
    tokenizer must decode the ids of a text to the text (not applicable if stages change text on purpose; then the
    changed text must be stable); find special and added tokens in every position, and never in text that may not become
    them; need no more tokens than a text, or a normal form of it, has bytes, plus one for a space in front; know the
    control tokens of its chat template; mask padding; report offsets in order; and return the same ids again, on two
    threads, after pickling and in another process. Speed is measured and never fails.

    Args:
        tokenizer: A tokenizer, or any name that `bytepair.load` takes.
        checkpoint: The folder of a model, whose embedding must have a row for each id. Only the heads of its
            safetensors files are read, and its ``config.json``.
        split: As for `bytepair.load`.
        special_tokens: As for `bytepair.load`.
        partial_alphabet: As for `bytepair.load`.
        encodings: As for `bytepair.load`.

    Raises:
        ArtifactError: The name is unknown, or a file cannot be read or fetched. Other faults are failed checks.
        FormatError: An option is for other tokenizers.

    Time: a second or two for a vocabulary of 100,000 tokens.

    Example:
        >>> import bytepair as bp
        >>> checklist = bp.verify(bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"]))
        >>> checklist.passed, checklist["special tokens are atomic"].status, checklist["file hashes"].status
        (True, 'pass', 'not applicable')
    """
    options: dict[str, Any] = {
        "split": split,
        "special_tokens": special_tokens,
        "partial_alphabet": partial_alphabet,
    }
    found = find(tokenizer, **options, encodings=encodings)
    if isinstance(found, Tokenizer):
        return _checklist(Subject(found), checkpoint, [])
    path = found.folder if isinstance(found, Origin) else found
    folder = path if files.is_folder(path) else path.parent
    manifest, hashes = saved.file_hashes(folder, path)
    try:
        loaded = Tokenizer.from_file(path, **options)
    except ArtifactError:
        raise
    except BytepairError as error:
        return Checklist((hashes, Check.of_error("loads", error)))
    subject = Subject(loaded, file="" if path == folder else str(path), folder=folder, manifest=manifest)
    return _checklist(subject, checkpoint, [hashes, Check("loads", "pass", repr(loaded)[1:-1])])


def _checklist(subject: Subject, checkpoint: str | os.PathLike[str] | None, first: list[Check]) -> Checklist:
    tokenizer = subject.tokenizer
    lines = first or [Check("file hashes", "not applicable", "the tokenizer was not loaded from files")]
    groups: list[tuple[str, Callable[[], list[Check]]]] = [
        ("manifest", lambda: saved.checks(subject)),
        ("texts", lambda: texts.checks(tokenizer)),
        ("offsets", lambda: [texts.offsets_check(tokenizer)]),
        ("tokens", lambda: tokens.checks(tokenizer)),
        ("chat template", lambda: template.checks(subject)),
        ("padding", lambda: padding.checks(subject)),
        ("embedding size", lambda: [embedding_size.check(tokenizer, checkpoint)]),
        ("running", lambda: running.checks(tokenizer)),
    ]
    return Checklist((*lines, *(line for name, checks in groups for line in _all(name, checks))))


def _all(name: str, checks: Callable[[], list[Check]]) -> list[Check]:
    try:
        return checks()
    except BytepairError as error:
        # A split pattern that exceeds its budget on a probe, for example: the other checks of the group are unknown.
        return [Check(name, "fail", f"an error ended these lines: {error}")]
