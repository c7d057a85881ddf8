"""Chat templates of a folder: rendered, trained on and checked, with random conversations; a table of what each does.

    python -m benchmarks.templates FOLDER [--conversations N] [--only NAME] [--write]

FOLDER has a folder for each collection, with templates as ``*.jinja``. The same template in two collections is one row.
The text of every conversation is compared with that of `transformers`. Each field of a conversation is a word of its
own, so the trained text shows whose words are in it: all that the answers say, and nothing that others say. Where a
template is also there as ``NAME_training.jinja``, with generation blocks and the same text, nothing outside of these
blocks may be trained.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import pages
from bytepair.errors import BytepairError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.chat import ChatExample

HEAD = (
    "| Template | Collections | Conversations | Takes | Reasoning | Earlier text | Prompt | End | Labels |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
VARIABLES: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
TAKES = ("a system message", "tools", "tool calls", "results", "reasoning", "parts")
_WORD = re.compile(r"zq\d+x")
_ANSWERS = ("assistant", "model")


@dataclass
class Found:
    """The findings about one template."""

    same: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)
    unlabelled: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    report: bp.chat.TemplateReport | None = None
    why: str = ""


def conversation(chooses: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    """Messages and tools; each string of them is a word that occurs once, but for the names of calls."""
    numbers = itertools.count()

    def word() -> str:
        return f"zq{next(numbers)}x"

    def content() -> Any:
        text = chooses.choice(["{}", "{}", "{}", " {} ", "{}\n", "\n\n{}"]).format(word())
        return [{"type": "text", "text": text}] if has_parts else text

    has_parts = chooses.random() < 0.15
    has_calls, has_thoughts = chooses.random() < 0.5, chooses.random() < 0.5
    arguments = chooses.choice(["object", "string"])
    tools = [_tool(word(), word()) for _ in range(2)] if has_calls else None
    messages: list[dict[str, Any]] = [{"role": "system", "content": content()}] if chooses.random() < 0.3 else []

    def answer(**fields: Any) -> None:
        thought = {"reasoning_content": word()} if has_thoughts and chooses.random() < 0.8 else {}
        messages.append({"role": "assistant", **thought, **fields})

    for _ in range(chooses.randint(1, 3)):
        messages.append({"role": "user", "content": content()})
        for _ in range(chooses.randint(0, 2) if tools else 0):
            known = [tool["function"]["name"] for tool in tools or ()]
            names = [name for name in known if chooses.random() < 0.6] or known[:1]
            calls: list[dict[str, Any]] = []
            for name in names:
                given = {"a": word()}
                text = f'{{"a": "{given["a"]}"}}' if arguments == "string" else given
                function = {"name": name, "arguments": text}
                calls.append(
                    {"id": f"call{len(messages)}{len(calls):04d}"[:9], "type": "function", "function": function}
                )
            answer(content=chooses.choice(["", word()]), tool_calls=calls)
            messages += [
                {"role": "tool", "name": call["function"]["name"], "tool_call_id": call["id"], "content": content()}
                for call in calls
            ]
        answer(content=content())
    return messages, tools


def _tool(name: str, description: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"a": {"type": "string", "description": "d"}}, "required": ["a"]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def words(value: Any) -> set[str]:
    """The words in messages or a text."""
    return set(_WORD.findall(str(value)))


def text_of_transformers(source: str, messages: list[Any], tools: Any, prompt: bool) -> str | None:
    """The rendering of `transformers`; None if the template refuses the conversation."""
    from transformers.utils.chat_template_utils import render_jinja_template

    renderer: Any = render_jinja_template
    try:
        texts, _ = renderer([messages], tools=tools, chat_template=source, add_generation_prompt=prompt, **VARIABLES)
    except Exception:  # whatever comes out of a template
        return None
    return str(texts[0])


def examine(source: str, blocks: str | None, conversations: int) -> Found:
    """Render, encode and check one template.

    Args:
        source: The template.
        blocks: The same template with generation blocks, or None.
        conversations: How many conversations there are.
    """
    tok = bp.train({"a": 1}, vocab_size=256)
    found = Found()
    try:
        template = bp.chat.Template(source, variables=VARIABLES)
        found.report = bp.chat.check(template, tok)
    except BytepairError as error:
        found.why = error.what
    for number in range(conversations):
        chooses = random.Random(f"templates/{number}")
        messages, tools = conversation(chooses)
        prompt = chooses.random() < 0.2
        expected = text_of_transformers(source, messages, tools, prompt)
        try:
            text = bp.chat.render(messages, template, tools=tools, add_generation_prompt=prompt).text
        except TemplateError as error:
            if expected is not None:
                found.faults.append(f"{number}: refused here alone: {error.what}")
            found.refused += 1
            continue
        if text != expected:
            found.faults.append(f"{number}: the text differs from that of transformers")
            continue
        found.same += 1
        try:
            example = tok.encode_chat(messages, template, tools=tools, add_generation_prompt=prompt)
        except TemplateError as error:
            found.unlabelled[re.sub(r"message \d+", "a message", error.what)] += 1
            continue
        found.labelled += 1
        found.ends.update(ends(example))
        found.faults += [f"{number}: {fault}" for fault in faults(example, messages)]
        if blocks is not None:
            found.faults += [f"{number}: {fault}" for fault in outside(example, messages, tools, blocks)]
    return found


def ends(example: ChatExample) -> Iterator[str]:
    """The marks that end turns."""
    for part in example.trained:
        if part.why == "end":
            yield example.text[part.start : part.end].strip()


def faults(example: ChatExample, messages: list[Any]) -> Iterator[str]:
    """Words of others that are trained, and words of answers that are written and not trained."""
    trained = words(" ".join(example.text[start:end] for start, end in example.intervals))
    own = words([message for message in messages if message["role"] in _ANSWERS])
    if trained - own:
        yield f"trained are words of others: {sorted(trained - own)}"
    # A template that writes the first call alone has the names of others in tools and results.
    named = words([message for message in messages if message["role"] == "tool"]) | words(example.options.tools)
    if missing := (own & words(example.text)) - trained - named:
        yield f"words of answers are not trained: {sorted(missing)}"


def outside(example: ChatExample, messages: list[Any], tools: Any, blocks: str) -> Iterator[str]:
    """Trained characters that the same template with generation blocks has outside of them."""
    marked = bp.chat.Template(blocks, variables=VARIABLES)
    prompt = example.options.add_generation_prompt
    try:
        rendered = bp.chat.render(messages, marked, tools=tools, add_generation_prompt=prompt)
    except TemplateError:
        return
    if rendered.text != example.text:
        return
    inside = {at for span in rendered.spans if span.generated for at in range(span.start, span.end)}
    left = [at for start, end in example.intervals for at in range(start, end) if at not in inside]
    if left:
        yield f"trained outside of generation blocks: {example.text[left[0] : left[-1] + 1][:60]!r}"


def row(name: str, collections: list[str], found: Found) -> str:
    """The row of one template."""
    findings = {} if found.report is None else {one.name: one.holds for one in found.report.findings}

    def answer(finding: str, yes: str, no: str) -> str:
        holds = findings.get(finding)
        return "" if holds is None else yes if holds else no

    takes = [what for what in TAKES if findings.get(f"takes {what}")]
    reasoning = answer("keeps reasoning", "all", "in part") if "reasoning" in takes else "not written"
    marks = " ".join(f"`{cell(mark)}`" for mark, _ in found.ends.most_common(3)) or ("none" if found.labelled else "")
    labels = ["supported"] if found.labelled else []
    if found.unlabelled:
        why = "; ".join(f"{cell(reason)} ({times})" for reason, times in found.unlabelled.most_common(2))
        labels.append(f"refused: {why}")
    if found.faults:
        labels.append(f"**{len(found.faults)} differ**: {cell(found.faults[0])}")
    if found.why:
        labels.append(f"`check` is refused: {cell(found.why)}")
    cells = [
        name,
        ", ".join(collections),
        f"{found.same}, {found.refused} refused",
        ", ".join(takes),
        reasoning if found.report else "",
        answer("keeps earlier text", "kept", "changed"),
        answer("repeats the prompt", "repeated", "not repeated"),
        marks,
        "; ".join(labels) or "every conversation is refused",
    ]
    return f"| {' | '.join(cells)} |"


def cell(text: str) -> str:
    """Text that a cell can hold."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|")[:120]


