"""Findings about the model: unreachable tokens and merges, bytes without a token, ids without one."""

from __future__ import annotations

import codecs
from itertools import islice
from typing import TYPE_CHECKING

from bytepair.check.lint.findings import Finding, quoted, some, tokens
from bytepair.check.lint.merging import merged
from bytepair.check.lint.scores import beaten
from bytepair.check.subject import looks_reserved
from bytepair.drawing.wording import agree, counted, plural
from bytepair.model import byte_alphabet
from bytepair.model.checks import BYTES_IN_TEXT
from bytepair.model.models import BytePair, Unigram, WordPiece
from bytepair.model.token_spelling import name_of_byte, tokens_of_merges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.check.subject import Subject

_MOST_CONTINUING = 3
_NOT_MADE = "Its row of the embedding is never trained, and text that spells it becomes other tokens."


def findings(subject: Subject, unmade: dict[int, bytes], dead: list[int]) -> Iterator[Finding]:
    """All findings about the model; `unmade` and `dead` are the results of `never`."""
    yield from _unreachable(subject, unmade)
    yield from _merges(subject, dead)
    yield from _bytes(subject)
    yield from _unknown(subject)
    yield from _not_text(subject)
    yield from _twice(subject)
    yield from _holes(subject)


def never(subject: Subject) -> tuple[dict[int, bytes], list[int]]:
    """Tokens, by id, that the model produces from no piece; and the rows of merges that never happen.

    The argument for models that merge is in `bytepair.check.lint.merging`, for Unigram in `bytepair.check.lint.scores`.
    WordPiece matches every token except those longer than the limit for words. Tokens that the model does
    not produce itself are left out. With `ignore_merges`, a token can still be a whole piece.
    """
    model = subject.spec.model
    dead: list[int] = []
    if isinstance(model, BytePair):
        # With ranks every token that is text is taken whole.
        only = (
            range(len(model.tokens))
            if model.merges is not None
            else [n for n, t in enumerate(model.tokens) if not _is_text(t)]
        )
        made = merged(model, only)
        lost = [place for place in only if not made.is_made[place]]
        if model.merges is not None:
            used = set(made.last.tolist())
            dead = [row for row in range(len(model.merges)) if row not in used]
    elif isinstance(model, Unigram):
        lost = beaten(subject.spec)
    elif isinstance(model, WordPiece):
        most, cut = model.max_input_chars_per_word, len(model.continuing_subword_prefix)
        lost = []
        for place, token in enumerate(model.tokens):
            text = token.decode()
            continues = text.startswith(model.continuing_subword_prefix)
            # One that continues a word has a character before it.
            if len(text) - cut + 1 > most if continues else len(text) > most:
                lost.append(place)
    else:
        lost = []
    unmade = {model.ids[place]: model.tokens[place] for place in lost}
    return {id: token for id, token in unmade.items() if not subject.is_aside(id, token)}, dead


def _unreachable(subject: Subject, unmade: dict[int, bytes]) -> Iterator[Finding]:
    model = subject.spec.model
    # Pieces are text, so a part of a character is never a whole piece.
    lost = {
        id: token
        for id, token in unmade.items()
        if not subject.takes_whole or (subject.spec.is_byte_level and not _is_text(token))
    }
    shown = {id: subject.shown(token) for id, token in lost.items()}
    reserved = {id: token for id, token in shown.items() if looks_reserved(token)}
    plain = {id: token for id, token in shown.items() if id not in reserved}
    how = {
        BytePair: "merging its bytes gives other tokens",
        Unigram: "other tokens spell it with a higher score",
        WordPiece: "longer than a word may be",
    }.get(type(model), "")
    if plain:
        yield Finding(
            "unreachable-token",
            "warning",
            f"{plural(len(plain), 'token')} {_never(len(plain))}: {how}",
            _NOT_MADE,
            "check that vocabulary and merges are of one training; a model that is trained already keeps such rows",
            file=subject.file,
            pointer=_pointer(subject, "vocab"),
            **tokens(plain.items()),
        )
    if reserved:
        yield Finding(
            "reserved-token",
            "note",
            f"{counted(len(reserved), 'token', 'is', 'are')} named like control tokens, and {_never(len(reserved))}",
            "Text that spells its name becomes other tokens; its id can only be put into ids by hand.",
            "to use one, make it an added token: tok.with_added_tokens; else leave it",
            file=subject.file,
            pointer=_pointer(subject, "vocab"),
            **tokens(reserved.items()),
        )


