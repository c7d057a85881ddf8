"""Sweep over chunks: what the core makes of a text, whole, in a batch and as a stream, against the slow oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair._core import places
from bytepair.chunk.chunks import KINDS
from bytepair.errors import LimitError
from bytepair.reference import chunking as slow
from fuzz.case import case, equal
from fuzz.texts import ADDED, SPECIALS, random_text, tokenizer

if TYPE_CHECKING:
    import random

ATOMS = (
    *("word", "Word", "it's", "a", "3.14", "日本語", "한국어", "né", "👩\u200d💻", "e\u0301", "ß"),
    *(" ", " ", " ", "  ", "\t", "\u00a0", ". ", ". ", "! ", "? ", "。", ".)", ', "', "...", "etc. "),
    *("\n", "\n", "\n\n", "\r\n", "\r", "\u2028", " \n\n", "# ", "## T\n", "\n```\n", "~~~", "   # x\n", "#no\n"),
    *(SPECIALS[0], ADDED),
)


def text_with_places(random: random.Random) -> str:
    """A text of sentences, lines and headings, or of anything."""
    if random.random() < 0.2:
        return random_text(random)
    atoms = random.sample(ATOMS, random.randint(1, len(ATOMS)))
    return "".join(random.choices(atoms, k=random.randint(0, 40)))


def kinds_of(text: str, boundary: str) -> list[list[int]]:
    """The places of each kind from a boundary on, by the slow definitions where there is one."""
    found = {
        "markdown": slow.markdown_places(text),
        "paragraph": slow.paragraph_places(text),
        "line": slow.line_places(text),
        "sentence": places(text, "sentence"),
        "word": places(text, "word"),
    }
    return [found[kind] for kind in KINDS[KINDS.index(boundary) : -1]]


def sweep_chunks(random: random.Random) -> None:
    """Chunks are those of the oracle, for every boundary and overlap, however the text comes."""
    split = random.choice(list(bp.SPLIT_PATTERNS))
    text, boundary = text_with_places(random), random.choice([*KINDS, "given"])
    limit = random.choice([1, 2, 3, 4, 6, 8, 12, 20, 40])
    overlap = random.choice([0, 0, *range(limit)])
    given = sorted(random.sample(range(len(text) + 1), random.randint(0, min(len(text), 5))))
    with case(split=split, text=text, limit=limit, overlap=overlap, boundary=boundary, given=given):
        check_chunks(tokenizer(split), text, random, limit=limit, overlap=overlap, boundary=boundary, given=given)


def check_chunks(
    tok: bp.Tokenizer,
    text: str,
    random: random.Random,
    *,
    limit: int,
    overlap: int,
    boundary: str,
    given: list[int],
) -> None:
    """The chunks of a text are those of the oracle, or the same character is too much for the limit."""
    options: dict[str, Any] = {"overlap": overlap, "special": "allow"}
    kinds = kinds_of(text, "line" if boundary == "given" else boundary)
    options["boundary"] = (lambda _: given) if boundary == "given" else boundary

    def count(part: str) -> int:
        return tok.count(part, special="allow")

    try:
        expected = slow.chunks(text, limit, count, [given, *kinds] if boundary == "given" else kinds, overlap)
    except LimitError as error:
        check_limit(tok, text, limit, options, error.character)
        return
    chunks = tok.chunks(text, limit, **options)
    equal("the chunks", [tuple(chunk) for chunk in chunks], expected)
    data = text.encode()
    sizes = [len(text[:place].encode()) for place in range(len(text) + 1)]
    if boundary == "given":
        options["boundary"] = lambda part: [sizes[place] for place in given] if isinstance(part, bytes) else given
    in_bytes = [(sizes[start], sizes[end], tokens) for start, end, tokens in expected]
    equal("the chunks of bytes", [tuple(chunk) for chunk in tok.chunks(data, limit, **options)], in_bytes)
    if boundary != "given":
        batch = tok.chunks_batch([text, "", data, text], limit, threads=random.randint(1, 3), **options)
        equal("the batch", batch, [expected, [], in_bytes, expected])
        equal(
            "the stream",
            list(tok.chunk_parts(parts_of(random, text), limit, **options)),
            [(chunk, text[chunk[0] : chunk[1]]) for chunk in expected],
        )
        equal(
            "the stream of bytes",
            [chunk for chunk, _ in tok.chunk_parts(parts_of(random, data), limit, **options)],
            in_bytes,
        )


def check_limit(tok: bp.Tokenizer, text: str, limit: int, options: dict[str, Any], character: int | None) -> None:
    """The core finds the same character to be too much."""
    raised: tuple[object, object]
    try:
        raised = (str(tok.chunks(text, limit, **options)), None)
    except LimitError as error:
        raised = (error.character, error.byte)
    equal("the place of the error", raised, (character, len(text[:character].encode())))


def parts_of(random: random.Random, text: Any) -> Any:
    """A text in parts of any length, which may be nothing."""
    ends = sorted(random.choices(range(len(text) + 1), k=random.randint(0, 6)))
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
