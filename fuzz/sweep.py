"""Random cases against the oracles: ``python -m fuzz.sweep --seconds 120 [--seed S]``.

A sweep is a function that runs one random case. Each case has its own random generator, seeded with the seed, the
sweep's name and the case's number, so one case can be repeated without those before it.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import secrets
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from fuzz import counted
from fuzz.alignments import sweep_alignments
from fuzz.asked import sweep_asked
from fuzz.case import Compared, FailureError
from fuzz.chunks import sweep_chunks
from fuzz.comparisons import sweep_comparisons
from fuzz.counts import sweep_counts
from fuzz.encoded_chats import sweep_chats
from fuzz.explanations import sweep_explanations
from fuzz.expressions import sweep_expressions
from fuzz.fine_tuning import sweep_fine_tuning
from fuzz.forged import sweep_forged
from fuzz.growing import sweep_appending, sweep_fitting, sweep_prepending
from fuzz.models import sweep_conversions, sweep_encoding, sweep_peers, sweep_training
from fuzz.parity import sweep_parity
from fuzz.pictures import sweep_pictures
from fuzz.pipelines import sweep_pipelines
from fuzz.prefix_cache import sweep_prefix_cache
from fuzz.prompts import sweep_prompts
from fuzz.readers import sweep_readers
from fuzz.reports import sweep_lints, sweep_reports
from fuzz.residues import sweep_residues
from fuzz.saved import sweep_files, sweep_kinds
from fuzz.shards import sweep_shards
from fuzz.stages import sweep_stages
from fuzz.streams import sweep_streams
from fuzz.structured import sweep_structures
from fuzz.taint import sweep_taint
from fuzz.texts import sweep_texts
from fuzz.transplant import sweep_transplant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SWEEPS: dict[str, Callable[[random.Random], None]] = {
    "training": sweep_training,
    "counts": sweep_counts,
    "encoding": sweep_encoding,
    "conversions": sweep_conversions,
    "texts": sweep_texts,
    "appending": sweep_appending,
    "prepending": sweep_prepending,
    "fitting": sweep_fitting,
    "chunks": sweep_chunks,
    "streams": sweep_streams,
    "pipelines": sweep_pipelines,
    "peers": sweep_peers,
    "files": sweep_files,
    "kinds": sweep_kinds,
    "readers": sweep_readers,
    "chats": sweep_chats,
    "structures": sweep_structures,
    "fine-tuning": sweep_fine_tuning,
    "taint": sweep_taint,
    "expressions": sweep_expressions,
    "shards": sweep_shards,
    "pictures": sweep_pictures,
    "explanations": sweep_explanations,
    "comparisons": sweep_comparisons,
    "alignments": sweep_alignments,
    "prompts": sweep_prompts,
    "prefix-cache": sweep_prefix_cache,
    "stages": sweep_stages,
    "parity": sweep_parity,
    "residues": sweep_residues,
    "transplant": sweep_transplant,
    "reports": sweep_reports,
    "lints": sweep_lints,
    "forged": sweep_forged,
    "playground": sweep_asked,
}

# No case takes a second; one that takes this long hangs.
_SECONDS_TO_HANG = 120


def run_case(name: str, seed: str, number: int) -> None:
    """Run one case.

    Raises:
        FailureError: The case failed; the message says how to repeat it.
    """
    faulthandler.dump_traceback_later(_SECONDS_TO_HANG, file=2, exit=True)
    try:
        SWEEPS[name](random.Random(f"{seed}/{name}/{number}"))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the core is no Exception
        few = " --few" if counted.FEW else ""
        again = f"python -m fuzz.sweep{few} --seed {seed} --repeat {name}:{number}"
        raise FailureError(f"{name} failed: {error}\nrepeat it with: {again}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()


class Done(NamedTuple):
    """The cases and values of a sweep."""

    cases: int = 0
    values: int = 0


def run(names: Iterable[str], *, seconds: float, seed: str) -> dict[str, Done]:
    """Run cases for some time, shared evenly among the sweeps; return the cases and the compared values of each.

    Raises:
        FailureError: A case failed; the message says how to repeat it.
    """
    spent = dict.fromkeys(names, 0.0)
    done = dict.fromkeys(spent, Done())
    end = time.monotonic() + seconds
    while (start := time.monotonic()) < end:
        name = min(spent, key=lambda name: spent[name])
        cases, values = done[name]
        before = Compared.values
        run_case(name, seed, cases)
        done[name] = Done(cases + 1, values + Compared.values - before)
        spent[name] += time.monotonic() - start
    return done


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sweep", description="Random cases against the oracles.")
    parser.add_argument("--seconds", type=float, default=60, help="total time")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the same seed gives the same cases")
    parser.add_argument("--only", choices=SWEEPS, action="append", help="a sweep to run; may be given several times")
    parser.add_argument("--repeat", metavar="SWEEP:CASE", help="do one case only")
    parser.add_argument("--few", action="store_true", help="draw only a few published tokenizers, as the tests do")
    chosen = parser.parse_args(arguments)
    counted.FEW = chosen.few
    print(f"seed {chosen.seed}", flush=True)
    try:
        if chosen.repeat:
            name, _, number = chosen.repeat.partition(":")
            run_case(name, chosen.seed, int(number))
            print(f"{chosen.repeat} passed")
        else:
            for name, (cases, values) in run(chosen.only or SWEEPS, seconds=chosen.seconds, seed=chosen.seed).items():
                print(f"{name}: {cases:,} cases passed, {values:,} values compared")
            print(f"{Compared.values:,} values compared")
    except FailureError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
