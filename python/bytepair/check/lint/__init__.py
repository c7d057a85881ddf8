"""Faults of a tokenizer or its files: each finding with its meaning and a remedy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.check.lint import added, beside, broken, embedding, patterns, post, texts, vocabulary
from bytepair.check.lint.findings import Finding, Lint, Severity
from bytepair.check.subject import Subject
from bytepair.errors import ArtifactError, BytepairError, TokenizerWarning
from bytepair.formats.configs import TokenWithoutIdWarning
from bytepair.formats.detection import detect
from bytepair.formats.encodings import recognise
from bytepair.formats.hf_common import PassedOverWarning
from bytepair.formats.hub import Origin
from bytepair.formats.loading import NAME_STAGES, NAME_STAGES_CLI, load
from bytepair.resolver import find
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from bytepair.formats.detection import Detected
    from bytepair.resolver import TokenizerLike

_PASSED_OVER = "passed-over"

__all__ = ["Finding", "Lint", "Linted", "Severity", "lint", "lint_and_load"]


class Linted(NamedTuple):
    """The findings, and the tokenizer that they are about.

    Attributes:
        lint: The findings.
        tokenizer: The tokenizer; None if nothing of it loads, or if its split pattern is not known.
        file: The file that it was loaded from; empty for a tokenizer without a file of its own.
        format: The format of the file; empty if it is not known.
    """

    lint: Lint
    tokenizer: Tokenizer | None
    file: str = ""
    format: str = ""


def lint(
    tokenizer: TokenizerLike,
    *,
    embeddings: int | str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    encodings: str | os.PathLike[str] | None = None,
) -> Lint:
    """Finds faults in a tokenizer or its files.

    For a file that does not load, the findings are the loader's error and the other faults in the file. A token is
    reported as unreachable only with a proof; if texts were tried and none produced it, that is a note.

    Args:
        tokenizer: A tokenizer, or any name that `bytepair.load` takes. In a folder, ``tokenizer_config.json`` and the
            chat template are checked as well.
        embeddings: The number of rows in the embedding of the model, or the folder of its checkpoint.
        split: As for `bytepair.load`. Without it only the vocabulary of a rank file is checked.
        special_tokens: As for `bytepair.load`.
        partial_alphabet: As for `bytepair.load`: bytes without a token are then a warning.
        encodings: As for `bytepair.load`.

    Raises:
        ArtifactError: The name is unknown, or a file cannot be read or fetched.
        FormatError: `embeddings` is a folder that does not specify an embedding; or an option is for other tokenizers.

    Time: about three seconds for 250,000 tokens and 500,000 merges.

    Example:
        >>> import bytepair as bp
        >>> bp.lint(bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"])).codes
        ()
        >>> found = bp.lint(bp.train({"low": 5}, vocab_size=258, special_tokens=["the"]), embeddings=200)
        >>> found.codes, found["shadowing-token"].examples
        (('shadowing-token', 'embedding-too-small'), ("257 'the'",))
    """
    return lint_and_load(
        tokenizer,
        embeddings=embeddings,
        split=split,
        special_tokens=special_tokens,
        partial_alphabet=partial_alphabet,
        encodings=encodings,
    ).lint


def lint_and_load(
    tokenizer: TokenizerLike,
    *,
    embeddings: int | str | os.PathLike[str] | None = None,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    encodings: str | os.PathLike[str] | None = None,
) -> Linted:
    """As `lint`; also returns the tokenizer, so that it is not loaded twice."""
    options: dict[str, Any] = {"split": split, "special_tokens": special_tokens}
    place = find(tokenizer, **options, partial_alphabet=partial_alphabet, encodings=encodings)
    if isinstance(place, Tokenizer):
        subject = Subject(place, is_partial=place.spec.packed.partial_alphabet)
        return Linted(Lint(tuple(_all(subject, embeddings))), place)
    path = place.folder if isinstance(place, Origin) else place
    found: list[Finding] = []
    detected = _detected(path, found)
    file = str(detected.path) if detected else str(path)
    knows_stages = (
        detected is None
        or detected.format != "tiktoken"
        or split is not None
        or recognise(detected.content) is not None
    )
    if not knows_stages:
        options["split"] = "none"
    loaded = _load(path, detected, options, partial_alphabet, found) if detected else None
    failed = [finding for finding in found if finding.severity == "error"]
    faulty = failed or any(finding.code == _PASSED_OVER for finding in found)
    if loaded is not None:
        subject = Subject(
            loaded,
            file=file,
            table=detected.content if detected and detected.format == "tokenizer.json" else None,
            folder=path if files.is_folder(path) else None,
            is_partial=partial_alphabet or (not failed and loaded.spec.packed.partial_alphabet),
            knows_stages=knows_stages,
        )
        found += _all(subject, embeddings)
    if faulty:
        # A tokenizer that loads in part has the better finding of the same fault.
        known = {finding.code for finding in found}
        found += [finding for finding in broken.findings(Path(file)) if finding.code not in known]
    return Linted(Lint(tuple(found)), loaded if knows_stages else None, file, detected.format if detected else "")


def _detected(place: Path, found: list[Finding]) -> Detected | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TokenizerWarning)
        try:
            detected = detect(place)
        except ArtifactError:
            raise
        except BytepairError as error:
            found.append(broken.not_loaded(error, str(place)))
            detected = None
    found += _warned(str(place), caught)
    return detected


def _load(
    place: Path, detected: Detected, options: dict[str, Any], partial_alphabet: bool, found: list[Finding]
) -> Tokenizer | None:
    """The tokenizer, or the part of it that loads."""
    attempts = [(place, partial_alphabet), (place, True), (detected.path, partial_alphabet), (detected.path, True)]
    error: BytepairError | None = None
    tokenizer = None
    for path, is_partial in dict.fromkeys(attempts):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TokenizerWarning)
            try:
                # A mapped file is closed after it is read.
                known = None if detected.format == "gguf" else detected
                spec = load(path, partial_alphabet=is_partial, detected=known, **options)
                tokenizer = Tokenizer(spec)
            except ArtifactError:
                raise
            except BytepairError as problem:
                error = error or problem
                continue
        found += _warned(str(detected.path), caught)
        break
    if error is not None:
        found.append(broken.not_loaded(error, str(detected.path)))
    if detected.format == "gguf":
        detected.content.close()
    return tokenizer


def _warned(file: str, caught: list[warnings.WarningMessage]) -> Iterator[Finding]:
    """The warnings of a loader."""
    for each in caught:
        if issubclass(each.category, TokenWithoutIdWarning):
            # `beside` reports it.
            continue
        if issubclass(each.category, PassedOverWarning):
            yield Finding(
                _PASSED_OVER,
                "warning",
                str(each.message),
                "The library that the file was made for passes over this fault, and so does bytepair.",
                "correct the file",
                file=file,
            )
            continue
        yield Finding(
            "not-applied",
            "note",
            str(each.message),
            "This setting of the file has no effect on ids.",
            "pass it to the calls that take it",
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
            NAME_STAGES,
            file=subject.file,
            cli_remedy=NAME_STAGES_CLI,
        )
    yield from added.findings(subject)
    yield from post.findings(subject)
    yield from beside.findings(subject)
    if embeddings is not None:
        yield from embedding.findings(subject.tokenizer, embeddings)
