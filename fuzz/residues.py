"""Sweep over tokens that text hardly uses: their uses are those of `encode`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import bytepair as bp
from bytepair.model.models import WordPiece
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random


def sweep_residues(random: random.Random) -> None:
    """The uses of tokens are those of `encode`, and the list has all that are used so rarely."""
    tok, letters, said = drawn.tokenizer(random)
    texts = [drawn.text(random, letters, tok) for _ in range(random.randint(1, 4))]
    most = random.choice([0, 0, 1, 3])
    with case(texts=texts, tokenizer=said, most_uses=most):
        try:
            encoded = [tok.encode(text, special="text") for text in texts]
        except bp.EncodeError:
            return
        uses = Counter(id for ids in encoded for id in ids)
        found = bp.residues(tok, iter(texts), most_uses=most)
        equal("the tokens of the text", found.text_tokens, uses.total())
        equal("the order", found.ids, sorted(found.ids, key=lambda id: (uses[id], id)))
        equal("the uses", [row.uses for row in found.tokens], [uses[id] for id in found.ids])
        equal("more uses", [id for id in found.ids if uses[id] > most], [])
        listed, added = {*found.ids}, {token.id for token in tok.spec.added_tokens}
        for id, token in zip(tok.spec.model.ids, tok.spec.model.tokens, strict=True):
            # Shorter ones can be those that every text needs; in brackets are bytes and what is unknown.
            if len(token) > 8 and id not in added and token[:1] not in ("<", "[", b"<", b"["):
                equal(f"whether {token!r} is listed", id in listed, uses[id] <= most)
        equal("the sum", found.uses, sum(uses[id] for id in found.ids))
        if not most:
            _check_pruned(tok, found.ids, texts, encoded)


def _check_pruned(tok: bp.Tokenizer, unused: list[int], texts: list[str], encoded: list[list[int]]) -> None:
    """Without tokens that they do not use, texts have the same ones."""
    try:
        smaller, new = bp.prune(tok, remove=unused)
    except bp.TrainingError:
        # Ranks that are not proved to be merges.
        return
    gone = {id for id, to in enumerate(new.tolist()) if to < 0}.intersection(tok.spec.model.ids)
    equal("removed tokens that are not listed", gone - {*unused}, set())
    equal("tokens left", len(smaller), len(tok) - len(gone))
    unknown = tok.token_id(tok.spec.model.unk_token) if isinstance(tok.spec.model, WordPiece) else None
    for text, ids in zip(texts, encoded, strict=True):
        # Without a token that led to nothing, a word may be found.
        if unknown not in ids:
            equal(f"ids of {text!r}", smaller.encode(text, special="text"), new[ids].tolist())
