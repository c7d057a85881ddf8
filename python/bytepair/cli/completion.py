"""Prints a script that completes commands, options, choices, encodings and files in bash, zsh or fish.

It is made from the arguments of the commands themselves, and lists those of this version.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from bytepair.cli import COMMANDS, parsers
from bytepair.cli.streams import write_line
from bytepair.formats.encodings import ENCODINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXAMPLE = """\
examples:
  bytepair completion bash > bytepair.bash
  bytepair completion zsh > _bytepair
  bytepair completion fish > bytepair.fish

To use it: `source bytepair.bash` in ~/.bashrc; _bytepair in a folder of zsh's $fpath; bytepair.fish in
~/.config/fish/completions.
"""

_OF_MODELS = ("model", "models", "input")
"""The names of arguments that take a tokenizer."""


_FIRST = "'test (count (commandline -opc)) = 1'"
"""The condition of fish for the first argument."""


class _Option(NamedTuple):
    """An option of a command, or an argument without a name.

    Attributes:
        names: Its spellings; empty for an argument without a name.
        words: What may follow: choices, or names of encodings.
        has_value: Whether something follows.
        takes_files: Whether a file may follow.
        repeats: Whether it can be used again.
        help: What it is for, in a line.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    has_value: bool
    takes_files: bool
    repeats: bool
    help: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that completes")


def run(options: argparse.Namespace) -> int:
    """Writes the script."""
    lines = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]
    tree = {name: [_option(action) for action in parser.fill().actions] for name, parser in parsers()[1].items()}
    for line in lines(tree):
        write_line(line)
    return 0


def _option(action: argparse.Action) -> _Option:
    is_model = action.dest in _OF_MODELS
    choices = tuple(map(str, action.choices or ()))
    has_value = action.nargs != 0
    text = (action.help or "").replace("%%", "%").partition(" (default")[0]
    return _Option(
        tuple(action.option_strings),
        tuple(ENCODINGS) if is_model else choices,
        has_value,
        has_value and not choices,
        isinstance(action, argparse._AppendAction | argparse._ExtendAction) or action.nargs in ("*", "+"),
        " ".join(text.split()),
    )


def _bash(tree: dict[str, list[_Option]]) -> Iterator[str]:
    yield "# Completion of bytepair for bash; `bytepair completion bash` prints it."
    yield "_bytepair() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield "    local words= options= files=yes"
    yield "    COMPREPLY=()"
    yield "    if (( COMP_CWORD == 1 )); then"
    yield f"        words={_quoted(list(COMMANDS))} options='-h --help --version' files="
    yield "    else"
    yield '        case "${COMP_WORDS[1]}" in'
    for name, arguments in tree.items():
        yield f"        {name})"
        yield f"            options={_quoted([each for option in arguments for each in option.names])}"
        plain = [word for option in arguments if not option.names for word in option.words]
        if plain:
            yield f"            words={_quoted(plain)}"
        yield '            case "$before" in'
        for option in arguments:
            if option.names and option.has_value:
                files = "yes" if option.takes_files else ""
                yield f"            {'|'.join(option.names)}) options= words={_quoted(option.words)} files={files} ;;"
        yield "            esac ;;"
    yield "        esac"
    yield "    fi"
    yield '    case "$current" in -*) words="$options" files= ;; esac'
    yield "    local found"
    yield '    while IFS= read -r found; do COMPREPLY+=("$found"); done < <('
    yield '        compgen -W "$words" -- "$current"'
    yield '        [[ -z $files ]] || compgen -f -- "$current"'
    yield "    )"
    yield "}"
    yield "complete -o filenames -F _bytepair bytepair"


def _zsh(tree: dict[str, list[_Option]]) -> Iterator[str]:
    yield "#compdef bytepair"
    yield "# Completion of bytepair for zsh; `bytepair completion zsh` prints it."
    yield "_bytepair_words_or_files() {"
    yield '    _alternative "words:word:($*)" files:file:_files'
    yield "}"
    yield "_bytepair() {"
    yield "    if (( CURRENT == 2 )); then"
    yield "        local -a commands=("
    for name, summary in COMMANDS.items():
        yield f"            {_single(f'{name}:{summary}')}"
    yield "        )"
    yield "        _describe -t commands command commands"
    yield "        _arguments --help --version"
    yield "        return"
    yield "    fi"
    yield '    local command="$words[2]"'
    yield "    shift words; (( CURRENT-- ))"
    yield '    case "$command" in'
    for name, arguments in tree.items():
        yield f"    {name}) _arguments -s -S \\"
        yield from (f"        {_single(spec)} \\" for option in arguments for spec in _zsh_specs(option))
        yield "        ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ "$funcstack[1]" == _bytepair ]]; then _bytepair "$@"; else compdef _bytepair bytepair; fi'


def _zsh_specs(option: _Option) -> Iterator[str]:
    words = " ".join(option.words)
    # The space keeps `_arguments` from putting options of its own between the function and the words.
    mixed = f" _bytepair_words_or_files {words}" if option.takes_files else f"({words})"
    follows = mixed if words else "_files"
    repeated = "*" if option.repeats else ""
    if not option.names:
        yield f"{repeated}:argument:{follows}"
        return
    label = _escaped(option.help)
    for name in option.names:
        yield f"{repeated}{name}[{label}]{f':value:{follows}' if option.has_value else ''}"


def _escaped(text: str) -> str:
    """Text in a description of `_arguments`, where brackets and colons have a meaning."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _fish(tree: dict[str, list[_Option]]) -> Iterator[str]:
    yield "# Completion of bytepair for fish; `bytepair completion fish` prints it."
    yield f"complete -c bytepair -n {_FIRST} -f -l help -d 'show the help'"
    yield f"complete -c bytepair -n {_FIRST} -f -l version -d 'show the version'"
    for name, summary in COMMANDS.items():
        yield f"complete -c bytepair -n {_FIRST} -f -a {name} -d {_fished(summary)}"
    for name, arguments in tree.items():
        for option in arguments:
            words = f" -a {_fished(' '.join(option.words))}" if option.words else ""
            if not option.names and not option.words:
                continue
            names = "".join(f" -l {each[2:]}" if each[:2] == "--" else f" -s {each[1:]}" for each in option.names)
            value = "" if not option.has_value or not option.names else " -r" if option.takes_files else " -x"
            condition = f"-n 'test (commandline -opc)[2] = {name}'"
            yield f"complete -c bytepair {condition}{names}{value}{words} -d {_fished(option.help)}"


def _quoted(words: Sequence[str]) -> str:
    return f'"{" ".join(words)}"'


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
