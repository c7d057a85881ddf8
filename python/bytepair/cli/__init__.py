"""The command line. Each command is one file: its arguments, a call of the public API, and its output.

A command's file is imported only when that command runs, which keeps ``bytepair --help`` fast.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair import __version__, files
from bytepair.errors import BytepairError, TokenizerWarning
from bytepair.formats.announcing import listening

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
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
    "completion": "the script that completes this command line in bash, zsh or fish",
    "demo": "train, save and use a small tokenizer on text of this machine",
}
"""The commands and what they do, in the order of the help."""

_EPILOG = """\
Data goes to stdout, progress and messages to stderr; - is stdin.

exit codes:
  0    done
  1    a fault in the data or the model: one line on stderr with what, where, and a remedy
  2    wrong usage
  130  interrupted (Ctrl-C)
  141  the reader of the output closed it (as `| head` does)

environment:
  BYTEPAIR_MODEL      the tokenizer of commands without -m
  BYTEPAIR_ENCODINGS  a folder with the rank files of encodings, instead of the network
  BYTEPAIR_CACHE      the folder that keeps fetched encodings

example:
  bytepair demo
"""


class Parser(argparse.ArgumentParser):
    """A parser that gets its arguments from the command's module when the command runs.

    An error is two lines: how the command is called, and what is wrong, with the closest name for a mistyped one.
    """

    command: str | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)

    def fill(self) -> Parser:
        """Adds the arguments of the command, once."""
        if self.command:
            module = importlib.import_module(f"bytepair.cli.{self.command}")
            self.description, self.epilog = module.__doc__, module.EXAMPLE
            module.add_arguments(self)
            self.set_defaults(run=module.run, usage_error=self.error)
            self.command = None
        return self

    @property
    def actions(self) -> list[argparse.Action]:
        """The arguments, in the order of the help."""
        return self._actions

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: D102
        self.fill()
        given = sys.argv[1:] if args is None else list(args)
        self._check_names(given)
        namespace, unknown = super().parse_known_args(given, namespace)
        if unknown:
            # Raised here, the error shows the usage of the command.
            hint = "; give the model without -m here" if {"-m", "--model"} & {*unknown} else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return namespace, unknown

    def _check_names(self, given: list[str]) -> None:
        """Ends with an error at a long option that does not exist: argparse reports what it thinks missing first."""
        is_command = self._subparsers is None
        for argument in given:
            # The main parser sees the arguments of its command too.
            if argument == "--" or not (is_command or argument.startswith("-")):
                return
            name = argument.partition("=")[0]
            known = self._option_string_actions
            # As in argparse, an argument with a space is no option.
            if not name.startswith("--") or " " in argument or name in known:
                continue
            positionals = {action.dest for action in self._actions if not action.option_strings}
            if name == "--model" or name[2:] in positionals:
                self.error(f"there is no option {name}; give the {name[2:]} without it here")
            self.error(f"there is no option {name}{_closest(name, [each for each in known if each[:2] == '--'])}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        names = [str(name) for name in action.choices]
        close = _closest(str(value), names)
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(
                None, f"there is no command {value!r}{close or '; bytepair --help lists them'}"
            )
        raise argparse.ArgumentError(action, f"{value!r} is none of {', '.join(names)}{close}")

    def error(self, message: str) -> NoReturn:
        """Ends with the call and the message, a line each."""
        self.exit(2, f"usage: {self._call()}\n{self.prog}: error: {' '.join(message.split())}\n")

    def _call(self) -> str:
        """The call in one line: only what is required, and where the rest is listed."""
        if self._subparsers is not None:
            return f"{self.prog} COMMAND ...  (all commands: {self.prog} --help)"
        words = [self.prog]
        for action in self._actions:
            name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
            if action.option_strings and action.required:
                or_set = " (or set BYTEPAIR_MODEL)" * (action.dest in ("model", "models"))
                words.append(f"{action.option_strings[0]} {name}{or_set}")
            elif not action.option_strings:
                words.append(f"[{name} ...]" if action.nargs == "*" else f"[{name}]" if action.nargs == "?" else name)
        return f"{' '.join(words)} [OPTIONS]  (all options: {self.prog} --help)"


def _closest(name: str, known: Sequence[str]) -> str:
    import difflib  # noqa: PLC0415 (for the message)

    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {found[0]}?" if found else ""


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """The parser of the command line and those of its commands, which `Parser.fill` completes."""
    parser = Parser(prog="bytepair", description="Byte-pair tokenization.", epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    by_name = {}
    for name, summary in COMMANDS.items():
        by_name[name] = commands.add_parser(name, help=summary)
        by_name[name].command = name
    return parser, by_name


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
                options = parsers()[0].parse_args(arguments)
                with listening(_say), files.at_most(getattr(options, "max_bytes", None)):
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
