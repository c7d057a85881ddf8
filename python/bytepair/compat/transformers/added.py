"""Added tokens of ``transformers``, and engines with more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.errors import FormatError
from bytepair.model import spec
from bytepair.model.steps import keeps_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair.tokenizer import Tokenizer


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
ROW_FLAGS = spec.AddedToken._fields[2:]


def is_token(value: object) -> bool:
    """Whether a value is a token: a string, or an added token of this package or of ``tokenizers``."""
    return isinstance(value, str) or all(hasattr(value, name) for name in ("content", *FLAGS))


def as_added(value: Any, *, special: bool | None = None) -> AddedToken:
    """Convert a string, an added token of any library, or the JSON of one.

    Args:
        value: The token.
        special: Whether it is special; None to keep its own flag.

    Raises:
        TypeError: The value has another type.
    """
    if isinstance(value, str):
        return AddedToken(value, special=bool(special))
    if isinstance(value, dict) and isinstance(value.get("content"), str):
        flags = {name: value[name] for name in FLAGS if name in value}
    elif is_token(value):
        flags = {name: getattr(value, name) for name in FLAGS}
        value = {"content": value.content}
    else:
        raise TypeError(f"a token is a str or an AddedToken, not {type(value).__name__}")
    return AddedToken(value["content"], **(flags | ({} if special is None else {"special": special})))


def decoder(tok: Tokenizer) -> dict[int, AddedToken]:
    """The added tokens of an engine, by id."""
    return {
        token.id: AddedToken(token.content, **{name: getattr(token, name) for name in FLAGS})
        for token in tok.spec.added_tokens
    }


def base_size(tok: Tokenizer) -> int:
    """The number of tokens in the vocabulary of an engine's ``tokenizer.json``.

    Added tokens with the highest ids, without a gap, do not belong to it.
    """
    ids = set(tok.spec.packed.all_ids())
    outside = sorted(row[1] for row in tok.spec.added_tokens if row[1] not in ids)
    size = len(ids) + len(outside)
    if tok.spec.is_byte_level:
        return len(ids) if outside == list(range(len(ids), size)) else size
    while outside and outside[-1] == size - 1:
        outside.pop()
        size -= 1
    return size


def with_tokens(
    tok: Tokenizer, vocab: Mapping[str, int], size: int, tokens: Iterable[AddedToken]
) -> tuple[Tokenizer, int]:
    """Add tokens to an engine by the rules of ``tokenizers``.

    A token of the vocabulary keeps its id, an existing added token gets the new flags, and the others get the next ids
    after the vocabulary and all added tokens.

    Args:
        tok: The engine.
        vocab: Its tokens as spelled in the vocabulary, with their ids.
        size: The size of its vocabulary without added tokens.
        tokens: The tokens.

    Returns:
        The new engine, and the number of tokens that are new or changed.

    Raises:
        FormatError: A token is not valid Unicode, is too long, or is the spelling of other bytes in the vocabulary.
    """
    rows = {row.content: row for row in tok.spec.added_tokens}
    free = max(size, tok.vocab_size)
    changed, is_kept = 0, keeps_tokens(tok.spec.normalizers)
    for token in tokens:
        known = rows.get(token.content)
        row = spec.AddedToken(token.content, -1, *(bool(getattr(token, name)) for name in ROW_FLAGS))
        row = row._replace(normalized=row.normalized and is_kept)
        if not token.content or (known is not None and known == row._replace(id=known.id)):
            continue
        try:
            token.content.encode()
        except UnicodeEncodeError as error:
            raise FormatError(f"the added token {token.content!a} has a lone surrogate", remedy="remove it") from error
        id = known.id if known is not None else vocab.get(token.content)
        if id is not None and tok.spec.is_byte_level and tok.token_bytes(id) != token.content.encode():
            raise FormatError(
                f"{token.content!r} cannot be added: it spells token {id} in the vocabulary, {tok.token_bytes(id)!r}",
                remedy="leave it out; texts that contain it are encoded without it",
            )
        if id is None:
            id, free = free, free + 1
        rows[token.content] = row._replace(id=id)
        changed += 1
    if not changed:
        return tok, 0
    added = tuple(sorted(rows.values(), key=lambda row: row.id))
    return type(tok)(tok.spec.replace(added_tokens=added)), changed
