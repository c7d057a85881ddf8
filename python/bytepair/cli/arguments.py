"""Arguments that several subcommands share, and the tokenizer that they name."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.errors import ArtifactError
from bytepair.formats import FILES, plan
from bytepair.hub import ENCODINGS, get_encoding
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bytepair.spec import TokenizerSpec

_LARGEST = 2**32 - 1


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


def _special_token(text: str) -> tuple[str, int]:
    token, _, id = text.rpartition("=")
    if not token or not id.isdecimal() or int(id) > _LARGEST:
        raise ArgumentTypeError(f"{text!r} is not TEXT=ID, such as '<|endoftext|>=100257'")
    return token, int(id)


def add_model(parser: ArgumentParser, *name: str, required: bool = True) -> None:
    """Adds the model (as an option, or as the positional that `name` says) and what a bare file does not hold."""
    place: dict[str, Any] = {"metavar": name[0].upper()} if name else {"metavar": "MODEL", "required": required}
    group = parser.add_argument_group("model")
    group.add_argument(
        *(name or ("-m", "--model")),
        **place,
        help=f"a file or folder, or the name of an encoding: {', '.join(ENCODINGS)}",
    )
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
    group.add_argument("--encodings", metavar="FOLDER", help="take the rank files of encodings from here")


def load(options: Namespace, model: str) -> Tokenizer:
    """The tokenizer that the arguments of `add_model` name.

    An encoding's name means the encoding, everywhere; ``./gpt2`` is a file or folder of that name.
    """
    special_tokens = dict(options.special_token or ())
    if len(special_tokens) < len(options.special_token or ()):
        options.usage_error("--special-token names a token twice")
    if model in ENCODINGS:
        if options.split is not None or special_tokens or options.partial_alphabet:
            options.usage_error(
                f"--split, --special-token and --partial-alphabet are for files; {model} is an encoding"
            )
        return get_encoding(model, folder=options.encodings)
    if options.encodings:
        options.usage_error(f"--encodings is for the name of an encoding; {model} is none")
    if not Path(model).exists():
        raise ArtifactError(
            f"{model!r} is no file, no folder and no encoding",
            remedy=f"check the path, or use one of {', '.join(ENCODINGS)}",
        )
    return Tokenizer.from_file(
        model,
        split=options.split,
        special_tokens=special_tokens or None,
        partial_alphabet=options.partial_alphabet,
    )


def add_texts(parser: ArgumentParser, *, replace: bool = True) -> None:
    """Adds the text files, and what the API's calls on text take: the keywords of `text_options`.

    With `replace`, bytes that are not UTF-8 may be replaced: not where places in the text are asked for.
    """
    parser.add_argument("files", metavar="FILE", nargs="*", help="UTF-8 text; - or nothing is stdin")
    group = parser.add_argument_group("text")
    group.add_argument(
        "--special",
        metavar="raise|text|allow|NAME,NAME",
        default="raise",
        help="special tokens in the text: raise an error (default), encode them as text, allow all, or only these",
    )
    group.add_argument(
        "--added",
        choices=("match", "text", "raise"),
        default="match",
        help="added tokens that are not special (default: match)",
    )
    if replace:
        group.add_argument(
            "--errors",
            choices=("strict", "replace"),
            default="strict",
            help="bytes that are not UTF-8: raise an error (default), or replace them by U+FFFD",
        )


def text_options(options: Namespace) -> dict[str, Any]:
    """The keywords for `Tokenizer.encode` and its like."""
    chosen = {"special": policy(options.special), "added": options.added}
    return {**chosen, "errors": options.errors} if "errors" in options else chosen


def policy(text: str) -> Any:
    """What ``--special`` says, as `Tokenizer.encode` takes it."""
    return text if text in ("raise", "text", "allow") else set(text.split(","))


def add_save(parser: ArgumentParser) -> None:
    """Adds the arguments of `Tokenizer.save`."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a folder, or a file whose name says its format"
    )
    group.add_argument("--format", choices=tuple(FILES), help="for a folder: what to write (default: tokenizer.json)")
    group.add_argument(
        "--drop",
        metavar="FEATURE,FEATURE",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="features that the format need not hold: split,special_tokens for tiktoken",
    )


def check_save(options: Namespace, spec: TokenizerSpec) -> None:
    """Raises what `save` would raise for a tokenizer with these stages, before it is trained."""
    plan(spec, Path(options.output), options.format, options.drop)


def save(options: Namespace, tokenizer: Tokenizer) -> list[str]:
    """Saves as those arguments say; returns the files."""
    return [str(path) for path in tokenizer.save(options.output, options.format, drop=options.drop)]
