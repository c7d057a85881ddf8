"""The command line. Each command is one file: its arguments, a call of the public API, and its output.

A command's file is imported only when that command runs, which keeps ``bytepair --help`` fast.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from bytepair import __version__, files
from bytepair.errors import BytepairError, TokenizerWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "train": "text -> a tokenizer",
    "counts": "text -> a table of pieces and their counts, to train from",
    "extend": "a tokenizer, text -> the tokenizer with more merges",
    "prune": "a tokenizer -> a smaller one",
    "encode": "text -> ids",
    "decode": "ids -> text",
    "shard": "a corpus -> shards of ids for trainers",
    "chunk": "text -> chunks within a token limit",
    "count": "count the tokens of text, like wc",
    "convert": "a tokenizer in one format -> another format",
    "inspect": "describe a tokenizer and find its faults",
    "verify": "check a tokenizer against its manifest, and that it works",
    "view": "show the tokens of a text, by one or more tokenizers, in the terminal or on a page",
    "explain": "show why a text has its ids: its pieces, and merges step by step",
    "compare": "show how two tokenizers differ, and the cost on your text",
    "align": "show which tokens of two tokenizers cover the same text",
    "report": "the cost of corpora by tokenizer: fertility, parity, use of the vocabulary",
    "serve": "a playground in the browser: type and see tokens",
    "bench": "the speed of a tokenizer on your text",
    "demo": "train, save and use a small tokenizer on text of this machine",
}

_EPILOG = """\
Data goes to stdout, progress and messages to stderr; - is stdin.

exit codes:
  0    done
  1    a fault in the data or the model: one line on stderr with what, where, and a remedy
  2    wrong usage
  130  interrupted (Ctrl-C)
  141  the reader of the output closed it (as `| head` does)

example:
  bytepair demo
"""


class _Parser(argparse.ArgumentParser):
    """A parser that gets its arguments from the command's module when the command runs."""

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
            # Raised here, the error shows the usage of the command.
            hint = "; name the model without -m here" if {"-m", "--model"} & {*unknown} else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
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
        SystemExit: From argparse: 0 after ``--help``, 2 for wrong usage.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TokenizerWarning)
            warnings.showwarning = lambda message, *_: _say(f"warning: {message}")
            try:
                options = _parser().parse_args(arguments)
                with files.at_most(getattr(options, "max_bytes", None)):
                    code: int = options.run(options)
            finally:
                _flush()
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt as error:
        _say(str(error) or "interrupted")
        return 130
    except BytepairError as error:
        _say(error.for_cli())
        return 1
    except UnicodeError as error:
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
        # Python writes the rest of the buffer again when it ends, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _say(message: str) -> None:
    line = message.replace("\n", " ")
    print(f"bytepair: {line}", file=sys.stderr)