def _never(count: int) -> str:
    return agree(count, "never comes from text", "never come from text")


def _merges(subject: Subject, dead: list[int]) -> Iterator[Finding]:
    model = subject.spec.model
    if not dead or not isinstance(model, BytePair) or model.merges is None:
        return
    spelled = tokens_of_merges(model)
    shown = []
    for row in islice(dead, 5):
        left, right = (quoted(subject.shown(spelled[id]), 24) for id in model.merges[row])
        shown.append(f"merge {row}: {left} + {right}")
    yield Finding(
        "unreachable-merge",
        "note",
        f"{len(dead):,} of {plural(len(model.merges), 'merge')} never {agree(len(dead), 'happens', 'happen')}: "
        "lower ones leave other pairs",
        "They use space in the file and in memory and change no ids. Merge lists made from ranks have many.",
        "leave them; a trained merge list has none, so this one was edited or assembled",
        file=subject.file,
        pointer=_pointer(subject, "merges") + (f"/{dead[0]}" if subject.table is not None else ""),
        count=len(dead),
        examples=tuple(shown),
    )


def _bytes(subject: Subject) -> Iterator[Finding]:
    """Bytes of UTF-8 without a token, spelled as bytes, as characters or by name."""
    model = subject.spec.model
    known = set(model.tokens)
    if subject.spec.is_byte_level:
        missing = sorted(byte for byte in BYTES_IN_TEXT if bytes([byte]) not in known)
        harm = "Text that needs one of them raises EncodeError."
    elif isinstance(model, BytePair) and model.alphabet and subject.uses_byte_alphabet and not subject.falls_back:
        suffix = model.alphabet.end_of_word_suffix or ""
        missing = sorted(
            byte
            for byte in BYTES_IN_TEXT
            if any((byte_alphabet.to_characters(bytes([byte])) + end).encode() not in known for end in {"", suffix})
        )
        harm = "Text that needs one of them " + ("becomes unknown." if model.alphabet.unk_token else "loses it.")
    elif subject.falls_back:
        missing = [byte for byte in range(256) if name_of_byte(byte).encode() not in known]
        if missing:
            yield Finding(
                "byte-fallback-incomplete",
                "warning",
                f"byte_fallback is on, and {counted(len(missing), 'byte', 'has', 'have')} no token <0x..>",
                "Characters that are no token and need one of these bytes become unknown, or vanish.",
                "add the tokens that are missing, or switch byte_fallback off",
                file=subject.file,
                pointer=_pointer(subject, "byte_fallback"),
                **some(name_of_byte(byte) for byte in missing),
            )
        return
    else:
        return
    if missing:
        yield Finding(
            "missing-bytes",
            "warning" if subject.is_partial else "error",
            f"{plural(len(missing), 'byte')} of UTF-8 {agree(len(missing), 'has', 'have')} no token",
            harm,
            "is the file whole? Fetch it again; in training, begin with all 256 bytes",
            file=subject.file,
            pointer=_pointer(subject, "vocab"),
            **some(f"0x{byte:02X}" for byte in missing),
        )


