"""A tokenizer and added tokens -> the data of the tokenizer with these added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.errors import FormatError, InvalidIdError
from bytepair.model.checks import MOST_IDS
from bytepair.model.loaded import AddedRow, added_row
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.model.compiled import CompiledTokenizer
    from bytepair.model.loaded import Loaded


def with_added_tokens(
    tokenizer: CompiledTokenizer, tokens: Iterable[str | AddedToken], *, special: bool = False
) -> Loaded:
    """The data of `Tokenizer.with_added_tokens`."""
    if isinstance(tokens, str):
        raise TypeError(f"tokens is a list of tokens: [{tokens!r}]")
    given = list(tokens)
    for token in given:
        if not isinstance(token, (str, AddedToken)):
            raise TypeError(f"an added token is a str or an AddedToken, not {type(token).__name__}")
        content = token if isinstance(token, str) else token.content
        if not _is_unicode(content):
            raise FormatError(
                f"the added token {content!a} holds half a surrogate pair", remedy="give whole characters"
            )
    loaded = tokenizer._loaded
    rows = {row.content: row for row in map(AddedRow._make, loaded.added)}
    for token in given:
        if isinstance(token, AddedToken):
            _add(rows, added_row(token))
    free = max(tokenizer.vocab_size, 1 + max((row.id for row in rows.values()), default=-1))
    for token in given:
        if isinstance(token, AddedToken):
            continue
        present = rows.get(token)
        if present is None:
            _check_not_in_vocabulary(tokenizer, token)
            if free >= MOST_IDS:
                raise FormatError("the ids are used up", remedy="give each added token an id of its own")
            rows[token] = AddedRow(token, free, special=special)
            free += 1
        else:
            _add(rows, AddedRow(token, present.id, special=special))
    by_id = tuple(sorted(rows.values(), key=lambda row: row.id))
    return loaded._replace(added=by_id)


def _add(rows: dict[str, AddedRow], row: AddedRow) -> None:
    present = rows.setdefault(row.content, row)
    if present != row:
        raise FormatError(
            f"the added token {row.content!r} is there already, with other settings: {AddedToken(*present)}",
            remedy="leave it out, or give it as it is there",
        )


def _check_not_in_vocabulary(tokenizer: CompiledTokenizer, content: str) -> None:
    try:
        id = tokenizer.token_id(content)
    except InvalidIdError:
        return
    raise FormatError(
        f"{content!r} is a token of the vocabulary, with the id {id}",
        remedy=f"to have it found before everything else, give AddedToken({content!r}, {id}); or give another id",
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
