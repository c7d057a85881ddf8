"""The bytes of text that tokens represent, however a vocabulary spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.model.byte_alphabet import to_bytes
from bytepair.model.token_spelling import falls_back, named_byte, unknown_id

if TYPE_CHECKING:
    from bytepair.model.spec import TokenizerSpec

SPACE = "\u2581"
"""How many vocabularies of characters spell a space."""


def stands_for(spec: TokenizerSpec) -> dict[int, bytes]:
    r"""The bytes that each token of a model represents, by id.

    U+2581 is a space if a stage replaces spaces by it, ``<0x0A>`` is a byte if the model falls back to bytes, and
    characters of the byte alphabet are bytes if the model is given them; all else is spelled as in the vocabulary,
    ``##`` and ``</w>`` included.

    Example:
        >>> import bytepair as bp
        >>> stands_for(bp.train({"low": 5}, vocab_size=258).spec)[257]
        b'low'
    """
    model = spec.vocabulary
    if spec.is_byte_level:
        return dict(zip(model.ids, model.tokens, strict=True))
    tokens = list(model.tokens)
    if spec.pre_tokenizers and "ByteLevel" in spec.pre_tokenizers[-1]:
        tokens = [to_bytes(token.decode()) or token for token in tokens]
    elif spells_spaces(spec):
        tokens = [token.replace(SPACE.encode(), b" ") for token in tokens]
    if falls_back(model):
        tokens = [named_byte(token) or token for token in tokens]
    return dict(zip(model.ids, tokens, strict=True))


def unknown_of(spec: TokenizerSpec) -> int | None:
    """The id of the unknown token; None if there is none."""
    return None if spec.is_byte_level else unknown_id(spec.vocabulary)


def spells_spaces(spec: TokenizerSpec) -> bool:
    """Whether U+2581 represents a space."""
    steps = (*spec.normalizers, *spec.pre_tokenizers, *spec.decoders)
    return not spec.is_byte_level and any(
        name in step for step in steps for name in (SPACE, "Metaspace", "SentencePiece")
    )
