"""Conversations to a packed data set: from JSON lines to arrays for training.

    python examples/finetune.py --out dataset
    python examples/finetune.py chats.jsonl --model my-model --template my-model --pad-token '<pad>' --out dataset

Each line is an object with ``messages`` and optionally ``tools``. Without ``--model`` a tiny tokenizer is trained on
the conversations next to this file, so that the example runs anywhere.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import bytepair as bp
from bytepair import files
from bytepair.chat import Template, pack
from bytepair.drawing.characters import show_line
from bytepair.view import chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.chat import ChatExample, ExampleRows

HERE = Path(__file__).parent
CONVERSATIONS = HERE / "conversations.jsonl"
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
ARRAYS = ("input_ids", "labels", "position_ids", "segment_ids")


class Conversation(NamedTuple):
    """A line of the file.

    Attributes:
        line: The number of the line, from 1.
        messages: The messages.
        tools: The tools that the model may call; None if there are none.
    """

    line: int
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the example; return 0 if the data set was written, 1 for an error in the input."""
    options = parse(arguments)
    try:
        run(options)
    except bp.BytepairError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Conversations to a packed data set.")
    parser.add_argument("conversations", nargs="?", type=Path, default=CONVERSATIONS)
    parser.add_argument("--model", help="a tokenizer: a file or folder; default: a tiny one")
    parser.add_argument(
        "--template", default=str(HERE / "chat.jinja"), help="a file, a folder, or a name such as chatml"
    )
    parser.add_argument("--pad-token", default="<|endoftext|>", help="the padding token")
    parser.add_argument("--length", type=whole, default=512, help="tokens in a row")
    parser.add_argument("--too-long", choices=["raise", "truncate", "drop"], default="raise")
    parser.add_argument("--policy", choices=["reject", "text", "escape"], default="reject")
    parser.add_argument("--picture", type=int, default=None, metavar="LINE", help="the line to draw")
    parser.add_argument("--out", type=Path, required=True, help="the output folder")
    return parser.parse_args(arguments)


def whole(value: str) -> int:
    """Parse an int of at least 1; argparse names the option."""
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"{value!r} is not an int of at least 1")
    return int(value)


def run(options: argparse.Namespace) -> None:
    """Read, encode, pack, write and count."""
    conversations = list(read(options.conversations))
    tok = load(options.model)
    template = Template.named(options.template) if is_name(options.template) else Template.read(options.template)
    pad_id = find_pad_token(tok, options.pad_token)
    examples = [encode(tok, template, conversation, options) for conversation in conversations]
    try:
        packed = pack(examples, options.length, pad_id=pad_id, too_long=options.too_long)
    except bp.LimitError as error:
        # `pack` counts examples; report the line of the file.
        if error.row is not None:
            error.line, error.row = conversations[error.row].line, None
        raise
    drawn = choose(conversations, options)
    about = describe(tok, template, packed, conversations, pad_id)
    contents = {f"{name}.npy": to_bytes(getattr(packed, name)) for name in ARRAYS}
    contents["example.html"] = chat.html(examples[drawn], tok, title=f"Line {conversations[drawn].line}").encode()
    # The last file marks a complete data set.
    contents["dataset.json"] = (json.dumps(about, indent=1) + "\n").encode()
    files.write_all(options.out, contents, retired="dataset.json")
    report(examples, packed, conversations, options.out)


def read(path: Path) -> Iterator[Conversation]:
    """Read the conversations of a file of JSON lines; empty lines are skipped."""
    for line, data in enumerate(files.read(path).split(b"\n"), 1):
        if data.strip():
            yield parse_line(data, path, line)


def parse_line(data: bytes, path: Path, line: int) -> Conversation:
    """Parse a conversation; errors name the line and the message."""
    at: dict[str, Any] = {"file": str(path), "line": line}
    try:
        # json.loads would guess another encoding than UTF-8.
        parsed = json.loads(data.decode())
    except UnicodeDecodeError as error:
        raise bp.FormatError(f"the line is not UTF-8: {error.reason}", byte=error.start, **at) from error
    except ValueError as error:
        raise bp.FormatError(f"the line is not JSON: {error}", **at) from error
    if not isinstance(parsed, dict) or not isinstance(parsed.get("messages"), list) or not parsed["messages"]:
        raise bp.FormatError(
            "the line is not a conversation", remedy='write {"messages": [{"role": "user", "content": "Hi"}]}', **at
        )
    for number, message in enumerate(parsed["messages"]):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise bp.FormatError(f"message {number} has no role", pointer=f"/messages/{number}", **at)
    tools = parsed.get("tools")
    if tools is not None and not (isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)):
        raise bp.FormatError("tools are not a list of JSON schemas", pointer="/tools", **at)
    return Conversation(line, parsed["messages"], tools)


