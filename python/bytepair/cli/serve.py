"""A playground in the browser: type and see tokens, pick tokenizers, upload one. For this machine alone.

Without -m it offers the encodings whose files are on this machine, and a small tokenizer that is trained on the spot.
Nothing is fetched, and nothing that is typed leaves the machine or is kept.
"""

from __future__ import annotations

import sys
import threading
import webbrowser
from argparse import ArgumentTypeError
from functools import partial
from typing import TYPE_CHECKING

from bytepair.cli.arguments import add_models, load_models
from bytepair.resolver import resolve
from bytepair.view.playground import PORT, serve

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """\
example:
  bytepair serve --open
  bytepair serve -m gpt2 -m my/tokenizer.json --port 0
"""

_LAST_PORT = 65535


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_models(parser, required=False)
    group = parser.add_argument_group("server")
    group.add_argument(
        "--host", default="127.0.0.1", help="where it listens (default: 127.0.0.1, which only this machine reaches)"
    )
    group.add_argument("--port", metavar="N", type=_port, default=PORT, help=f"default: {PORT}; 0 for one that is free")
    group.add_argument("--open", action="store_true", help="open the browser")


def run(options: Namespace) -> int:
    """Serves until Ctrl-C."""
    encodings = options.encodings
    if not any(resolve(model).kind == "encoding" for model in options.models or ()):
        options.encodings = None  # It is for the encodings that are offered, not for the files named.
    serve(
        load_models(options),
        host=options.host,
        port=options.port,
        encodings=encodings,
        ready=partial(_say, opens=options.open),
    )
    return 0


def _say(url: str, *, opens: bool) -> None:
    print(f"bytepair: the playground is at {url} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if opens:
        # Some browsers are waited for until they end.
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is not a port: use a number up to {_LAST_PORT}")
    return int(text)
