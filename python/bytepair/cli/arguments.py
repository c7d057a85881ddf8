"""Arguments that several commands share: the model, the text options, the output."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair import resolver
from bytepair.formats.encodings import ENCODINGS

if TYPE_CHECKING:
    from argparse import _ActionsContainer, _ArgumentGroup
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer

_LARGEST = 2**32 - 1

_Value = TypeVar("_Value")

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}

DEFAULT_MODEL = "BYTEPAIR_MODEL"
"""The environment variable that names the tokenizer of commands without ``-m``."""

_MODEL_HELP = (
    f"an encoding ({', '.join(ENCODINGS)}), a file or folder, a model such as gpt-4o, or a repository of the hub such "
    "as Qwen/Qwen3-8B"
)

_USUAL = {"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "tekken.json"}
"""File names that any tokenizer can have."""


def number(text: str) -> int:
    """A whole number from 1 on; ``32k``, ``32_000`` and ``32000`` are the same.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        value = int(text[:-1]) * 1000 if text[-1:] in ("k", "K") else int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= _LARGEST:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 to {_LARGEST:,}, such as 32000, 32_000 or 32k")
    return value


def checked(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """The same parser for argparse, which shows only messages of `ArgumentTypeError`."""

    def parsed(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from error

    return parsed


def delimiter(text: str) -> str:
    r"""The separator of documents, with the escapes \n, \r, \t, \0, \\ and \x00 to \x7f.

    Raises:
        ArgumentTypeError: It is empty, or has another escape.
    """

    def character(found: re.Match[str]) -> str:
        if found[1][0] == "x" and len(found[1]) == 3:
            return chr(int(found[1][1:], 16))
        if found[1] not in _ESCAPES:
            raise ArgumentTypeError(rf"\{found[1]} is not an escape; use \n, \r, \t, \0, \\ and \x00 to \x7f")
        return _ESCAPES[found[1]]

    if not text:
        raise ArgumentTypeError("the delimiter is empty; leave it out if each file is a document")
    return re.sub(r"\\(x[0-7][0-9a-fA-F]|.|$)", character, text, flags=re.DOTALL)


def _special_token(text: str) -> tuple[str, int]:
    token, _, id = text.rpartition("=")
    if not token or not id.isdecimal() or int(id) > _LARGEST:
        raise ArgumentTypeError(f"{text!r} is not TEXT=ID, such as '<|endoftext|>=100257'")
    return token, int(id)


def add_model(parser: ArgumentParser, *name: str, required: bool = True) -> None:
    """Adds the model, as an option or as the positional `name`, and the options for bare files."""
    group = parser.add_argument_group("model")
    if name:
        group.add_argument(*name, metavar=name[0].upper(), help=_MODEL_HELP)
    else:
        # Where none is required, only the command knows whether it takes one.
        given = default_model() if required else None
        place: dict[str, Any] = {"metavar": "MODEL", "required": required and given is None, "default": given}
        group.add_argument("-m", "--model", **place, help=f"{_MODEL_HELP} (default: the variable {DEFAULT_MODEL})")
    _add_bare_file_options(group)


def default_model() -> str | None:
    """The tokenizer that the environment names; None if there is none."""
    return os.environ.get(DEFAULT_MODEL) or None


def add_models(parser: ArgumentParser, *names: str, required: bool = True) -> None:
    """Adds several models, each by ``-m`` or by a positional of `names`, and the options for bare files."""
    group = parser.add_argument_group("models")
    for name in names:
        group.add_argument("models", metavar=name, action="append", help=_MODEL_HELP)
    if not names:
        group.add_argument(
            "-m",
            "--model",
            dest="models",
            metavar="MODEL",
            action="append",
            required=required and default_model() is None,
            help=f"{_MODEL_HELP}; once for each tokenizer" + (f" (default: the variable {DEFAULT_MODEL})" * required),
        )
        if required:
            parser.set_defaults(default_models=[model for model in (default_model(),) if model])
    _add_bare_file_options(group)


def _add_bare_file_options(group: _ArgumentGroup) -> None:
    group.add_argument("--split", metavar="NAME|PATTERN", help="for a file that holds none, such as .tiktoken")
    group.add_argument(
        "--special-token",
        metavar="TEXT=ID",
        action="append",
        type=_special_token,
        help="for a file that holds none, such as .tiktoken; once for each special token",
    )
    group.add_argument(
        "--partial-alphabet", action="store_true", help="load a vocabulary in which some of the 256 bytes have no token"
    )
    group.add_argument("--max-bytes", metavar="N", type=number, help="read files of up to N bytes (default: 512 MiB)")
    group.add_argument(
        "--encodings",
        metavar="FOLDER",
        help=(
            "take the rank files of encodings from here (default: the variable BYTEPAIR_ENCODINGS, else the cache, "
            "which is filled from the network)"
        ),
    )


def load(options: Namespace, model: str) -> Tokenizer:
    """The tokenizer that the arguments of `add_model` name, by `bytepair.load`."""
    return resolver.load(model, **model_options(options, model))


def load_models(options: Namespace) -> dict[str, Tokenizer]:
    """The tokenizers that the arguments of `add_models` name, by names that differ; none if none is named.

    The options for bare files apply to all files, and ``--encodings`` to all encodings.
    """
    models: list[str] = options.models or getattr(options, "default_models", [])
    _check_options(options, models)
    return {
        name: resolver.load(model, **_options_for(options, model))
        for name, model in zip(_names(models), models, strict=True)
    }


def _names(models: list[str]) -> list[str]:
    """A distinct name for each model: its own, or as many of the last parts of a path as it takes."""
    tails = {model: _parts(model) for model in models}
    # A usual name tells nothing without its folder.
    sizes = {tail: 2 if tail[-1] in _USUAL else 1 for tail in tails.values()}
    while True:
        times = Counter(Path(*tail[-size:]) for tail, size in sizes.items())
        longer = [tail for tail, size in sizes.items() if times[Path(*tail[-size:])] > 1 and size < len(tail)]
        if not longer:
            break
        for tail in longer:
            sizes[tail] += 1
    seen: dict[str, None] = {}
    for model in models:
        name = Path(*tails[model][-sizes[tails[model]] :]).as_posix()
        others = (f"{name} ({number})" for number in count(2))
        seen[name if name not in seen else next(other for other in others if other not in seen)] = None
    return list(seen)


def _parts(model: str) -> tuple[str, ...]:
    # Links stay: their targets may be named by a hash.
    return Path(os.path.abspath(model)).parts if resolver.resolve(model).kind == "path" else (model,)  # noqa: PTH100


def model_options(options: Namespace, model: str) -> dict[str, Any]:
    """The keywords of `bytepair.load` for the one model of a command."""
    _check_options(options, [model])
    return _options_for(options, model)


def _check_options(options: Namespace, models: list[str]) -> None:
    """Refuses options that are for none of the models."""
    if len(dict(options.special_token or ())) < len(options.special_token or ()):
        options.usage_error("--special-token names a token twice")
    are_encodings = [resolver.resolve(model).kind == "encoding" for model in models]
    named = ", ".join(models)
    be = "is" if len(models) == 1 else "are"
    if all(are_encodings) and (options.split is not None or options.special_token or options.partial_alphabet):
        an = "an encoding" if len(models) == 1 else "encodings"
        options.usage_error(f"--split, --special-token and --partial-alphabet are for files; {named} {be} {an}")
    if options.encodings and not any(are_encodings):
        options.usage_error(f"--encodings is for the name of an encoding; {named} {be} none")


def _options_for(options: Namespace, model: str) -> dict[str, Any]:
    if resolver.resolve(model).kind == "encoding":
        return {"encodings": options.encodings}
    return {
        "split": options.split,
        "special_tokens": dict(options.special_token or ()) or None,
        "partial_alphabet": options.partial_alphabet,
    }


def add_corpora(group: _ArgumentGroup, *, required: bool = False, more: str = "") -> None:
    """Adds the corpora that `corpora` reads, and the options of `corpora_options` but for those of `text_options`."""
    group.add_argument(
        "--corpus",
        metavar="NAME=FILE",
        action="extend",
        nargs="+",
        required=required,
        default=None if required else [],
        help="files, globs or URLs of text, .jsonl, .parquet and others; files with the same NAME are one corpus, and "
        f"FILE alone is named after its file{more}",
    )
    add_field(group)
    add_delimiter(group)
    add_threads(group)


def add_field(parser: _ActionsContainer) -> None:
    """Adds the field that holds the text."""
    parser.add_argument(
        "--field",
        metavar="NAME",
        help="the field, column or member that holds the text, such as of .jsonl (default: text, in .tar txt)",
    )


def add_delimiter(parser: _ActionsContainer) -> None:
    """Adds the text between documents."""
    parser.add_argument(
        "--delimiter",
        metavar="D",
        type=delimiter,
        help=r"between documents of plain text, such as '\n'; else each file is one",
    )


def corpora(options: Namespace) -> dict[str, list[str]]:
    """The files of each corpus of ``--corpus``; FILE alone is named after its file, or by its path if that is taken."""
    found: dict[str, list[str]] = {}
    for one in options.corpus:
        name, equals, place = one.partition("=")
        if not equals or "/" in name:
            short = Path(one).name
            found.setdefault(one if short in found or not short else short, []).append(one)
        elif name and place:
            found.setdefault(name, []).append(place)
        else:
            options.usage_error(f"--corpus {one!r} is not NAME=FILE, such as en=english.txt")
    return found


def corpora_options(options: Namespace) -> dict[str, Any]:
    """The keywords for reading the corpora."""
    return {
        "field": options.field,
        "delimiter": options.delimiter,
        "threads": options.threads,
        **text_options(options),
    }


def add_threads(group: _ArgumentGroup) -> None:
    """Adds the number of threads."""
    group.add_argument("--threads", metavar="N", type=number, help="the most threads (default: all cores)")


def add_progress(group: _ArgumentGroup) -> None:
    """Adds the choice that `progress` reads."""
    group.add_argument(
        "--progress",
        choices=("bar", "json", "off"),
        default="bar",
        help="on stderr: a bar if that is a terminal (default), JSON lines, or nothing",
    )


def progress(options: Namespace) -> bool | str:
    """The keyword `progress` of the calls that report it."""
    shown: str = options.progress
    return {"bar": True, "off": False}.get(shown, shown)


def add_texts(parser: ArgumentParser, *, special: str = "raise") -> None:
    """Adds the text files and the options of `text_options`, with this default for special tokens."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="UTF-8 text; - or nothing is stdin")
    add_text_options(parser, special=special, replace=True)


def add_text_options(parser: ArgumentParser, *, special: str = "raise", replace: bool = False) -> None:
    """Adds the options of `text_options`, with this default for special tokens.

    With `replace`, ``--errors`` is one of them; a command that reports characters of the text has to refuse bad bytes.
    """
    group = parser.add_argument_group("text")
    choices = {"raise": "raise an error", "text": "encode them as text", "allow": "allow all"}
    choices[special] += " (default)"
    group.add_argument(
        "--special",
        metavar="raise|text|allow|NAME,NAME",
        default=special,
        help=f"special tokens in the text: {', '.join(choices.values())}, or only these",
    )
    group.add_argument(
        "--added",
        choices=("match", "text", "raise"),
        default="match",
        help="added tokens that are not special (default: match)",
    )
    if replace:
        add_errors(group)


def add_errors(group: _ArgumentGroup, default: str | None = "strict", strict: str = "raise an error") -> None:
    """Adds the treatment of bytes that are not UTF-8; a `default` of None is ``strict`` that was not requested."""
    group.add_argument(
        "--errors",
        choices=("strict", "replace"),
        default=default,
        help=f"bytes that are not UTF-8: {strict} (default), or replace them by U+FFFD",
    )


def text_options(options: Namespace) -> dict[str, Any]:
    """The keywords for `Tokenizer.encode` and the other calls that read text."""
    chosen = {"special": policy(options.special), "added": options.added}
    return {**chosen, "errors": options.errors} if "errors" in options else chosen


def policy(text: str) -> Any:
    """The value of ``--special`` as `Tokenizer.encode` takes it."""
    return text if text in ("raise", "text", "allow") else set(text.split(","))
