"""The arguments of commands that save a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.chat.rendering.render import program_of
from bytepair.chat.template import Template
from bytepair.errors import FormatError
from bytepair.formats import FILES
from bytepair.formats.saving import plan

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.model.spec import TokenizerSpec
    from bytepair.tokenizer import Tokenizer


def add_save(parser: ArgumentParser) -> None:
    """Adds the arguments of `Tokenizer.save`."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a folder, or a file whose name implies its format"
    )
    group.add_argument(
        "--format", choices=tuple(FILES), help="for a folder: the format to write (default: tokenizer.json)"
    )
    group.add_argument(
        "--drop",
        metavar="FEATURE,FEATURE",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="features to leave out where the format cannot hold them, such as split,special_tokens for tiktoken",
    )
    group.add_argument(
        "--chat-template",
        metavar="FILE|NAME",
        help="write this chat template beside the tokenizer: a file of Jinja, or a built-in one such as chatml",
    )


def check_save(options: Namespace, spec: TokenizerSpec) -> None:
    """Raises the errors of `save` for a tokenizer with these stages, before it is trained."""
    plan(spec, Path(options.output), options.format, options.drop)
    if (template := _chat_template(options)) is not None:
        program_of(template)


def _chat_template(options: Namespace) -> Template | None:
    """The template of ``--chat-template``; None if there is none."""
    name: str | None = options.chat_template
    if name is None:
        return None
    return Template.read(name) if files.exists(Path(name)) or "." in name or "/" in name else Template.named(name)


def save(options: Namespace, tokenizer: Tokenizer) -> list[str]:
    """Saves by these arguments; returns the paths."""
    template = _chat_template(options)
    paths = tokenizer.save(options.output, options.format, drop=options.drop, chat_template=template)
    return [str(path) for path in paths]


def save_made(options: Namespace, tokenizer: Tokenizer) -> list[str]:
    """As `save`; a tokenizer that turns out not to fit its format is kept as the native format, and the error says so.

    Whether merges can be written as ranks is known only when they are learned.
    """
    try:
        return save(options, tokenizer)
    except FormatError as error:
        output = Path(options.output)
        kept = output.with_suffix(".bytepair") if output.suffix else output / "tokenizer.bytepair"
        tokenizer.save(kept)
        raise FormatError(
            error.what,
            remedy=f"it is kept in {kept}, which `bytepair convert {kept} -o FOLDER` turns into another format",
        ) from error
