"""Sweep over whole texts: split patterns, added tokens, and every way into and out of the tokenizer."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING

import regex

import bytepair as bp
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

SPECIALS = ("<|end|>", "<|end|>>", "<|")
ADDED = "<t>"

# A few of each class that some split pattern tells apart; the special tokens come whole and in parts.
CLASSES: dict[str, tuple[str, ...]] = {
    "upper": ("A", "S", "É", "Я", "ǅ"),
    "lower": ("a", "s", "t", "ll", "é", "я", "ſ", "ß", "ı"),
    "other letters": ("日", "ん", "ห", "한", "ʰ", "ª", "א"),
    "marks": ("\u0301", "\u0e31", "\u093f", "\ufe0f"),
    "numbers": ("1", "2345", "٣", "Ⅷ", "½", "²"),
    "spaces": (" ", "  ", "\t", "\u00a0", "\u3000", "\u2003", "\v", "\f", "\x1c", "\u180e"),
    "newlines": ("\n", "\r", "\r\n", "\n\n", "\u0085", "\u2028"),
    "contractions": ("'s", "'T", "'ll", "'Re", "'ſ", "’s", "'"),
    "punctuation": (".", "!?", "/", "//", "-", "_", "(", "。", "…", "$", "+", "\\"),
    "others": ("😀", "👩\u200d💻", "\u200b", "\ufeff", "\x00", "\x7f", "\U0010ffff", "\ue000", "\u0378"),
    "tokens": (*SPECIALS, ADDED, "end", "|>", "<", ">"),
}


@functools.cache
def tokenizer(split: str) -> bp.Tokenizer:
    """A tokenizer of some merges within and across the bytes of characters, with added tokens of both kinds."""
    text = "".join(one + two for atoms in CLASSES.values() for one in atoms for two in ("", "a", " ", "1", one))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        spec = bp.train([text.encode()], 450, split=split, special_tokens=SPECIALS).spec
    added = bp.AddedToken(ADDED, len(spec.byte_pair.tokens) + len(SPECIALS), special=False)
    return bp.Tokenizer(spec.replace(added_tokens=(*spec.added_tokens, added)))


def random_text(random: random.Random) -> str:
    """A text from a few of the classes, so that runs and repetitions are as likely as changes."""
    classes = random.sample(list(CLASSES), random.randint(1, 4))
    atoms = [atom for name in classes for atom in random.sample(CLASSES[name], min(3, len(CLASSES[name])))]
    longest = 400 if random.random() < 0.03 else 25
    return "".join(random.choices(atoms, k=random.randint(0, longest)))


def sweep_texts(random: random.Random) -> None:
    """All calls agree with each other, and the pieces with what the regex package finds."""
    split = random.choice(list(bp.SPLIT_PATTERNS))
    tok = tokenizer(split)
    text, other = random_text(random), random_text(random)
    with case(split=split, text=text, other=other):
        check_pieces(tok, split, text)
        check_calls(tok, [text, other, "", text + other])
        check_special(tok, text, other)
        check_decoding(tok, tok.encode(text, special="allow"))
        longer = text + other + text
        check_counting(tok, longer, *sorted(random.choices(range(len(longer) + 1), k=2)))
        ids = random.choices(range(tok.vocab_size), k=random.randint(0, 20))
    with case(split=split, ids=ids):
        check_decoding(tok, ids)


def check_pieces(tok: bp.Tokenizer, split: str, text: str) -> None:
    """The pieces are those that the regex package finds."""
    pattern = bp.SPLIT_PATTERNS[split]
    found = regex.findall(pattern, text) if pattern else [text] if text else []
    pieces = tok.pieces(text, special="text", added="text")
    equal("pieces", pieces, found)
    equal("the text of the pieces", "".join(pieces), text)


def check_calls(tok: bp.Tokenizer, texts: list[str]) -> None:
    """Lists, arrays, counts and batches of any number of threads say the same."""
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


def check_counting(tok: bp.Tokenizer, text: str, start: int, end: int) -> None:
    """An interval, and a count that stops at a limit, are what encoding says."""
    count = tok.count(text[start:end], special="allow")
    equal("the interval's count", tok.index(text, special="allow").count(start, end), count)
    part = text[start:end]
    for limit in {0, count // 2, max(count - 1, 0), count}:
        equal("count_until", tok.count_until(part, limit, special="allow"), count if count <= limit else None)


def check_special(tok: bp.Tokenizer, text: str, other: str) -> None:
    """Text becomes special tokens only where the call says so, and then as plain search finds them."""
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
    """A stream gives the text of its ids, and bytes may be joined anywhere."""
    stream = tok.decode_stream()
    equal("the stream", "".join([*map(stream.push, ids), stream.finish()]), tok.decode(ids))
    data = b"".join(map(tok.token_bytes, ids))
    equal("decode_bytes", tok.decode_bytes(ids), data)
    equal("decode", tok.decode(ids), data.decode(errors="replace"))
    half = len(ids) // 2
    equal("decode_bytes in two parts", tok.decode_bytes(ids[:half]) + tok.decode_bytes(ids[half:]), data)
