"""Describes a tokenizer, draws its stages, and finds faults in it and its files.

A round trip of a sample text is checked as well.
"""

from __future__ import annotations

import json
import reprlib
import shutil
import sys
import unicodedata
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bytepair import formats
from bytepair.check.lint import Lint, lint, lint_file
from bytepair.cli.arguments import add_model, load
from bytepair.cli.html_page import check_page, write_page
from bytepair.cli.streams import write_line, write_table
from bytepair.errors import BytepairError
from bytepair.formats.hub import ENCODINGS
from bytepair.model.spec import BytePair, split_name
from bytepair.view import linted, pipeline

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.model.spec import NormalForm
    from bytepair.tokenizer import Tokenizer

EXAMPLE = """\
examples:
  bytepair inspect demo-output
  bytepair inspect demo-output --format json
  bytepair inspect demo-output --embeddings 32000 --html inspected.html

exit code: 1 if there is a finding of severity "error", or the sample changes in the round trip
"""

# It begins with a space: a tokenizer that adds one in front changes nothing.
SAMPLE = " It's 2026:\tnaïve café, Straße, Привет, 東京, हिन्दी, 👩‍👩‍👧!\n\n  if x == 10_000:\r\n"

_SHOWN = 5
_MOST_OF_STAGE = 160


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_model(parser, "model")
    parser.add_argument(
        "--embeddings",
        metavar="N|FOLDER",
        help="how many rows the model's embedding has, or the folder of its checkpoint: is there a row for each id?",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--html", metavar="OUT", help="also write a page, whole in itself, which needs no network")


def run(options: Namespace) -> int:
    """Writes facts, stages and findings; 1 if a finding is an error, or the sample changes in the round trip."""
    check_page(options)
    tokenizer, found = _linted(options)
    facts: dict[str, Any] = {}
    round_trip = "not checked"
    if tokenizer is not None:
        round_trip = _round_trip(tokenizer)
        facts = {**_source(options.model), **_facts(tokenizer), "round_trip": round_trip}
    shown = {name: _shown(value) for name, value in facts.items()}
    if facts:
        shown["longest_tokens"] = ", ".join(map(reprlib.repr, facts["longest_tokens"]))
    if options.html is not None:
        write_page(linted.html(options.model, shown, found, tokenizer), options.html)
    if options.format == "json":
        drawn = [stage.as_dict() for stage in pipeline.stages(tokenizer)] if tokenizer else []
        write_line(json.dumps({**facts, "stages": drawn, "lint": found.as_dict()}, indent=2))
    else:
        if tokenizer is not None:
            write_table(shown)
            write_line(f"\n{pipeline.text(tokenizer)}\n")
        width = shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else None
        write_line(linted.text(found, width=width))
    return 0 if round_trip in ("ok", "not checked") and not found.errors else 1


def _linted(options: Namespace) -> tuple[Tokenizer | None, Lint]:
    embeddings = options.embeddings
    if embeddings is not None and embeddings.replace("_", "").isdecimal():
        embeddings = int(embeddings)
    if options.model in ENCODINGS or options.encodings or not Path(options.model).exists():
        tokenizer = load(options, options.model)
        return tokenizer, lint(tokenizer, embeddings=embeddings).for_cli()
    special_tokens = dict(options.special_token or ())
    if len(special_tokens) < len(options.special_token or ()):
        options.usage_error("--special-token names a token twice")
    found = lint_file(
        options.model,
        embeddings=embeddings,
        split=options.split,
        special_tokens=special_tokens or None,
        partial_alphabet=options.partial_alphabet,
    )
    return found.tokenizer, found.lint.for_cli()


def _facts(tokenizer: Tokenizer) -> dict[str, Any]:
    spec = tokenizer.spec
    model = spec.model
    return {
        "fingerprint": tokenizer.fingerprint,
        "semantics": tokenizer.spec.semantics,
        "ignore_merges": isinstance(model, BytePair) and model.ignore_merges,
        "tokens": len(tokenizer),
        "vocab_size": tokenizer.vocab_size,
        "merges": len(model.merges) if isinstance(model, BytePair) and model.merges is not None else None,
        "split": [split_name(pattern) or pattern for pattern in spec.split],
        "normalizers": list(spec.normalizers),
        "prefix_space": spec.prefix_space,
        "pre_tokenizers": list(spec.pre_tokenizers),
        "decoders": list(spec.decoders),
        "post_processor": spec.post_processor is not None,
        "special_tokens": spec.special_tokens,
        "added_tokens": {token.content: token.id for token in spec.added_tokens if not token.special},
        "longest_tokens": [
            token.decode("utf-8", "backslashreplace") for token in sorted(model.tokens, key=len, reverse=True)[:_SHOWN]
        ],
        "bytes_covered": len({token for token in model.tokens if len(token) == 1}),
    }


def _round_trip(tokenizer: Tokenizer) -> str:
    spec = tokenizer.spec
    if not spec.is_byte_level or not all(form.startswith("NF") for form in spec.normalizers):
        # The stages may change the text: `bytepair verify` checks that.
        return "not checked"
    forms = cast("tuple[NormalForm, ...]", spec.normalizers)
    expected = reduce(lambda text, form: unicodedata.normalize(form, text), forms, SAMPLE)
    try:
        found = tokenizer.decode(tokenizer.encode(SAMPLE, special="text", added="text"))
    except BytepairError as error:
        return error.for_cli()
    return "ok" if found == expected else f"the sample {expected!r} comes back as {found!r}"


def _source(model: str) -> dict[str, str]:
    """The source of the tokenizer: an encoding, or a file and its format."""
    if model in ENCODINGS:
        return {"encoding": model}
    detected = formats.detect(Path(model))
    return {"file": str(detected.path), "format": detected.format}


def _elided(stage: str) -> str:
    """A stage, cut off: some normalizers hold a table of 300,000 characters."""
    return stage if len(stage) <= _MOST_OF_STAGE else f"{stage[: _MOST_OF_STAGE - 1]}…"


def _shown(value: Any) -> str:
    """A fact as a table shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        # The terminal must not obey a control character in a token.
        shown = [f"{token if token.isprintable() else repr(token)} = {id}" for token, id in value.items()]
        first = ", ".join(shown[:_SHOWN] + ["..."] * (len(shown) > _SHOWN))
        return f"{len(shown):,}" + (f": {first}" if shown else "")
    if isinstance(value, list):
        return ", ".join(_elided(str(item)) for item in value) or "none"
    return "none" if value is None else str(value)
