"""Texts as `Encoding`: ids, where each comes from, and how its token is spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._core import Control
from bytepair.call.encoding import Encoding
from bytepair.errors import SpecialTokenError
from bytepair.model import byte_alphabet
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.call.ragged import TextInput
    from bytepair.model.compiled import CompiledTokenizer


def spelled(tok: CompiledTokenizer, ids: list[int]) -> list[str]:
    """Tokens as the vocabulary spells them: those that are bytes in the byte alphabet, added ones by their content."""
    known: dict[int, str] = cached(tok, "spelled_tokens", lambda _: {})
    try:
        return [known[id] for id in ids]
    except KeyError:
        pass
    spec = tok.spec
    if not known:
        known |= {token.id: token.content for token in spec.added_tokens}
    for id in ids:
        if id not in known:
            token = tok.token_bytes(id)
            known[id] = byte_alphabet.to_characters(token) if spec.is_byte_level else token.decode("utf-8", "replace")
    return [known[id] for id in ids]


def located(tok: CompiledTokenizer, text: TextInput, sequence: int, said: dict[str, Any]) -> Encoding:
    """The encoding of one text, before anything is cut or added; `said` is what `Tokenizer.encode` takes.

    Raises:
        SpecialTokenError: As `Tokenizer.encode`, whose other errors are raised as well. Also for a text of parts that
            holds a special token which is not to become one: then no single text has the same ids.
    """
    # Words are numbers here; only what is added later has none.
    words: Any
    if isinstance(text, (str, bytes)):
        ids, offsets, words, surfaces = tok.located(text, **said)
    else:
        ids, offsets, words, surfaces = _located_parts(tok, text, said)
    tokens = spelled(tok, ids)
    for place, surface in surfaces.items():
        tokens[place] = surface
    count = len(ids)
    return Encoding(ids, tokens, offsets, words, [sequence] * count, [0] * count, [1] * count)


def _located_parts(
    tok: CompiledTokenizer, parts: Sequence[str | bytes | Control], said: dict[str, Any]
) -> tuple[list[int], list[tuple[int, int]], list[int], dict[int, str]]:
    """As `CoreTokenizer.located`, in characters of the joined text."""
    ids = tok.encode(parts, **said)
    whole = "".join(
        part.token if isinstance(part, Control) else part if isinstance(part, str) else part.decode("utf-8", "replace")
        for part in parts
    )
    # What the call does not allow was refused just now, so that the ids can only differ by what it has as text.
    found = tok.located(whole, **{**said, "special": "allow"})
    if found[0] != ids:
        raise SpecialTokenError(
            "a text of parts holds an added token that is to stay text, and its offsets cannot be told",
            remedy="ask for ids only, or leave special tokens out of the plain parts",
        )
    return found
