"""The arguments of shard for its documents and its shards."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, BooleanOptionalAction
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_delimiter, add_errors, add_field, checked
from bytepair.cli.counting_arguments import add_group
from bytepair.shards.draws import threshold
from bytepair.shards.sinks import FORMATS
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from bytepair.shards.plans import TaskName

_TASK = re.compile(r"([a-z][a-z0-9-]*)/([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)


def add_documents(parser: ArgumentParser) -> None:
    """Adds the options of documents, and of those that cannot be used."""
    group = parser.add_argument_group("documents")
    add_group(group, "totalled")
    add_field(group)
    group.add_argument(
        "--id-field", metavar="NAME", help="the field or column of the documents' own ids, which are kept"
    )
    add_delimiter(group)
    group.add_argument(
        "--longest",
        metavar="SIZE",
        default="1GB",
        type=_longest,
        help="longer documents are bad; or none (default: 1GB)",
    )
    group.add_argument(
        "--bad",
        choices=("raise", "skip", "quarantine"),
        help="documents that cannot be used: end the run (default), count them, or also write them into OUT/quarantine",
    )
    group.add_argument(
        "--special",
        metavar="raise|text|allow|NAME,NAME",
        help="special tokens in documents: bad (default), encode them as text, allow all, or only these",
    )
    group.add_argument(
        "--added", choices=("match", "text", "raise"), help="added tokens that are not special (default: match)"
    )
    add_errors(group, default=None, strict="bad")


def add_shards(parser: ArgumentParser) -> None:
    """Adds the options of shards."""
    group = parser.add_argument_group("shards")
    group.add_argument(
        "--format", choices=tuple(FORMATS), help="the format of the trainer (default: bin, as nanoGPT reads it)"
    )
    group.add_argument(
        "--bos", metavar="T", action="append", help="before each document: the text of a token, or an id; once for each"
    )
    group.add_argument("--eos", metavar="T", action="append", help="the same after each document")
    group.add_argument("--shuffle", action="store_true", help="shuffle documents, all over the corpus")
    group.add_argument("--seed", metavar="N", type=int, help="of the shuffle and the split (default: 0)")
    group.add_argument(
        "--validation", metavar="SHARE", type=_share, help="the share of documents that go to val, such as 0.005"
    )
    group.add_argument("--dtype", help="of the ids, where the format has a choice (default: the smallest)")
    group.add_argument(
        "--documents",
        action=BooleanOptionalAction,
        help="write a table of the documents' places (default: if the shards cannot hold them)",
    )
    group.add_argument("--join", action="store_true", help="make one file of each split")


def named_tasks(text: str) -> list[TaskName]:
    """The tasks that ``STAGE/NUMBER`` or ``STAGE/FIRST-LAST`` names.

    Raises:
        ArgumentTypeError: It is neither.
    """
    found = _TASK.fullmatch(text)
    first, last = (int(found[2]), int(found[3] or found[2])) if found else (1, 0)
    if not found or first > last:
        raise ArgumentTypeError(f"{text!r} is not STAGE/NUMBER or STAGE/FIRST-LAST, such as encode/17 or encode/10-19")
    return [(found[1], number) for number in range(first, last + 1)]


def _longest(text: str) -> int | None:
    return None if text == "none" else checked(parse_bytes)(text)


def _share(text: str) -> str:
    try:
        threshold(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1, such as 0.005") from error
    return text
