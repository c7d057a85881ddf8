"""`bytepair.compat.tokenizers` compared with tokenizers, call by call, in one run.

    python -m benchmarks.face_tokenizers [--data FOLDER] [--rounds N] [--write]

Results are compared before anything is timed. Each number is a median of rounds in which the two alternate: CPU time
of all threads of the process, that of tokenizers divided by that of bytepair. ``--write`` puts the table into
docs/compat-tokenizers.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tokenizers as peer

from benchmarks.face_tiktoken import compare
from bytepair.compat import tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "compat-tokenizers.md"
START, END = "<!-- table: python -m benchmarks.face_tokenizers --write -->", "<!-- end of the table -->"

FILES = {
    "GPT-2": "gpt2/tokenizer.json",
    "RoBERTa": "roberta-base/tokenizer.json",
    "BERT": "bert-base-uncased/tokenizer.daulet.json",
    "Llama 2": "llama2/tokenizer.json",
    "T5": "t5-small/tokenizer.json",
}


def calls(texts: list[str], rows: list[list[int]]) -> dict[str, Callable[[Any], Any]]:
    """The timed calls, by their names in the table."""

    def cut_and_padded(tokenizer: Any) -> Any:
        tokenizer.enable_truncation(64)
        tokenizer.enable_padding()
        try:
            return [(each.ids, each.attention_mask) for each in tokenizer.encode_batch(texts)]
        finally:
            tokenizer.no_truncation()
            tokenizer.no_padding()

    return {
        "ids": lambda t: [each.ids for each in t.encode_batch(texts)],
        "offsets": lambda t: [each.offsets for each in t.encode_batch(texts)],
        "words": lambda t: [each.word_ids for each in t.encode_batch(texts)],
        "tokens": lambda t: [each.tokens for each in t.encode_batch(texts)],
        "`encode`, one by one": lambda t: [t.encode(text).ids for text in texts],
        "the same, with offsets": lambda t: [t.encode(text).offsets for text in texts],
        "cut and padded": cut_and_padded,
        "decoding": lambda t: t.decode_batch(rows),
    }


def main() -> None:
    """Compare, time, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = "".join((options.data / "corpora" / f"{name}_1mb.txt").read_text("utf-8") for name in ("en", "multi"))
    kinds = {
        "of 2,000 characters": [text[at : at + 2000] for at in range(0, len(text), 2000)],
        "lines": [line for line in text.split("\n") if line],
    }
    names = " | ".join(calls([], []))
    table = [f"| Tokenizer | Texts | {names} |", "|---" * (2 + len(calls([], []))) + "|"]
    print(*table, sep="\n")
    for name, path in FILES.items():
        file = options.data / "vocabs" / path
        ours, theirs = tokenizers.Tokenizer.from_file(file), peer.Tokenizer.from_file(str(file))
        for each in (ours, theirs):
            each.no_truncation()
            each.no_padding()
        for kind, texts in kinds.items():
            rows = [each.ids for each in theirs.encode_batch(texts)]
            timed = calls(texts, rows).values()
            ratios = [f"{compare(call, ours, theirs, options.rounds)[2]:.1f}x" for call in timed]
            table.append(f"| {name} | {kind} | {' | '.join(ratios)} |")
            print(table[-1], flush=True)
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(START)
        PAGE.write_text(before + START + "\n" + "\n".join(table) + "\n" + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
