"""Reserved literals in what people write: refused, kept as text, escaped, or let through.

Reserved are all added tokens, special or not, but for white space (`Tokenizer.reserved_tokens`): a template means
something by them, so text from outside must not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytepair.chat.rendering.plain import plain_value
from bytepair.errors import EncodeError, SpecialTokenError, TemplateError
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bytepair.chat.rendering.spans import Rendered
    from bytepair.model.compiled import CompiledTokenizer

Policy: TypeAlias = Literal["reject", "text", "escape", "allow"]
"""What becomes of a reserved literal in content."""

POLICIES = ("reject", "text", "escape", "allow")
_DEEPEST = 64
"""Messages that are nested deeper are refused, as rendering refuses them."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_OTHERS = 'pass policy="text" to encode it as ordinary text, "escape" to rewrite it, or "allow" to let it be the token'


class Place(NamedTuple):
    """A string of what a template is given.

    Attributes:
        message: Which message it is from; None for tools, documents and variables.
        role: That message's role.
        field: Where it stands in the message, or in what is not a message, as in `Span`.
        text: The string.
    """

    message: int | None
    role: str | None
    field: str
    text: str

    @property
    def pointer(self) -> str:
        """A JSON pointer to it, from the list of messages or from the call's arguments."""
        return f"/{self.field}" if self.message is None else f"/{self.message}/{self.field}"

    def __str__(self) -> str:
        return self.field if self.message is None else f"message {self.message} ({self.role}), {self.field}"


def places(messages: Any, others: dict[str, Any]) -> Iterator[Place]:
    """All strings, keys among them, of messages and of what else a template is given by name.

    Raises:
        TemplateError: They are nested too deeply.
    """
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        for field, text in _strings(message, ""):
            yield Place(number, role if isinstance(role, str) else None, field, text)
    for name, value in others.items():
        for field, text in _strings(value, name):
            yield Place(None, None, field, text)


def _strings(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list, tuple)):
        _check_depth(depth, path)
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            below = f"{path}/{key}" if path else str(key)
            if isinstance(key, str):
                yield below, key
            yield from _strings(inner, below, depth + 1)


def _check_depth(depth: int, path: str) -> None:
    if depth > _DEEPEST:
        shown = path if len(path) < 80 else f"{path[:80]} ..."
        raise TemplateError(f"{shown} is nested more than {_DEEPEST} deep", remedy="flatten what the template is given")


def _reserved_ids(tok: CompiledTokenizer) -> frozenset[int]:
    return cached(tok, "reserved_ids", lambda tok: frozenset(tok.reserved_tokens.values()))


def _minds_context(tok: CompiledTokenizer) -> bool:
    """Whether neighbouring text can keep an added token from being found."""
    rows = tok._loaded.added
    return any(row[3] for row in rows) or bool(tok._loaded.normalizers and any(row[6] for row in rows))


def refuse(tok: CompiledTokenizer, messages: Any, others: dict[str, Any]) -> None:
    """Looks for reserved literals in what a template is given.

    Raises:
        SpecialTokenError: There is one, which is named with its message, role, field and character.
    """
    for place in places(messages, others):
        for id, start, end in tok.added_in(place.text):
            if id in _reserved_ids(tok):
                raise SpecialTokenError(
                    f"{place} holds the reserved token {place.text[start:end]!r}",
                    remedy=_OTHERS,
                    pointer=place.pointer,
                    character=start,
                )


def refuse_surrogates(messages: Any, others: dict[str, Any]) -> None:
    """Looks for half characters, which no encoding has.

    Raises:
        EncodeError: There is one; message, role, field and character are named.
    """
    for place in places(messages, others):
        if half := _SURROGATE.search(place.text):
            raise EncodeError(
                f"{place} holds the lone surrogate {half[0]!a}",
                remedy='mend it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
                pointer=place.pointer,
                character=half.start(),
            )


