"""Sweep over chunks: the core's chunks of a text, whole, in a batch and as a stream, against the slow oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._core import places
from bytepair.chunk.chunks import KINDS
from bytepair.errors import EncodeError, LimitError, SpecialTokenError
from bytepair.reference import chunking as slow
from fuzz import counted
from fuzz.case import case, equal
from fuzz.counted import Failure, counting_text, outcome, random_options, some_texts
from fuzz.variants import ADDED, SPECIALS

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    import bytepair as bp
    from fuzz.counted import Counted

ATOMS = (
    *("word", "Word", "it's", "a", "3.14", "日本語", "한국어", "né", "👩\u200d💻", "e\u0301", "ß"),
    *(" ", " ", " ", "  ", "\t", "\u00a0", ". ", ". ", "! ", "? ", "。", ".)", ', "', "...", "etc. "),
    *("\n", "\n", "\n\n", "\r\n", "\r", "\u2028", " \n\n", "# ", "## T\n", "\n```\n", "~~~", "   # x\n", "#no\n"),
    *(SPECIALS[0], ADDED),
)


ROUNDS = 4
"""How often a text is cut, with other options, while each part of it is counted once."""

MOST = 120
"""The most characters of a text: the oracle counts each part of it."""


def text_with_places(random: random.Random, contents: Sequence[str] = ()) -> str:
    """A text of sentences, lines and headings, or of anything, with the contents of added tokens."""
    if random.random() < 0.4:
        return counting_text(random, contents, MOST)
    atoms = [*random.sample(ATOMS, random.randint(1, len(ATOMS))), *contents]
    return "".join(random.choices(atoms, k=random.randint(0, 40)))


def kinds_of(text: str, boundary: str) -> list[list[int]]:
    """The places of each kind from a boundary on, by the slow definitions if there are any."""
    found = {
        "markdown": slow.markdown_places(text),
        "paragraph": slow.paragraph_places(text),
        "line": slow.line_places(text),
        "sentence": places(text, "sentence"),
        "word": places(text, "word"),
    }
    return [found[kind] for kind in KINDS[KINDS.index(boundary) : -1]]


def sweep_chunks(random: random.Random) -> None:
    """Chunks are those of the oracle, for every boundary and overlap, however the text is split into parts."""
    some_texts(chunking, random)


def chunking(random: random.Random, drawn: Counted) -> None:
    """The chunks of a text."""
    options, text = random_options(random, drawn), text_with_places(random, drawn.contents)
    known: dict[str, int] = {}
    for _ in range(ROUNDS):
        boundary, limit = random.choice([*KINDS, "given"]), random.choice([1, 2, 3, 4, 6, 8, 12, 20, 40])
        overlap = random.choice([0, 0, *range(limit)])
        given = sorted(random.sample(range(len(text) + 1), random.randint(0, min(len(text), 5))))
        asked = {"limit": limit, "overlap": overlap, "boundary": boundary, "given": given, "options": options}
        with case(tok=drawn.said, text=text, **asked):
            check_chunks(drawn.tok, text, random, known=known, **asked)


def check_chunks(
    tok: bp.Tokenizer,
    text: str,
    random: random.Random,
    *,
    limit: int,
    overlap: int,
    boundary: str,
    given: list[int],
    options: Mapping[str, Any] | None = None,
    known: dict[str, int] | None = None,
) -> None:
    """The chunks of a text are those of the oracle, or both find the same character to exceed the limit."""
    called = {"special": "allow"} if options is None else dict(options)
    kinds = kinds_of(text, "line" if boundary == "given" else boundary)
    asked: dict[str, Any] = {**called, "overlap": overlap}
    asked["boundary"] = (lambda _: given) if boundary == "given" else boundary
    counts = {} if known is None else known

    def count(part: str) -> int:
        if part not in counts:
            counts[part] = tok.count(part, **called)
        return counts[part]

    chunks = outcome(lambda: [tuple(chunk) for chunk in tok.chunks(text, limit, **asked)])
    whole = outcome(lambda: tok.count(text, **called))
    if isinstance(whole, Failure):
        # Of several errors in a text, they find another one first; a character may also exceed the limit.
        equal("whether chunks raise as well", isinstance(chunks, Failure), True)
        return
    try:
        expected = slow.chunks(text, limit, count, [given, *kinds] if boundary == "given" else kinds, overlap)
    except LimitError as error:
        byte = len(text[: error.character].encode())
        found = (chunks.kind, chunks.character, chunks.byte) if isinstance(chunks, Failure) else chunks
        equal("the place of the error", found, ("LimitError", error.character, byte))
        return
    except (EncodeError, SpecialTokenError):
        # A part of the text, which need not be read, has an error that the whole has not.
        if not isinstance(chunks, Failure):
            check_cover(text, chunks, limit, overlap, count)
        return
    if counted.finds_longest(tok, text):
        equal("the chunks", chunks, expected)
    if isinstance(chunks, Failure):
        raise TypeError(f"the chunks are {chunks}, not {expected}")
    check_cover(text, chunks, limit, overlap, count)
    if boundary == "given":
        sizes = [len(text[:place].encode()) for place in range(len(text) + 1)]
        in_bytes = [(sizes[start], sizes[end], tokens) for start, end, tokens in chunks]
        asked["boundary"] = lambda _: [sizes[place] for place in given]
        equal("the chunks of bytes", tok.chunks(text.encode(), limit, **asked), in_bytes)
    else:
        check_ways(tok, text, random, chunks, {**asked, "limit": limit})


def check_cover(text: str, chunks: list[tuple[int, ...]], limit: int, overlap: int, count: Any) -> None:
    """Chunks cover a text in order; each alone has the tokens that it says, and shares no more than it may."""
    before, last = 0, -1
    for start, end, tokens in chunks:
        equal("tokens of a chunk", tokens, count(text[start:end]))
        equal(f"whether {tokens} tokens fit into {limit}", tokens <= limit, True)
        equal(f"whether {start}-{end} follows {last}-{before}", last < start <= before < end, True)
        if start < before:
            equal("whether what is shared fits", count(text[start:before]) <= overlap, True)
        last, before = start, end
    equal("the end of the last chunk", before, len(text))


def check_ways(
    tok: bp.Tokenizer, text: str, random: random.Random, chunks: list[tuple[int, ...]], asked: Mapping[str, Any]
) -> None:
    """The chunks of a text are the same from bytes, in a batch, and in parts."""
    data, sizes = text.encode(), [len(text[:place].encode()) for place in range(len(text) + 1)]
    in_bytes = [(sizes[start], sizes[end], tokens) for start, end, tokens in chunks]
    equal("the chunks of bytes", tok.chunks(data, **asked), in_bytes)
    batch = tok.chunks_batch([text, "", data, text], threads=random.randint(1, 3), **asked)
    equal("the batch", batch, [chunks, [], in_bytes, chunks])
    with_texts = [(chunk, text[chunk[0] : chunk[1]]) for chunk in chunks]
    equal("the stream", [*tok.chunk_parts(parts_of(random, text), **asked)], with_texts)
    streamed = tok.chunk_parts(parts_of(random, data), **asked)
    equal("the stream of bytes", [chunk for chunk, _ in streamed], in_bytes)


def parts_of(random: random.Random, text: Any) -> Any:
    """A text in parts of any length, including empty ones."""
    ends = sorted(random.choices(range(len(text) + 1), k=random.randint(0, 6)))
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
