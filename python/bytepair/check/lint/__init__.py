"""What is wrong with a tokenizer, or with its files: each finding with what it means and what to do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files, formats
from bytepair.check.lint import added, beside, broken, embedding, patterns, post, texts, vocabulary
from bytepair.check.lint.findings import Finding, Lint, Severity
from bytepair.check.lint.subject import Subject
from bytepair.errors import ArtifactError, BytepairError, MissingIdWarning, TokenizerWarning
from bytepair.formats.hub import ENCODINGS, get_encoding
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

__all__ = ["Finding", "Lint", "Linted", "Severity", "lint", "lint_file"]


class Linted(NamedTuple):
    """A file or folder, linted.

    Attributes:
        lint: What was found.
        tokenizer: The tokenizer; None if nothing of it loads, or if its split pattern is not known.
    """

    lint: Lint
    tokenizer: Tokenizer | None


def lint(
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    embeddings: int | str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
) -> Lint:
    """Looks for what is wrong with a tokenizer or its files.

    Of a file that does not load it says what the loader says, and what else is wrong with what is in it. A token is
    said never to come from text only where that is proved; where texts were tried and none gave it, that is a note.

    Args:
        tokenizer: A tokenizer; a file; a folder, of which ``tokenizer_config.json`` and the chat template count as
            well; or the name of an encoding.
        embeddings: How many rows the embedding of the model has, or the folder of a checkpoint that says it.
        split: As for `Tokenizer.from_file`, for files that hold none. Of a rank file without it only the vocabulary is
            looked at.
        special_tokens: As for `Tokenizer.from_file`, for files that hold none.
        partial_alphabet: As for `Tokenizer.from_file`: bytes without a token are then a warning.

    Raises:
        ArtifactError: There is no such file, folder or encoding, or it cannot be read.
        FormatError: `embeddings` is a folder that says nothing of an embedding.

    Time: about three seconds for 250,000 tokens and 500,000 merges.

    Example:
        >>> import bytepair as bp
        >>> bp.lint(bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"])).codes
        ()
        >>> found = bp.lint(bp.train({"low": 5}, vocab_size=258, special_tokens=["the"]), embeddings=200)
        >>> found.codes, found["shadowing-token"].examples
        (('shadowing-token', 'embedding-too-small'), ("257 'the'",))
    """
    if isinstance(tokenizer, str) and tokenizer in ENCODINGS:
        tokenizer = get_encoding(tokenizer)
    if isinstance(tokenizer, Tokenizer):
        subject = Subject(tokenizer, is_partial=getattr(tokenizer.spec.model, "partial_alphabet", False))
        return Lint(tuple(_all(subject, embeddings)))
    return lint_file(
        tokenizer,
        embeddings=embeddings,
        split=split,
        special_tokens=special_tokens,
        partial_alphabet=partial_alphabet,
    ).lint


def lint_file(
    path: str | os.PathLike[str],
    *,
    embeddings: int | str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
) -> Linted:
    """As `lint`, of a file or a folder; gives the tokenizer as well, so that nobody loads it again.

    Args:
        path: The file or folder.
        embeddings: As for `lint`.
        split: As for `lint`.
        special_tokens: As for `lint`.
        partial_alphabet: As for `lint`.

    Raises:
        ArtifactError, FormatError: As `lint`.
    """
    place = Path(path)
    if not files.exists(place):
        raise ArtifactError(
            "this is neither a file nor a folder nor an encoding",
            file=ascii(str(place))[1:-1],
            remedy=f"check the path, or use one of {', '.join(ENCODINGS)}",
        )
    options: dict[str, Any] = {"special_tokens": special_tokens}
    found: list[Finding] = []
    detected = _detected(place, found)
    file = str(detected.path) if detected else str(place)
    knows_stages = detected is None or detected.format != "tiktoken" or split is not None
    options["split"] = split if knows_stages else "none"
    tokenizer = _load(place, detected, options, partial_alphabet, found) if detected else None
    failed = [finding for finding in found if finding.severity == "error"]
    if tokenizer is not None:
        subject = Subject(
            tokenizer,
            file=file,
            table=detected.content if detected and detected.format == "tokenizer.json" else None,
            folder=place if files.is_folder(place) else None,
            is_partial=partial_alphabet,
            knows_stages=knows_stages,
        )
        found += _all(subject, embeddings)
    if failed:
        # What loads in part says the same better.
        said = {finding.code for finding in found}
        found += [finding for finding in broken.findings(Path(file)) if finding.code not in said]
    return Linted(Lint(tuple(found)), tokenizer if knows_stages else None)


def _detected(place: Path, found: list[Finding]) -> formats.Detected | None:
    try:
        return formats.detect(place)
    except ArtifactError:
        raise
    except BytepairError as error:
        found.append(broken.not_loaded(error, str(place)))
    return None


def _load(
    place: Path, detected: formats.Detected, options: dict[str, Any], partial_alphabet: bool, found: list[Finding]
) -> Tokenizer | None:
    """The tokenizer, or what of it loads."""
    attempts = [(place, partial_alphabet), (place, True), (detected.path, partial_alphabet), (detected.path, True)]
    error: BytepairError | None = None
    tokenizer = None
    for path, is_partial in dict.fromkeys(attempts):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", TokenizerWarning)
            try:
                # A file that is mapped is closed when it was read.
                known = None if detected.format == "gguf" else detected
                loaded = formats.load(path, partial_alphabet=is_partial, detected=known, **options)
                tokenizer = Tokenizer._from_loaded(loaded)
            except ArtifactError:
                raise
            except BytepairError as problem:
                error = error or problem
                continue
        # Special tokens without an id are findings of their own.
        said = [each for each in said if not issubclass(each.category, MissingIdWarning)]
        found += _not_applied(str(detected.path), [str(each.message) for each in said])
        break
    if error is not None:
        found.append(broken.not_loaded(error, str(detected.path)))
    if detected.format == "gguf":
        detected.content.close()
    return tokenizer


def _not_applied(file: str, messages: list[str]) -> Iterator[Finding]:
    """Findings for the warnings of a loader."""
    for message in messages:
        yield Finding(
            "not-applied",
            "note",
            message,
            "What the file says there has no effect on ids.",
            "give it to the calls that are to do it",
            file=file,
        )


def _all(subject: Subject, embeddings: int | str | os.PathLike[str] | None) -> Iterator[Finding]:
    unmade, dead = vocabulary.never(subject)
    yield from patterns.findings(subject)
    yield from vocabulary.findings(subject, unmade, dead)
    if subject.knows_stages:
        yield from texts.findings(subject, unmade)
    else:
        yield Finding(
            "stages-unknown",
            "note",
            "a rank file holds neither a split pattern nor special tokens",
            "Only the vocabulary was looked at.",
            'name them: bp.lint(path, split="cl100k", special_tokens={...})',
            cli_remedy="name them: --split cl100k --special-token TEXT=ID",
            file=subject.file,
        )
    yield from added.findings(subject)
    yield from post.findings(subject)
    yield from beside.findings(subject)
    if embeddings is not None:
        yield from embedding.findings(subject.tokenizer, embeddings)
