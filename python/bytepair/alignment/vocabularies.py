"""`align_vocabularies`: the tokens of one vocabulary as those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bytepair import _core
from bytepair.alignment.pairs import Pairs
from bytepair.call.ragged import Ragged
from bytepair.model.meanings import SPACE, spells_spaces, stands_for
from bytepair.model.token_spelling import (
    falls_back,
    final_suffix,
    inner_prefix,
    name_of_byte,
    separator,
    unknown_id,
)
from bytepair.resolver import TokenizerLike, load
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping


def align_vocabularies(a: TokenizerLike, b: TokenizerLike, *, pairs: Mapping[str, str] | None = None) -> Ragged:
    """The tokens of `a` as ids of `b`: a row for each id of `a`.

    A row has one id if `b` has a token that means the same bytes: whatever spells a space or a byte, and without the
    marks of WordPiece and of ends of words. Otherwise it has the ids that `b`'s model merges the bytes to, which is no
    statement about texts, where neighbours matter. An added token has the added token of `b` with the same content, or
    the one of `pairs`. A row is empty for an id without a token, for an added token without a counterpart, and for
    bytes that `b` has no tokens for.

    Args:
        a: The first tokenizer, or any name that `bytepair.load` takes.
        b: The second, likewise.
        pairs: Added tokens of `a`, each with the added token of `b` that means the same.

    Returns:
        ``a.vocab_size`` rows. ``numpy.diff(found.offsets) == 1`` says which tokens have one of their own in `b`.

    Raises:
        SpecialTokenError: `pairs` names a token that its tokenizer does not have.

    Complexity:
        Linear in the bytes of the tokens, with a Python step for each.

    Example:
        >>> import bytepair as bp
        >>> a, b = (bp.train(words, vocab_size=258) for words in ({"low": 5}, {"lot": 5}))
        >>> found = bp.align_vocabularies(a, b)
        >>> [b.decode(found[id]) for id in (108, 256, 257)], found[257].tolist()
        (['l', 'lo', 'low'], [256, 119])
    """
    a, b = load(a), load(b)
    rows: list[list[int]] = [[] for _ in range(a.vocab_size)]
    meant_a, meant_b = _meant(a), _meant(b)
    inner = {token: id for id, (token, is_inner) in meant_b.items() if is_inner}
    by_bytes = inner | {token: id for id, (token, is_inner) in meant_b.items() if not is_inner}
    fresh: list[tuple[int, bytes]] = []
    for id, (token, is_inner) in meant_a.items():
        same = inner.get(token) if is_inner else None
        same = by_bytes.get(token) if same is None else same
        if same is None:
            fresh.append((id, token))
        else:
            rows[id] = [same]
    for (id, _), parts in zip(fresh, _parts(b, [token for _, token in fresh]), strict=True):
        rows[id] = parts
    known_a, known_b = ({one.content: one.id for one in side.spec.added_tokens} for side in (a, b))
    counterparts = {content: content for content in known_a.keys() & known_b.keys()} | Pairs(a, b, pairs or {}).pairs
    for content, id in known_a.items():
        rows[id] = [known_b[counterparts[content]]] if content in counterparts else []
    offsets = np.cumsum([0, *map(len, rows)])
    return Ragged(np.array([id for row in rows for id in row], np.uint32), offsets.astype(np.int64))


def _meant(tokenizer: Tokenizer) -> dict[int, tuple[bytes, bool]]:
    """The bytes that each token of the model means, and whether it only continues a word."""
    spec = tokenizer.spec
    model = spec.vocabulary
    prefix, suffix = inner_prefix(model).encode(), final_suffix(model).encode()
    behind = separator(model).encode()
    unknown = unknown_id(model)
    found = {}
    for id, token in stands_for(spec).items():
        if id == unknown:
            continue
        is_inner = bool(prefix) and token.startswith(prefix) and token != prefix
        bare = token[len(prefix) :] if is_inner else token
        bare = bare.removesuffix(suffix) if bare != suffix else bare
        found[id] = (bare.removesuffix(behind), is_inner)
    return found


def _parts(tokenizer: Tokenizer, tokens: list[bytes]) -> list[list[int]]:
    """The ids of each of these bytes by a tokenizer's model alone; none where they do not spell the bytes."""
    spec = tokenizer.spec
    if spec.is_byte_level:
        encoder = tokenizer.encoder("heap")
        return [encoder.encode_piece(token) for token in tokens]
    alone = spec.replace(normalizers=(), prefix_space=False, split=(), pre_tokenizers=(), added_tokens=(), decoders=())
    # A template can add tokens that are left out here.
    model = Tokenizer(alone.replace(post_processor=None))
    space = SPACE if spells_spaces(spec) else " "
    texts = [token.decode("utf-8", "replace").replace(" ", space) for token in tokens]
    ids, offsets = _core.encode_batch_flat(model, texts)
    meant = _meant(tokenizer)
    listed = spec.vocabulary
    by_name = dict(zip(listed.tokens, listed.ids, strict=True)) if falls_back(listed) else {}
    found = []
    for token, first, end in zip(tokens, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        parts: list[int] = ids[first:end].tolist()
        if b"".join(meant[id][0] if id in meant else b"?" for id in parts) != token:
            bytes_of = [by_name.get(name_of_byte(byte).encode()) for byte in token]
            parts = [id for id in bytes_of if id is not None]
            parts = parts if len(parts) == len(token) else []
        found.append(parts)
    return found
