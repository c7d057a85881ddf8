"""`bytepair.compat.tiktoken` compared with tiktoken, call by call, in one run.

    python -m benchmarks.face_tiktoken [--data FOLDER] [--rounds N] [--text NAME] [--write]

Results are compared before anything is timed. Each number is a median of rounds in which the two alternate: CPU time
of all threads of the process. ``--write`` puts the table into docs/compat-tiktoken.md. A ratio is tiktoken's time
divided by bytepair's: above 1 bytepair is faster.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import tiktoken as peer

import bytepair as bp
from bytepair.compat import tiktoken
from bytepair.compat.tiktoken import splitting
from bytepair.formats import encodings

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "compat-tiktoken.md"
START, END = "<!-- table: python -m benchmarks.face_tiktoken --write -->", "<!-- end of the table -->"


def calls(text: str, ids: list[int]) -> dict[str, Callable[[Any], Any]]:
    """The timed calls, by their names in the table."""
    short = [text[at : at + 20] for at in range(0, 200_000, 20)]
    documents = [text[at : at + 2000] for at in range(0, len(text), 2000)]
    rows = [ids[at : at + 6] for at in range(0, 60_000, 6)]
    tokens = ids[:50_000]
    return {
        "`encode`, one text of 1 MB": lambda e: e.encode(text),
        "`encode`, 10,000 texts of 20 characters": lambda e: [e.encode(part) for part in short],
        "`encode` with `allowed_special`, the same": lambda e: [
            e.encode(part, allowed_special={"<|endoftext|>"}) for part in short
        ],
        "`encode_ordinary`, the same": lambda e: [e.encode_ordinary(part) for part in short],
        "`encode_batch`, 500 texts of 2,000 characters": lambda e: e.encode_batch(documents),
        "`encode_to_numpy`, 1 MB": lambda e: e.encode_to_numpy(text).tolist(),
        "`decode`, 1 MB": lambda e: e.decode(ids),
        "`decode`, 10,000 times 6 ids": lambda e: [e.decode(row) for row in rows],
        "`decode_batch`, the same": lambda e: e.decode_batch(rows),
        "`decode_with_offsets`, 50,000 ids": lambda e: e.decode_with_offsets(tokens),
        "`decode_tokens_bytes`, 50,000 ids": lambda e: e.decode_tokens_bytes(tokens),
        "`encode_with_unstable`, 30 short texts": lambda e: [unstable(e, part) for part in short[:30]],
    }


def unstable(encoding: Any, text: str) -> tuple[list[int], list[list[int]]]:
    """The result of `encode_with_unstable`, in a fixed order."""
    stable, completions = encoding.encode_with_unstable(text)
    return stable, sorted(completions)


def compare(call: Callable[[Any], Any], ours: Any, theirs: Any, rounds: int) -> tuple[float, float, float]:
    """Seconds of both and the ratio, as medians; AssertionError if their results differ."""
    assert call(ours) == call(theirs)
    taken: list[list[float]] = [[], []]
    for _ in range(rounds):
        for encoding, times in zip((ours, theirs), taken, strict=True):
            start = time.process_time()
            call(encoding)
            times.append(time.process_time() - start)
    return median(taken[0]), median(taken[1]), median(two / one for one, two in zip(*taken, strict=True))


def main() -> None:
    """Compare, time, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--text", default="code_1mb")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tok = bp.get_encoding("cl100k_base", folder=options.data / "vocabs" / "openai")
    model = tok.spec.byte_pair
    settings: dict[str, Any] = {
        "pat_str": splitting.PUBLISHED["cl100k"],
        "mergeable_ranks": dict(zip(model.tokens, model.ids, strict=True)),
        "special_tokens": dict(encodings.ENCODINGS["cl100k_base"].special_tokens),
    }
    ours, theirs = tiktoken.Encoding("bench", **settings), peer.Encoding("bench", **settings)
    # Here each text is looked through for what the pattern leaves out.
    unnamed = settings | {"pat_str": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"}
    ours_unnamed, theirs_unnamed = tiktoken.Encoding("bench", **unnamed), peer.Encoding("bench", **unnamed)
    text = (options.data / "corpora" / f"{options.text}.txt").read_text("utf-8")[:1_000_000]
    rows = [f"| {options.text} | bytepair | tiktoken {peer.__version__} | ratio |", "|---|--:|--:|--:|"]
    table = calls(text, theirs.encode_ordinary(text))
    for name, call in table.items():
        one, two, ratio = compare(call, ours, theirs, options.rounds)
        rows.append(f"| {name} | {one * 1e3:.1f} ms | {two * 1e3:.1f} ms | {ratio:.1f} |")
        print(rows[-1], flush=True)
    first = next(iter(table.values()))
    one, two, ratio = compare(first, ours_unnamed, theirs_unnamed, options.rounds)
    rows.append(f"| the first, with a pattern without a name | {one * 1e3:.1f} ms | {two * 1e3:.1f} ms | {ratio:.1f} |")
    print(rows[-1])
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(START)
        PAGE.write_text(before + START + "\n" + "\n".join(rows) + "\n" + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
