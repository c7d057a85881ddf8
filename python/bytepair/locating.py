"""Texts as `Encoding`: ids, where each comes from, and how its token is spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bytepair.encodings import Encoding
from bytepair.formats import byte_alphabet

if TYPE_CHECKING:
    from bytepair.encoding import TextInput
    from bytepair.tokenizer import Tokenizer


def spelled(tok: Tokenizer, ids: list[int]) -> list[str]:
    """Tokens as the vocabulary spells them: those that are bytes in the byte alphabet, added ones by their content."""
    known = tok._spelled
    try:
        return [known[id] for id in ids]
    except KeyError:
        pass
    loaded = tok._loaded
    if not known:
        known |= {row[1]: row[0] for row in loaded.added}
    for id in ids:
        if id not in known:
            token = tok.token_bytes(id)
            known[id] = byte_alphabet.to_characters(token) if loaded.model is None else token.decode("utf-8", "replace")
    return [known[id] for id in ids]


def located(tok: Tokenizer, text: TextInput, sequence: int, said: dict[str, Any]) -> Encoding:
    """The encoding of one text, before anything is cut or added."""
    ids, offsets, words = _located(tok, text, said)
    tokens = spelled(tok, ids)
    taking = tok._taking_white_space
    if taking and not taking.isdisjoint(ids):
        whole = _as_str(text, said["errors"])
        for place, id in enumerate(ids):
            if id in taking:
                # As it stands in the text, with the white space that it took.
                start, end = offsets[place]
                around = whole[start:end]
                front = around[: len(around) - len(around.lstrip())]
                tokens[place] = front + tokens[place] + around[len(around.rstrip()) :]
    count = len(ids)
    return Encoding(ids, tokens, offsets, cast("Any", words), [sequence] * count, [0] * count, [1] * count)


def _as_str(text: TextInput, errors: str) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8", errors)
    if not isinstance(text, str):
        return "".join(
            _as_str(part, errors) if isinstance(part, (str, bytes)) else part.token  # of a Control
            for part in text
        )
    if errors == "strict" or text.isascii():
        return text
    # As UTF-16, so that two halves of one character meet.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _located(
    tok: Tokenizer, text: TextInput, said: dict[str, Any]
) -> tuple[list[int], list[tuple[int, int]], list[int]]:
    # Stands in for the core's call, for byte-level tokenizers that do not change the text.
    whole = _as_str(text, said["errors"])
    ids = tok.encode(text, **said)
    contents = {row[1]: row[0] for row in tok._loaded.added}
    at = [place for place, character in enumerate(whole) for _ in character.encode()]
    offsets: list[tuple[int, int]] = []
    words: list[int] = []
    byte = here = 0
    for number, piece in enumerate(tok.pieces(whole, special="text" if said["special"] == "text" else "allow")):
        end = byte + len(piece.encode())
        while byte < end:
            after = end if contents.get(ids[here]) == piece.strip() else byte + len(tok.token_bytes(ids[here]))
            offsets.append((at[byte], at[after - 1] + 1))
            words.append(number)
            byte = after
            here += 1
    return ids, offsets, words
