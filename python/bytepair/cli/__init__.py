"""The command line. Each subcommand is one file: it says its arguments, calls the public API and prints.

A subcommand's file is imported when that subcommand is used, so that ``bytepair --help`` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from bytepair import __version__
from bytepair.errors import BytepairError, SpecialTokenError, TokenizerWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "train": "text -> a tokenizer",
    "counts": "text -> a table of pieces and how often each occurs, to train from",
    "extend": "a tokenizer, text -> the tokenizer with further merges",
    "prune": "a tokenizer -> a smaller one",
    "encode": "text -> ids",
    "decode": "ids -> text",
    "shard": "a corpus -> shards of ids that trainers read",
    "chunk": "text -> chunks of at most so many tokens",
    "count": "how many tokens text has, like wc",
    "convert": "a tokenizer in one format -> another format",
    "inspect": "what a tokenizer is, and what is wrong with it",
    "verify": "whether a tokenizer is what was saved, and does what its users rely on",
    "view": "text -> its tokens, of one or more tokenizers, in the terminal or on a page",
    "explain": "why a text has its ids: its pieces, and merges step by step",
    "compare": "what two tokenizers do otherwise, and what that costs on your text",
    "report": "what corpora cost with tokenizers: fertility, parity, use of the vocabulary",
    "serve": "a playground in the browser: type and see tokens",
    "bench": "how fast a tokenizer is on your text",
    "demo": "train, save and use a small tokenizer on text that this machine has",
}

_EPILOG = """\
Data goes to stdout, progress and messages to stderr; - is stdin.

exit codes:
  0    done
  1    the data or the model is at fault: one line on stderr says what, where, and what to do
  2    wrong usage
  130  interrupted (Ctrl-C)
  141  whoever read the output has closed it (as `| head` does)

example:
  bytepair demo
"""


class _Parser(argparse.ArgumentParser):
    """A parser that a subcommand's module fills when the subcommand is used."""

    command: str | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.suggest_on_error = True  # Acts from Python 3.14 on.

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        if self.command:
            module = importlib.import_module(f"bytepair.cli.{self.command}")
            self.description, self.epilog = module.__doc__, module.EXAMPLE
            module.add_arguments(self)
            self.set_defaults(run=module.run, usage_error=self.error)
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            # Said here, the usage shown is that of the subcommand.
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown


def _parser() -> _Parser:
    parser = _Parser(prog="bytepair", description="Byte-pair tokenization.", epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in _COMMANDS.items():
        commands.add_parser(name, help=summary).command = name
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code.

    Raises:
        SystemExit: As argparse does: with 0 after ``--help``, with 2 for wrong usage.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TokenizerWarning)
            warnings.showwarning = lambda message, *_: _say(f"warning: {message}")
            try:
                options = _parser().parse_args(arguments)
                code: int = options.run(options)
            finally:
                _flush()
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt as error:
        _say(str(error) or "interrupted")
        return 130
    except (BytepairError, UnicodeError) as error:
        if isinstance(error, SpecialTokenError) and "special=" in error.remedy:
            # The core speaks of calls.
            error.remedy = "--special text encodes it as ordinary text, --special allow lets text become such tokens"
        _say(str(error))
        return 1
    except OSError as error:
        _say(f"{error.strerror or error}" + (f" (file {error.filename})" if error.filename else ""))
        return 1
    return code


def _flush() -> None:
    try:
        if sys.stdout:  # None if the shell has closed it (`>&-`).
            sys.stdout.flush()
    except OSError:
        # What is still in the buffer would be written, and fail, once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _say(message: str) -> None:
    line = message.replace("\n", " ")
    print(f"bytepair: {line}", file=sys.stderr)
