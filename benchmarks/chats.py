"""Chats with real templates and vocabularies, compared with transformers, in one run.

    python -m benchmarks.chats [--data FOLDER] [--characters N] [--rounds N] [--write]

Conversations of ten turns are cut from real text. *text* is the rendering alone; bytepair also tracks the origin of
each character. *ids* is rendering and ids; bytepair also applies the policy and returns labels and offsets. *masks* is
ids and the trained spans, which transformers reports for templates with generation blocks. Texts, ids and masks are
compared before anything is timed. A ratio is transformers' CPU time divided by bytepair's, the median of rounds in
which the two alternate: above 1 bytepair is faster.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import pages
from benchmarks.families_speed import ROOT, TEXTS, Ratio, turns
from bytepair.formats import configs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAMILIES = {"Llama 3": "llama3", "Qwen 2": "qwen2", "Qwen 3": "qwen3", "DeepSeek V3": "deepseek"}
TURN, TURNS = 600, 10
HEAD = "| Template | ms a conversation | text | ids | masks |\n|---|---|---|---|---|"


def conversations(texts: list[str]) -> list[list[dict[str, str]]]:
    """Conversations of turns of equal length, without text that looks like a control token."""
    roles = ("user", "assistant")
    found = []
    for text in texts:
        plain = text.replace("<|", "< |").replace("</", "< /")
        for start in range(0, len(plain) - TURN * TURNS, TURN * TURNS):
            parts = [plain[start + TURN * turn :][:TURN].strip() for turn in range(TURNS)]
            found.append([{"role": roles[row % 2], "content": part} for row, part in enumerate(parts)])
    return found


def load(data: Path, name: str, folder: Path) -> tuple[bp.Tokenizer, bp.chat.Template, Any]:
    """Load a family's tokenizer and template, in bytepair and in transformers."""
    from transformers import AutoTokenizer

    packed = (data / "vocabs" / name / "tokenizer.json.xz").read_bytes()
    (folder / "tokenizer.json").write_bytes(lzma.decompress(packed))
    (folder / configs.CONFIG).write_bytes((data / "vocabs" / name / configs.CONFIG).read_bytes())
    return bp.Tokenizer.from_file(folder), bp.chat.Template.read(folder), AutoTokenizer.from_pretrained(folder)


def measure(data: Path, chats: list[list[dict[str, str]]], name: str, rounds: int) -> dict[str, Ratio]:
    """Measure the ratios of one family."""
    with tempfile.TemporaryDirectory() as work:
        tok, template, peer = load(data, name, Path(work))
    blocks = bp.chat.Template.named("chatml")
    more = {"tokenize": True, "return_dict": True}
    masks = {**more, "return_assistant_tokens_mask": True, "chat_template": blocks.source}

    def text(chat: Any) -> str:
        return bp.chat.render(chat, template).text

    def peer_text(chat: Any) -> str:
        rendered: str = peer.apply_chat_template(chat, tokenize=False)
        return rendered

    calls: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "text": (text, peer_text),
        "ids": (lambda chat: tok.encode_chat(chat, template), lambda chat: peer.apply_chat_template(chat, **more)),
        "masks": (lambda chat: tok.encode_chat(chat, blocks), lambda chat: peer.apply_chat_template(chat, **masks)),
    }
    for chat in chats:
        assert text(chat) == peer_text(chat), chat
        ours, theirs = (call(chat) for call in calls["ids"])
        assert ours.input_ids.tolist() == theirs["input_ids"], chat
        ours, theirs = (call(chat) for call in calls["masks"])
        assert ours.input_ids.tolist() == theirs["input_ids"], chat
        assert (ours.labels != -100).tolist() == [mask == 1 for mask in theirs["assistant_masks"]], chat

    def timed(ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> Ratio:
        each = [lambda _, call=call: [call(chat) for chat in chats] for call in (ours, theirs)]
        return turns(each[0], each[1], rounds, time.process_time)

    return {kind: timed(*both) for kind, both in calls.items()}


def lines(data: Path, chats: list[list[dict[str, str]]], rounds: int) -> Iterator[str]:
    """Format the table."""
    yield HEAD
    for family, name in FAMILIES.items():
        found = measure(data, chats, name, rounds)
        ratios = " | ".join(f"{ratio.ratio:.1f}x" for ratio in found.values())
        yield f"| {family} | {found['ids'].ours / len(chats) * 1e3:.2f} | {ratios} |"


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.chats")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--characters", type=int, default=200_000, help="characters of each text")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    files = [options.data / "corpora" / f"{stem}.txt" for stem in TEXTS.values()]
    chats = conversations([file.read_text("utf-8")[: options.characters] for file in files])
    table = []
    for line in lines(options.data, chats, options.rounds):
        print(line, flush=True)
        table.append(line)
    if options.write:
        pages.put("performance.md", "benchmarks.chats", "\n".join(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
