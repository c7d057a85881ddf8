"""Sweep over whole texts: split patterns, added tokens, every way into and out of the tokenizer, and counts in part."""

from __future__ import annotations

import functools
from random import Random
from typing import TYPE_CHECKING, Any

import regex

import bytepair as bp
from fuzz.case import case, equal
from fuzz.counted import Counted, Failure, counting_text, outcome, random_options, same, some_texts
from fuzz.variants import ADDED, random_text, tokenizer

if TYPE_CHECKING:
    import random

INTERVALS = 24
"""Random intervals of a text that are counted."""

LONG = 300_000
"""The characters of a text that several threads share."""


def sweep_texts(random: random.Random) -> None:
    """All calls agree, and pieces with the matches of the regex package; or counts of texts in part with encoding."""
    if random.random() < 0.5:
        some_texts(counting, random)
        return
    split = random.choice(list(bp.SPLIT_PATTERNS))
    tok = tokenizer(split)
    text, other = random_text(random), random_text(random)
    with case(split=split, text=text, other=other):
        check_pieces(tok, split, text)
        check_calls(tok, [text, other, "", text + other])
        check_special(tok, text, other)
        check_decoding(tok, tok.encode(text, special="allow"))
        ids = random.choices(range(tok.vocab_size), k=random.randint(0, 20))
    with case(split=split, ids=ids):
        check_decoding(tok, ids)


def counting(random: random.Random, drawn: Counted) -> None:
    """Counts of a text in part; now and then the ids of a long one on several threads."""
    options, text = random_options(random, drawn), counting_text(random, drawn.contents)
    if random.random() < 0.02:
        texts = [text, *(counting_text(random, drawn.contents) for _ in range(9))]
        with case(tok=drawn.said, options=options, texts=texts):
            check_threads(drawn.tok, texts, random, options)
        return
    with case(tok=drawn.said, options=options, text=text):
        check_counting(drawn.tok, text, random, options)


def check_pieces(tok: bp.Tokenizer, split: str, text: str) -> None:
    """The pieces are the matches of the regex package."""
    pattern = bp.SPLIT_PATTERNS[split]
    found = regex.findall(pattern, text) if pattern else [text] if text else []
    pieces = tok.pieces(text, special="text", added="text")
    equal("pieces", pieces, found)
    equal("the text of the pieces", "".join(pieces), text)


def check_calls(tok: bp.Tokenizer, texts: list[str]) -> None:
    """Lists, arrays, counts and batches agree for any number of threads."""
    rows = [tok.encode(text, special="allow") for text in texts]
    for text, ids in zip(texts, rows, strict=True):
        equal("decode", tok.decode(ids), text)
        equal("encode of bytes", tok.encode(text.encode(), special="allow"), ids)
        equal("encode of a list", tok.encode([text[:3], text[3:]], special="allow"), ids)
        equal("encode_array", tok.encode_array(text, special="allow").tolist(), ids)
        equal("count", tok.count(text, special="allow"), len(ids))
    for threads in (1, 2, 3, None):
        equal("encode_batch", tok.encode_batch(texts, special="allow", threads=threads), rows)
        flat = tok.encode_batch_array(texts, special="allow", threads=threads)
        equal("encode_batch_array", [row.tolist() for row in flat], rows)
        equal("count_batch", tok.count_batch(texts, special="allow", threads=threads), [*map(len, rows)])
    equal("decode_batch", tok.decode_batch(rows), texts)


def check_threads(tok: bp.Tokenizer, texts: list[str], random: random.Random, options: dict[str, Any]) -> None:
    """A long text, alone or in a batch, has the ids and the error of one thread, also in UTF-8."""
    seed, parts, length = random.randrange(1 << 32), list[str](), 0
    draw = Random(seed)
    while length < LONG:
        parts.append(draw.choice(texts) or "é")
        length += len(parts[-1])
    text = "".join(parts)
    expected = outcome(lambda: tok.encode(text, threads=1, **options))
    for given in (text, text.encode()):
        same(f"seed {seed}", outcome(functools.partial(tok.encode, given, threads=3, **options)), expected)
    batch = outcome(lambda: tok.encode_batch([texts[0], text], threads=3, **options))
    if isinstance(expected, Failure):
        equal("whether the batch raises", isinstance(batch, Failure), True)
    else:
        equal("the batch", batch, [tok.encode(texts[0], **options), expected])
        equal("the count", tok.count(text, threads=3, **options), len(expected))