def _unknown(subject: Subject) -> Iterator[Finding]:
    model = subject.spec.model
    if subject.spec.is_byte_level or subject.unknown_ids or subject.falls_back or subject.uses_byte_alphabet:
        return
    if isinstance(model, BytePair | Unigram):
        does = "vanish" if isinstance(model, BytePair) else "raise an error"
        yield Finding(
            "unknown-missing",
            "warning",
            "there is no unknown token, and no byte_fallback",
            f"Characters that are no token {does}.",
            "name an unk_token that is in the vocabulary, or add tokens <0x00> to <0xFF> and switch byte_fallback on",
            file=subject.file,
            pointer=_pointer(subject, "unk_id" if isinstance(model, Unigram) else "unk_token"),
        )


def _not_text(subject: Subject) -> Iterator[Finding]:
    if not subject.spec.is_byte_level:
        return
    model = subject.spec.model
    broken = [
        (id, token)
        for token, id in zip(model.tokens, model.ids, strict=True)
        if len(token) > 1 and not token.isascii() and not subject.is_aside(id, token) and not is_part_of_text(token)
    ]
    if broken:
        yield Finding(
            "not-utf8-token",
            "note",
            f"{counted(len(broken), 'token', 'holds', 'hold')} bytes that no text in UTF-8 has in this order",
            "Only invalid UTF-8 could become it, and that is refused: the row is unused.",
            "train on valid UTF-8; a model that is trained already keeps such rows",
            file=subject.file,
            **tokens(broken),
        )


def is_part_of_text(token: bytes) -> bool:
    r"""Whether valid UTF-8 can hold these bytes in a row, characters at both ends cut or not.

    Example:
        >>> is_part_of_text(b"\x9f\x98 a\xe2\x82"), is_part_of_text(b"\xe2a"), is_part_of_text(b"\xed\xa0")
        (True, False, False)
    """
    start = 0
    while start < len(token) and start < _MOST_CONTINUING and 0x80 <= token[start] < 0xC0:
        start += 1
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        decoder.decode(token[start:])
    except UnicodeDecodeError:
        return False
    # With a character cut off, the decoder waits for its end before it refuses half a surrogate pair.
    cut = decoder.getstate()[0]
    return not (cut[:1] == b"\xed" and cut[1:2] >= b"\xa0")


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def _twice(subject: Subject) -> Iterator[Finding]:
    """Added tokens that are spelled like a token of the model with another id."""
    model = subject.spec.model
    id_of = dict(zip(model.tokens, model.ids, strict=True))
    twice = []
    for token in subject.spec.added_tokens:
        other = id_of.get(token.content.encode())
        if other is not None and other != token.id:
            twice.append((token.id, token.content, other))
    if twice:
        yield Finding(
            "duplicate-token",
            "warning",
            f"{counted(len(twice), 'added token', 'is', 'are')} spelled like a token of the model with another id",
            "The same text has two ids: the result depends on whether added tokens are matched.",
            "give the added token the id of the model's token, or remove one of them",
            file=subject.file,
            pointer="/added_tokens" if subject.table is not None else "",
            count=len(twice),
            examples=tuple(f"{quoted(text)}: {id} and {other}" for id, text, other in twice[:5]),
            ids=tuple(id for id, _, _ in twice[:5]),
        )


def _holes(subject: Subject) -> Iterator[Finding]:
    used = sorted({*subject.spec.model.ids, *subject.added})
    size = subject.tokenizer.vocab_size
    holes = size - len(used)
    if not holes:
        return
    known = set(used)
    first = list(islice((id for id in range(size) if id not in known), 5))
    yield Finding(
        "id-holes",
        "note",
        f"{plural(holes, 'id')} below {size:,} {agree(holes, 'has', 'have')} no token",
        "The embedding has rows for them that no text uses; decoding one of them raises.",
        "leave them where a model has been trained with these ids; else number the tokens without holes",
        file=subject.file,
        count=holes,
        examples=tuple(map(str, first)),
        ids=tuple(first),
    )


def _pointer(subject: Subject, key: str) -> str:
    return f"/model/{key}" if subject.table is not None else ""