def load(model: str | None) -> bp.Tokenizer:
    """Load the requested tokenizer, or train a tiny one on the conversations next to this file."""
    if model is not None:
        return bp.Tokenizer.from_file(model)
    spoken = (message["content"] for conversation in read(CONVERSATIONS) for message in conversation.messages)
    return bp.train(spoken, 256 + 128 + len(SPECIAL_TOKENS), split="cl100k", special_tokens=SPECIAL_TOKENS)


def find_pad_token(tok: bp.Tokenizer, token: str) -> int:
    """The id of the padding token."""
    try:
        return tok.token_id(token)
    except bp.BytepairError as error:
        known = ", ".join(list(tok.special_tokens)[:20]) or "none"
        error.remedy = f"name another with --pad-token; special tokens are {known}"
        raise


def is_name(template: str) -> bool:
    """Whether a template is given by name rather than by path; the name may be unknown."""
    path = Path(template)
    return not path.exists() and path.name == template and not path.suffix


def encode(
    tok: bp.Tokenizer, template: Template, conversation: Conversation, options: argparse.Namespace
) -> ChatExample:
    """Encode a conversation; errors name the line and, if possible, the message."""
    try:
        return tok.encode_chat(
            conversation.messages, template, tools=conversation.tools, train_on="assistant", policy=options.policy
        )
    except bp.BytepairError as error:
        error.file, error.line = str(options.conversations), conversation.line
        raise


def choose(conversations: Sequence[Conversation], options: argparse.Namespace) -> int:
    """The conversation to draw: that of the requested line, else the first with tools, or the first."""
    lines = [conversation.line for conversation in conversations]
    if not lines:
        raise bp.FormatError("there is no conversation", file=str(options.conversations))
    if options.picture is None:
        return next((number for number, conversation in enumerate(conversations) if conversation.tools), 0)
    if options.picture not in lines:
        raise bp.FormatError(
            "there is no conversation to draw",
            file=str(options.conversations),
            line=options.picture,
            remedy="name the line of one, from 1, or leave --picture out",
        )
    return lines.index(options.picture)


def to_bytes(array: np.ndarray[Any, Any]) -> bytes:
    """An array as a numpy file, in 32 bits, which are enough for every id."""
    data = io.BytesIO()
    np.save(data, array.astype(np.int32), allow_pickle=False)
    return data.getvalue()


def describe(
    tok: bp.Tokenizer, template: Template, packed: ExampleRows, conversations: Sequence[Conversation], pad_id: int
) -> dict[str, Any]:
    """The description of the files, and the position of each line."""
    return {
        "arrays": {name: {"dtype": "int32", "shape": list(packed.input_ids.shape)} for name in ARRAYS},
        "tokenizer": tok.fingerprint,
        "template": template.hash,
        "pad_id": pad_id,
        "fill": packed.fill,
        "rows": [
            {"line": conversations[placed.example].line, "row": placed.row, "start": placed.start, "end": placed.end}
            for placed in packed.examples
        ],
        "dropped_lines": [conversations[number].line for number in packed.dropped],
        "truncated_lines": [conversations[number].line for number in packed.truncated],
        "untrained_lines": [conversations[number].line for number in packed.untrained],
    }


def report(
    examples: Sequence[ChatExample], packed: ExampleRows, conversations: Sequence[Conversation], folder: Path
) -> None:
    """Print the counts."""
    tokens = sum(len(example.input_ids) for example in examples)
    trained = sum(int((example.labels >= 0).sum()) for example in examples)
    rows, length = packed.input_ids.shape
    # A misspelled role is not trained on, and shows up here.
    roles = Counter(message["role"] for conversation in conversations for message in conversation.messages)
    print(f"{len(examples)} conversations, {tokens} tokens, {trained} of them trained")
    print(f"messages: {', '.join(f'{count} {show_line(role)}' for role, count in roles.most_common())}")
    print(f"{rows} rows of {length} tokens, {packed.fill:.1%} full")
    for what in ("dropped", "truncated", "untrained"):
        if numbers := getattr(packed, what):
            print(f"{what}: lines {', '.join(str(conversations[number].line) for number in numbers)}")
    print(f"written to {folder}: {', '.join(f'{name}.npy' for name in ARRAYS)}, dataset.json, example.html")


if __name__ == "__main__":
    sys.exit(main())
