"""Describes a tokenizer, draws its stages, and reports faults in it or its files.

A sample of text must also decode to itself.
"""

from __future__ import annotations

import json
import reprlib
import shutil
import sys
import unicodedata
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from bytepair.check.lint import Linted, lint_and_load
from bytepair.cli.arguments import add_model, model_options
from bytepair.cli.html_page import add_html, check_page, write_page
from bytepair.cli.streams import write_line, write_table
from bytepair.errors import BytepairError
from bytepair.model.meanings import stands_for
from bytepair.model.models import BytePair
from bytepair.model.split_patterns import split_name
from bytepair.resolver import resolve
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

exit code: 1 if there is a finding of severity "error", or the sample does not decode to itself
"""

# It begins with a space, so that tokenizers with a prefix space change nothing.
SAMPLE = " It's 2026:\tnaïve café, Straße, Привет, 東京, हिन्दी, 👩‍👩‍👧!\n\n  if x == 10_000:\r\n"

_SHOWN = 5
_MOST_OF_STAGE = 160


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    add_model(parser, "model")
    parser.add_argument(
        "--embeddings",
        metavar="N|FOLDER",
        help="rows of the model's embedding, or the folder of its checkpoint: is there a row for each id?",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_html(parser)


def run(options: Namespace) -> int:
    """Writes facts, stages and findings; 1 if one is an error, or the sample does not decode to itself."""
    check_page(options)
    checked = _linted(options)
    tokenizer, found = checked.tokenizer, checked.lint.for_cli()
    facts: dict[str, Any] = {}
    round_trip = "not checked"
    if tokenizer is not None:
        round_trip = _round_trip(tokenizer)
        facts = {**_source(options.model, checked), **_facts(tokenizer), "round_trip": round_trip}
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


def _linted(options: Namespace) -> Linted:
    embeddings = options.embeddings
    if embeddings is not None and embeddings.replace("_", "").isdecimal():
        embeddings = int(embeddings)
    return lint_and_load(options.model, embeddings=embeddings, **model_options(options, options.model))


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
        "bytes_covered": len({token for token in stands_for(spec).values() if len(token) == 1}),
    }


def _round_trip(tokenizer: Tokenizer) -> str:
    spec = tokenizer.spec
    if not spec.is_byte_level or not all(form.startswith("NF") for form in spec.normalizers):
        # The stages may change the text: `bytepair verify` checks that in detail.
        return "not checked"
    forms = cast("tuple[NormalForm, ...]", spec.normalizers)
    expected = reduce(lambda text, form: unicodedata.normalize(form, text), forms, SAMPLE)
    try:
        found = tokenizer.decode(tokenizer.encode(SAMPLE, special="text", added="text"))
    except BytepairError as error:
        return error.for_cli()
    return "ok" if found == expected else f"the sample {expected!r} comes back as {found!r}"


def _source(model: str, linted: Linted) -> dict[str, str]:
    """The source of the tokenizer: an encoding, or a file and its format."""
    kind, name = resolve(model)
    source = {} if kind == "path" else {kind: name}
    return source | ({"file": linted.file, "format": linted.format} if linted.file else {})


def _elided(stage: str) -> str:
    """A stage shortened for a table: some normalizers hold 300,000 characters."""
    return stage if len(stage) <= _MOST_OF_STAGE else f"{stage[: _MOST_OF_STAGE - 1]}…"


def _shown(value: Any) -> str:
    """A fact, formatted for a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        # The terminal must not interpret control characters of tokens.
        shown = [f"{token if token.isprintable() else repr(token)} = {id}" for token, id in value.items()]
        first = ", ".join(shown[:_SHOWN] + ["..."] * (len(shown) > _SHOWN))
        return f"{len(shown):,}" + (f": {first}" if shown else "")
    if isinstance(value, list):
        return ", ".join(_elided(str(item)) for item in value) or "none"
    return "none" if value is None else str(value)