def refuse_across(tok: CompiledTokenizer, rendered: Rendered, trusted: list[tuple[int, int]]) -> None:
    """Looks for reserved tokens of a rendered text that content has a part in: that it makes, or takes away.

    Raises:
        SpecialTokenError: There is one, put together from several fields or from content and template; or one that the
            template wrote is none any more, because a normalizer joins it with what content begins with.
    """
    text = rendered.text
    standing = tok.added_in(text, trusted)
    known = set(standing)
    for id, start, end in tok.added_in(text):
        if id in _reserved_ids(tok) and (id, start, end) not in known:
            parts = [
                span for span in rendered.spans if span.kind == "content" and span.start < end and start < span.end
            ]
            names = " and ".join(str(Place(span.message, span.role, span.field or "", "")) for span in parts[:2])
            raise SpecialTokenError(
                f"{names} makes the reserved token {text[start:end]!r} with the text beside it",
                remedy=_OTHERS,
                character=start,
            )
    if not _minds_context(tok):
        return
    alone = Counter(id for start, end in trusted for id, *_ in tok.added_in(text[start:end]))
    for id in alone - Counter(id for id, *_ in standing):
        if id in _reserved_ids(tok):
            raise SpecialTokenError(
                f"content takes the template's {tok.token_bytes(id).decode('utf-8', 'replace')!r} away, by what the "
                "tokenizer makes of both together",
                remedy="let no content begin with a combining mark, nor with a letter beside a token that is a word",
            )


def escape(tok: CompiledTokenizer, text: str) -> str:
    """The text with a space after the first character of each reserved literal, so that it is none any more.

    A literal that has such spaces already gets one more, so `unescape` gives back what there was.

    Args:
        tok: Whose added tokens are reserved.
        text: What somebody wrote.

    Raises:
        SpecialTokenError: That does not help: a literal is a single character, is seen through the space by a
            normalizer, or overlaps another one.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
        >>> escape(tok, "<|e|> and < |e|>"), unescape(tok, "< |e|> and <  |e|>")
        ('< |e|> and <  |e|>', '<|e|> and < |e|>')
    """
    pattern = _pattern(tuple(tok.reserved_tokens))
    escaped = pattern.sub(r"\g<0> ", text) if pattern else text
    left = next((text for id, *_ in tok.added_in(escaped) if id in _reserved_ids(tok)), None)
    if left is not None or unescape(tok, escaped) != text:
        raise SpecialTokenError(
            "a reserved token in the text cannot be escaped so that it can be read back",
            remedy='pass policy="text" to encode it as ordinary text, or take it out',
        )
    return escaped


def unescape(tok: CompiledTokenizer, text: str) -> str:
    """The text that `escape` was given."""
    pattern = _pattern(tuple(tok.reserved_tokens), " ")
    return pattern.sub(lambda found: found[0][:-1], text) if pattern else text


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...], behind: str = "") -> re.Pattern[str] | None:
    """The first character of each name and what stands behind it, where the rest follows after any number of spaces."""
    rests: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            rests.setdefault(name[0], []).append(re.escape(name[1:]))
    starts = [f"{re.escape(first)}{behind}(?= *(?:{'|'.join(rest)}))" for first, rest in rests.items()]
    return re.compile("|".join(starts)) if starts else None


def copied(value: Any) -> Any:
    """A copy of messages, or of anything that a template is given, as plain dicts and lists.

    Raises:
        TemplateError: It is nested too deeply.
    """
    return rewritten(value, lambda text: text)


def rewritten(value: Any, change: Callable[[str], str], depth: int = 0, path: str = "") -> Any:
    """The same with each string and key changed."""
    value = plain_value(value)
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        _check_depth(depth, path)
        return {
            change(key) if isinstance(key, str) else key: rewritten(inner, change, depth + 1, f"{path}/{key}")
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        _check_depth(depth, path)
        return [rewritten(inner, change, depth + 1, f"{path}/{row}") for row, inner in enumerate(value)]
    return value