def check_counting(tok: bp.Tokenizer, text: str, random: random.Random, options: dict[str, Any]) -> None:
    """Counts of intervals, and counts that stop at a limit, agree with encoding."""
    whole = outcome(lambda: tok.encode(text, **options))
    if isinstance(whole, Failure):
        same("the count", outcome(lambda: tok.count(text, **options)), whole)
        same("the index", outcome(lambda: tok.index(text, **options)), whole)
        return
    data, index = text.encode(), tok.index(text, **options)
    in_bytes = tok.index(data, **options)
    equal("the count", (tok.count(text, **options), index.count(), in_bytes.count()), (len(whole),) * 3)
    equal("the ids of the index", index.ids(), whole)
    places = range(len(text) + 1)
    intervals = [sorted(random.choices(places, k=2)) for _ in range(INTERVALS)]
    for start, end in [(0, len(text)), *intervals, *([at, min(at + 1, len(text))] for at, _ in intervals[:6])]:
        part = text[start:end]
        ids = outcome(functools.partial(tok.encode, part, **options))
        if isinstance(ids, Failure):
            found = outcome(functools.partial(index.count, start, end))
            equal("whether the interval raises", isinstance(found, Failure), True)
            continue
        count = len(ids)
        equal("count", tok.count(part, **options), count)
        equal(f"the interval {start}-{end}", index.count(start, end), count)
        equal(f"the ids of {start}-{end}", index.ids(start, end), ids)
        from_byte, to_byte = len(text[:start].encode()), len(text[:end].encode())
        equal(f"the interval of bytes {from_byte}-{to_byte}", in_bytes.count(from_byte, to_byte), count)
        for limit in {0, count // 2, max(count - 1, 0), count, count + 1}:
            until = tok.count_until(part, limit, **options)
            equal(f"count_until {limit} of {part!r}", until, count if count <= limit else None)


def check_special(tok: bp.Tokenizer, text: str, other: str) -> None:
    """Text becomes special tokens only where the call allows it, and then at the matches of a plain search."""
    ids_of = tok.special_tokens
    plain = tok.encode(text, special="text")
    equal("the special ids of plain text", set(plain) & set(ids_of.values()), set())
    for token, id in ids_of.items():
        parts = tok.encode([text, bp.Control(token), other], special="text")
        equal("encode with Control", parts, [*plain, id, *tok.encode(other, special="text")])
    tokens = {**ids_of, ADDED: tok.token_id(ADDED)}
    longest_first = sorted(tokens, key=len, reverse=True)
    parts_of_text = regex.split("(" + "|".join(map(regex.escape, longest_first)) + ")", text)
    expected = []
    for part in parts_of_text:
        expected += [tokens[part]] if part in tokens else tok.encode(part)
    equal('encode with special="allow"', tok.encode(text, special="allow"), expected)
    try:
        raised = tok.encode(text) is None
    except bp.SpecialTokenError:
        raised = True
    equal('whether special="raise" raises', raised, any(part in ids_of for part in parts_of_text))


def check_decoding(tok: bp.Tokenizer, ids: list[int]) -> None:
    """A stream returns the text of its ids, and bytes may be joined anywhere."""
    stream = tok.decode_stream()
    equal("the stream", "".join([*map(stream.push, ids), stream.finish()]), tok.decode(ids))
    data = b"".join(map(tok.token_bytes, ids))
    equal("decode_bytes", tok.decode_bytes(ids), data)
    equal("decode", tok.decode(ids), data.decode(errors="replace"))
    half = len(ids) // 2
    equal("decode_bytes in two parts", tok.decode_bytes(ids[:half]) + tok.decode_bytes(ids[half:]), data)