def main() -> int:
    """Examine the templates of a folder; the exit code is 1 if one differs."""
    parser = argparse.ArgumentParser(prog="benchmarks.templates")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--conversations", type=int, default=40)
    parser.add_argument("--only", default="", help="templates whose path contains this")
    parser.add_argument("--write", action="store_true", help="put the table into docs/chat-audit.md")
    options = parser.parse_args()
    sources: dict[str, list[Path]] = {}
    for path in sorted(options.folder.rglob("*.jinja")):
        if options.only in str(path):
            sources.setdefault(path.read_text("utf-8"), []).append(path)
    table = [HEAD]
    differ = 0
    print(HEAD)
    for source, paths in sorted(sources.items(), key=lambda item: item[1][0].stem.lower()):
        training = paths[0].with_name(f"{paths[0].stem}_training.jinja")
        blocks = training.read_text("utf-8") if training.is_file() else None
        found = examine(source, blocks, options.conversations)
        line = row(paths[0].stem, sorted({path.parent.name for path in paths}), found)
        print(line, *found.faults[:3], sep="\n    ", flush=True)
        table.append(line)
        differ += bool(found.faults)
    print(f"{len(sources)} templates, {differ} differ")
    if options.write:
        pages.put("chat-audit.md", "benchmarks.templates FOLDER", "\n".join(table))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
