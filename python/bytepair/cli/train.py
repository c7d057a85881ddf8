"""Trains a tokenizer on text files, or on counts of their pieces, and saves it."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.cli import counting_arguments as counting
from bytepair.cli.arguments import checked, number
from bytepair.cli.interrupts import interruptible
from bytepair.cli.saving import add_save, check_save, save_made
from bytepair.model.models import BytePair
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import split_pattern
from bytepair.training.byte_pairs import check_settings, train_with_statistics
from bytepair.training.checkpoints import COUNTS
from bytepair.training.counts import Counts
from bytepair.training.inputs import special_list, special_roles
from bytepair.training.interrupted import TrainingInterrupted
from bytepair.training.parity import Parity
from bytepair.training.weights import parse_group

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bytepair.training.trained import Trained

EXAMPLE = """\
examples:
  bytepair train 'docs/**/*.md' README.md --vocab-size 8k --special-token '<|endoftext|>' -o my-tokenizer
  bytepair train 'docs/*.md' --vocab-size 8k --stage 6k:superwords --max-words 4 -o superwords
  bytepair train --group 'docs=docs/*.md' --group notes=README.md --weight notes=0.5 --vocab-size 8k -o mixed
  bytepair train 'docs/*.md' --engine local --work counting --vocab-size 8k -o my-tokenizer
"""


def _parse_stage(text: str) -> tuple[int, str]:
    begins, colon, split = text.partition(":")
    if not colon:
        raise ArgumentTypeError(f"{text!r} is not N:SPLIT, such as 28k:superwords")
    return number(begins), split


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the keywords of `bytepair.train`."""
    counting.add_corpus(parser, "the text to train on")
    counting.add_stages(parser)
    counting.add_engine(parser)
    group = parser.add_argument_group("merges")
    group.add_argument(
        "--vocab-size", metavar="N", type=number, required=True, help="the number of tokens, such as 32k"
    )
    group.add_argument(
        "--stage",
        metavar="N:SPLIT",
        type=_parse_stage,
        action="append",
        default=[],
        help="from N tokens on, split text otherwise, such as 28k:superwords for merges across words; several in order",
    )
    group.add_argument(
        "--parity", action="store_true", help="choose each merge for the --group whose text takes the most tokens"
    )
    group.add_argument(
        "--development",
        metavar="NAME=FILE",
        action="append",
        type=checked(parse_group),
        default=[],
        help="with --parity: a text for each group, all of the same content, that shows which one is worst off",
    )
    counting.add_merging(group)
    for role, use in (
        ("bos", "begins a text"),
        ("eos", "ends a text"),
        ("pad", "pads rows"),
        ("unk", "is unknown text"),
    ):
        group.add_argument(
            f"--{role}", metavar="TEXT", help=f"the special token that {use}, as transformers is told in the output"
        )
    group.add_argument("--special-ids", choices=("first", "last"), default="last", help="which ids special tokens get")
    group.add_argument("--byte-order", choices=("raw", "gpt2"), default="raw", help="the order of the ids of bytes")
    group = parser.add_argument_group("checkpoints")
    group.add_argument(
        "--checkpoint", metavar="DIR", help="keep counts and merges here, to go on after an interruption"
    )
    group.add_argument("--resume", action="store_true", help="go on from --checkpoint, and with the run in --work")
    group.add_argument("--log", metavar="FILE", help="write the merges as they are made, as JSON lines")
    add_save(parser)


