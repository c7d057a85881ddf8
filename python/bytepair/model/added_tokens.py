"""Adding tokens to a tokenizer: the work of `Tokenizer.with_added_tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.errors import FormatError
from bytepair.model.checks import MOST_IDS
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.model.compiled import CompiledTokenizer
    from bytepair.model.spec import TokenizerSpec


def with_added_tokens(
    tokenizer: CompiledTokenizer, tokens: Iterable[str | AddedToken], *, special: bool = False
) -> TokenizerSpec:
    """The data of the tokenizer with these added tokens; errors as `Tokenizer.with_added_tokens`."""
    if isinstance(tokens, str):
        raise TypeError(f"tokens is a list of tokens: [{tokens!r}]")
    given = list(tokens)
    for token in given:
        if not isinstance(token, (str, AddedToken)):
            raise TypeError(f"an added token is a str or an AddedToken, not {type(token).__name__}")
        content = token if isinstance(token, str) else token.content
        if not _is_unicode(content):
            raise FormatError(f"the added token {content!a} holds a lone surrogate", remedy="use whole characters")
    spec = tokenizer.spec
    known = {token.content: token for token in spec.added_tokens}
    for token in given:
        if isinstance(token, AddedToken):
            _add(known, token)
    free = max(tokenizer.vocab_size, 1 + max((token.id for token in known.values()), default=-1))
    for token in given:
        if isinstance(token, AddedToken):
            continue
        present = known.get(token)
        if present is None:
            _check_not_in_vocabulary(tokenizer, token)
            if free >= MOST_IDS:
                raise FormatError("no id is left", remedy="pass each added token with an id")
            known[token] = AddedToken(token, free, special=special)
            free += 1
        else:
            _add(known, AddedToken(token, present.id, special=special))
    return spec.replace(added_tokens=tuple(sorted(known.values(), key=lambda token: token.id)))


def _add(known: dict[str, AddedToken], token: AddedToken) -> None:
    present = known.setdefault(token.content, token)
    if present != token:
        raise FormatError(
            f"the added token {token.content!r} exists with other settings: {present}",
            remedy="leave it out, or pass it with these settings",
        )


def _check_not_in_vocabulary(tokenizer: CompiledTokenizer, content: str) -> None:
    id = tokenizer._find_token(content)
    if id is None:
        return
    raise FormatError(
        f"{content!r} is a token of the vocabulary, with the id {id}",
        remedy=f"pass AddedToken({content!r}, {id}) to match it before everything else, or choose another id",
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
