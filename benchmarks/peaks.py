"""The peak memory of each call as a multiple of its input: ``python -m benchmarks.peaks [--megabytes 40] [--write]``.

Each call runs in a process of its own, which makes its input, notes its memory, and calls. Counted is by how much the
process grows at most (``VmHWM``), result included; the input, a text, texts or ids, is not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "docs" / "reliability.md"
MARKS = "<!-- peaks -->\n", "<!-- end of the peaks -->"

CODE = r"""
import re, sys
import numpy as np
import bytepair as bp
from bytepair import lowlevel
sys.path.insert(0, sys.argv[4])

kind, name, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
counts = {"low low": 5, "lower": 3, "slowest": 2}
# Words as often as in English, none as often as the next, so that pieces are known and differ.
words = [" " + "".join("aeiounrstl"[(n * 7 + k * k + n // 10) % 10] for k in range(2 + n % 7)) for n in range(4000)]
block = "".join(words[(n * n + 3 * n) % (1 + n % 4000)] for n in range(40_000))
text = (block * (megabytes * 2**20 // len(block) + 1))[: megabytes * 2**20]
if kind == "BPE":
    tok = bp.train(iter([block]), vocab_size=2000, split="gpt2")
elif kind == "Unigram":
    tok = bp.train_unigram(iter([block]), vocab_size=500)
else:
    tok = bp.train_wordpiece(iter([block]), vocab_size=500)
tok.encode(block)
# Messages and parts as large as documents are.
documents = [text[at : at + 4000] for at in range(0, len(text), 4000)]
units = len(text)
if name.startswith("decode"):
    array = tok.encode_array(text)
    given = array if name == "decode of an array" else array.tolist()
    units = len(tok.decode(array))
calls = {
    "encode to a list": lambda: tok.encode(text),
    "encode_array": lambda: tok.encode_array(text),
    "count": lambda: tok.count(text),
    "decode": lambda: tok.decode(given),
    "decode of an array": lambda: tok.decode(given),
    "offsets": lambda: tok.offsets(text),
    "encode_batch": lambda: tok.encode_batch(documents),
    "encode_batch_array": lambda: tok.encode_batch_array(documents),
    "tok(...)": lambda: tok(documents)["input_ids"],
    "encode_chat": lambda: tok.encode_chat(CHAT, TEMPLATE, train_on=None, policy="text", limits=LIMITS),
    "chunks": lambda: tok.chunks(text, 500),
    "chunk_parts": lambda: sum(1 for chunk in tok.chunk_parts(iter(documents), 500)),
    "train": lambda: bp.train(iter(documents), vocab_size=2000, split="gpt2"),
}
CHAT = [{"role": "user", "content": text}]
LIMITS = bp.chat.Limits(seconds=60, output=1 << 30, memory=1 << 30, messages=1 << 30)
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"

def memory(field):
    with open("/proc/self/status") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read())[1]) * 1024

with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = memory("VmRSS")
result = calls[name]()
print((memory("VmHWM") - before) / units)
"""

CALLS = (
    "encode to a list", "encode_array", "count", "decode", "decode of an array", "offsets", "encode_batch",
    "encode_batch_array", "tok(...)", "encode_chat", "chunks", "chunk_parts", "train",
)  # fmt: skip
KINDS = ("BPE", "Unigram", "WordPiece")


def measure(kind: str, call: str, megabytes: int) -> float:
    """Bytes of memory for each byte of text."""
    arguments = [kind, call, str(megabytes), str(Path(__file__).parent.parent)]
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=20, help="the text")
    parser.add_argument("--only", default="", help="calls whose name contains this")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    options = parser.parse_args()
    lines = [f"| Call | {' | '.join(KINDS)} |", "|---|" + "---|" * len(KINDS)]
    for call in CALLS:
        if options.only in call:
            found = [measure(kind, call, options.megabytes) for kind in KINDS]
            lines.append(f"| {call} | " + " | ".join(f"{got:.1f}" for got in found) + " |")
            print(lines[-1], flush=True)
    if options.write:
        before, rest = DOCUMENT.read_text("utf-8").split(MARKS[0])
        table = f"Of a text of {options.megabytes} MiB:\n\n" + "\n".join(lines) + "\n"
        DOCUMENT.write_text(before + MARKS[0] + "\n" + table + "\n" + MARKS[1] + rest.split(MARKS[1])[1], "utf-8")


if __name__ == "__main__":
    main()