def run(options: Namespace) -> int:
    """Trains, saves, and reports on stderr."""
    counting.check_engine(options)
    if options.resume and not (options.checkpoint or options.work):
        options.usage_error("--resume goes with --checkpoint DIR, or with --engine and --work DIR")
    if options.stage and (options.engine or options.from_counts or options.files == ["-"]):
        options.usage_error("--stage reads the text again: name files, without --engine and --from-counts")
    if options.development and not options.parity:
        options.usage_error("--development goes with --parity")
    start = time.perf_counter()
    corpus = counting.source(options, "split", "normalizer")
    weight = counting.weights(options, corpus)
    split, normalizers, special_tokens = options.split, options.normalizer, options.special_token
    if isinstance(corpus, Counts):
        # The tokenizer has the stages of the counts.
        split, normalizers = corpus.stages.split, list(corpus.stages.normalizers)
        special_tokens = special_tokens or list(corpus.stages.special_tokens)
    named = {role: getattr(options, role) for role in ("bos", "eos", "pad", "unk")}
    special_tokens, _ = special_roles(special_list(special_tokens), **named)
    options.special_token = special_tokens
    pattern = split_pattern(options.stage[-1][1] if options.stage else "o200k" if split is None else split)
    added = tuple(AddedToken(text, id) for id, text in enumerate(special_tokens))
    stages = TokenizerSpec(
        BytePair((), ()), normalizers=tuple(normalizers), split=(pattern,) if pattern else (), added_tokens=added
    )
    check_save(options, stages)
    check_settings(special_tokens, options.vocab_size, log=options.log, checkpoint=options.checkpoint)
    try:
        with interruptible(lambda: _what_is_kept(options)):
            trained = train_with_statistics(
                counting.counted(options, corpus) or (),
                options.vocab_size,
                split=split,
                normalizers=normalizers,
                special_tokens=special_tokens,
                **named,
                weights=weight,
                ties=options.ties,
                min_frequency=options.min_frequency,
                min_count=options.min_count or 1,
                stages=options.stage,
                objective=Parity(counting.by_group(options.development) or None) if options.parity else "frequency",
                max_token_length=options.max_token_length,
                max_words=options.max_words,
                special_ids=options.special_ids,
                byte_order=options.byte_order,
                checkpoint=options.checkpoint,
                resume=options.resume and options.checkpoint is not None,
                log=options.log,
                **counting.corpus_options(options),
            )
    except TrainingInterrupted as early:
        written = save_made(options, early.tokenizer)
        advice = f"; --checkpoint {options.checkpoint} --resume goes on" if options.checkpoint else ""
        raise KeyboardInterrupt(
            f"interrupted after {early.merges:,} merges, which are saved: {', '.join(written)}{advice}"
        ) from early
    written = save_made(options, trained.tokenizer)
    _say(options, trained, time.perf_counter() - start, written)
    return 0


def _what_is_kept(options: Namespace) -> str:
    from bytepair.shards.counting_tasks import TABLE  # noqa: PLC0415  # most trainings are not interrupted

    if options.engine and not Path(options.work, TABLE).exists():
        return f"; --resume goes on with the counting in {options.work}"
    if not options.checkpoint:
        return "; --resume uses the counts" if options.engine else ""
    act = "uses the counts" if options.engine or Path(options.checkpoint, COUNTS).exists() else "counts again"
    return f"; --checkpoint {options.checkpoint} --resume {act}"


def _say(options: Namespace, trained: Trained, seconds: float, written: list[str]) -> None:
    tokens, merges, statistics = len(trained.tokenizer), len(trained.merges), trained.statistics
    ratios = {"bytes_per_token": statistics.bytes_per_token, "tokens_per_piece": statistics.tokens_per_piece}
    if options.progress == "json":
        facts = {"phase": "done", "tokens": tokens, "merges": merges, "seconds": seconds, "files": written}
        print(json.dumps(facts | {"statistics": asdict(statistics) | ratios}), file=sys.stderr)
        return
    shown = [f"{value:.2f} {name.replace('_', ' ')}" for name, value in ratios.items()]
    shown.append(f"{statistics.rows:,} rows")
    if statistics.peak_memory is not None:
        shown.append(f"peak memory {statistics.peak_memory / 1e6:,.0f} MB")
    shown += counting.spilled(statistics.spilled)
    print(f"{tokens:,} tokens, {merges:,} merges, {seconds:.2f} s: {', '.join(written)}", file=sys.stderr)
    print(", ".join(shown), file=sys.stderr)
